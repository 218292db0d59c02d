// FindFunction: a function of a library that the process has loaded. dlopen(3) and dlsym(3) would change what
// dlerror(3) reports to the program, and dlopen(3) also looks for the file.
#ifndef CREMA_SRC_LOADED_FUNCTION_H_
#define CREMA_SRC_LOADED_FUNCTION_H_

namespace crema {
namespace internal {

/// The function `name`, in whatever library or program exports it first; nullptr where none does.
void* FindFunction(const char* name) noexcept;

}  // namespace internal
}  // namespace crema

#endif  // CREMA_SRC_LOADED_FUNCTION_H_

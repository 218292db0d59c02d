// Other users of CUPTI in the process, as PyTorch's profiler: libraries that are linked with it.
#ifndef CREMA_GPU_OTHER_USERS_H_
#define CREMA_GPU_OTHER_USERS_H_

namespace crema {
namespace gpu {

/// Redirects calls of `function` to `replacement` in all loaded libraries that are linked with `cupti`, say
/// "libcupti.so.13": in their tables of imported functions, where these can be written. CUPTI itself stays as it is.
void RedirectCalls(const char* cupti, const char* function, void* replacement) noexcept;

}  // namespace gpu
}  // namespace crema

#endif  // CREMA_GPU_OTHER_USERS_H_

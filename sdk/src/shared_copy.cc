#include "shared_copy.h"

#include <dlfcn.h>

#include <string_view>

#include "crema/version.h"
#include "recorder.h"
#include "span_state.h"
#include "thread_state.h"

namespace crema {
namespace internal {
namespace {

constexpr const char* kLibrary = "libcrema.so.1";
constexpr const char* kFunction = "crema_shared_copy";

/// Changes with the version, and with whatever compilers and their settings do to the objects that would be shared.
constexpr std::uint64_t Layout() {
  std::uint64_t hash = 14695981039346656037u;  // FNV-1a
  for (const char c : std::string_view(CREMA_VERSION_STRING)) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  }
  for (const std::size_t size :
       {sizeof(SharedCopy), sizeof(Recorder), sizeof(Settings), sizeof(ThreadState), sizeof(ChunkState),
        sizeof(HelperState), sizeof(SectionNode), sizeof(SpanState), sizeof(ThreadStacks), sizeof(StackTable),
        sizeof(MetricRow), sizeof(CutRow), sizeof(MemoryRow), sizeof(ActivityRow)}) {
    hash = (hash ^ size) * 1099511628211u;
  }
  return hash;
}

}  // namespace

const SharedCopy* OwnCopy() noexcept {
  static constexpr SharedCopy kCopy = {Layout(),        EnableWith,          Enabled,   SwitchOff,
                                       CurrentRecorder, EnsureThreadContext, MirrorMode};
  return &kCopy;
}

const SharedCopy* FindSharedCopy() noexcept {
  void* library = dlopen(kLibrary, RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return nullptr;
  using GetCopy = const SharedCopy* (*)();
  const auto get_copy = reinterpret_cast<GetCopy>(dlsym(library, kFunction));
  const SharedCopy* copy = get_copy == nullptr ? nullptr : get_copy();
  dlclose(library);  // it stays loaded by whoever loaded it, and by itself once it records
  return copy == nullptr || copy == OwnCopy() || copy->layout != Layout() ? nullptr : copy;
}

}  // namespace internal
}  // namespace crema

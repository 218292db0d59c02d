// Two copies of the SDK in one process: the library libcrema.so.1 (Python loads it), and one linked into a plug-in or
// the program. The linked one then works on the library's recorder, so that there is one log, one chunk a thread, and
// native sections nest in the chunk that Python began.
#ifndef CREMA_SRC_SHARED_COPY_H_
#define CREMA_SRC_SHARED_COPY_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace crema {
namespace internal {

struct Recorder;
struct Settings;
struct ThreadContext;

/// What the library hands out. Both copies then read and write the same objects, so they must be laid out alike: where
/// `layout` differs, the linked copy records alone, with a recorder number of its own.
struct SharedCopy {
  std::uint64_t layout;
  bool (*enable)(const Settings& settings);
  /// Whether the library is on; decides that if nobody did.
  bool (*enabled)() noexcept;
  void (*disable)();
  Recorder* (*recorder)();
  ThreadContext* (*thread_context)();
  /// The library changes this mode whenever its own changes: to off, or to undecided where it is on.
  void (*mirror_mode)(std::atomic<std::uint8_t>* mode);
};

/// This copy, for others.
const SharedCopy* OwnCopy() noexcept;

/// The library, if the process has loaded it, its objects are laid out like ours, and it is not this copy; else
/// nullptr.
const SharedCopy* FindSharedCopy() noexcept;

/// The calling thread's state in the library that this copy uses; nullptr where it uses none.
ThreadContext* AdoptedThreadContext() noexcept;
bool UsesSharedCopy() noexcept;

}  // namespace internal
}  // namespace crema

#endif  // CREMA_SRC_SHARED_COPY_H_

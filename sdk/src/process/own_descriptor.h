// Recording in a process that is not ours: its descriptors have high numbers, copies of the SDK share one recorder, and
// messages harm nobody.
#pragma once

#include <errno.h>
#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace crema::internal {

/// At most so many descriptors are held by a process, its log's included: min(64, RLIMIT_NOFILE / 8).
class DescriptorBudget {
 public:
  void Start() noexcept;
  bool Take() noexcept;
  /// From those that are kept for logs beside the first: there are none where the budget is less than 9. Not given
  /// back.
  bool TakeForLog() noexcept { return logs_left_.fetch_sub(1, std::memory_order_relaxed) > 0; }
  void GiveBack() noexcept { left_.fetch_add(1, std::memory_order_relaxed); }

 private:
  std::atomic<int> left_{0};
  std::atomic<int> logs_left_{0};
};

/// Which file it is, whatever its name.
struct FileIdentity {
  dev_t device = 0;
  ino_t inode = 0;
};
inline bool operator==(const FileIdentity& one, const FileIdentity& other) noexcept {
  return one.inode == other.inode && one.device == other.device;
}
/// nullopt where it is not open, or the kernel refuses it.
std::optional<FileIdentity> IdentityOf(int descriptor) noexcept;
/// Whether `descriptor` is open on this file, or on this file system. Where the kernel refuses information about a
/// descriptor that is open (seccomp(2)), it counts as ours.
bool IsOpenOn(int descriptor, const FileIdentity& file) noexcept;
bool IsOpenOnDevice(int descriptor, dev_t device) noexcept;

/// Whether it was opened as ours are, with all of `flags` and their access mode (fcntl(2), F_GETFL). A file that was
/// removed leaves its inode to the next one, which may be the program's. Where the kernel refuses to say, it was.
bool IsOpenedAs(int descriptor, int flags) noexcept;

/// From -1, with errno set, to the numbers that only recording asks for.
int DuplicateHigh(int fd) noexcept;

/// Gives a descriptor that was just opened a high number, close-on-exec, and closes the low one. open(2) hands out the
/// lowest number that is free: a program that closes all its descriptors and opens its own files gets low numbers, and
/// so never ours while we use it. `is_ours(fd)` says whether a descriptor is what was opened: the program may have
/// closed the low one meanwhile, and opened its own file under that number, which must stay open. Where no high number
/// is free, `fd` stays as it is. -1 with errno set, EAGAIN where it is not ours any more.
template <class IsOurs>
int MoveUp(int fd, IsOurs is_ours) noexcept {
  const int high = DuplicateHigh(fd);
  if (high != fd && is_ours(fd)) close(fd);
  if (high < 0 || is_ours(high)) return high;
  if (high != fd) close(high);  // a copy of the program's file, under a number that only we ask for
  errno = EAGAIN;
  return -1;
}

/// To be called when a descriptor of ours was found closed: the program closes all, and opens its own just then. So
/// nothing is opened for a second, the next time for two, and so on.
void NoteLostDescriptor() noexcept;
bool MayOpen() noexcept;

// Several copies of the SDK in one process: the library libcrema.so.1 (Python loads it), and those that are linked into
// the program and its plug-ins. A copy works on the recorder of another one that is there, so that there is one log,
// one chunk a thread, and sections of one copy nest in the chunks and sections of the other.

struct Recorder;
struct Settings;
struct ThreadContext;

/// What a copy hands out. Both copies then read and write the same objects, so they must be laid out alike: where
/// `layout` differs, each records alone, with a recorder number of its own.
struct SharedCopy {
  std::uint64_t layout;
  bool (*enable)(const Settings& settings);
  /// Whether the copy is on; decides that if nobody did.
  bool (*enabled)() noexcept;
  void (*disable)();
  Recorder* (*recorder)();
  /// Whether the recorder is the copy's own.
  bool (*owns_recorder)() noexcept;
  ThreadContext* (*thread_context)();
  /// The copy changes this mode whenever its own changes: to off, or to undecided where it is on.
  void (*mirror_mode)(std::atomic<std::uint8_t>* mode);
  void (*forget_mode)(std::atomic<std::uint8_t>* mode);
  void (*end)() noexcept;
};

/// An ELF note of the program or the library that this source is linked into: where its copy of the SDK is, relative
/// to the note. So other copies find it whatever the file exports, and however it was loaded.
#define CREMA_NOTE(type)                       \
  __asm__(                                     \
      ".pushsection .note.crema,\"a\",%note\n" \
      ".balign 4\n"                            \
      ".long 6, 4, " type                      \
      "\n"                                     \
      ".asciz \"crema\"\n"                     \
      ".balign 4\n"                            \
      ".long crema_own_copy - .\n"             \
      ".popsection\n")
#define CREMA_NOTE_OF_COPY "1"
#define CREMA_NOTE_OF_LIBRARY "2"

/// This copy, for others.
const SharedCopy* OwnCopy() noexcept;

/// A copy of the SDK in this process that is laid out like this one and is not it: libcrema.so.1 if it is loaded, else
/// one that has a recorder already, which writes into `directory` unless that is empty; else nullptr.
const SharedCopy* FindSharedCopy(std::string_view directory) noexcept;
/// How many recorders copies that are laid out alike have, but for this one: each writes into another directory.
int RecordersOfOtherCopies() noexcept;

/// The calling thread's state in the copy that this one uses; nullptr where it uses none.
ThreadContext* AdoptedThreadContext() noexcept;
bool UsesSharedCopy() noexcept;
bool OwnsRecorder() noexcept;

// PrintOnStandardError: the few lines that recording says, where they harm nobody.

/// Notes which file the standard error is: done as the program, or the library, is loaded.
void NoteStandardError() noexcept;

/// Writes at most PIPE_BUF bytes, in one write, so that they cannot be mixed with the program's own lines. False, with
/// nothing written, where
/// - the descriptor is not the program's standard error any more: a program that closed it may have its results there.
///   What counts are the file that it was when the program was loaded, terminals, and pipes that were put in its place;
/// - nobody takes what is written within `wait_milliseconds`.
/// No signal comes of it: not of a pipe without a reader, a file at its largest size, or a terminal that stops who
/// writes in the background.
bool PrintOnStandardError(const char* text, std::size_t size, int wait_milliseconds) noexcept;

}  // namespace crema::internal

// Several copies of the SDK in one process: the library libcrema.so.1 (Python loads it), and those that are linked into
// the program and its plug-ins. A copy works on the recorder of another one that is there, so that there is one log,
// one chunk a thread, and sections of one copy nest in the chunks and sections of the other.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace crema {
namespace internal {

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

}  // namespace internal
}  // namespace crema

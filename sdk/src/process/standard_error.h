// PrintOnStandardError: the few lines that recording says, where they harm nobody.
#pragma once

#include <cstddef>

namespace crema {
namespace internal {

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

}  // namespace internal
}  // namespace crema

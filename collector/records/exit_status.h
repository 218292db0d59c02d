// Exit statuses as shells have them: where a signal ended the command, 128 and its number.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>

#include "absl/strings/ascii.h"
#include "fmt/format.h"

namespace crema {

inline constexpr int kSignalOfShell = 128;

/// The signal that ended a command; 0: none.
inline int SignalOfExit(int64_t exit_status) {
  constexpr int kLastSignal = 64;
  const bool is_signal = exit_status > kSignalOfShell && exit_status <= kSignalOfShell + kLastSignal;
  return is_signal ? static_cast<int>(exit_status - kSignalOfShell) : 0;
}

/// `exit status 3`, `exit status 139, as after signal 11 (segmentation fault)`: a program may also end with 139 itself.
inline std::string ExitStatusWords(int64_t exit_status) {
  const int signal = SignalOfExit(exit_status);
  if (signal == 0) return fmt::format("exit status {}", exit_status);
  std::string name = strsignal(signal);
  name.front() = absl::ascii_tolower(static_cast<unsigned char>(name.front()));
  return fmt::format("exit status {}, as after signal {} ({})", exit_status, signal, name);
}

}  // namespace crema

#include "collector/sources/process_tree/proc_stat.h"

#include <sched.h>

#include <array>
#include <charconv>

namespace crema {

std::optional<int64_t> ParseRunDelay(std::string_view text) {
  const size_t blank = text.find(' ');  // after the time on a CPU
  int64_t delay_ns = 0;
  if (blank == std::string_view::npos) return std::nullopt;
  const char* const end = text.data() + text.size();
  if (std::from_chars(text.data() + blank + 1, end, delay_ns).ec != std::errc()) return std::nullopt;
  return delay_ns;
}

std::optional<ProcStat> ParseProcStat(std::string_view text) {
  ProcStat stat;
  const char* end = text.data() + text.size();
  if (std::from_chars(text.data(), end, stat.pid).ec != std::errc()) return std::nullopt;
  const size_t bracket = text.rfind(')');
  if (bracket == std::string_view::npos || bracket + 2 >= text.size()) return std::nullopt;
  stat.state = text[bracket + 2];
  const size_t opening = text.find('(');
  if (opening < bracket) stat.name = std::string(text.substr(opening + 1, bracket - opening - 1));

  // Field numbers are those of the man page; the state is number 3.
  constexpr int kFirst = 4;
  constexpr int kLast = 41;
  constexpr int kLastNeeded = 22;
  std::array<int64_t, kLast + 1> field{};
  const char* at = text.data() + bracket + 3;
  for (int number = kFirst; number <= kLast; ++number) {
    while (at < end && *at == ' ') ++at;
    const auto [next, error] = std::from_chars(at, end, field[number]);
    if (error == std::errc::result_out_of_range) {
      field[number] = 0;  // a mask or an address, none of those used here
    } else if (error != std::errc()) {
      if (number <= kLastNeeded) return std::nullopt;
      break;
    }
    at = next;
  }
  stat.parent_pid = static_cast<int>(field[4]);
  stat.minor_faults = field[10];
  stat.major_faults = field[12];
  stat.children_major_faults = field[13];
  stat.user_ticks = field[14];
  stat.system_ticks = field[15];
  stat.children_user_ticks = field[16];
  stat.children_system_ticks = field[17];
  stat.threads = field[20];
  stat.start_ticks = field[22];
  constexpr int64_t kDeadline = 6;  // SCHED_DEADLINE, which <sched.h> may lack
  stat.is_real_time = field[41] == SCHED_FIFO || field[41] == SCHED_RR || field[41] == kDeadline;
  return stat;
}

}  // namespace crema

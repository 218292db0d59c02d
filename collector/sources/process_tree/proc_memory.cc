#include "collector/sources/process_tree/proc_memory.h"

#include <signal.h>

#include <charconv>

namespace crema {
namespace {

constexpr int64_t kKibibyte = 1024;

// Calls `field(name, value)` for each `name: value` line; the value begins at its first character that is no blank.
template <class Field>
void ForEachField(std::string_view text, Field field) {
  while (!text.empty()) {
    const size_t newline = text.find('\n');
    const std::string_view line = text.substr(0, newline);
    text.remove_prefix(newline == std::string_view::npos ? text.size() : newline + 1);
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    const size_t value = line.find_first_not_of(" \t", colon + 1);
    if (value != std::string_view::npos) field(line.substr(0, colon), line.substr(value));
  }
}

std::optional<int64_t> Number(std::string_view text, int base = 10) {
  uint64_t number = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), number, base).ec != std::errc()) return std::nullopt;
  return static_cast<int64_t>(number);
}

std::optional<int64_t> Kibibytes(std::string_view text) {
  const std::optional<int64_t> number = Number(text);
  if (!number.has_value()) return std::nullopt;
  return *number * kKibibyte;
}

}  // namespace

std::optional<int64_t> ParseStatmResidentPages(std::string_view text) {
  const size_t blank = text.find(' ');
  if (blank == std::string_view::npos) return std::nullopt;
  return Number(text.substr(blank + 1));
}

ProcStatus ParseProcStatus(std::string_view text) {
  ProcStatus status;
  ForEachField(text, [&status](std::string_view name, std::string_view value) {
    if (name == "VmHWM") {
      status.peak_rss_bytes = Kibibytes(value);
    } else if (name == "RssAnon") {
      status.anonymous_bytes = Kibibytes(value);
    } else if (name == "RssFile" || name == "RssShmem") {
      status.file_bytes = status.file_bytes.value_or(0) + Kibibytes(value).value_or(0);
    } else if (name == "VmSwap") {
      status.swap_bytes = Kibibytes(value);
    } else if (name == "SigIgn") {
      const auto ignored = static_cast<uint64_t>(Number(value, 16).value_or(0));
      status.ignores_child_signal = (ignored >> (SIGCHLD - 1) & 1) != 0;
    }
  });
  return status;
}

std::optional<int64_t> ParsePssBytes(std::string_view text) {
  std::optional<int64_t> pss;
  ForEachField(text, [&pss](std::string_view name, std::string_view value) {
    if (name == "Pss") pss = Kibibytes(value);
  });
  return pss;
}

}  // namespace crema

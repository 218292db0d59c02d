#include "collector/engines/slurm/sacct_values.h"

#include <fmt/format.h>
#include <time.h>

#include <cmath>

#include "absl/strings/numbers.h"
#include "collector/engines/local_moment.h"

namespace crema {
namespace {

constexpr int64_t kSecond = 1'000'000'000;
// What is larger is no time, no duration and no memory: sums of these still fit.
constexpr int64_t kMostTime = 8'000'000'000;
constexpr int64_t kMostDuration = 1'000'000'000;
constexpr double kMostBytes = 1e15;

/// Digits only, and no more than a count of nanoseconds or bytes can hold.
std::optional<int64_t> Whole(std::string_view text) {
  int64_t number = 0;
  const bool is_digits = !text.empty() && text.size() <= 18 && text.find_first_not_of("0123456789") == text.npos;
  if (!is_digits || !absl::SimpleAtoi({text.data(), text.size()}, &number)) return std::nullopt;
  return number;
}

/// Takes what stands before `separator` off the text; all of it where there is none.
std::string_view Cut(std::string_view* text, char separator) {
  const size_t at = text->find(separator);
  const std::string_view before = text->substr(0, at);
  *text = at == text->npos ? std::string_view() : text->substr(at + 1);
  return before;
}

/// The end of a name whose bracket may hold commas.
size_t EndOfName(std::string_view text) {
  bool inside = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '[') inside = true;
    if (text[i] == ']') inside = false;
    if (text[i] == ',' && !inside) return i;
  }
  return text.size();
}

/// `prefix[01-03,7]suffix`. False: it is no such thing, or too much.
bool AddNodes(std::string_view name, size_t most, std::vector<std::string>* nodes) {
  const size_t open = name.find('[');
  if (open == name.npos) {
    nodes->emplace_back(name);
    return !name.empty() && nodes->size() <= most;
  }
  const size_t close = name.find(']', open);
  if (close == name.npos) return false;
  const std::string_view before = name.substr(0, open), after = name.substr(close + 1);
  if (after.find('[') != after.npos) return false;  // names of several dimensions
  std::string_view ranges = name.substr(open + 1, close - open - 1);
  while (!ranges.empty()) {
    std::string_view last = Cut(&ranges, ',');
    const std::string_view first = Cut(&last, '-');
    const std::optional<int64_t> from = Whole(first);
    const std::optional<int64_t> to = last.empty() ? from : Whole(last);
    if (!from.has_value() || !to.has_value() || *to < *from) return false;
    for (int64_t number = *from; number <= *to; ++number) {
      nodes->push_back(fmt::format("{}{:0{}}{}", before, number, first.size(), after));
      if (nodes->size() > most) return false;
    }
  }
  return true;
}

}  // namespace

std::optional<SacctTime> ParseSacctTime(std::string_view text) {
  const auto in_range = [](int64_t seconds) { return seconds > 0 && seconds < kMostTime; };
  if (const std::optional<int64_t> seconds = Whole(text)) {
    return in_range(*seconds) ? std::optional(SacctTime{*seconds * kSecond, {}}) : std::nullopt;
  }
  tm local = {};
  const std::string whole(text);
  const char* rest = strptime(whole.c_str(), "%Y-%m-%dT%H:%M:%S", &local);
  if (rest == nullptr) return std::nullopt;
  if (*rest != '\0') {
    tm zone = {};
    const char* const end = strptime(rest, "%z", &zone);
    if (end == nullptr || *end != '\0') return std::nullopt;
    const int64_t seconds = timegm(&local) - zone.tm_gmtoff;
    return in_range(seconds) ? std::optional(SacctTime{seconds * kSecond, {}}) : std::nullopt;
  }
  const LocalMoment moment = ReadLocalMoment(local);
  if (!in_range(moment.seconds)) return std::nullopt;
  SacctTime time = {int64_t{moment.seconds} * kSecond, {}};
  if (moment.later.has_value()) time.later_ns = int64_t{*moment.later} * kSecond;
  return time;
}

std::optional<int64_t> SacctDurationNs(std::string_view text) {
  int64_t days = 0;
  if (text.find('-') != text.npos) {
    const std::optional<int64_t> told = Whole(Cut(&text, '-'));
    if (!told.has_value() || *told > 10'000) return std::nullopt;
    days = *told;
  }
  int64_t seconds = 0;
  int parts = 0;
  std::string_view fraction = text;
  std::string_view clock = Cut(&fraction, '.');
  for (; !clock.empty() && parts < 4; ++parts) {
    const std::optional<int64_t> part = Whole(Cut(&clock, ':'));
    if (!part.has_value() || *part > kMostDuration) return std::nullopt;
    seconds = seconds * 60 + *part;
    if (seconds > kMostDuration) return std::nullopt;
  }
  if (parts < 2 || parts > 3) return std::nullopt;
  int64_t nanoseconds = 0;
  if (!fraction.empty()) {
    const std::optional<int64_t> digits = Whole(fraction);
    if (!digits.has_value() || fraction.size() > 9) return std::nullopt;
    nanoseconds = *digits * static_cast<int64_t>(std::llround(std::pow(10, 9 - static_cast<double>(fraction.size()))));
  }
  return (days * 86'400 + seconds) * kSecond + nanoseconds;
}

std::optional<SacctMemory> ParseSacctMemory(std::string_view text) {
  SacctMemory memory;
  if (!text.empty() && (text.back() == 'n' || text.back() == 'c')) {
    memory.of = text.back() == 'n' ? SacctMemory::Of::kNode : SacctMemory::Of::kCore;
    text.remove_suffix(1);
  }
  if (text.empty()) return std::nullopt;
  constexpr std::string_view kUnits = "KMGTP";
  double factor = 1;
  if (const size_t unit = kUnits.find(text.back()); unit != kUnits.npos) {
    factor = std::pow(1024, static_cast<double>(unit) + 1);
    text.remove_suffix(1);
  }
  double number = 0;
  const bool is_number = !text.empty() && text.find_first_not_of("0123456789.") == text.npos;
  if (!is_number || !absl::SimpleAtod({text.data(), text.size()}, &number) || number * factor > kMostBytes) {
    return std::nullopt;
  }
  memory.bytes = std::llround(number * factor);
  return memory;
}

std::string_view SacctResource(std::string_view text, std::string_view name) {
  while (!text.empty()) {
    std::string_view value = Cut(&text, ',');
    if (Cut(&value, '=') == name) return value;
  }
  return {};
}

std::optional<SacctExit> ParseSacctExit(std::string_view text) {
  const std::optional<int64_t> code = Whole(Cut(&text, ':'));
  const std::optional<int64_t> signal = Whole(text);
  if (!code.has_value() || !signal.has_value()) return std::nullopt;
  return SacctExit{*code, *signal};
}

std::vector<std::string> SacctNodes(std::string_view text, size_t most) {
  std::vector<std::string> nodes;
  while (!text.empty()) {
    const size_t end = EndOfName(text);
    if (!AddNodes(text.substr(0, end), most, &nodes)) return {};
    text = end == text.size() ? std::string_view() : text.substr(end + 1);
  }
  if (nodes.size() == 1 && nodes[0] == "None assigned") return {};
  return nodes;
}

}  // namespace crema

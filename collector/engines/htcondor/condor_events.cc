#include "collector/engines/htcondor/condor_events.h"

#include <time.h>

#include <cstdio>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"

namespace crema {
namespace {

constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kMostTime = 8'000'000'000;  // seconds; later ones are no count of nanoseconds
constexpr double kMostNumber = 1e12;

std::string_view Strip(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r";
  const size_t first = text.find_first_not_of(kBlanks);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

std::optional<double> Number(std::string_view text) {
  double number = 0;
  if (!absl::SimpleAtod(absl::string_view(text.data(), text.size()), &number) ||
      !(number >= 0 && number < kMostNumber)) {
    return std::nullopt;
  }
  return number;
}

/// Seconds since 1970 of a moment of that day; `is_utc`: not of this machine's zone.
std::optional<int64_t> SecondsOf(tm moment, bool is_utc) {
  moment.tm_isdst = -1;
  const time_t seconds = is_utc ? timegm(&moment) : mktime(&moment);
  return seconds > 0 && seconds < kMostTime ? std::optional<int64_t>(seconds) : std::nullopt;
}

/// The time that `text` begins with; `used` is its length.
std::optional<int64_t> TimeNs(const std::string& text, int64_t latest_ns, size_t* used) {
  tm moment = {};
  const char* rest = nullptr;
  bool has_year = true;
  for (const char* form : {"%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S", "%m/%d/%Y %H:%M:%S", "%m/%d %H:%M:%S"}) {
    moment = {};
    has_year = std::string_view(form) != "%m/%d %H:%M:%S";
    rest = strptime(text.c_str(), form, &moment);
    if (rest != nullptr) break;
  }
  if (rest == nullptr) return std::nullopt;
  int64_t fraction_ns = 0;
  if (*rest == '.') {
    int64_t scale = kSecond;
    for (++rest; *rest >= '0' && *rest <= '9' && scale > 1; ++rest) fraction_ns += (*rest - '0') * (scale /= 10);
  }
  const bool is_utc = *rest == 'Z';
  rest += is_utc;
  if (*rest != ' ' && *rest != '\0') return std::nullopt;
  if (!has_year) {
    const auto latest = static_cast<time_t>(latest_ns / kSecond);
    tm now = {};
    localtime_r(&latest, &now);
    moment.tm_year = now.tm_year;
    constexpr int64_t kDay = 86'400;
    if (SecondsOf(moment, is_utc).value_or(0) > latest + kDay) --moment.tm_year;
  }
  const std::optional<int64_t> seconds = SecondsOf(moment, is_utc);
  if (!seconds.has_value()) return std::nullopt;
  *used = static_cast<size_t>(rest - text.c_str());
  return *seconds * kSecond + fraction_ns;
}

/// `0 00:01:00`, days and a clock.
std::optional<int64_t> UsageSeconds(std::string_view text) {
  long long days = 0, hours = 0, minutes = 0, seconds = 0;
  if (std::sscanf(std::string(text).c_str(), " %4lld %2lld:%2lld:%2lld", &days, &hours, &minutes, &seconds) != 4) {
    return std::nullopt;
  }
  return ((days * 24 + hours) * 60 + minutes) * 60 + seconds;
}

}  // namespace

std::string_view CondorEvent::Field(std::string_view name) const {
  for (const std::string_view line : lines) {
    if (line.substr(0, name.size()) != name) continue;
    const std::string_view rest = Strip(line.substr(name.size()));
    if (rest.empty() || (rest.front() != ':' && rest.front() != '=')) continue;
    std::string_view value = Strip(rest.substr(1));
    if (value.size() > 1 && value.front() == '"' && value.back() == '"') value = value.substr(1, value.size() - 2);
    return value;
  }
  return {};
}

std::optional<int64_t> CondorEvent::Figure(std::string_view what) const {
  for (const std::string_view line : lines) {
    const size_t dash = line.find(" - ");
    if (dash == line.npos || Strip(line.substr(dash + 3)).substr(0, what.size()) != what) continue;
    const std::optional<double> number = Number(Strip(line.substr(0, dash)));
    return number.has_value() ? std::optional(static_cast<int64_t>(*number)) : std::nullopt;
  }
  return std::nullopt;
}

std::optional<int64_t> CondorEvent::UsageNs(std::string_view what) const {
  for (const std::string_view line : lines) {
    const size_t dash = line.find(" - ");
    const size_t system = line.find(", Sys ");
    if (dash == line.npos || system == line.npos || Strip(line.substr(dash + 3)) != what) continue;
    if (line.substr(0, 4) != "Usr ") continue;
    const std::optional<int64_t> user_seconds = UsageSeconds(line.substr(4, system - 4));
    const std::optional<int64_t> system_seconds = UsageSeconds(line.substr(system + 6, dash - system - 6));
    if (!user_seconds.has_value() || !system_seconds.has_value()) return std::nullopt;
    return (*user_seconds + *system_seconds) * kSecond;
  }
  return std::nullopt;
}

// `Usage` may be missing in a row: what is there stands at the right, below `Request` and `Allocated`.
CondorEvent::Resource CondorEvent::ResourceOf(std::string_view name) const {
  for (const std::string_view line : lines) {
    const size_t colon = line.find(':');
    if (colon == line.npos || Strip(line.substr(0, colon)) != name) continue;
    const std::string values(line.substr(colon + 1));
    const std::vector<std::string> words = absl::StrSplit(values, absl::ByAnyChar(" \t"), absl::SkipEmpty());
    Resource resource;
    if (words.size() < 2) continue;
    const bool has_usage = words.size() > 2 && Number(words[2]).has_value();
    if (has_usage) resource.used = Number(words[0]);
    resource.requested = Number(words[has_usage ? 1 : 0]);
    resource.allocated = Number(words[has_usage ? 2 : 1]);
    return resource;
  }
  return {};
}

std::optional<CondorEvent> ParseCondorEvent(std::string_view line, int64_t latest_ns) {
  const std::string text(Strip(line));
  int code = 0, cluster = 0, process = 0, used = 0;
  if (std::sscanf(text.c_str(), "%3d (%9d.%9d.%*d) %n", &code, &cluster, &process, &used) != 3 || used == 0) {
    return std::nullopt;
  }
  const bool has_number = text.find_first_not_of("0123456789") == 3;
  if (!has_number || cluster < 0 || process < 0) return std::nullopt;
  CondorEvent event;
  event.code = code;
  event.cluster = cluster;
  event.process = process;
  size_t time_bytes = 0;
  const std::string rest = text.substr(static_cast<size_t>(used));
  const std::optional<int64_t> time_ns = TimeNs(rest, latest_ns, &time_bytes);
  if (!time_ns.has_value()) return std::nullopt;
  event.time_ns = *time_ns;
  event.text = std::string(Strip(std::string_view(rest).substr(time_bytes)));
  return event;
}

}  // namespace crema

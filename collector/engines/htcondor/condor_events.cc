#include "collector/engines/htcondor/condor_events.h"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <cstdio>

#include "absl/strings/numbers.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "collector/engines/log_lines.h"
#include "nlohmann/json.hpp"

namespace crema {
namespace {

constexpr int64_t kSecond = 1'000'000'000;
constexpr double kMostNumber = 1e12;

std::optional<double> Number(std::string_view text) {
  double number = 0;
  if (!absl::SimpleAtod(absl::string_view(text.data(), text.size()), &number) ||
      !(number >= 0 && number < kMostNumber)) {
    return std::nullopt;
  }
  return number;
}

/// Takes the time that `text` begins with; `used` is its length. False: there is none.
bool TakeTime(const std::string& text, CondorYears* years, CondorEvent* event, size_t* used) {
  constexpr std::string_view kWithoutYear = "%m/%d %H:%M:%S";
  tm moment = {};
  const char* rest = nullptr;
  bool has_year = true;
  for (const char* form : {"%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S", "%m/%d/%Y %H:%M:%S", kWithoutYear.data()}) {
    moment = {};
    has_year = form != kWithoutYear;
    rest = strptime(text.c_str(), form, &moment);
    if (rest != nullptr) break;
  }
  if (rest == nullptr) return false;
  int64_t fraction_ns = 0;
  if (*rest == '.') {
    int64_t scale = kSecond;
    for (++rest; *rest >= '0' && *rest <= '9' && scale > 1; ++rest) fraction_ns += (*rest - '0') * (scale /= 10);
  }
  const bool is_utc = *rest == 'Z';
  rest += is_utc;
  if (*rest != ' ' && *rest != '\0') return false;
  if (!has_year) moment.tm_year = years->YearOf(moment.tm_mon, moment.tm_mday) - 1900;
  const std::optional<LogTime> time = is_utc ? LogTimeOf(timegm(&moment)) : ReadLocalTime(moment);
  if (!time.has_value()) return false;
  event->time_ns = time->time_ns + fraction_ns;
  if (time->later_ns.has_value()) event->later_ns = *time->later_ns + fraction_ns;
  *used = static_cast<size_t>(rest - text.c_str());
  return true;
}

/// `0 00:01:00`, days and a clock.
std::optional<int64_t> UsageSeconds(std::string_view text) {
  long long days = 0, hours = 0, minutes = 0, seconds = 0;
  if (std::sscanf(std::string(text).c_str(), " %4lld %2lld:%2lld:%2lld", &days, &hours, &minutes, &seconds) != 4) {
    return std::nullopt;
  }
  return ((days * 24 + hours) * 60 + minutes) * 60 + seconds;
}

using Ad = std::map<std::string, std::string>;

Ad ReadJson(const std::string& text) {
  Ad ad;
  const auto object = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!object.is_object()) return ad;
  for (const auto& [name, value] : object.items()) {
    ad[name] = value.is_string() ? value.get<std::string>() : value.dump();
  }
  return ad;
}

/// `<a n="Cluster"><i>61</i></a>`, `<a n="TerminatedNormally"><b v="t"/></a>`.
Ad ReadXml(const std::string& text) {
  Ad ad;
  constexpr std::string_view kBegin = "<a n=\"";
  for (size_t at = text.find(kBegin); at != text.npos; at = text.find(kBegin, at)) {
    at += kBegin.size();
    const size_t quote = text.find('"', at), end = text.find("</a>", at);
    const size_t open = text.find('>', text.find('<', quote));  // of the element with the value
    if (quote == text.npos || end == text.npos || open == text.npos || open > end) break;
    const std::string name = text.substr(at, quote - at);
    if (text[open - 1] == '/') {
      ad[name] = text.substr(quote, open - quote).find("v=\"t") != text.npos ? "true" : "false";
    } else {
      const size_t close = text.find('<', open);
      ad[name] = absl::StrReplaceAll(text.substr(open + 1, close - open - 1),
                                     {{"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", "\""}, {"&apos;", "'"}, {"&amp;", "&"}});
    }
    at = end;
  }
  return ad;
}

}  // namespace

std::string_view CondorEvent::Field(std::string_view name) const {
  for (const std::string_view line : lines) {
    if (line.substr(0, name.size()) != name) continue;
    const std::string_view rest = Trimmed(line.substr(name.size()));
    if (rest.empty() || (rest.front() != ':' && rest.front() != '=')) continue;
    std::string_view value = Trimmed(rest.substr(1));
    if (value.size() > 1 && value.front() == '"' && value.back() == '"') value = value.substr(1, value.size() - 2);
    return value;
  }
  return {};
}

std::optional<int64_t> CondorEvent::Figure(std::string_view what) const {
  for (const std::string_view line : lines) {
    const size_t dash = line.find(" - ");
    if (dash == line.npos || Trimmed(line.substr(dash + 3)).substr(0, what.size()) != what) continue;
    const std::optional<double> number = Number(Trimmed(line.substr(0, dash)));
    return number.has_value() ? std::optional(static_cast<int64_t>(*number)) : std::nullopt;
  }
  return std::nullopt;
}

std::optional<int64_t> CondorEvent::UsageNs(std::string_view what) const {
  for (const std::string_view line : lines) {
    const size_t dash = line.find(" - ");
    const size_t system = line.find(", Sys ");
    if (dash == line.npos || system == line.npos || Trimmed(line.substr(dash + 3)) != what) continue;
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
    if (colon == line.npos || Trimmed(line.substr(0, colon)) != name) continue;
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

std::optional<CondorEvent> ParseCondorEvent(std::string_view line, CondorYears* years) {
  const std::string text(Trimmed(line));
  int code = 0, cluster = 0, process = 0, used = 0;
  if (std::sscanf(text.c_str(), "%3d (%9d.%9d.%*d) %n", &code, &cluster, &process, &used) != 3 || used == 0) {
    return std::nullopt;
  }
  if (text.find_first_not_of("0123456789") != 3) return std::nullopt;
  CondorEvent event;
  event.code = code;
  event.cluster = cluster;
  event.process = process;
  size_t time_bytes = 0;
  const std::string rest = text.substr(static_cast<size_t>(used));
  if (!TakeTime(rest, years, &event, &time_bytes)) return std::nullopt;
  event.text = std::string(Trimmed(std::string_view(rest).substr(time_bytes)));
  return event;
}

std::optional<CondorEvent> CondorEventOf(const std::map<std::string, std::string>& ad) {
  const auto of = [&ad](const char* name) {
    const auto found = ad.find(name);
    return found == ad.end() ? std::string() : found->second;
  };
  CondorEvent event;
  size_t used = 0;
  CondorYears none;
  const auto number = [&](const char* name, int64_t* to) { return absl::SimpleAtoi(of(name), to); };
  if (!number("EventTypeNumber", &event.code) || !number("Cluster", &event.cluster) ||
      !number("Proc", &event.process) || !TakeTime(of("EventTime"), &none, &event, &used)) {
    return std::nullopt;
  }
  // The lines that the classic form has for them.
  for (const char* host : {"SubmitHost", "ExecuteHost"}) event.text += of(host);
  const auto add = [&](std::string_view form, const std::string& value) {
    if (!value.empty()) event.lines.push_back(fmt::format(fmt::runtime(form), value));
  };
  for (const char* reason : {"Reason", "HoldReason", "Message"}) add("{}", of(reason));
  add("Code {} Subcode 0", of("HoldReasonCode"));
  add("SlotName: {}", of("SlotName"));
  add("(1) Normal termination (return value {})", of("ReturnValue"));
  add("(0) Abnormal termination (signal {})", of("TerminatedBySignal"));
  if (of("TerminatedAndRequeued") == "true") event.lines.emplace_back("(0) Job terminated and was requeued");
  add("{}  -  Run Remote Usage", of("RunRemoteUsage"));
  add("{}  -  ResidentSetSize of job (KB)", of("ResidentSetSize"));
  const auto add_resource = [&](std::string_view row, const char* used_name, const char* asked, const char* given) {
    const std::string allocated = of(given);
    if (!allocated.empty()) {
      event.lines.push_back(
          fmt::format("{} : {} {} {}", row, of(used_name), of(asked).empty() ? "0" : of(asked), allocated));
    }
  };
  add_resource("Cpus", "CpusUsage", "RequestCpus", "Cpus");
  add_resource("Memory (MB)", "MemoryUsage", "RequestMemory", "Memory");
  return event;
}

int CondorYears::YearOf(int month, int day) {
  constexpr int kOutOfOrder = 4;  // lines of several jobs: one day, where February ends
  const int ahead = (month - last_month_) * 31 + day - last_day_;
  if (last_day_ > 0 && month == 11 && last_month_ == 0 && day == 31 && last_day_ == 1) return first_year_ + turns_ - 1;
  if (last_day_ > 0 && ahead < -kOutOfOrder) ++turns_;
  if (last_day_ == 0 || ahead > 0 || ahead < -kOutOfOrder) {
    last_month_ = month;
    last_day_ = day;
  }
  if (month == 1 && day == 29) leaps_.push_back(turns_);
  return first_year_ + turns_;
}

void CondorYears::EndAt(int64_t latest_ns) {
  constexpr int64_t kDay = 86'400;
  const auto latest = static_cast<time_t>(latest_ns / kSecond);
  tm now = {};
  localtime_r(&latest, &now);
  constexpr int kMostYears = 12;  // there may be eight between leap years
  for (int year = now.tm_year + 1900; year > now.tm_year + 1900 - kMostYears; --year) {
    tm last = {};
    last.tm_year = year - 1900;
    last.tm_mon = last_month_;
    last.tm_mday = last_day_;
    last.tm_isdst = -1;
    first_year_ = year - turns_;
    const bool fits = std::all_of(leaps_.begin(), leaps_.end(), [this](int turns) {
      const int leap = first_year_ + turns;
      return (leap % 4 == 0 && leap % 100 != 0) || leap % 400 == 0;
    });
    if (fits && mktime(&last) <= latest + kDay) break;
  }
  turns_ = last_month_ = last_day_ = 0;
}

void CondorAds::Add(std::string_view line, const OnAd& on_ad) {
  if (text_.empty()) {
    const size_t first = line.find_first_of("{<");
    if (first == line.npos) return;
    is_xml_ = line[first] == '<';
  }
  is_xml_ ? AddXml(line, on_ad) : AddJson(line, on_ad);
}

void CondorAds::AddJson(std::string_view line, const OnAd& on_ad) {
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (depth_ == 0 && c != '{') continue;
    text_ += c;
    if (in_string_) {
      if (c == '\\' && i + 1 < line.size()) text_ += line[++i];
      in_string_ = c != '"';
    } else if (c == '"') {
      in_string_ = true;
    } else if (c == '{') {
      ++depth_;
    } else if (c == '}' && --depth_ == 0) {
      on_ad(ReadJson(text_));
      text_.clear();
    }
  }
  if (depth_ > 0) text_ += '\n';
}

void CondorAds::AddXml(std::string_view line, const OnAd& on_ad) {
  constexpr std::string_view kBegin = "<c>", kEnd = "</c>";
  while (true) {
    if (text_.empty()) {
      const size_t begin = line.find(kBegin);
      if (begin == line.npos) return;
      line.remove_prefix(begin);
    }
    const size_t end = line.find(kEnd);
    text_ += line.substr(0, end);
    if (end == line.npos) return;
    on_ad(ReadXml(text_));
    text_.clear();
    line.remove_prefix(end + kEnd.size());
  }
}

}  // namespace crema

#include "collector/engines/htcondor/htcondor_engine.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdio>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "collector/engines/log_lines.h"
#include "collector/idioms/sequences.h"
#include "collector/idioms/text.h"
#include "collector/idioms/units.h"
#include "collector/records/cluster_facts.h"
#include "nlohmann/json.hpp"

namespace crema {
namespace {

constexpr double kMostNumber = 1e12;

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
    int64_t scale = kSecondNs;
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

std::optional<double> Number(std::string_view text) {
  const std::optional<double> number = Parsed<double>(text);
  return number >= 0.0 && number < kMostNumber ? number : std::nullopt;
}

/// What is in front of `- what`: `2132  -  ResidentSetSize of job (KB)`.
std::string_view Figure(const CondorEvent& event, std::string_view what) {
  for (const std::string_view line : event.lines) {
    const size_t dash = line.find(" - ");
    if (dash == line.npos || Trimmed(line.substr(dash + 3)).substr(0, what.size()) != what) continue;
    return Trimmed(line.substr(0, dash));
  }
  return {};
}

/// `0 00:01:00`, days and a clock.
std::optional<int64_t> UsageSeconds(std::string_view text) {
  long long days = 0, hours = 0, minutes = 0, seconds = 0;
  if (std::sscanf(std::string(text).c_str(), " %4lld %2lld:%2lld:%2lld", &days, &hours, &minutes, &seconds) != 4) {
    return std::nullopt;
  }
  return ((days * 24 + hours) * 60 + minutes) * 60 + seconds;
}

/// User and system time of `Usr 0 00:01:00, Sys 0 00:00:01  -  Run Remote Usage`.
std::optional<int64_t> UsageNs(const CondorEvent& event, std::string_view what) {
  const std::string_view usage = Figure(event, what);
  const size_t system = usage.find(", Sys ");
  if (system == usage.npos || usage.substr(0, 4) != "Usr ") return std::nullopt;
  const std::optional<int64_t> user_seconds = UsageSeconds(usage.substr(4, system - 4));
  const std::optional<int64_t> system_seconds = UsageSeconds(usage.substr(system + 6));
  if (!user_seconds.has_value() || !system_seconds.has_value()) return std::nullopt;
  return (*user_seconds + *system_seconds) * kSecondNs;
}

/// A row of the table of resources: `Memory (MB) : 1 1 2048`. `Usage` may be missing in it: what is there is at the
/// right, below `Request` and `Allocated`. Or what an execution was given: `Memory = 2048`.
struct CondorResource {
  std::optional<double> used;
  std::optional<double> allocated;
};
CondorResource ResourceOf(const CondorEvent& event, std::string_view name) {
  for (const std::string_view line : event.lines) {
    const size_t sign = line.find_first_of(":=");
    if (sign == line.npos || Trimmed(line.substr(0, line.find_first_of("(:="))) != name) continue;
    const std::string values(line.substr(sign + 1));
    const std::vector<std::string> words = absl::StrSplit(values, absl::ByAnyChar(" \t"), absl::SkipEmpty());
    if (words.empty()) continue;
    const bool has_usage = words.size() > 2 && Number(words[2]).has_value();
    return {has_usage ? Number(words[0]) : std::nullopt, Number(words[has_usage ? 2 : words.size() > 1])};
  }
  return {};
}

using Ad = std::map<std::string, std::string>;

Ad ReadJson(const std::string& text) {
  Ad ad;
  const auto object = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!object.is_object()) return ad;
  for (const auto& [name, value] : object.items()) {
    ad[name] = value.is_string() ? value.get<std::string>() : value.dump();
    if (name != "ExecuteProps" || !value.is_object()) continue;
    for (const auto& [inner, given] : value.items()) ad.try_emplace(inner, given.dump());
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

/// An event in the form of a ClassAd, as logs in JSON and XML have it: its attributes as texts. nullopt: it is none.
std::optional<CondorEvent> CondorEventOf(const Ad& ad) {
  const auto of = [&ad](const char* name) { return ValueOr(ad, name, std::string()); };
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
    if (const std::string allocated = of(given); !allocated.empty()) {
      event.lines.push_back(
          fmt::format("{} : {} {} {}", row, of(used_name), of(asked).empty() ? "0" : of(asked), allocated));
    }
  };
  add_resource("Cpus", "CpusUsage", "RequestCpus", "Cpus");
  add_resource("Memory (MB)", "MemoryUsage", "RequestMemory", "Memory");
  return event;
}

/// Event logs of HTCondor in the form of ClassAds, as JSON objects or XML elements one after the other.
class CondorAds {
 public:
  using OnAd = std::function<void(const Ad&)>;

  /// Takes the next line; calls `on_ad` for each ad that ends in it. One that cannot be read has no attributes.
  void Add(std::string_view line, const OnAd& on_ad) {
    if (text_.empty()) {
      const size_t first = line.find_first_of("{<");
      if (first == line.npos) return;
      is_xml_ = line[first] == '<';
    }
    is_xml_ ? AddXml(line, on_ad) : AddJson(line, on_ad);
  }
  /// An ad has begun and not ended.
  bool is_inside() const { return !text_.empty(); }

 private:
  void AddJson(std::string_view line, const OnAd& on_ad) {
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

  void AddXml(std::string_view line, const OnAd& on_ad) {
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

  std::string text_;  // of the ad, as far as it was read
  int depth_ = 0;     // of JSON's braces
  bool in_string_ = false;
  bool is_xml_ = false;
};

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
  const auto latest = static_cast<time_t>(latest_ns / kSecondNs);
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
    const bool fits = absl::c_all_of(leaps_, [this](int turns) {
      const int leap = first_year_ + turns;
      return (leap % 4 == 0 && leap % 100 != 0) || leap % 400 == 0;
    });
    if (fits && mktime(&last) <= latest + kDay) break;
  }
  turns_ = last_month_ = last_day_ = 0;
}

// HTCondor, from the event log that a submit file names (`log = jobs.log`).

namespace {

// The manual's "Job Event Log Codes".
enum Code : int64_t {
  kSubmit = 0,
  kExecute = 1,
  kCheckpointed = 3,
  kEvicted = 4,
  kTerminated = 5,
  kImageSize = 6,
  kShadowException = 7,
  kAborted = 9,
  kSuspended = 10,
  kUnsuspended = 11,
  kHeld = 12,
  kReleased = 13,
  kDisconnected = 22,
  kReconnected = 23,
  kReconnectFailed = 24,
};
constexpr Code kOfExecutions[] = {kCheckpointed, kEvicted,      kTerminated,  kImageSize,      kSuspended,
                                  kUnsuspended,  kDisconnected, kReconnected, kReconnectFailed};
constexpr int64_t kMostCode = 60;       // newer versions add some, which change nothing here
constexpr int64_t kHeldForMemory = 34;  // the manual's "HoldReasonCode": memory usage exceeds a memory limit
constexpr int64_t kHeldByUser = 1, kHeldByPolicy = 3, kHeldBySystemPolicy = 26;
/// A reason may be the user's own, or DAGMan's, which removes its jobs when its user removes it.
constexpr std::string_view kRemovedByUser[] = {"condor_rm", "(by user ", "OtherJobRemoveRequirements", "DAG Removed"};
constexpr int64_t kTogether = 2'000'000'000;  // events of one end, written one after the other
constexpr size_t kMostReason = 120;           // bytes
constexpr int64_t kMostCores = 1'000'000'000;

std::optional<int64_t> Megabytes(const std::optional<double>& count) {
  constexpr double kMost = 1e9;  // MB
  return count.has_value() && *count > 0 && *count < kMost ? std::optional<int64_t>(std::llround(*count * kMebibyte))
                                                           : std::nullopt;
}

/// `host:<10.0.0.2:9618?addrs=...&alias=node2&...>`: the alias, else the address.
std::string HostOf(const CondorEvent& event) {
  const std::string_view slot = event.Field("SlotName");
  if (const size_t at = slot.find('@'); at != slot.npos) return std::string(slot.substr(at + 1));
  const std::string_view text = event.text;
  if (const size_t alias = text.find("alias="); alias != text.npos) {
    const std::string_view rest = text.substr(alias + 6);
    return std::string(rest.substr(0, rest.find_first_of("&>")));
  }
  const size_t open = text.find('<');
  if (open == text.npos) return "";
  const std::string_view address = text.substr(open + 1);
  return std::string(address.substr(0, address.find_first_of(":?>")));
}

std::string FirstLine(const CondorEvent& event) { return event.lines.empty() ? "" : ": " + event.lines[0]; }

int64_t HoldCode(const CondorEvent& event) {
  for (const std::string_view line : event.lines) {
    if (line.substr(0, 5) != "Code ") continue;
    if (const auto code = Parsed<int64_t>(line.substr(5, line.find(' ', 5) - 5))) return *code;
  }
  return 0;
}

/// `held, out of memory: Docker job has gone over memory limit of 2048 Mb`. A policy with `||` does not say which of
/// its conditions was true, and a path only names a file.
std::string WhyHeld(const CondorEvent& event) {
  const std::string reason = absl::StartsWith(FirstLine(event), ": Code ") ? "" : FirstLine(event);
  const int64_t code = HoldCode(event);
  const bool is_policy = code == kHeldByPolicy || code == kHeldBySystemPolicy;
  const bool is_sure =
      !absl::StrContains(reason, "||") && (is_policy || (code == 0 && !absl::StrContains(reason, "/")));
  const bool is_memory =
      code == kHeldForMemory || (is_sure && absl::StrContains(absl::AsciiStrToLower(reason), "memory"));
  return CutText((is_memory ? "held, out of memory" : "held") + reason, kMostReason);
}

/// `Abnormal termination (signal 9)`, `Normal termination (return value 3)`: the number, and whether it was a signal.
std::optional<std::pair<int64_t, bool>> EndOf(const CondorEvent& event) {
  for (const std::string_view line : event.lines) {
    for (const std::string_view what : {"(return value ", "(signal "}) {
      const size_t at = line.find(what);
      if (at == line.npos) continue;
      const std::string_view rest = line.substr(at + what.size());
      if (const auto number = Parsed<int64_t>(rest.substr(0, rest.find(')'))))
        return std::pair(*number, what == "(signal ");
    }
  }
  return std::nullopt;
}

/// Events of HTCondor's jobs as facts: each execution of a job is a worker with one task.
class CondorJobs {
 public:
  /// False: this version does not know the event.
  bool Add(const CondorEvent& event) {
    if (event.cluster < 0 || event.process < 0) return true;  // of no job
    std::vector<Job>& same = jobs_[{event.cluster, event.process}];
    if (same.empty() || event.code == kSubmit) {
      Job& job = same.emplace_back();
      job.first_ns = job.last_ns = event.time_ns;
      if (event.code == kSubmit) {
        job.scheduler = HostOf(event);
        job.queued_ns = event.time_ns;
        job.was_submitted = true;
        return true;
      }
    }
    Job& job = same.back();
    job.last_ns = std::max(job.last_ns, event.time_ns);
    if (absl::c_linear_search(kOfExecutions, event.code)) AddUnseenExecution(event, &job);
    switch (event.code) {
      case kExecute: {
        Stop(event, /*is_lost=*/true, "it was executed again, and its log does not say how the earlier execution ended",
             &job);
        ClusterWorkerFact& worker = AddExecution(event.time_ns, std::exchange(job.queued_ns, std::nullopt), &job);
        job.is_held = job.is_held_by_user = false;
        worker.host = HostOf(event);
        TakeFigures(event, &worker);
        return true;
      }
      case kEvicted: {
        const bool is_queued_again = absl::c_any_of(event.lines, [](const std::string& line) {
          return absl::StrContains(line, "terminated and was requeued");
        });
        Stop(event, !is_queued_again, is_queued_again ? "terminated, and queued again" : "evicted", &job);
        job.queued_ns = event.time_ns;
        return true;
      }
      case kTerminated: {
        const auto end = EndOf(event);
        const bool is_killed = end.has_value() && end->second;
        if (!job.executions.empty() && end.has_value() && end->first != 0) job.executions.back().failed = true;
        Stop(event, is_killed,
             !end.has_value() ? "terminated"
                              : fmt::format("terminated, {} {}", is_killed ? "signal" : "exit code", end->first),
             &job);
        job.is_over = true;
        return true;
      }
      case kImageSize: {
        const double resident = Number(Figure(event, "ResidentSetSize")).value_or(0);
        if (job.executions.empty() || resident <= 0) return true;
        ClusterWorkerFact& worker = job.executions.back().worker;
        if (worker.left_ns.has_value()) return true;
        ClusterSampleFact& sample = worker.samples.emplace_back();
        sample.time_ns = event.time_ns;
        sample.memory_bytes = static_cast<int64_t>(resident) * kKibibyte;
        worker.peak_memory_bytes = std::max(worker.peak_memory_bytes.value_or(0), *sample.memory_bytes);
        return true;
      }
      case kShadowException:
      case kReconnectFailed:
        Stop(event, true,
             event.code == kReconnectFailed ? "the connection to its node was lost"
                                            : CutText("shadow exception" + FirstLine(event), kMostReason),
             &job);
        job.queued_ns = event.time_ns;
        return true;
      case kAborted: {
        const std::string why = FirstLine(event);
        const auto names = [&why](std::string_view who) { return why.find(who) != why.npos; };
        job.reason = CutText("removed" + why, kMostReason);
        // Whoever removes a job that was held for a fault only tidies up.
        job.is_ended_by_user =
            absl::c_any_of(kRemovedByUser, names) && (job.executions.empty() || !job.is_held || job.is_held_by_user);
        Stop(event, !job.is_ended_by_user, job.reason, &job);
        job.is_over = true;
        return true;
      }
      case kHeld:
        job.reason = WhyHeld(event);
        job.is_held_by_user = HoldCode(event) == kHeldByUser || absl::StrContains(job.reason, "condor_hold");
        Stop(event, !job.is_held_by_user, job.reason, &job);
        job.is_held = true;
        return true;
      case kReleased:
        job.is_held = job.is_held_by_user = false;
        job.reason.clear();
        job.queued_ns = event.time_ns;
        return true;
      default:
        return event.code <= kMostCode;
    }
  }
  /// One for each job.
  std::vector<ClusterFact> Finish() && {
    std::vector<ClusterFact> clusters;
    for (const auto& [id, same] : jobs_) {
      for (const Job& job : same) {
        clusters.push_back(FactOf(fmt::format("{}.{}", id.first, id.second), job));
      }
    }
    return clusters;
  }

 private:
  struct Execution {
    ClusterWorkerFact worker;          ///< of its own
    std::optional<int64_t> queued_ns;  ///< since then it waited to be executed
    bool failed = false;
  };
  struct Job {
    std::string scheduler;  ///< where it was submitted
    int64_t first_ns = 0;
    int64_t last_ns = 0;
    std::optional<int64_t> queued_ns;
    bool was_submitted = false;  ///< in this log
    bool is_over = false;
    bool is_ended_by_user = false;
    bool is_held = false;  ///< until somebody releases it
    bool is_held_by_user = false;
    std::string reason;          ///< of its last hold or removal
    bool lacks_execute = false;  ///< the log does not say when it was executed
    std::vector<Execution> executions;
  };

  static ClusterWorkerFact& AddExecution(int64_t start_ns, std::optional<int64_t> queued_ns, Job* job) {
    Execution& execution = job->executions.emplace_back();
    execution.queued_ns = queued_ns;
    execution.worker.joined_ns = start_ns;
    return execution.worker;
  }

  /// An execution whose beginning the log does not have, if this event needs one.
  static void AddUnseenExecution(const CondorEvent& event, Job* job) {
    if (!job->executions.empty() || job->is_over) return;
    const double seconds = Parsed<double>(event.Field("TimeExecute (s)")).value_or(0);
    job->lacks_execute = !(seconds > 0 && seconds < 1e9);
    AddExecution(job->lacks_execute ? job->queued_ns.value_or(event.time_ns)
                                    : event.time_ns - static_cast<int64_t>(seconds * 1e9),
                 std::nullopt, job);
    job->queued_ns.reset();
  }

  static void Stop(const CondorEvent& event, bool is_lost, std::string reason, Job* job) {
    if (job->executions.empty()) return;
    Execution& last = job->executions.back();
    ClusterWorkerFact& worker = last.worker;
    if (worker.left_ns.has_value()) {
      // It was evicted because it was held, or held because its shadow broke: what comes last knows why.
      if (!worker.is_lost || event.time_ns - *worker.left_ns > kTogether) return;
      last.failed = is_lost;
    } else {
      worker.left_ns = std::max(event.time_ns, worker.joined_ns);
      last.failed = last.failed || is_lost;
      TakeFigures(event, &worker);
    }
    worker.is_lost = is_lost;
    worker.left_reason = std::move(reason);
  }

  static void TakeFigures(const CondorEvent& event, ClusterWorkerFact* worker) {
    const CondorResource cores = ResourceOf(event, "Cpus");
    const CondorResource memory = ResourceOf(event, "Memory");
    if (cores.allocated.value_or(0) >= 1 && *cores.allocated < kMostCores)
      worker->threads = static_cast<int64_t>(*cores.allocated);
    if (const auto bytes = Megabytes(memory.allocated)) worker->memory_limit_bytes = bytes;
    if (const auto bytes = Megabytes(memory.used)) {
      worker->peak_memory_bytes = std::max(worker->peak_memory_bytes.value_or(0), *bytes);
    }
    if (const auto cpu_ns = UsageNs(event, "Run Remote Usage")) worker->cpu_ns = cpu_ns;
  }

  static ClusterFact FactOf(const std::string& name, const Job& job) {
    ClusterFact cluster;
    cluster.address = "job " + name;
    cluster.epoch = fmt::format("{} {} {}", job.scheduler, name, job.first_ns);
    cluster.first_ns = job.first_ns;
    cluster.last_ns = job.last_ns;
    if (job.executions.empty()) {
      cluster.closed = job.is_over;
      if (job.was_submitted) {
        cluster.never_began = job.reason.empty() ? "waiting" : job.reason;
      } else {
        cluster.complaints.push_back(
            fmt::format("job {}: its log begins after its submission, and does not say whether it began", name));
      }
      return cluster;
    }
    cluster.is_removed = job.is_ended_by_user;
    if (job.lacks_execute) {
      cluster.complaints.push_back(
          fmt::format("job {}: its log does not say when it began; its time is counted from its {}", name,
                      job.was_submitted ? "submission" : "first event"));
    }
    const bool has_stopped = job.executions.back().worker.left_ns.has_value();
    cluster.closed = has_stopped && (job.is_over || job.is_held || !job.queued_ns.has_value());
    if (job.is_held_by_user && !job.is_over) {
      cluster.complaints.push_back(fmt::format("job {} had begun, and its user holds it: {}", name, job.reason));
    }
    ClusterSessionFact& session = cluster.sessions.emplace_back();
    session.begin_ns = job.executions.front().worker.joined_ns;
    if (cluster.closed) session.end_ns = session.flushed_ns = *job.executions.back().worker.left_ns;
    int64_t cores = 1;  // what HTCondor gives to a job that does not ask for more
    for (const Execution& execution : job.executions) cores = std::max(cores, execution.worker.threads);
    for (size_t i = 0; i < job.executions.size(); ++i) {
      const Execution& execution = job.executions[i];
      ClusterWorkerFact& worker = cluster.workers.emplace_back(execution.worker);
      if (worker.threads == 0) worker.threads = cores;
      worker.address = i == 0 ? "job " + name : fmt::format("job {}, run {}", name, i + 1);
      ClusterTaskFact& task = cluster.tasks.emplace_back();
      task.worker = worker.address;
      task.prefix = "job";
      task.start_ns = worker.joined_ns;
      task.stop_ns = std::max(task.start_ns, worker.left_ns.value_or(job.last_ns));
      if (execution.queued_ns.has_value()) task.queue_ns = std::max<int64_t>(0, task.start_ns - *execution.queued_ns);
      task.failed = execution.failed;
      task.job = "htcondor " + name;
      task.is_repeat = i > 0;
      const bool may_go_on = !job.is_over && (job.is_held ? job.is_held_by_user : job.queued_ns.has_value());
      const bool has_ended = worker.left_ns.has_value();
      task.is_last = i + 1 == job.executions.size() && has_ended && !may_go_on && !job.is_ended_by_user;
    }
    return cluster;
  }

  std::map<std::pair<int64_t, int64_t>, std::vector<Job>> jobs_;  // numbers may come again, at another scheduler
};

constexpr EngineTraits kHtcondorTraits = {"HTCondor", "scheduler", "execution", "event logs of HTCondor",
                                          {},         {},          {},          /*numbers_jobs=*/true};
constexpr size_t kHeadBytes = 4096;

enum class Form { kNone, kClassic, kAds };

/// What a file is, by its beginning.
Form FormOf(const std::string& path) {
  const std::string head = ReadBeginning(path, kHeadBytes);
  const size_t first = head.find_first_not_of(" \t\r\n");
  if (first == head.npos) return Form::kNone;
  CondorYears years;
  if (ParseCondorEvent(std::string_view(head).substr(first, head.find('\n', first) - first), &years).has_value()) {
    return Form::kClassic;
  }
  const bool may_be_ads = head[first] == '{' || head[first] == '[' || head[first] == '<';
  return may_be_ads && head.find("\"EventTypeNumber\"") != head.npos ? Form::kAds : Form::kNone;
}

std::optional<std::string> Find(const std::string& path) {
  return FormOf(path) == Form::kNone ? std::nullopt : std::optional(path);
}

/// Events in the order of the log.
class EventReader {
 public:
  EventReader(const std::string& log, EngineReading* reading) : log_(log), lines_(log, reading), reading_(reading) {}
  absl::Status opened() const { return lines_.opened(); }

  void ReadAds() {
    CondorAds ads;
    for (std::string line; lines_.Next(&line);) {
      ads.Add(line, [this](const auto& ad) {
        ++reading_->lines;
        if (std::optional<CondorEvent> event = CondorEventOf(ad)) return Take(*std::move(event));
        ++reading_->malformed;
        lines_.Complain("the ad that ends here describes no event");
      });
    }
    if (ads.is_inside()) NoteCut("the last event is cut");
  }

  void ReadClassic(CondorYears* years) {
    std::optional<CondorEvent> event;  // that is being read
    for (std::string line; lines_.Next(&line);) {
      if (line.substr(0, 3) == "...") {
        if (std::optional<CondorEvent> whole = std::exchange(event, std::nullopt)) Take(*std::move(whole));
        continue;
      }
      std::optional<CondorEvent> next;
      if (line[0] != '\t') next = ParseCondorEvent(line, years);
      if (next.has_value()) {
        if (event.has_value()) NoteCut("the event above is cut");
        ++reading_->lines;
        event = std::move(next);
        continue;
      }
      const std::string_view text = Trimmed(line);
      if (text.empty()) continue;
      if (event.has_value()) {
        event->lines.emplace_back(text);
        continue;
      }
      ++reading_->lines;
      ++(lines_.is_whole() ? reading_->malformed : reading_->torn);
      lines_.Complain(lines_.is_whole() ? "the line describes no event" : "the line is cut");
    }
    if (event.has_value()) NoteCut("the last event is cut");
  }

  std::vector<ClusterFact> Finish() && { return std::move(jobs_).Finish(); }

 private:
  void NoteCut(std::string_view what) {
    ++reading_->torn;
    lines_.Complain(what);
  }

  void Take(CondorEvent event) {
    // Clocks were set back: what would lie before the event above is of the second such hour.
    constexpr int64_t kHalfHour = 1'800 * kSecondNs;
    if (event.time_ns < last_ns_ && event.later_ns.has_value()) event.time_ns = *event.later_ns;
    if (event.time_ns < last_ns_ - kHalfHour && !went_back_) {
      went_back_ = true;
      reading_->problems.push_back(
          fmt::format("{}:{}: the log's times go back by {} min; set TZ to the log's time zone, unless it was joined "
                      "from several logs",
                      log_, lines_.number(), (last_ns_ - event.time_ns) / (60 * kSecondNs)));
    }
    last_ns_ = std::max(last_ns_, event.time_ns);
    if (!jobs_.Add(event)) ++reading_->unknown;
  }

  std::string log_;
  LogLines lines_;
  EngineReading* reading_;
  CondorJobs jobs_;
  int64_t last_ns_ = 0;
  bool went_back_ = false;
};

absl::StatusOr<EngineReading> Read(const std::string& log) {
  EngineReading reading;
  EventReader events(log, &reading);
  if (absl::Status opened = events.opened(); !opened.ok()) return opened;
  if (FormOf(log) == Form::kAds) {
    events.ReadAds();
  } else {
    CondorYears years;
    EngineReading unused;
    LogLines lines(log, &unused);
    for (std::string line; lines.Next(&line);) {
      if (line[0] != '\t') ParseCondorEvent(line, &years);
    }
    const bool lacks_years = years.last() > 0;
    if (lacks_years) years.EndAt(WrittenNs(log));
    events.ReadClassic(&years);
    if (lacks_years) {
      reading.problems.push_back(fmt::format(
          "{}: its dates have no year; crema guessed {} for the last one, because the file was written on {}", log,
          years.last(), absl::FormatTime("%Y-%m-%d", absl::FromUnixNanos(WrittenNs(log)), absl::LocalTimeZone())));
    }
  }
  reading.clusters = std::move(events).Finish();
  return reading;
}

}  // namespace

const Engine kHtcondor = {kHtcondorTraits, "", ".htcondor.log", Find, Read};

}  // namespace crema

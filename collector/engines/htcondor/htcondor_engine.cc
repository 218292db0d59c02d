#include "collector/engines/htcondor/htcondor_engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "absl/time/time.h"
#include "collector/compression/decompressed_file.h"
#include "collector/engines/htcondor/condor_ads.h"
#include "collector/engines/htcondor/condor_events.h"
#include "collector/engines/htcondor/condor_jobs.h"
#include "collector/engines/log_lines.h"

namespace crema {
namespace {

constexpr EngineTraits Traits() {
  EngineTraits traits = {"HTCondor", "scheduler", "execution", "event logs of HTCondor"};
  traits.numbers_jobs = true;
  return traits;
}
constexpr int64_t kSecond = 1'000'000'000;
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
        lines_.Complain("the ad that ends here is of no event");
      });
    }
    if (!ads.is_inside()) return;
    ++reading_->torn;
    lines_.Complain("the last event is cut");
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
        if (event.has_value()) {
          ++reading_->torn;
          lines_.Complain("the event above is cut");
        }
        ++reading_->lines;
        event = std::move(next);
        continue;
      }
      const size_t first = line.find_first_not_of(" \t\r");
      if (first == line.npos) continue;
      if (event.has_value()) {
        event->lines.push_back(line.substr(first, line.find_last_not_of(" \t\r") - first + 1));
        continue;
      }
      ++reading_->lines;
      ++(lines_.is_whole() ? reading_->malformed : reading_->torn);
      lines_.Complain(lines_.is_whole() ? "the line is of no event" : "the line is cut");
    }
    if (!event.has_value()) return;
    ++reading_->torn;
    lines_.Complain("the last event is cut");
  }

  std::vector<ClusterFact> Finish() && { return std::move(jobs_).Finish(); }

 private:
  void Take(CondorEvent event) {
    // Clocks were set back: what would lie before the event above is of the second such hour.
    constexpr int64_t kHalfHour = 1'800 * kSecond;
    if (event.time_ns < last_ns_ && event.later_ns.has_value()) event.time_ns = *event.later_ns;
    if (event.time_ns < last_ns_ - kHalfHour && !went_back_) {
      went_back_ = true;
      reading_->problems.push_back(
          fmt::format("{}:{}: the log's times go back by {} min; set TZ to the log's time zone", log_, lines_.number(),
                      (last_ns_ - event.time_ns) / (60 * kSecond)));
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

const Engine kHtcondor = {Traits(), "", ".htcondor.log", Find, Read};

}  // namespace crema

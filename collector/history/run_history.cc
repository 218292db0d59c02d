#include "collector/history/run_history.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "collector/appearance/human_numbers.h"
#include "fmt/format.h"

namespace crema {
namespace {

constexpr double kSameWork = 1.01;  // most events over least: a few failed chunks

/// By the unit, and where that says nothing by the key.
std::optional<bool> MoreIsWorse(std::string_view metric, std::string_view unit) {
  if (unit == "s" || unit == "core s") return true;
  if (absl::StrContains(std::string(unit), "Hz") || unit == "MB/s" || unit == "Gbit/s") return false;
  if (metric == "cpu_efficiency" || metric == "job_cpu_efficiency") return false;
  if (unit == "B" && (metric.find("memory") != metric.npos || metric.find("rss") != metric.npos)) return true;
  return std::nullopt;
}

bool HaveAsManyEvents(const std::vector<HistoryRun>& runs) {
  double least = 0, most = 0;
  for (const HistoryRun& run : runs) {
    const double events = run.events.value_or(0);
    if (&run == &runs.front()) least = events;
    least = std::min(least, events);
    most = std::max(most, events);
  }
  return most <= kSameWork * least;
}

/// Moves those that `why` has a reason for to the runs that are left out.
template <class Why>
void LeaveOut(const Why& why, std::vector<HistoryRun>* runs, std::vector<LeftOutOfHistory>* left_out) {
  std::vector<HistoryRun> kept;
  for (HistoryRun& run : *runs) {
    std::string reason = why(run);
    if (reason.empty()) {
      kept.push_back(std::move(run));
    } else {
      left_out->push_back({run.directory, std::move(reason)});
    }
  }
  *runs = std::move(kept);
}

absl::Status CheckNames(const std::vector<HistoryRun>& runs) {
  std::set<std::string> names;
  for (const HistoryRun& run : runs) names.insert(run.name);
  if (names.size() <= 1) return absl::OkStatus();
  return absl::InvalidArgumentError(
      fmt::format("the runs have {} names; choose one with --name: {}", names.size(), absl::StrJoin(names, ", ")));
}

std::vector<std::string> WhatElse(const HistoryRun& before, const HistoryRun& after) {
  std::vector<std::string> also;
  if (before.cores.has_value() && after.cores.has_value() && *before.cores != *after.cores) {
    also.push_back(fmt::format("{}, then {}", Counted(*before.cores, "core", "cores"), HumanCount(*after.cores)));
  }
  if (before.events.has_value() && after.events.has_value() && *before.events != *after.events) {
    also.push_back(fmt::format("{}, then {}", Counted(*before.events, "event", "events"), HumanCount(*after.events)));
  }
  if (before.datasets != after.datasets) also.emplace_back("other datasets");
  if (before.host != after.host) also.push_back(fmt::format("host {}, then {}", before.host, after.host));
  return also;
}

LevelChange Shown(const RunHistory& history, LevelChange change) {
  if (!history.is_relative) return change;
  return {std::expm1(change.change), std::expm1(change.low), std::expm1(change.high)};
}

void FindLevels(RunHistory* history) {
  std::vector<double> values;
  for (size_t i = 0; i < history->runs.size(); ++i) values.push_back(history->ValueOf(i));
  history->is_relative = std::all_of(values.begin(), values.end(), [](double value) { return value > 0; });
  if (values.size() < kLeastValues) {
    history->notes.push_back(fmt::format("{} too few to tell a change from noise: {} are needed",
                                         Counted(static_cast<double>(values.size()), "run is", "runs are"),
                                         kLeastValues));
    return;
  }
  if (history->is_relative) {
    for (double& value : values) value = std::log(value);
  }
  history->points = FindChangePoints(values);
  const std::vector<Segment>& segments = history->points.segments;
  for (size_t i = 0; i < segments.size(); ++i) {
    HistoryLevel level;
    level.place = segments[i];
    level.value = history->is_relative ? std::exp(segments[i].level) : segments[i].level;
    if (i > 0) {
      level.since_before = Shown(*history, ChangeBetween(history->points, segments[i - 1], segments[i]));
      level.also = WhatElse(history->runs[segments[i].begin - 1], history->runs[segments[i].begin]);
    }
    history->levels.push_back(std::move(level));
  }
}

void NoteWhatDiffers(RunHistory* history) {
  const std::vector<HistoryRun>& runs = history->runs;
  const auto differ = [&](const auto& of) {
    return std::any_of(runs.begin(), runs.end(), [&](const HistoryRun& run) { return of(run) != of(runs.front()); });
  };
  std::vector<std::string> other;
  if (history->metric != kRateOfRun && !HaveAsManyEvents(runs)) other.emplace_back("numbers of events");
  if (differ([](const HistoryRun& run) { return run.datasets; })) other.emplace_back("datasets");
  if (differ([](const HistoryRun& run) { return run.cores; })) other.emplace_back("cores");
  if (differ([](const HistoryRun& run) { return run.host; })) other.emplace_back("hosts");
  if (!other.empty()) {
    history->notes.push_back("the runs differ in their " + absl::StrJoin(other, ", ") +
                             ": this may be the cause of a change");
  }
  if (std::all_of(runs.begin(), runs.end(), [](const HistoryRun& run) { return run.commit.empty(); })) {
    history->notes.emplace_back("no run tells its commit; crema run takes it from git, or from CREMA_COMMIT");
  }
}

}  // namespace

absl::StatusOr<RunHistory> StudyHistory(std::vector<HistoryRun> runs, const HistoryChoice& choice) {
  RunHistory history;
  const size_t found = runs.size();
  LeaveOut([](const HistoryRun& run) { return run.why_not; }, &runs, &history.left_out);
  if (choice.name.empty()) {
    if (const absl::Status named = CheckNames(runs); !named.ok()) return named;
  } else {
    LeaveOut([&](const HistoryRun& run) { return run.name == choice.name ? "" : "its name is " + run.name; }, &runs,
             &history.left_out);
  }
  std::set<std::string> ids;
  LeaveOut(
      [&](const HistoryRun& run) {
        return run.id.empty() || ids.insert(run.id).second ? "" : "it is the same run as another one: " + run.id;
      },
      &runs, &history.left_out);
  const bool know_work =
      std::all_of(runs.begin(), runs.end(), [](const HistoryRun& run) { return run.values.count(kWorkOfRun) > 0; });
  history.metric = !choice.metric.empty()                    ? choice.metric
                   : runs.empty() || !HaveAsManyEvents(runs) ? std::string(kRateOfRun)
                                                             : std::string(know_work ? kWorkOfRun : kTimeOfRun);
  LeaveOut(
      [&](const HistoryRun& run) {
        return run.values.count(history.metric) > 0 ? "" : history.metric + " was not measured";
      },
      &runs, &history.left_out);
  if (runs.empty()) {
    const std::string& reason = history.left_out.empty() ? "" : history.left_out.front().reason;
    return absl::NotFoundError(fmt::format("none of {} can be used; of the first: {}",
                                           Counted(static_cast<double>(found), "measurement", "measurements"), reason));
  }
  const size_t most = std::min(choice.last, kMostRuns);
  if (runs.size() > most) {
    history.notes.push_back(fmt::format("only the latest {} of {} runs", most, runs.size()));
    runs.erase(runs.begin(), runs.end() - static_cast<ptrdiff_t>(most));
  }
  history.runs = std::move(runs);
  history.name = history.runs.back().name;
  const auto unit = history.runs.back().units.find(history.metric);
  if (unit != history.runs.back().units.end()) history.unit = unit->second;
  history.more_is_worse = MoreIsWorse(history.metric, history.unit);
  FindLevels(&history);
  NoteWhatDiffers(&history);
  return history;
}

std::string WhyNotJudged(const RunHistory& history) {
  if (history.levels.empty()) {
    return fmt::format("{} too few: {} are needed",
                       Counted(static_cast<double>(history.runs.size()), "run is", "runs are"), kLeastValues);
  }
  if (!history.is_relative) return fmt::format("a value of {} is 0 or less", history.metric);
  return history.more_is_worse.has_value() ? "" : fmt::format("whether more {} is worse is not known", history.metric);
}

absl::StatusOr<std::string> WorseThanBefore(const RunHistory& history, double limit) {
  if (!history.more_is_worse.has_value()) {
    return absl::InvalidArgumentError(
        fmt::format("whether more {} is worse is not known: choose a time, a rate, or memory", history.metric));
  }
  if (history.levels.size() < 2 || !history.is_relative) return "";
  const bool more = *history.more_is_worse;
  const HistoryLevel& now = history.levels.back();
  const auto best = std::min_element(
      history.levels.begin(), history.levels.end() - 1,
      [more](const HistoryLevel& a, const HistoryLevel& b) { return more ? a.value < b.value : a.value > b.value; });
  const LevelChange change = Shown(history, ChangeBetween(history.points, best->place, now.place));
  if (more ? !(change.low > limit) : !(change.high < -limit)) return "";
  return fmt::format("{} of the latest {} is {} ({} to {}) of its best level before", history.metric,
                     Counted(static_cast<double>(now.place.size()), "run", "runs"), HumanChange(change.change),
                     HumanChange(change.low), HumanChange(change.high));
}

}  // namespace crema

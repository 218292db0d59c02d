#include "collector/history/run_history.h"

#include <atomic>
#include <boost/math/distributions/students_t.hpp>
#include <boost/math/statistics/univariate_statistics.hpp>
#include <cctype>
#include <filesystem>
#include <thread>
#include <tuple>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "collector/format/human_numbers.h"
#include "collector/format/worker_names.h"
#include "collector/idioms/normal_distribution.h"
#include "collector/idioms/sequences.h"
#include "collector/measurement/catalog.h"
#include "collector/measurement/thresholds.h"
#include "collector/records/json_fields.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"

namespace crema {
namespace {

using boost::math::statistics::median;

// With these and `NoiseOf`, at most a twentieth of series without a change gets one, from 8 values on, of normal,
// Laplace's and Student's (3 degrees of freedom) noise: change_points_test.cc.
constexpr double kPenaltyPerLog = 5;
constexpr double kSmallSeries = 3.5;  // over n: what a deviation from few differences may be too small by
constexpr double kOutlier = 3;        // standard deviations
constexpr double kMeanToSigma = 1.2533;
constexpr double kNormal90 = 1.282;  // 9 of 10 are below
// The distribution of twice the logarithm of the likelihood ratio of two places (D. Siegmund, "Confidence Sets in
// Change-Point Problems", Int. Stat. Rev. 56 (1988) 31): (1 - exp(-x / 2))^2 = 0.9.
constexpr double kPlaces90 = 5.94;

double NoiseOf(const std::vector<double>& values) {
  std::vector<double> steps;  // without their signs
  double sum = 0, largest = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    largest = std::max(largest, std::fabs(values[i]));
    if (i == 0) continue;
    steps.push_back(std::fabs(values[i] - values[i - 1]));
    sum += steps.back();
  }
  double noise = kMadToSigma * median(steps) / std::sqrt(2);
  // Most neighbours are equal, as counts are.
  if (noise == 0) noise = kMeanToSigma * sum / static_cast<double>(steps.size()) / std::sqrt(2);
  const double smallest = std::max(1e-9 * largest, std::numeric_limits<double>::min());
  return std::max(noise, smallest) * (1 + kSmallSeries / static_cast<double>(values.size()));
}

std::vector<double> WithoutOutliers(const std::vector<double>& values, double noise) {
  std::vector<double> kept = values;
  for (size_t i = 0; i < values.size(); ++i) {
    const size_t begin = i < 2 ? 0 : i - 2, end = std::min(i + 3, values.size());
    std::vector<double> near(values.data() + begin, values.data() + end);
    const double around = median(near);
    kept[i] = std::clamp(values[i], around - kOutlier * noise, around + kOutlier * noise);
  }
  return kept;
}

/// Sums of squares around the mean of any stretch, in units of the noise's variance.
class Costs {
 public:
  Costs(const std::vector<double>& values, double noise) {
    sums_.reserve(values.size() + 1);
    // around the first value, so that squares of large values do not swallow their differences
    for (const double value : values) {
      const double x = (value - values.front()) / noise;
      sums_.push_back({sums_.back().first + x, sums_.back().second + x * x});
    }
  }
  double Of(size_t begin, size_t end) const {
    const double sum = sums_[end].first - sums_[begin].first;
    return std::max(0.0, sums_[end].second - sums_[begin].second - sum * sum / static_cast<double>(end - begin));
  }

 private:
  std::vector<std::pair<double, double>> sums_ = {{0, 0}};
};

/// Where the last segment may begin.
struct Candidate {
  size_t begin = 0;
  size_t useless_from = std::numeric_limits<size_t>::max();  ///< for ends from here on another one is as cheap
};

/// The places at which segments begin, without 0.
std::vector<size_t> CheapestPlaces(const Costs& costs, size_t count) {
  const double penalty = kPenaltyPerLog * std::log(static_cast<double>(count));
  std::vector<double> least(count + 1, std::numeric_limits<double>::infinity());
  std::vector<size_t> last(count + 1, 0);
  std::vector<Candidate> candidates = {{}};
  std::vector<double> sums;
  least[0] = -penalty;
  for (size_t end = kLeastSegment; end <= count; ++end) {
    EraseWhere(&candidates, [end](const Candidate& candidate) { return candidate.useless_from <= end; });
    sums.clear();
    for (const Candidate& candidate : candidates) {
      sums.push_back(least[candidate.begin] + costs.Of(candidate.begin, end));
      if (sums.back() + penalty < least[end]) {
        least[end] = sums.back() + penalty;
        last[end] = candidate.begin;
      }
    }
    // What makes PELT fast: a segment that may as well end here is never cheaper later, as soon as one from here on is
    // long enough.
    for (size_t i = 0; i < candidates.size(); ++i) {
      if (sums[i] > least[end]) candidates[i].useless_from = std::min(candidates[i].useless_from, end + kLeastSegment);
    }
    if (const size_t next = end + 1 - kLeastSegment; next >= kLeastSegment) candidates.push_back({next});
  }
  std::vector<size_t> places;
  for (size_t place = last[count]; place > 0; place = last[place]) places.push_back(place);
  absl::c_reverse(places);
  return places;
}

/// Around the segment's begin, between the begins of its neighbours.
void SetRangeOfPlaces(const Costs& costs, const Segment& before, Segment* segment) {
  const auto cost_at = [&](size_t place) { return costs.Of(before.begin, place) + costs.Of(place, segment->end); };
  const double most = cost_at(segment->begin) + kPlaces90;
  segment->earliest = segment->latest = segment->begin;
  for (size_t place = before.begin + 1; place < segment->end; ++place) {
    if (cost_at(place) > most) continue;
    segment->earliest = std::min(segment->earliest, place);
    segment->latest = std::max(segment->latest, place);
  }
}

namespace fs = std::filesystem;
using simdjson::dom::element;

constexpr char kDocument[] = "measurement.json";

std::string WhyNot(const element& run, int64_t start_ns) {
  std::string state, error;
  int64_t status = 0;
  TakeField(run, "state", &state);
  TakeField(run, "error", &error);
  TakeField(run, "exit_status", &status);
  if (state == "running") return "it had not ended";
  if (state == "killed") return "it was killed";
  if (state == "failed") return "it failed with " + error;
  if (status != 0) return fmt::format("its command ended with status {}", status);
  if (start_ns == 0) return "it does not say when it began";
  return state.empty() ? "nothing says how it ended (`crema run` records it)" : "";
}

void ReadDocument(const element& document, const std::vector<std::string>& metrics, HistoryRun* read) {
  element run, figures, definitions;
  if (!TakeField(document, "run", &run) || !TakeField(document, "metrics", &figures)) {
    read->why_not = "its document has no run or no metrics";
    return;
  }
  TakeField(run, "name", &read->name);
  TakeField(run, "id", &read->id);
  TakeField(run, "commit", &read->commit);
  TakeField(run, "start_ns", &read->start_ns);
  read->why_not = WhyNot(run, read->start_ns);
  TakeField(figures, "total_events", &read->events);
  TakeField(figures, "peak_cores", &read->cores);
  const bool is_defined = TakeField(document, "definitions", &definitions);
  for (const std::string& metric : metrics) {
    if (metric == kWorkOfRun) {
      double busy = 0, waiting = 0;
      const bool is_known = TakeField(figures, "busy_time", &busy) && TakeField(figures, "chunk_cpu_wait", &waiting);
      if (is_known) read->values[metric] = busy - waiting;
      read->units[metric] = "s";
      continue;
    }
    element definition;
    if (is_defined && TakeField(definitions, metric, &definition)) {
      TakeField(definition, "unit", &read->units[metric]);
    }
    if (double value = 0; TakeField(figures, metric, &value)) read->values[metric] = value;
  }
  element provenance;
  if (TakeField(document, "provenance", &provenance)) TakeField(provenance, "host", &read->host);
  simdjson::dom::array datasets;
  if (TakeField(document, "datasets", &datasets)) {
    for (const element row : datasets) TakeField(row, "name", &read->datasets.emplace_back());
    absl::c_sort(read->datasets);
  }
}

HistoryRun ReadRun(const fs::path& directory, const std::vector<std::string>& metrics, simdjson::dom::parser* parser) {
  HistoryRun read;
  read.directory = directory.string();
  element document;
  std::string schema;
  const simdjson::error_code error = parser->load((directory / kDocument).string()).get(document);
  if (error != simdjson::SUCCESS) {
    read.why_not = fmt::format("{} cannot be read ({})", kDocument, simdjson::error_message(error));
  } else if (!TakeField(document, "schema", &schema) || schema != kMeasurementSchema) {
    read.why_not = fmt::format("{} is not of the schema {}", kDocument, kMeasurementSchema);
  } else {
    ReadDocument(document, metrics, &read);
  }
  return read;
}

absl::Status AddMeasurements(const std::string& directory, std::set<fs::path>* seen, std::vector<fs::path>* found) {
  std::error_code error, ignored;
  const auto add = [&](const fs::path& place) {
    if (!fs::is_regular_file(place / kDocument, ignored)) return false;
    if (seen->insert(fs::canonical(place, ignored)).second) found->push_back(place);
    return true;
  };
  if (add(directory)) return absl::OkStatus();
  bool any = false;
  fs::directory_iterator entry(directory, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    const bool is_hidden = entry->path().filename().string().front() == '.';  // of a crema that is at work
    if (!is_hidden) any |= add(entry->path());
  }
  if (error) {
    return absl::NotFoundError(fmt::format("{}: cannot be listed ({}){}", directory, error.message(),
                                           fs::is_regular_file(directory, ignored) ? "; give directories"
                                           : fs::exists(directory, ignored)        ? ""
                                                                                   : DidYouMeanEntry(directory)));
  }
  if (any) return absl::OkStatus();
  return absl::NotFoundError(fmt::format(
      "{}: no measurement in it; give directories that `crema run` wrote, or one that holds them", directory));
}

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
    if (std::string reason = why(run); reason.empty()) {
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
  history->is_relative = absl::c_all_of(values, [](double value) { return value > 0; });
  if (values.size() < kLeastValues) {
    history->notes.push_back(fmt::format("{} too few to distinguish a change from noise: {} are needed",
                                         Counted(values.size(), "run is", "runs are"), kLeastValues));
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
    return absl::c_any_of(runs, [&](const HistoryRun& run) { return of(run) != of(runs.front()); });
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
  if (absl::c_all_of(runs, [](const HistoryRun& run) { return run.commit.empty(); })) {
    history->notes.emplace_back("no run has a commit; crema run takes it from git, or from CREMA_COMMIT");
  }
}

constexpr char kSchema[] = "crema.history/1";
constexpr int kSchemaMinor = 0;
constexpr size_t kMostCommitsNamed = 5;

std::string Date(int64_t unix_ns, const char* format) {
  return absl::FormatTime(format, absl::FromUnixNanos(unix_ns), absl::UTCTimeZone());
}

/// Which commits may have begun a level; each once, in order.
std::vector<std::string> CommitsOf(const RunHistory& history, const Segment& place) {
  std::vector<std::string> commits;
  for (size_t i = place.earliest; i <= place.latest; ++i) {
    const std::string& commit = history.runs[i].commit;
    if (!commit.empty() && absl::c_find(commits, commit) == commits.end()) commits.push_back(commit);
  }
  return commits;
}

std::string WhoBegan(const RunHistory& history, const Segment& place) {
  const std::string& commit = history.runs[place.begin].commit;
  const std::string& before = history.runs[place.begin - 1].commit;
  if (commit.empty()) return "The run has no commit.";
  const std::vector<std::string> commits = CommitsOf(history, place);
  if (commits == std::vector{history.runs[place.earliest - 1].commit}) {
    return fmt::format("The commit {} is that of the run before: the code did not change.", ShortCommit(commit));
  }
  std::string text = fmt::format("First with the commit {}", ShortCommit(commit));
  if (!before.empty()) text += fmt::format(" (before: {})", ShortCommit(before));
  if (place.latest > place.earliest) {
    std::vector<std::string> shown;
    for (const std::string& one : commits) {
      if (shown.size() < kMostCommitsNamed) shown.push_back(ShortCommit(one));
    }
    if (commits.size() > shown.size()) shown.emplace_back("…");
    text += fmt::format("; because of the noise it may be any of {} runs, of {}", place.latest - place.earliest + 1,
                        absl::StrJoin(shown, ", "));
  }
  return text + ".";
}

std::string Size(const RunHistory& history, double change) {
  if (history.is_relative) return HumanPercent(std::fabs(change), 1);
  return history.Written(std::fabs(change));
}

std::string Signed(const RunHistory& history, double change) {
  if (history.is_relative) return HumanChange(change);
  return (change < 0 ? "-" : "+") + Size(history, change);
}

double SeenChange(const RunHistory& history) {
  return history.is_relative ? std::expm1(history.points.seen) : history.points.seen;
}

Json LevelRow(const HistoryLevel& level) {
  return {{"first", level.place.begin}, {"runs", level.place.size()}, {"value", level.value}};
}

Json LeftOutRow(const LeftOutOfHistory& run) { return {{"directory", run.directory}, {"reason", run.reason}}; }

Json RunRow(const RunHistory& history, size_t i) {
  const HistoryRun& run = history.runs[i];
  Json row = {{"directory", run.directory},
              {"id", TextOrNull(run.id)},
              {"start", run.Start()},
              {"start_ns", run.start_ns},
              {"commit", TextOrNull(run.commit)},
              {"value", history.ValueOf(i)},
              {"level", nullptr}};
  for (size_t k = 0; k < history.levels.size(); ++k) {
    if (i >= history.levels[k].place.begin && i < history.levels[k].place.end) row["level"] = k;
  }
  return row;
}

Json ChangeRow(const RunHistory& history, size_t i) {
  const HistoryLevel& level = history.levels[i];
  const HistoryRun& first = history.runs[level.place.begin];
  const LevelChange& change = level.since_before;
  Json row = {{"run", level.place.begin},
              {"earliest", level.place.earliest},
              {"latest", level.place.latest},
              {"directory", first.directory},
              {"start", first.Start()},
              {"commit", TextOrNull(first.commit)},
              {"commit_before", TextOrNull(history.runs[level.place.begin - 1].commit)},
              {"commits", CommitsOf(history, level.place)},
              {"from", history.levels[i - 1].value},
              {"to", level.value},
              {"change", change.change},
              {"low", change.low},
              {"high", change.high},
              {"worse", nullptr},
              {"also", level.also}};
  if (history.more_is_worse.has_value()) row["worse"] = (change.change > 0) == *history.more_is_worse;
  return row;
}

}  // namespace

std::string ShortCommit(const std::string& commit) {
  constexpr size_t kShownHash = 12;
  const bool is_hash = absl::c_all_of(commit, [](unsigned char c) { return std::isxdigit(c) != 0; });
  return is_hash ? commit.substr(0, kShownHash) : commit;
}

std::string RunHistory::Written(double value) const { return HumanQuantity(metric, value, unit); }

std::string HistoryRun::Start() const { return Date(start_ns, "%Y-%m-%dT%H:%M:%E3SZ"); }

ChangePoints FindChangePoints(const std::vector<double>& values) {
  ChangePoints found;
  const double noise = NoiseOf(values);
  const std::vector<double> kept = WithoutOutliers(values, noise);
  const Costs costs(kept, noise);
  std::vector<size_t> begins = {0};
  for (const size_t place : CheapestPlaces(costs, values.size())) begins.push_back(place);
  double squares = 0;
  for (size_t i = 0; i < begins.size(); ++i) {
    Segment segment;
    segment.begin = begins[i];
    segment.end = i + 1 < begins.size() ? begins[i + 1] : values.size();
    for (size_t k = segment.begin; k < segment.end; ++k) segment.level += kept[k];
    segment.level /= static_cast<double>(segment.size());
    for (size_t k = segment.begin; k < segment.end; ++k) squares += std::pow(kept[k] - segment.level, 2);
    if (i > 0) SetRangeOfPlaces(costs, found.segments.back(), &segment);
    found.segments.push_back(segment);
  }
  const size_t count = values.size();
  found.noise = std::sqrt(squares / static_cast<double>(count - found.segments.size()));
  const double before = static_cast<double>(std::max(found.segments.back().size(), kLeastValues));
  const double pairs = before * kSeenFor / (before + kSeenFor);
  const double penalty = kPenaltyPerLog * std::log(static_cast<double>(count + kSeenFor));
  found.seen = noise * (std::sqrt(penalty) + kNormal90) / std::sqrt(pairs);
  return found;
}

LevelChange ChangeBetween(const ChangePoints& found, const Segment& before, const Segment& after) {
  size_t count = SumOf<size_t>(found.segments, [](const Segment& segment) { return segment.size(); });
  const boost::math::students_t distribution(static_cast<double>(count - found.segments.size()));
  const double half = boost::math::quantile(complement(distribution, kRangeTail)) * found.noise *
                      std::sqrt(1.0 / static_cast<double>(before.size()) + 1.0 / static_cast<double>(after.size()));
  const double change = after.level - before.level;
  return {change, change - half, change + half};
}

absl::StatusOr<std::vector<HistoryRun>> ReadHistory(const std::vector<std::string>& directories,
                                                    const std::vector<std::string>& metrics, int jobs) {
  std::set<fs::path> seen;
  std::vector<fs::path> found;
  for (const std::string& directory : directories) {
    if (const absl::Status added = AddMeasurements(directory, &seen, &found); !added.ok()) return added;
  }
  std::vector<HistoryRun> runs(found.size());
  std::atomic<size_t> next{0};
  const auto work = [&] {
    simdjson::dom::parser parser;
    for (size_t i = next++; i < found.size(); i = next++) runs[i] = ReadRun(found[i], metrics, &parser);
  };
  std::vector<std::thread> threads;
  for (int i = 1; i < std::min<int>(jobs, static_cast<int>(found.size())); ++i) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
  SortBy(&runs, [](const HistoryRun& run) { return std::tie(run.start_ns, run.directory); });
  return runs;
}

absl::StatusOr<RunHistory> StudyHistory(std::vector<HistoryRun> runs, const HistoryChoice& choice) {
  RunHistory history;
  const size_t found = runs.size();
  const auto leave_out = [&](const auto& why) { LeaveOut(why, &runs, &history.left_out); };
  leave_out([](const HistoryRun& run) { return run.why_not; });
  if (choice.name.empty()) {
    if (const absl::Status named = CheckNames(runs); !named.ok()) return named;
  } else {
    leave_out([&](const HistoryRun& run) { return run.name == choice.name ? "" : "its name is " + run.name; });
  }
  std::set<std::string> ids;
  leave_out([&](const HistoryRun& run) {
    return run.id.empty() || ids.insert(run.id).second ? "" : "it is the same run as another one: " + run.id;
  });
  const bool know_work = absl::c_all_of(runs, [](const HistoryRun& run) { return run.values.count(kWorkOfRun) > 0; });
  history.metric = !choice.metric.empty()                    ? choice.metric
                   : runs.empty() || !HaveAsManyEvents(runs) ? std::string(kRateOfRun)
                                                             : std::string(know_work ? kWorkOfRun : kTimeOfRun);
  std::string why_not = history.metric + " was not measured";
  if (history.metric != kWorkOfRun && FindMetric(history.metric) == nullptr) {
    const auto keys = Mapped<std::string_view>(MetricCatalog(), &MetricDefinition::key);
    why_not = fmt::format("there is no metric `{}`{}", history.metric, DidYouMean(history.metric, keys));
  }
  leave_out([&](const HistoryRun& run) { return run.values.count(history.metric) > 0 ? "" : why_not; });
  if (runs.empty()) {
    const std::string& reason = history.left_out.empty() ? "" : history.left_out.back().reason;
    return absl::NotFoundError(
        fmt::format("none of {} can be used; of the last: {}", Counted(found, "measurement", "measurements"), reason));
  }
  if (const size_t most = std::min(choice.last, kMostRuns); runs.size() > most) {
    history.notes.push_back(fmt::format("only the latest {} of {} runs", most, runs.size()));
    runs.erase(runs.begin(), runs.end() - static_cast<ptrdiff_t>(most));
  }
  history.runs = std::move(runs);
  history.name = history.runs.back().name;
  history.unit = ValueOr(history.runs.back().units, history.metric, "");
  history.more_is_worse = MoreIsWorse(history.metric, history.unit);
  FindLevels(&history);
  NoteWhatDiffers(&history);
  return history;
}

std::string WhyNotJudged(const RunHistory& history) {
  if (history.levels.empty()) {
    return fmt::format("{} too few: {} are needed", Counted(history.runs.size(), "run is", "runs are"), kLeastValues);
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
                     Counted(now.place.size(), "run", "runs"), HumanChange(change.change), HumanChange(change.low),
                     HumanChange(change.high));
}

std::vector<std::string> HistorySentences(const RunHistory& history) {
  std::vector<std::string> sentences;
  if (history.levels.empty()) return sentences;
  if (history.levels.size() == 1) {
    return {fmt::format("{} did not change in {}. A change of {} that lasts {} runs would be seen.", history.metric,
                        Counted(history.runs.size(), "run", "runs"), Size(history, SeenChange(history)), kSeenFor)};
  }
  for (size_t i = history.levels.size() - 1; i > 0; --i) {
    const HistoryLevel& level = history.levels[i];
    const LevelChange& change = level.since_before;
    const bool is_up = change.change > 0;
    std::string text = fmt::format(
        "Since {} UTC ({}) {} is {} {} ({} to {}): {} instead of {}. {}",
        Date(history.runs[level.place.begin].start_ns, "%Y-%m-%d %H:%M"), history.runs[level.place.begin].directory,
        history.metric, Size(history, change.change), is_up ? "higher" : "lower", Signed(history, change.low),
        Signed(history, change.high), history.Written(level.value), history.Written(history.levels[i - 1].value),
        WhoBegan(history, level.place));
    if (!level.also.empty()) text += " Also new: " + absl::StrJoin(level.also, "; ") + ".";
    sentences.push_back(std::move(text));
  }
  return sentences;
}

Json HistoryAsJson(const RunHistory& history) {
  Json runs = Json::array(), changes = Json::array();
  for (size_t i = 0; i < history.runs.size(); ++i) runs.push_back(RunRow(history, i));
  for (size_t i = 1; i < history.levels.size(); ++i) changes.push_back(ChangeRow(history, i));
  const bool has_levels = !history.levels.empty();
  return {{"schema", kSchema},
          {"schema_minor", kSchemaMinor},
          {"name", TextOrNull(history.name)},
          {"metric", history.metric},
          {"unit", history.unit},
          {"method", "pelt"},
          {"relative", history.is_relative},
          {"noise", has_levels ? Json(history.points.noise) : Json()},
          {"seen", has_levels ? Json(SeenChange(history)) : Json()},
          {"sentences", HistorySentences(history)},
          {"runs", std::move(runs)},
          {"levels", Mapped<Json>(history.levels, LevelRow)},
          {"changes", std::move(changes)},
          {"notes", history.notes},
          {"left_out", Mapped<Json>(history.left_out, LeftOutRow)}};
}

}  // namespace crema

#include "collector/plot_data/run_detail.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace crema {
namespace {

constexpr int64_t kRunBegin = 1'790'000'000'000'000'000;

/// Attempts that live as long as the test, handed out like those of logs.
class MadeRun {
 public:
  uint32_t AddProcess(const std::string& host, int64_t pid) {
    AttemptProcess process = {{"run", host, pid, kRunBegin}, host + ":" + std::to_string(pid)};
    processes_.push_back(process);
    return static_cast<uint32_t>(processes_.size() - 1);
  }

  ChunkFact& Add(uint32_t process, double start, double stop, AttemptState state = AttemptState::kOk,
                 std::string_view dataset = "ttbar") {
    Made made;
    made.process = process;
    made.state = state;
    made.chunk.number = static_cast<int64_t>(made_.size());
    made.chunk.start_ns = kRunBegin + static_cast<int64_t>(start * 1e9);
    made.chunk.tid = 1;
    made.chunk.input.dataset = dataset;
    made.chunk.input.file = "data.root";
    if (state == AttemptState::kOk || state == AttemptState::kFailed) {
      made.chunk.stop_ns = kRunBegin + static_cast<int64_t>(stop * 1e9);
      made.chunk.failed = state == AttemptState::kFailed;
      made.chunk.events = 100;
      made.chunk.bytes_read = 1000;
      made.chunk.cpu_ns = (made.chunk.stop_ns - made.chunk.start_ns) / 2;
      made.chunk.cpu_wait_ns = 0;
    }
    made_.push_back(made);
    return made_.back().chunk;
  }

  AttemptReader Reader() {
    return [this](const OnAttempt& on_attempt) {
      ++readings;
      for (const Made& made : made_) on_attempt({processes_[made.process], made.state, made.chunk});
      return absl::OkStatus();
    };
  }

  Measurement Measured(double seconds) const {
    Measurement measurement;
    measurement.run.start_ns = kRunBegin;
    measurement.metrics.Set("wall_time", seconds);
    return measurement;
  }

  struct Made {
    uint32_t process;
    AttemptState state;
    ChunkFact chunk;
  };
  const std::vector<Made>& made() const { return made_; }
  int readings = 0;

 private:
  std::vector<AttemptProcess> processes_;
  std::vector<Made> made_;
};

/// 3,000 attempts on 12 processes of 4 hosts, back to back or overlapping, some failed, some lost, some repeated.
MadeRun RandomRun(uint32_t seed) {
  MadeRun run;
  std::mt19937 random(seed);
  for (int process = 0; process < 12; ++process) {
    run.AddProcess("node" + std::to_string(process % 4), process);
  }
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> names;
    for (int i = 0; i < 20; ++i) names.push_back("dataset" + std::to_string(i));
    return names;
  }();
  for (int i = 0; i < 3000; ++i) {
    const uint32_t process = random() % 12;
    const double start = static_cast<double>(random() % 100000) / 1000;
    const double stop = start + static_cast<double>(1 + random() % 4000) / 1000;
    const uint32_t kind = random() % 50;
    const AttemptState state = kind == 0 ? AttemptState::kFailed : kind == 1 ? AttemptState::kLost : AttemptState::kOk;
    ChunkFact& chunk = run.Add(process, start, stop, state, kNames[random() % kNames.size()]);
    if (chunk.events.has_value()) chunk.events = random() % 10000;
    if (chunk.bytes_read.has_value()) chunk.bytes_read = random() % 1000000;
    chunk.input.entry_start = static_cast<int64_t>(random() % 400) * 100;
    chunk.input.entry_stop = *chunk.input.entry_start + 100;
  }
  return run;
}

SectionFact Section(std::string_view path, int64_t total_ns) {
  SectionFact section;
  section.path = path;
  section.total_ns = total_ns;
  return section;
}

double Sum(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

struct Totals {
  double busy = 0, cpu = 0, events_of_results = 0, bytes = 0;
  int64_t ok = 0, failed = 0, results = 0;
};

/// Straight from the attempts, with a rule for results of its own.
Totals TotalsOf(const MadeRun& run) {
  Totals totals;
  std::map<std::string, const ChunkFact*> results;
  for (const auto& made : run.made()) {
    const bool has_ended = made.state == AttemptState::kOk || made.state == AttemptState::kFailed;
    totals.failed += made.state == AttemptState::kFailed || made.state == AttemptState::kLost;
    if (!has_ended) continue;
    totals.busy += static_cast<double>(made.chunk.stop_ns - made.chunk.start_ns) / 1e9;
    totals.cpu += static_cast<double>(*made.chunk.cpu_ns) / 1e9;
    totals.bytes += static_cast<double>(*made.chunk.bytes_read);
    if (made.state != AttemptState::kOk) continue;
    ++totals.ok;
    const std::string key = std::string(made.chunk.input.dataset) + " " + std::to_string(*made.chunk.input.entry_start);
    const ChunkFact*& result = results[key];
    if (result == nullptr || made.chunk.stop_ns >= result->stop_ns) result = &made.chunk;
  }
  totals.results = static_cast<int64_t>(results.size());
  for (const auto& [key, chunk] : results) totals.events_of_results += static_cast<double>(*chunk->events);
  return totals;
}

TEST(ReadRunDetail, SumsOverTimeAreThoseOfTheAttempts) {
  for (uint32_t seed = 1; seed <= 5; ++seed) {
    MadeRun run = RandomRun(seed);
    const Totals totals = TotalsOf(run);
    const RunDetail detail = ReadRunDetail(run.Measured(90), run.Reader());
    EXPECT_NEAR(Sum(detail.over_time.busy_seconds), totals.busy, 1e-6 * totals.busy);
    EXPECT_NEAR(Sum(detail.over_time.cpu_seconds), totals.cpu, 1e-6 * totals.cpu);
    EXPECT_NEAR(Sum(detail.over_time.bytes_read), totals.bytes, 1e-6 * totals.bytes);
    EXPECT_NEAR(Sum(detail.over_time.events), totals.events_of_results, 1e-6 * totals.events_of_results);
    EXPECT_EQ(Sum(detail.over_time.finished_chunks), totals.results);
    EXPECT_NEAR(Sum(detail.by_worker.busy_seconds), totals.busy, 1e-6 * totals.busy);
    EXPECT_NEAR(Sum(detail.by_worker.bytes_read), totals.bytes, 1e-6 * totals.bytes);
  }
}

TEST(ReadRunDetail, RowsHoldTheSumsOfTheirAttemptsWhateverSharesThem) {
  for (const size_t most_rows : {size_t{256}, size_t{12}, size_t{4}, size_t{3}}) {
    MadeRun run = RandomRun(7);
    const Totals totals = TotalsOf(run);
    DetailOptions options;
    options.rows = most_rows;
    const RunDetail detail = ReadRunDetail(run.Measured(104), run.Reader(), options);
    EXPECT_LE(detail.rows.size(), most_rows);
    double busy = 0;
    int64_t attempts = 0;
    int64_t failed = 0;
    double events = 0;
    int32_t lanes = 0;
    for (const DetailRow& row : detail.rows) {
      busy += static_cast<double>(row.busy_ns) / 1e9;
      attempts += row.attempts;
      failed += row.failed;
      events += static_cast<double>(row.events);
      lanes += row.lanes;
    }
    EXPECT_EQ(attempts, 3000);
    EXPECT_EQ(failed, totals.failed);
    EXPECT_NEAR(busy, totals.busy, 1e-6 * totals.busy);
    EXPECT_EQ(events, totals.events_of_results);
    int32_t lanes_of_workers = 0;
    for (const DetailWorker& worker : detail.workers) lanes_of_workers += worker.lanes;
    EXPECT_EQ(lanes, lanes_of_workers);
  }
}

/// Three threads of one process: two that take turns, and one that works beside them.
MadeRun ThreadsThatTakeTurns() {
  MadeRun run;
  const uint32_t process = run.AddProcess("node", 1);
  for (int turn = 0; turn < 6; ++turn) {
    run.Add(process, turn, turn + 0.9).tid = 100 + turn % 2;
    run.Add(process, turn, turn + 0.8).tid = 102;
  }
  return run;
}

TEST(ReadRunDetail, ARowIsAThreadAsItWasRecorded) {
  MadeRun run = ThreadsThatTakeTurns();
  const RunDetail detail = ReadRunDetail(run.Measured(10), run.Reader());
  EXPECT_TRUE(detail.rows_are_threads);
  std::vector<int64_t> attempts;
  for (const DetailRow& row : detail.rows) attempts.push_back(row.attempts);
  EXPECT_THAT(attempts, testing::UnorderedElementsAre(3, 3, 6));
  EXPECT_EQ(detail.workers[0].lanes, 2);
}

TEST(ReadRunDetail, TooManyThreadsShareTheRowsOfThoseThatNeverOverlap) {
  MadeRun run = ThreadsThatTakeTurns();
  DetailOptions options;
  options.threads = 2;
  const RunDetail detail = ReadRunDetail(run.Measured(10), run.Reader(), options);
  EXPECT_FALSE(detail.rows_are_threads);
  EXPECT_EQ(detail.row_kind, "thread");
  ASSERT_EQ(detail.rows.size(), 2U);
  EXPECT_EQ(detail.rows[0].attempts + detail.rows[1].attempts, 12);
}

TEST(ReadRunDetail, AThreadWhoseAttemptsOverlapIsNoRow) {
  MadeRun run;
  const uint32_t process = run.AddProcess("node", 1);
  run.Add(process, 0, 2);
  run.Add(process, 1, 3);
  const RunDetail detail = ReadRunDetail(run.Measured(10), run.Reader());
  EXPECT_FALSE(detail.rows_are_threads);
  EXPECT_EQ(detail.rows.size(), 2U);
}

TEST(ReadRunDetail, RunsAreWithinAStepOfTheBusyTime) {
  MadeRun run = RandomRun(3);
  DetailOptions options;
  options.exact_attempts = 100;
  options.timeline_bins = 500;
  const RunDetail detail = ReadRunDetail(run.Measured(104), run.Reader(), options);
  ASSERT_FALSE(detail.timeline_is_exact);
  ASSERT_FALSE(detail.runs.empty());
  std::vector<double> drawn(detail.rows.size());
  std::vector<int64_t> bins(detail.rows.size());
  for (const DetailRun& run_of_bins : detail.runs) {
    EXPECT_LE(run_of_bins.first_bin + run_of_bins.bins, static_cast<uint32_t>(detail.bins));
    drawn[run_of_bins.row] +=
        run_of_bins.busy / 8.0 * run_of_bins.bins * detail.bin_seconds * detail.rows[run_of_bins.row].lanes;
    bins[run_of_bins.row] += run_of_bins.bins;
  }
  for (size_t row = 0; row < detail.rows.size(); ++row) {
    const double exact = static_cast<double>(detail.rows[row].busy_ns) / 1e9;
    // half a step where it was rounded, a whole one where less than half a step is shown as one
    EXPECT_NEAR(drawn[row], exact, static_cast<double>(bins[row]) * detail.bin_seconds / 8) << row;
  }
}

TEST(ReadRunDetail, CountsEveryAttemptInItsShapes) {
  MadeRun run = RandomRun(4);
  const Totals totals = TotalsOf(run);
  const RunDetail detail = ReadRunDetail(run.Measured(104), run.Reader());
  const ValueShape* duration = detail.FindDistribution("duration_seconds");
  ASSERT_NE(duration, nullptr);
  EXPECT_EQ(duration->count, totals.ok);
  int64_t counted = 0;
  for (const auto& counts : duration->counts) counted += std::accumulate(counts.begin(), counts.end(), int64_t{0});
  EXPECT_EQ(counted, totals.ok);
  EXPECT_LE(duration->Edge(0), duration->sorted.front());
  EXPECT_GE(duration->Edge(duration->bins()), duration->sorted.back());
  EXPECT_TRUE(std::is_sorted(duration->sorted.begin(), duration->sorted.end()));
  const CountGrid* grid = detail.FindGrid("events", "duration_seconds");
  ASSERT_NE(grid, nullptr);
  EXPECT_EQ(std::accumulate(grid->cells.begin(), grid->cells.end(), int64_t{0}), totals.ok);
  EXPECT_EQ(SlotCount(detail), 12u);
  EXPECT_EQ(SlotName(detail, 11), "other");
}

TEST(ReadRunDetail, ItsShapesAreThoseOfTheSortedValues) {
  std::mt19937_64 random(3);
  std::lognormal_distribution<double> seconds(0, 3);
  MadeRun run;
  const uint32_t process = run.AddProcess("host", 1);
  for (int i = 0; i < 20'000; ++i) run.Add(process, 0, i % 7 == 0 ? 0.5 : seconds(random));
  const RunDetail detail = ReadRunDetail(run.Measured(104), run.Reader());
  const ValueShape* shape = detail.FindDistribution("duration_seconds");
  ASSERT_NE(shape, nullptr);
  std::vector<double> values;
  for (const MadeRun::Made& made : run.made()) values.push_back(static_cast<double>(made.chunk.duration_ns()) / 1e9);
  std::sort(values.begin(), values.end());
  std::vector<double> points;
  for (size_t point = 0; point <= 200; ++point) points.push_back(values[point * (values.size() - 1) / 200]);
  EXPECT_EQ(shape->sorted, points);
  std::vector<int64_t> counts(shape->bins());
  for (const double value : values) {
    if (value <= 0) continue;
    const double bin = std::floor((std::log10(value) - shape->first_exponent) * shape->per_decade);
    ++counts[static_cast<size_t>(std::clamp(bin, 0.0, static_cast<double>(counts.size() - 1)))];
  }
  EXPECT_EQ(shape->counts[0], counts);
}

TEST(ReadRunDetail, ADatasetHasOneColourInAllRuns) {
  for (const int seed : {4, 5, 6}) {
    MadeRun run = RandomRun(seed);
    const RunDetail detail = ReadRunDetail(run.Measured(104), run.Reader());
    std::vector<std::string> names;
    for (uint32_t slot = 0; slot + 1 < SlotCount(detail); ++slot) names.push_back(SlotName(detail, slot));
    EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
  }
}

TEST(ReadRunDetail, KeepsFailedSlowAndLateAttemptsOfALargeRun) {
  MadeRun run = RandomRun(5);
  DetailOptions options;
  options.exact_attempts = 100;
  options.slowest = 10;
  options.unexpected = 10;
  options.tail = 20;
  Measurement measurement = run.Measured(104);
  measurement.metrics.Set("tail_time", 2.0);
  const RunDetail detail = ReadRunDetail(measurement, run.Reader(), options);
  EXPECT_FALSE(detail.is_exact);
  EXPECT_EQ(detail.attempts_seen, 3000);

  std::vector<int64_t> durations;
  int64_t failed = 0;
  for (const auto& made : run.made()) {
    failed += made.state == AttemptState::kFailed || made.state == AttemptState::kLost;
    if (made.state == AttemptState::kOk) durations.push_back(made.chunk.stop_ns - made.chunk.start_ns);
  }
  std::sort(durations.rbegin(), durations.rend());
  std::vector<int64_t> slow;
  int64_t kept_failed = 0;
  for (const DetailAttempt& attempt : detail.attempts) {
    if ((attempt.kept_for & kKeptAsSlow) != 0) slow.push_back(*attempt.duration_ns);
    kept_failed += attempt.state == AttemptState::kFailed || attempt.state == AttemptState::kLost;
    const bool is_wanted = attempt.state != AttemptState::kOk || attempt.attempts > 1;
    EXPECT_EQ((attempt.kept_for & kKeptAsFailed) != 0, is_wanted);
    if ((attempt.kept_for & kKeptInTail) != 0) {
      EXPECT_GT(static_cast<double>(attempt.stop_ns()) / 1e9, *detail.tail_start_seconds);
    }
  }
  std::sort(slow.rbegin(), slow.rend());
  durations.resize(10);
  EXPECT_EQ(slow, durations);
  EXPECT_EQ(kept_failed, failed);
}

/// Fault [many]: each of hundreds of thousands of failed attempts has another text of error
/// Shown: the texts of the attempts that are listed one by one, at most 10,000 failed ones; the others are counted
TEST(ReadRunDetail, KeepsTheErrorsOfTheListedAttemptsOnly) {
  constexpr size_t kAll = 500;
  std::vector<std::string> errors;
  for (size_t i = 0; i < kAll; ++i) errors.push_back("error " + std::to_string(i));
  MadeRun run;
  run.AddProcess("node", 1);
  for (size_t i = 0; i < kAll; ++i) {
    const auto start = static_cast<double>(i);
    run.Add(0, start, start + 0.5, AttemptState::kFailed).error = errors[i];
    run.Add(0, start + 0.5, start + 1).error = errors[i];
  }
  DetailOptions options;
  options.exact_attempts = 100;
  options.failed = 50;
  options.slowest = options.unexpected = options.tail = 10;
  const RunDetail detail = ReadRunDetail(run.Measured(kAll), run.Reader(), options);
  EXPECT_LE(detail.attempts.size(), 80u);
  EXPECT_LE(detail.errors.size(), detail.attempts.size() + 1) << "one is empty";
  EXPECT_EQ(detail.failed_left_out, static_cast<int64_t>(kAll - options.failed));
  for (const DetailAttempt& attempt : detail.attempts) {
    if (attempt.state != AttemptState::kFailed) continue;
    const auto second = static_cast<size_t>(attempt.start_ns / 1'000'000'000);
    EXPECT_EQ(detail.errors[attempt.error], errors[second]);
  }
}

TEST(ReadRunDetail, ListsEveryAttemptOfASmallRunWithItsSections) {
  MadeRun run;
  run.AddProcess("node", 1);
  ChunkFact& first = run.Add(0, 1, 3);
  first.sections = {Section("read", 400), Section("read/unzip", 100), Section("cluster", 50)};
  first.sections[2].helper = true;
  first.input.entry_start = 0;
  first.input.entry_stop = 100;
  ChunkFact& second = run.Add(0, 2, 5, AttemptState::kFailed);
  second.error = "basket checksum mismatch";
  second.attributes = R"({"generator":"madgraph","perf_counters":"the kernel refuses them"})";
  const RunDetail detail = ReadRunDetail(run.Measured(10), run.Reader());
  ASSERT_TRUE(detail.timeline_is_exact);
  EXPECT_TRUE(detail.runs.empty());
  ASSERT_EQ(detail.attempts.size(), 2u);
  const DetailAttempt& ok = detail.attempts[0];
  EXPECT_EQ(ok.start_ns, 1'000'000'000);
  EXPECT_EQ(ok.duration_ns, 2'000'000'000);
  EXPECT_EQ(ok.cpu_ns, 1'000'000'000);
  EXPECT_EQ(ok.blocked_ns, 1'000'000'000);
  ASSERT_EQ(ok.sections.size(), 1u);
  EXPECT_EQ(detail.sections[ok.sections[0].first], "read");
  EXPECT_EQ(ok.sections[0].second, 400);
  EXPECT_EQ(ok.entry_stop, 100);
  EXPECT_EQ(detail.errors[ok.error], "");
  EXPECT_EQ(detail.errors[detail.attempts[1].error], "basket checksum mismatch");
  EXPECT_EQ(detail.notes[ok.notes], "");
  EXPECT_EQ(detail.notes[detail.attempts[1].notes], "generator: madgraph; perf_counters: the kernel refuses them");
  EXPECT_NE(ok.row, detail.attempts[1].row) << "they overlap";
  EXPECT_EQ(detail.rows.size(), 2u);
}

TEST(ReadRunDetail, HasTheAttributesOfALostAttempt) {
  MadeRun run;
  run.AddProcess("node", 1);
  run.Add(0, 1, 3).attributes = R"({"file_kind":"single"})";
  run.Add(0, 4, 5, AttemptState::kLost).attributes = R"({"file_kind":"merged"})";
  // The second reading of logs has ended attempts only.
  const AttemptReader reader = [&run](const OnAttempt& on_attempt) {
    const bool is_second = run.readings > 0;
    return run.Reader()([&](const Attempt& attempt) {
      if (!is_second || attempt.has_ended()) on_attempt(attempt);
    });
  };
  const RunDetail detail = ReadRunDetail(run.Measured(10), reader);
  ASSERT_EQ(run.readings, 2);
  ASSERT_EQ(detail.attempts.size(), 2u);
  EXPECT_EQ(detail.notes[detail.attempts[0].notes], "file_kind: single");
  EXPECT_EQ(detail.notes[detail.attempts[1].notes], "file_kind: merged");
}

TEST(ReadRunDetail, KeepsWhatWasReadBeforeTheLogsWereGone) {
  MadeRun run;
  run.AddProcess("node", 1);
  run.Add(0, 1, 3, AttemptState::kFailed).error = "basket checksum mismatch";
  const AttemptReader reader = [&run](const OnAttempt& on_attempt) {
    const absl::Status read = run.Reader()(on_attempt);
    return run.readings == 1 ? read : absl::NotFoundError("m: is gone");
  };
  const RunDetail detail = ReadRunDetail(run.Measured(10), reader);
  ASSERT_EQ(run.readings, 2);
  ASSERT_EQ(detail.attempts.size(), 1u);
  EXPECT_EQ(detail.errors[detail.attempts[0].error], "basket checksum mismatch");
}

/// Fault [many]: many lost attempts, each with another long attribute
/// Shown: the attributes that have room in 16 MiB
TEST(ReadRunDetail, LeavesOutAttributesOfLostAttemptsBeyondItsRoom) {
  constexpr size_t kAll = 20;
  std::vector<std::string> texts;
  for (size_t i = 0; i < kAll; ++i)
    texts.push_back(R"({"n":")" + std::string(1 << 20, static_cast<char>('a' + i)) + "\"}");
  MadeRun run;
  run.AddProcess("node", 1);
  for (size_t i = 0; i < kAll; ++i) run.Add(0, static_cast<double>(i), 0, AttemptState::kLost).attributes = texts[i];
  const AttemptReader reader = [&run](const OnAttempt& on_attempt) {
    return run.readings > 0 ? absl::OkStatus() : run.Reader()(on_attempt);
  };
  const RunDetail detail = ReadRunDetail(run.Measured(kAll), reader);
  ASSERT_EQ(detail.attempts.size(), kAll);
  EXPECT_EQ(detail.notes[detail.attempts.front().notes].substr(0, 4), "n: a");
  EXPECT_EQ(detail.notes[detail.attempts.back().notes], "");
}

TEST(ReadRunDetail, NumbersTheAttemptsAtAChunk) {
  MadeRun run;
  run.AddProcess("node", 1);
  for (const AttemptState state : {AttemptState::kFailed, AttemptState::kLost, AttemptState::kOk}) {
    ChunkFact& chunk = run.Add(0, static_cast<double>(run.made().size()), 4, state);
    chunk.input.entry_start = 0;
    chunk.input.entry_stop = 100;
  }
  const RunDetail detail = ReadRunDetail(run.Measured(10), run.Reader());
  ASSERT_EQ(detail.attempts.size(), 3u);
  for (int32_t at = 0; at < 3; ++at) {
    EXPECT_EQ(detail.attempts[static_cast<size_t>(at)].attempt, at + 1);
    EXPECT_EQ(detail.attempts[static_cast<size_t>(at)].attempts, 3);
  }
  EXPECT_FALSE(detail.attempts[1].duration_ns.has_value());
  EXPECT_TRUE(detail.attempts[2].is_result);
}

TEST(ReadRunDetail, SaysWhyThereAreNoAttempts) {
  MadeRun run;
  EXPECT_EQ(ReadRunDetail(run.Measured(10), run.Reader()).why_no_attempts, kNoChunk);
  const RunDetail detail =
      ReadRunDetail(run.Measured(10), [](const OnAttempt&) { return absl::NotFoundError("m: has no records/"); });
  EXPECT_EQ(detail.why_no_attempts, "m: has no records/");
  EXPECT_EQ(detail.seconds, 10);
}

}  // namespace
}  // namespace crema

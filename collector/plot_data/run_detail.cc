#include "collector/plot_data/run_detail.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "collector/idioms/units.h"
#include "collector/metrics/attempts/attempt_row.h"
#include "collector/metrics/attempts/stragglers.h"
#include "collector/metrics/parallel.h"
#include "collector/metrics/recorded/recorded_tables.h"
#include "collector/metrics/statistics/quantiles.h"
#include "collector/plot_data/attempt_list.h"
#include "nlohmann/json.hpp"

namespace crema {
namespace {

/// Which worker (`RunDetail::workers`) each process is, and which row each attempt is on.
struct TimelinePlaces {
  std::vector<uint32_t> worker_of_process;
  std::vector<uint32_t> row_of_attempt;
};

// Which attempts are listed one by one, and all that is known of them.

/// Which attempt of how many at its chunk.
struct Turn {
  int32_t attempt = 1;
  int32_t attempts = 1;
};

/// The map has no chunks that were attempted once.
absl::flat_hash_map<size_t, Turn> FindTurns(const AttemptList& list) {
  const AttemptRows& rows = list.rows;
  absl::flat_hash_map<uint64_t, std::vector<size_t>> repeated;
  for (const size_t i : list.repeated) repeated[rows[i].chunk_id].push_back(i);
  absl::flat_hash_map<size_t, Turn> turns;
  for (auto& [chunk, attempts] : repeated) {
    SortBy(&attempts, [&rows](size_t a) { return rows[a].start_ns; });
    for (size_t at = 0; at < attempts.size(); ++at) {
      turns[attempts[at]] = {static_cast<int32_t>(at + 1), static_cast<int32_t>(attempts.size())};
    }
  }
  return turns;
}

/// By the list's dataset: above these many events a chunk is oversized.
std::vector<std::optional<double>> SizeLimits(const AttemptList& list) {
  std::vector<std::vector<int64_t>> sizes(list.datasets.names.size());
  for (const AttemptRow& row : list.rows) {
    if (row.is_result && row.events != AttemptRow::kUnknown) sizes[list.DatasetOf(row)].push_back(row.events);
  }
  std::vector<std::optional<double>> limits(sizes.size());
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (!sizes[i].empty()) limits[i] = kOversizedMedians * static_cast<double>(ExactQuantile(sizes[i], 0.5));
  }
  return limits;
}

class Keeper {
 public:
  Keeper(const AttemptList& list, const DetailOptions& options, RunDetail* detail)
      : list_(list), options_(options), detail_(detail), kept_for_(list.rows.size(), 0) {
    findings_ = FindStragglers(list.rows, list.helpers, Mapped<uint32_t>(list.inputs, &ListedInput::kind));
    for (const DatasetFit& fit : findings_.datasets) fits_[fit.dataset] = fit.fit;
    turns_ = FindTurns(list);
  }

  std::optional<double> Expected(const AttemptRow& row) const {
    const auto fit = fits_.find(list_.inputs[row.input].kind);
    if (fit == fits_.end() || (fit->second.slope_known && row.events == AttemptRow::kUnknown)) return std::nullopt;
    return fit->second.Predict(static_cast<double>(std::max<int64_t>(0, row.events)));
  }

  void Choose() {
    if (detail_->is_exact) absl::c_fill(kept_for_, kKeptAsAll);
    ChooseFailed();
    ChooseLargest(options_.slowest, kKeptAsSlow,
                  [this](size_t i) { return std::optional<double>(list_.rows[i].duration_ns / 1e9); });
    ChooseLargest(options_.unexpected, kKeptAsUnexpected, [this](size_t i) -> std::optional<double> {
      const std::optional<double> expected = Expected(list_.rows[i]);
      if (!expected.has_value()) return std::nullopt;
      return list_.rows[i].duration_ns / 1e9 - *expected;
    });
    ChooseTail();
  }

  DetailAttempt Describe(size_t i, const TimelinePlaces& places, const std::vector<uint32_t>& dataset_of) const {
    const AttemptRow& row = list_.rows[i];
    DetailAttempt attempt;
    attempt.worker = places.worker_of_process[row.process];
    attempt.row = places.row_of_attempt[i];
    attempt.lane = detail_->rows_are_threads ? detail_->rows[attempt.row].lane : list_.lanes[i];
    attempt.dataset = dataset_of[list_.DatasetOf(row)];
    attempt.file = list_.FileOf(row);
    attempt.state = row.status;
    attempt.kept_for = kept_for_[i];
    attempt.is_result = row.is_result;
    attempt.number = row.number;
    attempt.start_ns = row.start_ns - detail_->start_ns;
    const Turn turn = ValueOr(turns_, i, {});
    attempt.attempt = turn.attempt;
    attempt.attempts = turn.attempts;
    if (!HasEnded(row)) return attempt;
    attempt.duration_ns = row.duration_ns;
    attempt.suspended_ns = row.suspended_ns;
    attempt.events = Known(row.events);
    attempt.cpu_ns = ChunkCpu(row, list_.helpers);
    attempt.cpu_wait_ns = Known(row.cpu_wait_ns);
    attempt.blocked_ns = ChunkBlocked(row, list_.helpers);
    attempt.expected_seconds = Expected(row);
    return attempt;
  }

  const StragglerFindings& findings() const { return findings_; }
  const std::vector<uint8_t>& kept_for() const { return kept_for_; }

 private:
  void ChooseFailed() {
    size_t chosen = 0;
    for (size_t i = 0; i < list_.rows.size(); ++i) {
      const AttemptState status = list_.rows[i].status;
      if (status != AttemptState::kFailed && status != AttemptState::kLost && !turns_.contains(i)) continue;
      if (++chosen <= options_.failed || detail_->is_exact) {
        kept_for_[i] |= kKeptAsFailed;
      } else {
        ++detail_->failed_left_out;
      }
    }
  }

  /// Marks the `ok` attempts with the largest values.
  template <class Value>
  void ChooseLargest(size_t count, uint8_t reason, const Value& value) {
    std::vector<std::pair<double, size_t>> values;
    for (size_t i = 0; i < list_.rows.size(); ++i) {
      if (list_.rows[i].status != AttemptState::kOk) continue;
      if (const std::optional<double> of = value(i); of.has_value()) values.emplace_back(-*of, i);
    }
    const auto last = values.begin() + static_cast<std::ptrdiff_t>(std::min(count, values.size()));
    std::partial_sort(values.begin(), last, values.end());
    for (auto at = values.begin(); at != last; ++at) kept_for_[at->second] |= reason;
  }

  void ChooseTail() {
    if (!detail_->tail_start_seconds.has_value()) return;
    const double from_ns = static_cast<double>(detail_->start_ns) + *detail_->tail_start_seconds * 1e9;
    std::vector<std::pair<int64_t, size_t>> stops;
    for (size_t i = 0; i < list_.rows.size(); ++i) {
      const AttemptRow& row = list_.rows[i];
      if (HasEnded(row) && static_cast<double>(row.stop_ns()) > from_ns) stops.emplace_back(-row.stop_ns(), i);
    }
    absl::c_sort(stops);
    if (stops.size() > options_.tail) stops.resize(options_.tail);
    for (const auto& [stop, i] : stops) kept_for_[i] |= kKeptInTail;
  }

  const AttemptList& list_;
  const DetailOptions& options_;
  RunDetail* detail_;
  std::vector<uint8_t> kept_for_;
  StragglerFindings findings_;
  std::map<uint32_t, RobustFit> fits_;
  absl::flat_hash_map<size_t, Turn> turns_;
};

/// The attributes of an attempt as one text.
std::string NotesOf(std::string_view attributes) {
  return absl::StrJoin(AttributesOf(attributes), "; ", absl::PairFormatter(": "));
}

/// Identifies an attempt in two readings of the logs.
using ListedAttempt = std::tuple<std::string, int64_t, int64_t, int64_t>;  // worker, process start, number, begin

/// Reads again what only the record has: error, attributes, entries, sections. `in_logs`: where the first reading found
/// the attempts; `notes`: the texts that it has numbered so far, those of attempts that did not end.
void AddRecorded(const AttemptReader& for_each_attempt, const std::map<ListedAttempt, size_t>& places,
                 ChunkPlaces in_logs, NameNumbers notes, RunDetail* detail) {
  NameNumbers sections;
  NameNumbers errors;
  errors.Number("");
  absl::flat_hash_set<int64_t> begins;  // most attempts are not kept, and a key of each takes longer than its line
  for (const auto& [key, place] : places) begins.insert(std::get<3>(key));
  in_logs.begins.assign(begins.begin(), begins.end());
  std::sort(in_logs.begins.begin(), in_logs.begins.end());
  const auto add = [&](const Attempt& attempt) {
    const ChunkFact& chunk = attempt.chunk;
    if (!begins.contains(chunk.start_ns)) return;
    const auto found = places.find({attempt.process.worker, attempt.process.start_ns, chunk.number, chunk.start_ns});
    if (found == places.end()) return;
    DetailAttempt& kept = detail->attempts[found->second];
    kept.entry_start = chunk.input.entry_start;
    kept.entry_stop = chunk.input.entry_stop;
    kept.error = errors.Number(chunk.error);
    if (!chunk.attributes.empty()) kept.notes = notes.Number(NotesOf(chunk.attributes));
    kept.sections.clear();
    for (const SectionFact& section : chunk.sections) {
      if (section.helper || section.path.find('/') != std::string_view::npos) continue;
      kept.sections.emplace_back(sections.Number(section.path), section.total_ns);
    }
  };
  for_each_attempt(add, &in_logs).IgnoreError();  // if the logs are gone, what was found until now still stands
  detail->sections = std::move(sections.names);
  detail->errors = std::move(errors.names);
  detail->notes = std::move(notes.names);
}

/// Fills `attempts`, `sections`, `errors`, `notes`, `fits` and `failed_left_out`; `dataset_of`: the detail's number of
/// each of the list's datasets. Reads some records again for what the list has no room for.
void KeepAttempts(const AttemptList& list, const TimelinePlaces& places, const std::vector<uint32_t>& dataset_of,
                  const AttemptReader& for_each_attempt, const DetailOptions& options, RunDetail* detail) {
  Keeper keeper(list, options, detail);
  keeper.Choose();
  for (const DatasetFit& fit : keeper.findings().datasets) {
    detail->fits.push_back({dataset_of[list.dataset_of_kind[fit.dataset]], fit.fit.fixed_seconds,
                            fit.fit.seconds_per_event, fit.fit.slope_known, fit.fit.points, fit.events_min,
                            fit.events_max});
  }
  const std::vector<std::optional<double>> limits = SizeLimits(list);
  std::map<size_t, std::string_view> reasons;
  for (const Straggler& straggler : keeper.findings().stragglers) {
    reasons[straggler.attempt] = ToString(straggler.reason);
  }
  std::vector<size_t> order;
  for (size_t i = 0; i < list.rows.size(); ++i) {
    if (keeper.kept_for()[i] != 0) order.push_back(i);
  }
  SortBy(&order, [&list](size_t a) { return list.rows[a].start_ns; });
  std::map<ListedAttempt, size_t> keys;
  NameNumbers notes;
  notes.Number("");
  for (const size_t i : order) {
    const AttemptRow& row = list.rows[i];
    DetailAttempt attempt = keeper.Describe(i, places, dataset_of);
    const std::optional<double>& limit = limits[list.DatasetOf(row)];
    attempt.is_oversized = row.is_result && limit.has_value() && static_cast<double>(row.events) > *limit;
    attempt.straggler_reason = ValueOr(reasons, i, {});
    if (const auto unended = list.unended.find(i); unended != list.unended.end()) {
      attempt.entry_start = unended->second.entry_start;
      attempt.entry_stop = unended->second.entry_stop;
      attempt.notes = notes.Number(NotesOf(list.attributes.names[unended->second.attributes]));
    }
    keys[{list.processes[row.process].worker, list.processes[row.process].start_ns, row.number, row.start_ns}] =
        detail->attempts.size();
    detail->attempts.push_back(std::move(attempt));
  }
  AddRecorded(for_each_attempt, keys, list.places, std::move(notes), detail);
}

// Tasks of an engine on the rows of the timeline.

using ThreadKey = std::tuple<std::string, int64_t, uint64_t>;  // worker, process start, thread

/// The row of each thread whose number in the thread library is known.
std::map<ThreadKey, uint32_t> RowsOfThreads(const AttemptList& list, const TimelinePlaces& places) {
  std::map<ThreadKey, uint32_t> rows;
  for (size_t i = 0; i < list.rows.size(); ++i) {
    const ListedThread& thread = list.threads[list.rows[i].thread];
    if (thread.library == 0) continue;
    const ListedProcess& process = list.processes[thread.process];
    rows.try_emplace({process.worker, process.start_ns, thread.library}, places.row_of_attempt[i]);
  }
  return rows;
}

/// Marks the tasks in which an attempt began. Both are by row and start.
void MarkThoseWithChunks(const AttemptList& list, const TimelinePlaces& places, RunDetail* detail) {
  std::vector<std::pair<uint32_t, int64_t>> begins;
  for (size_t i = 0; i < list.rows.size(); ++i) {
    begins.emplace_back(places.row_of_attempt[i], list.rows[i].start_ns - detail->start_ns);
  }
  absl::c_sort(begins);
  for (DetailTask& task : detail->tasks) {
    const auto first = absl::c_lower_bound(begins, std::pair(task.row, task.start_ns));
    task.has_chunk = first != begins.end() && first->first == task.row && first->second < task.stop_ns;
  }
}

/// Fills `tasks` and what belongs to it, where rows are threads. A task is on the row of its thread; those of
/// threads that ran no chunk have none, and are counted.
void PlaceTasks(const TaskReader& for_each_task, const AttemptList& list, const TimelinePlaces& places, size_t most,
                RunDetail* detail) {
  if (!detail->rows_are_threads) return;
  const std::map<ThreadKey, uint32_t> rows = RowsOfThreads(list, places);
  NameNumbers prefixes;
  int64_t count = 0;
  const absl::Status read = for_each_task([&](const TaskOfRun& task) {
    const auto row = rows.find({task.process.worker, task.process.start_ns, task.fact.thread.value_or(0)});
    if (row == rows.end()) {
      ++detail->tasks_elsewhere;
      return;
    }
    if (++count > static_cast<int64_t>(most)) return;
    const bool failed = task.fact.outcome == "error";
    detail->tasks.push_back({row->second, prefixes.Number(task.fact.prefix), /*has_chunk=*/false, failed,
                             task.fact.start_ns - detail->start_ns, task.fact.stop_ns - detail->start_ns});
  });
  if (!read.ok() || count > static_cast<int64_t>(most)) {
    detail->tasks.clear();
    detail->tasks_left_out = count;
    return;
  }
  SortBy(&detail->tasks, [](const DetailTask& task) { return std::tie(task.row, task.start_ns, task.stop_ns); });
  detail->task_prefixes = std::move(prefixes.names);
  MarkThoseWithChunks(list, places, detail);
}

// Sums over equal parts of the run's time, of all attempts together and by worker.

/// Fills `over_time`; the lanes that were available come from the measurement.
void SumOverTime(const AttemptList& list, const Measurement& measurement, int bins, RunDetail* detail) {
  const double length = detail->bin_seconds * detail->bins;
  const BinAxis axis = {detail->timeline_start_seconds, length / bins, bins};
  TimeBins& sums = detail->over_time;
  sums.start_seconds = axis.start;
  sums.bin_seconds = axis.width;
  for (std::vector<double>* values : {&sums.busy_seconds, &sums.cpu_seconds, &sums.cpu_wait_seconds,
                                      &sums.blocked_seconds, &sums.events, &sums.bytes_read, &sums.finished_chunks}) {
    values->resize(static_cast<size_t>(bins));
  }
  sums.lanes_available = MeanSteps(measurement, "worker_cores", axis);
  for (size_t i = 0; i < list.rows.size(); ++i) {
    const AttemptRow& attempt = list.rows[i];
    const double from = Seconds(attempt.start_ns - detail->start_ns);
    const double to = Seconds(attempt.stop_ns() - detail->start_ns);
    if (attempt.is_result) ++sums.finished_chunks[static_cast<size_t>(axis.At(to))];
    if (!HasEnded(attempt)) continue;
    const double seconds = Seconds(attempt.duration_ns);
    const double cpu = Seconds(ChunkCpu(attempt, list.helpers).value_or(0));
    const double wait = Seconds(std::max<int64_t>(0, attempt.cpu_wait_ns));
    const double blocked = Seconds(ChunkBlocked(attempt, list.helpers).value_or(0));
    const double events = attempt.is_result ? std::max<double>(0, static_cast<double>(attempt.events)) : 0;
    const double bytes = std::max<double>(0, static_cast<double>(list.bytes[i].read));
    axis.Spread(from, to, [&](int at, double share) {
      const auto bin = static_cast<size_t>(at);
      sums.busy_seconds[bin] += seconds * share;
      sums.cpu_seconds[bin] += cpu * share;
      sums.cpu_wait_seconds[bin] += wait * share;
      sums.blocked_seconds[bin] += blocked * share;
      sums.events[bin] += events * share;
      sums.bytes_read[bin] += bytes * share;
    });
  }
}

/// Fills `by_worker`.
void SumByWorker(const AttemptList& list, const TimelinePlaces& places, int bins, size_t most_rows, RunDetail* detail) {
  const double length = detail->bin_seconds * detail->bins;
  const BinAxis axis = {detail->timeline_start_seconds, length / bins, bins};
  WorkerGrid& grid = detail->by_worker;
  grid.start_seconds = axis.start;
  grid.bin_seconds = axis.width;
  grid.bins = bins;
  const bool one_each = detail->workers.size() <= most_rows;
  grid.rows = one_each ? Mapped<std::string>(detail->workers, &DetailWorker::name)
                       : Mapped<std::string>(detail->rows, &DetailRow::label);
  const size_t cells = grid.rows.size() * static_cast<size_t>(bins);
  grid.busy_seconds.resize(cells);
  grid.bytes_read.resize(cells);
  for (size_t i = 0; i < list.rows.size(); ++i) {
    const AttemptRow& attempt = list.rows[i];
    if (!HasEnded(attempt)) continue;
    const size_t row = one_each ? places.worker_of_process[attempt.process] : places.row_of_attempt[i];
    const double from = Seconds(attempt.start_ns - detail->start_ns);
    const double to = Seconds(attempt.stop_ns() - detail->start_ns);
    const double seconds = Seconds(attempt.duration_ns);
    const double bytes = std::max<double>(0, static_cast<double>(list.bytes[i].read));
    axis.Spread(from, to, [&](int bin, double share) {
      const size_t cell = row * static_cast<size_t>(bins) + static_cast<size_t>(bin);
      grid.busy_seconds[cell] += seconds * share;
      grid.bytes_read[cell] += bytes * share;
    });
  }
}

struct Window {
  int64_t first_ns = std::numeric_limits<int64_t>::max();
  int64_t last_ns = std::numeric_limits<int64_t>::min();  ///< of stops; of attempts that did not end the begin
  int64_t last_stop_ns = std::numeric_limits<int64_t>::min();
};

Window WindowOf(const AttemptList& list) {
  Window window;
  for (const AttemptRow& row : list.rows) {
    window.first_ns = std::min(window.first_ns, row.start_ns);
    window.last_ns = std::max(window.last_ns, row.stop_ns());
    if (HasEnded(row)) window.last_stop_ns = std::max(window.last_stop_ns, row.stop_ns());
  }
  return window;
}

/// The run as the document bounds it; the timeline reaches as far as its attempts do.
void SetBounds(const Measurement& measurement, const AttemptList& list, RunDetail* detail) {
  const Number& start_ns = measurement.run.start_ns;
  const Window window = WindowOf(list);
  const bool has_attempts = !list.rows.empty();
  detail->start_ns = start_ns.is_integer() ? start_ns.integer() : has_attempts ? window.first_ns : 0;
  const double until = has_attempts ? Seconds(window.last_ns - detail->start_ns) : 0;
  detail->seconds = measurement.Metric("wall_time").value_or(std::max(0.0, until));
  if (has_attempts) detail->timeline_start_seconds = std::min(0.0, Seconds(window.first_ns - detail->start_ns));
  const double end = std::max(detail->seconds, until);
  detail->bins = 1;
  detail->bin_seconds = std::max(1e-9, end - detail->timeline_start_seconds);
  const std::optional<double> tail = measurement.Metric("tail_time");
  // The last stop may be that of a chunk that was summed.
  const bool is_whole = measurement.quality.summed_chunks.value_or(0) == 0;
  if (tail.has_value() && is_whole && window.last_stop_ns > window.first_ns) {
    detail->tail_start_seconds = Seconds(window.last_stop_ns - detail->start_ns) - *tail;
  }
}

/// Numbers the datasets by busy time; returns the detail's number for each of the list's.
std::vector<uint32_t> OrderDatasets(const AttemptList& list, RunDetail* detail) {
  std::vector<DetailDataset> datasets;
  for (const std::string& name : list.datasets.names) datasets.push_back({name});
  for (const AttemptRow& row : list.rows) {
    DetailDataset& dataset = datasets[list.DatasetOf(row)];
    ++dataset.attempts;
    if (HasEnded(row)) dataset.busy_ns += row.duration_ns;
  }
  std::vector<uint32_t> order = Indices<uint32_t>(datasets.size());
  SortBy(&order, [&](uint32_t of) { return std::pair(-datasets[of].busy_ns, std::string_view(datasets[of].name)); });
  // by name, so that a dataset has its colour in every run of the same datasets
  const size_t own = order.size() <= kDatasetSlots ? order.size() : kDatasetSlots - 1;
  std::sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(own),
            [&datasets](uint32_t a, uint32_t b) { return datasets[a].name < datasets[b].name; });
  std::vector<uint32_t> number_of(datasets.size());
  for (uint32_t at = 0; at < order.size(); ++at) {
    number_of[order[at]] = at;
    detail->datasets.push_back(datasets[order[at]]);
  }
  return number_of;
}

/// When each worker was there.
void SetLives(const Measurement& measurement, RunDetail* detail) {
  std::map<std::string, DetailWorker*> workers;
  for (DetailWorker& worker : detail->workers) workers[worker.name] = &worker;
  for (const WorkerRow& row : measurement.workers) {
    const auto found = workers.find(row.name);
    if (found == workers.end()) continue;
    found->second->start_seconds = row.start;
    found->second->stop_seconds = row.stop;
    found->second->is_lost = row.state == "lost";
    found->second->left_reason = row.left_reason;
  }
}

constexpr int kSteps = 8;  // of busy and waiting shares

/// Processes of the same name are one worker: a recorder that was loaded twice, or a pid that came again.
std::vector<uint32_t> NumberWorkers(const AttemptList& list, RunDetail* detail) {
  std::vector<int64_t> first_ns(list.processes.size(), std::numeric_limits<int64_t>::max());
  for (const AttemptRow& row : list.rows) first_ns[row.process] = std::min(first_ns[row.process], row.start_ns);
  std::vector<uint32_t> order = Indices<uint32_t>(list.processes.size());
  SortBy(&order, [&](uint32_t process) { return std::tie(first_ns[process], list.processes[process].worker); });
  std::map<std::string, uint32_t> numbers;
  std::vector<uint32_t> worker_of_process(list.processes.size());
  for (const uint32_t process : order) {
    const ListedProcess& listed = list.processes[process];
    const auto [at, is_new] = numbers.try_emplace(listed.worker, static_cast<uint32_t>(detail->workers.size()));
    if (is_new) detail->workers.push_back({listed.worker, listed.host});
    worker_of_process[process] = at->second;
  }
  for (size_t i = 0; i < list.rows.size(); ++i) {
    DetailWorker& worker = detail->workers[worker_of_process[list.rows[i].process]];
    worker.lanes = std::max(worker.lanes, static_cast<int32_t>(list.lanes[i]) + 1);
    if (HasEnded(list.rows[i])) worker.busy_ns += list.rows[i].duration_ns;
  }
  return worker_of_process;
}

/// Begins and durations are of two clocks, so neighbours may overlap by a little.
constexpr double kClockShare = 0.01;

/// For each attempt its thread's number in its worker, in order of first attempts. Empty: there are more than `most`
/// threads, or attempts of one overlap, as they do where threads were not recorded or chunks were suspended.
std::vector<uint32_t> NumberThreads(const AttemptList& list, const std::vector<uint32_t>& worker_of_process,
                                    size_t most) {
  std::vector<uint32_t> order = Indices<uint32_t>(list.rows.size());
  SortBy(&order, [&](uint32_t a) { return list.rows[a].start_ns; });
  struct Thread {
    uint32_t number = 0;
    int64_t stop_ns = std::numeric_limits<int64_t>::min();
  };
  std::map<std::pair<uint32_t, uint32_t>, Thread> threads;  // by process and thread
  std::map<uint32_t, uint32_t> threads_of_worker;
  std::vector<uint32_t> thread_of_attempt(list.rows.size());
  for (const uint32_t i : order) {
    const AttemptRow& row = list.rows[i];
    const auto [at, is_new] = threads.try_emplace({row.process, row.thread});
    Thread& thread = at->second;
    if (is_new) thread.number = threads_of_worker[worker_of_process[row.process]]++;
    if (threads.size() > most) return {};
    thread_of_attempt[i] = thread.number;
    if (!HasEnded(row)) continue;
    const double allowed_ns = kClockShare * static_cast<double>(row.duration_ns);
    if (!is_new && static_cast<double>(thread.stop_ns) - static_cast<double>(row.start_ns) > allowed_ns) return {};
    thread.stop_ns = std::max(thread.stop_ns, row.stop_ns());
  }
  return thread_of_attempt;
}

/// A row for each of the `count` threads or lanes of a worker.
void AddRows(uint32_t worker, uint32_t count, RunDetail* detail) {
  for (uint32_t lane = 0; lane < count; ++lane) {
    detail->rows.push_back({detail->workers[worker].name, worker, lane});
  }
}

/// Rows by host; where there are too many hosts, those with most lanes left idle have one each, and the others share.
std::vector<uint32_t> HostRows(size_t most_rows, RunDetail* detail) {
  struct Host {
    std::string name;
    int32_t lanes = 0;
    double busy_seconds = 0;
    uint32_t first_worker = 0;
  };
  std::vector<Host> hosts;
  std::map<std::string, size_t> numbers;
  for (uint32_t i = 0; i < detail->workers.size(); ++i) {
    const DetailWorker& worker = detail->workers[i];
    const auto [at, is_new] = numbers.try_emplace(worker.host, hosts.size());
    if (is_new) hosts.push_back({worker.host, 0, 0, i});
    hosts[at->second].lanes += worker.lanes;
    hosts[at->second].busy_seconds += worker.busy_ns / 1e9;
  }
  std::vector<size_t> order = Indices<size_t>(hosts.size());
  if (hosts.size() > most_rows) {
    const auto lost = [&](size_t host) { return hosts[host].lanes * detail->seconds - hosts[host].busy_seconds; };
    SortLargestFirst(&order, [&](size_t a) { return lost(a); });
  }
  std::vector<uint32_t> row_of_host(hosts.size());
  const size_t own = hosts.size() > most_rows ? most_rows - 1 : hosts.size();
  for (size_t at = 0; at < order.size(); ++at) {
    const Host& host = hosts[order[at]];
    if (at <= own && detail->rows.size() < most_rows) {
      const std::string label = at < own ? host.name : std::to_string(hosts.size() - own) + " other hosts";
      detail->rows.push_back({label, host.first_worker, 0, /*lanes=*/0});
    }
    row_of_host[order[at]] = static_cast<uint32_t>(std::min(at, detail->rows.size() - 1));
    detail->rows[row_of_host[order[at]]].lanes += host.lanes;
  }
  return Mapped<uint32_t>(detail->workers,
                          [&](const DetailWorker& worker) { return row_of_host[numbers[worker.host]]; });
}

void CountRows(const AttemptList& list, const TimelinePlaces& places, RunDetail* detail) {
  for (size_t i = 0; i < list.rows.size(); ++i) {
    const AttemptRow& attempt = list.rows[i];
    DetailRow& row = detail->rows[places.row_of_attempt[i]];
    ++row.attempts;
    row.failed += attempt.status == AttemptState::kFailed || attempt.status == AttemptState::kLost;
    if (HasEnded(attempt)) row.busy_ns += attempt.duration_ns;
    if (attempt.is_result && attempt.events > 0) row.events += attempt.events;
  }
}

/// What one row was doing in one bin.
struct Cell {
  std::array<float, kDatasetSlots> busy_seconds = {};  ///< by dataset slot
  float waiting_seconds = 0;
  bool has_failed = false;
};

uint8_t Step(double share) { return static_cast<uint8_t>(std::clamp(std::lround(share * kSteps), 0L, long{kSteps})); }

/// How the cell looks, as a run without its place.
DetailRun LookOf(const Cell& cell, double capacity_seconds) {
  DetailRun look;
  look.has_failed = cell.has_failed;
  double busy = 0;
  for (uint32_t slot = 0; slot < kDatasetSlots; ++slot) {
    busy += cell.busy_seconds[slot];
    if (cell.busy_seconds[slot] > cell.busy_seconds[look.slot]) look.slot = slot;
  }
  if (!(busy > 0)) return look;
  look.busy = std::max<uint8_t>(1, Step(busy / capacity_seconds));
  look.waiting = Step(cell.waiting_seconds / busy);
  return look;
}

void Fill(const AttemptList& list, size_t index, uint32_t slot, const BinAxis& axis, int64_t zero_ns,
          std::vector<Cell>* cells) {
  const AttemptRow& attempt = list.rows[index];
  const double from = (attempt.start_ns - zero_ns) / 1e9;
  const double to = (attempt.stop_ns() - zero_ns) / 1e9;
  if (attempt.status == AttemptState::kFailed || attempt.status == AttemptState::kLost) {
    (*cells)[static_cast<size_t>(axis.At(to))].has_failed = true;
  }
  if (!HasEnded(attempt)) return;
  const double seconds = attempt.duration_ns / 1e9;
  const std::optional<OwnerTime> owner = SplitOwnerTime(attempt, list.helpers);
  const double waiting = owner.has_value() ? (attempt.duration_ns - owner->cpu_ns - owner->joined_ns) / 1e9 : 0;
  axis.Spread(from, to, [&](int bin, double share) {
    Cell& cell = (*cells)[static_cast<size_t>(bin)];
    cell.busy_seconds[slot] += static_cast<float>(seconds * share);
    cell.waiting_seconds += static_cast<float>(waiting * share);
  });
}

std::vector<DetailRun> RunsOf(const AttemptList& list, const TimelinePlaces& places, const BinAxis& axis,
                              const RunDetail& detail, const std::vector<uint32_t>& slots) {
  std::vector<std::vector<uint32_t>> of_row(detail.rows.size());
  for (size_t i = 0; i < list.rows.size(); ++i) of_row[places.row_of_attempt[i]].push_back(static_cast<uint32_t>(i));
  std::vector<DetailRun> runs;
  std::vector<Cell> cells(static_cast<size_t>(axis.bins));
  for (uint32_t row = 0; row < detail.rows.size(); ++row) {
    absl::c_fill(cells, Cell());
    for (const uint32_t index : of_row[row]) {
      Fill(list, index, slots[index], axis, detail.start_ns, &cells);
    }
    const double capacity = std::max(1, detail.rows[row].lanes) * axis.width;
    for (uint32_t bin = 0; bin < cells.size(); ++bin) {
      DetailRun look = LookOf(cells[bin], capacity);
      if (look.busy == 0 && !look.has_failed) continue;
      look.row = row;
      look.first_bin = bin;
      const auto looks = [](const DetailRun& run) { return std::tie(run.slot, run.busy, run.waiting, run.has_failed); };
      const bool goes_on = !runs.empty() && runs.back().row == row && runs.back().first_bin + runs.back().bins == bin;
      if (goes_on && looks(runs.back()) == looks(look)) {
        ++runs.back().bins;
      } else {
        runs.push_back(look);
      }
    }
  }
  return runs;
}

/// Fills the detail's `workers`, `rows` and `row_kind`.
TimelinePlaces PlaceRows(const AttemptList& list, const DetailOptions& options, RunDetail* detail) {
  TimelinePlaces places;
  places.worker_of_process = NumberWorkers(list, detail);
  const auto lanes = SumOf<size_t>(detail->workers, &DetailWorker::lanes);
  const std::vector<uint32_t> threads =
      NumberThreads(list, places.worker_of_process, std::min(options.threads, options.rows));
  detail->rows_are_threads = !threads.empty();
  const bool by_lane = detail->rows_are_threads || lanes <= options.rows;
  const std::vector<uint32_t>& lane_of_attempt = detail->rows_are_threads ? threads : list.lanes;
  std::vector<uint32_t> row_of_worker;
  if (by_lane) {
    detail->row_kind = "thread";
    std::vector<uint32_t> rows(detail->workers.size());
    for (size_t i = 0; i < list.rows.size(); ++i) {
      uint32_t& count = rows[places.worker_of_process[list.rows[i].process]];
      count = std::max(count, lane_of_attempt[i] + 1);
    }
    for (uint32_t i = 0; i < detail->workers.size(); ++i) {
      row_of_worker.push_back(static_cast<uint32_t>(detail->rows.size()));
      AddRows(i, rows[i], detail);
    }
  } else if (detail->workers.size() <= options.rows) {
    detail->row_kind = "worker";
    for (uint32_t i = 0; i < detail->workers.size(); ++i) {
      row_of_worker.push_back(i);
      AddRows(i, 1, detail);
      detail->rows.back().lanes = detail->workers[i].lanes;
    }
  } else {
    detail->row_kind = "host";
    row_of_worker = HostRows(options.rows, detail);
  }
  for (size_t i = 0; i < list.rows.size(); ++i) {
    const uint32_t worker = places.worker_of_process[list.rows[i].process];
    places.row_of_attempt.push_back(row_of_worker[worker] + (by_lane ? lane_of_attempt[i] : 0));
  }
  CountRows(list, places, detail);
  return places;
}

/// Fills `bins`, `bin_seconds` and `runs`, from the rows and the window that are there.
void DrawRuns(const AttemptList& list, const TimelinePlaces& places, const std::vector<uint32_t>& slots,
              const DetailOptions& options, RunDetail* detail) {
  const double length = detail->bin_seconds * detail->bins;
  for (int bins = options.timeline_bins;; bins /= 2) {
    const BinAxis axis = {detail->timeline_start_seconds, length / bins, bins};
    detail->bins = bins;
    detail->bin_seconds = axis.width;
    detail->runs = RunsOf(list, places, axis, *detail, slots);
    if (detail->runs.size() <= options.runs || bins / 2 < options.fewest_bins) return;
  }
}

}  // namespace

const ValueShape* RunDetail::FindDistribution(std::string_view quantity) const {
  return FindBy(distributions, &ValueShape::quantity, quantity);
}

const CountGrid* RunDetail::FindGrid(std::string_view x_quantity, std::string_view y_quantity) const {
  for (const CountGrid& grid : grids) {
    if (grid.x_quantity == x_quantity && grid.y_quantity == y_quantity) return &grid;
  }
  return nullptr;
}

uint32_t SlotOf(const RunDetail& detail, uint32_t dataset) {
  return detail.datasets.size() <= kDatasetSlots ? dataset : std::min(dataset, kDatasetSlots - 1);
}

uint32_t SlotCount(const RunDetail& detail) {
  return std::min(static_cast<uint32_t>(detail.datasets.size()), kDatasetSlots);
}

std::string SlotName(const RunDetail& detail, uint32_t slot) {
  if (detail.datasets.size() > kDatasetSlots && slot + 1 == kDatasetSlots) return "other";
  return slot < detail.datasets.size() ? detail.datasets[slot].name : "";
}

RunDetail ReadRunDetail(const Measurement& measurement, const AttemptReader& for_each_attempt,
                        const DetailOptions& options, const TaskReader& for_each_task) {
  RunDetail detail;
  AttemptList list;
  if (const absl::Status read = ListAttempts(for_each_attempt, &list); !read.ok()) {
    list = AttemptList();
    detail.why_no_attempts = std::string(read.message());
  } else if (list.rows.empty()) {
    const bool is_summed = measurement.quality.summed_chunks.value_or(0) > 0;
    detail.why_no_attempts = is_summed ? "all chunks were summed; crema show --table quality says why" : kNoChunk;
  }
  SetBounds(measurement, list, &detail);
  detail.errors = detail.notes = {""};
  if (list.rows.empty()) return detail;

  detail.attempts_seen = static_cast<int64_t>(list.rows.size());
  detail.files = list.files.names;
  const std::vector<uint32_t> dataset_of = OrderDatasets(list, &detail);
  const TimelinePlaces places = PlaceRows(list, options, &detail);
  detail.is_exact = list.rows.size() <= options.exact_attempts;
  detail.timeline_is_exact = detail.is_exact && detail.row_kind == "thread";
  SetLives(measurement, &detail);
  const std::vector<uint32_t> slots = Mapped<uint32_t>(
      list.rows, [&](const AttemptRow& row) { return SlotOf(detail, dataset_of[list.DatasetOf(row)]); });
  // Each fills fields of its own, and reads only what is there by now.
  std::array<std::optional<ValueShape>, kShapedQuantities> shapes;
  std::vector<ParallelTask> pieces = {
      {0, [&] { KeepAttempts(list, places, dataset_of, for_each_attempt, options, &detail); }},
      {0, [&] { detail.grids = ShapeGrids(list); }},
      {0, [&] { SumByWorker(list, places, options.grid_bins, options.rows, &detail); }},
      {0, [&] {
         SumOverTime(list, measurement, options.time_bins, &detail);
         detail.tracks = TracksOf(measurement, detail.over_time);
       }}};
  if (for_each_task != nullptr && measurement.quality.tasks_read.value_or(0) > 0) {
    pieces.push_back({0, [&] { PlaceTasks(for_each_task, list, places, options.tasks, &detail); }});
  }
  for (size_t i = 0; i < shapes.size(); ++i) {
    pieces.push_back({0, [&, i] { shapes[i] = ShapeDistribution(list, i, slots, SlotCount(detail)); }});
  }
  RunParallel(pieces, {ThreadsFor(0)});
  for (std::optional<ValueShape>& shape : shapes) {
    if (shape.has_value()) detail.distributions.push_back(*std::move(shape));
  }
  if (!detail.timeline_is_exact) DrawRuns(list, places, slots, options, &detail);
  return detail;
}

}  // namespace crema

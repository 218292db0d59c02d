#include <numeric>
#include <tuple>

#include "collector/detail/attempt_list.h"
#include "collector/metrics/attempts/attempt_row.h"

namespace crema {
namespace {

constexpr int kSteps = 8;  // of busy and waiting shares

/// Processes of the same name are one worker: a recorder that was loaded twice, or a pid that came again.
std::vector<uint32_t> NumberWorkers(const AttemptList& list, RunDetail* detail) {
  std::vector<int64_t> first_ns(list.processes.size(), std::numeric_limits<int64_t>::max());
  for (const AttemptRow& row : list.rows) first_ns[row.process] = std::min(first_ns[row.process], row.start_ns);
  std::vector<uint32_t> order(list.processes.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return first_ns[a] != first_ns[b] ? first_ns[a] < first_ns[b] : list.processes[a].worker < list.processes[b].worker;
  });
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
  std::vector<uint32_t> order(list.rows.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return list.rows[a].start_ns < list.rows[b].start_ns; });
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
    DetailRow row;
    row.label = detail->workers[worker].name;
    row.worker = worker;
    row.lane = lane;
    detail->rows.push_back(row);
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
  std::vector<size_t> order(hosts.size());
  std::iota(order.begin(), order.end(), 0);
  if (hosts.size() > most_rows) {
    const auto lost = [&](size_t host) { return hosts[host].lanes * detail->seconds - hosts[host].busy_seconds; };
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return lost(a) > lost(b); });
  }
  std::vector<uint32_t> row_of_host(hosts.size());
  const size_t own = hosts.size() > most_rows ? most_rows - 1 : hosts.size();
  for (size_t at = 0; at < order.size(); ++at) {
    const Host& host = hosts[order[at]];
    if (at <= own && detail->rows.size() < most_rows) {
      DetailRow row;
      row.label = at < own ? host.name : std::to_string(hosts.size() - own) + " other hosts";
      row.worker = host.first_worker;
      row.lanes = 0;
      detail->rows.push_back(row);
    }
    row_of_host[order[at]] = static_cast<uint32_t>(std::min(at, detail->rows.size() - 1));
    detail->rows[row_of_host[order[at]]].lanes += host.lanes;
  }
  std::vector<uint32_t> row_of_worker;
  for (const DetailWorker& worker : detail->workers) row_of_worker.push_back(row_of_host[numbers[worker.host]]);
  return row_of_worker;
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
                              const RunDetail& detail, const std::vector<uint32_t>& slot_of_dataset) {
  std::vector<std::vector<uint32_t>> of_row(detail.rows.size());
  for (size_t i = 0; i < list.rows.size(); ++i) of_row[places.row_of_attempt[i]].push_back(static_cast<uint32_t>(i));
  std::vector<DetailRun> runs;
  std::vector<Cell> cells(static_cast<size_t>(axis.bins));
  for (uint32_t row = 0; row < detail.rows.size(); ++row) {
    std::fill(cells.begin(), cells.end(), Cell());
    for (const uint32_t index : of_row[row]) {
      Fill(list, index, slot_of_dataset[list.DatasetOf(list.rows[index])], axis, detail.start_ns, &cells);
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

}  // namespace

TimelinePlaces PlaceRows(const AttemptList& list, const DetailOptions& options, RunDetail* detail) {
  TimelinePlaces places;
  places.worker_of_process = NumberWorkers(list, detail);
  size_t lanes = 0;
  for (const DetailWorker& worker : detail->workers) lanes += static_cast<size_t>(worker.lanes);
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

void DrawRuns(const AttemptList& list, const TimelinePlaces& places, const DetailOptions& options, RunDetail* detail) {
  std::map<std::string_view, uint32_t> slots;
  for (uint32_t i = 0; i < detail->datasets.size(); ++i) slots[detail->datasets[i].name] = SlotOf(*detail, i);
  std::vector<uint32_t> slot_of_dataset;
  for (const std::string& name : list.datasets.names) slot_of_dataset.push_back(slots[std::string_view(name)]);
  const double length = detail->bin_seconds * detail->bins;
  for (int bins = options.timeline_bins;; bins /= 2) {
    const BinAxis axis = {detail->timeline_start_seconds, length / bins, bins};
    detail->bins = bins;
    detail->bin_seconds = axis.width;
    detail->runs = RunsOf(list, places, axis, *detail, slot_of_dataset);
    if (detail->runs.size() <= options.runs || bins / 2 < options.fewest_bins) return;
  }
}

}  // namespace crema

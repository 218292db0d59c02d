#include "collector/detail/run_detail.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <string>

#include "collector/detail/attempt_list.h"
#include "collector/detail/kept_attempts.h"
#include "collector/detail/sums_over_time.h"
#include "collector/detail/task_bars.h"
#include "collector/detail/time_tracks.h"
#include "collector/detail/timeline_rows.h"
#include "collector/detail/value_shapes.h"
#include "collector/metrics/attempts/attempt_interval.h"
#include "collector/metrics/side_by_side.h"

namespace crema {
namespace {

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

double SecondsBetween(int64_t from_ns, int64_t to_ns) { return static_cast<double>(to_ns - from_ns) / 1e9; }

/// The run as the document bounds it; the timeline reaches as far as its attempts do.
void SetBounds(const Measurement& measurement, const AttemptList& list, RunDetail* detail) {
  const Number& start_ns = measurement.run.start_ns;
  const Window window = WindowOf(list);
  const bool has_attempts = !list.rows.empty();
  detail->start_ns = start_ns.is_integer() ? start_ns.integer() : has_attempts ? window.first_ns : 0;
  const double until = has_attempts ? SecondsBetween(detail->start_ns, window.last_ns) : 0;
  detail->seconds = measurement.Metric("wall_time").value_or(std::max(0.0, until));
  if (has_attempts) {
    detail->timeline_start_seconds = std::min(0.0, SecondsBetween(detail->start_ns, window.first_ns));
  }
  const double end = std::max(detail->seconds, until);
  detail->bins = 1;
  detail->bin_seconds = std::max(1e-9, end - detail->timeline_start_seconds);
  const std::optional<double> tail = measurement.Metric("tail_time");
  // The last stop may be that of a chunk that was summed.
  const bool is_whole = measurement.quality.summed_chunks.value_or(0) == 0;
  if (tail.has_value() && is_whole && window.last_stop_ns > window.first_ns) {
    detail->tail_start_seconds = SecondsBetween(detail->start_ns, window.last_stop_ns) - *tail;
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
  std::vector<uint32_t> order(datasets.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&datasets](uint32_t a, uint32_t b) {
    return datasets[a].busy_ns != datasets[b].busy_ns ? datasets[a].busy_ns > datasets[b].busy_ns
                                                      : datasets[a].name < datasets[b].name;
  });
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

}  // namespace

const ValueShape* RunDetail::FindDistribution(std::string_view quantity) const {
  for (const ValueShape& distribution : distributions) {
    if (distribution.quantity == quantity) return &distribution;
  }
  return nullptr;
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
    detail.why_no_attempts = is_summed ? "all chunks were summed" : "no chunk was recorded";
  }
  SetBounds(measurement, list, &detail);
  detail.errors = {""};
  if (list.rows.empty()) return detail;

  detail.attempts_seen = static_cast<int64_t>(list.rows.size());
  detail.files = list.files.names;
  const std::vector<uint32_t> dataset_of = OrderDatasets(list, &detail);
  const TimelinePlaces places = PlaceRows(list, options, &detail);
  detail.is_exact = list.rows.size() <= options.exact_attempts;
  detail.timeline_is_exact = detail.is_exact && detail.row_kind == "thread";
  SetLives(measurement, &detail);
  std::vector<uint32_t> slots;
  for (const AttemptRow& row : list.rows) slots.push_back(SlotOf(detail, dataset_of[list.DatasetOf(row)]));
  // Each fills fields of its own, and reads only what is there by now.
  std::vector<Piece> pieces = {{0, [&] { KeepAttempts(list, places, dataset_of, for_each_attempt, options, &detail); }},
                               {0, [&] { detail.distributions = ShapeDistributions(list, slots, SlotCount(detail)); }},
                               {0, [&] { detail.grids = ShapeGrids(list); }},
                               {0, [&] { SumByWorker(list, places, options.grid_bins, options.rows, &detail); }},
                               {0, [&] {
                                  SumOverTime(list, measurement, options.time_bins, &detail);
                                  detail.tracks = TracksOf(measurement, detail.over_time);
                                }}};
  if (for_each_task != nullptr && measurement.quality.tasks_read.value_or(0) > 0) {
    pieces.push_back({0, [&] { PlaceTasks(for_each_task, list, places, options.tasks, &detail); }});
  }
  RunSideBySide(pieces, {ThreadsFor(0)});
  if (!detail.timeline_is_exact) DrawRuns(list, places, options, &detail);
  return detail;
}

}  // namespace crema

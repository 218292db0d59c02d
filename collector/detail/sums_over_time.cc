#include "collector/detail/sums_over_time.h"

#include <algorithm>
#include <optional>

#include "collector/detail/bin_axis.h"
#include "collector/detail/time_tracks.h"
#include "collector/metrics/attempts/attempt_interval.h"
#include "collector/metrics/attempts/attempt_quantities.h"

namespace crema {
namespace {

double Seconds(int64_t ns) { return static_cast<double>(ns) / 1e9; }

}  // namespace

void SumOverTime(const AttemptList& list, const Measurement& measurement, int bins, RunDetail* detail) {
  const double length = detail->bin_seconds * detail->bins;
  const BinAxis axis = {detail->timeline_start_seconds, length / bins, bins};
  TimeBins& sums = detail->over_time;
  sums.start_seconds = axis.start;
  sums.bin_seconds = axis.width;
  for (std::vector<double>* values :
       {&sums.busy_seconds, &sums.cpu_seconds, &sums.cpu_wait_seconds, &sums.blocked_seconds, &sums.failed_seconds,
        &sums.events, &sums.bytes_read, &sums.finished_chunks, &sums.failed_attempts}) {
    values->resize(static_cast<size_t>(bins));
  }
  sums.lanes_available = MeanSteps(measurement, "worker_cores", axis);
  for (size_t i = 0; i < list.rows.size(); ++i) {
    const AttemptRow& attempt = list.rows[i];
    const double from = Seconds(attempt.start_ns - detail->start_ns);
    const double to = Seconds(attempt.stop_ns() - detail->start_ns);
    const bool has_ended = HasEnded(attempt);
    const double seconds = has_ended ? Seconds(attempt.duration_ns) : 0;
    const auto stop_bin = static_cast<size_t>(axis.At(to));
    if (attempt.is_result) ++sums.finished_chunks[stop_bin];
    if (attempt.status == AttemptState::kFailed || attempt.status == AttemptState::kLost) {
      ++sums.failed_attempts[stop_bin];
    }
    if (!has_ended) continue;
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
      if (!attempt.is_result) sums.failed_seconds[bin] += seconds * share;
      sums.events[bin] += events * share;
      sums.bytes_read[bin] += bytes * share;
    });
  }
}

void SumByWorker(const AttemptList& list, const TimelinePlaces& places, int bins, size_t most_rows, RunDetail* detail) {
  const double length = detail->bin_seconds * detail->bins;
  const BinAxis axis = {detail->timeline_start_seconds, length / bins, bins};
  WorkerGrid& grid = detail->by_worker;
  grid.start_seconds = axis.start;
  grid.bin_seconds = axis.width;
  grid.bins = bins;
  const bool one_each = detail->workers.size() <= most_rows;
  if (one_each) {
    for (const DetailWorker& worker : detail->workers) {
      grid.rows.push_back(worker.name);
      grid.lanes.push_back(worker.lanes);
    }
  } else {
    for (const DetailRow& row : detail->rows) {
      grid.rows.push_back(row.label);
      grid.lanes.push_back(row.lanes);
    }
  }
  const size_t cells = grid.rows.size() * static_cast<size_t>(bins);
  grid.busy_seconds.resize(cells);
  grid.cpu_seconds.resize(cells);
  grid.bytes_read.resize(cells);
  for (size_t i = 0; i < list.rows.size(); ++i) {
    const AttemptRow& attempt = list.rows[i];
    if (!HasEnded(attempt)) continue;
    const size_t row = one_each ? places.worker_of_process[attempt.process] : places.row_of_attempt[i];
    const double from = Seconds(attempt.start_ns - detail->start_ns);
    const double to = Seconds(attempt.stop_ns() - detail->start_ns);
    const double seconds = Seconds(attempt.duration_ns);
    const double cpu = Seconds(ChunkCpu(attempt, list.helpers).value_or(0));
    const double bytes = std::max<double>(0, static_cast<double>(list.bytes[i].read));
    axis.Spread(from, to, [&](int bin, double share) {
      const size_t cell = row * static_cast<size_t>(bins) + static_cast<size_t>(bin);
      grid.busy_seconds[cell] += seconds * share;
      grid.cpu_seconds[cell] += cpu * share;
      grid.bytes_read[cell] += bytes * share;
    });
  }
}

}  // namespace crema

// When a live run did what its chunks and tasks say: into the seconds in which it was done.
#include <algorithm>
#include <cmath>

#include "collector/metrics/attempts/owner_time.h"
#include "collector/metrics/attempts/row_of_chunk.h"
#include "collector/server/live_model.h"

namespace crema {
namespace {

// A log that is followed is read once a second: what it brings ended a moment ago, whatever its host's clock says.
constexpr double kLatestSeconds = 5;

}  // namespace

double LiveModel::SecondOf(const LiveWorker& worker, int64_t stop_ns) const {
  double second = static_cast<double>(stop_ns - origin_ns_ - shift_ns_) / 1e9;
  const double now = static_cast<double>(now_ns_ - origin_ns_ - shift_ns_) / 1e9;
  if (worker.is_following) second = std::max(second, now - kLatestSeconds);
  return std::min(second, now);
}

/// Hands the parts of the seconds before `stop` to `take(bin, share)`: which share of `seconds` lies in which second.
template <class Take>
void LiveModel::Spread(double stop, double seconds, const Take& take) {
  const double start = std::max(stop - seconds, static_cast<double>(second_ - 2 * kRecentSeconds - 60));
  const auto first = static_cast<int64_t>(std::floor(start));
  const auto last = static_cast<int64_t>(std::floor(stop));
  for (int64_t second = first; second <= last; ++second) {
    const double overlap =
        std::min(stop, static_cast<double>(second + 1)) - std::max(start, static_cast<double>(second));
    RunSecond* bin = recent_.Find(second);
    if (bin != nullptr && seconds > 0) take(*bin, std::max(0.0, overlap) / seconds);
  }
}

void LiveModel::AddTimes(LiveWorker& worker, const ChunkFact& chunk, const LiveDataset& dataset) {
  const double stop = SecondOf(worker, chunk.stop_ns);
  const AttemptRow row = RowOf(chunk);
  const auto open = static_cast<double>(row.stop_ns() - row.start_ns);
  const auto duration = static_cast<double>(row.duration_ns);
  const std::optional<OwnerTime> owner = SplitOwnerTime(row, chunk.helper_union_ns.value_or(0));
  const double waiting = owner.has_value() ? static_cast<double>(owner->cpu_wait_ns + owner->blocked_ns) : 0;
  if (owner.has_value() && owner->wait_known && !chunk.failed) totals_.blocked_ns += owner->blocked_ns;
  worker.helped.helpers_ns += std::min(chunk.helper_union_ns.value_or(0), row.duration_ns);
  if (owner.has_value()) worker.helped.joined_ns += owner->joined_ns;
  const int64_t events = chunk.failed ? 0 : chunk.events.value_or(0);
  if (RunSecond* bin = recent_.Find(static_cast<int64_t>(std::floor(stop))); bin != nullptr) {
    bin->events += events;
    bin->bytes += chunk.bytes_read.value_or(0);
    bin->failed += chunk.failed;
  }
  Spread(stop, open / 1e9, [&](RunSecond& bin, double share) {
    bin.chunk_ns += duration * share;
    if (chunk.failed) {
      bin.failed_ns += duration * share;
    } else if (owner.has_value()) {
      bin.compute_ns += static_cast<double>(owner->cpu_ns) * share;
      bin.waiting_ns += waiting * share;
      bin.joined_ns += static_cast<double>(owner->joined_ns) * share;
    }
  });
  series_.Add(stop - static_cast<double>(start_ns() - origin_ns_ - shift_ns_) / 1e9, events,
              chunk.bytes_read.value_or(0));
  WorkerSecond* bin = worker.SecondAt(static_cast<int64_t>(std::floor(stop)));
  if (bin == nullptr || chunk.failed) return;
  ++bin->chunks;
  bin->events += events;
  bin->busy_ns += row.duration_ns;
  bin->waiting_ns += static_cast<int64_t>(waiting);
  if (dataset.timed_events > 0 && events > 0) {
    bin->judged_ns += row.duration_ns;
    bin->expected_ns +=
        static_cast<double>(dataset.busy_ns) / static_cast<double>(dataset.timed_events) * static_cast<double>(events);
  }
}

/// Evenly over the seconds in which they ended.
void LiveModel::AddTimes(LiveWorker& worker, const SumsFact& added, const LiveDataset& dataset) {
  const std::optional<OwnerTime> owner = SplitOwnerTime(RowOf(added), HelpersOf(added).union_ns);
  const bool split = owner.has_value() && !added.failed;
  const int64_t cpu_ns = split ? owner->cpu_ns : 0;
  const int64_t joined_ns = split ? owner->joined_ns : 0;
  const int64_t waiting_ns = split ? owner->cpu_wait_ns + owner->blocked_ns : 0;
  if (split && owner->wait_known) totals_.blocked_ns += owner->blocked_ns;
  worker.helped.helpers_ns += std::min(HelpersOf(added).union_ns, added.duration_ns);
  if (owner.has_value()) worker.helped.joined_ns += owner->joined_ns;
  const int64_t events = added.failed ? 0 : added.events.value_or(0);
  const int64_t bytes = added.bytes_read.value_or(0);

  const double stop = SecondOf(worker, added.last_stop_ns);
  constexpr int64_t kMostSeconds = 3600;
  const double seconds = static_cast<double>(std::max<int64_t>(0, added.last_stop_ns - added.first_start_ns)) / 1e9;
  const int64_t parts = std::clamp(static_cast<int64_t>(std::ceil(seconds)), int64_t{1}, kMostSeconds);
  const double series_start = static_cast<double>(start_ns() - origin_ns_ - shift_ns_) / 1e9;
  for (int64_t part = 0; part < parts; ++part) {
    const double second = stop - seconds * (1 - (static_cast<double>(part) + 0.5) / static_cast<double>(parts));
    // All parts together are the whole.
    const auto of = [part, parts](int64_t whole) {
      const int64_t each = whole / parts;
      const int64_t more = whole % parts;
      return each + (part + 1) * more / parts - part * more / parts;
    };
    series_.Add(second - series_start, of(events), of(bytes));
    const auto at = static_cast<int64_t>(std::floor(second));
    if (RunSecond* bin = recent_.Find(at); bin != nullptr) {
      bin->events += of(events);
      bin->bytes += of(bytes);
      bin->failed += added.failed ? of(added.chunks) : 0;
      bin->chunk_ns += static_cast<double>(of(added.duration_ns));
      if (added.failed) bin->failed_ns += static_cast<double>(of(added.duration_ns));
      if (split) {
        bin->compute_ns += static_cast<double>(of(cpu_ns));
        bin->waiting_ns += static_cast<double>(of(waiting_ns));
        bin->joined_ns += static_cast<double>(of(joined_ns));
      }
    }
    WorkerSecond* bin = worker.SecondAt(at);
    if (bin == nullptr || added.failed) continue;
    bin->chunks += of(added.chunks);
    bin->events += of(events);
    bin->busy_ns += of(added.duration_ns);
    if (split) bin->waiting_ns += of(waiting_ns);
    if (dataset.timed_events > 0 && events > 0) {
      bin->expected_ns += static_cast<double>(dataset.busy_ns) / static_cast<double>(dataset.timed_events) *
                          static_cast<double>(of(events));
    }
  }
}

void LiveModel::AddTask(LiveWorker& worker, const TaskFact& task) {
  worker.last_ns = std::max(worker.last_ns, task.stop_ns);
  const double seconds = static_cast<double>(std::max<int64_t>(0, task.stop_ns - task.start_ns)) / 1e9;
  Spread(SecondOf(worker, task.stop_ns), seconds,
         [&](RunSecond& bin, double share) { bin.task_ns += seconds * 1e9 * share; });
}

}  // namespace crema

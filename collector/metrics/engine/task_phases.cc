#include "collector/metrics/engine/task_phases.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "collector/metrics/engine/engine_metrics.h"

namespace crema {
namespace {

// What Coffea calls its tree of sums, on Dask and on TaskVine.
constexpr std::string_view kReduce[] = {"reduce", "accumulating"};
// What it calls its look at each file.
constexpr std::string_view kPreprocess[] = {"automatic_retries", "preprocessing"};

template <size_t kSize>
bool IsAmong(const std::string& prefix, const std::string_view (&names)[kSize]) {
  return std::find(std::begin(names), std::end(names), prefix) != std::end(names);
}

using Interval = std::pair<int64_t, int64_t>;

PhaseRow RowOf(std::string_view phase, std::vector<Interval> intervals) {
  std::sort(intervals.begin(), intervals.end());
  PhaseRow row;
  row.phase = std::string(phase);
  row.start_ns = intervals.front().first;
  row.stop_ns = row.start_ns;
  int64_t union_ns = 0;
  int64_t sum_ns = 0;
  for (const auto& [start_ns, stop_ns] : intervals) {
    sum_ns += stop_ns - start_ns;
    union_ns += std::max<int64_t>(0, stop_ns - std::max(start_ns, row.stop_ns));
    row.stop_ns = std::max(row.stop_ns, stop_ns);
  }
  row.wall_time = static_cast<double>(union_ns) / 1e9;
  row.task_seconds = static_cast<double>(sum_ns) / 1e9;
  return row;
}

}  // namespace

std::vector<PhaseRow> FindTaskPhases(const TaskFindings& tasks, const TaskJoin& join) {
  const std::set<std::string> processors = ChunkPrefixes(tasks, join);
  if (processors.empty()) return {};  // what the tasks are for is not known
  std::vector<Interval> preprocess;
  std::vector<Interval> process;
  std::vector<Interval> reduce;
  for (const TaskRow& task : tasks.rows) {
    const std::string& prefix = tasks.prefixes[task.prefix];
    const Interval interval = {task.start_ns, task.stop_ns};
    if (processors.count(prefix) > 0) {
      process.push_back(interval);
    } else if (IsAmong(prefix, kReduce)) {
      reduce.push_back(interval);
    } else if (IsAmong(prefix, kPreprocess)) {
      preprocess.push_back(interval);
    }
  }
  std::vector<PhaseRow> phases;
  if (!preprocess.empty()) phases.push_back(RowOf("preprocess", std::move(preprocess)));
  phases.push_back(RowOf("process", std::move(process)));
  if (!reduce.empty()) phases.push_back(RowOf("reduce", std::move(reduce)));
  return phases;
}

}  // namespace crema

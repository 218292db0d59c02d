#include "collector/detail/task_bars.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "collector/metrics/attempts/attempt_interval.h"

namespace crema {
namespace {

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
  std::sort(begins.begin(), begins.end());
  for (DetailTask& task : detail->tasks) {
    const auto first = std::lower_bound(begins.begin(), begins.end(), std::pair(task.row, task.start_ns));
    task.has_chunk = first != begins.end() && first->first == task.row && first->second < task.stop_ns;
  }
}

}  // namespace

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
    DetailTask placed;
    placed.row = row->second;
    placed.prefix = prefixes.Number(task.fact.prefix);
    placed.failed = task.fact.outcome == "error";
    placed.start_ns = task.fact.start_ns - detail->start_ns;
    placed.stop_ns = task.fact.stop_ns - detail->start_ns;
    detail->tasks.push_back(placed);
  });
  if (!read.ok() || count > static_cast<int64_t>(most)) {
    detail->tasks.clear();
    detail->tasks_left_out = count;
    return;
  }
  std::sort(detail->tasks.begin(), detail->tasks.end(), [](const DetailTask& a, const DetailTask& b) {
    return std::tie(a.row, a.start_ns, a.stop_ns) < std::tie(b.row, b.start_ns, b.stop_ns);
  });
  detail->task_prefixes = std::move(prefixes.names);
  MarkThoseWithChunks(list, places, detail);
}

}  // namespace crema

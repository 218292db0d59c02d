// Events that go from thread to thread, and their tasks, as their processes summed them (docs/metrics.md, "events").
#pragma once

#include "collector/measurement/recorded.h"
#include "collector/metrics/workers/process_table.h"
#include "collector/records/facts.h"

namespace crema {

/// Events that ended in a part of the run: the mean of each part of their latency, as `TaskSumsTable` has the parts.
struct LatencyStep {
  int64_t start_ns = 0;  ///< Unix time
  std::array<double, 4> seconds = {};
};

struct TaskSumsFindings {
  std::vector<EventLatencyRow> events;                      ///< by dataset
  std::vector<ModuleRow> modules;                           ///< tasks, then requests; longest own time first
  std::vector<std::pair<uint32_t, TaskThreadRow>> threads;  ///< with their process; rows without its name
  std::vector<LatencyStep> over_time;                       ///< each to the next; NaN: no event ended
};

/// Accumulator of `task_sums` lines. Rows are sums since the process began and only grow, so the largest one of each
/// log and name counts, in whatever order they come.
class TaskSumsTable {
 public:
  /// The parts of `LatencyStep`, by name.
  static constexpr std::pair<std::string_view, int64_t EventSumFact::*> kParts[] = {
      {"active", &EventSumFact::active_ns},
      {"queued", &EventSumFact::queued_ns},
      {"external", &EventSumFact::external_ns},
      {"rest", &EventSumFact::rest_ns}};

  void Add(const LogRef& log, const TaskSumsFact& fact);
  /// `logs`: what `ProcessTable::Merge` returned.
  void Merge(const TaskSumsTable& other, const std::vector<uint32_t>& logs);
  TaskSumsFindings Finalize() const;

 private:
  using Module = std::tuple<uint32_t, std::string, std::string>;  // log, name, operation
  struct Threads {
    int64_t time_ns = -1;
    std::vector<TaskThreadFact> rows;
  };

  // Their texts are in the keys.
  std::map<Module, TaskModuleFact> modules_;
  std::map<std::pair<uint32_t, std::string>, EventSumFact> events_;
  std::map<uint32_t, Threads> threads_;
  /// Sums of all events at some times: the last ones of each second.
  using SumsByTime = std::map<int64_t, std::pair<int64_t, EventSumFact>>;
  std::map<uint32_t, SumsByTime> over_time_;

  static void Keep(int64_t time_ns, const EventSumFact& sums, SumsByTime* kept);
  std::vector<LatencyStep> LatencyOverTime() const;
};

}  // namespace crema

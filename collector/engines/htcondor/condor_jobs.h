// Events of HTCondor's jobs as facts: each execution of a job is a worker with one task.
#ifndef CREMA_COLLECTOR_ENGINES_HTCONDOR_CONDOR_JOBS_H_
#define CREMA_COLLECTOR_ENGINES_HTCONDOR_CONDOR_JOBS_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "collector/engines/htcondor/condor_events.h"
#include "collector/records/cluster_facts.h"

namespace crema {

class CondorJobs {
 public:
  /// False: this version does not know the event.
  bool Add(const CondorEvent& event);
  /// One for each job.
  std::vector<ClusterFact> Finish() &&;

 private:
  struct Execution {
    int64_t start_ns = 0;
    std::optional<int64_t> stop_ns;
    std::optional<int64_t> queued_ns;  ///< since then it waited to be executed
    std::string host;
    bool is_lost = false;
    bool failed = false;
    std::string reason;
    std::optional<int64_t> cores;
    std::optional<int64_t> memory_bytes;
    std::optional<int64_t> peak_bytes;
    std::optional<int64_t> cpu_ns;
    std::vector<ClusterSampleFact> samples;
  };
  struct Job {
    std::string scheduler;  ///< where it was submitted
    int64_t first_ns = 0;
    int64_t last_ns = 0;
    std::optional<int64_t> queued_ns;
    bool was_submitted = false;  ///< in this log
    bool is_over = false;
    bool is_ended_by_user = false;
    bool is_held = false;  ///< until somebody releases it
    bool is_held_by_user = false;
    std::string reason;          ///< of its last hold or removal
    bool lacks_execute = false;  ///< the log does not say when it was executed
    std::vector<Execution> executions;
  };

  /// An execution whose beginning the log does not have, if this event needs one.
  static void AddUnseenExecution(const CondorEvent& event, Job* job);
  static void Stop(const CondorEvent& event, bool is_lost, std::string reason, Job* job);
  static void TakeFigures(const CondorEvent& event, Execution* execution);
  static ClusterFact FactOf(const std::string& name, const Job& job);

  std::map<std::pair<int64_t, int64_t>, std::vector<Job>> jobs_;  // numbers may come again, at another scheduler
};

}  // namespace crema

#endif  // CREMA_COLLECTOR_ENGINES_HTCONDOR_CONDOR_JOBS_H_

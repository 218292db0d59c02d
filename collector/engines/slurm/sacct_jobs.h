// The rows of sacct, by the columns that its first line names, as facts: a job on a node is a worker, a
// step on a node is a task.
#ifndef CREMA_COLLECTOR_ENGINES_SLURM_SACCT_JOBS_H_
#define CREMA_COLLECTOR_ENGINES_SLURM_SACCT_JOBS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collector/engines/slurm/sacct_table.h"
#include "collector/records/cluster_facts.h"

namespace crema {

enum class SacctRow { kTaken, kMalformed };

/// Adds up rows. A job that was put into the queue again has several rows with `--duplicates`: each is a run of it.
class SacctJobs {
 public:
  /// Of several rows of one run, as queries that overlap bring, the last one holds.
  SacctRow Add(const SacctHeader& header, const SacctCells& row);
  /// One for each job.
  std::vector<ClusterFact> Finish() &&;

 private:
  struct Step {
    std::string name;   ///< `batch`, `0`
    std::string label;  ///< what it ran
    std::string state;
    std::string exit;
    std::vector<std::string> nodes;
    int64_t start_ns = 0;
    std::optional<int64_t> end_ns;
    std::optional<int64_t> peak_bytes;  ///< of all its processes on a node
    bool used_more = false;             ///< only that of one of its processes is known

    bool IsOn(const std::string& node) const;
  };
  struct Run {
    std::string state;
    std::string exit;
    std::vector<std::string> nodes;
    int64_t nodes_count = 1;
    int64_t cores = 0;
    int64_t start_ns = 0;
    std::optional<int64_t> end_ns;
    int64_t last_ns = 0;
    std::optional<int64_t> submit_ns;
    std::optional<int64_t> memory_bytes;  ///< of one node
    std::optional<int64_t> time_limit_ns;
    std::optional<int64_t> cpu_ns;
    std::string reason;  ///< why it waits
    std::vector<Step> steps;
  };
  struct Job {
    std::string cluster;
    std::string id;    ///< as processes know it; empty: only its place in an array is known
    std::string name;  ///< as people know it: `81420_1`
    std::string label;
    std::vector<Run> runs;
    std::vector<Step> steps;  ///< before they are given to runs
    Run stand_in;             ///< of the first step, where the job's own row is missing
    int64_t stands_for = 1;   ///< jobs: the rest of an array is one row
  };

  /// A row with the names of its cells.
  struct Row {
    const SacctHeader& header;
    const SacctCells& cells;
    std::string_view operator[](std::string_view name) const { return header.Of(cells, name); }
  };
  static Run ReadRun(const Row& row);
  static Step ReadStep(const Row& row, std::string_view name);
  static void AddJobRow(Run run, Job* job);
  static void GiveStepsToRuns(Job* job);
  void CountPlaces();
  static ClusterFact FactOf(const Job& job);
  static std::optional<int64_t> PeakOn(const std::string& node, const std::vector<Step>& steps);
  static void AddRun(const Job& job, size_t number, ClusterFact* cluster);

  std::vector<Job> jobs_;
  std::map<std::string, size_t> job_of_;  // by cluster and name
};

}  // namespace crema

#endif  // CREMA_COLLECTOR_ENGINES_SLURM_SACCT_JOBS_H_

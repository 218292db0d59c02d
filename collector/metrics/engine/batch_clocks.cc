#include "collector/metrics/engine/batch_clocks.h"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "collector/appearance/human_numbers.h"

namespace crema {
namespace {

constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kMinute = 60 * kSecond;
constexpr int64_t kQuarter = 15 * kMinute;
constexpr int64_t kHour = 60 * kMinute;
/// Batch systems round times down to whole seconds, and the kernel has the start of a process to 10 ms.
constexpr int64_t kRounding = 2 * kSecond;
/// So long a job that is ended may take to go (Slurm's KillWait is 30 s).
constexpr int64_t kKillWait = kMinute;

/// What may be added to the times of a job.
struct Bounds {
  int64_t least = std::numeric_limits<int64_t>::min();
  int64_t most = std::numeric_limits<int64_t>::max();
  bool Contains(int64_t offset_ns) const { return least <= offset_ns && offset_ns <= most; }
};

/// With which a process fits one of its job's attempts.
Bounds BoundsOf(const ProcessRow& process, const std::vector<const ClusterTaskFact*>& attempts,
                const std::map<std::string_view, const ClusterWorkerFact*>& workers) {
  Bounds bounds = {std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min()};
  for (const ClusterTaskFact* task : attempts) {
    const auto worker = workers.find(task->worker);
    const bool goes_on = worker != workers.end() && !worker->second->left_ns.has_value();
    const bool is_killed = task->failed || (worker != workers.end() && worker->second->is_lost);
    const int64_t from_ns = process.start_ns - task->stop_ns - kRounding;
    const int64_t to_ns = process.start_ns - task->start_ns + kRounding;
    int64_t until_ns = process.last_ns - task->stop_ns - (is_killed ? kKillWait : kRounding);
    if (until_ns > to_ns) until_ns = from_ns;  // it outlived its job
    bounds.least = goes_on ? std::numeric_limits<int64_t>::min() : std::min(bounds.least, std::max(from_ns, until_ns));
    bounds.most = std::max(bounds.most, to_ns);
  }
  return bounds;
}

/// The offset that makes all processes fit; of these the nearest to none, but whole hours or quarters of one, as time
/// zones have them, where they explain it. nullopt: there is none.
std::optional<int64_t> OffsetOf(const std::vector<Bounds>& processes) {
  Bounds all;
  for (const Bounds& process : processes) {
    all = {std::max(all.least, process.least), std::min(all.most, process.most)};
  }
  if (all.least > all.most) return std::nullopt;
  if (all.Contains(0)) return 0;
  const int64_t least = all.least > 0 ? all.least : -all.most;
  const int64_t sign = all.least > 0 ? 1 : -1;
  const auto rounded_up = [&](int64_t unit) { return (least + unit - 1) / unit * unit; };
  for (const auto& [unit, near] : {std::pair(kQuarter, 2 * kMinute), std::pair(kHour, kHour / 2)}) {
    const int64_t up = rounded_up(unit);
    if (up - least <= near && all.Contains(sign * up)) return sign * up;
  }
  // What rounding may hide is no reason to stop short.
  return all.Contains(sign * (least + kRounding)) ? sign * (least + kRounding) : sign * least;
}

void Shift(int64_t offset_ns, ClusterFact* cluster) {
  const auto shift = [offset_ns](int64_t* time_ns) {
    if (*time_ns != 0) *time_ns += offset_ns;
  };
  const auto shift_known = [&shift](std::optional<int64_t>* time_ns) {
    if (time_ns->has_value()) shift(&**time_ns);
  };
  shift(&cluster->first_ns);
  shift(&cluster->last_ns);
  for (ClusterWorkerFact& worker : cluster->workers) {
    shift(&worker.joined_ns);
    shift_known(&worker.left_ns);
    for (ClusterSampleFact& sample : worker.samples) shift(&sample.time_ns);
  }
  for (ClusterTaskFact& task : cluster->tasks) {
    shift(&task.start_ns);
    shift(&task.stop_ns);
  }
  for (ClusterSessionFact& session : cluster->sessions) {
    shift_known(&session.begin_ns);
    shift_known(&session.end_ns);
    shift_known(&session.flushed_ns);
  }
}

/// `UTC-2`, with which this machine reads times that are off by so much as they are meant; empty: no zone explains it.
std::string ZoneFor(int64_t offset_ns, int64_t time_ns) {
  constexpr int64_t kMostZone = 14 * kHour;
  const auto seconds = static_cast<time_t>(time_ns / kSecond);
  tm local = {};
  localtime_r(&seconds, &local);
  const int64_t east_ns = int64_t{local.tm_gmtoff} * kSecond - offset_ns;
  if (offset_ns % kQuarter != 0 || std::abs(east_ns) > kMostZone) return "";
  const int64_t minutes = std::abs(east_ns) / kMinute;
  return fmt::format("UTC{}{}{}", east_ns > 0 ? '-' : '+', minutes / 60,
                     minutes % 60 == 0 ? "" : fmt::format(":{:02}", minutes % 60));
}

/// Jobs of a log, with what their processes allow to add to its times.
using JobsToAlign = std::map<ClusterFact*, std::vector<Bounds>>;

std::string NamesOf(const std::vector<ClusterFact*>& jobs) {
  return jobs.size() == 1 ? jobs.front()->address : fmt::format("{} jobs", jobs.size());
}

/// Moves the times of the log so that all processes fit, else those of each job. Returns what was done, and what was
/// not.
std::vector<std::string> AlignLog(const std::string& log, const JobsToAlign& jobs) {
  constexpr std::string_view kClocks = "compare the clocks of the hosts";
  std::vector<Bounds> all;
  std::vector<ClusterFact*> outside, moved, left;
  for (const auto& [job, processes] : jobs) {
    all.insert(all.end(), processes.begin(), processes.end());
    const auto fits = [](const Bounds& process) { return process.Contains(0); };
    if (!std::all_of(processes.begin(), processes.end(), fits)) outside.push_back(job);
  }
  if (outside.empty()) return {};
  if (const std::optional<int64_t> offset_ns = OffsetOf(all)) {
    const std::string zone = ZoneFor(*offset_ns, outside.front()->first_ns);
    std::string what = zone.empty() ? std::string(kClocks)
                                    : fmt::format("if it is in another time zone, set TZ={}, else {}", zone, kClocks);
    constexpr int64_t kMostOfZones = 26 * kHour;
    if (std::abs(*offset_ns) > kMostOfZones) what = "check that it is the log of these records";
    for (const auto& [job, processes] : jobs) Shift(*offset_ns, job);
    return {fmt::format("{}: the records of {} lie {} {} than the log says, so crema moved the log's times; {}", log,
                        NamesOf(outside), HumanDuration(static_cast<double>(std::abs(*offset_ns)) / 1e9),
                        *offset_ns > 0 ? "later" : "earlier", what)};
  }
  for (ClusterFact* job : outside) {
    const std::optional<int64_t> offset_ns = OffsetOf(jobs.at(job));
    if (offset_ns.has_value()) Shift(*offset_ns, job);
    (offset_ns.has_value() ? moved : left).push_back(job);
  }
  std::vector<std::string> done;
  const std::string begin = fmt::format("{} is not aligned with the records: no offset fits all", log);
  if (!moved.empty()) {
    done.push_back(fmt::format("{} jobs, so crema moved the times of {} alone; {}", begin, NamesOf(moved), kClocks));
  }
  if (!left.empty()) {
    done.push_back(
        fmt::format("{} processes of {}, so crema left its times as they are; {}", begin, NamesOf(left), kClocks));
  }
  return done;
}

}  // namespace

std::string_view JobOfStep(std::string_view job) { return job.substr(0, job.rfind('.')); }

std::set<std::string> NumberedJobs(const ClusterTable& clusters) {
  std::set<std::string> jobs;
  for (const auto& [epoch, cluster] : clusters.by_epoch()) {
    if (!clusters.TraitsOf(epoch).numbers_jobs) continue;
    for (const ClusterTaskFact& task : cluster.tasks) jobs.insert(task.job);
  }
  jobs.erase("");
  return jobs;
}

std::vector<std::string> AlignWithRecords(const std::vector<ProcessRow>& processes, ClusterTable* clusters) {
  struct Named {
    JobsToAlign* log;
    ClusterFact* cluster;
    std::vector<const ClusterTaskFact*> attempts;
  };
  std::map<std::string, JobsToAlign> logs;
  std::map<std::string_view, Named> by_job;
  std::map<const ClusterFact*, std::map<std::string_view, const ClusterWorkerFact*>> workers_of;
  for (ClusterFact* cluster : clusters->WithNumberedJobs()) {
    JobsToAlign& log = logs[cluster->log];
    log[cluster];
    for (const ClusterWorkerFact& worker : cluster->workers) workers_of[cluster][worker.address] = &worker;
    for (const ClusterTaskFact& task : cluster->tasks) {
      if (task.job.empty()) continue;
      by_job.try_emplace(task.job, Named{&log, cluster, {}}).first->second.attempts.push_back(&task);
    }
  }
  for (const ProcessRow& process : processes) {
    if (process.job.empty() || process.start_ns <= 0) continue;
    auto named = by_job.find(process.job);
    if (named == by_job.end()) named = by_job.find(JobOfStep(process.job));
    if (named == by_job.end()) continue;
    const auto& [log, cluster, attempts] = named->second;
    (*log)[cluster].push_back(BoundsOf(process, attempts, workers_of[cluster]));
  }
  std::vector<std::string> done;
  for (const auto& [name, jobs] : logs) {
    for (std::string& line : AlignLog(name, jobs)) done.push_back(std::move(line));
  }
  return done;
}

}  // namespace crema

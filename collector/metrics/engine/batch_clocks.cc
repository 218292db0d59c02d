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

/// The offset that makes the most processes fit; of these the nearest to none, but whole hours or quarters of one, as
/// time zones have them, where they explain it.
int64_t BestOffset(const std::vector<Bounds>& processes) {
  std::vector<std::pair<int64_t, int>> steps;
  for (const Bounds& process : processes) {
    steps.emplace_back(process.least, -1);  // sorts before an end
    steps.emplace_back(process.most, 1);
  }
  std::sort(steps.begin(), steps.end());
  int most = 0, now = 0;
  Bounds best;
  const auto distance = [](const Bounds& bounds) {
    return bounds.Contains(0) ? 0 : bounds.least > 0 ? bounds.least : -bounds.most;
  };
  for (size_t i = 0; i + 1 < steps.size(); ++i) {
    now -= steps[i].second;
    if (steps[i].second > 0 || steps[i + 1].second < 0 || now < most) continue;
    const Bounds here = {steps[i].first, steps[i + 1].first};
    if (now > most || distance(here) < distance(best)) best = here;
    most = now;
  }
  const int64_t least = distance(best);
  const int64_t sign = best.least > 0 ? 1 : -1;
  const auto rounded_up = [&](int64_t unit) { return (least + unit - 1) / unit * unit; };
  for (const auto& [unit, near] : {std::pair(kQuarter, 2 * kMinute), std::pair(kHour, kHour / 2)}) {
    const int64_t up = rounded_up(unit);
    if (least > 0 && up - least <= near && best.Contains(sign * up)) return sign * up;
  }
  // What rounding may hide is no reason to stop short.
  return best.Contains(sign * (least + kRounding)) && least > 0 ? sign * (least + kRounding) : sign * least;
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

/// What a batch system's log says of jobs, and what their processes allow to add to its times.
struct LogToAlign {
  std::vector<ClusterFact*> jobs;
  std::vector<Bounds> processes;
  std::vector<const ClusterFact*> job_of_process;
};

/// Moves the log's times so that all processes fit. Returns what was done, or why it was not; empty: they fit.
std::string AlignLog(const std::string& log, const LogToAlign& found) {
  const int64_t offset_ns = BestOffset(found.processes);
  std::set<const ClusterFact*> outside;
  size_t fitting = 0;
  for (size_t i = 0; i < found.processes.size(); ++i) {
    fitting += found.processes[i].Contains(offset_ns);
    if (!found.processes[i].Contains(0)) outside.insert(found.job_of_process[i]);
  }
  if (outside.empty()) return "";
  const std::string who = outside.size() == 1 ? (*outside.begin())->address : fmt::format("{} jobs", outside.size());
  const std::string zone = ZoneFor(offset_ns, found.jobs.front()->first_ns);
  const std::string set_zone = zone.empty() ? "" : fmt::format("if it is in another time zone, set TZ={}, else ", zone);
  const std::string by = HumanDuration(static_cast<double>(std::abs(offset_ns)) / 1e9);
  const char* const direction = offset_ns > 0 ? "later" : "earlier";
  constexpr const char* kClocks = "compare the clocks of the hosts";
  if (fitting < found.processes.size()) {
    std::string text = fmt::format(
        "{}: the records of {} lie outside of the time that the log gives, and no offset fits all its jobs, so crema "
        "left its times as they are",
        log, who);
    if (offset_ns != 0)
      text += fmt::format(" ({} {} fits {} of {} processes)", by, direction, fitting, found.processes.size());
    return fmt::format("{}; {}{}", text, offset_ns == 0 ? "" : set_zone, kClocks);
  }
  for (ClusterFact* job : found.jobs) Shift(offset_ns, job);
  constexpr int64_t kMostOfZones = 26 * kHour;
  return fmt::format(
      "{}: the records of {} lie {} {} than the log says, so crema moved the log's times; {}", log, who, by, direction,
      std::abs(offset_ns) > kMostOfZones ? "check that it is the log of these records" : set_zone + kClocks);
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
    LogToAlign* log;
    const ClusterFact* cluster;
    std::vector<const ClusterTaskFact*> attempts;
  };
  std::map<std::string, LogToAlign> logs;
  std::map<std::string_view, Named> by_job;
  std::map<const ClusterFact*, std::map<std::string_view, const ClusterWorkerFact*>> workers_of;
  for (ClusterFact* cluster : clusters->WithNumberedJobs()) {
    LogToAlign& log = logs[cluster->log];
    log.jobs.push_back(cluster);
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
    log->processes.push_back(BoundsOf(process, attempts, workers_of[cluster]));
    log->job_of_process.push_back(cluster);
  }
  std::vector<std::string> done;
  for (const auto& [name, log] : logs) {
    if (std::string line = AlignLog(name, log); !line.empty()) done.push_back(std::move(line));
  }
  return done;
}

}  // namespace crema

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

/// The part of two bounds; the later one where they have none in common.
Bounds Common(const Bounds& a, const Bounds& b) {
  const Bounds both = {std::max(a.least, b.least), std::min(a.most, b.most)};
  return both.least <= both.most ? both : b;
}

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

/// The offset that makes the most jobs fit; of these the nearest to none, but whole hours or quarters of one, as time
/// zones have them, where they explain it.
int64_t BestOffset(const std::vector<Bounds>& jobs) {
  std::vector<std::pair<int64_t, int>> steps;
  for (const Bounds& job : jobs) {
    steps.emplace_back(job.least, -1);  // sorts before an end
    steps.emplace_back(job.most, 1);
  }
  std::sort(steps.begin(), steps.end());
  int most = 0, now = 0;
  Bounds best;
  const auto distance = [](const Bounds& bounds) {
    return bounds.Contains(0) ? 0 : bounds.least > 0 ? bounds.least : -bounds.most;
  };
  for (size_t i = 0; i < steps.size(); ++i) {
    now -= steps[i].second;
    if (steps[i].second > 0 || now < most) continue;
    Bounds here = {steps[i].first, std::numeric_limits<int64_t>::max()};
    const auto end = std::find_if(steps.begin() + static_cast<long>(i), steps.end(),
                                  [](const auto& step) { return step.second > 0; });
    if (end != steps.end()) here.most = end->first;
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

std::string WhatWasDone(const std::string& log, const std::vector<ClusterFact*>& moved, int64_t offset_ns) {
  const std::string zone = ZoneFor(offset_ns, moved.front()->first_ns);
  constexpr int64_t kMostOfZones = 26 * kHour;
  std::string what = "compare the clocks of the hosts";
  if (!zone.empty()) what = fmt::format("if it is in another time zone, set TZ={}, else {}", zone, what);
  if (std::abs(offset_ns) > kMostOfZones) what = "check that it is the log of these records";
  return fmt::format("{}: the records of {} lie {} {} than the log says, so crema moved the log's times; {}", log,
                     moved.size() == 1 ? moved.front()->address : fmt::format("{} jobs", moved.size()),
                     HumanDuration(static_cast<double>(std::abs(offset_ns)) / 1e9), offset_ns > 0 ? "later" : "earlier",
                     what);
}

struct JobToAlign {
  ClusterFact* cluster = nullptr;
  std::map<std::string_view, const ClusterWorkerFact*> workers;
  std::optional<Bounds> bounds;  // nullopt: it has no records
};

std::vector<std::string> AlignLog(const std::string& log, std::vector<JobToAlign> jobs) {
  std::vector<std::string> done;
  std::vector<JobToAlign> silent;
  for (size_t i = 0; i < jobs.size();) {
    if (jobs[i].bounds.has_value()) {
      ++i;
      continue;
    }
    silent.push_back(std::move(jobs[i]));
    jobs[i] = std::move(jobs.back());
    jobs.pop_back();
  }
  for (bool is_first = true; !jobs.empty(); is_first = false) {
    std::vector<Bounds> bounds;
    for (const JobToAlign& job : jobs) bounds.push_back(*job.bounds);
    const int64_t offset_ns = BestOffset(bounds);
    std::vector<ClusterFact*> moved;
    std::vector<JobToAlign> rest;
    for (JobToAlign& job : jobs) {
      if (job.bounds->Contains(offset_ns)) {
        moved.push_back(job.cluster);
      } else {
        rest.push_back(std::move(job));
      }
    }
    if (moved.empty()) break;  // bounds that contain nothing
    if (offset_ns != 0) {
      done.push_back(WhatWasDone(log, moved, offset_ns));
      for (ClusterFact* cluster : moved) Shift(offset_ns, cluster);
      for (JobToAlign& job : silent) {
        if (is_first) Shift(offset_ns, job.cluster);
      }
    }
    jobs = std::move(rest);
  }
  return done;
}

}  // namespace

std::string_view JobOfStep(std::string_view job) { return job.substr(0, job.rfind('.')); }

std::set<std::string> NumberedJobs(const ClusterTable& clusters) {
  std::set<std::string> jobs;
  for (const auto& [epoch, cluster] : clusters.by_epoch()) {
    if (!clusters.NumbersJobs(epoch)) continue;
    for (const ClusterTaskFact& task : cluster.tasks) jobs.insert(task.job);
  }
  jobs.erase("");
  return jobs;
}

std::vector<std::string> AlignWithRecords(const std::vector<ProcessRow>& processes, ClusterTable* clusters) {
  std::map<std::string, std::vector<JobToAlign>> logs;
  struct Named {
    std::pair<const std::string, std::vector<JobToAlign>>* log;
    size_t job;
    std::vector<const ClusterTaskFact*> attempts;
  };
  std::map<std::string_view, Named> by_job;
  for (ClusterFact* cluster : clusters->WithNumberedJobs()) {
    auto& log = *logs.try_emplace(cluster->log).first;
    JobToAlign& job = log.second.emplace_back();
    job.cluster = cluster;
    for (const ClusterWorkerFact& worker : cluster->workers) job.workers[worker.address] = &worker;
    for (const ClusterTaskFact& task : cluster->tasks) {
      if (task.job.empty()) continue;
      by_job.try_emplace(task.job, Named{&log, log.second.size() - 1, {}}).first->second.attempts.push_back(&task);
    }
  }
  for (const ProcessRow& process : processes) {
    if (process.job.empty() || process.start_ns <= 0) continue;
    auto named = by_job.find(process.job);
    if (named == by_job.end()) named = by_job.find(JobOfStep(process.job));
    if (named == by_job.end()) continue;
    JobToAlign& job = named->second.log->second[named->second.job];
    const Bounds bounds = BoundsOf(process, named->second.attempts, job.workers);
    job.bounds = job.bounds.has_value() ? Common(*job.bounds, bounds) : bounds;
  }
  std::vector<std::string> done;
  for (auto& [log, jobs] : logs) {
    for (std::string& line : AlignLog(log, std::move(jobs))) done.push_back(std::move(line));
  }
  return done;
}

}  // namespace crema

// The processes of a live run: which they are, what others say of them, their memory.
#include <algorithm>
#include <string>
#include <utility>

#include "collector/records/process_identity.h"
#include "collector/server/live_limits.h"
#include "collector/server/live_model.h"
#include "fmt/format.h"

namespace crema {
namespace {

template <class T>
std::string TextOf(T text) {
  return std::string(text.data(), text.size());
}

}  // namespace

std::optional<LiveModel::WorkerId> LiveModel::AddProcess(const ProcessFact& process) {
  const std::string run_id = TextOf(process.run_id);
  if (!has_run_id_ && options_.run != "all") {
    run_id_ = run_id;
    has_run_id_ = true;
  }
  if (options_.run != "all" && run_id != run_id_) {
    if (!foreign_noted_) {
      Note(EventKind::kWarning,
           fmt::format("records of another run ({}) are left out: choose with --run ID, or --run all", run_id));
    }
    foreign_noted_ = true;
    return std::nullopt;
  }
  const std::string key = fmt::format("{}\n{}\n{}", TextOf(process.host), process.pid, process.start_ns);
  if (const auto known = worker_index_.find(key); known != worker_index_.end()) {
    for (const WorkerId id : known->second) {
      LiveWorker& worker = workers_[id];
      if (!MayBeOneProcess(worker, process)) continue;
      if (worker.boot_id.empty()) worker.boot_id = TextOf(process.boot_id);
      if (!worker.pid_namespace.has_value()) worker.pid_namespace = process.pid_namespace;
      return id;
    }
  }
  LiveWorker worker;
  if (workers_.size() >= kMostWorkers) {
    worker.BecomeOther();
    if (workers_.size() == kMostWorkers) {
      Note(EventKind::kWarning,
           fmt::format("more than {} processes: the others have no rows of their own here", kMostWorkers));
    }
  }
  worker.run_id = run_id;
  worker.host = TextOf(process.host);
  worker.pid = process.pid;
  worker.pid_namespace = process.pid_namespace;
  worker.boot_id = TextOf(process.boot_id);
  worker.name = fmt::format("{}:{}", worker.host, worker.pid);
  worker.start_ns = worker.last_ns = process.start_ns;
  worker.declared_cores = process.threads;
  worker.allowed_cores = process.cores;
  worker.memory_limit_bytes = process.memory_limit_bytes;
  if (const auto known = scheduler_workers_.find({worker.host, worker.pid}); known != scheduler_workers_.end()) {
    worker.name = known->second.name;
    worker.scheduler_cores = known->second.cores;
    if (known->second.memory_limit_bytes.has_value()) worker.memory_limit_bytes = known->second.memory_limit_bytes;
  }
  if (process.total_events.has_value()) announced_events_ = process.total_events;
  first_start_ns_ = std::min(first_start_ns_.value_or(process.start_ns), process.start_ns);
  const auto id = static_cast<WorkerId>(workers_.size());
  worker_index_[key].push_back(id);
  workers_of_pid_[{worker.host, worker.pid}].push_back(id);
  workers_.push_back(std::move(worker));
  return id;
}

void LiveModel::AddSchedulerWorker(const std::string& host, int64_t pid, const std::string& name, int64_t cores,
                                   std::optional<int64_t> memory_limit_bytes) {
  scheduler_workers_[{host, pid}] = {name, cores, memory_limit_bytes};
  const auto known = workers_of_pid_.find({host, pid});
  if (known == workers_of_pid_.end()) return;
  for (const WorkerId id : known->second) {
    LiveWorker& worker = workers_[id];
    worker.name = name;
    worker.scheduler_cores = cores;
    if (memory_limit_bytes.has_value()) worker.memory_limit_bytes = memory_limit_bytes;
  }
}

void LiveModel::AddSample(LiveWorker& worker, const SampleFact& sample) {
  worker.last_ns = std::max(worker.last_ns, sample.time_ns);
  if (sample.memory_limit_bytes.has_value()) worker.memory_limit_bytes = sample.memory_limit_bytes;
  if (sample.rss_bytes.has_value()) AddMemoryPoint(worker, sample.time_ns, *sample.rss_bytes);
}

void LiveModel::AddMemory(const std::string& host, int64_t pid, int64_t time_ns, int64_t rss_bytes) {
  const auto known = workers_of_pid_.find({host, pid});
  if (known == workers_of_pid_.end()) return;
  for (const WorkerId id : known->second) {
    LiveWorker& worker = workers_[id];
    AddMemoryPoint(worker, time_ns, rss_bytes);
    worker.last_ns = std::max(worker.last_ns, time_ns);
  }
}

void LiveModel::AddMemoryPoint(LiveWorker& worker, int64_t time_ns, int64_t rss_bytes) {
  worker.peak_rss_bytes = std::max(worker.peak_rss_bytes, rss_bytes);
  if (!worker.memory.empty() && time_ns <= worker.memory.back().time_ns) {
    if (time_ns >= worker.memory.front().time_ns) return;  // its log is read again
    worker.memory.clear();                                 // its clock was set back
  }
  worker.rss_bytes = rss_bytes;
  if (worker.is_other()) return;
  worker.memory.push_back({time_ns, rss_bytes});
  while (worker.memory.size() > kMemorySpanNs / 1'000'000'000 ||
         time_ns - worker.memory.front().time_ns > kMemorySpanNs) {
    worker.memory.erase(worker.memory.begin());
  }
}

}  // namespace crema

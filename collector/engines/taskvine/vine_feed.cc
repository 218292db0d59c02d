#include "collector/engines/taskvine/vine_feed.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <system_error>
#include <utility>

namespace crema {
namespace {

constexpr size_t kLongestLine = size_t{1} << 20;

/// A process of this host. Those of other users do not tell.
bool HasOpen(int64_t pid, const std::string& path) {
  struct stat wanted = {}, open = {};
  if (stat(path.c_str(), &wanted) != 0) return false;
  std::error_code error;
  std::filesystem::directory_iterator entry(fmt::format("/proc/{}/fd", pid), error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    if (stat(entry->path().c_str(), &open) == 0 && open.st_dev == wanted.st_dev && open.st_ino == wanted.st_ino) {
      return true;
    }
  }
  return false;
}

}  // namespace

VineFeed::VineFeed(std::string engine, const TaskNames& names, std::string log, LiveRun* run)
    : engine_(std::move(engine)), log_(std::move(log)), run_(run), transactions_(names) {
  run_->SetVersion("");
}

void VineFeed::Add(std::string_view bytes) {
  while (!bytes.empty()) {
    const size_t end = bytes.find('\n');
    held_.append(bytes.substr(0, end));
    if (end == std::string_view::npos) {
      if (held_.size() > kLongestLine) held_.clear();
      return;
    }
    bytes.remove_prefix(end + 1);
    AddLine(held_);
    held_.clear();
  }
}

void VineFeed::AddLine(std::string_view line) {
  if (performance_.Add(line) || line.empty() || line.front() == '#') return;
  const VineLine taken = transactions_.Add(line);
  if (taken == VineLine::kMalformed || taken == VineLine::kTorn) run_->CountMalformed(1);
}

void VineFeed::Tick() {
  transactions_.TellNews([this](const VineNews& news) { Tell(news); });
}

void VineFeed::Tell(const VineNews& news) {
  const ClusterFact& cluster = *news.cluster;
  Told& told = managers_[cluster.epoch];
  if (told.is_closed) return;
  if (!told.is_followed) run_->BeginSession(cluster.first_ns);
  SchedulerFact scheduler;
  scheduler.address = fmt::format("{} {}", engine_, cluster.address);
  scheduler.counts = {{"tasks", news.ready + news.running},
                      {"processing", news.running},
                      {"waiting", news.ready},
                      {"erred", cluster.erred}};
  scheduler.is_there = HasOpen(news.pid, log_);
  TellWorkers(cluster, scheduler.address, &told, &scheduler);
  std::map<std::string, SchedulerFact::Finished> finished;
  for (const ClusterTaskFact& task : cluster.tasks) {
    const double seconds = static_cast<double>(task.stop_ns - task.start_ns) / 1e9;
    told.seconds[task.prefix] += seconds;
    if (task.failed) continue;  // it comes again, or is among `erred`
    SchedulerFact::Finished& row = finished[task.prefix];
    row.prefix = task.prefix;
    ++row.tasks;
    row.compute_seconds += seconds;
    if (told.is_followed) ++scheduler.finished_by_worker[task.worker];
  }
  if (told.is_followed) {
    for (auto& [category, row] : finished) scheduler.finished.push_back(std::move(row));
  } else {
    scheduler.problem = "its log is read from the beginning";
  }
  run_->AddScheduler(scheduler);
  run_->SetComputeSeconds(scheduler.address, told.seconds);
  told.is_followed = true;
  if (!cluster.closed) return;
  told.is_closed = true;
  run_->EndSession(cluster.last_ns);
  run_->Note(EventKind::kInfo, fmt::format("{} has ended", scheduler.address));
}

void VineFeed::TellWorkers(const ClusterFact& cluster, const std::string& address, Told* told,
                           SchedulerFact* scheduler) {
  int64_t present = 0, cores = 0;
  for (size_t i = 0; i < cluster.workers.size(); ++i) {
    const ClusterWorkerFact& worker = cluster.workers[i];
    if (!worker.left_ns.has_value()) {
      ++present;
      cores += std::max<int64_t>(0, worker.threads);
    }
    if (!worker.is_lost || !told->lost.insert(i).second || !told->is_followed) continue;
    run_->Note(EventKind::kBad,
               fmt::format("{} lost {} on {}: {}", address, worker.address, worker.host, worker.left_reason));
  }
  if (!told->is_followed && !told->lost.empty()) {
    run_->Note(EventKind::kBad, fmt::format("{} had lost {} worker{} before it was followed", address,
                                            told->lost.size(), told->lost.size() == 1 ? "" : "s"));
  }
  scheduler->counts["workers"] = present;
  scheduler->counts["cores"] = cores;
}

}  // namespace crema

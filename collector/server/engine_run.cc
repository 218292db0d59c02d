#include "collector/server/engine_run.h"

namespace crema {

void EngineRun::SetVersion(const std::string& version) {
  const std::string name(engine_->traits.name);
  model_->SetEngine(version.empty() ? name : name + " " + version);
}

void EngineRun::AddWorker(const ClusterWorkerFact& worker) {
  model_->AddSchedulerWorker(worker.hostname, worker.pid.value_or(0), worker.address, worker.threads,
                             worker.memory_limit_bytes);
}

void EngineRun::AddRecords(const std::string& log, std::string_view bytes) {
  logs_.try_emplace(log, parser_, model_).first->second.Add(bytes);
}

void EngineRun::SetLives(const std::function<bool(const std::string& host, int64_t pid)>& is_there) {
  for (const auto& [name, log] : logs_) {
    if (!log.worker().has_value()) continue;
    const LiveWorker& worker = model_->workers()[*log.worker()];
    model_->SetLife(*log.worker(), is_there(worker.host, worker.pid));
  }
}

void EngineRun::AddScheduler(const SchedulerFact& scheduler) {
  model_->SchedulerAt(scheduler.address).Add(scheduler, model_->second());
}

void EngineRun::SetComputeSeconds(const std::string& address, const std::map<std::string, double>& by_prefix) {
  model_->SchedulerAt(address).SetComputeSeconds(by_prefix);
}

}  // namespace crema

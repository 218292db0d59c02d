// What an engine's feed tells of a run, into the live model.
#ifndef CREMA_COLLECTOR_SERVER_ENGINE_RUN_H_
#define CREMA_COLLECTOR_SERVER_ENGINE_RUN_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "collector/engines/engine.h"
#include "collector/server/live_model.h"
#include "collector/server/record_feed.h"

namespace crema {

class EngineRun : public LiveRun {
 public:
  /// All of them outlive it; runs that take turns share one parser.
  EngineRun(const Engine& engine, RecordParser* parser, LiveModel* model)
      : engine_(&engine), parser_(parser), model_(model) {}

  int64_t now_ns() const override { return model_->now_ns(); }
  void SetVersion(const std::string& version) override;
  void BeginSession(int64_t time_ns) override { model_->BeginSession(time_ns); }
  void EndSession(int64_t time_ns) override { model_->EndSession(time_ns); }
  void SetPlan(std::map<std::string, int64_t> events) override { model_->SetPlan(std::move(events)); }
  void AddWorker(const ClusterWorkerFact& worker) override;
  void AddRecords(const std::string& log, std::string_view bytes) override;
  void SetLives(const std::function<bool(const std::string& host, int64_t pid)>& is_there) override;
  void AddScheduler(const SchedulerFact& scheduler) override;
  void SetComputeSeconds(const std::string& address, const std::map<std::string, double>& by_prefix) override;
  void Note(EventKind kind, std::string text) override { model_->Note(kind, std::move(text)); }
  void CountMalformed(int64_t lines) override { model_->CountFault(/*is_unknown=*/false, lines); }

 private:
  const Engine* engine_;
  RecordParser* parser_;
  LiveModel* model_;
  std::map<std::string, RecordFeed> logs_;
};

}  // namespace crema

#endif  // CREMA_COLLECTOR_SERVER_ENGINE_RUN_H_

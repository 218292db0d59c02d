// What crema's plug-in on a Dask scheduler serves (docs/dask_log.md), as it comes.
#ifndef CREMA_COLLECTOR_ENGINES_DASK_DASK_FEED_H_
#define CREMA_COLLECTOR_ENGINES_DASK_DASK_FEED_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "collector/engines/engine.h"
#include "nlohmann/json.hpp"

namespace crema {

class DaskFeed : public EngineFeed {
 public:
  explicit DaskFeed(LiveRun* run) : run_(run) {}

  void Add(std::string_view bytes) override;
  void Tick() override;

 private:
  /// A record log that a worker sends.
  struct SentLog {
    std::string name;
    int64_t end = 0;  ///< offset up to which it came
  };
  struct Worker {
    ClusterWorkerFact fact;
    int ticks_since_left = -1;  ///< -1: it is there
  };

  void AddLine(std::string_view line);
  void BeginRecords(const nlohmann::ordered_json& line);
  void AddRecords(std::string_view bytes);
  void AddWorker(const nlohmann::ordered_json& line);
  void AddPlugin(const nlohmann::ordered_json& line);
  void AddCluster(const nlohmann::ordered_json& line);

  LiveRun* run_;
  std::string held_;  ///< not whole yet
  std::string epoch_;
  size_t records_left_ = 0;  ///< bytes of a record log that are to come
  SentLog* records_of_ = nullptr;
  size_t repeated_ = 0;  ///< of them were sent before
  std::map<std::string, SentLog> logs_;
  std::map<std::string, Worker> workers_;
  bool closed_ = false;
};

}  // namespace crema

#endif  // CREMA_COLLECTOR_ENGINES_DASK_DASK_FEED_H_

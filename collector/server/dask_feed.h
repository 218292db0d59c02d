// What crema's plug-in on a Dask scheduler serves (docs/dask_log.md), as it comes, into the live model.
#ifndef CREMA_COLLECTOR_SERVER_DASK_FEED_H_
#define CREMA_COLLECTOR_SERVER_DASK_FEED_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collector/server/record_feed.h"
#include "nlohmann/json.hpp"

namespace crema {

class DaskFeed {
 public:
  DaskFeed(RecordParser* parser, LiveModel* model) : parser_(parser), model_(model) {}

  void Add(std::string_view bytes);
  /// All that came was taken in; once a second.
  void Tick();

 private:
  /// A record log that a worker sends.
  struct SentLog {
    SentLog(RecordParser* parser, LiveModel* model) : feed(parser, model) {}
    RecordFeed feed;
    int64_t end = 0;  ///< offset up to which it came
    std::string worker;
  };
  struct Worker {
    std::string host;  ///< by its plug-in
    int64_t pid = 0;
    int64_t cores = 0;
    std::optional<int64_t> memory_limit_bytes;
    int ticks_since_left = -1;  ///< -1: it is there
  };

  void AddLine(std::string_view line);
  void AddRecords(std::string_view bytes);
  void AddWorker(const nlohmann::ordered_json& line);
  void AddPlugin(const nlohmann::ordered_json& line);
  void AddCluster(const nlohmann::ordered_json& line);
  void AddBare(const nlohmann::ordered_json& line);
  /// Who joined or left a scheduler that tells no more of them.
  void NoteBareWorkers();

  RecordParser* parser_;
  LiveModel* model_;
  std::string held_;  ///< not whole yet
  std::string epoch_;
  std::string address_;              ///< of the scheduler, as it or the follower says
  bool is_bare_ = false;             ///< it has no plug-in
  std::vector<std::string> joined_;  ///< a bare one, since the last tick
  std::vector<std::string> left_;
  size_t records_left_ = 0;  ///< bytes of a record log that are to come
  SentLog* records_of_ = nullptr;
  size_t repeated_ = 0;  ///< of them were sent before
  std::map<std::string, std::unique_ptr<SentLog>> logs_;
  std::map<std::string, Worker> workers_;
  bool closed_ = false;
};

}  // namespace crema

#endif  // CREMA_COLLECTOR_SERVER_DASK_FEED_H_

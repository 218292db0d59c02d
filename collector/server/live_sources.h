// The sources of a live run: directories of logs, single logs and schedulers, of which only what is new is read.
#ifndef CREMA_COLLECTOR_SERVER_LIVE_SOURCES_H_
#define CREMA_COLLECTOR_SERVER_LIVE_SOURCES_H_

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "collector/engines/engines.h"
#include "collector/records/record_parser.h"
#include "collector/server/engine_run.h"
#include "collector/server/file_tail.h"
#include "collector/server/live_model.h"
#include "collector/server/record_feed.h"
#include "collector/server/tree_feed.h"

namespace crema {

struct SourceState {
  std::string name;
  bool is_there = true;
  std::string problem;  ///< one line; empty: none
};

class LiveSources {
 public:
  /// `model` outlives it.
  LiveSources(const std::vector<std::string>& sources, LiveModel* model);
  ~LiveSources();

  /// Whether these can be followed at all. Errors: a path that does not exist, or is no directory and no log.
  static absl::Status Check(const std::vector<std::string>& sources);

  /// Begins a round, once a second: looks for new logs, and for who still writes.
  void Look();
  /// Reads at most about `most` bytes of what was appended. Returns whether the round needs another call.
  bool ReadSome(size_t most);

  const std::vector<SourceState>& states() const { return states_; }

 private:
  struct Log;
  struct Followed;

  void LookInto(size_t source);
  void OpenLog(const std::string& path);
  void OpenEngineLog(const EngineLog& log);
  void AddLog(std::unique_ptr<Log> log);
  void SetLives();
  bool ReadLog(Log& log, size_t most);
  void TakeNews(size_t source, Followed& followed);
  void NoteProblem(SourceState& state, bool is_there, const std::string& problem);

  LiveModel* model_;
  RecordParser parser_;
  std::vector<std::string> sources_;
  std::vector<SourceState> states_;
  std::vector<std::unique_ptr<Log>> logs_;
  std::map<std::string, size_t> log_index_;  ///< by path
  size_t next_log_ = 0;                      ///< of the round
  bool round_is_over_ = true;
  std::map<size_t, std::unique_ptr<Followed>> followed_;  ///< by source: addresses
};

}  // namespace crema

#endif  // CREMA_COLLECTOR_SERVER_LIVE_SOURCES_H_

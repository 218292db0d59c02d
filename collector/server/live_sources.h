// The sources of a live run: directories of logs, single logs and schedulers, of which only what is new is read.
#pragma once

#include <set>

#include "collector/engines/engines.h"
#include "collector/engines/log_lines.h"
#include "collector/records/record_parser.h"
#include "collector/server/live_model.h"

namespace crema {

class FileTail {
 public:
  explicit FileTail(std::string path) : path_(std::move(path)) {}

  const std::string& path() const { return path_; }
  int64_t offset() const { return offset_; }

  /// Hands what was appended to `on_bytes`, at most about `most` bytes, in pieces that hold during the call. Returns
  /// whether more is there. Errors: NotFound where the file is gone; OutOfRange where it became shorter or is another
  /// file of that name (reading goes on at its beginning); what the system says.
  absl::StatusOr<bool> Read(size_t most, const std::function<void(std::string_view)>& on_bytes);

 private:
  std::string path_;
  int64_t offset_ = 0;
  uint64_t device_ = 0;
  uint64_t inode_ = 0;
};

class TreeFeed {
 public:
  explicit TreeFeed(LiveModel* model) : model_(model) {}
  void Add(std::string_view bytes);
  /// `running`: `crema run` still holds the log.
  void SetLife(bool running);

 private:
  void AddLine(std::string_view line);

  LiveModel* model_;
  LineAssembler lines_;
  std::optional<bool> running_;  ///< nullopt: the run's line was not read yet
  std::string host_;
};

class RecordFeed {
 public:
  /// `parser` and `model` outlive it; feeds that take turns share one parser.
  RecordFeed(RecordParser* parser, LiveModel* model) : parser_(parser), model_(model) {}

  void Add(std::string_view bytes);
  /// The log is read from its beginning again: what was read before is not counted twice.
  void Restart() { lines_.Clear(); }
  /// nullptr: not known yet, or its records are left out.
  const LiveLog* log() const { return log_; }

 private:
  void AddLine(std::string_view line);

  RecordParser* parser_;
  LiveModel* model_;
  LineAssembler lines_;
  LiveLog* log_ = nullptr;
  bool is_left_out_ = false;
};

class EngineRun : public LiveObserver {
 public:
  /// All of them outlive it; runs that take turns share one parser.
  EngineRun(const Engine& engine, RecordParser* parser, LiveModel* model)
      : engine_(&engine), parser_(parser), model_(model) {}

  int64_t now_ns() const override { return model_->now_ns(); }
  void SetVersion(const std::string& version) override;
  void BeginSession(int64_t time_ns) override { model_->BeginSession(time_ns); }
  void EndSession(int64_t time_ns) override { model_->EndSession(time_ns); }
  void SetPlan(std::map<std::string, int64_t> events) override { model_->SetPlan(std::move(events)); }
  void AddWorker(const ClusterWorkerFact& worker) override { model_->AddSchedulerWorker(worker); }
  void AddRecords(const std::string& log, std::string_view bytes) override {
    logs_.try_emplace(log, parser_, model_).first->second.Add(bytes);
  }
  void SetLives(const std::function<bool(const std::string& host, int64_t pid)>& is_there) override;
  void AddScheduler(const SchedulerFact& scheduler) override {
    model_->SchedulerAt(scheduler.address).Add(scheduler, model_->second());
  }
  void SetComputeSeconds(const std::string& address, const std::map<std::string, double>& by_prefix) override {
    model_->SchedulerAt(address).SetComputeSeconds(by_prefix);
  }
  void Note(EventKind kind, std::string text) override { model_->Note(kind, std::move(text)); }
  void CountMalformed(int64_t lines) override { model_->CountFault(/*is_unknown=*/false, lines); }

 private:
  const Engine* engine_;
  RecordParser* parser_;
  LiveModel* model_;
  std::map<std::string, RecordFeed> logs_;
};

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

  /// Whether these can be followed at all. Errors: a path that does not exist, or is not a directory and no log.
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
  Log& AddLog(const std::string& path);
  void SetLives();
  bool ReadLog(Log& log, size_t most);
  void PollFollower(size_t source, Followed& followed);
  void NoteProblem(SourceState& state, bool is_there, const std::string& problem);

  LiveModel* model_;
  RecordParser parser_;
  std::vector<std::string> sources_;
  std::vector<SourceState> states_;
  std::vector<std::unique_ptr<Log>> logs_;
  std::set<std::string> log_paths_;  ///< of them
  size_t next_log_ = 0;              ///< of the round
  bool round_is_over_ = true;
  std::map<size_t, std::unique_ptr<Followed>> followed_;  ///< by source: addresses
};

}  // namespace crema

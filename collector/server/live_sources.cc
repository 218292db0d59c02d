#include "collector/server/live_sources.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "collector/compression/compressed_name.h"
#include "collector/records/schema.h"
#include "collector/sources/log_life.h"
#include "fmt/format.h"

namespace crema {
namespace {

namespace fs = std::filesystem;

/// A scheduler that had more than this to tell is still telling what happened before.
constexpr size_t kBacklogBytes = 4 << 20;

bool EndsWith(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

bool IsLog(std::string_view path) { return EndsWith(path, kRecordLogSuffix) || EndsWith(path, ".ndjson"); }

bool IsCompressedLog(std::string_view path) {
  const std::string_view name = NameBeforeCompression(path);
  return name != path && IsLog(name);
}

std::string Schemes() {
  std::vector<std::string_view> schemes;
  for (const Engine* engine : Engines()) {
    if (!engine->scheme.empty()) schemes.push_back(engine->scheme);
  }
  return fmt::format("{}", fmt::join(schemes, " or "));
}

/// What a log of an engine goes to.
struct EngineTaker {
  EngineTaker(const Engine& engine, const std::string& source, RecordParser* parser, LiveModel* model)
      : run(engine, parser, model), feed(engine.make_feed(source, &run)) {}
  EngineRun run;
  std::unique_ptr<EngineFeed> feed;
};

}  // namespace

/// One file, and what its lines go to: one of the feeds.
struct LiveSources::Log {
  explicit Log(const std::string& path) : tail(path) {}
  FileTail tail;
  std::unique_ptr<RecordFeed> records;
  std::unique_ptr<TreeFeed> tree;
  std::unique_ptr<EngineTaker> engine;
  bool is_held = true;  ///< seen before the reading of this round: what is not read by its end is never written
  bool has_problem = false;
};

/// An address, and what it tells goes to.
struct LiveSources::Followed {
  Followed(const Engine& engine, const std::string& address, RecordParser* parser, LiveModel* model)
      : follower(engine.follow(address)), taker(engine, address, parser, model) {}
  std::unique_ptr<EngineFollower> follower;
  EngineTaker taker;
};

LiveSources::LiveSources(const std::vector<std::string>& sources, LiveModel* model) : model_(model), sources_(sources) {
  for (size_t i = 0; i < sources_.size(); ++i) {
    states_.push_back({sources_[i], true, ""});
    const Engine* engine = EngineOfAddress(sources_[i]);
    if (engine == nullptr) continue;
    followed_[i] = std::make_unique<Followed>(*engine, sources_[i], &parser_, model_);
  }
}

LiveSources::~LiveSources() = default;

absl::Status LiveSources::Check(const std::vector<std::string>& sources) {
  for (const std::string& source : sources) {
    if (EngineOfAddress(source) != nullptr) continue;
    std::error_code error;
    const fs::file_status status = fs::status(source, error);
    if (!fs::exists(status)) {
      return absl::NotFoundError(
          fmt::format("{}: no such directory; make it, or start the job that writes its logs there", source));
    }
    if (fs::is_regular_file(status) && IsCompressedLog(source)) {
      return absl::InvalidArgumentError(
          fmt::format("{}: compressed logs are not followed; `crema collect` reads them", source));
    }
    if (fs::is_directory(status) || (fs::is_regular_file(status) && (IsLog(source) || FindEngineLog(source)))) continue;
    return absl::InvalidArgumentError(
        fmt::format("{}: is no directory of record logs, no log (*{}, *.ndjson) and no {} address", source,
                    kRecordLogSuffix, Schemes()));
  }
  return absl::OkStatus();
}

void LiveSources::NoteProblem(SourceState& state, bool is_there, const std::string& problem) {
  if (is_there != state.is_there) {
    model_->Note(is_there ? EventKind::kGood : EventKind::kWarning,
                 is_there ? fmt::format("{} is back", state.name) : problem);
  }
  state.is_there = is_there;
  state.problem = problem;
}

void LiveSources::AddLog(std::unique_ptr<Log> log) {
  log_index_.emplace(log->tail.path(), logs_.size());
  logs_.push_back(std::move(log));
}

void LiveSources::OpenLog(const std::string& path) {
  if (log_index_.count(path) > 0) return;
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return;  // a FIFO would be waited for
  auto log = std::make_unique<Log>(path);
  if (EndsWith(path, kTreeLogSuffix)) {
    log->tree = std::make_unique<TreeFeed>(model_);
  } else {
    log->records = std::make_unique<RecordFeed>(&parser_, model_);
  }
  AddLog(std::move(log));
}

void LiveSources::OpenEngineLog(const EngineLog& found) {
  if (log_index_.count(found.path) > 0) return;
  auto log = std::make_unique<Log>(found.path);
  log->engine = std::make_unique<EngineTaker>(*found.engine, found.path, &parser_, model_);
  AddLog(std::move(log));
}

void LiveSources::LookInto(size_t source) {
  const std::string& path = sources_[source];
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) return NoteProblem(states_[source], false, fmt::format("{} has vanished", path));
  NoteProblem(states_[source], true, "");
  const std::optional<EngineLog> log = FindEngineLog(path);
  if (log.has_value() && log->engine->make_feed != nullptr) {
    OpenEngineLog(*log);
  } else if (log.has_value()) {
    states_[source].problem =
        fmt::format("{}: a log of {} can be collected, not followed", path, log->engine->traits.name);
  }
  if (!fs::is_directory(status)) {
    if (EndsWith(path, kRecordLogSuffix) || EndsWith(path, kTreeLogSuffix)) return OpenLog(path);
    if (!log.has_value()) states_[source].problem = fmt::format("{}: it holds no log yet that crema knows", path);
    return;
  }
  for (const fs::path& directory : {fs::path(path), fs::path(path) / "records"}) {
    std::vector<std::string> found;
    bool has_compressed = false;
    fs::directory_iterator entries(directory, error);
    for (; !error && entries != fs::directory_iterator(); entries.increment(error)) {
      std::string name = entries->path().lexically_normal().string();
      // what a scheduler told stands in an engine's log beside the records; those are read as they are
      has_compressed = has_compressed || IsCompressedLog(name);
      if (EndsWith(name, kTreeLogSuffix) || EndsWith(name, kRecordLogSuffix)) found.push_back(std::move(name));
    }
    if (has_compressed && states_[source].problem.empty()) {
      states_[source].problem =
          fmt::format("{}: compressed logs in it are not followed; `crema collect` reads them", directory.string());
    }
    std::sort(found.begin(), found.end());
    // trees first: they know when the run began
    std::stable_partition(found.begin(), found.end(),
                          [](const std::string& name) { return EndsWith(name, kTreeLogSuffix); });
    for (const std::string& name : found) OpenLog(name);
  }
}

void LiveSources::TakeNews(size_t source, Followed& followed) {
  const EngineNews news = followed.follower->Take();
  size_t bytes = 0;
  for (const std::string& page : news.pages) {
    followed.taker.feed->Add(page);
    bytes += page.size();
  }
  if (bytes < kBacklogBytes) followed.taker.feed->Tick();
  NoteProblem(states_[source], news.answers || news.problem.empty(), news.problem);
}

void LiveSources::Look() {
  for (size_t i = 0; i < sources_.size(); ++i) {
    if (const auto followed = followed_.find(i); followed != followed_.end()) {
      TakeNews(i, *followed->second);
    } else {
      LookInto(i);
    }
  }
  for (const auto& log : logs_) {
    if (log->is_held) log->is_held = MayLackItsEnd(log->tail.path());
  }
  if (round_is_over_)
    next_log_ = 0;  // else it goes on where it was: a log that grows fast does not keep others waiting
  round_is_over_ = false;
}

// A worker may have several logs; it lives as long as one of them is held, and was read when all were.
void LiveSources::SetLives() {
  struct Life {
    bool has_original = false;
    bool is_held = false;
    bool is_copy_held = false;
  };
  std::map<LiveModel::WorkerId, Life> lives;
  for (const auto& log : logs_) {
    if (log->tree != nullptr) log->tree->SetLife(log->is_held);
    if (log->engine != nullptr) log->engine->feed->Tick();
    if (log->records == nullptr || !log->records->worker().has_value()) continue;
    Life& life = lives[*log->records->worker()];
    const bool is_copy = IsLiveCopy(log->tail.path());
    life.has_original = life.has_original || !is_copy;
    (is_copy ? life.is_copy_held : life.is_held) |= log->is_held;
  }
  // A copy that was made while the log grew counts only where the log itself is not there.
  for (const auto& [worker, life] : lives) {
    model_->SetLife(worker, life.is_held || (!life.has_original && life.is_copy_held));
  }
}

bool LiveSources::ReadLog(Log& log, size_t most) {
  const absl::StatusOr<bool> more = log.tail.Read(most, [&](std::string_view bytes) {
    if (log.records != nullptr) log.records->Add(bytes);
    if (log.tree != nullptr) log.tree->Add(bytes);
    if (log.engine != nullptr) log.engine->feed->Add(bytes);
  });
  if (more.ok()) {
    log.has_problem = false;
    return *more;
  }
  if (absl::IsOutOfRange(more.status()) && log.records != nullptr) log.records->Restart();
  // once, not every second; that a whole directory is gone is said of the source
  if (!log.has_problem && !absl::IsNotFound(more.status())) {
    model_->Note(EventKind::kWarning, std::string(more.status().message()));
  }
  log.has_problem = true;
  return false;
}

bool LiveSources::ReadSome(size_t most) {
  while (next_log_ < logs_.size()) {
    Log& log = *logs_[next_log_];
    const int64_t before = log.tail.offset();
    const bool more = ReadLog(log, most);
    const auto read = static_cast<size_t>(std::max<int64_t>(0, log.tail.offset() - before));
    if (!more) ++next_log_;
    if (next_log_ < logs_.size() && (more || read >= most)) return true;
    most -= std::min(most, read);
  }
  round_is_over_ = true;
  SetLives();  // who wrote was asked before the round: what is not read by now is never written
  return false;
}

}  // namespace crema

#include "collector/server/live_sources.h"

#include <sys/stat.h>

#include <cerrno>
#include <system_error>

#include "collector/compression/decompressed_file.h"
#include "collector/idioms/file_system.h"
#include "collector/idioms/text.h"
#include "collector/sources/process_tree/tree_log.h"

namespace crema {
namespace {

// Small enough to be parsed out of the processor's cache.
constexpr size_t kBlockBytes = size_t{256} << 10;

absl::Status ReadFailure(const std::string& path) {
  return absl::ErrnoToStatus(errno, fmt::format("{}: cannot be read", path));
}

namespace fs = std::filesystem;

/// A scheduler that sent more than this at once is still reporting what happened before.
constexpr size_t kBacklogBytes = 4 << 20;

bool IsLog(std::string_view path) { return EndsWith(path, kRecordLogSuffix) || EndsWith(path, ".ndjson"); }

bool IsCompressedLog(std::string_view path) {
  const std::string_view name = NameBeforeCompression(path);
  return name != path && IsLog(name);
}

/// Whether it can be read, and may get logs.
absl::Status CheckDirectory(const std::string& source) {
  if (access(source.c_str(), R_OK | X_OK) != 0) return absl::ErrnoToStatus(errno, source);
  bool is_measured = false;
  for (const fs::path& entry : EntriesOf(source)) {
    std::error_code error;
    if (IsLog(entry.string()) || fs::is_directory(entry, error)) return absl::OkStatus();
    is_measured |= entry.filename() == "measurement.json";
  }
  if (!is_measured) return absl::OkStatus();
  return absl::InvalidArgumentError(source + ": is a measurement without its records; `crema show` prints it");
}

/// What a log of an engine goes to.
struct EngineTaker {
  EngineTaker(const Engine& engine, const std::string& source, RecordParser* parser, LiveModel* model)
      : run(engine, parser, model), feed(engine.make_feed(source, &run)) {}
  EngineRun run;
  std::unique_ptr<EngineFeed> feed;
};

}  // namespace

absl::StatusOr<bool> FileTail::Read(size_t most, const std::function<void(std::string_view)>& on_bytes) {
  struct stat status;
  if (stat(path_.c_str(), &status) != 0) return ReadFailure(path_);
  const bool is_other = offset_ > 0 && (status.st_ino != inode_ || status.st_dev != device_);
  device_ = status.st_dev;
  inode_ = status.st_ino;
  if (is_other || status.st_size < offset_) {
    offset_ = 0;
    return absl::OutOfRangeError(
        fmt::format("{} {}; it is read from its beginning", path_, is_other ? "was replaced" : "became shorter"));
  }
  if (status.st_size == offset_) return false;
  if (!S_ISREG(status.st_mode)) return false;  // a FIFO would be waited for
  // not kept: there may be more logs than descriptors
  const std::unique_ptr<FILE, int (*)(FILE*)> file(fopen(path_.c_str(), "re"), fclose);
  if (file == nullptr) return ReadFailure(path_);
  const std::unique_ptr<char[]> block(new char[kBlockBytes + RecordParser::kPadding]);
  size_t read = 0;
  while (read < most) {
    const ssize_t got = pread(fileno(file.get()), block.get(), kBlockBytes, offset_);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return ReadFailure(path_);
    if (got == 0) return false;
    offset_ += got;
    read += static_cast<size_t>(got);
    on_bytes({block.get(), static_cast<size_t>(got)});
  }
  return true;
}

void TreeFeed::Add(std::string_view bytes) {
  lines_.Add(
      bytes, [this](std::string_view line) { AddLine(line); }, [this] { model_->CountFault(false); });
}

void TreeFeed::SetLife(bool running) {
  if (!running_.has_value() || running_ == running) return;
  running_ = model_->mutable_command()->running = running;
  if (!running) model_->SetGpus(host_, {});
}

void TreeFeed::AddLine(std::string_view text) {
  const absl::StatusOr<TreeLine> line = ParseTreeLine(std::string(text));
  if (!line.ok()) return model_->CountFault(false);
  if (const auto* run = std::get_if<TreeRunFact>(&*line)) {
    running_ = true;
    host_ = run->host;
    *model_->mutable_command() = {true, true, fmt::format("{}", fmt::join(run->command, " ")), run->start_ns, {}, {}};
  } else if (const auto* sample = std::get_if<TreeSampleFact>(&*line)) {
    for (const TreeProcessFact& row : sample->process_rows) {
      model_->AddMemory(host_, row.pid, sample->time_ns, row.rss_bytes, row.counts);
    }
    model_->SetGpus(host_, sample->gpus);
  } else if (const auto* reaped = std::get_if<TreeReapFact>(&*line)) {
    model_->AddExit(host_, *reaped);
  } else if (const auto* end = std::get_if<TreeEndFact>(&*line)) {
    LiveCommand& command = *model_->mutable_command();
    running_ = command.running = false;
    model_->SetGpus(host_, {});
    command.stop_ns = end->time_ns;
    command.exit_status = end->exit_status;
  }
}

void RecordFeed::Add(std::string_view bytes) {
  if (is_left_out_) return;
  lines_.Add(
      bytes, [this](std::string_view line) { AddLine(line); }, [this] { model_->CountFault(false); });
}

void RecordFeed::AddLine(std::string_view line) {
  if (is_left_out_) return;
  switch (parser_->Parse(line)) {
    case ParseOutcome::kRecord:
      break;
    case ParseOutcome::kUnknownType:
      return model_->CountFault(true);
    case ParseOutcome::kOtherSchema:
      is_left_out_ = true;
      return model_->CountFault(false);
    case ParseOutcome::kTorn:
    case ParseOutcome::kMalformed:
      return model_->CountFault(false);
  }
  const Record& record = parser_->record();
  if (record.type == RecordType::kProcess) {
    const LiveLog* const before = std::exchange(log_, model_->AddProcess(record.process));
    // Logs put together: the process above is over, with or without an end.
    const bool is_another = before != nullptr && (log_ == nullptr || before->worker != log_->worker);
    if (is_another) model_->SetLife(before->worker, false);
    is_left_out_ = log_ == nullptr;
  } else if (log_ != nullptr) {
    model_->Add(*log_, record);
  } else {
    model_->CountFault(false);  // its process line could not be read: nobody knows whose it is
  }
}

void EngineRun::SetVersion(const std::string& version) {
  const std::string name(engine_->traits.name);
  model_->SetEngine(version.empty() ? name : name + " " + version);
}

void EngineRun::SetLives(const std::function<bool(const std::string& host, int64_t pid)>& is_there) {
  for (const auto& [name, log] : logs_) {
    if (log.log() == nullptr) continue;
    const LiveWorker& worker = model_->workers()[log.log()->worker];
    model_->SetLife(log.log()->worker, is_there(worker.host, worker.pid));
  }
}

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

/// An address, and where its reports go.
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
    if (const Engine* engine = EngineOfAddress(source)) {
      if (source.find("://", engine->scheme.size()) == source.npos) continue;
      return absl::InvalidArgumentError(fmt::format("{}: write {}HOST:PORT", source, engine->scheme));
    }
    std::error_code error;
    const fs::file_status status = fs::status(source, error);
    if (!fs::exists(status)) {
      return absl::NotFoundError(
          fmt::format("{}: no such directory{}; make it, or start the job that writes its logs there", source,
                      DidYouMeanSource(source)));
    }
    if (fs::is_regular_file(status) && IsCompressedLog(source)) {
      return absl::InvalidArgumentError(
          fmt::format("{}: compressed logs are not followed; `crema collect` reads them", source));
    }
    if (fs::is_directory(status)) {
      if (absl::Status checked = CheckDirectory(source); !checked.ok()) return checked;
      continue;
    }
    if (fs::is_regular_file(status) && (IsLog(source) || FindEngineLog(source))) continue;
    return absl::InvalidArgumentError(
        fmt::format("{}: is not a directory of record logs, a log (*{}, *.ndjson) or a {} address", source,
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

LiveSources::Log& LiveSources::AddLog(const std::string& path) {
  log_paths_.insert(path);
  return *logs_.emplace_back(std::make_unique<Log>(path));
}

void LiveSources::OpenLog(const std::string& path) {
  if (log_paths_.count(path) > 0) return;
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return;  // a FIFO would be waited for
  Log& log = AddLog(path);
  if (EndsWith(path, kTreeLogSuffix)) {
    log.tree = std::make_unique<TreeFeed>(model_);
  } else {
    log.records = std::make_unique<RecordFeed>(&parser_, model_);
  }
}

void LiveSources::OpenEngineLog(const EngineLog& found) {
  if (log_paths_.count(found.path) > 0) return;
  AddLog(found.path).engine = std::make_unique<EngineTaker>(*found.engine, found.path, &parser_, model_);
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
      // what a scheduler reported is in an engine's log beside the records; those are read as they are
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

void LiveSources::PollFollower(size_t source, Followed& followed) {
  const FollowResult news = followed.follower->Poll();
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
      PollFollower(i, *followed->second);
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
    if (log->records == nullptr || log->records->log() == nullptr) continue;
    Life& life = lives[log->records->log()->worker];
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

#include "collector/server/live_model.h"

#include "collector/diagnosis/words.h"
#include "collector/format/human_numbers.h"
#include "collector/idioms/text.h"
#include "collector/idioms/units.h"
#include "collector/metrics/attempts/stragglers.h"

namespace crema {
namespace {

/// `ttbar_046.root · 3000 to 6000`, or the chunk's number.
std::string ChunkName(int64_t number, const ChunkInput& input) {
  if (input.file.empty()) return fmt::format("chunk {}", number);
  std::string name = ShortName(LastPart(input.file));
  if (input.entry_start.has_value() && input.entry_stop.has_value()) {
    name += fmt::format(" · {} to {}", *input.entry_start, *input.entry_stop);
  }
  return name;
}

std::string FirstLine(std::string_view text) { return CutText(text.substr(0, text.find('\n')), 160); }

// A log that is followed is read once a second: what it brings ended a moment ago, whatever its host's clock says.
constexpr double kLatestSeconds = 5;

/// Cuts the seconds before `stop` into equal parts of a second or less, or into as many as are worth the time, and
/// calls `take(time, share)` with the middle of each and its share of all.
template <class Take>
void Spread(double stop, double seconds, const Take& take) {
  constexpr double kMostParts = 3600;
  const double parts = std::clamp(std::ceil(seconds), 1.0, kMostParts);
  for (double part = 0.5; part < parts; ++part) take(stop - seconds * (1 - part / parts), 1 / parts);
}

int64_t WholeSecond(double time) { return static_cast<int64_t>(std::floor(time)); }

constexpr int64_t kBefore = 200;

std::string MemoryText(const LiveWorker& worker, const std::optional<double>& left) {
  const std::string sizes =
      fmt::format("{} of {}", HumanMemory(worker.rss_bytes), HumanMemory(*worker.memory_limit_bytes));
  if (!left.has_value()) return fmt::format("{} memory grew, now {}", worker.worker(), sizes);
  return fmt::format("{} memory grows: {}, the limit is reached in about {}", worker.worker(), sizes,
                     HumanDuration(std::round(*left)));
}

std::string SlowText(const LiveWorker& worker, double factor) {
  return fmt::format("{} takes {} times as long as chunks of the same size do", worker.worker(), HumanFactor(factor));
}

}  // namespace

RunSecond& RunSecond::operator+=(const RunSecond& other) {
  for (const auto part : {&RunSecond::events, &RunSecond::bytes, &RunSecond::compute_ns, &RunSecond::waiting_ns,
                          &RunSecond::joined_ns, &RunSecond::failed_ns, &RunSecond::task_ns, &RunSecond::chunk_ns,
                          &RunSecond::occupied_ns, &RunSecond::core_ns}) {
    this->*part += other.*part;
  }
  return *this;
}

LiveModel::LiveModel(LiveOptions options) : options_(std::move(options)) {
  if (!options_.run.empty() && options_.run != "all") {
    run_id_ = options_.run;
    has_run_id_ = true;
  }
}

uint32_t LiveModel::Dataset(std::string_view name) {
  std::string text(name.empty() ? kNoName : name);
  const auto found = dataset_index_.find(text);
  if (found != dataset_index_.end()) return found->second;
  if (datasets_.size() + 1 >= kMostDatasets && text != kOtherName) return Dataset(kOtherName);
  const auto index = static_cast<uint32_t>(datasets_.size());
  datasets_.emplace_back().name = text;
  dataset_index_.emplace(std::move(text), index);
  return index;
}

uint32_t LiveModel::DatasetOf(std::string_view name) const {
  const auto found = dataset_index_.find(std::string(name.empty() ? kNoName : name));
  return found != dataset_index_.end() ? found->second : dataset_index_.at(std::string(kOtherName));
}

void LiveModel::Add(LiveLog& log, const Record& record) {
  if (record.type == RecordType::kEnd && std::exchange(log.has_end, true)) return;
  const bool recorded = workers_[log.worker].has_recorded();
  if (!log.attempts->Add(record)) return;
  ++totals_.records;
  LiveWorker& worker = workers_[log.worker];
  const auto saw_alive = [&worker](int64_t time_ns) { worker.last_ns = std::max(worker.last_ns, time_ns); };
  switch (record.type) {
    case RecordType::kBegin:
      Dataset(record.begin.input.dataset);
      worker.AddLane(record.begin);
      // An event that no thread holds waits for one most of the time.
      if (!record.begin.is_detached) worker.most_open = std::max(worker.most_open, worker.open_chunks());
      saw_alive(record.begin.time_ns);
      break;
    case RecordType::kSums:
      if (const std::optional<SumsFact> added = log.sums.Increment(record.sums)) AddSums(worker, *added);
      break;
    case RecordType::kTask:
      saw_alive(record.task.stop_ns);
      if (record.task.outcome == "executing") break;  // its end has all of it
      AddTaskTime(worker, record.task);
      break;
    case RecordType::kSample:
      saw_alive(record.sample.time_ns);
      if (record.sample.memory_limit_bytes.has_value()) worker.memory_limit_bytes = record.sample.memory_limit_bytes;
      if (record.sample.rss_bytes.has_value()) {
        AddMemoryPoint(worker, record.sample.time_ns, *record.sample.rss_bytes, record.sample.counts);
      }
      break;
    case RecordType::kEnd:
      saw_alive(record.end.time_ns);
      worker.state = ProcessState::kEnded;
      worker.counts.Raise(record.end.counts);
      totals_.dropped += record.end.dropped.value_or(0);
      if (record.end.open == 0) log.attempts->Finish();  // all that has begun has ended
      break;
    default:
      break;
  }
  if (!recorded && worker.has_recorded()) joined_.push_back(log.worker);
}

void LiveModel::AddAttempt(LiveLog& log, const Attempt& attempt) {
  LiveWorker& worker = workers_[log.worker];
  const ChunkFact& chunk = attempt.chunk;
  const uint32_t dataset_index = Dataset(chunk.input.dataset);
  LiveSums& dataset = datasets_[dataset_index].sums;
  const uint64_t identity =
      ChunkIdentity(InputIdentity(log.run_hash, chunk.input), chunk.input, log.hash, chunk.number);
  SummedAttempts one;
  one.row = RowOf(chunk);
  one.row.status = attempt.state;
  one.stop_ns = chunk.stop_ns;
  one.chunks = 1;
  if (const std::optional<HelperTimes> helpers = HelpersOf(chunk)) {
    helpers_ = {*helpers};
    one.row.helpers = 0;
  }
  ++totals_.counts.num_attempts;
  totals_.counts.num_failed_attempts += attempt.state == AttemptState::kFailed;
  totals_.counts.num_lost_attempts += attempt.state == AttemptState::kLost;
  totals_.counts.num_unrecorded_attempts += attempt.state == AttemptState::kUnrecorded;
  if (attempt.has_ended()) {
    worker.last_ns = std::max(worker.last_ns, chunk.stop_ns);
    AddCost(chunk, worker);
    worker.counts.rss_peak_bytes = std::max(worker.counts.rss_peak_bytes, chunk.rss_stop_bytes);
    if (worker.rss_bytes == 0) worker.rss_bytes = chunk.rss_stop_bytes.value_or(0);
    if (attempt.state == AttemptState::kOk) one.row.is_result = CountResult(worker, chunk, identity);
    for (ByteSums* bytes : {&dataset.bytes, &worker.sums.bytes, &totals_.bytes}) {
      bytes->Add(chunk.bytes_read, chunk.bytes_uncompressed);
    }
    AddTimes(worker, dataset, one, chunk.bytes_read.value_or(0), 0);
  } else if (attempt.state == AttemptState::kLost) {
    one.stop_ns = std::max(chunk.start_ns, worker.last_ns);  // until then it lived
    if (!results_.contains(identity)) CountFailure(identity);
  }
  for (LiveSums* sums : {&dataset, &worker.sums}) sums->Add(one.row, helpers_);
  totals_.Add(one.row, helpers_);
  if (attempt.state == AttemptState::kFailed) NoteFailure(worker, chunk, identity);
  const int32_t lane = attempt.has_ended() ? worker.AddLane(chunk) : worker.LaneOf(chunk);
  if (lane < 0 || attempt.state == AttemptState::kUnrecorded) return;
  int waiting_percent = -1;
  if (one.row.cpu_ns >= 0 && one.row.duration_ns > 0) {
    const auto cpu = static_cast<double>(std::min(one.row.cpu_ns, one.row.duration_ns));
    waiting_percent = static_cast<int>(std::lround(100 * (1 - cpu / static_cast<double>(one.row.duration_ns))));
  }
  latest_chunks_.Add({0, log.worker, lane, dataset_index, attempt.state != AttemptState::kOk, waiting_percent,
                      chunk.start_ns, one.stop_ns});
}

template <class Fact>
void LiveModel::AddCost(const Fact& fact, LiveWorker& worker) {
  worker.lanes_peak = std::max(worker.lanes_peak, LanesPeakOf(fact).value_or(0));
  worker.most_open = std::max(worker.most_open, int64_t{1});
  worker.counts.rss_peak_bytes = std::max(worker.counts.rss_peak_bytes, fact.rss_peak_bytes);
}

void LiveModel::AddSums(LiveWorker& worker, const SumsFact& added) {
  LiveSums& dataset = datasets_[Dataset(added.input.dataset)].sums;
  worker.last_ns = std::max({worker.last_ns, added.last_stop_ns, added.time_ns});
  SummedAttempts summed = SummedOf(added);
  summed.row.helpers = 0;
  helpers_ = {HelpersOf(added)};
  AddCost(added, worker);
  totals_.counts.Add(summed);
  totals_.chunks_exact = totals_.chunks_exact && added.failed;  // whether one of them repeats another is not known
  totals_.Add(summed, helpers_);
  totals_.bytes.Add(BytesOf(added));
  for (LiveSums* sums : {&dataset, &worker.sums}) {
    sums->Add(summed, helpers_);
    sums->bytes.Add(BytesOf(added));
  }
  AddTimes(worker, dataset, summed, added.bytes_read.value_or(0),
           std::max<int64_t>(0, summed.stop_ns - summed.row.start_ns) / 1e9);
}

bool LiveModel::CountResult(const LiveWorker& worker, const ChunkFact& chunk, uint64_t identity) {
  if (results_.size() >= kMostChunks) {
    totals_.chunks_exact = false;
  } else if (!results_.insert(identity).second) {  // results count once, cost counts always
    totals_.counts.num_recomputed_chunks += results_.insert(~identity).second;
    return false;
  }
  ++totals_.counts.num_chunks;
  if (const auto failure = failures_.find(identity); failure != failures_.end()) {
    ++totals_.recovered;
    NoteAt(chunk.stop_ns, EventKind::kGood,
           fmt::format("{} succeeded on {} (attempt {})", ChunkName(chunk.number, chunk.input), worker.worker(),
                       failure->second + 1));
    failures_.erase(failure);
  }
  return true;
}

void LiveModel::NoteFailure(const LiveWorker& worker, const ChunkFact& chunk, uint64_t identity) {
  CountFailure(identity);
  const std::string error = FirstLine(chunk.error);
  NoteAt(chunk.stop_ns, EventKind::kBad,
         fmt::format("{} failed on {}{}{}", ChunkName(chunk.number, chunk.input), worker.worker(),
                     error.empty() ? "" : ": ", error));
}

void LiveModel::CountFailure(uint64_t identity) {
  if (failures_.size() < kMostFailures || failures_.contains(identity)) ++failures_[identity];
}

LiveLog* LiveModel::AddProcess(const ProcessFact& process) {
  const std::string run_id = std::string(process.run_id);
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
    return nullptr;
  }
  const WorkerId id = WorkerOf(process);
  LiveWorker& worker = workers_[id];
  worker.Take(process);
  if (const auto known = scheduler_workers_.find({worker.host, worker.pid}); known != scheduler_workers_.end()) {
    TakeScheduler(known->second, worker);
  }
  if (process.total_events.has_value()) announced_events_ = process.total_events;
  first_start_ns_ = std::min(first_start_ns_.value_or(process.start_ns), process.start_ns);
  const int64_t recorder = process.recorder.value_or(0);
  for (const auto& log : worker.logs) {
    if (log->recorder == recorder) return log.get();
  }
  LiveLog* const log = worker.logs.emplace_back(std::make_unique<LiveLog>()).get();
  log->worker = id;
  log->recorder = recorder;
  log->run_hash = HashOf(process.run_id);
  log->hash = HashOfLog(HashOfProcess(process), recorder);
  log->attempts = std::make_unique<AttemptAssembler>(
      /*running=*/false, [this, log](const Attempt& attempt) { AddAttempt(*log, attempt); });
  return log;
}

LiveModel::WorkerId LiveModel::WorkerOf(const ProcessFact& process) {
  const std::string key = fmt::format("{}\n{}\n{}", process.host, process.pid, process.start_ns);
  for (const WorkerId id : worker_index_[key]) {
    LiveWorker& worker = workers_[id];
    if (!MayBeOneProcess(worker, process)) continue;
    if (worker.boot_id.empty()) worker.boot_id = std::string(process.boot_id);
    if (!worker.pid_namespace.has_value()) worker.pid_namespace = process.pid_namespace;
    return id;
  }
  const auto id = static_cast<WorkerId>(workers_.size());
  LiveWorker& worker = workers_.emplace_back();
  if (id >= kMostWorkers) worker.BecomeOther();
  if (id == kMostWorkers) {
    Note(EventKind::kWarning,
         fmt::format("more than {} processes: the others have no rows of their own here", kMostWorkers));
  }
  worker.Identify(process);
  worker.state = ProcessState::kRunning;
  worker.last_ns = process.start_ns;
  worker_index_[key].push_back(id);
  workers_of_pid_[{worker.host, worker.pid}].push_back(id);
  return id;
}

void LiveModel::TakeScheduler(const ClusterWorkerFact& known, LiveWorker& worker) {
  worker.is_engine_worker = true;
  worker.engine_worker = known.address;
  if (known.threads > 0) worker.declared_threads = known.threads;
  if (known.memory_limit_bytes.has_value()) worker.memory_limit_bytes = known.memory_limit_bytes;
}

void LiveModel::AddSchedulerWorker(const ClusterWorkerFact& worker) {
  const std::pair<std::string, int64_t> process = {worker.hostname, worker.pid.value_or(0)};
  scheduler_workers_[process] = worker;
  const auto known = workers_of_pid_.find(process);
  if (known == workers_of_pid_.end()) return;
  for (const WorkerId id : known->second) TakeScheduler(worker, workers_[id]);
}

void LiveModel::AddMemory(const std::string& host, int64_t pid, int64_t time_ns, int64_t rss_bytes,
                          const ProcessCounts& counts) {
  const auto known = workers_of_pid_.find({host, pid});
  if (known == workers_of_pid_.end()) return;
  for (const WorkerId id : known->second) {
    LiveWorker& worker = workers_[id];
    AddMemoryPoint(worker, time_ns, rss_bytes, counts);
    worker.last_ns = std::max(worker.last_ns, time_ns);
  }
}

void LiveModel::AddMemoryPoint(LiveWorker& worker, int64_t time_ns, int64_t rss_bytes, const ProcessCounts& counts) {
  worker.counts.Raise(counts);
  worker.counts.rss_peak_bytes = std::max(worker.counts.rss_peak_bytes, std::optional<int64_t>(rss_bytes));
  if (!worker.memory.empty() && time_ns <= worker.memory.back().time_ns) {
    if (time_ns >= worker.memory.front().time_ns) return;  // its log is read again
    worker.memory.clear();                                 // its clock was set back
  }
  worker.rss_bytes = rss_bytes;
  if (worker.is_other()) return;
  // Pages of a mapped file come and go: what is allocated reaches the limit.
  worker.memory.push_back({time_ns, counts.anonymous_bytes.value_or(rss_bytes)});
  while (worker.memory.size() > kMemorySpanNs / 1'000'000'000 ||
         time_ns - worker.memory.front().time_ns > kMemorySpanNs) {
    worker.memory.erase(worker.memory.begin());
  }
}

double LiveModel::SecondOf(const LiveWorker& worker, int64_t stop_ns) const {
  double second = (stop_ns - origin_ns_ - shift_ns_) / 1e9;
  const double now = (now_ns_ - origin_ns_ - shift_ns_) / 1e9;
  if (worker.is_following) second = std::max(second, now - kLatestSeconds);
  return std::min(second, now);
}

void LiveModel::AddTimes(LiveWorker& worker, const LiveSums& dataset, const SummedAttempts& ended, int64_t bytes,
                         double counted_seconds) {
  const AttemptRow& row = ended.row;
  const int64_t helpers_ns = row.helpers == AttemptRow::kNone ? 0 : helpers_[row.helpers].union_ns;
  worker.helped.Add(row, helpers_ns);
  const bool is_ok = row.status == AttemptState::kOk;
  const std::optional<OwnerTime> owner = is_ok ? SplitOwnerTime(row, helpers_ns) : std::nullopt;
  const double waiting = owner.has_value() ? static_cast<double>(owner->cpu_wait_ns + owner->blocked_ns) : 0;
  const auto duration = static_cast<double>(row.duration_ns);
  const auto events = static_cast<double>(row.is_result ? std::max<int64_t>(0, row.events) : 0);
  const double usual_events = dataset.events_so_far();
  const double expected = usual_events > 0 ? *dataset.duration_ns.In(usual_events) * events : 0;
  const double stop = SecondOf(worker, ended.stop_ns);
  const double series_start = (start_ns() - origin_ns_ - shift_ns_) / 1e9;
  Spread(stop, counted_seconds, [&](double time, double share) {
    series_.Add(time - series_start, events * share, static_cast<double>(bytes) * share);
    if (RunSecond* bin = recent_.Find(WholeSecond(time)); bin != nullptr) {
      bin->events += events * share;
      bin->bytes += static_cast<double>(bytes) * share;
    }
    WorkerSecond* bin = worker.SecondAt(WholeSecond(time));
    if (bin == nullptr || !is_ok) return;
    bin->chunks += static_cast<double>(ended.chunks) * share;
    bin->events += events * share;
    bin->busy_ns += duration * share;
    bin->waiting_ns += waiting * share;
    bin->expected_ns += expected * share;
    if (expected > 0) bin->judged_ns += duration * share;
  });
  Spread(stop, std::max<int64_t>(0, ended.stop_ns - row.start_ns) / 1e9, [&](double time, double share) {
    RunSecond* bin = recent_.Find(WholeSecond(time));
    if (bin == nullptr) return;
    bin->chunk_ns += duration * share;
    if (!is_ok) bin->failed_ns += duration * share;
    if (!owner.has_value()) return;
    bin->compute_ns += static_cast<double>(owner->cpu_ns) * share;
    bin->waiting_ns += waiting * share;
    bin->joined_ns += static_cast<double>(owner->joined_ns) * share;
  });
}

void LiveModel::AddTaskTime(const LiveWorker& worker, const TaskFact& task) {
  const double seconds = std::max<int64_t>(0, task.stop_ns - task.start_ns) / 1e9;
  Spread(SecondOf(worker, task.stop_ns), seconds, [&](double time, double share) {
    if (RunSecond* bin = recent_.Find(WholeSecond(time)); bin != nullptr) bin->task_ns += seconds * 1e9 * share;
  });
}

void LiveModel::Tick(int64_t now_ns, int64_t passed_ns) {
  if (now_ns_ == 0) {
    origin_ns_ = now_ns - kBefore * kSecondNs;
  } else if (const int64_t jump = now_ns - now_ns_ - passed_ns; std::abs(jump) > kLeastJumpNs) {
    shift_ns_ += jump;
    now_ns_ = now_ns;
    Note(EventKind::kWarning, fmt::format("this machine's clock was set {} by {}", jump > 0 ? "forward" : "back",
                                          HumanDuration(std::abs(static_cast<double>(jump)) / 1e9)));
  }
  now_ns_ = now_ns;
  second_ = (now_ns_ - origin_ns_ - shift_ns_) / kSecondNs;
  latest_chunks_.Forget(now_ns_);
  if (passed_ns > 0) {
    // a tick that came late stands for the seconds that it missed, as far as they are kept
    const auto open =
        SumOf<double>(workers_, [](const LiveWorker& worker) { return worker.is_at_work() ? worker.busy_cores() : 0; });
    if (RunSecond* bin = recent_.Find(second_); bin != nullptr) {
      bin->core_ns += live_cores() * static_cast<double>(passed_ns);
      bin->occupied_ns += open * static_cast<double>(passed_ns);
    }
  }
  quiet_seconds_ = totals_.records > records_at_tick_ ? 0 : quiet_seconds_ + passed_ns / 1e9;
  records_at_tick_ = totals_.records;
  NoteJoins();
  for (LiveWorker& worker : workers_) {
    worker.SecondAt(second_);
    if (worker.state != ProcessState::kRunning) continue;
    JudgeMemory(worker);
    JudgeSpeed(worker);
  }
  const ProcessState state = this->state();
  if (state != noted_state_ && state_is_noted_) {
    if (state == ProcessState::kEnded) NoteAt(stop_ns(), EventKind::kInfo, "the run has ended");
    if (state == ProcessState::kLost)
      NoteAt(stop_ns(), EventKind::kBad, "the run stopped without an end: it was killed, or its host is gone");
    if (state == ProcessState::kRunning) Note(EventKind::kInfo, "the run goes on");
  }
  noted_state_ = state;
  state_is_noted_ = !workers_.empty() || command_.known;
}

int64_t LiveModel::LoseOpenChunks(LiveWorker& worker) {
  const int64_t before = totals_.counts.num_lost_attempts;
  for (const auto& log : worker.logs) log->attempts->Finish();
  return totals_.counts.num_lost_attempts - before;
}

void LiveModel::AddExit(const std::string& host, const TreeReapFact& reaped) {
  const auto known = workers_of_pid_.find({host, reaped.pid});
  if (known == workers_of_pid_.end()) return;
  for (const WorkerId id : known->second) {
    LiveWorker& worker = workers_[id];
    if (reaped.time_ns < worker.last_ns) continue;  // another one, which had the number before
    worker.exit_status = reaped.exit_status;
    if (worker.state == ProcessState::kUnreported) JudgeExit(worker);
  }
}

void LiveModel::JudgeExit(LiveWorker& worker) {
  if (!worker.exit_status.has_value()) return;
  worker.state = *worker.exit_status == 0 ? ProcessState::kEnded : ProcessState::kLost;
  if (worker.state == ProcessState::kEnded || !worker.has_recorded()) return;
  NoteAt(worker.last_ns, EventKind::kBad,
         fmt::format("{} was lost: {}", worker.worker(), WhyOfExit(*worker.exit_status)));
}

void LiveModel::SetLife(WorkerId id, bool running) {
  LiveWorker& worker = workers_[id];
  worker.is_following = true;
  if (worker.state == ProcessState::kEnded || worker.state == ProcessState::kUnreported) {
    if (!running) LoseOpenChunks(worker);
    return;
  }
  if (running || worker.state == ProcessState::kLost) return;
  const int64_t lost = LoseOpenChunks(worker);
  worker.state = lost > 0 ? ProcessState::kLost : ProcessState::kUnreported;
  if (lost == 0 && worker.exit_status.has_value()) return JudgeExit(worker);
  if (!worker.has_recorded()) return;
  if (lost == 0) {
    NoteAt(worker.last_ns, EventKind::kInfo, worker.worker() + " ended without a report");
    return;
  }
  NoteAt(
      worker.last_ns, EventKind::kBad,
      fmt::format("{} vanished without an end, with {}", worker.worker(), Counted(lost, "open chunk", "open chunks")));
}

void LiveModel::NoteJoins() {
  std::string names;
  size_t count = 0;
  int64_t time_ns = 0;
  for (const WorkerId id : joined_) {
    const LiveWorker& worker = workers_[id];
    if (worker.state != ProcessState::kRunning) continue;  // read afterwards
    if (++count <= 3) names += (count == 1 ? "" : ", ") + worker.worker();
    time_ns = std::max(time_ns, worker.is_following ? now_ns_ : worker.start_ns);
  }
  joined_.clear();
  if (count == 0) return;
  if (count > 3) names += fmt::format(" and {} more", count - 3);
  NoteAt(time_ns, EventKind::kInfo,
         fmt::format("{} joined: {}", names, Counted(live_cores(), "core at work", "cores at work")));
}

std::optional<double> SecondsToLimit(const LiveWorker& worker) {
  return worker.memory_limit_bytes.has_value() ? SecondsToLimit(worker.memory, *worker.memory_limit_bytes)
                                               : std::nullopt;
}

void LiveModel::JudgeMemory(LiveWorker& worker) {
  const std::optional<double> left = SecondsToLimit(worker);
  if (!worker.memory_is_warned) {
    if (!left.has_value() || *left >= kSoonSeconds) return;
    worker.memory_is_warned = true;
    worker.memory_at_warning = worker.rss_bytes;
    worker.memory_event = Note(EventKind::kWarning, MemoryText(worker, left));
  } else if (worker.rss_bytes < worker.memory_at_warning / 2) {
    worker.memory_is_warned = false;  // it came back: what grows then is another story
  } else if (second_ % kUpdateSeconds == 0) {
    events_.Update(worker.memory_event, MemoryText(worker, left));
  }
}

void LiveModel::JudgeSpeed(LiveWorker& worker) {
  const WorkerSecond sum = worker.SumOf(second_ - 2 * kRecentSeconds, second_);
  if (sum.chunks < kLeastChunksOfMinute || sum.expected_ns <= 0) return;
  const double factor = sum.judged_ns / sum.expected_ns;
  const double slow = sum.chunks < kManyChunksOfMinute ? kSlowFactor : kSlowPeriodFactor;
  if (!worker.slow_is_warned && factor >= slow) {
    worker.slow_is_warned = true;
    worker.slow_since_ns = now_ns_;
    worker.slow_event = Note(EventKind::kWarning, SlowText(worker, factor));
  } else if (worker.slow_is_warned && factor <= kNormalFactor) {
    worker.slow_is_warned = false;
    Note(EventKind::kGood, fmt::format("{} is back to normal after {}", worker.worker(),
                                       HumanDuration(std::round((now_ns_ - worker.slow_since_ns) / 1e9))));
  } else if (worker.slow_is_warned && second_ % kUpdateSeconds == 0) {
    events_.Update(worker.slow_event, SlowText(worker, factor));
  }
}

ProcessState LiveModel::state() const {
  if (session_stop_ns_.has_value() || (command_.known && command_.stop_ns.has_value())) return ProcessState::kEnded;
  bool any_ended = false, any_lost = false;
  for (const LiveWorker& worker : workers_) {
    if (worker.state == ProcessState::kRunning) return ProcessState::kRunning;
    any_ended |= worker.state == ProcessState::kEnded;
    any_lost |= worker.state == ProcessState::kLost;
  }
  if (command_.known) return command_.running ? ProcessState::kRunning : ProcessState::kLost;
  if (workers_.empty()) return ProcessState::kRunning;
  // An engine may start a process for each task: between two of them none runs. Whether a manager lives is not always
  // known; that one process came to its end says that the others were not all killed with it.
  for (const auto& [address, scheduler] : schedulers_) {
    if (scheduler.is_at_work() || (any_ended && scheduler.has_tasks())) return ProcessState::kRunning;
  }
  if (any_ended) return ProcessState::kEnded;
  return any_lost ? ProcessState::kLost : ProcessState::kUnreported;
}

int64_t LiveModel::start_ns() const {
  if (command_.known) return command_.start_ns;
  if (session_start_ns_.has_value()) return *session_start_ns_;
  if (first_start_ns_.has_value()) return *first_start_ns_;
  int64_t since = now_ns_;  // of the run nothing is known: since when it is looked at
  for (const auto& [address, scheduler] : schedulers_) since = std::min(since, scheduler.since_ns());
  return since;
}

int64_t LiveModel::LifeEnd(const LiveWorker& worker) const {
  return worker.state == ProcessState::kRunning ? std::max(worker.last_ns, now_ns_) : worker.last_ns;
}

int64_t LiveModel::stop_ns() const {
  if (command_.known && command_.stop_ns.has_value()) return *command_.stop_ns;
  if (session_stop_ns_.has_value()) return *session_stop_ns_;
  int64_t stop = has_schedulers_only() ? now_ns_ : start_ns();
  for (const LiveWorker& worker : workers_) stop = std::max(stop, LifeEnd(worker));
  return stop;
}

double LiveModel::EventRateOf(const LiveWorker& worker, int64_t stop_ns) const {
  const double life = (stop_ns - worker.start_ns) / 1e9;
  return worker.SumOf(second_ - kRecentSeconds, second_ - 1).events / std::clamp(life, 1.0, double{kRecentSeconds});
}

double LiveModel::wall_seconds() const { return (stop_ns() - start_ns()) / 1e9; }

double LiveModel::core_seconds() const {
  const int64_t begin = start_ns();
  const int64_t end = stop_ns();
  double sum = 0;
  for (const LiveWorker& worker : workers_) {
    if (!worker.has_recorded()) continue;
    const int64_t life = std::min(LifeEnd(worker), end) - std::clamp(worker.start_ns, begin, std::max(begin, end));
    sum += worker.cores() * static_cast<double>(std::max<int64_t>(0, life)) / 1e9;
  }
  return sum;
}

double LiveModel::live_cores() const {
  return SumOf<double>(workers_, [](const LiveWorker& worker) { return worker.is_at_work() ? worker.cores() : 0; });
}

int64_t LiveModel::open_chunks() const { return SumOf<int64_t>(workers_, &LiveWorker::open_chunks); }

int64_t LiveModel::unrecorded() const {
  return totals_.counts.num_unrecorded_attempts + SumOf<int64_t>(workers_, &LiveWorker::unrecorded_chunks);
}

std::vector<int64_t> LiveModel::OpenByDataset() const {
  std::vector<int64_t> open(datasets_.size());
  for (const LiveWorker& worker : workers_) {
    worker.ForEachOpen([&](const LiveLog&, const BegunAttempt& begun) { ++open[DatasetOf(begun.dataset)]; });
  }
  return open;
}

std::optional<int64_t> LiveModel::total_events() const {
  if (options_.total_events.has_value()) return options_.total_events;
  const auto& of_datasets =
      options_.total_events_of_dataset.empty() ? planned_events_ : options_.total_events_of_dataset;
  if (of_datasets.empty()) return announced_events_;
  int64_t sum = 0;
  for (const auto& [name, events] : of_datasets) sum = SaturatingAdd(sum, events);
  return sum;
}

std::optional<int64_t> LiveModel::total_events_of(const std::string& dataset) const {
  for (const auto* totals : {&options_.total_events_of_dataset, &planned_events_}) {
    if (const auto total = totals->find(dataset); total != totals->end()) return total->second;
  }
  return std::nullopt;
}

}  // namespace crema

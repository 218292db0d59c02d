#include "collector/server/live_model.h"

#include "collector/appearance/human_numbers.h"
#include "collector/insight/words.h"
#include "collector/metrics/attempts/attempt_row.h"
#include "collector/metrics/attempts/stragglers.h"
#include "collector/metrics/statistics/known_sum.h"

namespace crema {
namespace {

template <class T>
std::string TextOf(T text) {
  return std::string(text.data(), text.size());
}

uint64_t IdentityOf(const LiveWorker& worker, int64_t number, const ChunkInput& input) {
  return ChunkIdentity(InputIdentity(HashOf(worker.run_id), input), input, HashOfProcess(worker), number);
}

/// `ttbar_046.root · 3000 to 6000`, or the chunk's number.
std::string ChunkName(int64_t number, const ChunkInput& input) {
  if (input.file.empty()) return fmt::format("chunk {}", number);
  const std::string_view file(input.file.data(), input.file.size());
  std::string name = ShortName(file.substr(file.rfind('/') + 1));
  if (input.entry_start.has_value() && input.entry_stop.has_value()) {
    name += fmt::format(" · {} to {}", *input.entry_start, *input.entry_stop);
  }
  return name;
}

uint64_t ThreadOf(std::optional<uint64_t> thread, std::optional<int64_t> tid) {
  return tid.has_value() ? static_cast<uint64_t>(*tid) : thread.value_or(0);
}

std::string FirstLine(std::string_view text) {
  constexpr size_t kMost = 160;
  std::string line(text.substr(0, text.find('\n')));
  if (line.size() <= kMost) return line;
  size_t end = kMost;
  while (end > 0 && (static_cast<unsigned char>(line[end]) & 0xC0) == 0x80) --end;
  return line.substr(0, end) + "…";
}

}  // namespace

RunSecond& RunSecond::operator+=(const RunSecond& other) {
  for (const auto count : {&RunSecond::events, &RunSecond::bytes, &RunSecond::failed}) this->*count += other.*count;
  for (const auto time : {&RunSecond::compute_ns, &RunSecond::waiting_ns, &RunSecond::joined_ns, &RunSecond::failed_ns,
                          &RunSecond::task_ns, &RunSecond::chunk_ns, &RunSecond::occupied_ns, &RunSecond::core_ns}) {
    this->*time += other.*time;
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
  std::string text = name.empty() ? "(none)" : TextOf(name);
  const auto found = dataset_index_.find(text);
  if (found != dataset_index_.end()) return found->second;
  if (datasets_.size() + 1 >= kMostDatasets && text != "(other)") return Dataset("(other)");
  const auto index = static_cast<uint32_t>(datasets_.size());
  datasets_.emplace_back();
  datasets_.back().name = text;
  dataset_index_.emplace(std::move(text), index);
  return index;
}

void LiveModel::Add(WorkerId id, const Record& record) {
  LiveWorker& worker = workers_[id];
  ++totals_.records;
  const bool recorded = worker.has_recorded();
  switch (record.type) {
    case RecordType::kBegin:
      AddBegin(worker, record.begin);
      break;
    case RecordType::kChunk:
      AddChunk(worker, record.chunk);
      break;
    case RecordType::kTask:
      AddTask(worker, record.task);
      break;
    case RecordType::kSample:
      AddSample(worker, record.sample);
      break;
    case RecordType::kEnd:
      worker.last_ns = std::max(worker.last_ns, record.end.time_ns);
      worker.state = LiveState::kEnded;
      worker.peak_rss_bytes = std::max(worker.peak_rss_bytes, record.end.counts.rss_peak_bytes.value_or(0));
      // Those that are neither recorded nor open ended without a record: the earliest.
      while (record.end.open.has_value() && static_cast<int64_t>(worker.open.size()) > *record.end.open) {
        const auto earliest =
            std::min_element(worker.open.begin(), worker.open.end(),
                             [](const auto& a, const auto& b) { return a.second.start_ns < b.second.start_ns; });
        LoseRecord(worker, earliest->first);
      }
      totals_.dropped += record.end.dropped.value_or(0);
      break;
    default:
      break;
  }
  if (!recorded && worker.has_recorded()) joined_.push_back(id);
}

void LiveModel::AddSums(WorkerId id, const std::optional<SumsFact>& added) {
  LiveWorker& worker = workers_[id];
  ++totals_.records;
  if (!added.has_value()) return;
  const bool recorded = worker.has_recorded();
  AddSums(worker, *added);
  if (!recorded && worker.has_recorded()) joined_.push_back(id);
}

template <class Fact>
void LiveModel::AddCost(const Fact& fact, int64_t attempts, int64_t duration_ns, int64_t helpers_cpu_ns,
                        LiveWorker& worker, LiveDataset& dataset) {
  worker.lanes_peak = std::max(worker.lanes_peak, LanesPeakOf(fact).value_or(0));
  worker.most_open = std::max(worker.most_open, int64_t{1});
  totals_.bytes_known |= fact.bytes_read.has_value();
  totals_.cpu_known |= fact.cpu_ns.has_value();
  LiveSums cost;
  cost.attempts = attempts;
  cost.busy_ns = duration_ns;
  cost.bytes_read = fact.bytes_read.value_or(0);
  if (fact.cpu_ns.has_value()) cost.cpu_ns = *fact.cpu_ns + std::max<int64_t>(0, helpers_cpu_ns);
  if (fact.failed) cost.failed = attempts;
  worker += cost;
  dataset += cost;
  totals_ += cost;
}

void LiveModel::AddSums(LiveWorker& worker, const SumsFact& added) {
  for (const int64_t number : added.begun) {
    const auto open = worker.open.find(number);
    if (open == worker.open.end()) continue;
    --datasets_[open->second.dataset].open;
    worker.open.erase(open);
  }
  LiveDataset& dataset = datasets_[Dataset({added.input.dataset.data(), added.input.dataset.size()})];
  worker.last_ns = std::max({worker.last_ns, added.last_stop_ns, added.time_ns});
  AddCost(added, added.chunks, added.duration_ns, HelpersOf(added).cpu_ns, worker, dataset);
  totals_.summed += added.chunks;
  if (added.failed) return AddTimes(worker, added, dataset);
  // Whether one of them repeats another is not known.
  LiveSums results;
  results.chunks = added.chunks;
  results.events = added.events.value_or(0);
  worker += results;
  dataset += results;
  totals_ += results;
  dataset.timed_events += results.events;
  totals_.chunks_exact = false;
  totals_.events_known |= added.events.has_value();
  AddTimes(worker, added, dataset);
}

void LiveModel::AddBegin(LiveWorker& worker, const BeginFact& begin) {
  const uint32_t dataset = Dataset({begin.input.dataset.data(), begin.input.dataset.size()});
  OpenChunk chunk;
  chunk.dataset = dataset;
  chunk.identity = IdentityOf(worker, begin.number, begin.input);
  chunk.start_ns = begin.time_ns;
  chunk.file = TextOf(begin.input.file);
  chunk.entry_start = begin.input.entry_start;
  chunk.entry_stop = begin.input.entry_stop;
  chunk.thread = ThreadOf(begin.thread, begin.tid);
  chunk.lane = worker.LaneOf(chunk.thread);
  worker.chunks_overlap = worker.chunks_overlap || begin.suspended > 0 || begin.inside.has_value();
  if (chunk.thread != 0 && worker.open.count(begin.number) == 0) {
    // A thread ends its chunk before it begins the next, unless it suspends it or begins the next inside.
    const auto [latest, is_first] = worker.open_of_thread.try_emplace(chunk.thread, begin.number);
    const int64_t before = std::exchange(latest->second, begin.number);
    if (!is_first && !worker.chunks_overlap) LoseRecord(worker, before);
  }
  if (!worker.open.emplace(begin.number, std::move(chunk)).second) return;
  ++datasets_[dataset].open;
  // An event that no thread holds waits for one most of the time.
  if (!begin.is_detached) worker.most_open = std::max(worker.most_open, static_cast<int64_t>(worker.open.size()));
  worker.last_ns = std::max(worker.last_ns, begin.time_ns);
}

void LiveModel::AddChunk(LiveWorker& worker, const ChunkFact& chunk) {
  if (const auto open = worker.open.find(chunk.number); open != worker.open.end()) {
    --datasets_[open->second.dataset].open;
    const auto latest = worker.open_of_thread.find(open->second.thread);
    if (latest != worker.open_of_thread.end() && latest->second == chunk.number) worker.open_of_thread.erase(latest);
    worker.open.erase(open);
  } else if (worker.unrecorded.erase(chunk.number) > 0) {  // it was late, not lost: another recorder of the process
    --totals_.unrecorded;
    --totals_.attempts;
  }
  LiveDataset& dataset = datasets_[Dataset({chunk.input.dataset.data(), chunk.input.dataset.size()})];
  worker.chunks_overlap = worker.chunks_overlap || chunk.suspended_ns > 0 || chunk.inner_ns > 0;
  const uint64_t identity = IdentityOf(worker, chunk.number, chunk.input);
  worker.last_ns = std::max(worker.last_ns, chunk.stop_ns);
  AddCost(chunk, 1, chunk.duration_ns(), HelpersOf(chunk).value_or(HelperTimes()).cpu_ns, worker, dataset);
  AddTimes(worker, chunk, dataset);
  AddToStream(worker, chunk, static_cast<uint32_t>(&dataset - datasets_.data()));
  if (chunk.failed) {
    NoteFailure(worker, chunk, identity);
  } else {
    ++worker.chunks;
    CountResult(worker, chunk, dataset, identity);
  }
  worker.peak_rss_bytes = std::max(worker.peak_rss_bytes, chunk.rss_peak_bytes.value_or(0));
  if (chunk.rss_stop_bytes.has_value()) {
    worker.peak_rss_bytes = std::max(worker.peak_rss_bytes, *chunk.rss_stop_bytes);
    if (worker.rss_bytes == 0) worker.rss_bytes = *chunk.rss_stop_bytes;
  }
}

void LiveModel::AddToStream(LiveWorker& worker, const ChunkFact& chunk, uint32_t dataset) {
  const int32_t lane = worker.LaneOf(ThreadOf(chunk.thread, chunk.tid));
  if (lane < 0) return;
  int waiting_percent = -1;
  if (chunk.cpu_ns.has_value() && chunk.duration_ns() > 0) {
    const double cpu = static_cast<double>(std::min(*chunk.cpu_ns, chunk.duration_ns()));
    waiting_percent = static_cast<int>(std::lround(100 * (1 - cpu / static_cast<double>(chunk.duration_ns()))));
  }
  const auto id = static_cast<uint32_t>(&worker - workers_.data());
  latest_chunks_.Add({0, id, lane, dataset, chunk.failed, waiting_percent, chunk.start_ns, chunk.stop_ns});
}

void LiveModel::CountResult(LiveWorker& worker, const ChunkFact& chunk, LiveDataset& dataset, uint64_t identity) {
  if (chunk.events.has_value()) totals_.events_known = true;
  if (results_.size() < kMostChunks) {
    if (!results_.insert(identity).second) {  // results count once, cost counts always
      ++totals_.recomputed;
      return;
    }
  } else {
    totals_.chunks_exact = false;
  }
  ++totals_.chunks;
  ++dataset.chunks;
  const int64_t events = chunk.events.value_or(0);
  totals_.events += events;
  dataset.events += events;
  dataset.timed_events += events;
  worker.events += events;
  if (const auto failure = failures_.find(identity); failure != failures_.end()) {
    ++totals_.recovered;
    NoteAt(chunk.stop_ns, EventKind::kGood,
           fmt::format("{} succeeded on {} (attempt {})", ChunkName(chunk.number, chunk.input), worker.name,
                       failure->second + 1));
    failures_.erase(failure);
  }
}

void LiveModel::NoteFailure(const LiveWorker& worker, const ChunkFact& chunk, uint64_t identity) {
  CountFailure(identity);
  const std::string error = FirstLine({chunk.error.data(), chunk.error.size()});
  NoteAt(chunk.stop_ns, EventKind::kBad,
         fmt::format("{} failed on {}{}{}", ChunkName(chunk.number, chunk.input), worker.name,
                     error.empty() ? "" : ": ", error));
}

void LiveModel::CountFailure(uint64_t identity) {
  if (failures_.size() < kMostFailures || failures_.contains(identity)) ++failures_[identity];
}

std::optional<LiveModel::WorkerId> LiveModel::AddProcess(const ProcessFact& process) {
  const std::string run_id = TextOf(process.run_id);
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
    return std::nullopt;
  }
  const std::string key = fmt::format("{}\n{}\n{}", TextOf(process.host), process.pid, process.start_ns);
  if (const auto known = worker_index_.find(key); known != worker_index_.end()) {
    for (const WorkerId id : known->second) {
      LiveWorker& worker = workers_[id];
      if (!MayBeOneProcess(worker, process)) continue;
      if (worker.boot_id.empty()) worker.boot_id = TextOf(process.boot_id);
      if (!worker.pid_namespace.has_value()) worker.pid_namespace = process.pid_namespace;
      return id;
    }
  }
  LiveWorker worker;
  if (workers_.size() >= kMostWorkers) {
    worker.BecomeOther();
    if (workers_.size() == kMostWorkers) {
      Note(EventKind::kWarning,
           fmt::format("more than {} processes: the others have no rows of their own here", kMostWorkers));
    }
  }
  worker.Identify(process);
  worker.name = fmt::format("{}:{}", worker.host, worker.pid);
  worker.last_ns = process.start_ns;
  worker.declared_cores = process.threads;
  worker.allowed_cores = process.cores;
  worker.memory_limit_bytes = process.memory_limit_bytes;
  if (const auto known = scheduler_workers_.find({worker.host, worker.pid}); known != scheduler_workers_.end()) {
    worker.name = known->second.name;
    worker.scheduler_cores = known->second.cores;
    if (known->second.memory_limit_bytes.has_value()) worker.memory_limit_bytes = known->second.memory_limit_bytes;
  }
  if (process.total_events.has_value()) announced_events_ = process.total_events;
  first_start_ns_ = std::min(first_start_ns_.value_or(process.start_ns), process.start_ns);
  const auto id = static_cast<WorkerId>(workers_.size());
  worker_index_[key].push_back(id);
  workers_of_pid_[{worker.host, worker.pid}].push_back(id);
  workers_.push_back(std::move(worker));
  return id;
}

void LiveModel::AddSchedulerWorker(const std::string& host, int64_t pid, const std::string& name, int64_t cores,
                                   std::optional<int64_t> memory_limit_bytes) {
  scheduler_workers_[{host, pid}] = {name, cores, memory_limit_bytes};
  const auto known = workers_of_pid_.find({host, pid});
  if (known == workers_of_pid_.end()) return;
  for (const WorkerId id : known->second) {
    LiveWorker& worker = workers_[id];
    worker.name = name;
    worker.scheduler_cores = cores;
    if (memory_limit_bytes.has_value()) worker.memory_limit_bytes = memory_limit_bytes;
  }
}

void LiveModel::AddSample(LiveWorker& worker, const SampleFact& sample) {
  worker.last_ns = std::max(worker.last_ns, sample.time_ns);
  if (sample.memory_limit_bytes.has_value()) worker.memory_limit_bytes = sample.memory_limit_bytes;
  if (sample.rss_bytes.has_value()) AddMemoryPoint(worker, sample.time_ns, *sample.rss_bytes, sample.counts);
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
  worker.peak_rss_bytes = std::max({worker.peak_rss_bytes, rss_bytes, counts.rss_peak_bytes.value_or(0)});
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

namespace {

// A log that is followed is read once a second: what it brings ended a moment ago, whatever its host's clock says.
constexpr double kLatestSeconds = 5;

}  // namespace

double LiveModel::SecondOf(const LiveWorker& worker, int64_t stop_ns) const {
  double second = (stop_ns - origin_ns_ - shift_ns_) / 1e9;
  const double now = (now_ns_ - origin_ns_ - shift_ns_) / 1e9;
  if (worker.is_following) second = std::max(second, now - kLatestSeconds);
  return std::min(second, now);
}

/// Hands the parts of the seconds before `stop` to `take(bin, share)`: which share of `seconds` lies in which second.
template <class Take>
void LiveModel::Spread(double stop, double seconds, const Take& take) {
  const double start = std::max(stop - seconds, static_cast<double>(second_ - 2 * kRecentSeconds - 60));
  const auto first = static_cast<int64_t>(std::floor(start));
  const auto last = static_cast<int64_t>(std::floor(stop));
  for (int64_t second = first; second <= last; ++second) {
    const double overlap =
        std::min(stop, static_cast<double>(second + 1)) - std::max(start, static_cast<double>(second));
    RunSecond* bin = recent_.Find(second);
    if (bin != nullptr && seconds > 0) take(*bin, std::max(0.0, overlap) / seconds);
  }
}

void LiveModel::AddTimes(LiveWorker& worker, const ChunkFact& chunk, const LiveDataset& dataset) {
  const double stop = SecondOf(worker, chunk.stop_ns);
  const AttemptRow row = RowOf(chunk);
  const auto open = static_cast<double>(row.stop_ns() - row.start_ns);
  const auto duration = static_cast<double>(row.duration_ns);
  const int64_t helpers_ns = HelpersOf(chunk).value_or(HelperTimes()).union_ns;
  const std::optional<OwnerTime> owner = SplitOwnerTime(row, helpers_ns);
  const double waiting = owner.has_value() ? static_cast<double>(owner->cpu_wait_ns + owner->blocked_ns) : 0;
  if (owner.has_value() && owner->wait_known && !chunk.failed) totals_.blocked_ns += owner->blocked_ns;
  worker.helped.Add(row, helpers_ns);
  const int64_t events = chunk.failed ? 0 : chunk.events.value_or(0);
  if (RunSecond* bin = recent_.Find(static_cast<int64_t>(std::floor(stop))); bin != nullptr) {
    bin->events += events;
    bin->bytes += chunk.bytes_read.value_or(0);
    bin->failed += chunk.failed;
  }
  Spread(stop, open / 1e9, [&](RunSecond& bin, double share) {
    bin.chunk_ns += duration * share;
    if (chunk.failed) {
      bin.failed_ns += duration * share;
    } else if (owner.has_value()) {
      bin.compute_ns += static_cast<double>(owner->cpu_ns) * share;
      bin.waiting_ns += waiting * share;
      bin.joined_ns += static_cast<double>(owner->joined_ns) * share;
    }
  });
  series_.Add(stop - (start_ns() - origin_ns_ - shift_ns_) / 1e9, events, chunk.bytes_read.value_or(0));
  WorkerSecond* bin = worker.SecondAt(static_cast<int64_t>(std::floor(stop)));
  if (bin == nullptr || chunk.failed) return;
  ++bin->chunks;
  bin->events += events;
  bin->busy_ns += row.duration_ns;
  bin->waiting_ns += static_cast<int64_t>(waiting);
  if (dataset.timed_events > 0 && events > 0) {
    bin->judged_ns += row.duration_ns;
    bin->expected_ns +=
        static_cast<double>(dataset.busy_ns) / static_cast<double>(dataset.timed_events) * static_cast<double>(events);
  }
}

/// Evenly over the seconds in which they ended.
void LiveModel::AddTimes(LiveWorker& worker, const SumsFact& added, const LiveDataset& dataset) {
  const std::optional<OwnerTime> owner = SplitOwnerTime(RowOf(added), HelpersOf(added).union_ns);
  const bool split = owner.has_value() && !added.failed;
  const int64_t cpu_ns = split ? owner->cpu_ns : 0;
  const int64_t joined_ns = split ? owner->joined_ns : 0;
  const int64_t waiting_ns = split ? owner->cpu_wait_ns + owner->blocked_ns : 0;
  if (split && owner->wait_known) totals_.blocked_ns += owner->blocked_ns;
  worker.helped.Add(RowOf(added), HelpersOf(added).union_ns);
  const int64_t events = added.failed ? 0 : added.events.value_or(0);
  const int64_t bytes = added.bytes_read.value_or(0);

  const double stop = SecondOf(worker, added.last_stop_ns);
  constexpr int64_t kMostSeconds = 3600;
  const double seconds = std::max<int64_t>(0, added.last_stop_ns - added.first_start_ns) / 1e9;
  const int64_t parts = std::clamp(static_cast<int64_t>(std::ceil(seconds)), int64_t{1}, kMostSeconds);
  const double series_start = (start_ns() - origin_ns_ - shift_ns_) / 1e9;
  for (int64_t part = 0; part < parts; ++part) {
    const double second = stop - seconds * (1 - (static_cast<double>(part) + 0.5) / static_cast<double>(parts));
    // All parts together are the whole.
    const auto of = [part, parts](int64_t whole) {
      const int64_t each = whole / parts;
      const int64_t more = whole % parts;
      return each + (part + 1) * more / parts - part * more / parts;
    };
    series_.Add(second - series_start, of(events), of(bytes));
    const auto at = static_cast<int64_t>(std::floor(second));
    if (RunSecond* bin = recent_.Find(at); bin != nullptr) {
      bin->events += of(events);
      bin->bytes += of(bytes);
      bin->failed += added.failed ? of(added.chunks) : 0;
      bin->chunk_ns += static_cast<double>(of(added.duration_ns));
      if (added.failed) bin->failed_ns += static_cast<double>(of(added.duration_ns));
      if (split) {
        bin->compute_ns += static_cast<double>(of(cpu_ns));
        bin->waiting_ns += static_cast<double>(of(waiting_ns));
        bin->joined_ns += static_cast<double>(of(joined_ns));
      }
    }
    WorkerSecond* bin = worker.SecondAt(at);
    if (bin == nullptr || added.failed) continue;
    bin->chunks += of(added.chunks);
    bin->events += of(events);
    bin->busy_ns += of(added.duration_ns);
    if (split) bin->waiting_ns += of(waiting_ns);
    if (dataset.timed_events > 0 && events > 0) {
      bin->expected_ns += static_cast<double>(dataset.busy_ns) / static_cast<double>(dataset.timed_events) *
                          static_cast<double>(of(events));
    }
  }
}

void LiveModel::AddTask(LiveWorker& worker, const TaskFact& task) {
  worker.last_ns = std::max(worker.last_ns, task.stop_ns);
  if (task.outcome == "executing") return;  // its end has all of it
  const double seconds = std::max<int64_t>(0, task.stop_ns - task.start_ns) / 1e9;
  Spread(SecondOf(worker, task.stop_ns), seconds,
         [&](RunSecond& bin, double share) { bin.task_ns += seconds * 1e9 * share; });
}

namespace {

constexpr int64_t kSecondNs = 1'000'000'000;
constexpr int64_t kBefore = 200;

}  // namespace

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
    double open = 0;
    for (const LiveWorker& worker : workers_) {
      if (worker.is_at_work()) open += worker.busy_cores();
    }
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
    if (worker.state != LiveState::kRunning) continue;
    JudgeMemory(worker);
    JudgeSpeed(worker);
  }
  const LiveState state = this->state();
  if (state != noted_state_ && state_is_noted_) {
    if (state == LiveState::kEnded) NoteAt(stop_ns(), EventKind::kInfo, "the run has ended");
    if (state == LiveState::kLost)
      NoteAt(stop_ns(), EventKind::kBad, "the run stopped without an end: it was killed, or its host is gone");
    if (state == LiveState::kRunning) Note(EventKind::kInfo, "the run goes on");
  }
  noted_state_ = state;
  state_is_noted_ = !workers_.empty() || command_.known;
}

int64_t LiveModel::LoseOpenChunks(LiveWorker& worker) {
  for (const auto& [number, chunk] : worker.open) {
    --datasets_[chunk.dataset].open;
    if (!results_.contains(chunk.identity)) CountFailure(chunk.identity);
    if (chunk.lane < 0) continue;
    const int64_t stop_ns = std::max(chunk.start_ns, worker.last_ns);  // until then it lived
    const auto id = static_cast<uint32_t>(&worker - workers_.data());
    latest_chunks_.Add({0, id, chunk.lane, chunk.dataset, /*failed=*/true, -1, chunk.start_ns, stop_ns});
  }
  const auto lost = static_cast<int64_t>(worker.open.size());
  worker.lost += lost;
  totals_.lost += lost;
  totals_.attempts += lost;
  worker.open.clear();
  worker.open_of_thread.clear();
  return lost;
}

void LiveModel::LoseRecord(LiveWorker& worker, int64_t number) {
  const auto open = worker.open.find(number);
  if (open == worker.open.end()) return;
  --datasets_[open->second.dataset].open;
  worker.open.erase(open);
  if (worker.unrecorded.size() < kMostFailures) worker.unrecorded.insert(number);
  ++totals_.unrecorded;
  ++totals_.attempts;
}

void LiveModel::AddExit(const std::string& host, const TreeReapFact& reaped) {
  const auto known = workers_of_pid_.find({host, reaped.pid});
  if (known == workers_of_pid_.end()) return;
  for (const WorkerId id : known->second) {
    LiveWorker& worker = workers_[id];
    if (reaped.time_ns < worker.last_ns) continue;  // another one, which had the number before
    worker.exit_status = reaped.exit_status;
    if (worker.state == LiveState::kUnreported) JudgeExit(worker);
  }
}

void LiveModel::JudgeExit(LiveWorker& worker) {
  if (!worker.exit_status.has_value()) return;
  worker.state = *worker.exit_status == 0 ? LiveState::kEnded : LiveState::kLost;
  if (worker.state == LiveState::kEnded || !worker.has_recorded()) return;
  NoteAt(worker.last_ns, EventKind::kBad, fmt::format("{} was lost: {}", worker.name, WhyOfExit(*worker.exit_status)));
}

void LiveModel::SetLife(WorkerId id, bool running) {
  LiveWorker& worker = workers_[id];
  worker.is_following = true;
  if (worker.state == LiveState::kEnded || worker.state == LiveState::kUnreported) {
    if (!running) LoseOpenChunks(worker);
    return;
  }
  if (running || worker.state == LiveState::kLost) return;
  const int64_t lost = LoseOpenChunks(worker);
  worker.state = lost > 0 ? LiveState::kLost : LiveState::kUnreported;
  if (lost == 0 && worker.exit_status.has_value()) return JudgeExit(worker);
  if (!worker.has_recorded()) return;
  if (lost == 0) {
    NoteAt(worker.last_ns, EventKind::kInfo, worker.name + " ended without a report");
    return;
  }
  NoteAt(worker.last_ns, EventKind::kBad,
         fmt::format("{} vanished without an end, with {}", worker.name, Counted(lost, "open chunk", "open chunks")));
}

void LiveModel::NoteJoins() {
  std::string names;
  size_t count = 0;
  int64_t time_ns = 0;
  for (const WorkerId id : joined_) {
    const LiveWorker& worker = workers_[id];
    if (worker.state != LiveState::kRunning) continue;  // read afterwards
    if (++count <= 3) names += (count == 1 ? "" : ", ") + worker.name;
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

namespace {

std::string MemoryText(const LiveWorker& worker, const std::optional<double>& left) {
  const std::string sizes =
      fmt::format("{} of {}", HumanMemory(worker.rss_bytes), HumanMemory(*worker.memory_limit_bytes));
  if (!left.has_value()) return fmt::format("{} memory grew, now {}", worker.name, sizes);
  return fmt::format("{} memory grows: {}, the limit is reached in about {}", worker.name, sizes,
                     HumanDuration(std::round(*left)));
}

std::string SlowText(const LiveWorker& worker, double factor) {
  return fmt::format("{} takes {} times as long as chunks of the same size do", worker.name, HumanFactor(factor));
}

}  // namespace

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
  if (sum.chunks < kLeastChunks || sum.expected_ns <= 0) return;
  const double factor = static_cast<double>(sum.judged_ns) / sum.expected_ns;
  const double slow = sum.chunks < kManyChunks ? kSlowFactor : kSpellFactor;
  if (!worker.slow_is_warned && factor >= slow) {
    worker.slow_is_warned = true;
    worker.slow_since_ns = now_ns_;
    worker.slow_event = Note(EventKind::kWarning, SlowText(worker, factor));
  } else if (worker.slow_is_warned && factor <= kNormalFactor) {
    worker.slow_is_warned = false;
    Note(EventKind::kGood, fmt::format("{} is back to normal after {}", worker.name,
                                       HumanDuration(std::round((now_ns_ - worker.slow_since_ns) / 1e9))));
  } else if (worker.slow_is_warned && second_ % kUpdateSeconds == 0) {
    events_.Update(worker.slow_event, SlowText(worker, factor));
  }
}

LiveState LiveModel::state() const {
  if (session_stop_ns_.has_value() || (command_.known && command_.stop_ns.has_value())) return LiveState::kEnded;
  bool any_ended = false, any_lost = false;
  for (const LiveWorker& worker : workers_) {
    if (worker.state == LiveState::kRunning) return LiveState::kRunning;
    any_ended |= worker.state == LiveState::kEnded;
    any_lost |= worker.state == LiveState::kLost;
  }
  if (command_.known) return command_.running ? LiveState::kRunning : LiveState::kLost;
  if (workers_.empty()) return LiveState::kRunning;
  // An engine may start a process for each task: between two of them none runs. Whether a manager lives is not always
  // known; that one process came to its end says that the others were not all killed with it.
  for (const auto& [address, scheduler] : schedulers_) {
    if (scheduler.is_at_work() || (any_ended && scheduler.has_tasks())) return LiveState::kRunning;
  }
  if (any_ended) return LiveState::kEnded;
  return any_lost ? LiveState::kLost : LiveState::kUnreported;
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
  return worker.state == LiveState::kRunning ? std::max(worker.last_ns, now_ns_) : worker.last_ns;
}

int64_t LiveModel::stop_ns() const {
  if (command_.known && command_.stop_ns.has_value()) return *command_.stop_ns;
  if (session_stop_ns_.has_value()) return *session_stop_ns_;
  int64_t stop = has_schedulers_only() ? now_ns_ : start_ns();
  for (const LiveWorker& worker : workers_) stop = std::max(stop, LifeEnd(worker));
  return stop;
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
  double cores = 0;
  for (const LiveWorker& worker : workers_) {
    if (worker.is_at_work()) cores += worker.cores();
  }
  return cores;
}

int64_t LiveModel::open_chunks() const {
  int64_t open = 0;
  for (const LiveWorker& worker : workers_) open += static_cast<int64_t>(worker.open.size());
  return open;
}

std::optional<int64_t> LiveModel::total_events() const {
  if (options_.total_events.has_value()) return options_.total_events;
  const auto& of_datasets =
      options_.total_events_of_dataset.empty() ? planned_events_ : options_.total_events_of_dataset;
  if (of_datasets.empty()) return announced_events_;
  int64_t sum = 0;
  for (const auto& [name, events] : of_datasets) sum = AddCounts(sum, events);
  return sum;
}

std::optional<int64_t> LiveModel::total_events_of(const std::string& dataset) const {
  for (const auto* totals : {&options_.total_events_of_dataset, &planned_events_}) {
    if (const auto total = totals->find(dataset); total != totals->end()) return total->second;
  }
  return std::nullopt;
}

}  // namespace crema

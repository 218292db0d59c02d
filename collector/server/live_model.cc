#include "collector/server/live_model.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "collector/appearance/human_numbers.h"
#include "collector/insight/short_name.h"
#include "collector/metrics/attempts/chunk_identity.h"
#include "fmt/format.h"

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
  events += other.events;
  bytes += other.bytes;
  failed += other.failed;
  compute_ns += other.compute_ns;
  waiting_ns += other.waiting_ns;
  joined_ns += other.joined_ns;
  failed_ns += other.failed_ns;
  task_ns += other.task_ns;
  chunk_ns += other.chunk_ns;
  occupied_ns += other.occupied_ns;
  core_ns += other.core_ns;
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

void LiveModel::AddSums(LiveWorker& worker, const SumsFact& added) {
  for (const int64_t number : added.begun) {
    const auto open = worker.open.find(number);
    if (open == worker.open.end()) continue;
    --datasets_[open->second.dataset].open;
    worker.open.erase(open);
  }
  LiveDataset& dataset = datasets_[Dataset({added.input.dataset.data(), added.input.dataset.size()})];
  worker.last_ns = std::max({worker.last_ns, added.last_stop_ns, added.time_ns});
  worker.lanes_peak = std::max(worker.lanes_peak, added.lanes_peak.value_or(0));
  worker.most_open = std::max(worker.most_open, int64_t{1});
  for (int64_t* busy_ns : {&worker.busy_ns, &dataset.busy_ns, &totals_.busy_ns}) *busy_ns += added.duration_ns;
  for (int64_t* attempts : {&dataset.attempts, &totals_.attempts, &totals_.summed}) *attempts += added.chunks;
  if (added.bytes_read.has_value()) {
    totals_.bytes_known = true;
    for (int64_t* bytes : {&totals_.bytes_read, &worker.bytes_read, &dataset.bytes_read}) *bytes += *added.bytes_read;
  }
  if (added.cpu_ns.has_value()) {
    totals_.cpu_known = true;
    const int64_t cpu_ns = *added.cpu_ns + added.helper_cpu_ns.value_or(0);
    for (int64_t* sum : {&totals_.cpu_ns, &worker.cpu_ns, &dataset.cpu_ns}) *sum += cpu_ns;
  }
  if (added.failed) {
    for (int64_t* failed : {&worker.failed, &dataset.failed, &totals_.failed}) *failed += added.chunks;
    AddTimes(worker, added, dataset);
    return;
  }
  // Whether one of them repeats another is not known.
  for (int64_t* chunks : {&worker.chunks, &dataset.chunks, &totals_.chunks}) *chunks += added.chunks;
  totals_.chunks_exact = false;
  if (added.events.has_value()) {
    totals_.events_known = true;
    for (int64_t* events : {&worker.events, &dataset.events, &dataset.timed_events, &totals_.events}) {
      *events += *added.events;
    }
  }
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
  worker.most_open = std::max(worker.most_open, static_cast<int64_t>(worker.open.size()));
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
  const int64_t duration_ns = chunk.duration_ns();
  worker.last_ns = std::max(worker.last_ns, chunk.stop_ns);
  worker.lanes_peak = std::max(worker.lanes_peak, chunk.lanes_peak.value_or(0));
  worker.most_open = std::max(worker.most_open, int64_t{1});
  worker.busy_ns += duration_ns;
  dataset.busy_ns += duration_ns;
  totals_.busy_ns += duration_ns;
  ++totals_.attempts;
  ++dataset.attempts;
  if (chunk.bytes_read.has_value()) {
    totals_.bytes_known = true;
    totals_.bytes_read += *chunk.bytes_read;
    worker.bytes_read += *chunk.bytes_read;
    dataset.bytes_read += *chunk.bytes_read;
  }
  if (chunk.cpu_ns.has_value()) {
    const int64_t cpu_ns = *chunk.cpu_ns + chunk.helper_cpu_ns.value_or(0);
    totals_.cpu_known = true;
    totals_.cpu_ns += cpu_ns;
    worker.cpu_ns += cpu_ns;
    dataset.cpu_ns += cpu_ns;
  }
  AddTimes(worker, chunk, dataset);
  AddToStream(worker, chunk, static_cast<uint32_t>(&dataset - datasets_.data()));
  if (chunk.failed) {
    ++worker.failed;
    ++dataset.failed;
    ++totals_.failed;
    NoteFailure(worker, chunk, identity);
  } else {
    ++worker.chunks;
    CountResult(worker, chunk, dataset, identity);
  }
  if (chunk.rss_stop_bytes.has_value()) {
    worker.peak_rss_bytes = std::max(worker.peak_rss_bytes, *chunk.rss_stop_bytes);
    if (worker.rss_bytes == 0) worker.rss_bytes = *chunk.rss_stop_bytes;
  }
}

void LiveModel::AddToStream(LiveWorker& worker, const ChunkFact& chunk, uint32_t dataset) {
  LatestChunk latest;
  latest.worker = static_cast<uint32_t>(&worker - workers_.data());
  latest.lane = worker.LaneOf(ThreadOf(chunk.thread, chunk.tid));
  latest.dataset = dataset;
  latest.failed = chunk.failed;
  latest.start_ns = chunk.start_ns;
  latest.stop_ns = chunk.stop_ns;
  if (chunk.cpu_ns.has_value() && chunk.duration_ns() > 0) {
    const double cpu = static_cast<double>(std::min(*chunk.cpu_ns, chunk.duration_ns()));
    latest.waiting_percent = static_cast<int>(std::lround(100 * (1 - cpu / static_cast<double>(chunk.duration_ns()))));
  }
  if (latest.lane >= 0) latest_chunks_.Add(latest);
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

}  // namespace crema

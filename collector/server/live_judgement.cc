// What a live run comes to as time passes: who is alive, what is slow, what grows.
#include <algorithm>
#include <cmath>
#include <vector>

#include "collector/appearance/human_numbers.h"
#include "collector/insight/memory_growth.h"
#include "collector/metrics/attempts/slow_spells.h"
#include "collector/metrics/statistics/known_sum.h"
#include "collector/server/live_limits.h"
#include "collector/server/live_model.h"
#include "fmt/format.h"

namespace crema {
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
    int64_t cores = 0;
    int64_t open = 0;
    for (const LiveWorker& worker : workers_) {
      if (worker.state != LiveState::kRunning || !worker.has_recorded()) continue;
      cores += worker.cores();
      open += std::min(worker.cores(), static_cast<int64_t>(worker.open.size()));
    }
    if (RunSecond* bin = recent_.Find(second_); bin != nullptr) {
      bin->core_ns += static_cast<double>(cores) * static_cast<double>(passed_ns);
      bin->occupied_ns += static_cast<double>(open) * static_cast<double>(passed_ns);
    }
  }
  quiet_seconds_ = totals_.records > records_at_tick_ ? 0 : quiet_seconds_ + static_cast<double>(passed_ns) / 1e9;
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
  if (!worker.has_recorded()) return;
  if (lost == 0) {
    NoteAt(worker.last_ns, EventKind::kInfo, worker.name + " ended without a report");
    return;
  }
  NoteAt(worker.last_ns, EventKind::kBad,
         fmt::format("{} vanished without an end, with {}", worker.name,
                     Counted(static_cast<double>(lost), "open chunk", "open chunks")));
}

void LiveModel::NoteJoins() {
  std::string names;
  size_t count = 0;
  int64_t cores = 0;
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
  for (const LiveWorker& worker : workers_) {
    if (worker.state == LiveState::kRunning && worker.has_recorded()) cores += worker.cores();
  }
  NoteAt(time_ns, EventKind::kInfo,
         fmt::format("{} joined: {}", names, Counted(static_cast<double>(cores), "core at work", "cores at work")));
}

std::optional<double> SecondsToLimit(const LiveWorker& worker) {
  return worker.memory_limit_bytes.has_value() ? SecondsToLimit(worker.memory, *worker.memory_limit_bytes)
                                               : std::nullopt;
}

namespace {

std::string MemoryText(const LiveWorker& worker, const std::optional<double>& left) {
  const std::string sizes = fmt::format("{} of {}", HumanMemory(static_cast<double>(worker.rss_bytes)),
                                        HumanMemory(static_cast<double>(*worker.memory_limit_bytes)));
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
    Note(EventKind::kGood,
         fmt::format("{} is back to normal after {}", worker.name,
                     HumanDuration(std::round(static_cast<double>(now_ns_ - worker.slow_since_ns) / 1e9))));
  } else if (worker.slow_is_warned && second_ % kUpdateSeconds == 0) {
    events_.Update(worker.slow_event, SlowText(worker, factor));
  }
}

LiveState LiveModel::state() const {
  if (session_stop_ns_.has_value()) return LiveState::kEnded;
  if (command_.known) {
    if (command_.stop_ns.has_value()) return LiveState::kEnded;
  }
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

double LiveModel::wall_seconds() const { return static_cast<double>(stop_ns() - start_ns()) / 1e9; }

double LiveModel::core_seconds() const {
  const int64_t begin = start_ns();
  const int64_t end = stop_ns();
  double sum = 0;
  for (const LiveWorker& worker : workers_) {
    if (!worker.has_recorded()) continue;
    const int64_t life = std::min(LifeEnd(worker), end) - std::clamp(worker.start_ns, begin, std::max(begin, end));
    sum += static_cast<double>(worker.cores()) * static_cast<double>(std::max<int64_t>(0, life)) / 1e9;
  }
  return sum;
}

int64_t LiveModel::live_cores() const {
  int64_t cores = 0;
  for (const LiveWorker& worker : workers_) {
    if (worker.state == LiveState::kRunning && worker.has_recorded()) cores += worker.cores();
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

double LiveModel::quiet_seconds() const { return quiet_seconds_; }

}  // namespace crema

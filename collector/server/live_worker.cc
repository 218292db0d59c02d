#include "collector/server/live_model.h"

namespace crema {
namespace {

template <class Value>
Value& ValueOf(std::map<std::string, Value>& values, const std::string& name, size_t most) {
  const auto found = values.find(name);
  if (found != values.end()) return found->second;
  return values[values.size() + 1 < most ? name : std::string(kOtherName)];
}

// Far beyond any run: a clock that is wrong by years must not make the bins useless.
constexpr double kMostSeconds = 3e6;

}  // namespace

void LiveScheduler::Add(const SchedulerFact& reported, int64_t second) {
  counts_ = reported.counts;
  is_there_ = reported.is_there;
  stream_problem_ = reported.problem;
  if (!stream_problem_.empty()) {
    streams_since_.reset();
  } else if (!streams_since_.has_value()) {
    streams_since_ = second;
    has_streamed_ = true;
  }
  for (const SchedulerFact::Finished& finished : reported.finished) {
    SchedulerTasks& tasks = ValueOf(tasks_, finished.prefix, kMostPrefixes);
    tasks.finished += finished.tasks;
    tasks.compute_seconds += finished.compute_seconds;
    finished_ += finished.tasks;
    has_streamed_ = true;
    if (int64_t* bin = recent_.Find(second); bin != nullptr) *bin += finished.tasks;
  }
  for (const auto& [worker, finished] : reported.finished_by_worker) {
    ValueOf(finished_by_worker_, worker, kMostWorkers) += std::max<int64_t>(0, finished);
  }
}

void LiveScheduler::SetComputeSeconds(const std::map<std::string, double>& by_prefix) {
  for (auto& [prefix, tasks] : tasks_) tasks.compute_seconds_in_all.reset();
  for (const auto& [prefix, seconds] : by_prefix) {
    SchedulerTasks& tasks = ValueOf(tasks_, prefix, kMostPrefixes);
    tasks.compute_seconds_in_all = tasks.compute_seconds_in_all.value_or(0) + seconds;
  }
}

std::optional<int64_t> LiveScheduler::count(const std::string& name) const {
  const auto found = counts_.find(name);
  return found == counts_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<int64_t> LiveScheduler::finished() const {
  return has_streamed_ ? std::optional(finished_) : std::nullopt;
}

std::optional<double> LiveScheduler::finished_rate(int64_t second) const {
  if (!streams_since_.has_value()) return std::nullopt;
  const int64_t seconds = std::min(kRecentSeconds, second - *streams_since_);
  if (seconds < 1) return std::nullopt;
  return static_cast<double>(recent_.Sum(second - seconds, second - 1)) / static_cast<double>(seconds);
}

const char* ToString(EventKind kind) {
  constexpr const char* kNames[] = {"info", "good", "warning", "bad"};
  return kNames[static_cast<size_t>(kind)];
}

std::vector<LiveEvent> LiveEvents::NewestFirst() const {
  std::vector<LiveEvent> events(events_.rbegin(), events_.rend());
  SortLargestFirst(&events, &LiveEvent::time_ns);
  return events;
}

int64_t LiveEvents::Add(int64_t time_ns, EventKind kind, std::string text) {
  events_.push_back({++count_, time_ns, kind, std::move(text)});
  if (events_.size() > kMost) events_.pop_front();
  return count_;
}

void LiveEvents::Update(int64_t number, std::string text) {
  if (events_.empty() || number < events_.front().number || number > count_) return;
  events_[static_cast<size_t>(number - events_.front().number)].text = std::move(text);
}

void LatestChunks::Add(LatestChunk chunk) {
  chunk.number = next_++;
  chunks_.push_back(chunk);
  if (chunks_.size() > kMost) chunks_.pop_front();
}

void LatestChunks::Forget(int64_t now_ns) {
  while (!chunks_.empty() && chunks_.front().stop_ns < now_ns - kStreamSeconds * 1'000'000'000) chunks_.pop_front();
}

void RateSeries::Add(double seconds, double events, double bytes) {
  seconds = std::clamp(seconds, 0.0, kMostSeconds);
  while (seconds >= bin_seconds_ * kMost) {
    for (size_t i = 0; i < bins_.size(); ++i) {
      const Bin bin = bins_[i];
      if (i % 2 == 0) {
        bins_[i / 2] = bin;
      } else {
        bins_[i / 2].events += bin.events;
        bins_[i / 2].bytes += bin.bytes;
      }
    }
    bins_.resize((bins_.size() + 1) / 2);
    bin_seconds_ *= 2;
  }
  Bin& bin = GrownAt(&bins_, static_cast<size_t>(seconds / bin_seconds_));
  bin.events += events;
  bin.bytes += bytes;
}

}  // namespace crema

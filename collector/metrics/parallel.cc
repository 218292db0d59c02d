#include "collector/metrics/parallel.h"

#include <time.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <numeric>
#include <system_error>
#include <thread>

#include "collector/sources/process_tree/allocated_cores.h"

namespace crema {
namespace {

double ThreadCpuSeconds() {
  timespec time = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

/// Which pieces are left, and what those take that run.
class Schedule {
 public:
  Schedule(const std::vector<ParallelTask>& pieces, size_t most_bytes)
      : pieces_(pieces), most_bytes_(most_bytes), begun_(pieces.size()), has_ended_(pieces.size()) {}

  /// The next piece to run, once there is memory for one; nullopt: all have begun.
  std::optional<size_t> Take() {
    std::unique_lock lock(mutex_);
    while (left_ > 0) {
      for (size_t i = 0; i < pieces_.size(); ++i) {
        if (begun_[i] || !IsReady(pieces_[i])) continue;
        begun_[i] = true;
        --left_;
        ++running_;
        used_bytes_ += pieces_[i].bytes;
        return i;
      }
      // Not wait(): its symbol has a version that the libstdc++ of systems with glibc 2.34 does not have.
      ended_.wait_for(lock, std::chrono::seconds(10));
    }
    return std::nullopt;
  }

  /// `threw`: none begins after it.
  void End(size_t piece, bool threw) {
    const std::lock_guard lock(mutex_);
    if (threw) left_ = 0;
    has_ended_[piece] = true;
    --running_;
    used_bytes_ -= pieces_[piece].bytes;
    ended_.notify_all();
  }

 private:
  bool IsReady(const ParallelTask& piece) const {
    const auto has_ended = [this](size_t other) { return has_ended_[other]; };
    if (!std::all_of(piece.after.begin(), piece.after.end(), has_ended)) return false;
    return running_ == 0 || (used_bytes_ <= most_bytes_ && piece.bytes <= most_bytes_ - used_bytes_);
  }

  const std::vector<ParallelTask>& pieces_;
  size_t most_bytes_;
  std::mutex mutex_;
  std::condition_variable ended_;
  std::vector<bool> begun_;
  std::vector<bool> has_ended_;
  size_t left_ = pieces_.size();
  size_t running_ = 0;
  size_t used_bytes_ = 0;
};

}  // namespace

size_t ThreadsFor(size_t jobs) { return jobs > 0 ? jobs : static_cast<size_t>(AffinityCores().value_or(1)); }

void ParallelFor(size_t threads, const std::function<void(size_t)>& work) {
  std::vector<std::exception_ptr> failures(std::max<size_t>(1, threads));
  const auto guarded = [&](size_t i) {
    try {
      work(i);
    } catch (...) {
      failures[i] = std::current_exception();
    }
  };
  std::vector<std::thread> pool;
  pool.reserve(failures.size() - 1);
  for (size_t i = 1; i < failures.size(); ++i) {
    try {
      pool.emplace_back(guarded, i);
    } catch (const std::system_error&) {
      break;  // a limit on processes: those that are there do the work
    }
  }
  guarded(0);
  for (std::thread& thread : pool) thread.join();
  for (const std::exception_ptr& failure : failures) {
    if (failure != nullptr) std::rethrow_exception(failure);
  }
}

void ForEachPart(const char* name, size_t count, const WorkLimits& limits, const std::function<void(size_t)>& work) {
  std::atomic<size_t> next{0};
  std::vector<double> cpu_seconds(count);
  ParallelFor(std::min(limits.threads, count), [&](size_t) {
    for (size_t i = next++; i < count; i = next++) {
      const double began = ThreadCpuSeconds();
      work(i);
      cpu_seconds[i] = ThreadCpuSeconds() - began;
    }
  });
  if (limits.times == nullptr) return;
  limits.times->push_back({name, std::accumulate(cpu_seconds.begin(), cpu_seconds.end(), 0.0), {}, true});
}

void RunParallel(const std::vector<ParallelTask>& pieces, const WorkLimits& limits) {
  Schedule schedule(pieces, limits.bytes);
  std::vector<PieceTime> times(pieces.size());
  ParallelFor(std::min(limits.threads, pieces.size()), [&](size_t) {
    while (const std::optional<size_t> piece = schedule.Take()) {
      struct EndsPiece {
        Schedule& of;
        size_t index;
        bool threw = true;
        ~EndsPiece() { of.End(index, threw); }
      } ends{schedule, *piece};
      const bool is_beyond = pieces[*piece].bytes > limits.bytes;
      const SpilledLists lists(is_beyond || pieces[*piece].leaves_lists ? limits.spill : nullptr, is_beyond);
      const double began = ThreadCpuSeconds();
      pieces[*piece].run();
      times[*piece] = {pieces[*piece].name, ThreadCpuSeconds() - began, pieces[*piece].after};
      ends.threw = false;
    }
  });
  if (limits.times != nullptr) limits.times->insert(limits.times->end(), times.begin(), times.end());
}

}  // namespace crema

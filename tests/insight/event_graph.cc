// A small task framework: `event_graph THREADS STREAMS EVENTS FIT_MS REQUEST_MS WRITE_MS serial|parallel line|summed`.
// An event is a task `fit`, a request to a server, and a task `write`, of which `serial` lets one run at a time. Tasks
// sleep, so that other programs on the machine hardly change what limits the rate.
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "crema/crema.h"

namespace {

using Clock = std::chrono::steady_clock;

std::chrono::microseconds Milliseconds(const char* text) {
  return std::chrono::microseconds(static_cast<long>(1000 * std::atof(text)));
}

struct Task {
  int stream;
  bool is_write;
  crema::Ready ready;
};

class Framework {
 public:
  explicit Framework(char** arguments)
      : left_(std::atoi(arguments[3])),
        fit_(Milliseconds(arguments[4])),
        request_(Milliseconds(arguments[5])),
        write_(Milliseconds(arguments[6])),
        is_serial_(std::strcmp(arguments[7], "serial") == 0),
        record_(std::strcmp(arguments[8], "line") == 0 ? crema::kLine : crema::kSummed),
        events_(static_cast<std::size_t>(std::atoi(arguments[2]))) {}

  void Run(int threads) {
    for (std::size_t stream = 0; stream < events_.size(); ++stream) Begin(static_cast<int>(stream));
    std::vector<std::thread> all;
    for (int i = 0; i < threads; ++i) all.emplace_back([this] { Work(); });
    Serve();
    for (std::thread& thread : all) thread.join();
  }

 private:
  crema::TrackEvent& EventOf(int stream) { return events_[static_cast<std::size_t>(stream)]; }

  void Push(int stream, bool is_write) {
    const crema::Ready ready = crema::MarkReady(EventOf(stream).handle(), is_write ? "write" : "fit");
    const std::lock_guard<std::mutex> lock(mutex_);
    tasks_.push_back({stream, is_write, ready});
    changed_.notify_all();
  }

  void Begin(int stream) {
    int entry = 0;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (left_ == 0) return;
      entry = --left_;
      ++open_;
    }
    EventOf(stream) = crema::TrackEvent({"raw", "raw.root", entry, entry + 1}, record_);
    Push(stream, false);
  }

  void End(int stream) {
    EventOf(stream).SetEvents(1);
    EventOf(stream).End();
    Begin(stream);
    const std::lock_guard<std::mutex> lock(mutex_);
    --open_;
    changed_.notify_all();
  }

  void Work() {
    std::unique_lock<std::mutex> lock(mutex_);
    while (true) {
      auto task = tasks_.begin();
      while (task != tasks_.end() && task->is_write && is_serial_ && is_writing_) ++task;
      if (task == tasks_.end()) {
        if (open_ == 0) return;
        changed_.wait(lock);
        continue;
      }
      const Task taken = *task;
      tasks_.erase(task);
      if (taken.is_write) is_writing_ = true;
      lock.unlock();
      Do(taken);
      lock.lock();
      if (taken.is_write) is_writing_ = false;
      changed_.notify_all();
    }
  }

  void Do(const Task& task) {
    {
      const crema::TrackTask guard(EventOf(task.stream).handle(), task.is_write ? "write" : "fit", task.ready);
      std::this_thread::sleep_for(task.is_write ? write_ : fit_);
      if (!task.is_write && request_.count() > 0) {
        const std::lock_guard<std::mutex> lock(mutex_);
        requests_.emplace(Clock::now() + request_,
                          std::pair<int, crema::TrackRequest>(
                              task.stream, crema::TrackRequest(EventOf(task.stream).handle(), "server", "ask")));
        changed_.notify_all();
      }
    }
    if (task.is_write) {
      End(task.stream);
    } else if (request_.count() == 0) {
      Push(task.stream, true);
    }
  }

  /// The server: it answers all requests at once, each after the same time.
  void Serve() {
    std::unique_lock<std::mutex> lock(mutex_);
    while (open_ != 0) {
      if (requests_.empty()) {
        changed_.wait(lock);
      } else if (requests_.begin()->first > Clock::now()) {
        changed_.wait_until(lock, requests_.begin()->first);
      } else {
        auto [stream, request] = std::move(requests_.begin()->second);
        requests_.erase(requests_.begin());
        lock.unlock();
        request.End();
        Push(stream, true);
        lock.lock();
      }
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  int left_;
  std::chrono::microseconds fit_, request_, write_;
  bool is_serial_;
  crema::EventRecord record_;
  std::vector<crema::TrackEvent> events_;  // by stream
  std::deque<Task> tasks_;
  std::multimap<Clock::time_point, std::pair<int, crema::TrackRequest>> requests_;
  int open_ = 0;
  bool is_writing_ = false;
};

}  // namespace

int main(int count, char** arguments) {
  if (count != 9) return 2;
  Framework(arguments).Run(std::atoi(arguments[1]));
}

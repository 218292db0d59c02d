// TasksOfThread: tasks that callbacks begin and end, instead of scopes.
#ifndef CREMA_EXAMPLES_TASK_FRAMEWORKS_TASKS_OF_THREAD_H_
#define CREMA_EXAMPLES_TASK_FRAMEWORKS_TASKS_OF_THREAD_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "crema/crema.h"

namespace crema_adapters {

/// The tasks that a thread has open, innermost last. `call` distinguishes them: the same number begins and ends one.
class TasksOfThread {
 public:
  static TasksOfThread& Mine() {
    thread_local TasksOfThread tasks;
    return tasks;
  }
  void Begin(std::uint64_t call, const crema::EventHandle& event, std::string_view name,
             const crema::Ready& ready = {}) {
    if (depth_ == kDeepest) return;
    calls_[depth_] = call;
    tasks_[depth_++].emplace(event, name, ready);
  }
  /// Ends the task, and those inside it whose end was never announced, as after an exception.
  void End(std::uint64_t call) {
    int at = depth_;
    while (at > 0 && calls_[at - 1] != call) --at;
    while (at > 0 && depth_ >= at) tasks_[--depth_].reset();
  }
  /// Ends all: where a framework begins something that is in no other task of this thread.
  void EndAll() {
    while (depth_ > 0) tasks_[--depth_].reset();
  }

 private:
  static constexpr int kDeepest = 16;
  std::array<std::uint64_t, kDeepest> calls_ = {};
  std::array<std::optional<crema::TrackTask>, kDeepest> tasks_;
  int depth_ = 0;
};

}  // namespace crema_adapters

#endif  // CREMA_EXAMPLES_TASK_FRAMEWORKS_TASKS_OF_THREAD_H_

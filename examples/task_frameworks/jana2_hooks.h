// Hooks for JANA2. jana2.patch calls them:
//
//     event->crema.Enter(queue->consumer)      in JArrow::Push, where an event enters the queue of an arrow
//     event->crema.Leave()                     in JArrow::Push, where an event goes back to its pool
//     auto task = JanaFire(event, name)        in JExecutionEngine::RunWorker, around arrow->Fire
//     auto task = JanaFactory(name)            in JFactory::Create, around Process
#ifndef CREMA_EXAMPLES_TASK_FRAMEWORKS_JANA2_HOOKS_H_
#define CREMA_EXAMPLES_TASK_FRAMEWORKS_JANA2_HOOKS_H_

#include <string_view>
#include <utility>

#include "crema/crema.h"

namespace crema_adapters {

class JanaEvent {
 public:
  /// The event is ready for this arrow. Its first queue begins it: a source may return from `Fire` without an event.
  void Enter(std::string_view arrow) {
    if (event_.handle().slot == nullptr) event_ = crema::TrackEvent("events", crema::kSummed);
    ready_ = crema::MarkReady(event_.handle(), arrow);
  }
  crema::TrackTask Fire(std::string_view arrow) {
    return crema::TrackTask(event_.handle(), arrow, std::exchange(ready_, crema::Ready()));
  }
  void Leave() {
    event_.SetEvents(1);
    event_.End();
  }

 private:
  crema::TrackEvent event_;
  crema::Ready ready_;
};

/// `event`: as the engine has it. It is null, or has not begun, where a source fires: then the task is of no event.
template <class Event>
crema::TrackTask JanaFire(Event* event, std::string_view arrow) {
  return event != nullptr ? event->crema.Fire(arrow) : crema::TrackTask({}, arrow);
}

/// A factory runs inside the task of its arrow, on the same thread.
inline crema::TrackTask JanaFactory(std::string_view name) { return crema::TrackTask(crema::CurrentHandle(), name); }

}  // namespace crema_adapters

#endif  // CREMA_EXAMPLES_TASK_FRAMEWORKS_JANA2_HOOKS_H_

// Two lines for Examples/Framework/src/Framework/Sequencer.cpp of ACTS, in the body of its parallel_for over events:
//
//     crema_adapters::ActsEvent event(event_number);         // first, for each event
//     auto algorithm = event.Algorithm(element->name());     // beside StopWatch, around element->internalExecute
//
// TBB inside an algorithm may run another event's body on the same thread: its time is not this algorithm's then.
#ifndef CREMA_EXAMPLES_TASK_FRAMEWORKS_ACTS_SEQUENCER_H_
#define CREMA_EXAMPLES_TASK_FRAMEWORKS_ACTS_SEQUENCER_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "crema/crema.h"

namespace crema_adapters {

class ActsEvent {
 public:
  explicit ActsEvent(std::size_t number)
      : event_({"events", "", static_cast<std::int64_t>(number), static_cast<std::int64_t>(number) + 1},
               crema::kSummed) {
    event_.SetEvents(1);
  }
  crema::TrackTask Algorithm(std::string_view name) const { return crema::TrackTask(event_.handle(), name); }

 private:
  crema::TrackEvent event_;
};

}  // namespace crema_adapters

#endif  // CREMA_EXAMPLES_TASK_FRAMEWORKS_ACTS_SEQUENCER_H_

// An auditor for Gaudi and Athena: name it in AuditorSvc.Auditors, for the events Execute and Suspension.
//
// An event ends where its slot gets the next one, or where EndEvent is called: connect it to the incident
// EndProcessing, which Athena fires with the event's context. Nothing reports when an algorithm became ready; a
// crema::MarkReady in AvalancheSchedulerSvc, where an algorithm is promoted to SCHEDULED, would.
#ifndef CREMA_EXAMPLES_TASK_FRAMEWORKS_GAUDI_AUDITOR_H_
#define CREMA_EXAMPLES_TASK_FRAMEWORKS_GAUDI_AUDITOR_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>

#ifdef CREMA_STAND_INS
#include "examples/task_frameworks/stand_ins.h"
#else
#include "Gaudi/Auditor.h"
#include "GaudiKernel/EventContext.h"
#endif
#include "crema/crema.h"
#include "examples/task_frameworks/tasks_of_thread.h"

namespace crema_adapters {

class GaudiAuditor : public Gaudi::Auditor {
 public:
  void before(const std::string& what, const std::string& caller, const EventContext& context) override {
    if (what == "Execute") {
      TasksOfThread::Mine().Begin(CallOf(caller, context), EventOf(context), caller);
    } else if (what == "Suspension") {  // the algorithm leaves this thread, and goes on when its answer is there
      const crema::EventHandle event = EventOf(context);
      {
        const std::lock_guard<std::mutex> lock(mutex_);
        slots_[context.slot()].waits[caller] = crema::TrackRequest(event, "suspension", caller);
      }
      TasksOfThread::Mine().End(CallOf(caller, context));
    }
  }
  void after(const std::string& what, const std::string& caller, const EventContext& context,
             const StatusCode&) override {
    if (what == "Execute") {
      TasksOfThread::Mine().End(CallOf(caller, context));
    } else if (what == "Suspension") {
      const crema::EventHandle event = EventOf(context);
      {
        const std::lock_guard<std::mutex> lock(mutex_);
        slots_[context.slot()].waits.erase(caller);
      }
      TasksOfThread::Mine().Begin(CallOf(caller, context), event, caller);
    }
  }
  void EndEvent(const EventContext& context) {
    const std::lock_guard<std::mutex> lock(mutex_);
    slots_[context.slot()].event.End();
  }

 private:
  struct Slot {
    std::size_t number = static_cast<std::size_t>(-1);
    crema::TrackEvent event;
    std::map<std::string, crema::TrackRequest> waits;  // by algorithm
  };

  static std::uint64_t CallOf(const std::string& caller, const EventContext& context) {
    return std::hash<std::string>()(caller) * 31 + context.slot();
  }
  crema::EventHandle EventOf(const EventContext& context) {
    const std::lock_guard<std::mutex> lock(mutex_);
    Slot& slot = slots_[context.slot()];
    if (slot.number != context.evt()) {
      slot.number = context.evt();
      const auto entry = static_cast<std::int64_t>(context.evt());
      slot.event = crema::TrackEvent({"events", "", entry, entry + 1}, crema::kSummed);  // ends the one before
      slot.event.SetEvents(1);
    }
    return slot.event.handle();
  }

  std::mutex mutex_;
  std::map<std::size_t, Slot> slots_;
};

}  // namespace crema_adapters

#endif  // CREMA_EXAMPLES_TASK_FRAMEWORKS_GAUDI_AUDITOR_H_

// Stand-ins for the interfaces of frameworks that the adapters use, written from their public headers: as much as a
// test needs to compile the adapters and to call them. The real headers take their place in a framework.
#ifndef CREMA_EXAMPLES_TASK_FRAMEWORKS_STAND_INS_H_
#define CREMA_EXAMPLES_TASK_FRAMEWORKS_STAND_INS_H_

#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

// NOLINTBEGIN(readability-identifier-naming): names as the frameworks have them

/// One signal of CMSSW's ActivityRegistry, with the functions that watch it.
template <class... Arguments>
struct StandInSignal {
  std::vector<std::function<void(Arguments...)>> watchers;
  void emit(Arguments... arguments) const {
    for (const auto& watcher : watchers) watcher(arguments...);
  }
};

namespace edm {

class ParameterSet {};

class StreamID {
 public:
  explicit StreamID(unsigned value) : value_(value) {}
  unsigned value() const { return value_; }

 private:
  unsigned value_;
};

class StreamContext {
 public:
  explicit StreamContext(StreamID id) : id_(id) {}
  const StreamID& streamID() const { return id_; }

 private:
  StreamID id_;
};

class ModuleDescription {
 public:
  ModuleDescription(std::string label, unsigned id) : label_(std::move(label)), id_(id) {}
  const std::string& moduleLabel() const { return label_; }
  unsigned id() const { return id_; }

 private:
  std::string label_;
  unsigned id_;
};

class ModuleCallingContext {
 public:
  explicit ModuleCallingContext(const ModuleDescription* description) : description_(description) {}
  const ModuleDescription* moduleDescription() const { return description_; }

 private:
  const ModuleDescription* description_;
};

namespace service {
class SystemBounds {
 public:
  explicit SystemBounds(unsigned streams) : streams_(streams) {}
  unsigned maxNumberOfStreams() const { return streams_; }

 private:
  unsigned streams_;
};
}  // namespace service

#define CREMA_STAND_IN_SIGNAL(Name, ...)                                               \
  StandInSignal<__VA_ARGS__> Name##_;                                                  \
  template <class Class, class Method>                                                 \
  void watch##Name(Class* object, Method method) {                                     \
    Name##_.watchers.push_back([=](auto&&... given) { (object->*method)(given...); }); \
  }

class ActivityRegistry {
 public:
  CREMA_STAND_IN_SIGNAL(Preallocate, const service::SystemBounds&)
  CREMA_STAND_IN_SIGNAL(PreSourceEvent, StreamID)
  CREMA_STAND_IN_SIGNAL(PostSourceEvent, StreamID)
  CREMA_STAND_IN_SIGNAL(PostEvent, const StreamContext&)
  CREMA_STAND_IN_SIGNAL(PostModuleEventPrefetching, const StreamContext&, const ModuleCallingContext&)
  CREMA_STAND_IN_SIGNAL(PreModuleEventAcquire, const StreamContext&, const ModuleCallingContext&)
  CREMA_STAND_IN_SIGNAL(PostModuleEventAcquire, const StreamContext&, const ModuleCallingContext&)
  CREMA_STAND_IN_SIGNAL(PreModuleEvent, const StreamContext&, const ModuleCallingContext&)
  CREMA_STAND_IN_SIGNAL(PostModuleEvent, const StreamContext&, const ModuleCallingContext&)
};

#undef CREMA_STAND_IN_SIGNAL

}  // namespace edm

/// Gaudi's.
class EventContext {
 public:
  EventContext(std::size_t event, std::size_t slot) : event_(event), slot_(slot) {}
  std::size_t evt() const { return event_; }
  std::size_t slot() const { return slot_; }

 private:
  std::size_t event_;
  std::size_t slot_;
};

class StatusCode {};

namespace Gaudi {
class Auditor {
 public:
  virtual ~Auditor() = default;
  virtual void before(const std::string& event, const std::string& caller, const EventContext& context) = 0;
  virtual void after(const std::string& event, const std::string& caller, const EventContext& context,
                     const StatusCode& status) = 0;
};
}  // namespace Gaudi

// NOLINTEND(readability-identifier-naming)

#endif  // CREMA_EXAMPLES_TASK_FRAMEWORKS_STAND_INS_H_

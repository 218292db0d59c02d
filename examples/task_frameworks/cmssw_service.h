// A service for CMSSW: copy it into a plug-in, and DEFINE_FWK_SERVICE(crema_adapters::CmsswService). It needs no change
// to the framework. Pre and Post of a module's call come on one thread (the notes of FWCore/ServiceRegistry); those of
// an event need not.
//
// No signal reports when external work ends, so the time of an ExternalWork module between acquire and produce has to
// come from the module: a crema::TrackRequest(crema::CurrentHandle(), server, operation) in acquire, moved into the
// callback. Without it this time counts as the rest of the latency.
#ifndef CREMA_EXAMPLES_TASK_FRAMEWORKS_CMSSW_SERVICE_H_
#define CREMA_EXAMPLES_TASK_FRAMEWORKS_CMSSW_SERVICE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#ifdef CREMA_STAND_INS
#include "examples/task_frameworks/stand_ins.h"
#else
#include "DataFormats/Provenance/interface/ModuleDescription.h"
#include "FWCore/ParameterSet/interface/ParameterSet.h"
#include "FWCore/ServiceRegistry/interface/ActivityRegistry.h"
#include "FWCore/ServiceRegistry/interface/ModuleCallingContext.h"
#include "FWCore/ServiceRegistry/interface/StreamContext.h"
#include "FWCore/ServiceRegistry/interface/SystemBounds.h"
#endif
#include "crema/crema.h"
#include "examples/task_frameworks/tasks_of_thread.h"

namespace crema_adapters {

class CmsswService {
 public:
  CmsswService(const edm::ParameterSet&, edm::ActivityRegistry& registry) {
    registry.watchPreallocate(this, &CmsswService::Allocate);
    registry.watchPreSourceEvent(this, &CmsswService::BeginEvent);
    registry.watchPostSourceEvent(this, &CmsswService::EndSource);
    registry.watchPostModuleEventPrefetching(this, &CmsswService::MarkModule);
    registry.watchPreModuleEventAcquire(this, &CmsswService::BeginAcquire);
    registry.watchPostModuleEventAcquire(this, &CmsswService::EndCall);
    registry.watchPreModuleEvent(this, &CmsswService::BeginModule);
    registry.watchPostModuleEvent(this, &CmsswService::EndCall);
    registry.watchPostEvent(this, &CmsswService::EndEvent);
  }

 private:
  static constexpr unsigned kSource = 0xffffffff;
  static constexpr unsigned kMostModules = 10000;

  struct Stream {
    crema::TrackEvent event;
    std::vector<crema::Ready> ready = std::vector<crema::Ready>(kMostModules);  // by module: one call of each at a time
  };

  static std::uint64_t CallOf(unsigned stream, unsigned module) { return std::uint64_t{stream} << 32 | module; }

  void Allocate(const edm::service::SystemBounds& bounds) {
    for (unsigned i = 0; i < bounds.maxNumberOfStreams(); ++i) streams_.push_back(std::make_unique<Stream>());
  }
  void BeginEvent(edm::StreamID id) {
    TasksOfThread::Mine().EndAll();  // a source is called inside no module
    Stream& stream = *streams_[id.value()];
    const std::int64_t number = events_.fetch_add(1);
    stream.event = crema::TrackEvent({"events", "", number, number + 1}, crema::kSummed);
    TasksOfThread::Mine().Begin(CallOf(id.value(), kSource), stream.event.handle(), "source");
  }
  void EndSource(edm::StreamID id) { TasksOfThread::Mine().End(CallOf(id.value(), kSource)); }
  void MarkModule(const edm::StreamContext& context, const edm::ModuleCallingContext& call) {
    const edm::ModuleDescription& module = *call.moduleDescription();
    Stream& stream = *streams_[context.streamID().value()];
    if (module.id() < kMostModules) {
      stream.ready[module.id()] = crema::MarkReady(stream.event.handle(), module.moduleLabel());
    }
  }
  void BeginAcquire(const edm::StreamContext& context, const edm::ModuleCallingContext& call) {
    Begin(context, *call.moduleDescription(), call.moduleDescription()->moduleLabel() + "/acquire");
  }
  void BeginModule(const edm::StreamContext& context, const edm::ModuleCallingContext& call) {
    Begin(context, *call.moduleDescription(), call.moduleDescription()->moduleLabel());
  }
  void EndCall(const edm::StreamContext& context, const edm::ModuleCallingContext& call) {
    TasksOfThread::Mine().End(CallOf(context.streamID().value(), call.moduleDescription()->id()));
  }
  void EndEvent(const edm::StreamContext& context) {
    crema::TrackEvent& event = streams_[context.streamID().value()]->event;
    event.SetEvents(1);
    event.End();
  }
  void Begin(const edm::StreamContext& context, const edm::ModuleDescription& module, const std::string& name) {
    const unsigned id = context.streamID().value();
    Stream& stream = *streams_[id];
    crema::Ready ready;
    if (module.id() < kMostModules) ready = std::exchange(stream.ready[module.id()], crema::Ready());
    TasksOfThread::Mine().Begin(CallOf(id, module.id()), stream.event.handle(), name, ready);
  }

  std::vector<std::unique_ptr<Stream>> streams_;
  std::atomic<std::int64_t> events_{0};
};

}  // namespace crema_adapters

#endif  // CREMA_EXAMPLES_TASK_FRAMEWORKS_CMSSW_SERVICE_H_

// The adapters compile with stand-ins of their frameworks, and record what these call.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <thread>

#include "examples/task_frameworks/acts_sequencer.h"
#include "examples/task_frameworks/cmssw_service.h"
#include "examples/task_frameworks/gaudi_auditor.h"
#include "examples/task_frameworks/jana2_hooks.h"
#include "nlohmann/json.hpp"
#include "sdk/tests/clocks.h"
#include "sdk/tests/record_log_reader.h"
#include "sdk/tests/recorded.h"

namespace crema_adapters {
namespace {

using crema::testing::RecordLog;
using crema::testing::Sleep;
using Json = nlohmann::json;
constexpr std::int64_t kMs = 1000000;

struct Sums {
  Json event;
  std::map<std::string, Json> modules;
};

Sums SumsOf(const RecordLog& log) {
  Sums sums;
  for (const std::string& text : log.lines) {
    const Json line = Json::parse(text);
    if (line["type"] != "task_sums") continue;
    sums.event = line["latencies"].at(0);
    for (const Json& row : line["task_modules"]) sums.modules[row["name"].get<std::string>()] = row;
  }
  return sums;
}

void OnAnotherThread(const std::function<void()>& body) { std::thread(body).join(); }

TEST(CmsswService, RecordsModulesAndWhatAModuleSaysOfExternalWork) {
  const Sums sums = SumsOf(crema::testing::Recorded([] {
    edm::ActivityRegistry registry;
    CmsswService service(edm::ParameterSet(), registry);
    const edm::ModuleDescription tracks("tracks", 0), infer("infer", 1);
    const edm::ModuleCallingContext call_tracks(&tracks), call_infer(&infer);
    registry.Preallocate_.emit(edm::service::SystemBounds(1));
    const edm::StreamContext stream(edm::StreamID(0));
    for (int event = 0; event < 2; ++event) {
      OnAnotherThread([&] {
        registry.PreSourceEvent_.emit(edm::StreamID(0));
        registry.PostSourceEvent_.emit(edm::StreamID(0));
      });
      OnAnotherThread([&] {
        registry.PostModuleEventPrefetching_.emit(stream, call_tracks);
        Sleep(kMs);
        registry.PreModuleEvent_.emit(stream, call_tracks);
        registry.PostModuleEvent_.emit(stream, call_tracks);
      });
      crema::TrackRequest request;
      OnAnotherThread([&] {
        registry.PreModuleEventAcquire_.emit(stream, call_infer);
        request = crema::TrackRequest(crema::CurrentHandle(), "triton://t4", "infer");
        registry.PostModuleEventAcquire_.emit(stream, call_infer);
      });
      Sleep(5 * kMs);
      request.End();
      OnAnotherThread([&] {
        registry.PreModuleEvent_.emit(stream, call_infer);
        registry.PostModuleEvent_.emit(stream, call_infer);
        registry.PostEvent_.emit(stream);
      });
    }
  }));
  EXPECT_EQ(sums.event["count"], 2);
  EXPECT_EQ(sums.modules.at("source")["count"], 2);
  EXPECT_EQ(sums.modules.at("infer/acquire")["count"], 2);
  EXPECT_EQ(sums.modules.at("infer")["count"], 2);
  EXPECT_GE(sums.modules.at("tracks")["queue_ns"], 2 * kMs);
  EXPECT_GE(sums.event["external_ns"], 10 * kMs);
}

TEST(CmsswService, AMissingPostAfterAnExceptionHarmsOneEvent) {
  const std::string directory = crema::testing::NewDirectory();
  const crema::testing::ChildResult child =
      crema::testing::RunInChild({{"CREMA_DIR", directory}, {"CREMA_INTERVAL", "0"}}, [] {
        edm::ActivityRegistry registry;
        CmsswService service(edm::ParameterSet(), registry);
        const edm::ModuleDescription throws("throws", 0);
        const edm::ModuleCallingContext call(&throws);
        registry.Preallocate_.emit(edm::service::SystemBounds(1));
        const edm::StreamContext stream(edm::StreamID(0));
        for (int event = 0; event < 3; ++event) {
          registry.PreSourceEvent_.emit(edm::StreamID(0));
          registry.PostSourceEvent_.emit(edm::StreamID(0));
          registry.PreModuleEvent_.emit(stream, call);
          if (event != 1) registry.PostModuleEvent_.emit(stream, call);
          registry.PostEvent_.emit(stream);
        }
      });
  EXPECT_EQ(child.exit_status, 0);
  const std::vector<RecordLog> logs = crema::testing::ReadRecordLogs(directory);
  ASSERT_EQ(logs.size(), 1u);
  const Sums sums = SumsOf(logs[0]);
  EXPECT_EQ(sums.event["count"], 3);
  EXPECT_EQ(sums.modules.at("throws")["count"], 3);
  EXPECT_EQ(logs[0].end->misused, 1);
}

TEST(GaudiAuditor, ASuspendedAlgorithmIsExternal) {
  const Sums sums = SumsOf(crema::testing::Recorded([] {
    GaudiAuditor auditor;
    const EventContext context(7, 0);
    OnAnotherThread([&] {
      auditor.before("Execute", "Tracks", context);
      auditor.before("Suspension", "Tracks", context);
    });
    Sleep(5 * kMs);
    OnAnotherThread([&] {
      auditor.after("Suspension", "Tracks", context, StatusCode());
      auditor.after("Execute", "Tracks", context, StatusCode());
    });
    auditor.EndEvent(context);
  }));
  EXPECT_EQ(sums.event["count"], 1);
  EXPECT_EQ(sums.modules.at("Tracks")["count"], 2);
  EXPECT_GE(sums.event["external_ns"], 5 * kMs);
}

TEST(ActsEvent, RecordsItsAlgorithms) {
  const Sums sums = SumsOf(crema::testing::Recorded([] {
    for (std::size_t number = 0; number < 3; ++number) {
      const ActsEvent event(number);
      const auto algorithm = event.Algorithm("Seeding");
    }
  }));
  EXPECT_EQ(sums.event["count"], 3);
  EXPECT_EQ(sums.modules.at("Seeding")["count"], 3);
}

TEST(JanaEvent, RecordsArrowsAndFactories) {
  const Sums sums = SumsOf(crema::testing::Recorded([] {
    JanaEvent event;
    for (int i = 0; i < 2; ++i) {
      event.Enter("map");
      OnAnotherThread([&] {
        const auto task = event.Fire("map");
        const auto factory = JanaFactory("map/clusters");
      });
      event.Leave();
    }
  }));
  EXPECT_EQ(sums.event["count"], 2);
  EXPECT_EQ(sums.modules.at("map")["queued"], 2);
  EXPECT_EQ(sums.modules.at("map/clusters")["count"], 2);
}

}  // namespace
}  // namespace crema_adapters

// What changes bring to events that go from task to task, against a simulation of the same events.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <queue>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "collector/measurement/measurement.h"
#include "collector/prediction/prediction.h"
#include "nlohmann/json.hpp"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

/// Events on threads that take ready tasks in the order in which they became ready. An event is a task `fit`, a request
/// to a server that answers all at once, and a task of the serial module `write`.
struct Simulated {
  int threads = 2;
  int streams = 4;
  double fit = 0.01, request = 0, write = 0.001;  // seconds, on average
  int events = 2000;

  double wall = 0, latency = 0, queued = 0, external = 0, work = 0, write_seconds = 0;

  void Run() {
    enum Step { kFit, kRequest, kWrite, kDone };
    using Moment = std::tuple<double, int, int>;  // time, slot, the step that is over
    std::priority_queue<Moment, std::vector<Moment>, std::greater<>> moments;
    struct ReadyTask {
      double since;
      int slot;
      int step;
    };
    std::deque<ReadyTask> ready;
    std::vector<double> begun(static_cast<size_t>(streams), -1);
    std::mt19937 random(7);
    std::uniform_real_distribution<double> jitter(0.6, 1.4);
    int left = events, running = 0;
    bool is_writing = false;
    const auto begin = [&](int slot) {
      if (left-- <= 0) return;
      begun[static_cast<size_t>(slot)] = wall;
      ready.push_back({wall, slot, kFit});
    };
    for (int slot = 0; slot < streams; ++slot) begin(slot);
    while (true) {
      for (auto task = ready.begin(); running < threads && task != ready.end();) {
        if (task->step == kWrite && is_writing) {
          ++task;
          continue;
        }
        const double seconds = jitter(random) * (task->step == kFit ? fit : write);
        queued += wall - task->since;
        work += seconds;
        if (task->step == kWrite) write_seconds += seconds, is_writing = true;
        ++running;
        moments.emplace(wall + seconds, task->slot, task->step);
        task = ready.erase(task);
      }
      if (moments.empty()) return;
      const auto [time, slot, step] = moments.top();
      moments.pop();
      wall = time;
      if (step != kRequest) --running;
      if (step == kFit) {
        const double seconds = jitter(random) * request;
        external += seconds;
        moments.emplace(wall + seconds, slot, kRequest);
      } else if (step == kRequest) {
        ready.push_back({wall, slot, kWrite});
      } else {
        is_writing = false;
        latency += wall - begun[static_cast<size_t>(slot)];
        begin(slot);
      }
    }
  }
};

/// As crema would have measured it; `is_marked`: with MarkReady.
Json DocumentOf(const Simulated& run, bool is_marked = true) {
  const double others = 1;  // before the events
  const double queued = is_marked ? run.queued : 0;
  Json document = {{"metrics", {{"wall_time", others + run.wall}, {"total_cores", run.threads}}},
                   {"events",
                    {{{"events", run.events},
                      {"latency_seconds", run.latency},
                      {"queued_seconds", queued},
                      {"external_seconds", run.external},
                      {"rest_seconds", run.queued - queued}}}}};
  const auto module = [&](const char* name, double own, int at_once) {
    Json row = {{"module", name},         {"calls", run.events}, {"own_seconds", own},
                {"cpu_seconds", own / 2}, {"at_once", at_once},  {"queued_calls", is_marked ? run.events : 0}};
    if (at_once == 1) row["ceiling"] = run.events / own;
    return row;
  };
  document["modules"] = {module("fit", run.work - run.write_seconds, run.threads),
                         module("write", run.write_seconds, 1)};
  document["timelines"]["event_latency"]["active"] = {{others, 0.1}, {others + run.wall, nullptr}};
  return document;
}

Prediction PredictedOf(const Json& document, const std::vector<RunChange>& changes) {
  RunObserver observer("");
  return Predict(observer.Finish(MeasurementOf(document)), changes);
}
Prediction PredictedFor(const Simulated& run, const std::vector<RunChange>& changes, bool is_marked = true) {
  return PredictedOf(DocumentOf(run, is_marked), changes);
}

/// The prediction of one change of a run, against the run with that change.
void ExpectTrue(Simulated run, const RunChange& change, double tolerance, const std::string& limited_by) {
  Simulated changed = run;
  run.Run();
  const Prediction prediction = PredictedFor(run, {change});
  ASSERT_EQ(prediction.refused, "");
  const PredictedRow& row = prediction.rows.at(0);
  ASSERT_EQ(row.why_not, "");
  (change.kind == ChangeKind::kStreams ? changed.streams : changed.threads) = static_cast<int>(change.number);
  changed.Run();
  const double truth = 1 + changed.wall;
  EXPECT_NEAR(row.wall_time.value / truth, 1, tolerance) << change.Text();
  EXPECT_LE(row.wall_time.low, truth) << change.Text();
  EXPECT_GE(row.wall_time.high, truth) << change.Text();
  EXPECT_EQ(row.limited_by, limited_by) << change.Text();
}

TEST(EventRate, MoreCoresHelpUntilTheSerialModuleIsTheLimit) {
  Simulated run;
  run.streams = 64;
  ExpectTrue(run, {ChangeKind::kCores, 4, ""}, 0.05, "cores");
  ExpectTrue(run, {ChangeKind::kCores, 8, ""}, 0.10, "cores");
  ExpectTrue(run, {ChangeKind::kCores, 64, ""}, 0.10, "module write");
  ExpectTrue(run, {ChangeKind::kCores, 1, ""}, 0.05, "cores");
}

TEST(EventRate, MoreCoresDoNotHelpEventsThatWaitForAServer) {
  Simulated run;
  run.request = 0.2;
  ExpectTrue(run, {ChangeKind::kCores, 16, ""}, 0.10, "events open at once");
  ExpectTrue(run, {ChangeKind::kStreams, 16, ""}, 0.10, "events open at once");
  ExpectTrue(run, {ChangeKind::kStreams, 400, ""}, 0.10, "cores");
}

TEST(EventRate, TheNumberOfStreamsIsALimit) {
  Simulated run;
  run.streams = 3;
  ExpectTrue(run, {ChangeKind::kCores, 16, ""}, 0.15, "events open at once");
}

TEST(EventRate, WhatIsNotKnownIsSaid) {
  Simulated run;
  run.streams = 8;
  run.request = 0.02;
  run.Run();
  const std::vector<RunChange> more = {{ChangeKind::kCores, 16, ""}};
  const Prediction marked = PredictedFor(run, more), unmarked = PredictedFor(run, more, false);
  EXPECT_EQ(marked.not_known.find("MarkReady"), std::string::npos);
  EXPECT_NE(unmarked.not_known.find("MarkReady"), std::string::npos);
  EXPECT_NE(unmarked.not_known.find("servers stay as fast"), std::string::npos);
  // all of what may be a queue is in the range
  EXPECT_LE(unmarked.rows[0].wall_time.low, marked.rows[0].wall_time.low * 1.001);
  EXPECT_GE(unmarked.rows[0].wall_time.high, marked.rows[0].wall_time.high * 0.999);
  const Prediction others = PredictedFor(run, {{ChangeKind::kWorkers, 2, ""}, {ChangeKind::kLongestFirst, 0, ""}});
  for (const PredictedRow& row : others.rows) EXPECT_NE(row.why_not.find("--streams"), std::string::npos);
}

TEST(EventRate, OnOneCoreNothingShowsThatAModuleIsSerial) {
  Simulated run;
  run.threads = 1;
  run.fit = run.write = 0.01;
  run.streams = 16;
  run.Run();
  const Prediction prediction = PredictedFor(run, {{ChangeKind::kCores, 8, ""}});
  EXPECT_NE(prediction.not_known.find("chance"), std::string::npos) << prediction.not_known;
  const PredictedValue& wall = prediction.rows[0].wall_time;
  EXPECT_LE(wall.low, 1 + run.wall / 7) << "not serial";
  EXPECT_GE(wall.high, 1 + run.wall / 2.2) << "serial";
}

TEST(EventRate, NoModuleIsSerialWhereEachProcessHasOneThread) {
  Simulated run;
  run.threads = 8;
  run.streams = 16;
  run.fit = run.write = 0.01;
  run.Run();
  Json document = DocumentOf(run);
  const std::vector<RunChange> more = {{ChangeKind::kCores, 64, ""}};
  EXPECT_EQ(PredictedOf(document, more).rows.at(0).limited_by, "module write");
  document["metrics"]["peak_workers"] = 8;
  EXPECT_NE(PredictedOf(document, more).rows.at(0).limited_by, "module write");
}

TEST(EventRate, FewerTasksAtOnceThanCoresAreALimitOfTheirOwn) {
  Simulated run;
  run.threads = 4;
  run.streams = 64;
  run.Run();
  const Prediction prediction =
      PredictedFor(run, {{ChangeKind::kLanes, 2, ""}, {ChangeKind::kLanes, 4, ""}, {ChangeKind::kCores, 2, ""}});
  EXPECT_EQ(prediction.rows.at(0).limited_by, "tasks at once");
  EXPECT_EQ(prediction.rows.at(1).limited_by, "cores");
  EXPECT_EQ(prediction.rows.at(2).limited_by, "cores");
}

TEST(EventRate, AnUndividedLatencyMayHoldQueues) {
  Simulated run;
  run.streams = 8;
  run.Run();
  Json document = DocumentOf(run);
  document["events"][0]["rest_seconds"] = run.queued;
  document["events"][0]["queued_seconds"] = 0;
  document["events"][0]["not_divided"] = run.events;
  const Prediction prediction = PredictedOf(document, {{ChangeKind::kStreams, 16, ""}});
  EXPECT_NE(prediction.not_known.find("was not divided"), std::string::npos) << prediction.not_known;
  EXPECT_GE(prediction.rows.at(0).wall_time.high, 1 + 0.97 * run.wall) << "the cores were busy";
}

TEST(EventRate, CpuTimeThatNobodyRecordedIsNotKnown) {
  Simulated run;
  run.Run();
  Json document = DocumentOf(run);
  for (Json& module : document["modules"]) module.erase("cpu_seconds");
  const Prediction prediction = PredictedOf(document, {{ChangeKind::kCores, 4, ""}});
  EXPECT_FALSE(prediction.rows.at(0).cpu_known);
  EXPECT_EQ(prediction.rows.at(0).waiting.value, 0);
}

TEST(EventRate, MoreEventsAtOnceThanCanBeIsRefused) {
  Simulated run;
  run.Run();
  run.latency = 9e18;
  EXPECT_NE(PredictedFor(run, {{ChangeKind::kCores, 4, ""}}).refused.find("10,000"), std::string::npos);
}

TEST(EventRate, ARunThatItsLimitsDoNotExplainIsRefused) {
  Simulated run;
  run.Run();
  run.wall *= 3;  // nobody marked why
  EXPECT_NE(PredictedFor(run, {}).refused.find("nobody recorded"), std::string::npos);
}

TEST(EventRate, StreamsAreOfEventsOnly) { EXPECT_FALSE(Apply(ObservedRun(), {ChangeKind::kStreams, 8, ""}, 0).ok()); }

}  // namespace
}  // namespace crema

#include "collector/engines/dask/event_message.h"

#include <gtest/gtest.h>

#include <string>

namespace crema {
namespace {

/// As a scheduler sends it; the second word of the key is a hash.
std::string Finished(const std::string& key, const std::string& action, const std::string& more = "") {
  return R"({"key": )" + key + R"(, "name": "transition", "color": "#45BF6F", "stimulus_id": "task-finished-1.5", )" +
         R"("worker": "tcp://10.0.0.1:45179", "metadata": {}, "nbytes": 28, "typename": "int", )" +
         R"("thread": 140666843596480, "startstops": [], "status": "OK", "action": ")" + action +
         R"(", "start": 1795349712.25, "stop": 1795349712.75)" + more + "}";
}

TEST(EventMessage, AFinishedTaskSaysWhereAndHowLongItComputed) {
  const auto event = ParseEventMessage(Finished("\"inc-daadf82c4cc6b4af2f1d12df2517ea0a\"", "compute"));
  ASSERT_TRUE(event.has_value());
  EXPECT_EQ(event->kind, SchedulerEventKind::kFinishedTask);
  EXPECT_EQ(event->worker, "tcp://10.0.0.1:45179");
  EXPECT_EQ(event->prefix, "inc");
  EXPECT_DOUBLE_EQ(event->compute_seconds, 0.5);
}

TEST(EventMessage, ATaskThatFetchedItsInputsIsCountedOnce) {
  const auto event = ParseEventMessage(Finished("\"sum-1\"", "transfer"));
  ASSERT_TRUE(event.has_value());
  EXPECT_EQ(event->kind, SchedulerEventKind::kOther);
}

TEST(EventMessage, AKeyMayBeATuple) {
  EXPECT_EQ(ParseEventMessage(Finished(R"(["x-2", 1])", "compute"))->prefix, "x");
  EXPECT_EQ(ParseEventMessage(Finished(R"([["x-2", 1], 1])", "compute"))->prefix, "x");
  EXPECT_EQ(ParseEventMessage(Finished("7", "compute"))->prefix, "Other");
}

TEST(EventMessage, WorkersComeAndGo) {
  const auto joins = ParseEventMessage(R"({"worker": "tcp://10.0.0.1:1", "name": "add_worker"})");
  ASSERT_TRUE(joins.has_value());
  EXPECT_EQ(joins->kind, SchedulerEventKind::kAddWorker);
  EXPECT_EQ(joins->worker, "tcp://10.0.0.1:1");
  EXPECT_EQ(ParseEventMessage(R"({"worker": "a", "name": "remove_worker"})")->kind, SchedulerEventKind::kRemoveWorker);
}

TEST(EventMessage, WhatElseIsToldIsPassedOver) {
  for (const char* text : {R"({"client": "Client-1", "name": "update_graph"})", R"({"name": "restart"})",
                           R"({"name": "what_dask_may_say_one_day", "worker": 3})"}) {
    const auto event = ParseEventMessage(text);
    ASSERT_TRUE(event.has_value()) << text;
    EXPECT_EQ(event->kind, SchedulerEventKind::kOther) << text;
  }
}

TEST(EventMessage, WhatIsMalformedIsSaidToBe) {
  for (const char* text :
       {"", "{", "null", "[]", "\"add_worker\"", "{}", R"({"name": 3})", R"({"name": "add_worker"})",
        R"({"name": "remove_worker", "worker": 7})", R"({"name": "transition", "action": "compute"})",
        "{\"name\": \"add_worker\", \"worker\": \"\xff\"}"}) {
    EXPECT_FALSE(ParseEventMessage(text).has_value()) << text;
  }
  EXPECT_FALSE(ParseEventMessage(Finished("[]", "compute")).has_value());
  EXPECT_FALSE(ParseEventMessage(Finished("\"x\"", "compute", R"(, "stop": "late")")).has_value());
  EXPECT_FALSE(ParseEventMessage(Finished("\"x\"", "compute", R"(, "stop": 0)")).has_value()) << "before it began";
}

TEST(EventMessage, EveryBeginningOfAMessageIsRead) {
  const std::string whole = Finished("\"x-1\"", "compute");
  for (size_t length = 0; length < whole.size(); ++length) {
    EXPECT_FALSE(ParseEventMessage(whole.substr(0, length)).has_value()) << length;
  }
}

// The examples of dask.utils.key_split, and what it makes of stranger ones.
TEST(TaskPrefix, IsWhatDaskSays) {
  const std::pair<const char*, const char*> cases[] = {
      {"x", "x"},
      {"x-1", "x"},
      {"x-1-2-3", "x"},
      {"('x-2', 1)", "x"},
      {"('x', 1)", "x"},
      {"hello-world-1", "hello-world"},
      {"ae05086432ca935f6eba409a8ecd4896", "data"},
      {"<module.submodule.myclass object at 0xdaf372", "myclass"},
      {"x-abcdefab", "x"},
      {"my-function-1", "my"},
      {"_(x)", "x"},
      {"", "Other"},
      {"-x", "Other"},
      {"()", "Other"},
      {"<>", "Other"},
      {"1", "1"},
      {"größe-1", "größe"},
  };
  for (const auto& [key, prefix] : cases) EXPECT_EQ(TaskPrefix(key), prefix) << key;
}

}  // namespace
}  // namespace crema

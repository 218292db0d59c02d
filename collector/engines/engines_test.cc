#include "collector/engines/engines.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace crema {
namespace {

std::optional<std::string> FindNothing(const std::string&) { return std::nullopt; }
absl::StatusOr<EngineReading> ReadNothing(const std::string&) { return EngineReading(); }

const Engine kOther = {{"Other"}, "other://", ".other.log", FindNothing, ReadNothing};

TEST(Engines, AreToldByAddressLogAndName) {
  EXPECT_EQ(EngineOfAddress("other://host:1"), nullptr);
  const AddedEngine added(kOther);
  EXPECT_EQ(EngineOfAddress("other://host:1"), &kOther);
  EXPECT_EQ(EngineOfAddress("runs/other://x"), nullptr);
  EXPECT_EQ(EngineOfLogName("records/run.other.log"), &kOther);
  EXPECT_EQ(EngineOfLogName("log"), nullptr);
  EXPECT_EQ(EngineNamed("Other"), &kOther);
  EXPECT_EQ(EngineNamed("Other 2.1, Dask"), &kOther);
  EXPECT_EQ(EngineNamed("Otherwise"), nullptr);
  EXPECT_EQ(EngineNamed(""), nullptr);
  EXPECT_FALSE(FindEngineLog("/nowhere").has_value());
}

TEST(Engines, AreKnownNoLongerThanTheyWereAdded) {
  { const AddedEngine added(kOther); }
  EXPECT_EQ(EngineNamed("Other"), nullptr);
}

TEST(Engines, KnowTheDirectoriesOfTheirTasks) {
  EXPECT_EQ(PidOfEngineWorker("/scratch/worker-1000-4711/task.12/deeper"), 4711);
  EXPECT_EQ(PidOfEngineWorker("/scratch/worker-1000-4711"), 4711);
  for (const char* none : {"", "/", "/scratch/worker-1000/task.1", "/scratch/worker-1000-x/task.1", "/worker-1-0",
                           "/worker-1-2-3", "/home/ana"}) {
    EXPECT_EQ(PidOfEngineWorker(none), std::nullopt) << none;
  }
  const Engine other = {
      {"Other"}, "",      ".other.log", FindNothing, ReadNothing,
      nullptr,   nullptr, nullptr,      nullptr,     [](std::string_view) { return std::optional<int64_t>(7); }};
  const AddedEngine added(other);
  EXPECT_EQ(PidOfEngineWorker("/home/ana"), 7);
}

TEST(Engines, HaveAllThatTheirSourcesNeed) {
  std::set<std::string_view> suffixes;
  for (const Engine* engine : Engines()) {
    const std::string_view name = engine->traits.name;
    EXPECT_FALSE(name.empty());
    EXPECT_FALSE(engine->traits.logs.empty()) << name;
    EXPECT_EQ(engine->traits.task_processes.find(' '), std::string_view::npos)
        << name << ": a name, as records have it";
    EXPECT_TRUE(suffixes.insert(engine->log_suffix).second) << name;
    EXPECT_NE(engine->find_log, nullptr) << name;
    EXPECT_NE(engine->read, nullptr) << name;
    const bool has_addresses = !engine->scheme.empty();
    EXPECT_TRUE(engine->pull == nullptr || has_addresses) << name;
    EXPECT_EQ(engine->follow != nullptr, has_addresses) << name;
    EXPECT_EQ(engine->traits.dashboard.empty(), !has_addresses) << name;
    if (has_addresses) {
      EXPECT_NE(engine->make_feed, nullptr) << name;
    }
  }
}

}  // namespace
}  // namespace crema

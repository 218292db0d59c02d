#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "collector/server/live_service.h"

namespace crema {
namespace {

constexpr int64_t kFirst = 1000;

TEST(DeltaStore, GivesEverythingToWhoKnowsNothing) {
  DeltaStore store(kFirst);
  store.Begin();
  store.Set("run", "a");
  store.SetRow("workers", "w1", {{"open", 1}});
  const auto delta = store.Since(0);
  EXPECT_EQ(delta["full"], true);
  EXPECT_EQ(delta["id"], kFirst + 1);
  EXPECT_EQ(delta["run"], "a");
  EXPECT_EQ(delta["workers"]["w1"]["open"], 1);
}

TEST(DeltaStore, GivesOnlyWhatChangedSince) {
  DeltaStore store(kFirst);
  store.Begin();
  store.Set("run", "a");
  store.Set("tiles", 1);
  store.SetRow("workers", "w1", 1);
  store.SetRow("workers", "w2", 1);
  const int64_t seen = store.now();
  store.Begin();
  store.Set("run", "a");
  store.Set("tiles", 2);
  store.SetRow("workers", "w2", 2);
  const auto delta = store.Since(seen);
  EXPECT_EQ(delta["full"], false);
  EXPECT_FALSE(delta.contains("run"));
  EXPECT_EQ(delta["tiles"], 2);
  EXPECT_EQ(delta["workers"].size(), 1u);
  EXPECT_EQ(delta["workers"]["w2"], 2);
}

TEST(DeltaStore, MergesWhatAClientMissed) {
  DeltaStore store(kFirst);
  store.Begin();
  store.SetRow("events", "1", "a");
  const int64_t seen = store.now();
  for (int i = 2; i < 6; ++i) {
    store.Begin();
    store.SetRow("events", std::to_string(i), "b");
  }
  EXPECT_EQ(store.Since(seen)["events"].size(), 4u);
}

TEST(DeltaStore, TellsWhichRowsAreGone) {
  DeltaStore store(kFirst);
  store.Begin();
  store.SetRow("workers", "w1", 1);
  store.SetRow("workers", "w2", 1);
  const int64_t seen = store.now();
  store.Begin();
  store.KeepRows("workers", [](const std::string& key) { return key == "w2"; });
  EXPECT_EQ(store.Since(seen)["removed"]["workers"], nlohmann::ordered_json({"w1"}));
  store.Begin();
  store.SetRow("workers", "w1", 3);  // back again
  EXPECT_FALSE(store.Since(seen).contains("removed"));
  EXPECT_EQ(store.Since(seen)["workers"]["w1"], 3);
}

TEST(DeltaStore, StartsAnewForAClientOfAnotherServer) {
  DeltaStore store(kFirst);
  store.Begin();
  store.Set("run", "a");
  EXPECT_EQ(store.Since(kFirst - 10)["full"], true);
  EXPECT_EQ(store.Since(kFirst + 10)["full"], true);
  EXPECT_EQ(store.Since(store.now())["full"], false);
}

}  // namespace
}  // namespace crema

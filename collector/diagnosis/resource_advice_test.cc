#include "collector/diagnosis/chunk_size_advice.h"
#include "collector/measurement/measurement.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace crema {
namespace {

using testing::HasSubstr;
using Json = nlohmann::ordered_json;

constexpr double kMegabyte = 1e6;

/// Jobs of 100 s with 2 cores and 4 GB; the i-th of them used i MB, and i / n cores.
Json Jobs(int n) {
  Json document;
  document["workers"] = Json::array();
  for (int i = 1; i <= n; ++i) {
    document["workers"].push_back({{"state", "ended"},
                                   {"start", 0},
                                   {"stop", 100},
                                   {"cores", 2},
                                   {"memory_limit_bytes", 4e9},
                                   {"peak_memory_bytes", 1},
                                   {"engine_peak_memory_bytes", i * kMegabyte},
                                   {"engine_cpu", 100.0 * i / n},
                                   {"time_limit", 3600}});
  }
  return document;
}

std::vector<ResourceAdviceRow> AdviseResources(const Json& document) {
  return crema::AdviseResources(MeasurementOf(document));
}

TEST(ResourceAdvice, IsTheQuantileOfWhatJobsUsedWithItsInterval) {
  const std::vector<ResourceAdviceRow> advice = AdviseResources(Jobs(1000));
  ASSERT_EQ(advice.size(), 2u);
  EXPECT_EQ(advice[0].resource, "memory");
  EXPECT_EQ(advice[0].jobs, 1000);
  EXPECT_EQ(advice[0].requested, 4e9);
  EXPECT_EQ(advice[0].used, 990 * kMegabyte);
  // binomial quantiles of 1,000 at 0.99: P(N <= 982) = 0.014, P(N <= 983) = 0.026; P(N >= 996) = 0.029,
  // P(N >= 997) = 0.010
  EXPECT_EQ(advice[0].used_low, 983 * kMegabyte);
  EXPECT_EQ(advice[0].used_high, 997 * kMegabyte);
  EXPECT_FALSE(advice[0].reason.has_value());
  EXPECT_EQ(advice[1].resource, "cores");
  EXPECT_EQ(advice[1].requested, 2);
  EXPECT_NEAR(advice[1].used.value_or(0), 0.99, 1e-9);
}

TEST(ResourceAdvice, OfFewJobsIsWithheldAndOfSomeHasNoUpperEnd) {
  const ResourceAdviceRow few = AdviseResources(Jobs(99)).at(0);
  EXPECT_FALSE(few.used.has_value());
  EXPECT_THAT(few.reason.str(), HasSubstr("fewer than 100 jobs"));
  const ResourceAdviceRow some = AdviseResources(Jobs(100)).at(0);
  EXPECT_EQ(some.used, 99 * kMegabyte);
  EXPECT_TRUE(some.used_low.has_value());
  EXPECT_FALSE(some.used_high.has_value());
  EXPECT_THAT(some.reason.str(), HasSubstr("too few jobs for an upper end"));
}

TEST(ResourceAdvice, LeavesOutJobsThatWereEndedAndTakesTheLargerPeak) {
  Json document = Jobs(200);
  for (int i = 100; i < 200; ++i) document["workers"][i]["state"] = "lost";
  document["workers"][0]["peak_memory_bytes"] = 500 * kMegabyte;
  const ResourceAdviceRow memory = AdviseResources(document).at(0);
  EXPECT_EQ(memory.jobs, 100);
  EXPECT_EQ(memory.used, 100 * kMegabyte) << "the largest but one of 2 to 100 and 500";
  for (Json& worker : document["workers"]) worker["stop"] = 5;
  EXPECT_EQ(AdviseResources(document).at(1).jobs, 0) << "of 5 s nobody knows how many cores they used";
}

TEST(ResourceAdvice, IsWithheldWhereJobsShareARow) {
  Json document = Jobs(200);
  document["workers"].push_back({{"name", "(other)"}});
  for (const ResourceAdviceRow& row : AdviseResources(document)) {
    EXPECT_FALSE(row.used.has_value() || row.jobs.has_value() || row.requested.has_value());
    EXPECT_THAT(row.reason.str(), HasSubstr("some jobs share one row"));
  }
}

TEST(ResourceAdvice, IsNoneWithoutABatchSystem) {
  Json document = Jobs(200);
  for (Json& worker : document["workers"]) {
    worker["engine_cpu"] = worker["engine_peak_memory_bytes"] = worker["time_limit"] = nullptr;
  }
  EXPECT_TRUE(AdviseResources(document).empty());
}

}  // namespace
}  // namespace crema

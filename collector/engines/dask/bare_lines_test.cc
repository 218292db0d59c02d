#include "collector/engines/dask/bare_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace crema {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

TEST(BareLines, CountsAreWholeNumbers) {
  const auto counts = ParseCounts(R"({"workers": 2, "cores": 4, "bytes": 1.5, "tasks": null, "idle": "3"})");
  ASSERT_TRUE(counts.has_value());
  EXPECT_THAT(*counts, ElementsAre(Pair("cores", 4), Pair("workers", 2)));
  for (const char* body : {"", "[]", "3", "{\"workers\": 2", "<html>"}) EXPECT_FALSE(ParseCounts(body).has_value());
}

TEST(BareLines, ComputeSecondsAreFoundAmongOtherMetrics) {
  EXPECT_THAT(ParseComputeSeconds("# TYPE dask_scheduler_tasks_compute_seconds_total counter\n"
                                  "dask_scheduler_tasks_compute_seconds_total{task_prefix_name=\"fill\"} 12.5\n"
                                  "dask_scheduler_tasks_transfer_seconds_total{task_prefix_name=\"fill\"} 3\n"
                                  "dask_scheduler_tasks_compute_seconds_total{task_prefix_name=\"merge me\"} 1e-3\n"),
              ElementsAre(Pair("fill", 12.5), Pair("merge me", 0.001)));
}

TEST(BareLines, MetricsThatAreNoneAreLeftOut) {
  EXPECT_THAT(ParseComputeSeconds("# Prometheus metrics are not available, see the documentation\n"), IsEmpty());
  for (const char* line : {"{", "{}", "{task_prefix_name=\"x\"}", "{task_prefix_name=\"x\"} much",
                           "{task_prefix_name=\"x} 3", "{task_prefix_name=x} 3", "{task_prefix_name=\"x\"} nan"}) {
    EXPECT_THAT(ParseComputeSeconds("dask_scheduler_tasks_compute_seconds_total" + std::string(line)), IsEmpty())
        << line;
  }
}

TEST(BareLines, AreLinesOfADaskLog) {
  EXPECT_EQ(BareClusterLine("dask://a:1", 7).rfind("{\"type\":\"cluster\",\"schema\":\"crema.dask/1\"", 0), 0u);
  EXPECT_EQ(BareLine(7, {{"cores", 4}}), "{\"type\":\"bare\",\"time_ns\":7,\"counts\":{\"cores\":4}}\n");
  EXPECT_EQ(ComputeSecondsLine(7, {{"fill", 1.5}}),
            "{\"type\":\"account\",\"time_ns\":7,\"rows\":[{\"prefix\":\"fill\",\"seconds\":{\"compute\":1.5}}]}\n");
}

}  // namespace
}  // namespace crema

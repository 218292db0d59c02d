#include "collector/metrics/tree/oom_kills.h"

#include <utility>

#include "gtest/gtest.h"

namespace crema {
namespace {

constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kOrigin = 1'700'000'000 * kSecond;

TreeAccumulator TreeWith(std::optional<int64_t> kills) {
  TreeRun run;
  run.run.host = "node";
  run.run.start_ns = kOrigin;
  TreeEndFact end;
  end.time_ns = kOrigin + 60 * kSecond;
  end.totals.oom_kills = kills;
  run.Add(end);
  TreeAccumulator trees;
  trees.Add(std::move(run));
  return trees;
}

ProcessRow Process(ProcessState state, const std::string& host, int64_t start, const std::string& reason = "") {
  ProcessRow row;
  row.state = state;
  row.host = host;
  row.start_ns = kOrigin + start * kSecond;
  row.left_reason = reason;
  return row;
}

TEST(NameOomKills, IsTheReasonOfProcessesThatVanishedUnderTheRun) {
  std::vector<ProcessRow> processes = {
      Process(ProcessState::kLost, "node", 1),    Process(ProcessState::kEnded, "node", 1),
      Process(ProcessState::kLost, "other", 1),   Process(ProcessState::kLost, "node", 100),
      Process(ProcessState::kLost, "node", -100), Process(ProcessState::kLost, "node", 1, "TIMEOUT")};
  NameOomKills(TreeWith(1), &processes);
  EXPECT_EQ(processes[0].left_reason, "the kernel killed a process of its control group, out of memory");
  for (size_t i = 1; i < 5; ++i) EXPECT_EQ(processes[i].left_reason, "") << i;
  EXPECT_EQ(processes[5].left_reason, "TIMEOUT");
  processes.resize(1);
  processes[0].left_reason = "";
  NameOomKills(TreeWith(3), &processes);
  EXPECT_EQ(processes[0].left_reason, "the kernel killed 3 processes of its control group, out of memory");
}

TEST(NameOomKills, SaysNothingWhereTheKernelKilledNoneOrDoesNotCount) {
  for (const std::optional<int64_t> kills : {std::optional<int64_t>(0), std::optional<int64_t>()}) {
    std::vector<ProcessRow> processes = {Process(ProcessState::kLost, "node", 1)};
    NameOomKills(TreeWith(kills), &processes);
    EXPECT_EQ(processes[0].left_reason, "");
  }
}

}  // namespace
}  // namespace crema

#include "collector/metrics/workers/process_table.h"

#include <gtest/gtest.h>

#include <optional>

namespace crema {
namespace {

/// The first line of a log of one process.
ProcessFact Log(int64_t recorder, std::optional<int64_t> first_recorder = std::nullopt) {
  ProcessFact fact;
  fact.host = "node";
  fact.pid = 7;
  fact.start_ns = 1000;
  fact.recorder = recorder;
  fact.first_recorder = first_recorder;
  return fact;
}

EndFact EndWithOverhead(int64_t overhead_ns) {
  EndFact end;
  end.time_ns = 2000;
  end.overhead_ns = overhead_ns;
  return end;
}

TEST(ProcessTable, LogsOfOneWriterAreOneProcessThatEndsWithAllOfThem) {
  ProcessTable table;
  const LogRef first = table.Add(Log(0), false);
  const LogRef beside = table.Add(Log(1, 0), false);
  table.Add(first, EndWithOverhead(300));
  EXPECT_EQ(table.Finalize().processes.at(0).state, ProcessState::kUnreported);
  table.Add(beside, EndWithOverhead(0));
  const ProcessFindings findings = table.Finalize();
  ASSERT_EQ(findings.processes.size(), 1u);
  EXPECT_EQ(findings.processes[0].state, ProcessState::kEnded);
  EXPECT_EQ(findings.processes[0].overhead_ns, 300);
}

TEST(ProcessTable, DistinguishesTheLogsOfTwoWriters) {
  ProcessTable table;
  table.Add(Log(2), false);
  ProcessTable other;
  other.Add(Log(1, 0), false);
  other.Add(Log(0), false);
  table.Merge(other);
  const ProcessFindings findings = table.Finalize();
  EXPECT_EQ(findings.processes.size(), 1u);
  ASSERT_EQ(findings.writer_of_log.size(), 3u);
  EXPECT_EQ(findings.writer_of_log[1], findings.writer_of_log[2]);
  EXPECT_NE(findings.writer_of_log[0], findings.writer_of_log[1]);
}

}  // namespace
}  // namespace crema

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "collector/server/live_service.h"

namespace crema {
namespace {

/// Asks until the page is there, or cannot be.
LiveReply AnswerInTheEnd(ServedReport* report, int64_t records) {
  LiveReply reply = report->Answer("run", records);
  while (reply.status == 202) {
    std::this_thread::yield();
    reply = report->Answer("run", records);
  }
  return reply;
}

TEST(ServedReport, IsWrittenOnAThreadOfItsOwnAndAskedForAgainMeanwhile) {
  std::promise<void> go;
  ServedReport report([&go](const std::string& run_id) -> absl::StatusOr<std::string> {
    go.get_future().wait();
    return "page of " + run_id;
  });
  EXPECT_FALSE(report.is_writing());
  EXPECT_EQ(report.Answer("run", 5).status, 202);
  EXPECT_TRUE(report.is_writing());
  EXPECT_NE(report.Answer("run", 5).body.find("http-equiv=\"refresh\""), std::string::npos);
  go.set_value();
  const LiveReply reply = AnswerInTheEnd(&report, 5);
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.body, "page of run");
  EXPECT_FALSE(report.is_writing());
}

TEST(ServedReport, IsKeptUntilThereAreOtherRecords) {
  std::atomic<int> written{0};
  ServedReport report(
      [&written](const std::string&) -> absl::StatusOr<std::string> { return "page " + std::to_string(++written); });
  EXPECT_EQ(AnswerInTheEnd(&report, 5).body, "page 1");
  EXPECT_EQ(AnswerInTheEnd(&report, 5).body, "page 1");
  EXPECT_EQ(AnswerInTheEnd(&report, 6).body, "page 2");
}

TEST(ServedReport, ThatCannotBeWrittenSaysWhy) {
  ServedReport report(
      [](const std::string&) -> absl::StatusOr<std::string> { return absl::NotFoundError("no such directory"); });
  const LiveReply reply = AnswerInTheEnd(&report, 5);
  EXPECT_EQ(reply.status, 500);
  EXPECT_EQ(reply.body, "the report cannot be written: no such directory\n");
}

}  // namespace
}  // namespace crema

#include "examples/zjets/worker_processes.h"

#include <algorithm>
#include <csignal>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "examples/zjets/byte_stream.h"
#include "examples/zjets/work_counter.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace zjets {
namespace {

using testing::HasSubstr;

TEST(WorkerProcesses, AnswerWithWhatTheFunctionMakesOfTheMessage) {
  const std::string large(5'000'000, 'x');  // more than a socket holds
  WorkerProcesses workers(3, [](std::string_view message) { return std::string(message) + "!"; });
  workers.SendToAll(large);
  const std::vector<WorkerProcesses::Answer> answers = workers.Receive();
  ASSERT_EQ(answers.size(), 3U);
  for (const WorkerProcesses::Answer& answer : answers) EXPECT_TRUE(answer.message == large + "!");
}

TEST(WorkerProcesses, ADeathIsToldByItsSignalAndTheOthersAnswer) {
  WorkCounter counter;
  WorkerProcesses workers(2, [&counter](std::string_view) -> std::string {
    if (counter.Next() == 0) std::raise(SIGKILL);
    return "done";
  });
  workers.SendToAll("");
  int dead = 0;
  for (const WorkerProcesses::Answer& answer : workers.Receive()) {
    if (answer.message.has_value()) {
      EXPECT_EQ(*answer.message, "done");
    } else {
      ++dead;
      EXPECT_THAT(answer.worker, HasSubstr("was killed by signal 9"));
    }
  }
  EXPECT_EQ(dead, 1);
}

TEST(WorkerProcesses, AnExceptionIsAnAnswerThatIsMissing) {
  WorkerProcesses workers(1, [](std::string_view) -> std::string { throw std::runtime_error("on purpose"); });
  workers.SendToAll("");
  const std::vector<WorkerProcesses::Answer> answers = workers.Receive();
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_FALSE(answers[0].message.has_value());
  EXPECT_THAT(answers[0].worker, HasSubstr("ended with status 1"));
}

TEST(WorkerProcesses, EndQuietlyWhenTheyAreSentNothing) {
  testing::internal::CaptureStderr();
  {
    WorkerProcesses workers(2, [](std::string_view) { return std::string(); });
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(WorkCounter, GivesEachNumberOnceOverAllProcesses) {
  constexpr std::size_t kNumbers = 10000;
  WorkCounter counter;
  WorkerProcesses workers(3, [&counter](std::string_view) {
    std::vector<std::size_t> taken;
    for (std::size_t next = counter.Next(); next < kNumbers; next = counter.Next()) taken.push_back(next);
    ByteWriter out;
    out.PutVector(taken);
    return out.bytes();
  });
  workers.SendToAll("");
  std::vector<std::size_t> all;
  for (const WorkerProcesses::Answer& answer : workers.Receive()) {
    ByteReader in(answer.message.value());
    const std::vector<std::size_t> taken = in.GetVector<std::size_t>();
    EXPECT_TRUE(std::is_sorted(taken.begin(), taken.end()));
    all.insert(all.end(), taken.begin(), taken.end());
  }
  std::sort(all.begin(), all.end());
  std::vector<std::size_t> expected(kNumbers);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(all, expected);
}

}  // namespace
}  // namespace zjets

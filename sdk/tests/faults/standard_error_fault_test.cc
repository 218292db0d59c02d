// Recording has to print something, but the standard error has changed.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <string>

#include "crema/crema.h"
#include "sdk/src/process/own_descriptor.h"
#include "sdk/tests/faults/host_program.h"

namespace crema {
namespace testing {
namespace {

using ::testing::StartsWith;

/// Causes a warning of recording.
void EndChunksOutOfOrder() {
  auto* const outer = new TrackMetrics({"ttbar", "/data/events.root", 0, 1});
  auto* const inner = new TrackMetrics({"ttbar", "/data/events.root", 1, 2});
  delete outer;
  delete inner;
}

/// Returns the earlier limit.
rlimit SetLargestFile(rlim_t bytes) {
  rlimit before{};
  Require(getrlimit(RLIMIT_FSIZE, &before) == 0);
  const rlimit limit = {bytes, before.rlim_max};
  Require(setrlimit(RLIMIT_FSIZE, &limit) == 0);
  return before;
}

void ExpectBothChunks(const FaultRun& run) {
  ASSERT_EQ(run.logs.size(), 1u);
  EXPECT_EQ(run.logs[0].chunks.size(), 2u);
  ASSERT_TRUE(run.logs[0].end.has_value());
  EXPECT_GT(run.logs[0].end->misused, 0);
}

TEST(StandardErrorFault, WarnsWhereAllIsWell) {
  const FaultRun run = RunWithFault(NewDirectory(), EndChunksOutOfOrder);
  EXPECT_THAT(run.warning, StartsWith("crema: a chunk ended before the chunk inside it"));
  ExpectBothChunks(run);
}

/// Fault [disk]: nobody reads the standard error any more (`analysis 2>&1 | head`), where recording has to warn, and to
/// print the summary that was asked for
/// Program: nothing: no `SIGPIPE`
/// Recorded: everything
TEST(StandardErrorFault, APipeWithoutReaderSendsNoSignal) {
  const FaultRun run = RunWithFault(NewDirectory(),
                                    [] {
                                      int ends[2];
                                      Require(pipe(ends) == 0 && dup2(ends[1], STDERR_FILENO) == STDERR_FILENO);
                                      close(ends[0]);
                                      close(ends[1]);
                                      EndChunksOutOfOrder();
                                    },
                                    {{"CREMA_SUMMARY", "1"}});
  EXPECT_EQ(run.child.signal, 0);
  EXPECT_EQ(run.warning, "");
  ExpectBothChunks(run);
}

/// Fault [disk]: whoever has the standard error does not read it, and it is full, where recording has to warn
/// Program: nothing: it does not wait
/// Recorded: everything
TEST(StandardErrorFault, AFullPipeIsNotWaitedFor) {
  const FaultRun run = RunWithFault(NewDirectory(), [] {
    int ends[2];
    Require(pipe(ends) == 0 && dup2(ends[1], STDERR_FILENO) == STDERR_FILENO);
    close(ends[1]);
    const std::string text(1024, '.');
    Require(fcntl(STDERR_FILENO, F_SETFL, O_NONBLOCK) == 0);
    while (write(STDERR_FILENO, text.data(), text.size()) > 0) {
    }
    Require(fcntl(STDERR_FILENO, F_SETFL, 0) == 0);
    alarm(60);  // its end, where it waits
    EndChunksOutOfOrder();
  });
  EXPECT_EQ(run.child.signal, 0);
  ExpectBothChunks(run);
}

/// Fault [disk]: the standard error is a file that reaches `RLIMIT_FSIZE`, where recording has to warn
/// Program: nothing: no `SIGXFSZ`
/// Recorded: everything
TEST(StandardErrorFault, AFileAtItsLargestSizeSendsNoSignal) {
  const std::string errors = NewDirectory() + "/errors";
  const FaultRun run = RunWithFault(NewDirectory(), [&errors] {
    const int file = open(errors.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    Require(dup2(file, STDERR_FILENO) == STDERR_FILENO);
    close(file);
    internal::NoteStandardError();  // as if the program had been started with it
    const rlimit before = SetLargestFile(0);
    EndChunksOutOfOrder();
    Require(setrlimit(RLIMIT_FSIZE, &before) == 0);
  });
  EXPECT_EQ(run.child.signal, 0);
  ASSERT_EQ(run.logs.size(), 1u);
  ASSERT_TRUE(run.logs[0].end.has_value());
  EXPECT_EQ(run.logs[0].end->chunks, 2);
  EXPECT_GT(run.logs[0].end->misused, 0);
}

/// Fault [descriptors]: a program closes its standard error, and its results get that number, where recording has to
/// warn, and to print the summary that was asked for
/// Program: nothing: its results have nothing else in them
/// Recorded: everything
TEST(StandardErrorFault, ResultsUnderItsNumberStayWhatTheyAre) {
  const std::string results = NewDirectory() + "/results";
  const FaultRun run =
      RunWithFault(NewDirectory(),
                   [&results] {
                     close(STDERR_FILENO);
                     Require(open(results.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600) == STDERR_FILENO);
                     Require(write(STDERR_FILENO, "4711\n", 5) == 5);
                     EndChunksOutOfOrder();
                   },
                   {{"CREMA_SUMMARY", "1"}});
  ExpectBothChunks(run);
  std::string text;
  std::getline(std::ifstream(results), text, '\0');
  EXPECT_EQ(text, "4711\n");
}

/// Fault [descriptors]: a program closes its standard input, output and error, and gets their numbers for a pipe and a
/// file, where recording has to warn
/// Program: nothing: the pipe has nothing else in it
/// Recorded: everything
TEST(StandardErrorFault, APipeUnderItsNumberStaysWhatItIs) {
  const FaultRun run = RunWithFault(NewDirectory(), [] {
    const int output = dup(STDOUT_FILENO);
    close(STDOUT_FILENO);
    close(STDERR_FILENO);
    int ends[2];
    Require(pipe(ends) == 0 && ends[0] == STDOUT_FILENO && ends[1] == STDERR_FILENO);
    EndChunksOutOfOrder();
    Require(write(ends[1], "4711", 4) == 4);
    char text[16] = {};
    Require(read(ends[0], text, sizeof text) == 4 && std::string(text) == "4711");
    Require(dup2(output, STDOUT_FILENO) == STDOUT_FILENO);
  });
  ExpectBothChunks(run);
}

}  // namespace
}  // namespace testing
}  // namespace crema

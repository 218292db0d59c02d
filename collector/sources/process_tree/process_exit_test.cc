#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collector/sources/process_tree/proc_file.h"
#include "gtest/gtest.h"

namespace crema {
namespace {

TEST(ProcessExit, TellsOfTheEndBeforeAnybodyWaitedForTheProcess) {
  int gate[2];
  ASSERT_EQ(pipe(gate), 0);
  const pid_t child = fork();
  if (child == 0) {
    close(gate[1]);
    char byte = 0;
    _exit(read(gate[0], &byte, 1) == 0 ? 0 : 1);
  }
  close(gate[0]);
  const ProcessExit exit(child);
  EXPECT_FALSE(exit.HasEnded());
  close(gate[1]);
  siginfo_t ended{};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT), 0);  // it stays a zombie
  EXPECT_TRUE(exit.HasEnded());
  if (exit.descriptor() >= 0) {  // kernels since 5.3
    pollfd readable{exit.descriptor(), POLLIN, 0};
    EXPECT_EQ(poll(&readable, 1, 0), 1);
  }
  EXPECT_EQ(waitpid(child, nullptr, 0), child);
  EXPECT_TRUE(exit.HasEnded());
}

TEST(ProcessExit, AProcessThatIsNotThereHasEnded) {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  EXPECT_TRUE(ProcessExit(child).HasEnded());
}

}  // namespace
}  // namespace crema

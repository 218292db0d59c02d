#include "sdk/tests/faults/host_program.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "sdk/tests/record_log_reader.h"

namespace crema {
namespace testing {
namespace {

/// Takes crema's line out of what a program printed on stderr, and returns it.
std::string TakeWarning(std::string* errors) {
  const std::string crema_says = "crema: ";
  for (std::size_t begin = 0; begin < errors->size();) {
    const std::size_t end = std::min(errors->find('\n', begin), errors->size() - 1) + 1;
    if (errors->compare(begin, crema_says.size(), crema_says) == 0) {
      std::string warning = errors->substr(begin, end - begin);
      errors->erase(begin, end - begin);
      return warning;
    }
    begin = end;
  }
  return {};
}

constexpr int kRequirementFailed = 113;

}  // namespace

void Require(bool holds) {
  if (!holds) _exit(kRequirementFailed);
}

FaultRun RunWithFault(const std::string& directory, const std::function<void()>& program,
                      const Environment& environment) {
  const auto host = [&program] {
    std::puts("the host's first line");
    std::fputs("the host's complaint\n", stderr);
    std::fflush(stdout);
    program();
    std::puts("the host's last line");
  };
  const ChildResult plain = RunInChild({}, host);
  Environment all = {{"CREMA_DIR", directory}, {"CREMA_INTERVAL", "0"}};
  all.insert(all.end(), environment.begin(), environment.end());
  FaultRun run;
  run.child = RunInChild(all, host);
  run.warning = TakeWarning(&run.child.errors);
  EXPECT_NE(plain.exit_status, kRequirementFailed);
  EXPECT_EQ(run.child.exit_status, plain.exit_status);
  EXPECT_EQ(run.child.signal, plain.signal);
  EXPECT_EQ(run.child.output, plain.output);
  EXPECT_EQ(run.child.errors, plain.errors);
  run.logs = ReadRecordLogs(directory);
  return run;
}

RecordLog LogWithFault(const std::function<void()>& program, const Environment& environment) {
  const FaultRun run = RunWithFault(NewDirectory(), program, environment);
  EXPECT_EQ(run.warning, "");
  EXPECT_EQ(run.logs.size(), 1u);
  return run.logs.size() == 1 ? run.logs[0] : RecordLog();
}

}  // namespace testing
}  // namespace crema

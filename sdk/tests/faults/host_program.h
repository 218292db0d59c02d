// RunWithFault: what a fault does to the program that is measured, and what is left in its logs.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sdk/tests/child_process.h"
#include "sdk/tests/record_log.h"

namespace crema {
namespace testing {

struct FaultRun {
  ChildResult child;            ///< of the run that recorded, without crema's own line on stderr
  std::string warning;          ///< that line; empty if there was none
  std::vector<RecordLog> logs;  ///< what is in the directory, by file name
};

/// Runs `program`, between two lines of output of its own, in a child process without recording, and in another one
/// that records into `directory`. Fails the test unless both end alike (status, signal, stdout, stderr), but for one
/// warning of crema's. The child records with the sampler off and whatever `environment` says.
FaultRun RunWithFault(const std::string& directory, const std::function<void()>& program,
                      const Environment& environment = {});

/// As above, into a new directory, for programs that leave one log; an empty one where there is not exactly one.
RecordLog LogWithFault(const std::function<void()>& program, const Environment& environment = {});

/// The message of a program that lacks something for its test. The test then fails, whatever it compares.
void Require(bool holds);

}  // namespace testing
}  // namespace crema

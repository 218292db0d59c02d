// Child processes of a test: each has a recorder of its own, and may die without harm.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace crema {
namespace testing {

using Environment = std::vector<std::pair<std::string, std::string>>;

struct ChildResult {
  int exit_status = -1;  ///< -1: killed by a signal
  int signal = 0;
  std::string output;  ///< its stdout
  std::string errors;  ///< its stderr
};

/// Forks; the child sets these variables (all other CREMA_*, and those of engines, are unset), runs `body`, and calls
/// exit(0).
ChildResult RunInChild(const Environment& environment, const std::function<void()>& body);

/// Whether every test runs again with stacks and allocations (tools/test --long): records have more lines and fields
/// then.
bool RunsWithOptions();

/// A new directory below the test's temporary one.
std::string NewDirectory();

}  // namespace testing
}  // namespace crema

// A record log in which the SDK had a reason to write every type of line and every field.
#pragma once

#include <string>
#include <vector>

namespace crema {
namespace testing {

struct WrittenAs {
  bool trace = false;  ///< every occurrence of a section
  bool sums = false;   ///< chunks have no lines of their own
};

/// Lines of a child process that recorded into `directory` and ended; none if it could not.
std::vector<std::string> WriteLog(const std::string& directory, const WrittenAs& as);

}  // namespace testing
}  // namespace crema

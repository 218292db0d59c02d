// Where in the sources code was written, as the debug information of a program or library has it.
#ifndef CREMA_COLLECTOR_SYMBOLS_SOURCE_LINES_H_
#define CREMA_COLLECTOR_SYMBOLS_SOURCE_LINES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace crema {

struct SourceLine {
  std::string file;
  int64_t line = 0;
};

/// Of the code at these addresses, as `file` counts them: one entry an address; nullopt: the file does not say. Runs
/// `addr2line` of binutils, for at most 20 seconds.
absl::StatusOr<std::vector<std::optional<SourceLine>>> FindSourceLines(const std::string& file,
                                                                       const std::vector<uint64_t>& addresses);

/// A line of addr2line's: `/home/me/fit.cc:12 (discriminator 3)`, or `??:0`.
std::optional<SourceLine> ParseSourceLine(std::string_view text);

}  // namespace crema

#endif  // CREMA_COLLECTOR_SYMBOLS_SOURCE_LINES_H_

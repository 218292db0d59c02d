// Record logs for benchmarks: made up, but such as the SDK writes for an analysis of two datasets.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace crema_benchmarks {

enum class RecordShape {
  kShort,  // `chunk` lines of about 440 bytes: what was not measured is left out, as the format allows
  kFull,   // `chunk` lines of about 800 bytes: every field that the SDK writes, one section
  kOther,  // as kShort, as another writer may write them: fields in the order of their names, with blanks
  kSdk,    // what the SDK writes for a chunk: a `begin` line, and a `chunk` line with five sections, a metric and cuts
};

/// `short`, `full`, `other` or `sdk`; nullopt for anything else.
std::optional<RecordShape> ShapeNamed(std::string_view name);
std::string_view NameOf(RecordShape shape);

struct LogsToMake {
  RecordShape shape = RecordShape::kShort;
  int64_t records = 1'000'000;  ///< `begin` and `chunk` lines, in all files together
  int64_t files = 1;            ///< one process each
  uint64_t seed = 1;            ///< the same options make the same bytes
};

struct MadeLogs {
  int64_t bytes = 0;
  int64_t chunks = 0;  ///< `chunk` lines, all of them results
  int64_t events = 0;  ///< in them
};

/// Writes the logs into `directory`, which it makes. Errors: what the file system says, with the path.
absl::StatusOr<MadeLogs> MakeLogs(const LogsToMake& logs, const std::string& directory);

}  // namespace crema_benchmarks

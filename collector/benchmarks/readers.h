// The ways of reading record logs that are compared, from the least that reading can cost to the whole measurement.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace crema_benchmarks {

/// What a reader saw; all that look at it must agree. -1: it did not look.
struct Seen {
  int64_t bytes = 0;
  int64_t lines = -1;
  int64_t chunks = -1;
  int64_t events = -1;
};

struct Reader {
  const char* name;
  Seen (*read)(const std::vector<std::string>& paths);
};

/// In the order in which they are shown. `simdjson` extracts every field of the chunk lines that crema's parser does,
/// with the code that its documentation advises; it knows beforehand which fields there are.
extern const std::vector<Reader> kReaders;

/// The name of the reader that others are compared with, and of the one that does all.
inline constexpr char kSimdjson[] = "simdjson, the same fields";
inline constexpr char kMeasurement[] = "crema: the whole measurement";

/// Which of its implementations simdjson runs here: that of its first stage, chosen at run time, and that of the
/// second, chosen by the compiler's options.
std::string SimdjsonImplementations();

}  // namespace crema_benchmarks

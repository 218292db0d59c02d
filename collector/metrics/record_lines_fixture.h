// Record lines for tests: whole by default, so that a test states only what it is about.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>

#include "collector/idioms/units.h"
#include "nlohmann/json.hpp"

namespace crema {

using Line = nlohmann::ordered_json;

/// A time that tests count from, Unix nanoseconds.
inline constexpr int64_t kEpoch = 1'790'000'000 * kSecondNs;

inline int64_t Ns(double seconds) { return std::llround(seconds * 1e9); }

inline int64_t At(double seconds) { return kEpoch + static_cast<int64_t>(seconds * 1e9); }

/// A process that began at `seconds` and was given one core.
inline Line ProcessLine(int64_t pid, double seconds = 0, const std::string& host = "node") {
  return {{"type", "process"}, {"schema", "crema.records/1"},
          {"schema_minor", 0}, {"run_id", "run"},
          {"host", host},      {"pid", pid},
          {"parent_pid", 1},   {"start_ns", At(seconds)},
          {"recorder", 0},     {"cores", 4},
          {"threads", 1},      {"attributes", Line::object()}};
}

/// Entries `number * 100` to `number * 100 + 100` of the dataset's file.
inline Line InputFields(int64_t number, const std::string& dataset) {
  return {{"thread", 7},
          {"tid", 8},
          {"dataset", dataset},
          {"file", dataset + ".root"},
          {"tree", "Events"},
          {"entry_start", number * 100},
          {"entry_stop", number * 100 + 100}};
}

inline Line BeginLine(int64_t number, double start, const std::string& dataset = "ttbar") {
  Line line = {{"type", "begin"}, {"chunk", number}, {"time_ns", At(start)}};
  line.update(InputFields(number, dataset));
  return line;
}

/// 100 events; half the time on CPU, a tenth waiting for one.
inline Line ChunkLine(int64_t number, double start, double stop, const std::string& dataset = "ttbar") {
  const int64_t duration_ns = At(stop) - At(start);
  Line line = {{"type", "chunk"},
               {"chunk", number},
               {"start_ns", At(start)},
               {"stop_ns", At(stop)},
               {"status", "ok"},
               {"events", 100},
               {"bytes_read", 1000},
               {"bytes_uncompressed", 3000},
               {"cpu_ns", duration_ns / 2},
               {"cpu_wait_ns", duration_ns / 10},
               {"rss_start_bytes", 1000000},
               {"rss_stop_bytes", 1001000},
               {"lanes_peak", 1}};
  line.update(InputFields(number, dataset));
  return line;
}

inline Line EndLine(double seconds) {
  return {{"type", "end"}, {"time_ns", At(seconds)}, {"realtime_offset_ns", 0}, {"overhead_ns", 1000}};
}

inline Line SectionRowLine(const std::string& path, int64_t total_ns, int64_t self_ns) {
  return {{"path", path},       {"count", 1},         {"total_ns", total_ns},
          {"self_ns", self_ns}, {"min_ns", total_ns}, {"max_ns", total_ns}};
}

/// Where two texts differ first, which says more than two documents; empty if they do not.
inline std::string FirstDifference(const std::string& a, const std::string& b) {
  const auto [at, other] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  if (at == a.end() && other == b.end()) return "";
  const auto offset = static_cast<size_t>(at - a.begin());
  const size_t from = offset > 200 ? offset - 200 : 0;
  return a.substr(from, 400) + "\n<> " + b.substr(from, 400);
}

}  // namespace crema

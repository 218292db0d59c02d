// What became of an attempt at a chunk, and of those that have no end.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

namespace crema {

enum class AttemptState : uint8_t {
  kOk,
  kFailed,
  kLost,        ///< begun, and its process ended or vanished
  kRunning,     ///< begun, and its process still runs
  kUnrecorded,  ///< ended, and the record of it is lost: whether it was ok, and when it ended, is not known
};

/// `ok`, `failed`, `lost`, `running` or `unrecorded`.
inline std::string_view ToString(AttemptState state) {
  constexpr std::string_view kNames[] = {"ok", "failed", "lost", "running", "unrecorded"};
  return kNames[static_cast<size_t>(state)];
}

/// Whether there is a record of its end.
inline bool HasEnded(AttemptState state) { return state == AttemptState::kOk || state == AttemptState::kFailed; }

/// A `begin` without its `chunk`.
struct UnendedAttempt {
  int64_t number = 0;
  int64_t start_ns = 0;
  std::optional<int64_t> next_ns;  ///< when its thread began its next attempt; nullopt: it did not, or is not known
  bool has_ended = false;          ///< found out: only the record of its end is missing
};

/// Fills `has_ended` for all that one log has of them. A thread ends its attempt before it begins the next. The log's
/// `end`, where there is one, says how many were still open (`open_at_end`): no more than these did not end, and of
/// those the ones that began last. `overlap`: chunks of the process were suspended, or had others inside, so that its
/// threads began others while these were open.
inline void FindEnded(std::vector<UnendedAttempt>& attempts, std::optional<int64_t> open_at_end, bool overlap) {
  if (!open_at_end.has_value()) {
    for (UnendedAttempt& attempt : attempts) attempt.has_ended = !overlap && attempt.next_ns.has_value();
    return;
  }
  std::sort(attempts.begin(), attempts.end(), [](const UnendedAttempt& a, const UnendedAttempt& b) {
    return std::make_tuple(a.next_ns.has_value(), b.start_ns, b.number) <
           std::make_tuple(b.next_ns.has_value(), a.start_ns, a.number);
  });
  for (size_t i = 0; i < attempts.size(); ++i) attempts[i].has_ended = static_cast<int64_t>(i) >= *open_at_end;
}

}  // namespace crema

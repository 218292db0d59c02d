// What became of an attempt at a chunk.
#ifndef CREMA_COLLECTOR_RECORDS_ATTEMPT_STATE_H_
#define CREMA_COLLECTOR_RECORDS_ATTEMPT_STATE_H_

#include <cstdint>
#include <string_view>

namespace crema {

enum class AttemptState : uint8_t {
  kOk,
  kFailed,
  kLost,        ///< begun, and its process ended or vanished
  kRunning,     ///< begun, and its process still runs
  kUnrecorded,  ///< ended, and the record of it is lost: whether it was ok, and when it ended, is not known
};

/// `ok`, `failed`, `lost`, `running` or `unrecorded`.
std::string_view ToString(AttemptState state);

/// Whether there is a record of its end.
inline bool HasEnded(AttemptState state) { return state == AttemptState::kOk || state == AttemptState::kFailed; }

}  // namespace crema

#endif  // CREMA_COLLECTOR_RECORDS_ATTEMPT_STATE_H_

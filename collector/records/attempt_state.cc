#include "collector/records/attempt_state.h"

namespace crema {

std::string_view ToString(AttemptState state) {
  switch (state) {
    case AttemptState::kOk:
      return "ok";
    case AttemptState::kFailed:
      return "failed";
    case AttemptState::kLost:
      return "lost";
    case AttemptState::kRunning:
      return "running";
    case AttemptState::kUnrecorded:
      return "unrecorded";
  }
  return "lost";
}

}  // namespace crema

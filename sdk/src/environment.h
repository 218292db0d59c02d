// The environment variables: how a program that knows nothing of crema's options is recorded.
#ifndef CREMA_SRC_ENVIRONMENT_H_
#define CREMA_SRC_ENVIRONMENT_H_

#include <string_view>

#include "crema/recorder.h"
#include "recorder.h"

namespace crema {
namespace internal {

/// Of `Options`: whoever has them elsewhere need not allocate.
struct OptionTexts {
  std::string_view directory;
  std::string_view run_id;
  std::string_view pass;
};

/// CREMA_OFF=1: nothing is recorded, whatever else says so.
bool SwitchedOffByEnvironment() noexcept;
/// CREMA_STACKS, a second of CPU time; 0: nobody asks.
double AskedStacks() noexcept;

/// CREMA_ALLOCATIONS=1: whoever starts the program wants its allocations counted.
bool EnvironmentAsksForAllocations() noexcept;
/// Whether CREMA_DIR is set.
bool EnvironmentNamesDirectory() noexcept;
/// What was told, with the environment's word for what it leaves open; of `others` the fields that are no texts. Values
/// that make no sense count as not given. Privileged programs (secure_getenv(3)) get none of the environment's.
void ReadSettings(const OptionTexts& texts, const Options& others, Settings* settings) noexcept;
/// Makes `*absolute` the `path` below the present working directory, unless it is absolute: the program may change
/// directory later.
void SetAbsolute(std::string_view path, OptionText* absolute) noexcept;

}  // namespace internal
}  // namespace crema

#endif  // CREMA_SRC_ENVIRONMENT_H_

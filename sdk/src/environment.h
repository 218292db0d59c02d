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
/// `options`, with the environment's word for what they leave open. Values that make no sense count as not given.
/// Privileged programs (secure_getenv(3)) get none of the environment's. The texts are not taken from `options`.
Settings SettingsFromEnvironment(const OptionTexts& texts, const Options& options) noexcept;
/// `path` below the present working directory, unless it is absolute: the program may change directory later.
FixedText<kMaxPathBytes> AbsolutePath(const FixedText<kMaxPathBytes>& path) noexcept;

}  // namespace internal
}  // namespace crema

#endif  // CREMA_SRC_ENVIRONMENT_H_

// The environment variables: how a program that knows nothing of crema's options is recorded.
#ifndef CREMA_SRC_ENVIRONMENT_H_
#define CREMA_SRC_ENVIRONMENT_H_

#include <string>

#include "crema/recorder.h"
#include "recorder.h"

namespace crema {
namespace internal {

/// CREMA_OFF=1: nothing is recorded, whatever else says so.
bool SwitchedOffByEnvironment() noexcept;
/// `options`, with the environment's word for what they leave open. Values that make no sense count as not given.
/// Privileged programs (secure_getenv(3)) get none of the environment's.
Settings SettingsFromEnvironment(const Options& options);
/// `path` below the present working directory, unless it is absolute: the program may change directory later.
std::string AbsolutePath(const std::string& path);

}  // namespace internal
}  // namespace crema

#endif  // CREMA_SRC_ENVIRONMENT_H_

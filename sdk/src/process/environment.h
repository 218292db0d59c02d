// The environment variables: how a program that knows nothing of crema's options is recorded.
#pragma once

#include "crema/recorder.h"
#include "process/process_recorder.h"

namespace crema::internal {

/// The texts of `Options`, as views: nobody who keeps the texts elsewhere has to allocate.
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
/// CREMA_GPU=1: whoever starts the program wants to know what GPUs do for it.
bool EnvironmentAsksForGpu() noexcept;
/// CUDA_INJECTION64_PATH: the library that CUDA loads; empty: none.
const char* GpuLibrary() noexcept;
/// The first variable whose value makes no sense, so that it counts as not set; null: none.
const char* SenselessVariable() noexcept;
/// Whether CREMA_DIR is set.
bool EnvironmentNamesDirectory() noexcept;
/// Takes the options that the code gives, and the environment's for those that it leaves open. `others` gives the
/// fields that are not texts. The directory is made absolute: CREMA_DIR is relative to where the SDK was loaded, a
/// directory from the code to where the process is. Variables that make no sense count as not set. Privileged programs
/// (secure_getenv(3)) get none of the environment's.
/// `*settings` is new.
void ReadSettings(const OptionTexts& texts, const Options& others, Settings* settings) noexcept;

/// The process's, on the heap: a path of the longest kind is too large for a small stack.
class WorkingDirectory {
 public:
  WorkingDirectory() noexcept : path_(getcwd(nullptr, 0)) {}
  /// Empty where it is not known.
  std::string_view path() const noexcept { return path_ == nullptr ? std::string_view() : path_.get(); }

 private:
  const OwnArray<char> path_;
};

}  // namespace crema::internal

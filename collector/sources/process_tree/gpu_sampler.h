// Samples the machine's NVIDIA GPUs through NVML, where the driver is installed. Nothing of it is linked: the library
// is loaded at run time, by a thread of its own, so that a driver that hangs delays nobody.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "collector/records/tree_facts.h"

namespace crema {

class GpuSampler {
 public:
  GpuSampler();
  GpuSampler(GpuSampler&&) noexcept;
  GpuSampler& operator=(GpuSampler&&) noexcept;
  /// Leaves a thread that waits for the driver behind.
  ~GpuSampler();

  /// Starts the thread. It reads once a second, and the shares of processes every ten seconds.
  void StartOnce();
  /// The last reading; empty if there is no GPU, or nothing was read yet. `is_of_tree` says of a pid whether the
  /// process counts as the tree's. If a process on a GPU is in another pid namespace, nobody knows whose processes use
  /// that GPU: what the tree and others use of it stays null.
  std::vector<TreeGpu> Latest(const std::function<bool(int64_t pid)>& is_of_tree) const;
  /// Ends the thread, and waits for it briefly. The GPUs with the energy that they used since the start.
  std::vector<TreeGpu> End();

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

/// What NVML says of this machine.
struct GpuDriver {
  std::string version;            ///< of the driver; empty: none is there
  std::vector<std::string> gpus;  ///< names
  std::string problem;            ///< why there is none: a sentence without its end; empty: all is well
};
GpuDriver FindGpuDriver();

}  // namespace crema

// ReservedDiskSpace: some of the disk, held from the start, for the last lines of a log on a disk that others fill.
#pragma once

#include <atomic>
#include <cstddef>

#include "process/own_descriptor.h"

namespace crema {
namespace internal {

/// A file without a name (O_TMPFILE) beside the log: where the process is killed, nothing of it stays. File systems
/// that have no such files keep no room.
class ReservedDiskSpace {
 public:
  static constexpr std::size_t kBytes = 65536;

  void Take(const char* directory, DescriptorBudget* budget) noexcept;
  /// Gives the disk back at least so many bytes, for a line to be written at once; false where nothing is left.
  bool Give(std::size_t bytes) noexcept;
  /// Gives all back. In a forked child it is the parent's, and only the descriptor is closed.
  void Close(DescriptorBudget* budget) noexcept;

 private:
  int descriptor_ = -1;
  FileIdentity file_;
  std::atomic<std::size_t> bytes_{0};
};

}  // namespace internal
}  // namespace crema

// The chunk whose record is measured, and the same system calls without crema.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "sdk/benchmarks/raw_readings.h"

namespace crema_benchmarks {

/// Records a chunk that does nothing else: 10 sections (two of them nested), one memory guard, three metrics, three
/// cuts, bytes and events.
void RecordChunk(std::int64_t number);

/// Lengths in bytes, newlines included, of the `begin` and the `chunk` line of the last chunk in a record log.
struct LineSizes {
  std::size_t begin = 0;
  std::size_t chunk = 0;
};
LineSizes SizesOfLastChunk(const std::string& log_path);

/// The only record log in a directory; empty if there is none.
std::string FindLog(const std::string& directory);

/// The 16 system calls that `RecordChunk` made when targets were set (22 November 2026), with the same sizes, on a file
/// in the same directory. They do not change: calls that recording has added or saved since then count as its own.
/// There is one object for each thread, as the SDK keeps one set of descriptors for each thread; the log is shared.
/// `chunk_work_test` says in which calls the two differ.
class RawChunk {
 public:
  RawChunk(int log_descriptor, LineSizes sizes);
  /// False if a call failed.
  bool Run();

 private:
  int log_;
  std::string begin_;
  std::string chunk_;
  KeptFile statm_{"/proc/self/statm"};
  KeptFile schedstat_{"/proc/thread-self/schedstat"};
};

/// Opens a file for `RawChunk` as the SDK opens its log; -1 on failure.
int OpenRawLog(const std::string& path);

}  // namespace crema_benchmarks

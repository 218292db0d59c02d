// Work on several threads: as much of it at once as memory allows.
#pragma once

#include <functional>
#include <limits>

#include "collector/metrics/storage/row_memory.h"

namespace crema {

/// What a piece of work took.
struct PieceTime {
  const char* name = "";
  double cpu_seconds = 0;
  std::vector<size_t> after;  ///< as in `ParallelTask`
  bool is_divisible = false;  ///< among any number of threads
};

/// What a computation may use. Its result is the same whatever this is.
struct WorkLimits {
  size_t threads = 1;
  size_t bytes = std::numeric_limits<size_t>::max();  ///< of memory beside its input, where it has a choice
  RowSpill* spill = nullptr;                          ///< where lists go of work that takes more; nullptr: into memory
  std::vector<PieceTime>* times = nullptr;            ///< CPU times are added, piece by piece
};

/// As many threads as were asked for; for 0 one on each core that this process may use.
size_t ThreadsFor(size_t jobs);

/// Calls `work(i)`, each i from 0 to `threads` - 1 on a thread of its own, and returns when all have returned. If the
/// system has no more threads, there are fewer calls: let each take its tasks from a common list. What one of them
/// threw (memory ran out) is thrown here, after all have returned.
void ParallelFor(size_t threads, const std::function<void(size_t)>& work);

/// Calls `work(i)` once for each i from 0 to `count` - 1, on all threads. `name`: of all of them together, for
/// `limits.times`. Throws as `ParallelFor`.
void ForEachPart(const char* name, size_t count, const WorkLimits& limits, const std::function<void(size_t)>& work);

/// Work that needs no result of other work beside it, but for those that it names.
struct ParallelTask {
  size_t bytes = 0;  ///< of memory that it takes while it runs
  std::function<void()> run;
  std::vector<size_t> after = {};  ///< earlier pieces of the list, which have to end before it begins
  const char* name = "";
  bool leaves_lists = false;  ///< to pieces after it: its large lists count among the rows' memory, or lie in files
};

/// Runs all pieces: one begins as soon as a thread is free, those that it names have ended and those that run leave it
/// the memory, the first of the list first. Where one piece alone is beyond the limit, it runs alone, and its large
/// lists lie in files. Throws as `ParallelFor`; once a piece has thrown, no other one begins.
void RunParallel(const std::vector<ParallelTask>& pieces, const WorkLimits& limits);

}  // namespace crema

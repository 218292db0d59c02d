// What each piece of a run's input cost, so that two runs over the same input can be compared piece by piece.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "collector/sources/attempt_stream.h"

namespace crema {

/// A chunk's input: dataset, file and range. Seconds are of `ok` attempts; of several at one range, of the last one.
struct RunPiece {
  std::string dataset;
  std::string file;
  double events = -1;           ///< negative: not known
  double seconds = 0;           ///< wall time of its thread
  double waiting = 0;           ///< of it, time in which the thread was ready to run and had no CPU
  double cpu = 0;               ///< of it, on a CPU
  std::vector<double> of_part;  ///< in each top-level section: indices are those of `RunPieces::parts`; may be shorter
  size_t chunks = 1;
};

class RunPieces {
 public:
  static constexpr size_t kMostPieces = 200'000;  ///< of more, the others are left out
  static constexpr size_t kMostParts = 100;       ///< sections by name; what further ones took is `(other)`

  void Add(const Attempt& attempt);
  /// Call it after the last attempt. In a run with one pass its name identifies nothing: it may be a function's, which
  /// changes from version to version.
  void ForgetSinglePass();

  const std::map<std::string, RunPiece>& pieces() const { return pieces_; }  ///< by what identifies the input
  /// Chunks without a range: which of them have the same input in two runs is not known.
  const std::vector<RunPiece>& unranged() const { return unranged_; }
  const std::vector<std::string>& parts() const { return parts_; }
  bool is_cut() const { return is_cut_; }
  /// Whether the time without a CPU is known of all chunks.
  bool knows_waiting() const { return knows_waiting_; }
  bool empty() const { return pieces_.empty() && unranged_.empty(); }
  template <class Visit>
  void ForEach(const Visit& visit) const {
    for (const auto& [key, piece] : pieces_) visit(piece);
    for (const RunPiece& piece : unranged_) visit(piece);
  }
  double seconds() const;
  /// The most threads that had chunks in one process: they may have waited for one another.
  size_t threads_of_process() const;

 private:
  std::map<std::string, RunPiece> pieces_;
  std::set<std::string> passes_;
  std::map<std::string, std::set<int64_t>> threads_;  // by worker
  std::vector<RunPiece> unranged_;
  std::vector<std::string> parts_;
  std::map<std::string, size_t, std::less<>> part_index_;
  bool is_cut_ = false;
  bool knows_waiting_ = true;
};

}  // namespace crema

// What is new in a line of sums, of which each holds all so far; and which chunk numbers a process has used.
#pragma once

#include <map>

#include "absl/container/flat_hash_map.h"
#include "collector/records/facts.h"

namespace crema {

class SeenNumbers {
 public:
  /// False: it was there.
  bool Insert(int64_t number) {
    GoTo(number);
    const uint64_t bit = BitOf(number);
    const bool is_new = (bits_ & bit) == 0;
    bits_ |= bit;
    return is_new;
  }
  bool Contains(int64_t number) {
    GoTo(number);
    return (bits_ & BitOf(number)) != 0;
  }
  bool Overlaps(SeenNumbers& other) {
    Store();
    other.Store();
    for (const auto& [block, bits] : blocks_) {
      const auto theirs = other.blocks_.find(block);
      if (theirs != other.blocks_.end() && (theirs->second & bits) != 0) return true;
    }
    return false;
  }
  void Add(SeenNumbers& other) {
    Store();
    other.Store();
    for (const auto& [block, bits] : other.blocks_) blocks_[block] |= bits;
    bits_ = blocks_[block_];
  }

 private:
  static uint64_t BitOf(int64_t number) { return uint64_t{1} << (number & 63); }
  void Store() {
    if (bits_ != 0) blocks_[block_] |= bits_;
  }
  /// The block in use is kept at hand: most numbers follow the one before.
  void GoTo(int64_t number) {
    const int64_t block = number >> 6;
    if (block == block_) return;
    Store();
    block_ = block;
    const auto found = blocks_.find(block);
    bits_ = found == blocks_.end() ? 0 : found->second;
  }

  absl::flat_hash_map<int64_t, uint64_t> blocks_;
  int64_t block_ = 0;
  uint64_t bits_ = 0;
};

// What is new in a line of sums: each holds all that its row has come to.

/// The name by which rows of one log differ.
std::string NameOfSums(const SumsFact& fact);

/// For one log.
class SumsSoFar {
 public:
  /// A process writes 1,250 rows at most.
  static constexpr size_t kMostRows = 2000;

  /// The fact less what was recorded of its row before: counts, sums and `first_start_ns`, from which on it is new.
  /// nullopt: nothing is new, or there are too many rows. Its lists stay as they were recorded.
  std::optional<SumsFact> Increment(const SumsFact& fact);

 private:
  std::map<std::string, SumsFact> reported_;  // numbers only: texts and lists are gone with their line
};

}  // namespace crema

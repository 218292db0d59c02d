// SeenNumbers: which chunk numbers a process has used. They count up from 0, so a bit each is enough.
#pragma once

#include <cstdint>

#include "absl/container/flat_hash_map.h"

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

}  // namespace crema

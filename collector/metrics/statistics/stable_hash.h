// A 64-bit hash that is the same in every process and on every day, so that parts read apart can be merged.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace crema {

/// Takes fields one after another; a text's length is part of it, so ("ab", "c") differs from ("a", "bc"). Not for
/// hostile input. The mixing is that of splitmix64 (Steele, Lea, Flood: OOPSLA 2014), one round for 8 bytes.
class StableHash {
 public:
  StableHash& Add(uint64_t value) {
    state_ = Mix(state_ ^ Mix(value + kStep));
    return *this;
  }
  StableHash& Add(int64_t value) { return Add(static_cast<uint64_t>(value)); }
  StableHash& Add(std::string_view text) {
    Add(static_cast<uint64_t>(text.size()));
    while (!text.empty()) {
      uint64_t word = 0;
      const size_t bytes = text.size() < sizeof(word) ? text.size() : sizeof(word);
      std::memcpy(&word, text.data(), bytes);
      state_ = Mix(state_ ^ word);
      text.remove_prefix(bytes);
    }
    return *this;
  }
  uint64_t value() const { return state_; }

 private:
  static constexpr uint64_t kStep = 0x9e3779b97f4a7c15;
  static uint64_t Mix(uint64_t z) {
    z += kStep;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

  uint64_t state_ = 0;
};

inline uint64_t HashOf(std::string_view text) { return StableHash().Add(text).value(); }

}  // namespace crema

// Sums by second, of the last ones only.
#ifndef CREMA_COLLECTOR_SERVER_RECENT_SECONDS_H_
#define CREMA_COLLECTOR_SERVER_RECENT_SECONDS_H_

#include <array>
#include <cstddef>
#include <cstdint>

namespace crema {

/// One `Bin` for each of the last `kSeconds` seconds. `Bin` is a sum: value-initialised it is nothing, and `+=` adds.
template <class Bin, size_t kSeconds>
class RecentSeconds {
 public:
  /// The bin of a second; nullptr where it has gone by. A later second than any before makes room for itself.
  Bin* Find(int64_t second) {
    if (second > latest_) Advance(second);
    if (second < 0 || second <= latest_ - static_cast<int64_t>(kSeconds)) return nullptr;
    return &bins_[static_cast<size_t>(second) % kSeconds];
  }
  const Bin& At(int64_t second) const {
    static const Bin kNothing{};
    if (second < 0 || second > latest_ || second <= latest_ - static_cast<int64_t>(kSeconds)) return kNothing;
    return bins_[static_cast<size_t>(second) % kSeconds];
  }
  /// Of the seconds `first` to `last`, both with.
  Bin Sum(int64_t first, int64_t last) const {
    Bin sum{};
    for (int64_t second = first; second <= last; ++second) sum += At(second);
    return sum;
  }

 private:
  void Advance(int64_t second) {
    const int64_t begin = second - latest_ > static_cast<int64_t>(kSeconds) ? second - kSeconds + 1 : latest_ + 1;
    for (int64_t each = begin < 0 ? 0 : begin; each <= second; ++each) bins_[static_cast<size_t>(each) % kSeconds] = {};
    latest_ = second;
  }

  std::array<Bin, kSeconds> bins_{};
  int64_t latest_ = -1;
};

}  // namespace crema

#endif  // CREMA_COLLECTOR_SERVER_RECENT_SECONDS_H_

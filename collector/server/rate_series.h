// What was finished when, since the run's start, in a bounded number of bins.
#ifndef CREMA_COLLECTOR_SERVER_RATE_SERIES_H_
#define CREMA_COLLECTOR_SERVER_RATE_SERIES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace crema {

/// Bins of one width, 1 s at first. When they become more than `kMost`, neighbours are joined and the width doubles.
class RateSeries {
 public:
  static constexpr size_t kMost = 600;

  struct Bin {
    int64_t events = 0;
    int64_t bytes = 0;
  };

  /// `seconds` since the run's start; earlier ones count as at the start.
  void Add(double seconds, int64_t events, int64_t bytes);

  double bin_seconds() const { return bin_seconds_; }
  const std::vector<Bin>& bins() const { return bins_; }

 private:
  double bin_seconds_ = 1;
  std::vector<Bin> bins_;
};

}  // namespace crema

#endif  // CREMA_COLLECTOR_SERVER_RATE_SERIES_H_

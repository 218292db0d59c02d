#include "collector/server/rate_series.h"

#include <algorithm>

namespace crema {
namespace {

// Far beyond any run: a clock that is wrong by years must not make the bins useless.
constexpr double kMostSeconds = 3e6;

}  // namespace

void RateSeries::Add(double seconds, int64_t events, int64_t bytes) {
  seconds = std::clamp(seconds, 0.0, kMostSeconds);
  while (seconds >= bin_seconds_ * kMost) {
    for (size_t i = 0; i < bins_.size(); ++i) {
      const Bin bin = bins_[i];
      if (i % 2 == 0) {
        bins_[i / 2] = bin;
      } else {
        bins_[i / 2].events += bin.events;
        bins_[i / 2].bytes += bin.bytes;
      }
    }
    bins_.resize((bins_.size() + 1) / 2);
    bin_seconds_ *= 2;
  }
  const auto index = static_cast<size_t>(seconds / bin_seconds_);
  if (index >= bins_.size()) bins_.resize(index + 1);
  bins_[index].events += events;
  bins_[index].bytes += bytes;
}

}  // namespace crema

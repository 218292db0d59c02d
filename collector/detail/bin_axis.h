// Equal parts of a stretch of time, and how a quantity that was used up evenly falls into them.
#ifndef CREMA_COLLECTOR_DETAIL_BIN_AXIS_H_
#define CREMA_COLLECTOR_DETAIL_BIN_AXIS_H_

#include <algorithm>
#include <cstdint>

namespace crema {

struct BinAxis {
  double start = 0;
  double width = 1;  ///< of a bin
  int bins = 1;

  /// The bin of a moment; moments outside fall into the first or last.
  int At(double moment) const {
    const double bin = (moment - start) / width;
    return bin <= 0 ? 0 : bin >= bins ? bins - 1 : static_cast<int>(bin);
  }

  /// Calls `add(bin, share)` for the bins that [from, to) touches; shares add up to 1. What lies outside the axis goes
  /// into its first or last bin.
  template <class Add>
  void Spread(double from, double to, const Add& add) const {
    const int first = At(from);
    const int last = std::max(first, At(to));
    if (first == last || !(to > from)) {
      add(first, 1.0);
      return;
    }
    double left = 1;
    for (int bin = first; bin < last; ++bin) {
      const double begin = bin == first ? from : start + width * bin;
      const double clipped = std::clamp((start + width * (bin + 1) - begin) / (to - from), 0.0, left);
      add(bin, clipped);
      left -= clipped;
    }
    add(last, left);
  }
};

}  // namespace crema

#endif  // CREMA_COLLECTOR_DETAIL_BIN_AXIS_H_

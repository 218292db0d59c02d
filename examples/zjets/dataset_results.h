// DatasetResults: what the analysis finds in a dataset, or in a part of one.
#ifndef CREMA_EXAMPLES_ZJETS_DATASET_RESULTS_H_
#define CREMA_EXAMPLES_ZJETS_DATASET_RESULTS_H_

#include <array>
#include <cstdint>
#include <vector>

#include "examples/zjets/byte_stream.h"
#include "examples/zjets/exact_sum.h"
#include "examples/zjets/histogram.h"
#include "examples/zjets/selection.h"

namespace zjets {

/// Events left after a cut.
struct CutCount {
  std::int64_t events = 0;
  ExactSum weights;  ///< pb
};

/// Parts merge in any order and grouping to the same bits.
class DatasetResults {
 public:
  DatasetResults();

  /// Counts the event in each cut that it passes.
  void CountCuts(const Selection& selection, double weight);
  /// Fills the histograms that the event has come far enough for. `pileup_density` in GeV per unit area.
  void Fill(const Selection& selection, double pileup_density, double weight);
  void Merge(const DatasetResults& other);

  const std::array<CutCount, kCutNames.size()>& cuts() const { return cuts_; }
  const std::vector<Histogram>& histograms() const { return histograms_; }

  void Write(ByteWriter& out) const;
  static DatasetResults Read(ByteReader& in);

 private:
  std::array<CutCount, kCutNames.size()> cuts_;
  std::vector<Histogram> histograms_;
};

}  // namespace zjets

#endif  // CREMA_EXAMPLES_ZJETS_DATASET_RESULTS_H_

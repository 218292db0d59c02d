// Logarithmic histograms stacked by dataset, with quantiles marked.
#ifndef CREMA_COLLECTOR_CHARTS_LOG_HISTOGRAM_H_
#define CREMA_COLLECTOR_CHARTS_LOG_HISTOGRAM_H_

#include <string>
#include <vector>

#include "collector/detail/run_detail.h"
#include "nlohmann/json_fwd.hpp"

namespace crema {

/// A vertical line with its words.
struct HistogramMark {
  double value = 0;  ///< in the axis's unit
  std::string words;
};

/// `factor` converts the quantity to the unit in `title`. A baseline with bins of the same width is drawn as steps.
nlohmann::ordered_json LogHistogram(const RunDetail& detail, const ValueShape& shape, double factor,
                                    const std::string& title, const std::vector<HistogramMark>& marks,
                                    const ValueShape* baseline);

/// Names of dataset slots, made fit to be shown; the place of each is the slot.
std::vector<std::string> SlotNames(const RunDetail& detail);

/// The colour of datasets, by the field that holds their shown name.
nlohmann::ordered_json SlotColours(const std::vector<std::string>& names, std::string_view field);

}  // namespace crema

#endif  // CREMA_COLLECTOR_CHARTS_LOG_HISTOGRAM_H_

// "Can I trust this?": what is known about the measurement itself, the same rows wherever they are shown.
#ifndef CREMA_COLLECTOR_INSIGHT_TRUST_ITEMS_H_
#define CREMA_COLLECTOR_INSIGHT_TRUST_ITEMS_H_

#include <string>
#include <vector>

#include "collector/insight/key_figure_bands.h"
#include "nlohmann/json.hpp"

namespace crema {

/// One row: `before`, the figure in words, `after`.
struct TrustItem {
  Mark mark = Mark::kGood;
  std::string key;  ///< of the document: `quality.event_coverage`
  double value = 0;
  std::string before;
  std::string figure;  ///< empty where words say it all
  std::string after;

  std::string text() const { return before + figure + after; }
};

/// Worst first, in the order of the table among equals.
std::vector<TrustItem> TrustItems(const nlohmann::ordered_json& document);

}  // namespace crema

#endif  // CREMA_COLLECTOR_INSIGHT_TRUST_ITEMS_H_

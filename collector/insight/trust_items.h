// "Can I trust this?": what is known about the measurement itself, the same rows wherever they are shown.
#pragma once

#include <string>
#include <vector>

#include "collector/insight/figure_text.h"
#include "collector/insight/key_figure_bands.h"
#include "collector/measurement/measurement.h"

namespace crema {

struct TrustItem {
  Mark mark = Mark::kGood;
  FigureText reported;

  std::string text() const { return reported.text(); }
};

/// Figures that were not measured for one reason.
struct UnmeasuredFigures {
  std::string reason;
  std::vector<std::string> keys;
};

/// By the reasons in `quality.not_measured`, in the order in which they come first.
std::vector<UnmeasuredFigures> FindUnmeasured(const Measurement& measurement);

/// Worst first, in the order of the table among equals.
std::vector<TrustItem> TrustItems(const Measurement& measurement);

}  // namespace crema

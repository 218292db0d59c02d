// Metrics of guards that record several numbers under one name: `<name>.<what>`.
#pragma once

#include <string_view>

#include "crema/record_metric.h"
#include "log/json_line.h"

namespace crema {
namespace internal {

/// Records the metric; the name is cut so that what was measured stays readable.
inline void RecordDotted(std::string_view name, std::string_view what, double value, std::string_view unit) noexcept {
  char text[kMaxNameBytes];
  name = CutOnCodePoint(name, sizeof text - what.size() - 1);
  name.copy(text, name.size());
  text[name.size()] = '.';
  what.copy(text + name.size() + 1, what.size());
  crema::RecordMetric(std::string_view(text, name.size() + 1 + what.size()), value, unit);
}

}  // namespace internal
}  // namespace crema

// What to ask a batch system for next time, from what its jobs used: docs/verdicts.md, "Resource advice".
#ifndef CREMA_COLLECTOR_INSIGHT_RESOURCE_ADVICE_H_
#define CREMA_COLLECTOR_INSIGHT_RESOURCE_ADVICE_H_

#include <optional>
#include <string>
#include <vector>

#include "collector/measurement/measurement.h"

namespace crema {

/// What was used, over the jobs of which it is known.
struct UsedResource {
  std::string resource;             ///< `memory`, in bytes, or `cores`
  double jobs = 0;                  ///< of which both ends, or the peak, are known
  std::optional<double> requested;  ///< the median request
  std::optional<double> used;       ///< 99 % quantile: the value of rank ceil(0.99 n)
  /// Of its 95 % interval, from the order of the values alone; nullopt: the largest of so few is no upper end.
  std::optional<double> used_low;
  std::optional<double> used_high;
  std::string reason;  ///< why there is no advice, or no upper end; empty: neither
};

/// Of a document with jobs of a batch system: what an engine's workers tell of memory limits and CPU time. Empty: it
/// has none.
std::vector<UsedResource> AdviseResources(const Measurement& measurement);

/// The rows of the document's `resource_advice`.
std::vector<ResourceAdviceRow> ResourceAdviceRows(const std::vector<UsedResource>& advice);

}  // namespace crema

#endif  // CREMA_COLLECTOR_INSIGHT_RESOURCE_ADVICE_H_

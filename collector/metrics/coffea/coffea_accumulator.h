// What Coffea's reports add up to: one run may have several, one for each call of its Runner.
#ifndef CREMA_COLLECTOR_METRICS_COFFEA_COFFEA_ACCUMULATOR_H_
#define CREMA_COLLECTOR_METRICS_COFFEA_COFFEA_ACCUMULATOR_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "collector/sources/coffea_report.h"

namespace crema {

/// Sums over what tells the quantity; nullopt where nothing does.
struct CoffeaSums {
  std::optional<int64_t> entries;  ///< events
  std::optional<double> duration;  ///< seconds, wall, around process()
  std::optional<int64_t> bytes;    ///< requested from files
};

struct CoffeaFigures {
  int64_t reports = 0;
  CoffeaSums report;                 ///< Coffea's `entries`, `processtime`, `bytesread`
  std::optional<int64_t> chunks;     ///< work items, of reports
  std::vector<std::string> columns;  ///< of reports, sorted
  bool has_columns = false;
  std::map<std::string, CoffeaSums> datasets;  ///< by name
  CoffeaSums of_datasets;                      ///< their sum

  bool empty() const { return reports == 0 && datasets.empty(); }
};

/// Accumulator of reports and of figures by dataset. Counts beyond 64 bits stay at the largest integer.
class CoffeaAccumulator {
 public:
  void Add(const CoffeaReport& report);
  void Add(const MetricsByDataset& metrics);
  void Merge(const CoffeaAccumulator& other);
  CoffeaFigures Finalize() const;

 private:
  CoffeaFigures sums_;  // `columns` and `of_datasets` are made at the end
  std::set<std::string> columns_;
};

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_COFFEA_COFFEA_ACCUMULATOR_H_

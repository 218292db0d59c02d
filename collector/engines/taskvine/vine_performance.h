// The manager's own sums, `performance`: rows of numbers under a line that names them.
#ifndef CREMA_COLLECTOR_ENGINES_TASKVINE_VINE_PERFORMANCE_H_
#define CREMA_COLLECTOR_ENGINES_TASKVINE_VINE_PERFORMANCE_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "collector/records/cluster_facts.h"

namespace crema {

/// Columns differ from version to version, so each is found by its name.
class VinePerformance {
 public:
  /// False: the line is none of this log's.
  bool Add(std::string_view line);

  /// The last row, by column; empty: there was none.
  const std::map<std::string, double, std::less<>>& last() const { return last_; }

  /// Names what the transactions lack of what was counted here: in complaints of the last of `clusters`.
  void Compare(std::vector<ClusterFact>* clusters) const;

 private:
  std::vector<std::string> columns_;
  std::map<std::string, double, std::less<>> last_;
};

}  // namespace crema

#endif  // CREMA_COLLECTOR_ENGINES_TASKVINE_VINE_PERFORMANCE_H_

#include "collector/engines/taskvine/vine_performance.h"

#include <fmt/format.h>

#include <cstdint>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"

namespace crema {

bool VinePerformance::Add(std::string_view line) {
  const std::vector<std::string> words =
      absl::StrSplit(absl::string_view(line.data(), line.size()), ' ', absl::SkipEmpty());
  if (words.size() > 2 && words[0] == "#" && words[1] == "timestamp") {
    columns_.assign(words.begin() + 1, words.end());
    return true;
  }
  if (columns_.empty()) return false;
  std::map<std::string, double, std::less<>> row;
  for (size_t i = 0; i < words.size() && i < columns_.size(); ++i) {
    double value = 0;
    if (!absl::SimpleAtod(words[i], &value)) return false;
    row[columns_[i]] = value;
  }
  if (words.size() == columns_.size()) last_ = std::move(row);  // a row that is cut may end inside a number
  return true;
}

void VinePerformance::Compare(std::vector<ClusterFact>* clusters) const {
  if (clusters->size() != 1) return;  // whose sums these are is not known
  ClusterFact& cluster = clusters->back();
  const auto compare = [&](std::string_view column, std::string_view count, std::string_view what) {
    const auto told = last_.find(column);
    const auto seen = cluster.counts.find(std::string(count));
    if (told == last_.end() || seen == cluster.counts.end()) return;
    const auto counted = static_cast<int64_t>(told->second);
    if (counted <= seen->second) return;
    cluster.complaints.push_back(
        fmt::format("the manager counted {} {}, but its transactions show {}: some of them are missing", counted, what,
                    seen->second));
  };
  compare("tasks_done", "done", "tasks that were done");
  compare("tasks_dispatched", "dispatched", "tasks that were dispatched");
  compare("workers_joined", "joined", "workers that joined");
}

}  // namespace crema

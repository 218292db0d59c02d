#include "collector/metrics/contents/memory_section_table.h"

#include <algorithm>

#include "collector/metrics/statistics/stable_hash.h"

namespace crema {

void MemorySectionTable::Path::Add(const Path& other) {
  count = AddCounts(count, other.count);
  chunks += other.chunks;
  delta_bytes.Add(other.delta_bytes);
  if (other.min_bytes.has_value() && (!min_bytes.has_value() || *other.min_bytes < *min_bytes)) {
    min_bytes = other.min_bytes;
  }
  largest = std::max(largest, other.largest);
  peak_bytes = std::max(peak_bytes, other.peak_bytes);
}

void MemorySectionTable::Add(const std::string& name, const Path& path) {
  const uint32_t index = names_.Intern(name, HashOf(name));
  if (index == BoundedNames::kRefused) {
    other_.Add(path);
    return;
  }
  if (index >= paths_.size()) paths_.resize(index + 1);
  paths_[index].Add(path);
  if (names_.full()) {
    names_.Prune().Apply(paths_, [this](const Path& refused) { other_.Add(refused); });
  }
}

void MemorySectionTable::Add(const std::vector<MemorySectionFact>& sections, int64_t chunks) {
  for (const MemorySectionFact& section : sections) {
    Path path;
    path.count = section.count;
    path.chunks = chunks;
    path.delta_bytes.Add(section.delta_bytes);
    path.min_bytes = section.min_bytes;
    path.largest = {section.max_bytes, section.rss_stop_bytes, section.rss_start_bytes};
    path.peak_bytes = section.peak_bytes;
    Add(std::string(section.path), path);
  }
}

void MemorySectionTable::Merge(const MemorySectionTable& other) {
  other_.Add(other.other_);
  for (uint32_t i = 0; i < other.names_.size(); ++i) Add(other.names_.name(i), other.paths_[i]);
}

std::vector<MemorySectionRow> MemorySectionTable::Finalize(int64_t* dropped) const {
  MemorySectionTable sorted = *this;
  sorted.names_.PruneAndSort().Apply(sorted.paths_, [&sorted](const Path& refused) { sorted.other_.Add(refused); });
  std::vector<MemorySectionRow> rows;
  const auto add_row = [&rows](const std::string& name, const Path& path) {
    const auto& [max_bytes, rss_stop_bytes, rss_start_bytes] = path.largest;
    rows.push_back({name, path.count, path.delta_bytes.Integer(), path.min_bytes, max_bytes, rss_start_bytes,
                    rss_stop_bytes, path.peak_bytes});
  };
  for (uint32_t i = 0; i < sorted.names_.size(); ++i) add_row(sorted.names_.name(i), sorted.paths_[i]);
  if (sorted.other_.chunks > 0) add_row(std::string(kOtherName), sorted.other_);
  *dropped = sorted.other_.chunks;
  return rows;
}

}  // namespace crema

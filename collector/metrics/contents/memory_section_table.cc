#include "collector/metrics/contents/memory_section_table.h"

#include <algorithm>

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

void MemorySectionTable::Add(const std::vector<MemorySectionFact>& sections, int64_t chunks) {
  for (const MemorySectionFact& section : sections) {
    Path path;
    path.count = section.count;
    path.chunks = chunks;
    path.delta_bytes.Add(section.delta_bytes);
    path.min_bytes = section.min_bytes;
    path.largest = {section.max_bytes, section.rss_stop_bytes, section.rss_start_bytes};
    path.peak_bytes = section.peak_bytes;
    paths_.Add(section.path, path);
  }
}

std::vector<MemorySectionRow> MemorySectionTable::Finalize(int64_t* dropped) const {
  std::vector<MemorySectionRow> rows;
  const auto add_row = [&rows](std::string_view name, const Path& path) {
    const auto& [max_bytes, rss_stop_bytes, rss_start_bytes] = path.largest;
    rows.push_back({name, path.count, path.delta_bytes.Integer(), path.min_bytes, max_bytes, rss_start_bytes,
                    rss_stop_bytes, path.peak_bytes});
  };
  const Path refused = paths_.Finalize(add_row);
  if (refused.chunks > 0) add_row(kOtherName, refused);
  *dropped = refused.chunks;
  return rows;
}

}  // namespace crema

// ColumnBytes: how many stored bytes of each column a chunk used.
#ifndef CREMA_ROOT_COLUMN_BYTES_H_
#define CREMA_ROOT_COLUMN_BYTES_H_

#include <TBranch.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "crema/record_metric.h"
#include "crema/root/requirements.h"  // IWYU pragma: keep

namespace crema::internal {

/// The baskets that ROOT took into use, by the name of their branch: read from the file or from the tree's cache, and
/// decompressed. Branches of one name are one column.
class ColumnBytes {
 public:
  /// Further ones, by name, are together in one. A chunk and a measurement keep 1,000 metrics, and the user has some.
  static constexpr std::size_t kMostColumns = 100;

  void Add(const TBranch& branch, std::size_t basket) {
    const std::string_view name = branch.GetName();
    auto column = bytes_.find(name);
    if (column == bytes_.end()) column = bytes_.emplace(name, 0).first;
    column->second += branch.GetBasketBytes()[basket];
  }
  void Clear() { bytes_.clear(); }
  /// Reports to the chunk of this thread.
  void Record() const {
    const std::string prefix = "column_bytes.";
    std::size_t columns = 0;
    std::int64_t other_bytes = 0;
    for (const auto& [name, bytes] : bytes_) {
      if (++columns > kMostColumns) {
        other_bytes += bytes;
      } else {
        RecordMetric(prefix + name, bytes, "B");
      }
    }
    if (columns > kMostColumns) RecordMetric(prefix + "(other)", other_bytes, "B");
  }

 private:
  std::map<std::string, std::int64_t, std::less<>> bytes_;
};

}  // namespace crema::internal

#endif  // CREMA_ROOT_COLUMN_BYTES_H_

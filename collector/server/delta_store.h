// The state of the page, and what of it changed since a client last heard of it.
#ifndef CREMA_COLLECTOR_SERVER_DELTA_STORE_H_
#define CREMA_COLLECTOR_SERVER_DELTA_STORE_H_

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "nlohmann/json.hpp"

namespace crema {

/// Values, and tables of rows with keys, each with the number of the change that made it what it is.
class DeltaStore {
 public:
  /// Numbers of changes begin after `first`: one that is larger than those of any server before, so that a client of
  /// another server gets everything.
  explicit DeltaStore(int64_t first) : first_(first), now_(first) {}

  /// Begins a change. What is set until the next belongs to it.
  void Begin() { ++now_; }
  void Set(const std::string& key, nlohmann::ordered_json value);
  void SetRow(const std::string& table, const std::string& key, nlohmann::ordered_json row);
  void RemoveRow(const std::string& table, const std::string& key);
  /// Removes every row of a table for which `keep(key)` is false.
  template <class Keep>
  void KeepRows(const std::string& table, const Keep& keep) {
    std::vector<std::string> gone;
    for (const auto& [key, row] : tables_[table]) {
      if (!keep(key)) gone.push_back(key);
    }
    for (const std::string& key : gone) RemoveRow(table, key);
  }

  int64_t now() const { return now_; }

  /// `{"id": now, "full": bool, key: value, table: {key: row}, "removed": {table: [key]}}`, with what has changed after
  /// `since`. Everything, and `full`, where `since` is not one of this store's numbers or lies too far back.
  nlohmann::ordered_json Since(int64_t since) const;

 private:
  struct Value {
    nlohmann::ordered_json json;
    int64_t changed = 0;
  };
  struct Removal {
    int64_t changed;
    std::string table;
    std::string key;
  };
  void Put(Value& value, nlohmann::ordered_json json);

  int64_t first_;
  int64_t now_;
  std::map<std::string, Value> values_;
  std::map<std::string, std::map<std::string, Value>> tables_;
  std::deque<Removal> removals_;
  int64_t forgotten_ = 0;  ///< removals up to this change are no longer known
};

}  // namespace crema

#endif  // CREMA_COLLECTOR_SERVER_DELTA_STORE_H_

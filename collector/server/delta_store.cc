#include "collector/server/delta_store.h"

namespace crema {
namespace {

constexpr size_t kMostRemovals = 5000;

}  // namespace

void DeltaStore::Put(Value& value, nlohmann::ordered_json json) {
  if (value.changed > 0 && value.json == json) return;
  value.json = std::move(json);
  value.changed = now_;
}

void DeltaStore::Set(const std::string& key, nlohmann::ordered_json value) { Put(values_[key], std::move(value)); }

void DeltaStore::SetRow(const std::string& table, const std::string& key, nlohmann::ordered_json row) {
  Put(tables_[table][key], std::move(row));
}

void DeltaStore::RemoveRow(const std::string& table, const std::string& key) {
  if (tables_[table].erase(key) == 0) return;
  removals_.push_back({now_, table, key});
  if (removals_.size() <= kMostRemovals) return;
  forgotten_ = removals_.front().changed;
  removals_.pop_front();
}

nlohmann::ordered_json DeltaStore::Since(int64_t since) const {
  const bool full = since <= first_ || since > now_ || since < forgotten_;
  if (full) since = 0;
  nlohmann::ordered_json delta;
  delta["id"] = now_;
  delta["full"] = full;
  for (const auto& [key, value] : values_) {
    if (value.changed > since) delta[key] = value.json;
  }
  for (const auto& [table, rows] : tables_) {
    nlohmann::ordered_json changed;
    for (const auto& [key, row] : rows) {
      if (row.changed > since) changed[key] = row.json;
    }
    if (!changed.is_null()) delta[table] = std::move(changed);
  }
  if (full) return delta;
  nlohmann::ordered_json removed;
  for (const Removal& removal : removals_) {
    const auto table = tables_.find(removal.table);
    const bool is_back = table != tables_.end() && table->second.count(removal.key) > 0;
    if (removal.changed > since && !is_back) removed[removal.table].push_back(removal.key);
  }
  if (!removed.is_null()) delta["removed"] = std::move(removed);
  return delta;
}

}  // namespace crema

#include "collector/measurement/metric_set.h"

#include <cmath>

namespace crema {

void MetricSet::Set(std::string_view key, MetricValue value, std::string_view reason_if_null) {
  const double* number = std::get_if<double>(&value);
  if (std::holds_alternative<std::monostate>(value) || (number != nullptr && !std::isfinite(*number))) {
    SetNull(key, reason_if_null);
    return;
  }
  values_.insert_or_assign(std::string(key), std::move(value));
  reasons_.erase(std::string(key));
}

void MetricSet::SetNull(std::string_view key, std::string_view reason) {
  values_.insert_or_assign(std::string(key), MetricValue());
  reasons_.insert_or_assign(std::string(key), std::string(reason));
}

const MetricValue* MetricSet::Find(std::string_view key) const {
  auto found = values_.find(key);
  return found == values_.end() ? nullptr : &found->second;
}

std::optional<double> MetricSet::Number(std::string_view key) const {
  const MetricValue* value = Find(key);
  if (value == nullptr) return std::nullopt;
  if (const auto* integer = std::get_if<int64_t>(value)) return static_cast<double>(*integer);
  if (const auto* number = std::get_if<double>(value)) return *number;
  return std::nullopt;
}

std::string_view MetricSet::Reason(std::string_view key) const {
  auto found = reasons_.find(key);
  return found == reasons_.end() ? std::string_view() : std::string_view(found->second);
}

}  // namespace crema

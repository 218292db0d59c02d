// The finished figures: every key of the metric set with its value, or with the reason why there is none.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace crema {

/// `std::monostate` is "not measured".
using MetricValue = std::variant<std::monostate, int64_t, double, std::vector<std::string>>;

class MetricSet {
 public:
  /// Sets a measured value and forgets an earlier reason. A double that is not finite is "not measured".
  void Set(std::string_view key, MetricValue value, std::string_view reason_if_null = "not measured");

  /// As `Set`, with nothing where the optional is empty.
  template <class T>
  void SetOptional(std::string_view key, const std::optional<T>& value, std::string_view reason_if_null) {
    if (value.has_value()) {
      Set(key, MetricValue(*value), reason_if_null);
    } else {
      SetNull(key, reason_if_null);
    }
  }

  /// Leaves the key as it is where the optional is empty.
  template <class T>
  void SetIfKnown(std::string_view key, const std::optional<T>& value) {
    if (value.has_value()) Set(key, MetricValue(*value));
  }
  /// States that the key was not measured, and why in one sentence.
  void SetNull(std::string_view key, std::string_view reason);

  const MetricValue* Find(std::string_view key) const;
  /// The value as a number; nullopt where it is not measured, absent or a list.
  std::optional<double> Number(std::string_view key) const;
  /// Why the key is null; empty where it is not.
  std::string_view Reason(std::string_view key) const;

  const std::map<std::string, MetricValue, std::less<>>& values() const { return values_; }

 private:
  std::map<std::string, MetricValue, std::less<>> values_;
  std::map<std::string, std::string, std::less<>> reasons_;
};

}  // namespace crema

#include "collector/writers/metric_text.h"

#include "collector/insight/human_numbers.h"
#include "fmt/format.h"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

/// Memory is counted in powers of 1024, data in powers of 1000; the unit of both is `B`.
bool IsMemory(std::string_view key) {
  for (std::string_view word : {"rss", "pss", "swap", "peak_memory", "total_memory", "memory_per_worker"}) {
    if (key.find(word) != std::string_view::npos) return true;
  }
  return false;
}

}  // namespace

std::string ExactText(const Json& value) {
  if (value.is_null()) return "–";
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_array()) return value.dump(-1, ' ', false, Json::error_handler_t::replace);
  std::string text;
  for (const Json& item : value) text += (text.empty() ? "" : " ") + ExactText(item);
  return text.empty() ? "none" : text;
}

std::string MetricText(std::string_view key, const Json& value, std::string_view unit) {
  if (!value.is_number()) return ExactText(value);
  const double number = value.get<double>();
  if (unit == "s") return HumanDuration(number);
  if (unit == "B") return IsMemory(key) ? HumanMemory(number) : HumanData(number);
  if (unit == "count") return HumanCount(number);
  // a ratio may exceed 1 (a speed-up, a compression): only what it is called tells, so it stays a plain number
  if (unit == "ratio" || unit.empty()) return HumanNumber(number);
  if (unit == "%") return HumanNumber(number) + " %";
  return fmt::format("{} {}", HumanNumber(number), unit);
}

}  // namespace crema

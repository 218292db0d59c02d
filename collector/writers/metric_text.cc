#include "collector/writers/metric_text.h"

#include "collector/appearance/human_numbers.h"

namespace crema {

using Json = nlohmann::ordered_json;

std::string ExactText(const Json& value) {
  if (value.is_null()) return "–";
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_array()) return value.dump(-1, ' ', false, Json::error_handler_t::replace);
  std::string text;
  for (const Json& item : value) text += (text.empty() ? "" : " ") + ExactText(item);
  return text.empty() ? "none" : text;
}

std::string MetricText(std::string_view key, const Json& value, std::string_view unit) {
  return value.is_number() ? HumanQuantity(key, value.get<double>(), unit) : ExactText(value);
}

}  // namespace crema

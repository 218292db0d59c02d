#include "collector/writers/metric_text.h"

#include "collector/appearance/human_numbers.h"
#include "collector/measurement/catalog.h"

namespace crema {

std::string ExactText(const Cell& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const bool* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  const Number* number = std::get_if<Number>(&value);
  return number == nullptr ? "–" : DigitsOf(*number);
}

std::string ExactText(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text.empty() ? "none" : text;
}

std::string ExactText(const MetricValue& value) {
  if (const auto* names = std::get_if<std::vector<std::string>>(&value)) return ExactText(*names);
  if (const auto* integer = std::get_if<int64_t>(&value)) return DigitsOf(*integer);
  const double* number = std::get_if<double>(&value);
  return number == nullptr ? "–" : DigitsOf(*number);
}

std::string MetricText(std::string_view key, const MetricValue& value, std::string_view unit) {
  if (const auto* integer = std::get_if<int64_t>(&value))
    return HumanQuantity(key, static_cast<double>(*integer), unit);
  const double* number = std::get_if<double>(&value);
  return number == nullptr ? ExactText(value) : HumanQuantity(key, *number, unit);
}

std::vector<std::string_view> KeysOf(const MetricSet& metrics) {
  std::vector<std::string_view> keys;
  for (const MetricDefinition& definition : MetricCatalog()) {
    for (const std::string& key : {definition.key, definition.alias}) {
      if (const auto found = metrics.values().find(key); found != metrics.values().end()) keys.push_back(found->first);
    }
  }
  return keys;
}

}  // namespace crema

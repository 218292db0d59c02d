#include "collector/document/document_fields.h"

#include <cmath>

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

}  // namespace

const Json& Field(const Json& object, std::string_view key) {
  static const Json kNothing;
  if (!object.is_object()) return kNothing;
  auto found = object.find(std::string(key));
  return found == object.end() ? kNothing : *found;
}

std::optional<double> NumberField(const Json& object, std::string_view key) {
  const Json& field = Field(object, key);
  if (!field.is_number()) return std::nullopt;
  const double number = field.get<double>();
  if (!std::isfinite(number)) return std::nullopt;
  return number;
}

std::string TextField(const Json& object, std::string_view key) {
  const Json& field = Field(object, key);
  return field.is_string() ? field.get<std::string>() : std::string();
}

const Json& ListField(const Json& object, std::string_view key) {
  static const Json kEmptyList = Json::array();
  const Json& field = Field(object, key);
  return field.is_array() ? field : kEmptyList;
}

std::optional<double> Metric(const Json& document, std::string_view key) {
  return NumberField(Field(document, "metrics"), key);
}

std::string WhyNotMeasured(const Json& document, std::string_view key) {
  const std::string reason = TextField(Field(Field(document, "quality"), "not_measured"), key);
  return reason.empty() ? "not measured" : reason;
}

}  // namespace crema

#include "collector/records/json_fields.h"

#include <cmath>

#include "nlohmann/json.hpp"

namespace crema {

using Json = nlohmann::ordered_json;

namespace {

template <class Key, class Value, class Less, class Allocator>
struct UnsearchedMap : nlohmann::ordered_map<Key, Value, Less, Allocator> {
  Value& operator[](const Key& key) { return this->emplace_back(key, Value()).second; }
};

}  // namespace

Json ParsedJson(std::string_view text) {
  return nlohmann::basic_json<UnsearchedMap>::parse(text, nullptr, /*allow_exceptions=*/false);
}

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
  return std::isfinite(number) ? std::optional(number) : std::nullopt;
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

std::string JsonText(const nlohmann::ordered_json& json, int indent) {
  return json.dump(indent, ' ', /*ensure_ascii=*/false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace crema

#include "collector/measurement/column.h"

#include "nlohmann/json.hpp"

namespace crema {

void WriteValue(const Number& member, Json* value) {
  if (!member.has_value()) return;
  *value = member.is_integer() ? Json(member.integer()) : Json(*member);
}

void WriteValue(const Text& member, Json* value) {
  if (member.has_value()) *value = member.str();
}

void WriteValue(const Flag& member, Json* value) {
  if (member.has_value()) *value = *member;
}

void ReadValue(const Json& value, Number* member) {
  *member = Number();
  if (value.is_number_unsigned()) {
    *member = value.get<uint64_t>();
  } else if (value.is_number_integer()) {
    *member = value.get<int64_t>();
  } else if (value.is_number_float()) {
    *member = value.get<double>();
  }
}

void ReadValue(const Json& value, Text* member) {
  *member = value.is_string() ? Text(value.get_ref<const std::string&>()) : Text();
}

void ReadValue(const Json& value, Flag* member) { *member = value.is_boolean() ? Flag(value.get<bool>()) : Flag(); }

void WriteValue(const std::vector<std::string>& member, Json* value) { *value = member; }

void ReadValue(const Json& value, std::vector<std::string>* member) {
  member->clear();
  for (size_t i = 0; i < internal::SizeOf(value); ++i) {
    if (value[i].is_string()) member->push_back(value[i].get<std::string>());
  }
}

void WriteValue(const std::optional<std::vector<std::string>>& member, Json* value) {
  if (member.has_value()) *value = *member;
}

void ReadValue(const Json& value, std::optional<std::vector<std::string>>* member) {
  member->reset();
  if (value.is_array()) ReadValue(value, &member->emplace());
}

void WriteRow(absl::Span<const Column> columns, const void* row, Json* object) {
  *object = Json::object();
  for (const Column& column : columns) {
    column.write(row, &object->get_ref<Json::object_t&>().Container::emplace_back(column.key, Json()).second);
  }
}

void ReadRow(absl::Span<const Column> columns, const Json& object, void* row) {
  if (!object.is_object()) return;
  for (const Column& column : columns) {
    if (column.read == nullptr) continue;
    if (const auto found = object.find(std::string(column.key)); found != object.end()) column.read(*found, row);
  }
}

namespace internal {

Cell CellOfJson(void (*write)(const void* row, Json* value), const void* row) {
  Json value;
  write(row, &value);
  if (value.is_null()) return {};
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json& Append(Json* list) { return list->emplace_back(); }
void MakeList(Json* value) { *value = Json::array(); }
size_t SizeOf(const Json& list) { return list.is_array() ? list.size() : 0; }
const Json& ItemOf(const Json& list, size_t index) { return list[index]; }
bool IsObject(const Json& value) { return value.is_object(); }

}  // namespace internal

}  // namespace crema

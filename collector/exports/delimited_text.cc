#include "collector/exports/delimited_text.h"

#include "absl/strings/numbers.h"
#include "collector/measurement/cells.h"
#include "nlohmann/json.hpp"

namespace crema {

using Json = nlohmann::ordered_json;

namespace {

bool IsFormula(const std::string& text) {
  if (text.empty() || std::string_view("=+-@\t\r").find(text.front()) == std::string_view::npos) return false;
  double number = 0;
  return !absl::SimpleAtod(text, &number);
}

}  // namespace

std::string CsvField(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string field = "\"";
  for (const char character : text) {
    if (character == '"') field += '"';
    field += character;
  }
  return field + '"';
}

std::string CsvField(const Cell& value) {
  if (const Number* number = std::get_if<Number>(&value)) return DigitsOf(*number);
  if (const bool* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  const std::string* text = std::get_if<std::string>(&value);
  if (text == nullptr) return "";
  return CsvField(std::string_view(IsFormula(*text) ? "'" + *text : *text));
}

std::string CsvField(const Json& value) {
  if (value.is_null()) return "";
  if (value.is_string()) return CsvField(Cell(value.get<std::string>()));
  return CsvField(std::string_view(value.dump(-1, ' ', false, Json::error_handler_t::replace)));
}

std::string CsvLine(const std::vector<std::string>& fields) {
  std::string line;
  for (size_t at = 0; at < fields.size(); ++at) {
    if (at > 0) line += ',';
    line += fields[at];
  }
  return line + "\r\n";
}

}  // namespace crema

// `crema export --to folded`.
#include <algorithm>
#include <cmath>
#include <string>

#include "collector/document/document_fields.h"
#include "collector/exports/formats.h"
#include "collector/records/section_path.h"
#include "fmt/format.h"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

/// Frames are told apart by `;`, the number by the last space, stacks by line ends.
std::string Frame(std::string part) {
  std::string name = NameOfPathPart(std::move(part));
  for (char& character : name) {
    if (character == ';') character = ':';
    if (static_cast<unsigned char>(character) < ' ') character = ' ';
  }
  return name;
}

std::string Stack(const std::string& root, const std::string& path) {
  std::string stack = root;
  for (size_t begin = 0; begin <= path.size();) {
    const size_t end = std::min(path.find('/', begin), path.size());
    stack += ";" + Frame(path.substr(begin, end - begin));
    begin = end + 1;
  }
  return stack;
}

void WriteRows(const Json& rows, const std::string& root, TextSink* sink) {
  for (const Json& row : rows) {
    const std::optional<double> self = NumberField(row, "self");
    if (!self.has_value()) continue;
    const Json& helper = Field(row, "helper");
    const bool is_helper = helper.is_boolean() && helper.get<bool>();
    const auto microseconds = std::llround(*self * 1e6);
    if (microseconds <= 0) continue;
    // helpers run beside the owner: below its root they would make chunks longer than they were
    sink->Write(
        fmt::format("{} {}\n", Stack(is_helper ? "helpers of " + root : root, TextField(row, "path")), microseconds));
  }
}

}  // namespace

absl::Status WriteFolded(const ExportSource& source, const std::string&, TextSink* sink) {
  WriteRows(ListField(source.document, "sections"), "chunks", sink);
  WriteRows(ListField(source.document, "process_sections"), "outside chunks", sink);
  return absl::OkStatus();
}

}  // namespace crema

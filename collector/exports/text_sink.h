// Where an export writes its text to: buffered, with the first error kept until the end.
#ifndef CREMA_COLLECTOR_EXPORTS_TEXT_SINK_H_
#define CREMA_COLLECTOR_EXPORTS_TEXT_SINK_H_

#include <functional>

#include "absl/status/status.h"
#include "collector/measurement/column.h"

namespace crema {

/// Writes to a descriptor in large pieces. After an error nothing more is written.
class TextSink {
 public:
  /// `name` is what errors call the file. The descriptor stays the caller's.
  TextSink(int descriptor, std::string name) : descriptor_(descriptor), name_(std::move(name)) {}
  /// Appends to a text instead.
  explicit TextSink(std::string* text) : text_(text) {}
  void Write(std::string_view text);
  /// Writes what is buffered. Errors: what write(2) said, of this or any write before.
  absl::Status Flush();

 private:
  int descriptor_ = -1;
  std::string* text_ = nullptr;
  std::string name_;
  std::string buffer_;
  absl::Status status_;
};

/// Writes a file that is not there yet, for whom the umask says: other tools read it. Errors: what open(2) and write(2)
/// say.
absl::Status WriteTextFile(const std::string& path, std::string_view text);
/// As above, the text piece by piece.
absl::Status WriteTextFile(const std::string& path, const std::function<absl::Status(TextSink*)>& write);

/// A field: in double quotes where it holds a comma, a quote or a line end; quotes are doubled.
std::string CsvField(std::string_view text);

/// A value as a field: null is empty, lists and objects are compact JSON. A text that a spreadsheet would take for a
/// formula (it begins with `=`, `+`, `-`, `@`, a tab or a carriage return) has an apostrophe before it, unless it is a
/// number.
std::string CsvField(const Cell& value);
std::string CsvField(const nlohmann::ordered_json& value);

/// The fields with commas between, ended by CR LF.
std::string CsvLine(const std::vector<std::string>& fields);

}  // namespace crema

#endif  // CREMA_COLLECTOR_EXPORTS_TEXT_SINK_H_

#include "collector/exports/text_sink.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "absl/strings/numbers.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "collector/measurement/cells.h"
#include "nlohmann/json.hpp"

namespace crema {
namespace {

constexpr size_t kBufferBytes = size_t{1} << 20;

}  // namespace

void TextSink::Write(std::string_view text) {
  if (text_ != nullptr) {
    text_->append(text);
    return;
  }
  buffer_.append(text);
  // an error is kept, and told by the last Flush
  if (buffer_.size() >= kBufferBytes) Flush().IgnoreError();
}

absl::Status TextSink::Flush() {
  std::string_view rest = buffer_;
  while (status_.ok() && !rest.empty()) {
    const ssize_t written = write(descriptor_, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      status_ = absl::ErrnoToStatus(errno, name_);
      break;
    }
    rest.remove_prefix(static_cast<size_t>(written));
  }
  buffer_.clear();
  return status_;
}

absl::Status WriteTextFile(const std::string& path, const std::function<absl::Status(TextSink*)>& write) {
  const int descriptor = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (descriptor < 0) return absl::ErrnoToStatus(errno, path);
  TextSink sink(descriptor, path);
  absl::Status status = write(&sink);
  if (status.ok()) status = sink.Flush();
  close(descriptor);
  return status;
}

absl::Status WriteTextFile(const std::string& path, std::string_view text) {
  return WriteTextFile(path, [text](TextSink* sink) {
    sink->Write(text);
    return absl::OkStatus();
  });
}

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
  return "\"" + absl::StrReplaceAll(std::string(text), {{"\"", "\"\""}}) + "\"";
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

std::string CsvLine(const std::vector<std::string>& fields) { return absl::StrJoin(fields, ",") + "\r\n"; }

}  // namespace crema

#include "collector/engines/dask/dask_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "collector/compression/decompressed_file.h"
#include "collector/engines/dask/dask_log.h"

namespace crema {
namespace {

/// A file read from its beginning on, of which as much is held as is looked at. It is not mapped into memory: somebody
/// may truncate it meanwhile, and the kernel kills whoever looks at what is gone.
class ReadFile {
 public:
  explicit ReadFile(const std::string& path) : file_(path) {}
  const absl::Status& status() const { return file_.status(); }
  bool is_compressed() const { return file_.is_compressed(); }

  /// How many bytes there are up to the next newline; npos: the file ends before.
  size_t LengthOfLine() {
    for (size_t from = 0;;) {
      const size_t newline = held().find('\n', from);
      if (newline != std::string_view::npos) return newline;
      from = held().size();
      if (!ReadMore()) return std::string_view::npos;
    }
  }
  /// Has at least so many bytes at hand, or all that are left.
  void Hold(size_t bytes) {
    while (held().size() < bytes && ReadMore()) {
    }
  }
  /// What is at hand; it moves with `Hold`, `LengthOfLine` and `Drop`.
  std::string_view held() const { return std::string_view(buffer_).substr(begin_); }
  void Drop(size_t bytes) {
    begin_ += bytes;
    if (begin_ < kBlockBytes) return;
    buffer_.erase(0, begin_);
    begin_ = 0;
  }

 private:
  static constexpr size_t kBlockBytes = size_t{1} << 20;

  bool ReadMore() {
    if (at_end_) return false;
    const size_t size = buffer_.size();
    buffer_.resize(size + kBlockBytes);
    const int64_t got = file_.Read(buffer_.data() + size, kBlockBytes);
    buffer_.resize(size + static_cast<size_t>(std::max<int64_t>(got, 0)));
    at_end_ = got <= 0;
    return !at_end_;
  }

  DecompressedFile file_;
  bool at_end_ = false;
  std::string buffer_;
  size_t begin_ = 0;
};

absl::Status CheckSchema(const std::string& path, const nlohmann::json& first) {
  const bool is_cluster = first.value("type", "") == "cluster";
  const std::string schema = is_cluster ? first.value("schema", "") : "";
  if (schema == kDaskSchema) return absl::OkStatus();
  return absl::FailedPreconditionError(
      is_cluster ? fmt::format("{}:1: its schema is {}, but this crema reads {}; read it with the crema that wrote it",
                               path, schema, kDaskSchema)
                 : fmt::format("{}:1: is no Dask log (the first line names no schema {}); save it with crema_hep", path,
                               kDaskSchema));
}

bool IsObjectWithType(const nlohmann::json& fields) {
  return fields.is_object() && fields.contains("type") && fields["type"].is_string();
}

}  // namespace

absl::Status ForEachDaskLine(const std::string& path, const std::function<void(const DaskLine&)>& on_line,
                             const std::function<void(const DaskLineFault&)>& on_fault) {
  ReadFile file(path);
  const auto say_unreadable = [&] {
    return absl::UnavailableError(fmt::format("{}: {}", path, std::string(file.status().message())));
  };
  if (!file.status().ok()) return say_unreadable();
  bool checked = false;
  size_t consumed = 0;
  int64_t number = 1;
  for (;; ++number) {
    file.Drop(consumed);
    const size_t length = file.LengthOfLine();
    const bool whole = length != std::string_view::npos;
    if (!whole && file.held().empty()) break;
    DaskLine line;
    line.number = number;
    line.text = file.held().substr(0, length);
    consumed = line.text.size() + (whole ? 1 : 0);
    if (line.text.empty()) continue;
    line.fields = nlohmann::json::parse(line.text, nullptr, /*allow_exceptions=*/false);
    if (!IsObjectWithType(line.fields)) {
      on_fault({number, !whole, whole ? "not a JSON object with a type" : "the rest of this line was never written"});
      continue;
    }
    if (!checked) {
      if (absl::Status status = CheckSchema(path, line.fields); !status.ok()) return status;
      checked = true;
    }
    if (line.fields["type"] == "records") {
      const auto& bytes = line.fields["bytes"];
      if (!bytes.is_number_unsigned()) {
        on_fault({number, false, "`bytes` is not a size; the records that follow are read as lines"});
        continue;
      }
      const size_t size = bytes.get<size_t>();
      file.Hold(size > std::string_view::npos - consumed ? std::string_view::npos : consumed + size);
      line.text = file.held().substr(0, length);
      line.bytes = file.held().substr(consumed, size);
      if (line.bytes.size() < size) {
        on_fault({number, true, "the records behind it were never written in full"});
      }
      consumed += line.bytes.size();
      for (const char c : line.bytes) number += c == '\n';
    }
    on_line(line);
  }
  if (!file.status().ok()) {
    if (!checked || !file.is_compressed()) return say_unreadable();
    on_fault({number, true, fmt::format("{}; what was read so far is used", std::string(file.status().message()))});
  }
  if (checked) return absl::OkStatus();
  return absl::FailedPreconditionError(fmt::format("{}: is empty, or no Dask log", path));
}

}  // namespace crema

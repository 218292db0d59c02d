#include "collector/sources/dask/dask_lines.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "collector/sources/dask/dask_log.h"

namespace crema {
namespace {

/// A file's bytes; empty where it is empty.
class MappedFile {
 public:
  explicit MappedFile(const std::string& path) {
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat status {};
    if (fd < 0 || fstat(fd, &status) != 0) {
      error_ = errno;
    } else if (status.st_size > 0) {
      size_ = static_cast<size_t>(status.st_size);
      bytes_ = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, fd, 0);
      if (bytes_ == MAP_FAILED) error_ = errno;
    }
    if (fd >= 0) close(fd);
  }
  ~MappedFile() {
    if (size_ > 0 && bytes_ != MAP_FAILED) munmap(bytes_, size_);
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  int error() const { return error_; }
  std::string_view text() const { return {static_cast<const char*>(bytes_), size_}; }

 private:
  void* bytes_ = nullptr;
  size_t size_ = 0;
  int error_ = 0;
};

absl::Status CheckSchema(const std::string& path, const nlohmann::json& first) {
  const bool is_cluster = first.value("type", "") == "cluster";
  const std::string schema = is_cluster ? first.value("schema", "") : "";
  if (schema == kDaskSchema) return absl::OkStatus();
  return absl::FailedPreconditionError(
      is_cluster ? fmt::format("{}:1: schema {} where {} is readable; read it with the crema that wrote it", path,
                               schema, kDaskSchema)
                 : fmt::format("{}:1: is no Dask log (the first line names no schema {}); save it with crema_hep", path,
                               kDaskSchema));
}

bool IsObjectWithType(const nlohmann::json& fields) {
  return fields.is_object() && fields.contains("type") && fields["type"].is_string();
}

}  // namespace

absl::Status ForEachDaskLine(const std::string& path, const std::function<void(const DaskLine&)>& on_line,
                             const std::function<void(const DaskLineFault&)>& on_fault) {
  const MappedFile file(path);
  if (file.error() != 0) return absl::UnavailableError(fmt::format("{}: {}", path, strerror(file.error())));
  std::string_view rest = file.text();
  bool checked = false;
  for (int64_t number = 1; !rest.empty(); ++number) {
    const size_t length = rest.find('\n');
    const bool whole = length != std::string_view::npos;
    DaskLine line;
    line.number = number;
    line.text = rest.substr(0, length);
    rest.remove_prefix(whole ? length + 1 : rest.size());
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
        on_fault({number, false, "`bytes` is no size; records that follow are taken for lines"});
        continue;
      }
      const size_t size = bytes.get<size_t>();
      line.bytes = rest.substr(0, size);
      if (line.bytes.size() < size) {
        on_fault({number, true, "the records behind it were never written in full"});
      }
      rest.remove_prefix(line.bytes.size());
      for (const char c : line.bytes) number += c == '\n';
    }
    on_line(line);
  }
  if (checked) return absl::OkStatus();
  return absl::FailedPreconditionError(fmt::format("{}: is empty, or no Dask log", path));
}

}  // namespace crema

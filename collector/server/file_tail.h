// Follows a file that grows: each look reads what was appended.
#ifndef CREMA_COLLECTOR_SERVER_FILE_TAIL_H_
#define CREMA_COLLECTOR_SERVER_FILE_TAIL_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace crema {

class FileTail {
 public:
  explicit FileTail(std::string path) : path_(std::move(path)) {}

  const std::string& path() const { return path_; }
  int64_t offset() const { return offset_; }

  /// Hands what was appended to `on_bytes`, at most about `most` bytes, in pieces that hold during the call. Returns
  /// whether more is there. Errors: NotFound where the file is gone; OutOfRange where it became shorter or is another
  /// file of that name (reading goes on at its beginning); what the system says.
  absl::StatusOr<bool> Read(size_t most, const std::function<void(std::string_view)>& on_bytes);

 private:
  std::string path_;
  int64_t offset_ = 0;
  uint64_t device_ = 0;
  uint64_t inode_ = 0;
};

/// Cuts bytes that come in pieces into lines.
class LineAssembler {
 public:
  /// Calls `on_line` for each whole line, without its newline; `RecordParser::kPadding` readable bytes follow it. A
  /// line beyond `kMaxLineBytes` becomes `on_too_long()`, once.
  void Add(std::string_view bytes, const std::function<void(std::string_view)>& on_line,
           const std::function<void()>& on_too_long);
  /// Forgets a line that was begun.
  void Clear() { held_.clear(); }
  bool has_begun_line() const { return !held_.empty(); }

 private:
  std::string held_;
  bool skipping_ = false;
};

}  // namespace crema

#endif  // CREMA_COLLECTOR_SERVER_FILE_TAIL_H_

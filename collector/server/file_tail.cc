#include "collector/server/file_tail.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>

#include "collector/records/record_parser.h"
#include "collector/records/schema.h"
#include "fmt/format.h"

namespace crema {
namespace {

// Small enough to be parsed out of the processor's cache.
constexpr size_t kBlockBytes = size_t{256} << 10;

class Descriptor {
 public:
  explicit Descriptor(const std::string& path) : fd_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

absl::Status Failed(const std::string& path) {
  return absl::ErrnoToStatus(errno, fmt::format("{}: cannot be read", path));
}

}  // namespace

absl::StatusOr<bool> FileTail::Read(size_t most, const std::function<void(std::string_view)>& on_bytes) {
  struct stat status;
  if (stat(path_.c_str(), &status) != 0) return Failed(path_);
  const bool is_other = offset_ > 0 && (status.st_ino != inode_ || status.st_dev != device_);
  device_ = status.st_dev;
  inode_ = status.st_ino;
  if (is_other || status.st_size < offset_) {
    offset_ = 0;
    return absl::OutOfRangeError(
        fmt::format("{} {}; it is read from its beginning", path_, is_other ? "was replaced" : "became shorter"));
  }
  if (status.st_size == offset_) return false;
  const Descriptor file(path_);  // not kept: there may be more logs than descriptors
  if (file.get() < 0) return Failed(path_);
  const std::unique_ptr<char[]> block(new char[kBlockBytes + RecordParser::kPadding]);
  size_t read = 0;
  while (read < most) {
    const ssize_t got = pread(file.get(), block.get(), kBlockBytes, offset_);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Failed(path_);
    if (got == 0) return false;
    offset_ += got;
    read += static_cast<size_t>(got);
    on_bytes({block.get(), static_cast<size_t>(got)});
  }
  return true;
}

void LineAssembler::Add(std::string_view bytes, const std::function<void(std::string_view)>& on_line,
                        const std::function<void()>& on_too_long) {
  while (!bytes.empty()) {
    const size_t end = bytes.find('\n');
    const std::string_view piece = bytes.substr(0, end);
    if (!skipping_ && held_.size() + piece.size() >= kMaxLineBytes) {
      skipping_ = true;
      held_.clear();
      held_.shrink_to_fit();
      on_too_long();
    }
    if (end == std::string_view::npos) {
      if (!skipping_) held_.append(piece);
      return;
    }
    if (!skipping_) {
      if (held_.empty() && bytes.size() - piece.size() > RecordParser::kPadding) {
        if (!piece.empty()) on_line(piece);  // in place: what follows it may be read
      } else {
        held_.append(piece);
        const size_t size = held_.size();
        held_.append(RecordParser::kPadding, '\0');
        if (size > 0) on_line(std::string_view(held_).substr(0, size));
        held_.clear();
      }
    }
    skipping_ = false;
    bytes.remove_prefix(end + 1);
  }
}

}  // namespace crema

#include "collector/exports/text_sink.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

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

}  // namespace crema

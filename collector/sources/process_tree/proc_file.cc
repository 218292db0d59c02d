#include "collector/sources/process_tree/proc_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace crema {
namespace {

constexpr size_t kSurelyShort = 3072;

std::string_view ReadDescriptor(int descriptor, ProcBuffer* buffer) {
  size_t length = 0;
  while (length < buffer->size()) {
    const ssize_t got = pread(descriptor, buffer->data() + length, buffer->size() - length, static_cast<off_t>(length));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    length += static_cast<size_t>(got);
    // seq_file fills a page before it gives a short read: less than that is all there is, and asking for the end of
    // the file would cost a call more.
    if (length < kSurelyShort) break;
  }
  return {buffer->data(), length};
}

}  // namespace

std::string_view ReadProcFile(const char* path, ProcBuffer* buffer) {
  const int descriptor = open(path, O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return {};
  const std::string_view text = ReadDescriptor(descriptor, buffer);
  close(descriptor);
  return text;
}

KeptProcFile::KeptProcFile(KeptProcFile&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

KeptProcFile& KeptProcFile::operator=(KeptProcFile&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

KeptProcFile::~KeptProcFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

std::string_view KeptProcFile::Read(const char* path, bool keep, ProcBuffer* buffer) {
  if (descriptor_ < 0) {
    if (!keep) return ReadProcFile(path, buffer);
    descriptor_ = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor_ < 0) return {};
  }
  return ReadDescriptor(descriptor_, buffer);
}

std::string ReadWholeFile(const std::string& path) {
  std::string text;
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return text;
  ProcBuffer buffer;
  for (;;) {
    const ssize_t got = read(descriptor, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    text.append(buffer.data(), static_cast<size_t>(got));
  }
  close(descriptor);
  return text;
}

}  // namespace crema

// A file descriptor that closes itself.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <filesystem>
#include <utility>

namespace crema {

/// A descriptor that is closed whatever happens; negative where there is none, or the path cannot be opened.
class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  Descriptor(const char* path, int flags, mode_t mode = 0600) : fd_(open(path, flags | O_CLOEXEC, mode)) {}
  Descriptor(const std::filesystem::path& path, int flags, mode_t mode = 0600)
      : Descriptor(path.c_str(), flags, mode) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  operator int() const { return fd_; }  // NOLINT(google-explicit-constructor): what system calls take

 private:
  int fd_;
};

}  // namespace crema

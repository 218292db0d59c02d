#include "examples/zjets/input_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "fmt/format.h"

namespace zjets {

InputFile::InputFile(const std::string& path) : path_(path), descriptor_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
  if (descriptor_ < 0) {
    throw std::runtime_error(
        fmt::format("{}: cannot open: {}; give its place with --data or --dataset", path, std::strerror(errno)));
  }
}

InputFile::~InputFile() { close(descriptor_); }

std::size_t InputFile::Read(std::uint64_t offset, char* buffer, std::size_t size) const {
  while (true) {
    const ssize_t count = pread(descriptor_, buffer, size, static_cast<off_t>(offset));
    if (count >= 0) return static_cast<std::size_t>(count);
    if (errno != EINTR) {
      throw std::runtime_error(fmt::format("{}: cannot read at byte {}: {}", path_, offset, std::strerror(errno)));
    }
  }
}

}  // namespace zjets

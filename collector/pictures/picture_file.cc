#include "collector/pictures/picture_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "absl/status/statusor.h"
#include "collector/output/temporary_file.h"

namespace crema {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPngSignature("\x89PNG\r\n\x1a\n", 8);
constexpr size_t kPngHeader = 8 + 25;  // signature and IHDR chunk
constexpr std::string_view kPngText("tEXtSoftware\0crema plot", 23);
constexpr std::string_view kSvgMark = "<!-- crema plot -->";
constexpr std::string_view kPdfMark = "\n% crema plot\n";
constexpr std::string_view kSpecMark = "\"usermeta\":{\"crema\":";

/// CRC of PNG chunks, ISO 3309.
uint32_t Crc32(std::string_view bytes) {
  uint32_t crc = 0xFFFFFFFF;
  for (const char byte : bytes) {
    crc ^= static_cast<uint8_t>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0xEDB88320U : 0U);
  }
  return ~crc;
}

std::string BigEndian(uint32_t value) {
  return {static_cast<char>(value >> 24), static_cast<char>(value >> 16), static_cast<char>(value >> 8),
          static_cast<char>(value)};
}

/// A chunk's length counts its data without the four letters of its type.
std::string PngTextChunk() {
  return BigEndian(static_cast<uint32_t>(kPngText.size() - 4)) + std::string(kPngText) + BigEndian(Crc32(kPngText));
}

absl::Status Failed(const fs::path& path, int error) { return absl::ErrnoToStatus(error, path.string()); }

absl::Status WriteSynced(const fs::path& path, const std::string& content) {
  const int descriptor = open(path.c_str(), O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
  if (descriptor < 0) return Failed(path, errno);
  int error = 0;
  for (size_t written = 0; written < content.size() && error == 0;) {
    const ssize_t count = write(descriptor, content.data() + written, content.size() - written);
    if (count >= 0) written += static_cast<size_t>(count);
    if (count < 0 && errno != EINTR) error = errno;
  }
  if (error == 0 && fsync(descriptor) != 0) error = errno;
  close(descriptor);
  return error == 0 ? absl::OkStatus() : Failed(path, error);
}

}  // namespace

std::string MarkedPicture(std::string content, std::string_view format) {
  if (format == "png" && content.size() > kPngHeader && content.compare(0, 8, kPngSignature) == 0) {
    content.insert(kPngHeader, PngTextChunk());
  }
  if (format == "svg") content += kSvgMark;
  if (format == "pdf") content += kPdfMark;
  return content;
}

bool IsMarkedPicture(std::string_view content) {
  const auto ends_with = [content](std::string_view mark) {
    return content.size() >= mark.size() && content.substr(content.size() - mark.size()) == mark;
  };
  if (content.substr(0, 8) == kPngSignature) return content.substr(0, 256).find(kPngText) != std::string_view::npos;
  return ends_with(kSvgMark) || ends_with(kPdfMark) || content.substr(0, 256).find(kSpecMark) != std::string_view::npos;
}

absl::Status CheckMayReplacePicture(const std::string& path, bool force) {
  std::error_code error;
  const fs::file_status status = fs::symlink_status(path, error);
  if (!fs::exists(status)) return absl::OkStatus();
  if (!fs::is_regular_file(status)) {
    return absl::FailedPreconditionError(path + ": exists and is not a regular file; choose another path");
  }
  if (force || fs::is_empty(path, error)) return absl::OkStatus();
  std::ifstream file(path, std::ios::binary);
  if (IsMarkedPicture(std::string(std::istreambuf_iterator<char>(file), {}))) return absl::OkStatus();
  return absl::AlreadyExistsError(path +
                                  ": exists and was not written by `crema plot`; choose another path, or add --force");
}

absl::Status WritePicture(const std::string& path, const std::string& content) {
  const fs::path target = fs::absolute(path).lexically_normal();
  std::error_code error;
  fs::create_directories(target.parent_path(), error);
  if (error) return Failed(target.parent_path(), error.value());
  absl::StatusOr<TemporaryFile> temporary = TemporaryFile::Make(target, 0666);
  if (!temporary.ok()) return temporary.status();
  absl::Status status = WriteSynced(temporary->path(), content);
  return status.ok() ? temporary->Rename() : status;
}

}  // namespace crema

#include "collector/compression/decompressed_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/types.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

namespace crema {
namespace {

constexpr size_t kBlockBytes = size_t{256} << 10;
// RFC 1952, section 2.3.1; RFC 8878, section 3.1.1
constexpr std::string_view kGzipBegin = "\x1f\x8b";
constexpr std::string_view kZstdBegin = "\x28\xb5\x2f\xfd";

absl::Status Damaged(std::string_view how) {
  return absl::DataLossError(fmt::format("damaged: its compressed data {}", how));
}

int64_t ReadRetrying(int fd, char* to, size_t bytes) {
  ssize_t got;
  do {
    got = read(fd, to, bytes);
  } while (got < 0 && errno == EINTR);
  return got;
}

}  // namespace

class DecompressedFile::Decoder {
 public:
  virtual ~Decoder() = default;
  virtual bool is_compressed() const { return true; }
  virtual int64_t Read(char* to, size_t bytes, absl::Status* status) = 0;
  virtual bool SkipTo(int64_t offset, absl::Status* status) = 0;
};

namespace {

class PlainDecoder : public DecompressedFile::Decoder {
 public:
  explicit PlainDecoder(int fd) : fd_(fd), is_begin_(lseek(fd, 0, SEEK_CUR) < 0) {}
  ~PlainDecoder() override { close(fd_); }
  bool is_compressed() const override { return false; }

  int64_t Read(char* to, size_t bytes, absl::Status* status) override {
    const int64_t got = ReadRetrying(fd_, to, bytes);
    if (got < 0) *status = absl::ErrnoToStatus(errno, "cannot be read");
    if (is_begin_ && got > 0) {
      is_begin_ = false;
      const std::string_view begin(to, static_cast<size_t>(got));
      if (begin.substr(0, 2) == kGzipBegin || begin.substr(0, 4) == kZstdBegin) {
        *status = absl::InvalidArgumentError("brings compressed data; decompress it on its way (zcat, zstdcat)");
        return -1;
      }
    }
    return got;
  }

  bool SkipTo(int64_t offset, absl::Status* status) override {
    if (lseek(fd_, offset, SEEK_SET) >= 0) return true;
    *status = absl::ErrnoToStatus(errno, "cannot be read");
    return false;
  }

 private:
  int fd_;
  bool is_begin_;  ///< of a pipe: its beginning was not looked at
};

class GzipDecoder : public DecompressedFile::Decoder {
 public:
  explicit GzipDecoder(int fd) : fd_(fd), file_(gzdopen(fd, "rb")) {
    if (file_ != nullptr) gzbuffer(file_, kBlockBytes);
  }
  ~GzipDecoder() override {
    if (file_ != nullptr) {
      gzclose_r(file_);
    } else {
      close(fd_);
    }
  }

  int64_t Read(char* to, size_t bytes, absl::Status* status) override {
    if (file_ == nullptr) {
      *status = absl::ResourceExhaustedError("cannot be read: no memory to decompress it");
      return -1;
    }
    const int64_t got = gzread(file_, to, static_cast<unsigned>(bytes));
    if (got > 0) return got;
    int error = Z_OK;
    const char* const what = gzerror(file_, &error);
    if (error == Z_OK) return 0;
    if (error == Z_ERRNO) {
      *status = absl::ErrnoToStatus(errno, "cannot be read");
    } else {
      *status = error == Z_BUF_ERROR ? Damaged("ends early") : Damaged(fmt::format("is wrong ({})", what));
    }
    return -1;
  }

  bool SkipTo(int64_t offset, absl::Status* status) override {
    if (file_ != nullptr && gzseek(file_, offset, SEEK_SET) >= 0) return true;
    *status = Damaged("cannot be read up to where it is needed");
    return false;
  }

 private:
  int fd_;
  gzFile file_;
};

class ZstdDecoder : public DecompressedFile::Decoder {
 public:
  explicit ZstdDecoder(int fd) : fd_(fd), context_(ZSTD_createDCtx()), block_(new char[kBlockBytes]) {}
  ~ZstdDecoder() override {
    ZSTD_freeDCtx(context_);
    close(fd_);
  }

  int64_t Read(char* to, size_t bytes, absl::Status* status) override {
    if (context_ == nullptr) {
      *status = absl::ResourceExhaustedError("cannot be read: no memory to decompress it");
      return -1;
    }
    ZSTD_outBuffer out = {to, bytes, 0};
    while (out.pos == 0) {
      if (in_.pos == in_.size && !has_more_ && !Fill(status)) return status->ok() ? 0 : -1;
      const size_t left = ZSTD_decompressStream(context_, &out, &in_);
      if (ZSTD_isError(left) != 0) {
        *status = Damaged(fmt::format("is wrong ({})", ZSTD_getErrorName(left)));
        return -1;
      }
      inside_ = left != 0;
      has_more_ = out.pos == out.size;  // of what was read
    }
    position_ += static_cast<int64_t>(out.pos);
    return static_cast<int64_t>(out.pos);
  }

  bool SkipTo(int64_t offset, absl::Status* status) override {
    if (offset < position_) {
      if (lseek(fd_, 0, SEEK_SET) < 0) {
        *status = absl::ErrnoToStatus(errno, "cannot be read");
        return false;
      }
      ZSTD_DCtx_reset(context_, ZSTD_reset_session_only);
      in_ = {block_.get(), 0, 0};
      position_ = 0;
      inside_ = has_more_ = false;
    }
    std::array<char, 16384> passed;
    while (position_ < offset) {
      const auto wanted = static_cast<size_t>(std::min<int64_t>(offset - position_, passed.size()));
      const int64_t got = Read(passed.data(), wanted, status);
      if (got < 0) return false;
      if (got == 0) break;  // beyond the end, as lseek(2) goes
    }
    return true;
  }

 private:
  // False: the file is at its end, or `status` says why not.
  bool Fill(absl::Status* status) {
    const int64_t got = ReadRetrying(fd_, block_.get(), kBlockBytes);
    if (got < 0) *status = absl::ErrnoToStatus(errno, "cannot be read");
    if (got == 0 && inside_) *status = Damaged("ends early");
    if (got <= 0) return false;
    in_ = {block_.get(), static_cast<size_t>(got), 0};
    return true;
  }

  int fd_;
  ZSTD_DCtx* context_;
  std::unique_ptr<char[]> block_;
  ZSTD_inBuffer in_ = {nullptr, 0, 0};
  int64_t position_ = 0;  // in what was compressed
  bool inside_ = false;   // a frame has begun and not ended
  bool has_more_ = false;
};

std::unique_ptr<DecompressedFile::Decoder> DecoderFor(int fd) {
  std::array<char, 4> head{};
  const std::string_view begin(head.data(), static_cast<size_t>(std::max<ssize_t>(0, pread(fd, head.data(), 4, 0))));
  if (begin.substr(0, 2) == kGzipBegin) return std::make_unique<GzipDecoder>(fd);
  if (begin == kZstdBegin) return std::make_unique<ZstdDecoder>(fd);
  return std::make_unique<PlainDecoder>(fd);
}

}  // namespace

DecompressedFile::DecompressedFile(const std::string& path, bool is_stream) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | (is_stream ? 0 : O_NONBLOCK));
  if (fd < 0) {
    status_ = absl::Status(absl::ErrnoToStatusCode(errno), fmt::format("cannot be opened ({})", strerror(errno)));
  } else {
    decoder_ = DecoderFor(fd);
  }
}

DecompressedFile::~DecompressedFile() = default;

bool DecompressedFile::is_compressed() const { return decoder_ != nullptr && decoder_->is_compressed(); }

int64_t DecompressedFile::Read(char* to, size_t bytes) {
  return status_.ok() ? decoder_->Read(to, bytes, &status_) : -1;
}

bool DecompressedFile::SkipTo(int64_t offset) { return status_.ok() && decoder_->SkipTo(offset, &status_); }

bool IsCompressed(const std::string& path) { return DecompressedFile(path).is_compressed(); }

absl::StatusOr<int64_t> DecompressedBytes(const std::string& path) {
  DecompressedFile file(path);
  const std::unique_ptr<char[]> block(new char[kBlockBytes]);
  int64_t bytes = 0;
  for (int64_t got; (got = file.Read(block.get(), kBlockBytes)) > 0;) bytes += got;
  if (bytes == 0 && !file.status().ok()) return file.status();
  return bytes;
}

}  // namespace crema

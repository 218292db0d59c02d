#include "collector/compression/decompressed_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "collector/idioms/text.h"

namespace crema {

class DecompressedFile::Decoder {
 public:
  explicit Decoder(int fd) : fd_(fd) {}
  virtual ~Decoder() { close(fd_); }
  virtual bool is_compressed() const { return true; }
  virtual int64_t Read(char* to, size_t bytes, absl::Status* status) = 0;
  virtual bool SkipTo(int64_t offset, absl::Status* status) {
    if (lseek(fd_, offset, SEEK_SET) >= 0) return true;
    *status = absl::ErrnoToStatus(errno, "cannot be read");
    return false;
  }

 protected:
  /// Reads bytes of the file as they are on the disk.
  int64_t ReadRaw(char* to, size_t bytes, absl::Status* status) {
    ssize_t got;
    do {
      got = read(fd_, to, bytes);
    } while (got < 0 && errno == EINTR);
    if (got < 0) *status = absl::ErrnoToStatus(errno, "cannot be read");
    return got;
  }

 private:
  int fd_;
};

namespace {

constexpr size_t kBlockBytes = size_t{256} << 10;
// RFC 1952, section 2.3.1; RFC 8878, section 3.1.1
constexpr std::string_view kGzipBegin = "\x1f\x8b";
constexpr std::string_view kZstdBegin = "\x28\xb5\x2f\xfd";

absl::Status Damaged(std::string_view how) {
  return absl::DataLossError(fmt::format("damaged: its compressed data {}", how));
}

class PlainDecoder : public DecompressedFile::Decoder {
 public:
  explicit PlainDecoder(int fd) : Decoder(fd), is_begin_(lseek(fd, 0, SEEK_CUR) < 0) {}
  bool is_compressed() const override { return false; }

  int64_t Read(char* to, size_t bytes, absl::Status* status) override {
    const int64_t got = ReadRaw(to, bytes, status);
    if (is_begin_ && got > 0) {
      is_begin_ = false;
      const std::string_view begin(to, static_cast<size_t>(got));
      if (begin.substr(0, 2) == kGzipBegin || begin.substr(0, 4) == kZstdBegin) {
        *status = absl::InvalidArgumentError("is compressed; pipe it through zcat or zstdcat first");
        return -1;
      }
    }
    return got;
  }

 private:
  bool is_begin_;  ///< of a pipe: its beginning was not looked at
};

/// What decoders of compressed data share: the file in blocks, and the way to a place in what was compressed.
class BlockDecoder : public DecompressedFile::Decoder {
 public:
  explicit BlockDecoder(int fd) : Decoder(fd), block_(new char[kBlockBytes]) {}

  int64_t Read(char* to, size_t bytes, absl::Status* status) override {
    const int64_t got = bytes == 0 ? 0 : Decode(to, bytes, status);
    position_ += std::max<int64_t>(0, got);
    return got;
  }

  bool SkipTo(int64_t offset, absl::Status* status) override {
    if (offset < position_) {
      if (!Decoder::SkipTo(0, status)) return false;
      position_ = 0;
      Restart();
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

 protected:
  /// As `Decoder::Read`.
  virtual int64_t Decode(char* to, size_t bytes, absl::Status* status) = 0;
  /// What is decoded next is the beginning.
  virtual void Restart() = 0;

  /// Puts more of the file behind the first `kept` bytes of the block. Returns how many, 0 at the end; below 0:
  /// `status` says why not.
  int64_t Fill(size_t kept, absl::Status* status) { return ReadRaw(block_.get() + kept, kBlockBytes - kept, status); }
  char* block() { return block_.get(); }
  static int64_t NoMemory(absl::Status* status) {
    *status = absl::ResourceExhaustedError("cannot be read: no memory to decompress it");
    return -1;
  }

 private:
  std::unique_ptr<char[]> block_;
  int64_t position_ = 0;  // in what was compressed
};

/// Not by gzread(3): of damaged data it keeps back what comes before the damage.
class GzipDecoder : public BlockDecoder {
 public:
  explicit GzipDecoder(int fd) : BlockDecoder(fd) {
    has_memory_ = inflateInit2(&stream_, MAX_WBITS + 16) == Z_OK;  // 16: with gzip's header
  }
  ~GzipDecoder() override {
    if (has_memory_) inflateEnd(&stream_);
  }

 protected:
  int64_t Decode(char* to, size_t bytes, absl::Status* status) override {
    if (!has_memory_) return NoMemory(status);
    stream_.next_out = reinterpret_cast<Bytef*>(to);
    stream_.avail_out = static_cast<uInt>(bytes);
    while (damage_.ok() && !is_over_ && stream_.avail_out == bytes) {
      if (!Supply(status)) return -1;
      if (damage_.ok() && !is_over_) DecodeMore();
    }
    if (const auto got = static_cast<int64_t>(bytes - stream_.avail_out); got > 0 || damage_.ok()) return got;
    *status = damage_;
    return -1;
  }

  void Restart() override {
    inflateReset(&stream_);
    stream_.avail_in = 0;
    is_inside_ = is_over_ = has_more_ = false;
    damage_ = absl::OkStatus();
  }

 private:
  /// Sees to it that there is something to decode, or that it is over. Errors, by false: `status`.
  bool Supply(absl::Status* status) {
    if (is_inside_ && (stream_.avail_in > 0 || has_more_)) return true;
    // Where a member may begin its first two bytes are looked at. Zeros that follow one are padding (gzip(1)).
    while (stream_.avail_in < (is_inside_ ? 1 : kGzipBegin.size())) {
      const size_t kept = stream_.avail_in;
      if (kept > 0) std::memmove(block(), stream_.next_in, kept);
      const int64_t got = Fill(kept, status);
      if (got < 0) return false;
      if (got == 0) {
        if (is_inside_) damage_ = Damaged("ends early");
        if (!is_inside_ && kept > 0 && stream_.next_in[0] != 0) damage_ = Damaged("is followed by other data");
        is_over_ = true;
        return true;
      }
      stream_.next_in = reinterpret_cast<Bytef*>(block());
      stream_.avail_in = static_cast<uInt>(kept + static_cast<size_t>(got));
    }
    const std::string_view begin(reinterpret_cast<const char*>(stream_.next_in), kGzipBegin.size());
    is_over_ = !is_inside_ && begin != kGzipBegin;
    if (is_over_ && begin != std::string_view("\0\0", 2)) {
      damage_ = Damaged("is followed by other data: decompress it, and put the parts together again");
    }
    return true;
  }

  void DecodeMore() {
    is_inside_ = true;
    const int result = inflate(&stream_, Z_NO_FLUSH);
    has_more_ = result == Z_OK && stream_.avail_out == 0;
    if (result == Z_STREAM_END) {
      is_inside_ = false;
      inflateReset(&stream_);
    } else if (result != Z_OK && result != Z_BUF_ERROR) {
      damage_ = Damaged(fmt::format("is wrong ({})", stream_.msg == nullptr ? zError(result) : stream_.msg));
    }
  }

  z_stream stream_ = {};
  bool has_memory_ = false;
  bool is_inside_ = false;  // a member has begun and not ended
  bool is_over_ = false;
  bool has_more_ = false;  // of what was read there may be more than there was room for
  absl::Status damage_;    // reported once what comes before it was read
};

class ZstdDecoder : public BlockDecoder {
 public:
  explicit ZstdDecoder(int fd) : BlockDecoder(fd), context_(ZSTD_createDCtx()) {}
  ~ZstdDecoder() override { ZSTD_freeDCtx(context_); }

 protected:
  int64_t Decode(char* to, size_t bytes, absl::Status* status) override {
    if (context_ == nullptr) return NoMemory(status);
    ZSTD_outBuffer out = {to, bytes, 0};
    while (out.pos == 0) {
      if (in_.pos == in_.size && !has_more_) {
        const int64_t got = Fill(0, status);
        if (got == 0 && inside_) *status = Damaged("ends early");
        if (got <= 0) return status->ok() ? 0 : -1;
        in_ = {block(), static_cast<size_t>(got), 0};
      }
      // A block of the frame at a time: a call that finds damage hands out nothing of what it decoded before.
      const size_t left_in_block = in_.size - in_.pos;
      ZSTD_inBuffer piece = {block() + in_.pos, has_more_ ? 0 : std::min(left_in_block, next_bytes_), 0};
      const size_t wanted = ZSTD_decompressStream(context_, &out, &piece);
      in_.pos += piece.pos;
      if (ZSTD_isError(wanted) != 0) {
        *status = Damaged(fmt::format("is wrong ({})", ZSTD_getErrorName(wanted)));
        return -1;
      }
      inside_ = wanted != 0;
      next_bytes_ = wanted > kBlockHeaderBytes ? wanted - kBlockHeaderBytes : kBlockHeaderBytes;
      has_more_ = inside_ && out.pos == out.size;  // of what was read
    }
    return static_cast<int64_t>(out.pos);
  }

  void Restart() override {
    ZSTD_DCtx_reset(context_, ZSTD_reset_session_only);
    in_ = {block(), 0, 0};
    next_bytes_ = kBlockHeaderBytes;
    inside_ = has_more_ = false;
  }

 private:
  ZSTD_DCtx* context_;
  static constexpr size_t kBlockHeaderBytes = 3;  // RFC 8878, section 3.1.1.2; zstd asks for the next one, too

  ZSTD_inBuffer in_ = {nullptr, 0, 0};
  size_t next_bytes_ = kBlockHeaderBytes;  // of the next block, its header, or what else is next
  bool inside_ = false;                    // a frame has begun and not ended
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
  if (const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | (is_stream ? 0 : O_NONBLOCK)); fd < 0) {
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

std::string ReadBeginning(const std::string& path, size_t bytes) {
  struct stat status = {};
  if (stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return "";
  DecompressedFile file(path);
  std::string beginning(bytes, '\0');
  size_t held = 0;
  for (int64_t got; held < bytes && (got = file.Read(&beginning[held], bytes - held)) > 0;) {
    held += static_cast<size_t>(got);
  }
  beginning.resize(held);
  return beginning;
}

absl::StatusOr<int64_t> DecompressedBytes(const std::string& path) {
  DecompressedFile file(path);
  const std::unique_ptr<char[]> block(new char[kBlockBytes]);
  int64_t bytes = 0;
  for (int64_t got; (got = file.Read(block.get(), kBlockBytes)) > 0;) bytes += got;
  if (bytes == 0 && !file.status().ok()) return file.status();
  return bytes;
}

std::string_view NameBeforeCompression(std::string_view name) {
  for (const std::string_view suffix : {std::string_view(".gz"), std::string_view(".zst")}) {
    if (name.size() > suffix.size() && EndsWith(name, suffix)) return name.substr(0, name.size() - suffix.size());
  }
  return name;
}

bool HasSuffixBeforeCompression(std::string_view name, std::string_view suffix) {
  return EndsWith(NameBeforeCompression(name), suffix);
}

}  // namespace crema

// Files as they were before gzip or zstd, others as they are, and the names of compressed ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <istream>
#include <memory>
#include <streambuf>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace crema {

/// `x.jsonl` of `x.jsonl.gz`, `x.jsonl.zst` and `x.jsonl`.
std::string_view NameBeforeCompression(std::string_view name);

/// Whether `name`, before compression, ends with `suffix`.
bool HasSuffixBeforeCompression(std::string_view name, std::string_view suffix);

/// A file to read from its beginning on. Its first bytes, not its name, show whether and how it is compressed; several
/// compressed pieces one after another are read as one. A file that became a FIFO does not block. A pipe that brings
/// compressed data is refused: what showed so cannot be read again.
class DecompressedFile {
 public:
  /// `is_stream`: the file is a pipe, which is waited for and read once.
  explicit DecompressedFile(const std::string& path, bool is_stream = false);
  ~DecompressedFile();

  /// What open(2) said, or what ended reading before the end of the file: `cannot be read: ...`, `damaged: ...`.
  const absl::Status& status() const { return status_; }
  bool is_compressed() const;

  /// Up to `bytes` (fewer than 2^31), like read(2): 0 at the end, -1 after an error.
  int64_t Read(char* to, size_t bytes);

  /// Goes on at this byte of what was compressed. Compressed files are read up to there, from their beginning where it
  /// is behind. False: it could not, as `status` says.
  bool SkipTo(int64_t offset);

  /// Reads one kind of file.
  class Decoder;

 private:
  std::unique_ptr<Decoder> decoder_;
  absl::Status status_;
};

/// The same as a stream, for readers that take lines by std::getline. Fails at once where the file cannot be opened.
/// What is damaged ends where it is; `status` says so.
class DecompressedStream : public std::istream {
 public:
  explicit DecompressedStream(const std::string& path) : std::istream(nullptr), buffer_(path) {
    rdbuf(&buffer_);
    if (!status().ok()) setstate(failbit);
  }
  const absl::Status& status() const { return buffer_.status(); }

 private:
  class Buffer : public std::streambuf {
   public:
    explicit Buffer(const std::string& path) : file_(path), block_(new char[kBytes]) {}
    const absl::Status& status() const { return file_.status(); }

   private:
    static constexpr size_t kBytes = size_t{64} << 10;
    int_type underflow() override {
      const int64_t got = file_.Read(block_.get(), kBytes);
      if (got <= 0) return traits_type::eof();
      setg(block_.get(), block_.get(), block_.get() + got);
      return traits_type::to_int_type(*gptr());
    }

    DecompressedFile file_;
    std::unique_ptr<char[]> block_;
  };

  Buffer buffer_;
};

/// The first bytes of a file before compression: fewer if the file is shorter, none if it is not a regular file or
/// cannot be read.
std::string ReadBeginning(const std::string& path, size_t bytes);

/// False also if the file cannot be read.
inline bool IsCompressed(const std::string& path) { return DecompressedFile(path).is_compressed(); }

/// Size of a file before compression, in bytes. Reads a compressed file to its end, or to its damage.
absl::StatusOr<int64_t> DecompressedBytes(const std::string& path);

}  // namespace crema

// The same as a stream, for readers that take lines by std::getline.
#ifndef CREMA_COLLECTOR_COMPRESSION_DECOMPRESSED_STREAM_H_
#define CREMA_COLLECTOR_COMPRESSION_DECOMPRESSED_STREAM_H_

#include <istream>
#include <memory>
#include <streambuf>
#include <string>

#include "collector/compression/decompressed_file.h"

namespace crema {

/// Fails at once where the file cannot be opened. What is damaged ends where it is; `status` says so.
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

}  // namespace crema

#endif  // CREMA_COLLECTOR_COMPRESSION_DECOMPRESSED_STREAM_H_

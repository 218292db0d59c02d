#include "examples/zjets/gzip_range.h"

#include <zlib.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <vector>

#include "crema/crema.h"
#include "examples/zjets/input_file.h"
#include "fmt/format.h"

namespace zjets {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{16} * 1024;
constexpr std::size_t kSkipBytes = std::size_t{64} * 1024;

double SecondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

const AccessPoint& PointBefore(const std::string& path, const GzipIndex& index, std::uint64_t offset) {
  const auto after = std::upper_bound(
      index.points.begin(), index.points.end(), offset,
      [](std::uint64_t wanted, const AccessPoint& point) { return wanted < point.uncompressed_offset; });
  if (after == index.points.begin()) {
    throw std::runtime_error(index.damage.empty() ? path + ": was never indexed" : index.damage);
  }
  return *(after - 1);
}

/// A decompressor that has just passed an access point, and the file behind it.
class Inflater {
 public:
  Inflater(const std::string& path, const AccessPoint& point, ReadCosts* costs)
      : path_(path), file_(path), read_offset_(point.compressed_offset), costs_(costs), input_(kPieceBytes) {
    if (inflateInit2(&stream_, -MAX_WBITS) != Z_OK) throw std::runtime_error("zlib cannot start: out of memory?");
    if (point.bits > 0) {
      --read_offset_;
      FillInput();
      inflatePrime(&stream_, point.bits, stream_.next_in[0] >> (8 - point.bits));
      ++stream_.next_in;
      --stream_.avail_in;
    }
    if (!point.window.empty()) {
      inflateSetDictionary(&stream_, reinterpret_cast<const Bytef*>(point.window.data()),
                           static_cast<uInt>(point.window.size()));
    }
  }
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  /// Up to `size` next bytes; at least one.
  std::size_t Next(char* output, std::size_t size) {
    stream_.next_out = reinterpret_cast<Bytef*>(output);
    stream_.avail_out = static_cast<uInt>(std::min<std::size_t>(size, 1U << 30));
    const uInt wanted = stream_.avail_out;
    while (stream_.avail_out == wanted) {
      if (stream_.avail_in == 0) FillInput();
      if (ended_) throw std::runtime_error(path_ + ": holds less than when it was indexed; run again");
      const auto start = std::chrono::steady_clock::now();
      int status = Z_OK;
      {
        crema::TrackSection section("decompress");
        status = inflate(&stream_, Z_NO_FLUSH);
      }
      costs_->unzip_seconds += SecondsSince(start);
      ended_ = status == Z_STREAM_END;
      if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR) {
        throw std::runtime_error(fmt::format("{}: damaged before byte {} ({}); copy it again", path_, consumed(),
                                             stream_.msg == nullptr ? "unknown" : stream_.msg));
      }
    }
    const std::size_t produced = wanted - stream_.avail_out;
    costs_->bytes_unzipped += static_cast<std::int64_t>(produced);
    return produced;
  }

  /// Offset in the file up to which its bytes were used.
  std::uint64_t consumed() const { return read_offset_ - stream_.avail_in; }

 private:
  void FillInput() {
    const auto start = std::chrono::steady_clock::now();
    const std::size_t size = file_.Read(read_offset_, input_.data(), input_.size());
    costs_->read_seconds += SecondsSince(start);
    ++costs_->read_calls;
    costs_->bytes_read += static_cast<std::int64_t>(size);
    if (size == 0) throw std::runtime_error(path_ + ": ends in the middle of its compressed data; copy it again");
    read_offset_ += size;
    stream_.next_in = reinterpret_cast<Bytef*>(input_.data());
    stream_.avail_in = static_cast<uInt>(size);
  }

  const std::string& path_;
  InputFile file_;
  std::uint64_t read_offset_;
  ReadCosts* costs_;
  std::vector<char> input_;
  z_stream stream_{};
  bool ended_ = false;
};

}  // namespace

std::string ReadGzipRange(const std::string& path, const GzipIndex& index, std::uint64_t start, std::uint64_t stop,
                          ReadCosts* costs) {
  std::string text;
  if (start == stop) return text;
  const AccessPoint& point = PointBefore(path, index, start);
  Inflater inflater(path, point, costs);
  std::vector<char> skipped(kSkipBytes);
  for (std::uint64_t offset = point.uncompressed_offset; offset < start;) {
    offset += inflater.Next(skipped.data(), std::min<std::uint64_t>(skipped.size(), start - offset));
  }
  const std::uint64_t first_byte = inflater.consumed();
  text.resize(stop - start);
  for (std::size_t size = 0; size < text.size();) size += inflater.Next(text.data() + size, text.size() - size);
  costs->bytes_needed += static_cast<std::int64_t>(inflater.consumed() - first_byte);
  return text;
}

}  // namespace zjets

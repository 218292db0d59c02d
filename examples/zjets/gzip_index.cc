#include "examples/zjets/gzip_index.h"

#include <zlib.h>

#include <algorithm>
#include <memory>
#include <stdexcept>

#include "crema/crema.h"
#include "examples/zjets/input_file.h"
#include "fmt/format.h"

namespace zjets {
namespace {

constexpr std::size_t kWindowBytes = 32768;
constexpr std::size_t kInputBytes = std::size_t{64} * 1024;
constexpr std::size_t kOutputBytes = std::size_t{256} * 1024;

/// Keeps the last 32 KiB of what it was given.
class Window {
 public:
  void Add(std::string_view bytes) {
    if (bytes.size() >= kWindowBytes) {
      text_.assign(bytes.substr(bytes.size() - kWindowBytes));
      return;
    }
    const std::size_t keep = std::min(text_.size(), kWindowBytes - bytes.size());
    text_.erase(0, text_.size() - keep);
    text_.append(bytes);
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

/// Between two deflate blocks, and not after the last one (zlib.h, inflate with Z_BLOCK).
bool AtBlockStart(const z_stream& stream) { return (stream.data_type & 128) != 0 && (stream.data_type & 64) == 0; }

}  // namespace

GzipIndex BuildGzipIndex(const std::string& path, std::uint64_t spacing, const ByteSink& sink) {
  const InputFile file(path);
  z_stream stream{};
  if (inflateInit2(&stream, 16 + MAX_WBITS) != Z_OK) throw std::runtime_error("zlib cannot start: out of memory?");
  const std::unique_ptr<z_stream, int (*)(z_stream*)> closer(&stream, inflateEnd);

  GzipIndex index;
  Window window;
  std::vector<char> input(kInputBytes), output(kOutputBytes);
  std::uint64_t consumed = 0, produced = 0, read_offset = 0;
  int status = Z_OK;
  while (status != Z_STREAM_END && index.damage.empty()) {
    if (stream.avail_in == 0) {
      const std::size_t size = file.Read(read_offset, input.data(), input.size());
      read_offset += size;
      stream.next_in = reinterpret_cast<Bytef*>(input.data());
      stream.avail_in = static_cast<uInt>(size);
      if (size == 0) {
        index.damage = fmt::format("{}: ends in the middle of its compressed data; copy it again", path);
        break;
      }
    }
    stream.next_out = reinterpret_cast<Bytef*>(output.data());
    stream.avail_out = static_cast<uInt>(output.size());
    const uInt input_before = stream.avail_in;
    {
      crema::TrackSection section("decompress");
      status = inflate(&stream, Z_BLOCK);
    }
    consumed += input_before - stream.avail_in;
    const std::string_view bytes(output.data(), output.size() - stream.avail_out);
    produced += bytes.size();
    window.Add(bytes);
    sink(bytes);
    if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR) {
      const char* reason = stream.msg == nullptr ? "unknown" : stream.msg;
      if (index.points.empty()) throw std::runtime_error(fmt::format("{}: not a gzip file ({})", path, reason));
      index.damage = fmt::format("{}: damaged near byte {} ({}); copy it again", path, consumed, reason);
    } else if (AtBlockStart(stream) &&
               (index.points.empty() || produced - index.points.back().uncompressed_offset >= spacing)) {
      index.points.push_back({consumed, produced, stream.data_type & 7, window.text()});
    }
  }
  char next = 0;
  if (status == Z_STREAM_END && file.Read(consumed, &next, 1) > 0) {
    index.damage = fmt::format("{}: more follows the end of its first gzip member; repack it: zcat | gzip", path);
  }
  return index;
}

void Write(const GzipIndex& index, ByteWriter& out) {
  out.Put<std::uint64_t>(index.points.size());
  for (const AccessPoint& point : index.points) {
    out.Put(point.compressed_offset);
    out.Put(point.uncompressed_offset);
    out.Put(point.bits);
    out.PutString(point.window);
  }
  out.PutString(index.damage);
}

GzipIndex ReadGzipIndex(ByteReader& in) {
  GzipIndex index;
  index.points.resize(in.Get<std::uint64_t>());
  for (AccessPoint& point : index.points) {
    point.compressed_offset = in.Get<std::uint64_t>();
    point.uncompressed_offset = in.Get<std::uint64_t>();
    point.bits = in.Get<int>();
    point.window = in.GetString();
  }
  index.damage = in.GetString();
  return index;
}

}  // namespace zjets

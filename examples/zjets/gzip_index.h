// GzipIndex: places in a gzip file where decompression can begin.
#ifndef CREMA_EXAMPLES_ZJETS_GZIP_INDEX_H_
#define CREMA_EXAMPLES_ZJETS_GZIP_INDEX_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "examples/zjets/byte_stream.h"

namespace zjets {

/// The start of a deflate block, with what the decompressor must know there (RFC 1951: blocks begin at any bit, and
/// refer to at most 32 KiB before them). The method is that of zlib's own examples/zran.c.
struct AccessPoint {
  std::uint64_t compressed_offset = 0;    ///< of the first whole byte of the block
  std::uint64_t uncompressed_offset = 0;  ///< of the first byte that the block yields
  int bits = 0;                           ///< bits of the byte before that belong to the block
  std::string window;                     ///< the uncompressed bytes before it, at most 32 KiB
};

/// gzip has no random access; with this a range of it can be read without decompressing all that is before.
struct GzipIndex {
  std::vector<AccessPoint> points;  ///< ascending; the first is where the data begin
  std::string damage;               ///< why decompression stopped before the end; empty: it did not
};

/// Receives the uncompressed bytes, in order.
using ByteSink = std::function<void(std::string_view)>;

/// Decompresses the file once, notes an access point at the first block start every `spacing` uncompressed bytes, and
/// hands all bytes to `sink`. A file that is damaged half-way gives an index of the part before, and `damage`. Throws
/// std::runtime_error when the file cannot be opened or is not gzip.
GzipIndex BuildGzipIndex(const std::string& path, std::uint64_t spacing, const ByteSink& sink);

void Write(const GzipIndex& index, ByteWriter& out);
GzipIndex ReadGzipIndex(ByteReader& in);

}  // namespace zjets

#endif  // CREMA_EXAMPLES_ZJETS_GZIP_INDEX_H_

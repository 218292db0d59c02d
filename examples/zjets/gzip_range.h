// ReadGzipRange: a range of the uncompressed bytes of a gzip file.
#ifndef CREMA_EXAMPLES_ZJETS_GZIP_RANGE_H_
#define CREMA_EXAMPLES_ZJETS_GZIP_RANGE_H_

#include <cstdint>
#include <string>

#include "examples/zjets/gzip_index.h"

namespace zjets {

/// What reading a range cost. Only part of what is read is needed: decompression begins at an access point before the
/// range, and storage is read in whole pieces.
struct ReadCosts {
  std::int64_t read_calls = 0;
  std::int64_t bytes_read = 0;      ///< from the file
  std::int64_t bytes_needed = 0;    ///< of them: what holds the range
  std::int64_t bytes_unzipped = 0;  ///< uncompressed bytes, those before the range too
  double read_seconds = 0;          ///< in pread(2)
  double unzip_seconds = 0;         ///< in zlib
};

/// The uncompressed bytes [start, stop) of the file that `index` was built from. Measures decompression as the section
/// `decompress`. Throws std::runtime_error when the file cannot be read, is damaged, or ends before `stop`.
std::string ReadGzipRange(const std::string& path, const GzipIndex& index, std::uint64_t start, std::uint64_t stop,
                          ReadCosts* costs);

}  // namespace zjets

#endif  // CREMA_EXAMPLES_ZJETS_GZIP_RANGE_H_

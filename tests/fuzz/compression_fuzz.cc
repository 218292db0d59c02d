// Files of any bytes, some of them compressed. Reading in one go, in blocks, and from some byte on gives the same. The
// first byte chooses that byte and the blocks.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "collector/compression/decompressed_file.h"
#include "tests/fuzz/scratch_directory.h"

namespace crema {
namespace {

constexpr size_t kMostBytes = size_t{4} << 20;  // a small file may hold gigabytes of zeros

std::string ReadFrom(const std::string& path, int64_t offset, size_t block_bytes, size_t most, bool* is_whole) {
  DecompressedFile file(path);
  std::string text;
  *is_whole = file.SkipTo(offset);
  std::string block(block_bytes, '\0');
  while (*is_whole && text.size() < most) {
    const int64_t got = file.Read(block.data(), block.size());
    *is_whole = got >= 0;
    if (got <= 0) break;
    text.append(block, 0, static_cast<size_t>(got));
  }
  if (text.size() > most) text.resize(most);
  return text;
}

}  // namespace
}  // namespace crema

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace crema;
  if (size == 0) return 0;
  const std::string path =
      WriteScratch("log.jsonl", std::string_view(reinterpret_cast<const char*>(data) + 1, size - 1));
  bool is_whole = false, rest_is_whole = false;
  const std::string whole = ReadFrom(path, 0, size_t{64} << 10, kMostBytes, &is_whole);
  const size_t offset = whole.size() * data[0] / 256;
  const std::string rest =
      ReadFrom(path, static_cast<int64_t>(offset), 1 + data[0], kMostBytes - offset, &rest_is_whole);
  // Each way of reading damaged data gives everything before the damage.
  if (rest != whole.substr(offset) || (is_whole && !rest_is_whole)) {
    std::fprintf(stderr, "from byte %zu on: %zu bytes where %zu were\n", offset, rest.size(), whole.size() - offset);
    std::abort();
  }
  return 0;
}

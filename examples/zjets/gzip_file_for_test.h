// WriteGzipFile: small input files for tests.
#ifndef CREMA_EXAMPLES_ZJETS_GZIP_FILE_FOR_TEST_H_
#define CREMA_EXAMPLES_ZJETS_GZIP_FILE_FOR_TEST_H_

#include <zlib.h>

#include <filesystem>
#include <string>

#include "gtest/gtest.h"

namespace zjets {

/// Writes `text` as one gzip member (mode "wb"), or appends a member (mode "ab"), to a file of the test's own; returns
/// its path.
inline std::string WriteGzipFile(const std::string& name, const std::string& text, const char* mode = "wb") {
  std::string path = testing::TempDir() + "/" + name;
  gzFile file = gzopen(path.c_str(), mode);
  EXPECT_NE(file, nullptr);
  EXPECT_EQ(gzwrite(file, text.data(), static_cast<unsigned>(text.size())), static_cast<int>(text.size()));
  EXPECT_EQ(gzclose(file), Z_OK);
  return path;
}

/// Cuts the file's last `bytes` off.
inline void CutFile(const std::string& path, std::uintmax_t bytes) {
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - bytes);
}

}  // namespace zjets

#endif  // CREMA_EXAMPLES_ZJETS_GZIP_FILE_FOR_TEST_H_

// A root of a file system for tests: what is below it passes for /proc and /sys.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "gtest/gtest.h"

namespace crema {

class FakeRoot {
 public:
  FakeRoot() : path_(testing::TempDir() + "/root-XXXXXX") {
    if (mkdtemp(path_.data()) == nullptr) std::abort();
  }
  ~FakeRoot() { std::filesystem::remove_all(path_); }
  FakeRoot(const FakeRoot&) = delete;
  FakeRoot& operator=(const FakeRoot&) = delete;

  /// `file` is absolute, as the code under test names it.
  void Write(const std::string& file, const std::string& text) const {
    const std::filesystem::path full = path_ + file;
    std::filesystem::create_directories(full.parent_path());
    std::ofstream(full) << text;
  }
  void Remove(const std::string& directory) const { std::filesystem::remove_all(path_ + directory); }

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace crema

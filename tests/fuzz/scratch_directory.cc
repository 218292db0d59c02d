#include "tests/fuzz/scratch_directory.h"

#include <stdlib.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace crema {
namespace {

class Directory {
 public:
  Directory() {
    const bool in_memory = std::filesystem::is_directory("/dev/shm");
    path_ = (in_memory ? std::string("/dev/shm") : std::filesystem::temp_directory_path().string()) + "/fuzz-XXXXXX";
    if (mkdtemp(path_.data()) == nullptr) {
      std::perror(path_.c_str());
      std::exit(1);
    }
  }
  ~Directory() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace

const std::string& ScratchDirectory() {
  static const Directory kDirectory;
  return kDirectory.path();
}

std::string WriteScratch(const std::string& name, std::string_view text) {
  const std::filesystem::path path = std::filesystem::path(ScratchDirectory()) / name;
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
  return path.string();
}

}  // namespace crema

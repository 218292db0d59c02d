#include "collector/output/temporary_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <vector>

namespace crema {
namespace {

namespace fs = std::filesystem;

bool IsOwn(const fs::path& path) {
  struct stat status;
  return lstat(path.c_str(), &status) == 0 && status.st_uid == geteuid() &&
         (S_ISREG(status.st_mode) || S_ISDIR(status.st_mode));
}

bool Create(const fs::path& path, mode_t mode, bool directory) {
  if (directory) return mkdir(path.c_str(), mode) == 0;
  const int descriptor = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
  if (descriptor < 0) return false;
  close(descriptor);
  return true;
}

}  // namespace

void RemoveUnlocked(const fs::path& directory, const std::string& prefix) {
  std::error_code error;
  std::vector<fs::path> left;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory, error)) {
    if (entry.path().filename().string().compare(0, prefix.size(), prefix) == 0) left.push_back(entry.path());
  }
  for (const fs::path& path : left) {
    const HeldLock lock(path.string());
    if (lock.state() == HeldLock::State::kHeld && IsOwn(path)) fs::remove_all(path, error);
  }
}

absl::StatusOr<TemporaryFile> TemporaryFile::Make(const fs::path& target, mode_t mode, bool directory) {
  const std::string prefix = "." + target.filename().string() + ".crema-";
  RemoveUnlocked(target.parent_path(), prefix);
  TemporaryFile file;
  file.target_ = target;
  for (int number = 0;; ++number) {
    const fs::path path = target.parent_path() / (prefix + std::to_string(getpid()) + "-" + std::to_string(number));
    if (!Create(path, mode, directory)) {
      if (errno == EEXIST) continue;
      return absl::ErrnoToStatus(errno, path.string());
    }
    file.lock_ = HeldLock(path.string());
    // One that looks for remains may have been faster, and removes it.
    struct stat status;
    if (file.lock_.state() == HeldLock::State::kTaken || lstat(path.c_str(), &status) != 0) continue;
    file.path_ = path;
    return file;
  }
}

TemporaryFile::~TemporaryFile() {
  if (path_.empty()) return;
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

absl::Status TemporaryFile::Rename() {
  if (rename(path_.c_str(), target_.c_str()) != 0) return absl::ErrnoToStatus(errno, target_.string());
  path_.clear();
  return absl::OkStatus();
}

}  // namespace crema

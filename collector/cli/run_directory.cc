#include "collector/cli/run_directory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace crema {
namespace {

namespace fs = std::filesystem;

constexpr char kRecords[] = "records";
constexpr char kDocument[] = "measurement.json";

bool EndsWith(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

bool IsLog(const fs::path& file) {
  const std::string name = file.filename().string();
  return EndsWith(name, ".jsonl") || EndsWith(name, ".tree.ndjson") || EndsWith(name, ".nested.json");
}

bool IsDocument(const fs::path& file) {
  std::string beginning(256, '\0');
  std::ifstream(file).read(beginning.data(), static_cast<std::streamsize>(beginning.size()));
  return beginning.find("crema.measurement/") != std::string::npos;
}

bool IsLocked(const fs::path& file) {
  const int descriptor = open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (descriptor < 0) return false;
  const bool locked = flock(descriptor, LOCK_SH | LOCK_NB) != 0;
  close(descriptor);
  return locked;
}

absl::Status Failure(const std::string& path, int error) {
  return absl::UnavailableError(
      absl::StrFormat("%s: cannot be created (%s); choose another directory with -o", path, strerror(error)));
}

// What crema wrote: the document and logs, nothing else. `empty` tells an empty directory.
absl::Status CheckOwn(const std::string& directory, bool force, bool* empty) {
  std::error_code error;
  *empty = true;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory, error)) {
    *empty = false;
    const std::string name = entry.path().filename().string();
    bool is_own = name == kDocument && IsDocument(entry.path());
    if (name == kRecords && entry.is_directory()) {
      is_own = true;
      for (const fs::directory_entry& log : fs::directory_iterator(entry.path(), error)) {
        is_own = is_own && IsLog(log.path());
        if (IsLocked(log.path())) {
          return absl::FailedPreconditionError(
              absl::StrFormat("%s: a run is still writing into it (%s); choose another directory with -o", directory,
                              log.path().filename().string()));
        }
      }
    }
    if (!is_own && !force) {
      return absl::AlreadyExistsError(
          absl::StrFormat("%s: holds `%s`, which crema did not write; choose another directory with -o, or add --force",
                          directory, name));
    }
  }
  if (error) return Failure(directory, error.value());
  return absl::OkStatus();
}

}  // namespace

std::string RunDirectory::DefaultName() {
  const std::string name = absl::FormatTime("crema-%Y%m%dT%H%M%S", absl::Now(), absl::LocalTimeZone());
  std::string candidate = name;
  for (int number = 2; access(candidate.c_str(), F_OK) == 0; ++number) candidate = absl::StrCat(name, "-", number);
  return candidate;
}

absl::StatusOr<RunDirectory> RunDirectory::Create(const std::string& directory, bool force) {
  RunDirectory run;
  run.path_ = directory;
  std::error_code error;
  fs::path absolute = fs::absolute(directory, error).lexically_normal();
  if (absolute.filename().empty()) absolute = absolute.parent_path();  // `out/`
  run.records_ = (absolute / kRecords).string();

  fs::create_directories(absolute.parent_path(), error);
  if (mkdir(absolute.c_str(), 0700) == 0) {
    run.is_new_ = true;
  } else if (errno != EEXIST || !fs::is_directory(absolute, error)) {
    return Failure(directory, errno == EEXIST ? ENOTDIR : errno);
  } else {
    bool empty = true;
    if (absl::Status status = CheckOwn(absolute.string(), force, &empty); !status.ok()) return status;
    if (!empty) {
      run.set_aside_ = (absolute / absl::StrCat(".replaced-", getpid())).string();
      if (mkdir(run.set_aside_.c_str(), 0700) != 0) return Failure(run.set_aside_, errno);
      for (const char* name : {kRecords, kDocument})
        fs::rename(absolute / name, fs::path(run.set_aside_) / name, error);
    }
  }
  if (mkdir(run.records_.c_str(), 0700) != 0) {
    const int reason = errno;
    run.Undo();
    return Failure(run.records_, reason);
  }
  return run;
}

void RunDirectory::Keep() {
  std::error_code error;
  if (!set_aside_.empty()) fs::remove_all(set_aside_, error);
}

void RunDirectory::Undo() {
  std::error_code error;
  const fs::path directory = fs::path(records_).parent_path();
  fs::remove_all(records_, error);
  if (!set_aside_.empty()) {
    for (const char* name : {kRecords, kDocument}) fs::rename(fs::path(set_aside_) / name, directory / name, error);
    fs::remove(set_aside_, error);
  }
  if (is_new_) fs::remove(directory, error);
}

}  // namespace crema

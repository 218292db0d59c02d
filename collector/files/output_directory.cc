#include "collector/files/output_directory.h"

#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <charconv>

#include "absl/time/time.h"
#include "collector/compression/decompressed_file.h"
#include "collector/engines/engines.h"
#include "collector/idioms/file_system.h"
#include "collector/sources/record_log.h"

namespace crema {

absl::Status Failed(const std::filesystem::path& path, int error) { return absl::ErrnoToStatus(error, path.string()); }

absl::Status WriteAll(int descriptor, const std::filesystem::path& path, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return Failed(path, errno);
    text.remove_prefix(static_cast<size_t>(written));
  }
  return absl::OkStatus();
}

absl::Status WriteSynced(const std::filesystem::path& path, int flags, std::string_view text) {
  const Descriptor file(path, flags);
  if (file < 0) return Failed(path, errno);
  if (absl::Status written = WriteAll(file, path, text); !written.ok()) return written;
  return fsync(file) == 0 ? absl::OkStatus() : Failed(path, errno);
}

absl::Status Sync(const std::filesystem::path& path) {
  const Descriptor descriptor(path, O_RDONLY);
  return descriptor < 0 || fsync(descriptor) != 0 ? Failed(path, errno) : absl::OkStatus();
}

std::string BeginningOf(const std::filesystem::path& file, size_t most) {
  std::string text(most, '\0');
  std::ifstream stream(file, std::ios::binary);
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(stream.gcount()));
  return text;
}

namespace {

bool IsNamed(int descriptor, const std::string& path) {
  struct stat open_file, named;
  return fstat(descriptor, &open_file) == 0 && lstat(path.c_str(), &named) == 0 && open_file.st_ino == named.st_ino &&
         open_file.st_dev == named.st_dev;
}

namespace fs = std::filesystem;

bool IsOwn(const fs::path& path) {
  struct stat status;
  return lstat(path.c_str(), &status) == 0 && status.st_uid == geteuid() &&
         (S_ISREG(status.st_mode) || S_ISDIR(status.st_mode));
}

bool Create(const fs::path& path, mode_t mode, bool directory) {
  if (directory) return mkdir(path.c_str(), mode) == 0;
  return Descriptor(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode) >= 0;
}

// What crema puts into `records/`: logs, pointers of runs inside this one, Coffea's files; the library that counts
// allocations, where crema was killed.
bool IsOwnRecord(const fs::path& file) {
  const std::string name = file.filename().string();
  for (const char* end :
       {".jsonl", ".tree.ndjson", ".nested.json", ".coffea_report.json", ".metrics_by_dataset.json"}) {
    if (HasSuffixBeforeCompression(name, end)) return true;
  }
  return name == kAllocationsLibraryName || name == kGpuLibraryName || EngineOfLogName(name) != nullptr;
}

// The first one in the document, in the lines `process` and `run`, of which the beginning may be all that there is.
std::optional<int64_t> StartIn(const fs::path& file) {
  constexpr std::string_view kKey = "\"start_ns\":";
  const std::string text = BeginningOf(file, 64 << 10);
  size_t at = text.find(kKey);
  if (at == std::string::npos) return std::nullopt;
  at += kKey.size();
  if (at < text.size() && text[at] == ' ') ++at;
  int64_t start_ns = 0;
  const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), start_ns);
  if (error != std::errc() || start_ns <= 0) return std::nullopt;
  return start_ns;
}

std::optional<int64_t> StartOfLogs(const fs::path& records) {
  constexpr int kMostLogs = 1000;
  std::optional<int64_t> first;
  int seen = 0;
  for (const fs::path& path : EntriesOf(records)) {
    if (++seen > kMostLogs) break;
    const std::optional<int64_t> start = StartIn(path);
    if (start.has_value() && (!first.has_value() || *start < *first)) first = start;
  }
  return first;
}

int64_t LastChange(const fs::path& directory) {
  struct stat status;
  if (stat(directory.c_str(), &status) != 0) return 0;
  return int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec;
}

// Within the directory: what is being made, then what takes the place of the old parts.
constexpr char kMaking[] = ".crema-making";
constexpr char kSwap[] = ".crema-swap";
// In it:
constexpr char kNew[] = "new";
constexpr char kOld[] = "old";
constexpr char kThrowAway[] = "throw-away";  // the old parts are not kept
constexpr char kNoRecords[] = "no-records";  // the new parts have none
// Beside it, after the name of the directory. With the inode of the old directory, so that what has that name shows
// whether the exchange has come to pass.
constexpr char kExchange[] = "exchange-";
constexpr char kAside[] = "aside-";
constexpr char kTrash[] = "trash";

absl::Status Rename(const fs::path& from, const fs::path& to) {
  return rename(from.c_str(), to.c_str()) == 0 ? absl::OkStatus() : Failed(to, errno);
}

bool IsThere(const fs::path& path) {
  struct stat status;
  return lstat(path.c_str(), &status) == 0;
}

void Remove(const fs::path& path) {
  std::error_code ignored;
  fs::remove_all(path, ignored);
}

bool IsEmpty(const fs::path& directory) {
  std::error_code error;
  return fs::is_empty(directory, error) && !error;
}

std::string InodeOf(const fs::path& path) {
  struct stat status;
  return lstat(path.c_str(), &status) == 0 ? std::to_string(status.st_ino) : "";
}

absl::Status Touch(const fs::path& path) {
  return Descriptor(path, O_WRONLY | O_CREAT) < 0 ? Failed(path, errno) : absl::OkStatus();
}

absl::Status MoveIfThere(const fs::path& from, const fs::path& to) {
  return IsThere(from) && !IsThere(to) ? Rename(from, to) : absl::OkStatus();
}

/// The old parts go to `old`, the new ones come; may have been begun by somebody who was killed. No step pairs an old
/// document with new records.
absl::Status SwapParts(const fs::path& directory, const fs::path& swap) {
  const fs::path fresh = swap / kNew, old = swap / kOld;
  const bool has_document = IsThere(fresh / kDocumentName), has_records = IsThere(fresh / kRecordsName);
  if (!has_document && !has_records) return absl::OkStatus();  // all have come
  absl::Status status = MoveIfThere(directory / kDocumentName, old / kDocumentName);
  if (status.ok() && (has_records || IsThere(swap / kNoRecords))) {
    status = MoveIfThere(directory / kRecordsName, old / kRecordsName);
  }
  if (status.ok() && has_records) status = Rename(fresh / kRecordsName, directory / kRecordsName);
  if (status.ok() && has_document) status = Rename(fresh / kDocumentName, directory / kDocumentName);
  return status;
}

/// `DIR.20261121T140211Z`, with a number behind it where that exists.
fs::path FreeName(const fs::path& name) {
  fs::path free = name;
  for (int number = 2; IsThere(free); ++number) free = fs::path(name) += fmt::format("-{}", number);
  return free;
}

absl::StatusOr<fs::path> Resolve(const std::string& directory) {
  std::error_code error;
  fs::path path = fs::weakly_canonical(fs::absolute(directory, error), error);
  if (error) return Failed(directory, error.value());
  if (!path.has_filename() && path.has_relative_path()) path = path.parent_path();  // `out/`
  if (fs::is_symlink(fs::symlink_status(path, error))) {
    return absl::FailedPreconditionError(directory + ": is a symbolic link to nothing; create what it points to");
  }
  return path;
}

std::string SiblingPrefix(const fs::path& directory) { return "." + directory.filename().string() + ".crema-"; }

/// What is in the directory under names that begin so.
std::vector<fs::path> EntriesWith(const fs::path& directory, const std::string& prefix) {
  std::vector<fs::path> found;
  for (const fs::path& path : EntriesOf(directory)) {
    if (path.filename().string().compare(0, prefix.size(), prefix) == 0) found.push_back(path);
  }
  return found;
}

/// Whether a replacement was begun there, and its parts did not all come to their place; also where nobody may look.
bool IsHalfReplaced(const fs::path& directory) {
  const fs::path fresh = directory / kSwap / kNew;
  const auto may_be_there = [](const fs::path& path) { return IsThere(path) || errno != ENOENT; };
  if (IsThere(directory / kSwap)) return may_be_there(fresh / kDocumentName) || may_be_there(fresh / kRecordsName);
  return (!IsThere(directory) || IsEmpty(directory)) &&
         !EntriesWith(directory.parent_path(), SiblingPrefix(directory) + kAside).empty();
}

absl::Status NotCreated(const std::string& path, int error) {
  return absl::UnavailableError(fmt::format("{}: cannot be created ({}); choose another directory with -o", path,
                                            std::generic_category().message(error)));
}

}  // namespace

HeldLock::HeldLock(const std::string& path) {
  for (;;) {
    descriptor_ = Descriptor(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    if (descriptor_ < 0) return;
    const bool is_locked = flock(descriptor_, LOCK_EX | LOCK_NB) == 0;
    const int error = is_locked ? 0 : errno;
    if (IsNamed(descriptor_, path)) {
      state_ = is_locked ? State::kHeld : error == EWOULDBLOCK ? State::kTaken : State::kNoLocks;
      return;
    }  // else it was replaced on the way
  }
}

void RemoveUnlocked(const fs::path& directory, const std::string& prefix) {
  for (const fs::path& path : EntriesWith(directory, prefix)) {
    const HeldLock lock(path.string());
    if (lock.state() == HeldLock::State::kHeld && IsOwn(path)) Remove(path);
  }
}

absl::StatusOr<TemporaryFile> TemporaryFile::Make(const fs::path& target, mode_t mode, bool directory) {
  const std::string prefix = SiblingPrefix(target);
  RemoveUnlocked(target.parent_path(), prefix);
  TemporaryFile file;
  file.target_ = target;
  for (int number = 0;; ++number) {
    const fs::path path = target.parent_path() / (prefix + std::to_string(getpid()) + "-" + std::to_string(number));
    if (!Create(path, mode, directory)) {
      if (errno == EEXIST) continue;
      return Failed(target.string() + ": cannot be written, choose another place", errno);
    }
    file.lock_ = HeldLock(path.string());
    // One that looks for remains may have been faster, and removes it.
    if (file.lock_.state() == HeldLock::State::kTaken || !IsThere(path)) continue;
    file.path_ = path;
    return file;
  }
}

TemporaryFile::~TemporaryFile() {
  if (!path_.empty()) Remove(path_);
}

absl::Status TemporaryFile::Rename() {
  if (rename(path_.c_str(), target_.c_str()) != 0) return absl::ErrnoToStatus(errno, target_.string());
  path_.clear();
  return absl::OkStatus();
}

OutputContents LookInto(const fs::path& directory) {
  OutputContents contents;
  std::error_code error;
  for (const fs::path& path : EntriesOf(directory)) {
    const std::string name = path.filename().string();
    bool is_own = false;
    if (name == kDocumentName && fs::is_regular_file(path, error)) {
      is_own = BeginningOf(path, 256).find("crema.measurement/") != std::string::npos;
      contents.is_measurement |= is_own;
    } else if (name == kRecordsName && fs::is_directory(fs::symlink_status(path, error))) {
      is_own = true;
      for (const fs::path& record : EntriesOf(path)) {
        const bool is_record = IsOwnRecord(record);
        contents.is_measurement |= is_record;
        contents.has_foreign_records |= !is_record;
        if (is_record && IsHeldByItsProcess(record)) contents.live_log = record.filename().string();
      }
      is_own = !contents.has_foreign_records;
    }
    if (!is_own) contents.foreign = name;
  }
  return contents;
}

std::string StampOfStart(const fs::path& directory) {
  std::optional<int64_t> start = StartIn(directory / kDocumentName);
  if (!start.has_value()) start = StartOfLogs(directory / kRecordsName);
  const absl::Time time = absl::FromUnixNanos(start.value_or(LastChange(directory)));
  return absl::FormatTime("%Y%m%dT%H%M%SZ", time, absl::UTCTimeZone());
}

absl::StatusOr<OutputDirectory> OutputDirectory::Claim(const std::string& directory) {
  absl::StatusOr<fs::path> path = Resolve(directory);
  if (!path.ok()) return path.status();
  OutputDirectory output;
  output.path_ = *std::move(path);
  output.given_ = directory;
  std::error_code error;
  fs::create_directories(output.path_.parent_path(), error);
  output.is_new_ = mkdir(output.path_.c_str(), 0700) == 0;
  if (!output.is_new_ && errno != EEXIST) return NotCreated(directory, errno);
  if (!fs::is_directory(output.path_, error)) return NotCreated(directory, ENOTDIR);
  output.lock_ = HeldLock(output.path_.string());
  if (output.lock_.state() == HeldLock::State::kTaken) {
    output.is_new_ = false;
    return absl::FailedPreconditionError(
        fmt::format("{}: another crema is writing into it; choose another directory with -o", directory));
  }
  output.Recover();
  return output;
}

OutputDirectory::~OutputDirectory() {
  if (path_.empty()) return;  // moved away
  if (!parts_.empty() && !is_installed_) Remove(parts_);
  if (is_new_ && !is_installed_) rmdir(path_.c_str());  // where it is still empty
}

fs::path OutputDirectory::Sibling(const std::string& purpose) const {
  return path_.parent_path() / (SiblingPrefix(path_) + purpose);
}

/// What others left who had the lock before, and were killed.
void OutputDirectory::Recover() {
  keeps_older_ = true;
  const std::string prefix = SiblingPrefix(path_);
  for (const fs::path& path : EntriesWith(path_.parent_path(), prefix)) {
    const std::string purpose = path.filename().string().substr(prefix.size());
    if (const std::string inode = InodeOf(path); purpose == kAside + inode && IsEmpty(path_)) {
      if (rename(path.c_str(), path_.c_str()) == 0) lock_ = HeldLock(path_.string());
    } else if (purpose == kExchange + inode || purpose == kAside + inode) {
      KeepOrRemove(path).IgnoreError();
    } else if (purpose == kTrash || purpose.rfind(kExchange, 0) == 0 || purpose.rfind(kAside, 0) == 0) {
      Remove(path);
    }
  }
  Remove(path_ / kMaking);
  if (const fs::path swap = path_ / kSwap; IsThere(swap) && SwapParts(path_, swap).ok()) {
    keeps_older_ = !IsThere(swap / kThrowAway);
    if (KeepOrRemove(swap / kOld).ok()) Remove(swap);
  }
  kept_as_.clear();
}

/// Whether it can be renamed without harm: who is in it would go with it.
bool OutputDirectory::MayMoveWhole() const {
  struct stat own, parent;
  if (stat(path_.c_str(), &own) != 0 || stat(path_.parent_path().c_str(), &parent) != 0) return false;
  if (own.st_dev != parent.st_dev) return false;
  std::error_code error;
  const fs::path here = fs::canonical(fs::current_path(error), error);
  if (error) return true;
  const fs::path from_here = here.lexically_relative(path_);
  return from_here.empty() || *from_here.begin() == "..";
}

absl::StatusOr<fs::path> OutputDirectory::Prepare(const OlderOutput& older) {
  const OutputContents contents = LookInto(path_);
  if (!contents.live_log.empty()) {
    return absl::FailedPreconditionError(fmt::format(
        "{}: a run is still writing into it ({}); choose another directory with -o", given_, contents.live_log));
  }
  const bool is_explained = contents.is_measurement && !(older.replace && contents.has_foreign_records);
  if (!contents.foreign.empty() && !older.force && !is_explained) {
    return absl::AlreadyExistsError(
        fmt::format("{}: holds `{}`, which crema did not write; choose another directory with -o, or add --force",
                    given_, contents.foreign));
  }
  keeps_older_ = !older.replace;
  const bool others_stay = !contents.foreign.empty() && (older.force || older.replace);
  struct stat status;
  const mode_t mode = stat(path_.c_str(), &status) == 0 ? status.st_mode & 07777 : 0700;
  parts_ = Sibling(kExchange + InodeOf(path_));
  if (!others_stay && MayMoveWhole() && mkdir(parts_.c_str(), 0700) == 0) {
    how_ = How::kWhole;
    chmod(parts_.c_str(), mode);
    new_lock_ = HeldLock(parts_.string());
    return parts_;
  }
  how_ = How::kParts;
  parts_ = path_ / kMaking;
  for (const fs::path& made : {parts_, parts_ / kNew, parts_ / kOld}) {
    if (mkdir(made.c_str(), 0700) != 0) return NotCreated(made.string(), errno);
  }
  return parts_ / kNew;
}

absl::StatusOr<fs::path> OutputDirectory::MakeRoom() {
  parts_ = path_ / kMaking;
  if (mkdir(parts_.c_str(), 0700) != 0) return NotCreated(parts_.string(), errno);
  return parts_;
}

absl::Status OutputDirectory::Install() {
  if (absl::Status status = how_ == How::kWhole ? InstallWhole() : InstallParts(); !status.ok()) return status;
  is_installed_ = true;
  Sync(path_).IgnoreError();
  Sync(path_.parent_path()).IgnoreError();
  return absl::OkStatus();
}

absl::Status OutputDirectory::InstallWhole() {
  if (IsEmpty(path_)) {
    if (absl::Status status = Rename(parts_, path_); !status.ok()) return status;
    parts_.clear();
    lock_ = std::move(new_lock_);
    return absl::OkStatus();
  }
  if (renameat2(AT_FDCWD, parts_.c_str(), AT_FDCWD, path_.c_str(), RENAME_EXCHANGE) == 0) {
    std::swap(lock_, new_lock_);
    return absl::OkStatus();
  }
  if (errno != EINVAL && errno != ENOSYS && errno != EOPNOTSUPP) return Failed(path_, errno);
  const fs::path aside = Sibling(kAside + InodeOf(path_));
  if (absl::Status status = Rename(path_, aside); !status.ok()) return status;
  // An empty one first: where somebody else was faster he has it.
  if (mkdir(path_.c_str(), 0700) != 0 || HeldLock(path_.string()).state() == HeldLock::State::kTaken ||
      rename(parts_.c_str(), path_.c_str()) != 0) {
    const int error = errno;
    rename(aside.c_str(), path_.c_str());
    return Failed(path_, error);
  }
  parts_ = aside;
  std::swap(lock_, new_lock_);
  return absl::OkStatus();
}

absl::Status OutputDirectory::InstallParts() {
  absl::Status touched;
  if (!IsThere(parts_ / kNew / kRecordsName)) touched = Touch(parts_ / kNoRecords);
  if (touched.ok() && !keeps_older_) touched = Touch(parts_ / kThrowAway);
  if (!touched.ok()) return touched;
  Sync(parts_).IgnoreError();
  const fs::path swap = path_ / kSwap;
  if (absl::Status status = Rename(parts_, swap); !status.ok()) return status;
  parts_ = swap;
  return SwapParts(path_, swap);
}

absl::Status OutputDirectory::KeepOrRemove(const fs::path& old) {
  const OutputContents contents = LookInto(old);
  if (keeps_older_ && (contents.is_measurement || !contents.foreign.empty())) {
    const std::string stamp = StampOfStart(old);
    fs::path kept = FreeName(fs::path(path_) += "." + stamp);
    absl::Status status = Rename(old, kept);
    if (!status.ok()) {  // another file system, or nothing may be written there
      kept = FreeName(path_ / ("older." + stamp));
      status = Rename(old, kept);
    }
    if (status.ok()) kept_as_ = kept.string();
    return status;
  }
  const fs::path trash = Sibling(kTrash);
  Remove(trash);
  const bool is_aside = rename(old.c_str(), trash.c_str()) == 0;
  Remove(is_aside ? trash : old);
  return absl::OkStatus();
}

absl::Status OutputDirectory::Settle() {
  if (parts_.empty()) return absl::OkStatus();
  absl::Status status = KeepOrRemove(how_ == How::kParts ? parts_ / kOld : parts_);
  if (status.ok() && how_ == How::kParts) Remove(parts_);
  if (status.ok()) parts_.clear();
  Sync(path_.parent_path()).IgnoreError();
  return status;
}

void OutputDirectory::Undo() {
  if (!is_installed_) return;
  if (how_ == How::kParts) {
    for (const char* name : {kRecordsName, kDocumentName}) {
      const fs::path old = parts_ / kOld / name;
      if (!IsThere(parts_ / kNew / name)) rename((path_ / name).c_str(), (parts_ / kNew / name).c_str());
      if (IsThere(old)) rename(old.c_str(), (path_ / name).c_str());
    }
    Remove(parts_);
  } else if (parts_.empty()) {
    Remove(path_ / kRecordsName);
    if (is_new_) rmdir(path_.c_str());
  } else if (renameat2(AT_FDCWD, parts_.c_str(), AT_FDCWD, path_.c_str(), RENAME_EXCHANGE) == 0) {
    Remove(parts_);
  } else {
    const fs::path trash = Sibling(kTrash);
    Remove(trash);
    rename(path_.c_str(), trash.c_str());
    rename(parts_.c_str(), path_.c_str());
    Remove(trash);
  }
  parts_.clear();
}

absl::Status CompleteOutput(const std::string& directory) {
  const absl::StatusOr<fs::path> path = Resolve(directory);
  if (!path.ok()) return absl::OkStatus();  // whoever opens it says why
  if (!IsHalfReplaced(*path) && !IsThere(*path / kSwap)) return absl::OkStatus();
  const absl::StatusOr<OutputDirectory> claimed = OutputDirectory::Claim(directory);
  if (!IsHalfReplaced(*path)) return absl::OkStatus();
  return absl::FailedPreconditionError(fmt::format(
      "{}: is half replaced by a newer measurement, and crema cannot complete it ({}); ask somebody who may write "
      "there to run `crema show` on it",
      directory, claimed.ok() ? "you may not write there" : "another crema has it, or it cannot be opened"));
}

}  // namespace crema

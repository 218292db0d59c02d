#include "log/log_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/uio.h>

#include <algorithm>

#include "process/process_recorder.h"
#include "storage/arena.h"

namespace crema::internal {

void WriteFileLine(Recorder* recorder, std::string_view file, std::int64_t branches, std::int64_t bytes,
                   std::int64_t compressed_bytes) noexcept {
  if (file.empty()) return;
  {
    const std::lock_guard<std::mutex> lock(recorder->mutex);
    if (recorder->files.Contains(file)) return;
    // Beyond what the set holds a file may be reported again, which readers accept.
    recorder->files.Add(file, &recorder->file_names);
  }
  JsonLine line;
  line.Raw("{\"type\":\"file\"");
  const std::size_t begin = line.size();
  line.FieldText("file", file);
  line.TakeSecretsOut(begin);
  line.Field("branches", Known(branches));
  line.Field("bytes", Known(bytes));
  line.Field("compressed_bytes", Known(compressed_bytes));
  line.Raw("}\n");
  recorder->log.Write(line);
}

namespace {

constexpr int kMostRecorders = 1000;
/// No descriptor of the program's own is likely to be all of it.
constexpr int kOpenedAs = O_WRONLY | O_APPEND | O_NOFOLLOW;
constexpr std::int64_t kMillisecond = 1000000;
/// A log that was removed is made anew after so long, so that a program that removes the directory can finish that.
constexpr std::int64_t kMadeAnewAfterNanoseconds = 1000000000;

using Path = FixedText<PATH_MAX>;

/// mkdir -p of the directory that `file` is in, private to the user.
void MakeDirectoriesOf(const char* file) {
  const std::size_t length = strlen(file);
  const OwnArray<char> path = MakeOwnArray<char>(length + 1);
  if (path == nullptr) return;
  memcpy(path.get(), file, length + 1);
  for (std::size_t i = 1; i < length; ++i) {
    if (path[i] != '/') continue;
    path[i] = '\0';
    mkdir(path.get(), 0700);  // one that exists is fine; any other failure shows when the file is opened
    path[i] = '/';
  }
}

/// Whether it is not too long for a path; sets errno otherwise.
bool IsPath(const Path& path) {
  if (path.view().size() < PATH_MAX) return true;
  errno = ENAMETOOLONG;
  return false;
}

/// What the paths of all logs of a process have in common; false, with errno set, where it is too long.
bool PutStem(const char* directory, const char* host, std::int64_t pid, std::int64_t start_ns, Path* path) {
  char name[HOST_NAME_MAX + 80];
  snprintf(name, sizeof name, "/%s-%lld-%lld-", host, static_cast<long long>(pid), static_cast<long long>(start_ns));
  path->CutTo(0);
  path->Append(directory);
  path->Append(name);
  return IsPath(*path);
}

/// Makes a log's path of the stem, or of another log's path; false, with errno set, where it is too long.
bool PutNumber(int recorder, Path* path) {
  char name[32];
  snprintf(name, sizeof name, "%d.jsonl", recorder);
  path->CutTo(path->view().rfind('-') + 1);
  path->Append(name);
  return IsPath(*path);
}

/// Whether `fd` is open on the file that was just created at `path`.
bool IsCreated(int fd, const char* path) {
  struct stat created {};
  return lstat(path, &created) != 0 || IsOpenOn(fd, {created.st_dev, created.st_ino});
}

}  // namespace

std::int64_t LogFile::StartAsLogged(const char* directory, const char* host, std::int64_t pid,
                                    std::int64_t start_ns) noexcept {
  const KeptErrno kept_errno;
  std::int64_t logged_ns = start_ns;
  const OwnPointer<Path> path(MakeOwn<Path>());
  for (const std::int64_t other_ns : {start_ns - kMillisecond, start_ns + kMillisecond}) {
    if (path == nullptr || !PutStem(directory, host, pid, other_ns, path.get()) || !PutNumber(0, path.get())) break;
    if (access(path->c_str(), F_OK) == 0) logged_ns = other_ns;
  }
  return logged_ns;
}

int LogFile::Open(const char* directory, const char* host, std::int64_t pid, std::int64_t start_ns,
                  int recorder) noexcept {
  return PutStem(directory, host, pid, start_ns, &path_) ? OpenNumbered(recorder, true) : -1;
}

int LogFile::OpenBeside(LogFile* first, int recorder) noexcept {
  first_ = first;
  path_ = first->path_;
  return first->Look(first->descriptor_) == State::kOurs ? OpenNumbered(recorder, false) : -1;
}

int LogFile::OpenNumbered(int recorder, bool makes_directories) noexcept {
  for (; recorder < kMostRecorders; ++recorder) {
    if (!PutNumber(recorder, &path_)) return -1;
    struct stat status {};
    const int fd = Create(path_.c_str(), &status, makes_directories);
    if (fd < 0 && (errno == EEXIST || errno == EAGAIN)) continue;
    if (fd < 0) return -1;
    device_ = status.st_dev;
    inode_ = status.st_ino;
    counts_links_ = status.st_nlink != 0;
    descriptor_ = fd;
    return recorder;
  }
  errno = EEXIST;
  return -1;
}

/// A new file of this name, locked, and what the kernel says of it; -1 with errno set.
int LogFile::Create(const char* path, struct stat* status, bool makes_directories) noexcept {
  constexpr int kFlags = kOpenedAs | O_CREAT | O_EXCL | O_CLOEXEC;
  int low = open(path, kFlags, 0600);
  if (low < 0 && errno == ENOENT && makes_directories) {
    MakeDirectoriesOf(path);
    low = open(path, kFlags, 0600);
  }
  const int fd = MoveUp(low, [path](int opened) { return IsCreated(opened, path); });
  const bool is_refused = fd >= 0 && fstat(fd, status) != 0;
  const KeptErrno kept_errno;
  if (fd >= 0) flock(fd, LOCK_EX | LOCK_NB);  // a file system without locks only costs the "still running" mark
  if (fd < 0 && low >= 0) unlink(path);       // the program closed it in this moment
  if (is_refused) close(fd);
  return is_refused ? -1 : fd;
}

/// What recording asks before it writes, each time: a program that closes all descriptors may have opened its own file
/// under our number.
LogFile::State LogFile::Look(int descriptor) const noexcept {
  struct stat status {};
  if (descriptor < 0 || fstat(descriptor, &status) != 0) return State::kClosed;
  if (status.st_ino != inode_ || status.st_dev != device_) return State::kClosed;
  // The inode of a log that was removed may be that of another file by now. Only one of the same size is not asked
  // about.
  const bool is_other_size = static_cast<std::uint64_t>(status.st_size) != size_.load(std::memory_order_relaxed);
  if (is_other_size && !IsOpenedAs(descriptor, kOpenedAs)) return State::kClosed;
  return counts_links_ && status.st_nlink == 0 ? State::kRemoved : State::kOurs;
}

/// Where a line can be appended now; -1: nowhere. One system call, as long as the log is where and what it was made.
int LogFile::ReadyDescriptor() noexcept {
  const int descriptor = descriptor_.load(std::memory_order_acquire);
  const bool ready = Look(descriptor) == State::kOurs && begun_.load(std::memory_order_acquire);
  return ready ? descriptor : MakeReady();
}

int LogFile::MakeReady() noexcept {
  const std::int64_t now_ns = MonotonicNanoseconds();
  if (!is_open() || (now_ns < not_anew_until_ns_ && !ending_)) return -1;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (const State state = Look(descriptor_); state != State::kOurs && !BringBack(state, now_ns)) return -1;
  if (!begun_) begun_ = Append(descriptor_, first_line_, KeptFree::kLastLine);
  return begun_ ? descriptor_.load() : -1;
}

/// Says why it cannot be brought back: errno.
void LogFile::WarnLost() const noexcept {
  WarnOnce({"the record log ", path(), removed_ ? " was removed" : " was closed", " and cannot be ",
            removed_ ? "made anew: " : "opened again: ", strerror(errno), "; records are lost"});
}

/// With the mutex held.
bool LogFile::BringBack(State state, std::int64_t now_ns) noexcept {
  if (left_removed_) return false;
  if (state == State::kClosed && !is_missed_) {
    is_missed_ = true;
    NoteLostDescriptor();
  }
  if (state == State::kClosed && ending_) {
    if (OpenAgain()) return true;
    if (!left_removed_ && errno != ENOENT) WarnLost();
    return false;
  }
  if (now_ns < not_anew_until_ns_ || !MayOpen()) return false;
  bool is_back = state == State::kClosed && OpenAgain();
  const bool just_noticed = !removed_ && (state == State::kRemoved || errno == ENOENT);
  if (!is_back && !just_noticed) {
    is_back = removed_ && ReplaceRemoved();
    if (!is_back && !left_removed_) WarnLost();
  }
  if (just_noticed && !is_back) removed_ = true;
  if (is_back) removed_ = is_missed_ = false;
  not_anew_until_ns_ = is_back ? 0 : now_ns + kMadeAnewAfterNanoseconds;
  return is_back;
}

/// Opens the log under its name again, after the program closed all descriptors; false where that is not our file.
bool LogFile::OpenAgain() noexcept {
  const FileIdentity log{device_, inode_};
  const int low = open(path_.c_str(), kOpenedAs | O_CLOEXEC | O_NONBLOCK);
  const int fd = MoveUp(low, [&log](int opened) { return IsOpenOn(opened, log); });
  const bool is_ours = fd >= 0 && Look(fd) == State::kOurs;
  if (fd >= 0 && !is_ours) close(fd);
  if (low >= 0 && !is_ours) left_removed_ = true;  // another file, or the kernel refuses to say: not tried again
  if (!is_ours) return false;
  flock(fd, LOCK_EX | LOCK_NB);
  descriptor_ = fd;
  return true;
}

/// Makes a new file, with its first line, under the log's name. What other threads write to the old one in this moment
/// is lost with it.
bool LogFile::ReplaceRemoved() noexcept {
  struct stat status {};
  const int fd = Create(path_.c_str(), &status);
  if (fd < 0) return false;
  const int removed = descriptor_;
  struct stat old {};
  const bool had_old = Look(removed) == State::kRemoved && fstat(removed, &old) == 0;
  // Before others can write behind it. Where it does not fit, they wait for it as on a disk that was full from the
  // start.
  const std::uint64_t wanted = first_line_.size() + kBytesForLastLine;
  const bool begun = wanted <= LargestFileBytes() &&
                     write(fd, first_line_.data(), first_line_.size()) == static_cast<ssize_t>(first_line_.size());
  // Claims of other threads stay.
  const auto old_bytes = static_cast<std::uint64_t>(old.st_size);
  AddBytes((begun ? first_line_.size() : 0) - (had_old ? old_bytes : 0));
  begun_ = begun;
  torn_ = false;
  device_ = status.st_dev;
  inode_ = status.st_ino;
  times_made_anew_.fetch_add(1, std::memory_order_relaxed);
  // Under the same number, where that is ours: other threads may be using it just now.
  if (had_old && dup3(fd, removed, O_CLOEXEC) >= 0) {
    close(fd);
  } else {
    descriptor_ = fd;
  }
  return true;
}

void LogFile::AddBytes(std::uint64_t bytes) noexcept {
  size_.fetch_add(bytes, std::memory_order_relaxed);
  if (first_ != this) first_->bytes_beside_.fetch_add(bytes, std::memory_order_relaxed);
}

void LogFile::Remove(DescriptorBudget* budget) noexcept {
  if (Look(descriptor_) == State::kOurs) unlink(path_.c_str());
  Close(budget);
}

void LogFile::KeepRoom(const char* directory, std::optional<std::int64_t> most_bytes,
                       DescriptorBudget* budget) noexcept {
  limits_.SetMostBytes(most_bytes);
  room_.Take(directory, budget);
}

bool LogFile::Begin(std::string_view first_line) noexcept {
  const KeptErrno kept_errno;
  first_line_ = first_line;
  return ReadyDescriptor() >= 0;
}

bool LogFile::Write(std::string_view text) noexcept {
  const KeptErrno kept_errno;
  const int descriptor = ended_.load() ? -1 : ReadyDescriptor();
  const bool has_room = !limits().is_stopped() || first_->limits_.TakeRoom(text.size());
  const bool whole = descriptor >= 0 && has_room && AppendWithRoom(descriptor, text, KeptFree::kLastLine);
  if (!whole) unwritten_.fetch_add(1, std::memory_order_relaxed);
  return whole;
}

bool LogFile::Write(const JsonLine& line) noexcept {
  if (!line.broken() && line.size() <= kMaxLineBytes) return Write(line.text());
  unmade_.fetch_add(1, std::memory_order_relaxed);
  return false;
}

bool LogFile::WriteOfChunk(const JsonLine& line, std::int64_t now_ns) noexcept {
  if (line.broken() || line.size() > kMaxLineBytes || limits().is_stopped()) return false;
  const KeptErrno kept_errno;
  const int descriptor = ended_.load() ? -1 : ReadyDescriptor();
  LogLimits& limits = first_->limits_;
  const std::uint64_t bytes =
      first_->size_.load(std::memory_order_relaxed) + first_->bytes_beside_.load(std::memory_order_relaxed);
  const bool allowed = descriptor >= 0 && limits.Allows(descriptor, bytes, now_ns);
  writers_.fetch_add(1, std::memory_order_relaxed);
  const bool whole = allowed && Append(descriptor, line.text(), KeptFree::kSums, now_ns);
  writers_.fetch_sub(1, std::memory_order_relaxed);
  if (allowed && !whole && (errno == ENOSPC || errno == EDQUOT))
    limits.Stop(StopReason::kDiskFull, ReservedDiskSpace::kBytes);
  if (allowed && !whole && errno == EFBIG) limits.Stop(StopReason::kFileSize, RoomBelow(LargestFileBytes()));
  return whole;
}

bool LogFile::WriteSums(const JsonLine& line, bool is_last) noexcept {
  if (line.broken() || line.size() > kMaxLineBytes) return false;
  if (limits().is_stopped() && !first_->limits_.TakeRoom(line.size()) && !is_last) return false;
  const KeptErrno kept_errno;
  const int descriptor = ended_.load() ? -1 : ReadyDescriptor();
  return descriptor >= 0 && AppendWithRoom(descriptor, line.text(), KeptFree::kLastLine);
}

bool LogFile::WriteLast(std::string_view text) noexcept {
  const KeptErrno kept_errno;
  ended_ = true;
  const int descriptor = ReadyDescriptor();
  return descriptor >= 0 && AppendWithRoom(descriptor, text, KeptFree::kNothing);
}

/// As `Append`; on a full disk it gives back what was kept for this.
bool LogFile::AppendWithRoom(int descriptor, std::string_view text, KeptFree kept_free) noexcept {
  if (Append(descriptor, text, kept_free)) return true;
  const bool is_full = errno == ENOSPC || errno == EDQUOT || errno == 0;
  return is_full && first_->room_.Give(text.size()) && Append(descriptor, text, kept_free);
}

/// False with errno set: EFBIG where RLIMIT_FSIZE is too near, 0 where a part of it was written.
bool LogFile::Append(int descriptor, std::string_view text, KeptFree kept_free, std::int64_t since_ns) noexcept {
  // Claimed before it is written: several threads that each still fitted would together reach the limit.
  const std::uint64_t claimed = text.size() + 1;
  const std::uint64_t size = size_.fetch_add(claimed, std::memory_order_relaxed) + claimed;
  bool whole = false;
  std::uint64_t used = 0;
  errno = EFBIG;
  // Before each line: the program may set it at any time, but for the time in which this thread is in its guard.
  const std::uint64_t limit = LargestFileBytes(since_ns);
  const std::uint64_t for_lines = std::max(kept_free == KeptFree::kSums ? RoomBelow(limit) : 0, kBytesForLastLine);
  const std::uint64_t bytes_kept_free = kept_free == KeptFree::kNothing || limit == UINT64_MAX ? 0 : for_lines;
  if (bytes_kept_free <= limit && size <= limit - bytes_kept_free) {
    char newline = '\n';
    const bool after_torn = torn_.load(std::memory_order_relaxed) && torn_.exchange(false);
    iovec parts[2] = {{&newline, 1}, {const_cast<char*>(text.data()), text.size()}};
    const std::size_t wanted = text.size() + (after_torn ? 1 : 0);
    ssize_t written;
    errno = 0;
    do {
      written = after_torn ? writev(descriptor, parts, 2) : write(descriptor, text.data(), text.size());
    } while (written < 0 && errno == EINTR);
    const bool is_ended = written == static_cast<ssize_t>(wanted);
    // A line that lacks nothing but its newline is whole for readers: the next line brings it.
    whole = is_ended || (written > 0 && written == static_cast<ssize_t>(wanted) - 1);
    if (written > 0) used = static_cast<std::uint64_t>(written);
    if (!is_ended && (written > 0 || after_torn)) torn_.store(true, std::memory_order_relaxed);
  }
  size_.fetch_sub(claimed - used, std::memory_order_relaxed);
  if (first_ != this) first_->bytes_beside_.fetch_add(used, std::memory_order_relaxed);
  return whole;
}

void LogFile::Sync() noexcept {
  const KeptErrno kept_errno;
  if (const int descriptor = descriptor_; Look(descriptor) != State::kClosed) fdatasync(descriptor);
}

void LogFile::Close(DescriptorBudget* budget) noexcept {
  const KeptErrno kept_errno;
  if (const int descriptor = descriptor_; Look(descriptor) != State::kClosed) close(descriptor);
  descriptor_ = -1;
  room_.Close(budget);
}

}  // namespace crema::internal

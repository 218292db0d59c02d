#include "process/own_descriptor.h"

#include <elf.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>

#include "chunk/thread_state.h"
#include "crema/internal/platform.h"
#include "crema/version.h"
#include "guards/span.h"
#include "process/exit_and_fork.h"
#include "process/process_recorder.h"
#include "tasks/task_table.h"

namespace crema::internal {
namespace {

constexpr int kMostDescriptors = 64;
constexpr int kSharesOfLogs = 9;
/// fork(2) copies the table of descriptors up to the highest one: ours stay below this.
constexpr rlim_t kHighest = 1024;

/// The soft limit, or `kHighest` where that is lower.
int HighestNumber() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) limit.rlim_cur = kHighest;
  return static_cast<int>(std::min(limit.rlim_cur, kHighest));
}

constexpr std::int64_t kFirstWaitNanoseconds = 1000000000;
constexpr int kMostDoublings = 10;
std::atomic<int> g_times_lost{0};
std::atomic<std::int64_t> g_open_again_ns{0};  ///< CLOCK_MONOTONIC; 0: nothing was lost

/// Changes with the version, and with whatever compilers and their settings do to the objects that would be shared.
constexpr std::uint64_t Layout() {
  std::uint64_t hash = 14695981039346656037u;  // FNV-1a
  for (const char c : std::string_view(CREMA_VERSION_STRING)) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  }
  for (const std::size_t size :
       {sizeof(SharedCopy), sizeof(Recorder), sizeof(Settings), sizeof(ThreadState), sizeof(ChunkState),
        sizeof(HelperState), sizeof(SectionNode), sizeof(SpanState), sizeof(ThreadStacks), sizeof(StackTable),
        sizeof(MetricRow), sizeof(CutRow), sizeof(MemoryRow), sizeof(ActivityRow), sizeof(TaskTable),
        sizeof(TaskModule), sizeof(EventSlot), sizeof(EventNodes), sizeof(ThreadTasks)}) {
    hash = (hash ^ size) * 1099511628211u;
  }
  return hash;
}

}  // namespace

void DescriptorBudget::Start() noexcept {
  const int most = std::min(kMostDescriptors, HighestNumber() / 8);
  const int for_logs = most / kSharesOfLogs;
  logs_left_.store(for_logs, std::memory_order_relaxed);
  left_.store(most - 1 - for_logs, std::memory_order_relaxed);  // one is the log's
}

bool DescriptorBudget::Take() noexcept {
  if (left_.fetch_sub(1, std::memory_order_relaxed) > 0) return true;
  GiveBack();
  return false;
}

std::optional<FileIdentity> IdentityOf(int descriptor) noexcept {
  struct stat status {};
  if (fstat(descriptor, &status) != 0) return std::nullopt;
  return FileIdentity{status.st_dev, status.st_ino};
}

bool IsOpenOn(int descriptor, const FileIdentity& file) noexcept {
  const auto identity = IdentityOf(descriptor);
  return identity.has_value() ? *identity == file : errno != EBADF;
}

bool IsOpenOnDevice(int descriptor, dev_t device) noexcept {
  const auto identity = IdentityOf(descriptor);
  return identity.has_value() ? identity->device == device : errno != EBADF;
}

bool IsOpenedAs(int descriptor, int flags) noexcept {
  const int opened_as = fcntl(descriptor, F_GETFL);
  return opened_as < 0 ? errno != EBADF : (opened_as & (flags | O_ACCMODE)) == flags;
}

int DuplicateHigh(int fd) noexcept {
  const int highest = HighestNumber();
  const int first = highest - highest / 4;  // the last quarter of them is ours
  if (fd < 0 || fd >= first) return fd;
  const int high = fcntl(fd, F_DUPFD_CLOEXEC, first);
  return high >= 0 ? high : fd;
}

void NoteLostDescriptor() noexcept {
  const int times = std::min(g_times_lost.fetch_add(1), kMostDoublings);
  g_open_again_ns.store(MonotonicNanoseconds() + (kFirstWaitNanoseconds << times));
}

bool MayOpen() noexcept {
  const std::int64_t open_again_ns = g_open_again_ns.load(std::memory_order_relaxed);
  return open_again_ns == 0 || MonotonicNanoseconds() >= open_again_ns;
}

/// A C name, which the assembler of the note knows.
// NOLINTNEXTLINE(readability-identifier-naming)
extern "C" __attribute__((visibility("hidden"), used)) const SharedCopy crema_own_copy = {
    Layout(),     EnableWith,          Enabled,    SwitchOff,  CurrentRecorder,
    OwnsRecorder, EnsureThreadContext, MirrorMode, ForgetMode, EndProcess,
};
CREMA_NOTE(CREMA_NOTE_OF_COPY);

namespace {

struct Search {
  std::string_view directory;
  const SharedCopy* found = nullptr;
  bool is_library = false;
  bool is_of_all = false;  ///< also of copies behind the library
  int recorders = 0;       ///< of other copies, in this process

  void Take(const SharedCopy* copy, std::uint32_t type) {
    if (copy == &crema_own_copy || copy->layout != Layout()) return;
    constexpr std::uint32_t kLibrary = CREMA_NOTE_OF_LIBRARY[0] - '0';
    if (type != kLibrary && copy->owns_recorder() && copy->recorder()->pid == getpid()) ++recorders;
    if (type != kLibrary && (found != nullptr || !Records(*copy))) return;
    found = copy;
    is_library = type == kLibrary;
  }

  bool Records(const SharedCopy& copy) const {
    return copy.owns_recorder() && (directory.empty() || copy.recorder()->settings.directory.view() == directory);
  }
};

void LookAtNotes(const char* at, const char* end, Search* search) {
  const auto rounded = [](std::size_t size) { return (size + 3) / 4 * 4; };
  ElfW(Nhdr) note;
  while (static_cast<std::size_t>(end - at) >= sizeof note) {
    std::memcpy(&note, at, sizeof note);
    at += sizeof note;
    const std::size_t name = rounded(note.n_namesz);
    const std::size_t size = name + rounded(note.n_descsz);
    if (size > static_cast<std::size_t>(end - at)) return;
    std::int32_t offset;
    const bool is_ours = note.n_namesz == sizeof "crema" && note.n_descsz == sizeof offset;
    if (is_ours && std::memcmp(at, "crema", sizeof "crema") == 0) {
      std::memcpy(&offset, at + name, sizeof offset);
      search->Take(reinterpret_cast<const SharedCopy*>(at + name + offset), note.n_type);
    }
    at += size;
  }
}

/// The file cannot be unloaded meanwhile: the list of files is locked.
int LookInto(dl_phdr_info* file, std::size_t, void* search_pointer) {
  auto* const search = static_cast<Search*>(search_pointer);
  for (std::size_t i = 0; i < file->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = file->dlpi_phdr[i];
    if (segment.p_type != PT_NOTE) continue;
    const auto* const notes = reinterpret_cast<const char*>(file->dlpi_addr + segment.p_vaddr);
    LookAtNotes(notes, notes + segment.p_memsz, search);
  }
  return search->is_library && !search->is_of_all ? 1 : 0;
}

std::optional<FileIdentity> g_at_load;  // nullopt: it was not open

__attribute__((constructor)) void AtLoad() { NoteStandardError(); }

/// pipe(2) gives the lowest numbers that are free, the reading end first. So a pipe of the program's own has its
/// writing end here only where the reading end is below; any other was put here to be the standard error (dup2(2)).
bool IsOwnPipe(const struct stat& status) {
  for (const int below : {STDIN_FILENO, STDOUT_FILENO}) {
    const bool is_same = IdentityOf(below) == FileIdentity{status.st_dev, status.st_ino};
    if (is_same && (fcntl(below, F_GETFL) & O_ACCMODE) == O_RDONLY) return true;
  }
  return false;
}

bool IsStandardError() {
  struct stat status {};
  if (fstat(STDERR_FILENO, &status) != 0) return false;
  if (g_at_load == FileIdentity{status.st_dev, status.st_ino}) return true;
  return isatty(STDERR_FILENO) != 0 || (S_ISFIFO(status.st_mode) && !IsOwnPipe(status));
}

/// No signal that a write may send reaches the thread while this lives.
class SignalsOfWriting {
 public:
  SignalsOfWriting() noexcept {
    sigset_t pending;
    sigemptyset(&pending);
    sigpending(&pending);
    sigset_t blocked;
    sigemptyset(&blocked);
    sigemptyset(&sent_here_);
    for (const int signal : {SIGPIPE, SIGXFSZ, SIGTTOU}) {
      sigaddset(&blocked, signal);
      if (sigismember(&pending, signal) == 0) sigaddset(&sent_here_, signal);
    }
    is_blocked_ = pthread_sigmask(SIG_BLOCK, &blocked, &before_) == 0;
  }
  ~SignalsOfWriting() {
    if (!is_blocked_) return;
    const timespec at_once{};
    while (sigtimedwait(&sent_here_, nullptr, &at_once) > 0 || errno == EINTR) {
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  SignalsOfWriting(SignalsOfWriting&&) = delete;
  bool is_blocked() const noexcept { return is_blocked_; }

 private:
  sigset_t before_;
  sigset_t sent_here_;
  bool is_blocked_ = false;
};

}  // namespace

const SharedCopy* OwnCopy() noexcept { return &crema_own_copy; }

const SharedCopy* FindSharedCopy(std::string_view directory) noexcept {
  Search search;
  search.directory = directory;
  dl_iterate_phdr(LookInto, &search);
  return search.found;
}

int RecordersOfOtherCopies() noexcept {
  Search search;
  search.is_of_all = true;
  dl_iterate_phdr(LookInto, &search);
  return search.recorders;
}

void NoteStandardError() noexcept {
  const KeptErrno kept_errno;
  g_at_load = IdentityOf(STDERR_FILENO);
}

bool PrintOnStandardError(const char* text, std::size_t size, int wait_milliseconds) noexcept {
  const KeptErrno kept_errno;
  if (!IsStandardError()) return false;
  const SignalsOfWriting signals;
  pollfd standard_error = {STDERR_FILENO, POLLOUT, 0};
  // Where nobody reads any more it says so at once, and the write fails.
  const bool takes_it = poll(&standard_error, 1, wait_milliseconds) > 0;
  return takes_it && signals.is_blocked() && write(STDERR_FILENO, text, size) == static_cast<ssize_t>(size);
}

}  // namespace crema::internal

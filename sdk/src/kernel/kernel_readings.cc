#include "kernel/kernel_readings.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#include <algorithm>

#include "crema/internal/section_node.h"
#include "kernel/proc_file.h"

namespace crema::internal {
namespace {

/// The second of the numbers that the file has.
MaybeInteger SecondNumber(ProcReading* file, DescriptorBudget* budget, bool may_open = true) {
  char text[128];
  const long size = file->Read(budget, text, sizeof text, may_open);
  const std::string_view numbers(text, size > 0 ? static_cast<std::size_t>(size) : 0);
  return LeadingInteger(numbers.substr(std::min(numbers.find(' '), numbers.size())));
}

/// Whether `text` is so many numbers on one line.
bool IsLineOfNumbers(std::string_view text, int numbers) {
  if (text.empty() || text.back() != '\n') return false;
  const char* at = text.data();
  for (;;) {
    const char* const number = at;
    while (static_cast<unsigned char>(*at - '0') < 10) ++at;  // the last character is not a digit
    if (at == number) return false;
    if (--numbers == 0) return at == &text.back();
    if (*at++ != ' ') return false;
  }
}

std::int64_t NanosecondsOf(const timeval& time) {
  return static_cast<std::int64_t>(time.tv_sec) * 1000000000 + static_cast<std::int64_t>(time.tv_usec) * 1000;
}

/// Leaves errno as it was. Not a call of its own: that would be 21 of the 800 instructions of a task.
__attribute__((always_inline)) inline MaybeInteger ReadClock(clockid_t clock) {
  const int host_errno = errno;
  timespec time{};
  if (CREMA_UNLIKELY(clock_gettime(clock, &time) != 0)) {
    errno = host_errno;
    return std::nullopt;
  }
  return static_cast<std::int64_t>(time.tv_sec) * 1000000000 + time.tv_nsec;
}

}  // namespace

ThreadUsage Difference(const ThreadUsage& a, const ThreadUsage& b) noexcept {
  return {Difference(a.read_bytes, b.read_bytes), Difference(a.system_cpu_ns, b.system_cpu_ns),
          Difference(a.minor_faults, b.minor_faults), Difference(a.major_faults, b.major_faults)};
}

void AddTo(ThreadUsage* sum, const ThreadUsage& usage) noexcept {
  AddTo(&sum->read_bytes, usage.read_bytes);
  AddTo(&sum->system_cpu_ns, usage.system_cpu_ns);
  AddTo(&sum->minor_faults, usage.minor_faults);
  AddTo(&sum->major_faults, usage.major_faults);
}

bool IsStatm(std::string_view text) noexcept { return IsLineOfNumbers(text, 7); }
bool IsSchedstat(std::string_view text) noexcept { return IsLineOfNumbers(text, 3); }
bool IsListOfProcesses(std::string_view text) noexcept {
  return text.find_first_not_of("0123456789 ") == std::string_view::npos;
}
bool IsIo(std::string_view text) noexcept { return text.substr(0, 7) == "rchar: "; }

void ProcReading::Open(DescriptorBudget* budget) noexcept {
  struct stat wanted {};
  descriptor_ = kNoDescriptor;
  if (!budget->Take()) return;
  const int low = stat(path_, &wanted) == 0 ? open(path_, O_RDONLY | O_CLOEXEC) : -1;
  const int error = errno;
  const int fd = MoveUp(low, [&wanted](int opened) { return IsOpenOnDevice(opened, wanted.st_dev); });
  if (const auto file = fd >= 0 ? IdentityOf(fd) : std::nullopt; file.has_value()) {
    file_ = *file;
    descriptor_ = fd;
    return;
  }
  budget->GiveBack();
  if (fd >= 0) close(fd);  // the kernel refuses to say which file it is: it could not be closed later either
  if (low < 0 && error != EMFILE && error != ENFILE) descriptor_ = kUnreadable;
}

long ProcReading::Read(DescriptorBudget* budget, char* buffer, int capacity, bool may_open) noexcept {
  if (descriptor_ == kNotTried && may_open && MayOpen()) Open(budget);
  if (descriptor_ == kUnreadable) return -1;
  if (descriptor_ >= 0) {
    const ssize_t size = pread(descriptor_, buffer, static_cast<std::size_t>(capacity) - 1, 0);
    buffer[size > 0 ? size : 0] = '\0';
    const bool may_be_ours = size > 0 || (size == 0 && IsOpenOn(descriptor_, file_));  // nothing has no form
    if (may_be_ours && has_form_({buffer, static_cast<std::size_t>(size)})) return size;
    NoteLostDescriptor();  // the program closed it: not ours to close again
    descriptor_ = kNotTried;
    budget->GiveBack();
  }
  const long size = ReadWholeFile(path_, buffer, static_cast<std::size_t>(capacity));
  return size >= 0 && has_form_({buffer, static_cast<std::size_t>(size)}) ? size : -1;
}

void ProcReading::Close(DescriptorBudget* budget) noexcept {
  if (descriptor_ >= 0) {
    if (IsOpenOn(descriptor_, file_)) close(descriptor_);
    budget->GiveBack();
  }
  descriptor_ = kNotTried;
}

std::optional<std::int64_t> KernelReadings::RssBytes(DescriptorBudget* budget, bool may_open) noexcept {
  static const std::int64_t kPageBytes = sysconf(_SC_PAGESIZE);
  const MaybeInteger pages = SecondNumber(&statm_, budget, may_open);
  return pages.has_value() ? MaybeInteger(*pages * kPageBytes) : std::nullopt;
}

std::optional<std::int64_t> KernelReadings::RunDelayNanoseconds(DescriptorBudget* budget) noexcept {
  return SecondNumber(&schedstat_, budget);
}

ThreadUsage KernelReadings::Usage(MaybeInteger* rss_peak_bytes) noexcept {
  constexpr std::int64_t kBlockBytes = 512;
  if (!counts_io_.has_value()) counts_io_ = access(kIoPath, R_OK) == 0;
  rusage usage{};
  if (getrusage(RUSAGE_THREAD, &usage) != 0) return {};
  if (rss_peak_bytes != nullptr) *rss_peak_bytes = std::int64_t{usage.ru_maxrss} * 1024;
  const MaybeInteger read_bytes = *counts_io_ ? MaybeInteger(usage.ru_inblock * kBlockBytes) : std::nullopt;
  return {read_bytes, NanosecondsOf(usage.ru_stime), usage.ru_minflt, usage.ru_majflt};
}

void KernelReadings::Close(DescriptorBudget* budget) noexcept {
  statm_.Close(budget);
  schedstat_.Close(budget);
  io_.Close(budget);
}

std::optional<ProcessRss::Reading> ProcessRss::Latest() const noexcept {
  const std::uint64_t version = version_.load(std::memory_order_acquire);
  const Reading reading = {time_ns_.load(std::memory_order_acquire), tid_.load(std::memory_order_acquire),
                           bytes_.load(std::memory_order_acquire)};
  const bool is_whole = version != 0 && version % 2 == 0 && version_.load(std::memory_order_relaxed) == version;
  return is_whole ? std::optional<Reading>(reading) : std::nullopt;
}

std::optional<std::int64_t> ProcessRss::Bytes(std::int64_t now_ns, std::int64_t tid, KernelReadings* own,
                                              DescriptorBudget* budget) noexcept {
  constexpr std::int64_t kOldestNanoseconds = 100000;
  const std::optional<Reading> latest = Latest();
  const std::int64_t age_ns = latest.has_value() && latest->tid != tid ? now_ns - latest->time_ns : INT64_MAX;
  if (age_ns < kOldestNanoseconds / 2) return latest->bytes;
  const std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return age_ns < kOldestNanoseconds ? latest->bytes : own->RssBytes(budget, false);
  const std::optional<std::int64_t> bytes = readings_.RssBytes(budget);
  if (!bytes.has_value()) return std::nullopt;
  version_.fetch_add(1);
  time_ns_.store(now_ns, std::memory_order_release);
  tid_.store(tid, std::memory_order_release);
  bytes_.store(*bytes, std::memory_order_release);
  version_.fetch_add(1);
  return bytes;
}

std::optional<std::int64_t> ProcessCpuNanoseconds() noexcept { return ReadClock(CLOCK_PROCESS_CPUTIME_ID); }

// As Linux numbers clocks (include/linux/posix-timers_types.h): the complement of the number of a process or thread,
// one bit for a single thread, and 2 for the scheduler's clock.
MaybeInteger CpuOfProcess(std::int64_t pid) noexcept {
  return ReadClock(static_cast<clockid_t>((~static_cast<unsigned>(pid) << 3) | 2));
}

MaybeInteger CpuOfThread(std::int64_t tid) noexcept {
  return ReadClock(static_cast<clockid_t>((~static_cast<unsigned>(tid) << 3) | 4 | 2));
}

ThreadUsage UsageOfProcess() noexcept {
  rusage usage{};
  if (getrusage(RUSAGE_SELF, &usage) != 0) return {};
  return {std::nullopt, NanosecondsOf(usage.ru_stime), usage.ru_minflt, usage.ru_majflt};
}

std::int64_t SeccompFilters() noexcept {
  const FileText status("/proc/thread-self/status", 8192);
  if (const auto mode = IntegerAfter(status.view(), "Seccomp:"); mode == 0) return 0;
  return IntegerAfter(status.view(), "Seccomp_filters:").value_or(-1);  // since Linux 5.9
}

MaybeInteger CpuOfEndedChildren() noexcept {
  rusage usage{};
  if (getrusage(RUSAGE_CHILDREN, &usage) != 0) return std::nullopt;
  return NanosecondsOf(usage.ru_utime) + NanosecondsOf(usage.ru_stime);
}

std::int64_t ThreadCpuNanoseconds() noexcept { return ReadClock(CLOCK_THREAD_CPUTIME_ID).value_or(kUnknownCpu); }

MaybeInteger ThreadCpu() noexcept { return ReadClock(CLOCK_THREAD_CPUTIME_ID); }

}  // namespace crema::internal

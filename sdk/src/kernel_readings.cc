#include "kernel_readings.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <string_view>

#include "crema/internal/section_node.h"
#include "proc_file.h"

namespace crema {
namespace internal {
namespace {

constexpr int kMostDescriptors = 64;

std::string_view SecondField(std::string_view text) {
  const std::size_t blank = text.find(' ');
  return blank == std::string_view::npos ? std::string_view() : text.substr(blank + 1);
}

}  // namespace

void DescriptorBudget::Start() noexcept {
  rlimit limit{};
  int most = kMostDescriptors;
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur / 8 < kMostDescriptors) {
    most = static_cast<int>(limit.rlim_cur / 8);
  }
  left_.store(most - 1, std::memory_order_relaxed);  // one is the log's
}

bool DescriptorBudget::Take() noexcept {
  if (left_.fetch_sub(1, std::memory_order_relaxed) > 0) return true;
  GiveBack();
  return false;
}

void DescriptorBudget::GiveBack() noexcept { left_.fetch_add(1, std::memory_order_relaxed); }

long ProcReading::Read(DescriptorBudget* budget, char* buffer, int capacity) noexcept {
  if (descriptor_ == kUnreadable) return -1;
  if (descriptor_ == kNotTried) {
    descriptor_ = kNoDescriptor;
    if (budget->Take()) {
      const int fd = open(path_, O_RDONLY | O_CLOEXEC);
      if (fd >= 0) {
        descriptor_ = fd;
        struct stat status {};
        inode_ = fstat(fd, &status) == 0 ? status.st_ino : 0;
      } else {
        budget->GiveBack();
        if (errno != EMFILE && errno != ENFILE) descriptor_ = kUnreadable;
      }
    }
  }
  if (descriptor_ < 0) return ReadWholeFile(path_, buffer, static_cast<std::size_t>(capacity));
  const ssize_t size = pread(descriptor_, buffer, static_cast<std::size_t>(capacity) - 1, 0);
  buffer[size > 0 ? size : 0] = '\0';
  if (size <= 0) {  // the program closed it under us: not ours to close again
    descriptor_ = kNoDescriptor;
    budget->GiveBack();
  }
  return size;
}

bool ProcReading::StillOurs() const noexcept {
  // A program that closes all descriptors may have opened its own file under our number: never close that.
  struct stat status {};
  return fstat(descriptor_, &status) == 0 && status.st_ino == inode_;
}

void ProcReading::Close(DescriptorBudget* budget) noexcept {
  if (descriptor_ >= 0) {
    if (StillOurs()) close(descriptor_);
    budget->GiveBack();
  }
  descriptor_ = kNotTried;
}

std::optional<std::int64_t> KernelReadings::RssBytes(DescriptorBudget* budget) noexcept {
  static const std::int64_t kPageBytes = sysconf(_SC_PAGESIZE);
  char text[128];
  const long size = statm_.Read(budget, text, sizeof text);
  if (size <= 0) return std::nullopt;
  const auto pages = LeadingInteger(SecondField({text, static_cast<std::size_t>(size)}));
  if (!pages.has_value()) return std::nullopt;
  return *pages * kPageBytes;
}

std::optional<std::int64_t> KernelReadings::RunDelayNanoseconds(DescriptorBudget* budget) noexcept {
  char text[96];
  const long size = schedstat_.Read(budget, text, sizeof text);
  if (size <= 0) return std::nullopt;
  return LeadingInteger(SecondField({text, static_cast<std::size_t>(size)}));
}

std::optional<std::int64_t> KernelReadings::ReadBytes(DescriptorBudget* budget) noexcept {
  char text[256];
  const long size = ReadIo(budget, text, sizeof text);
  if (size <= 0) return std::nullopt;
  return IntegerAfter({text, static_cast<std::size_t>(size)}, "read_bytes:");
}

long KernelReadings::ReadIo(DescriptorBudget* budget, char* buffer, int capacity) noexcept {
  return io_.Read(budget, buffer, capacity);
}

void KernelReadings::Close(DescriptorBudget* budget) noexcept {
  statm_.Close(budget);
  schedstat_.Close(budget);
  io_.Close(budget);
}

std::int64_t ThreadCpuNanoseconds() noexcept {
  timespec time{};
  if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) != 0) return -1;
  return static_cast<std::int64_t>(time.tv_sec) * 1000000000 + time.tv_nsec;
}

}  // namespace internal
}  // namespace crema

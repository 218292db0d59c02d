#include "kernel/perf_counters.h"

#include <errno.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace crema {
namespace internal {
namespace {

struct Counter {
  const char* name;
  std::uint32_t type;
  std::uint64_t config;
};

constexpr Counter kCounterTable[PerfCounters::kCounters] = {
    {"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
    {"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
    {"cache_misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
    {"branch_misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES},
    {"context_switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES},
    {"cpu_migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS},
};

}  // namespace

std::optional<std::uint64_t> PerfEventId(int fd) noexcept {
  std::uint64_t id = 0;
  if (ioctl(fd, PERF_EVENT_IOC_ID, &id) != 0) return std::nullopt;
  return id;
}

int OpenPerfEvent(perf_event_attr* attributes) noexcept {
  return MoveUp(static_cast<int>(syscall(SYS_perf_event_open, attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC)),
                [](int fd) { return PerfEventId(fd).has_value(); });
}

const char* PerfCounters::Name(int counter) noexcept { return kCounterTable[counter].name; }

void PerfCounters::Open(DescriptorBudget* budget) noexcept {
  for (int counter = 0; counter < kCounters; ++counter) {
    if (descriptors_[counter] == kNotOpen && MayOpen()) OpenOne(counter, budget);
  }
}

void PerfCounters::OpenOne(int counter, DescriptorBudget* budget) noexcept {
  descriptors_[counter] = kRefused;
  int error = EMFILE;
  if (budget->Take()) {
    perf_event_attr attributes{};
    attributes.size = sizeof attributes;
    attributes.type = kCounterTable[counter].type;
    attributes.config = kCounterTable[counter].config;
    // Context switches happen in the kernel: excluding it would count none.
    attributes.exclude_kernel = attributes.type == PERF_TYPE_HARDWARE ? 1 : 0;
    attributes.exclude_hv = 1;
    attributes.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    int fd = OpenPerfEvent(&attributes);
    if (fd < 0 && attributes.exclude_kernel == 0 && (errno == EACCES || errno == EPERM)) {
      attributes.exclude_kernel = 1;  // perf_event_paranoid 2: what happens in user space is still allowed
      fd = OpenPerfEvent(&attributes);
    }
    const auto id = fd >= 0 ? PerfEventId(fd) : std::nullopt;
    if (id.has_value()) {
      descriptors_[counter] = fd;
      ids_[counter] = *id;
      return;
    }
    error = errno;  // where the number was the program's by then, nothing of ours is open
    budget->GiveBack();
  }
  if (refusal_ == 0) {
    refusal_ = error;
    refused_counter_ = counter;
  }
}

bool PerfCounters::IsOurs(int counter) const noexcept {
  return descriptors_[counter] >= 0 && PerfEventId(descriptors_[counter]) == ids_[counter];
}

bool PerfCounters::Read(int counter, DescriptorBudget* budget, TrackPerfCounters::Reading* reading) noexcept {
  if (descriptors_[counter] < 0) return false;
  if (!IsOurs(counter)) {  // the program closed it: not ours to read from, nor to close
    NoteLostDescriptor();
    descriptors_[counter] = kNotOpen;
    budget->GiveBack();
    return false;
  }
  std::uint64_t values[3] = {};
  if (read(descriptors_[counter], values, sizeof values) != static_cast<ssize_t>(sizeof values)) return false;
  *reading = {values[0], values[1], values[2], ids_[counter]};
  return true;
}

void PerfCounters::Close(DescriptorBudget* budget) noexcept {
  for (int counter = 0; counter < kCounters; ++counter) {
    if (descriptors_[counter] >= 0) {
      if (IsOurs(counter)) close(descriptors_[counter]);
      budget->GiveBack();
    }
    descriptors_[counter] = kNotOpen;
  }
  refusal_ = 0;
}

}  // namespace internal
}  // namespace crema

#include "gpu_sums.h"

#include <pthread.h>

#include <algorithm>
#include <cstring>

#include "cupti.h"

namespace crema::gpu {
namespace {

using internal::GpuCounts;
using internal::GpuKernelRow;
using internal::GpuPlace;
using internal::GpuRow;

constexpr std::uint32_t kMostRows = 8192;     ///< places between two lines of the log
constexpr std::uint32_t kMostKernels = 2048;  ///< kernels, each in each section
constexpr std::size_t kNameBytes = std::size_t{1} << 19;
constexpr std::uint32_t kLongestName = 1024;
constexpr char kOtherKernels[] = "(other)";  ///< those for which there is no room
constexpr std::uint32_t kCalls = 65536;      ///< calls whose kernels may still come
constexpr std::uint32_t kWaiting = 65536;    ///< kernels and copies whose calls may still come

/// One activity of a device.
struct Activity {
  std::uint32_t correlation = 0;
  std::uint32_t next = 0;  ///< while it waits: the next one of the same slot, + 1
  std::uint32_t kind = 0;
  CopyKind copy_kind{};
  std::uint64_t start_ns = 0;
  std::uint64_t end_ns = 0;
  std::uint64_t bytes = 0;
  const char* name = nullptr;
};

/// A call of the driver, found by its correlation number. They rise.
struct Call {
  std::uint32_t correlation = 0;
  std::uint32_t first_waiting = 0;  ///< of `g_waiting`, + 1: activities of a call that is not known yet
  bool is_known = false;            ///< its record came
  bool has_place = false;
  GpuPlace place;
};

/// Time in which at least one of the activities ran. They come in nearly any order: the latest gaps stay open.
class Union {
 public:
  void Add(std::uint64_t start, std::uint64_t end) {
    start = std::max(start, closed_until_);
    if (start >= end) return;
    int first = size_;
    while (first > 0 && spans_[first - 1].end >= start) --first;
    int after = first;
    while (after < size_ && spans_[after].start <= end) {
      start = std::min(start, spans_[after].start);
      end = std::max(end, spans_[after].end);
      ++after;
    }
    if (first == after && size_ == kMostSpans) {  // the earliest one makes room
      if (first == 0) {
        closed_ns_ += end - start;
        closed_until_ = end;
        return;
      }
      closed_ns_ += spans_[0].end - spans_[0].start;
      closed_until_ = spans_[0].end;
      std::copy(spans_ + 1, spans_ + size_, spans_);
      --size_;
      after = --first;
    }
    if (first == after) {
      std::copy_backward(spans_ + first, spans_ + size_, spans_ + size_ + 1);
      ++size_;
    } else {
      std::copy(spans_ + after, spans_ + size_, spans_ + first + 1);
      size_ -= after - first - 1;
    }
    spans_[first] = {start, end};
  }
  std::uint64_t Nanoseconds() const {
    std::uint64_t sum = closed_ns_;
    for (int i = 0; i < size_; ++i) sum += spans_[i].end - spans_[i].start;
    return sum;
  }

 private:
  struct Span {
    std::uint64_t start, end;
  };
  static constexpr int kMostSpans = 512;
  Span spans_[kMostSpans] = {};
  int size_ = 0;
  std::uint64_t closed_until_ = 0;
  std::uint64_t closed_ns_ = 0;
};

struct KernelSlot {
  std::uint32_t hash = 0;
  bool is_used = false;
  GpuKernelRow row;
};

/// All of it is guarded by the mutex. No thread of the program takes it, but one that writes a line.
pthread_mutex_t g_mutex = PTHREAD_MUTEX_INITIALIZER;
GpuRow g_rows[kMostRows];
bool g_row_is_used[kMostRows];
std::uint32_t g_row_count = 0;
KernelSlot g_kernels[kMostKernels];
std::uint32_t g_kernel_count = 0;
char g_names[kNameBytes];
std::size_t g_name_bytes = 0;
Call g_calls[kCalls];
Activity g_waiting[kWaiting];
std::uint32_t g_waiting_used = 0;  ///< never used before from here on
std::uint32_t g_first_free = 0;    ///< of `g_waiting`, + 1
Union g_busy;
std::uint64_t g_lost = 0;

class Lock {
 public:
  Lock() { pthread_mutex_lock(&g_mutex); }
  ~Lock() { pthread_mutex_unlock(&g_mutex); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
};

std::uint64_t Mix(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x9E3779B97F4A7C15u;
  return hash ^ (hash >> 32);
}

/// Where there is no room for another place, that of the process.
GpuCounts* CountsOf(GpuPlace place) {
  while (true) {
    auto slot = static_cast<std::uint32_t>(Mix(Mix(place.chunk, place.dataset), place.section) % kMostRows);
    for (; g_row_is_used[slot]; slot = (slot + 1) % kMostRows) {
      if (g_rows[slot].place == place) return &g_rows[slot].counts;
    }
    const bool is_process = place == GpuPlace();
    if (g_row_count < kMostRows - 2 || (is_process && g_row_count < kMostRows - 1)) {
      g_row_is_used[slot] = true;
      ++g_row_count;
      g_rows[slot] = {place, GpuCounts()};
      return &g_rows[slot].counts;
    }
    ++g_lost;
    place = GpuPlace();
  }
}

bool IsEmpty(const GpuCounts& counts) { return counts.launches == 0 && counts.copies == 0 && counts.wait_ns == 0; }

void AddKernel(const GpuPlace& place, const char* name, std::int64_t nanoseconds) {
  const std::size_t length = strnlen(name, kLongestName);
  std::uint64_t hash = Mix(place.dataset, place.section);
  for (std::size_t i = 0; i < length; ++i) hash = (hash ^ static_cast<unsigned char>(name[i])) * 1099511628211u;
  const auto short_hash = static_cast<std::uint32_t>(hash ^ (hash >> 32));
  std::uint32_t slot = short_hash % kMostKernels;
  for (; g_kernels[slot].is_used; slot = (slot + 1) % kMostKernels) {
    const GpuKernelRow& row = g_kernels[slot].row;
    if (g_kernels[slot].hash == short_hash && row.dataset == place.dataset && row.section == place.section &&
        row.name_length == length && std::memcmp(row.name, name, length) == 0)
      break;
  }
  if (!g_kernels[slot].is_used) {
    const bool is_other = name == kOtherKernels;
    if (!is_other && (g_kernel_count >= kMostKernels - 2 || length + sizeof kOtherKernels > kNameBytes - g_name_bytes))
      return AddKernel(GpuPlace(), kOtherKernels, nanoseconds);
    std::memcpy(g_names + g_name_bytes, name, length);
    g_kernels[slot].hash = short_hash;
    g_kernels[slot].is_used = true;
    g_kernels[slot].row = {
        place.dataset, place.section, g_names + g_name_bytes, static_cast<std::uint32_t>(length), 0, 0, 0};
    g_name_bytes += length;
    ++g_kernel_count;
  }
  GpuKernelRow& row = g_kernels[slot].row;
  ++row.count;
  row.total_ns += nanoseconds;
  row.max_ns = std::max(row.max_ns, nanoseconds);
}

void CountAt(const Call& call, const Activity& activity) {
  if (!call.has_place) ++g_lost;
  const auto nanoseconds = static_cast<std::int64_t>(activity.end_ns - activity.start_ns);
  GpuCounts* const counts = CountsOf(call.place);
  if (activity.kind == kConcurrentKernel) {
    ++counts->launches;
    counts->kernel_ns += nanoseconds;
    if (activity.name != nullptr) AddKernel(call.place, activity.name, nanoseconds);
    return;
  }
  ++counts->copies;
  counts->copy_ns += nanoseconds;
  const bool is_to_device = activity.copy_kind == kToDevice || activity.copy_kind == kToArray;
  const bool is_from_device = activity.copy_kind == kFromDevice || activity.copy_kind == kFromArray;
  (is_to_device     ? counts->to_device_bytes
   : is_from_device ? counts->from_device_bytes
                    : counts->on_device_bytes) += activity.bytes;
}

/// Counts what waits for this call, at its place or, if that is not known, at none.
void CountWaiting(Call* call) {
  for (std::uint32_t index = call->first_waiting; index != 0;) {
    Activity& activity = g_waiting[index - 1];
    const std::uint32_t next = activity.next;
    CountAt(*call, activity);
    activity.next = g_first_free;
    g_first_free = index;
    index = next;
  }
  call->first_waiting = 0;
}

/// The call of this number, in the place of an older one.
Call* CallOf(std::uint32_t correlation) {
  Call* const call = &g_calls[correlation % kCalls];
  if (call->correlation != correlation) {
    CountWaiting(call);
    *call = Call();
    call->correlation = correlation;
  }
  return call;
}

void Wait(Call* call, const Activity& activity) {
  std::uint32_t index = g_first_free;
  if (index != 0) {
    g_first_free = g_waiting[index - 1].next;
  } else if (g_waiting_used < kWaiting) {
    index = ++g_waiting_used;
  } else {
    return CountAt(Call(), activity);
  }
  g_waiting[index - 1] = activity;
  g_waiting[index - 1].next = call->first_waiting;
  call->first_waiting = index;
}

void AddActivity(const void* record, const DeviceFields& fields) {
  Activity activity;
  activity.kind = fields.kind;
  activity.correlation = ReadAt<std::uint32_t>(record, fields.correlation);
  activity.start_ns = ReadAt<std::uint64_t>(record, fields.start);
  activity.end_ns = ReadAt<std::uint64_t>(record, fields.end);
  if (fields.bytes != kNoField) activity.bytes = ReadAt<std::uint64_t>(record, fields.bytes);
  if (fields.copy_kind != kNoField) activity.copy_kind = ReadAt<CopyKind>(record, fields.copy_kind);
  if (fields.name != kNoField) activity.name = ReadAt<const char*>(record, fields.name);
  if (activity.copy_kind == kOnHost) return;
  if (activity.start_ns == 0 || activity.end_ns < activity.start_ns) {  // it had not ended when it had to be delivered
    ++g_lost;
    return;
  }
  g_busy.Add(activity.start_ns, activity.end_ns);
  Call* const call = CallOf(activity.correlation);
  return call->is_known ? CountAt(*call, activity) : Wait(call, activity);
}

void AddCall(const ApiRecord& record) {
  const FunctionRange* const function = FindFunctionRange(record.function);
  if (function == nullptr || record.end < record.start) return;
  std::uint64_t blocked_ns = 0;
  Call* const call = CallOf(record.correlation);
  call->is_known = true;
  call->has_place = FindCall(record.thread, record.start, record.end, &call->place, &blocked_ns);
  CountWaiting(call);
  if (!function->waits) return;
  GpuCounts* const counts = CountsOf(call->place);
  const std::uint64_t wait_ns = record.end - record.start;
  counts->wait_ns += static_cast<std::int64_t>(wait_ns);
  counts->wait_cpu_ns += static_cast<std::int64_t>(wait_ns - std::min(wait_ns, blocked_ns));
  counts->wait_cpu_is_known = counts->wait_cpu_is_known && call->has_place;
}

}  // namespace

void AddRecord(const void* record) noexcept {
  const Lock lock;
  if (KindOf(record) == kDriver) AddCall(ReadAt<ApiRecord>(record, 0));
  for (const DeviceFields& fields : kDeviceFields) {
    if (fields.kind == KindOf(record)) AddActivity(record, fields);
  }
}

void AddLost(std::uint64_t records) noexcept {
  const Lock lock;
  g_lost += records;
}

void GiveUpWaiting() noexcept {
  const Lock lock;
  for (Call& call : g_calls) CountWaiting(&call);
}

void ReadTotals(std::int64_t* busy_ns, std::uint64_t* lost) noexcept {
  const Lock lock;
  *busy_ns = static_cast<std::int64_t>(g_busy.Nanoseconds());
  *lost = g_lost;
}

void TakeRows(bool (*row)(void* data, const GpuRow& row), bool (*kernel)(void* data, const GpuKernelRow& row),
              void* data) noexcept {
  const Lock lock;
  bool has_room = true;
  for (std::uint32_t i = 0; i < kMostRows && has_room; ++i) {
    if (!g_row_is_used[i] || IsEmpty(g_rows[i].counts)) continue;
    has_room = row(data, g_rows[i]);
    if (has_room) g_rows[i].counts = GpuCounts();
  }
  if (has_room) {  // their places are of chunks that ended, most of them
    std::fill(g_row_is_used, g_row_is_used + kMostRows, false);
    g_row_count = 0;
  }
  for (std::uint32_t i = 0; i < kMostKernels && has_room; ++i) {
    GpuKernelRow& taken = g_kernels[i].row;
    if (!g_kernels[i].is_used || taken.count == 0) continue;
    has_room = kernel(data, taken);
    if (has_room) taken.count = 0, taken.total_ns = taken.max_ns = 0;
  }
  if (!has_room) return;
  for (KernelSlot& slot : g_kernels) slot.is_used = false;
  g_kernel_count = 0;
  g_name_bytes = 0;
}

}  // namespace crema::gpu

#include "process/wait_sampler.h"

#include <errno.h>

#include <algorithm>
#include <cstdio>

#include "chunk/open_work.h"
#include "chunk/thread_state.h"
#include "kernel/proc_file.h"
#include "process/process_recorder.h"
#include "storage/own_memory.h"

namespace crema {
namespace internal {
namespace {

/// How many threads one look is at, and what all looks may cost of a core. Where more threads are at work, they are
/// looked at by turns.
struct Effort {
  int most_threads;
  double share_of_core;
};
constexpr Effort kUnasked = {8, 0.0008};
constexpr Effort kAsked = {32, 0.02};

/// Whether the thread, which is in no system call, waits for the memory that it touched: by the kernel function that it
/// waits in (proc(5), `wchan`).
bool WaitsForPage(const char* path_of_wchan) {
  char name[128];
  const long size = ReadWholeFile(path_of_wchan, name, sizeof name);
  const std::string_view text(name, size > 0 ? static_cast<std::size_t>(size) : 0);
  for (const std::string_view part : {"folio", "page", "swap", "fault", "filemap"}) {
    if (text.find(part) != std::string_view::npos) return true;
  }
  return false;
}

}  // namespace

void WaitSampler::Start(double hertz, bool is_asked) noexcept {
  hertz_ = hertz;
  if (hertz <= 0) return;
  const Effort& effort = is_asked ? kAsked : kUnasked;
  most_threads_ = effort.most_threads;
  share_of_core_ = effort.share_of_core;
  seconds_a_look_ = 0;
  filters_ = SeccompFilters();
  random_ = static_cast<std::uint64_t>(MonotonicNanoseconds()) | 1;
}

double WaitSampler::NextDistance() noexcept {
  random_ = random_ * 6364136223846793005u + 1442695040888963407u;
  const double share = static_cast<double>(random_ >> 40) / static_cast<double>(1 << 24);
  return (0.5 + share) * std::max(1 / hertz_, seconds_a_look_ / share_of_core_);
}

void WaitSampler::AddCost(std::int64_t cpu_ns) noexcept {
  constexpr double kWeight = 0.2;  // one look that met a page fault says little of the next ones
  const double seconds = static_cast<double>(cpu_ns) * 1e-9;
  seconds_a_look_ += (seconds_a_look_ == 0 ? 1 : kWeight) * (seconds - seconds_a_look_);
}

std::string_view WaitSampler::refusal() const noexcept {
  switch (error_.load(std::memory_order_relaxed)) {
    case 0:
      return {};
    case ENOENT:
      return "this kernel does not show what a thread waits for";
    default:
      return "the kernel does not let this process see what its threads wait for";
  }
}

std::string_view WaitSampler::Object(std::uint32_t number) const noexcept {
  return number < object_count_.load(std::memory_order_acquire) ? objects_[number] : std::string_view();
}

std::uint32_t WaitSampler::NumberOf(std::string_view object) noexcept {
  const std::uint32_t count = object_count_.load(std::memory_order_relaxed);
  for (std::uint32_t number = 1; number < count; ++number) {
    if (objects_[number] == object) return number;
  }
  if (object.empty() || count > kMostObjects || !texts_.Copy(object, &objects_[count])) return 0;
  object_count_.store(count + 1, std::memory_order_release);
  return count;
}

void WaitSampler::Look(Recorder* recorder) noexcept {
  if (hertz_ <= 0 || error_.load(std::memory_order_relaxed) != 0) return;
  const auto is_at_work = [](const ThreadState* thread) { return thread->open_use.load() != 0; };
  std::uint64_t at_work = 0;
  for (ThreadState* thread = recorder->threads.load(std::memory_order_acquire); thread != nullptr;
       thread = thread->next) {
    at_work += is_at_work(thread) ? 1 : 0;
  }
  if (at_work == 0) return;
  // The SDK asked for the target of a link as it began; a filter that came since may not list that call.
  may_describe_ = filters_ >= 0 && SeccompFilters() == filters_;
  const auto most = static_cast<std::uint64_t>(most_threads_);
  first_ = at_work > most ? (first_ + most) % at_work : 0;
  std::uint64_t index = 0;
  for (ThreadState* thread = recorder->threads.load(std::memory_order_acquire); thread != nullptr;
       thread = thread->next) {
    if (!is_at_work(thread)) continue;
    if ((index++ + at_work - first_) % at_work < most) LookAt(thread);
  }
}

std::uint32_t WaitSampler::ObjectOf(const BlockedCall& call, bool* is_socket) noexcept {
  constexpr std::int64_t kBetweenSocketsNs = 1000000000;
  if (call.descriptor < 0) return NumberOf(call.call);
  if (!may_describe_) return 0;
  std::uint64_t socket = 0;
  const std::size_t described = DescribeDescriptor(call.descriptor, target_, sizeof target_, &socket);
  *is_socket = socket != 0;
  if (socket == 0) return NumberOf({target_, described});
  for (const Socket& known : sockets_) {
    if (known.inode == socket) return known.object;
  }
  const std::int64_t now_ns = MonotonicNanoseconds();
  if (now_ns < next_socket_ns_) return NumberOf("socket");
  next_socket_ns_ = now_ns + kBetweenSocketsNs;
  Socket& found = sockets_[socket_count_++ % kSockets];
  found = {socket, NumberOf({target_, DescribeSocket(socket, target_, sizeof target_)})};
  return found.object;
}

void WaitSampler::LookAt(ThreadState* thread) noexcept {
  WaitTable* table = thread->waits.load(std::memory_order_relaxed);
  if (table == nullptr) {
    table = MakeOwn<WaitTable>();
    if (table == nullptr) return;
    thread->waits.store(table, std::memory_order_release);
  }
  // The section before the wait: a thread that goes on meanwhile may be in another one afterwards.
  const std::uint64_t use = thread->open_use.load();
  const SectionNode* const section = thread->current.load(std::memory_order_acquire);
  char path[64];
  char text[256];
  snprintf(path, sizeof path, "/proc/self/task/%lld/syscall", static_cast<long long>(thread->tid));
  const long size = ReadWholeFile(path, text, sizeof text);
  if (size <= 0) {
    const int error = errno;
    // A thread that has ended has no such file either.
    const bool has_none = error == ENOENT && ReadWholeFile("/proc/thread-self/syscall", text, sizeof text) <= 0;
    const bool is_refused = error == EACCES || error == EPERM || has_none;
    if (is_refused) error_.store(error, std::memory_order_relaxed);
    return;
  }
  BlockedCall call;
  const bool is_parsed = ParseBlockedCall({text, static_cast<std::size_t>(size)}, &call);
  if (!is_parsed || use == 0 || thread->open_use.load() != use) return;
  if (call.is_in_no_call) {
    snprintf(path, sizeof path, "/proc/self/task/%lld/wchan", static_cast<long long>(thread->tid));
    if (WaitsForPage(path)) call.kind = WaitKind::kPageFault;
  }
  bool is_socket = false;
  const std::uint32_t object = ObjectOf(call, &is_socket);
  if (is_socket && call.kind != WaitKind::kOther) call.kind = WaitKind::kNetwork;
  looks_.fetch_add(1, std::memory_order_relaxed);
  WaitCell* free = nullptr;
  for (WaitCell& cell : table->cells) {
    if (cell.count.load(std::memory_order_acquire) == 0) {
      if (free == nullptr) free = &cell;
      continue;
    }
    if (cell.use == use && cell.section == section && cell.kind == call.kind && cell.object == object) {
      cell.count.fetch_add(1, std::memory_order_acq_rel);
      return;
    }
  }
  if (free == nullptr) return;
  free->use = use;
  free->section = section;
  free->kind = call.kind;
  free->object = object;
  free->count.store(1, std::memory_order_release);
}

void TakeWaits(ThreadState* thread, OpenWork* frame, std::string_view prefix) noexcept {
  WaitTable* const table = thread->waits.load(std::memory_order_acquire);
  Recorder* const recorder = table == nullptr ? nullptr : CurrentRecorder();
  if (recorder == nullptr) return;
  for (WaitCell& cell : table->cells) {
    if (cell.count.load(std::memory_order_acquire) == 0) continue;
    bool is_open_around = false;
    for (const OpenWork* outer = frame->outer; outer != nullptr; outer = outer->outer) {
      is_open_around = is_open_around || outer->use == cell.use;
    }
    if (is_open_around) continue;
    const std::uint64_t use = cell.use;
    const SectionNode* const section = cell.section;
    const WaitKind kind = cell.kind;
    const std::uint32_t object = cell.object;
    const std::uint32_t count = cell.count.exchange(0, std::memory_order_acq_rel);
    if (use != frame->use) continue;  // it came too late for a frame that is over
    frame->data.AddWait(prefix, section, NameOf(kind), recorder->waits.Object(object), count);
  }
}

}  // namespace internal
}  // namespace crema

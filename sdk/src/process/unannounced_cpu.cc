// UnannouncedCpu: which chunk used the CPU time of threads that no guard announced, and of child processes.
#include <stdio.h>

#include "chunk/thread_state.h"
#include "process/process_recorder.h"

namespace crema::internal {
namespace {

constexpr auto kRelaxed = std::memory_order_relaxed;
constexpr std::int64_t kLookNs = 20000000;  // for children; it takes some 5 us
/// The clocks of one reading lie as far apart, if their reader keeps its CPU.
constexpr std::int64_t kReadingNs = 100000;
/// A chunk that begins so soon after another has ended needs no reading of its own.
constexpr std::int64_t kPauseNs = 20000;

/// Adds to a sum that may be `kNeverAlone`.
void Add(std::atomic<std::int64_t>* sum, MaybeInteger more) {
  if (more.has_value()) sum->store(std::max<std::int64_t>(sum->load(kRelaxed), 0) + std::max<std::int64_t>(*more, 0));
}

/// The chunk that is open where only one is; null where it is on no thread now.
ChunkState* OnlyChunk(const Recorder& recorder) {
  for (ThreadState* thread = recorder.first_thread(); thread != nullptr; thread = thread->next) {
    if (ChunkState* chunk = thread->OpenChunk()) return chunk;
  }
  return nullptr;
}

}  // namespace

MaybeInteger ChildrenCpu::Read(std::int64_t pid, std::int64_t now_ns, DescriptorBudget* budget) noexcept {
  if (now_ns >= look_ns_) {
    look_ns_ = now_ns + kLookNs;
    if (path_[0] == '\0') snprintf(path_, sizeof path_, "/proc/self/task/%lld/children", static_cast<long long>(pid));
    Look(budget);
  }
  MaybeInteger ended_ns = CpuOfEndedChildren();
  std::int64_t living_ns = 0;
  for (int i = 0; count_ > 0 && i < 3; ++i) {
    living_ns = ReadLiving();
    // One that was waited for between both readings is in neither, or in both.
    const MaybeInteger before_ns = ended_ns;
    ended_ns = CpuOfEndedChildren();
    if (ended_ns == before_ns) break;
  }
  if (!ended_ns.has_value()) return std::nullopt;
  gone_ns_ += std::max<std::int64_t>(0, last_ns_ - (*ended_ns + living_ns + gone_ns_));
  last_ns_ = *ended_ns + living_ns + gone_ns_;
  return last_ns_;
}

void ChildrenCpu::Look(DescriptorBudget* budget) noexcept {
  char text[256];
  if (list_.Read(budget, text, sizeof text) <= 0) return;
  for (const char* at = text; count_ < kMostChildren; ++at) {
    std::int64_t child = 0;
    for (; *at >= '0' && *at <= '9'; ++at) child = 10 * child + (*at - '0');
    if (*at != ' ') return;  // the end, or a number that the text cuts
    const auto is_it = [child](const Child& known) { return known.pid == child; };
    if (std::none_of(children_, children_ + count_, is_it)) children_[count_++] = {child, 0};
  }
}

std::int64_t ChildrenCpu::ReadLiving() noexcept {
  std::int64_t sum_ns = 0;
  int kept = 0;
  for (int i = 0; i < count_; ++i) {
    const MaybeInteger cpu_ns = CpuOfProcess(children_[i].pid);
    // A clock that went back is another process's, which has the number now.
    if (!cpu_ns.has_value() || *cpu_ns < children_[i].cpu_ns) continue;
    children_[kept++] = {children_[i].pid, *cpu_ns};
    sum_ns += *cpu_ns;
  }
  count_ = kept;
  return sum_ns;
}

MaybeInteger UnannouncedCpu::ReadOnce(const Recorder& recorder) noexcept {
  MaybeInteger announced_ns = ended_ns_.load(kRelaxed);
  bool is_main_known = false;
  int threads = 0;
  for (ThreadState* thread = recorder.first_thread(); thread != nullptr; thread = thread->next) {
    const std::int64_t from_ns = thread->cpu_known_from_ns.load(std::memory_order_acquire);
    if (from_ns == kCpuNotKnown) continue;
    if (++threads > kMostThreads) return std::nullopt;
    is_main_known = is_main_known || thread->tid == recorder.pid;
    const MaybeInteger known_ns = CpuOfThread(thread->tid);
    if (known_ns.has_value()) AddTo(&announced_ns, *known_ns - from_ns);
  }
  for (const std::int64_t tid : {own_thread_.load(kRelaxed), is_main_known ? 0 : recorder.pid}) {
    if (tid != 0) AddTo(&announced_ns, CpuOfThread(tid).value_or(0));
  }
  // After the threads': the kernel's sum holds what a running thread used until its last tick, up to 10 ms ago, or
  // until its clock was read.
  return Difference(ProcessCpuNanoseconds(), announced_ns);
}

MaybeInteger UnannouncedCpu::Read(const Recorder& recorder) noexcept {
  constexpr int kMostTries = 3;
  MaybeInteger cpu_ns;
  for (int i = 0; i < kMostTries; ++i) {
    const std::int64_t begin_ns = MonotonicNanoseconds();
    cpu_ns = ReadOnce(recorder);
    // This thread may lose its CPU between two clocks, while the others go on.
    if (MonotonicNanoseconds() - begin_ns < kReadingNs) break;
  }
  return cpu_ns;
}

void UnannouncedCpu::Give(MaybeInteger cpu_ns, MaybeInteger children_ns) noexcept {
  const std::int64_t now_ns = MonotonicNanoseconds();
  MaybeInteger more_ns = Difference(cpu_ns, last_cpu_ns_);
  if (more_ns.has_value()) {
    *more_ns += owed_ns_;
    owed_ns_ = std::min<std::int64_t>(*more_ns, 0);
    *more_ns -= owed_ns_;
  }
  const bool has_come = thread_came_.exchange(false);
  const bool is_not_known = was_missed_.exchange(false) || (has_come && open_ == OpenThen::kOneChunk);
  OpenThen open = is_not_known ? OpenThen::kSeveral : open_;
  if (open == OpenThen::kOneChunk) {
    // It may have ended since, and its frame may hold another by now.
    const std::uint64_t generation = chunk_->generation.load();
    const bool is_same = generation == generation_ || generation == generation_ + 1;
    if (is_same) {
      Add(&chunk_->unannounced_cpu_ns, Difference(more_ns, Background(now_ns - last_time_ns_)));
      Add(&chunk_->children_cpu_ns, Difference(children_ns, last_children_ns_));
    } else {
      open = OpenThen::kSeveral;
    }
  }
  UnannouncedTime& time = times_[static_cast<int>(open)];
  if (more_ns.has_value()) {
    time.cpu_ns += *more_ns;
    time.wall_ns += now_ns - last_time_ns_;
    if (open == OpenThen::kNothing) LearnBackground(*more_ns, now_ns - last_time_ns_);
  }
  last_cpu_ns_ = cpu_ns;
  last_children_ns_ = children_ns;
  last_time_ns_ = now_ns;
}

void UnannouncedCpu::LearnBackground(std::int64_t cpu_ns, std::int64_t wall_ns) noexcept {
  // After its work a library's thread spins for more, as those of OpenBLAS do for some 25 ms. So at first the threads
  // of the chunks may go on.
  const std::int64_t spun_ns = std::min<std::int64_t>(30000000, wall_ns / 2);
  if (wall_ns < 15000000) return;  // the rate of a shorter pause says nothing
  background_.cpu_ns += cpu_ns - static_cast<std::int64_t>(times_[static_cast<int>(OpenThen::kOneChunk)].Rate() *
                                                           static_cast<double>(spun_ns));
  background_.wall_ns += wall_ns - spun_ns;
}

std::int64_t UnannouncedCpu::Background(std::int64_t wall_ns) const noexcept {
  return static_cast<std::int64_t>(std::max(0.0, background_.Rate()) * static_cast<double>(wall_ns));
}

void UnannouncedCpu::Settle(Recorder* recorder, ChunkState* begun) noexcept {
  const std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return was_missed_.store(true);
  const bool is_next = begun != nullptr && open_ == OpenThen::kNothing && last_cpu_ns_.has_value() &&
                       MonotonicNanoseconds() - last_time_ns_ < kPauseNs;
  if (!is_next) Give(Read(*recorder), children_.Read(recorder->pid, MonotonicNanoseconds(), &recorder->descriptors));
  const std::int64_t open_chunks = recorder->open_chunks.load();
  chunk_ = nullptr;
  if (open_chunks == 1) chunk_ = begun != nullptr ? begun : OnlyChunk(*recorder);
  generation_ = chunk_ != nullptr ? chunk_->generation.load() : 0;
  const bool is_open = (generation_ & 1) != 0;
  open_ = open_chunks <= 0 ? OpenThen::kNothing : is_open ? OpenThen::kOneChunk : OpenThen::kSeveral;
}

void UnannouncedCpu::JoinThread(Recorder* recorder, ThreadState* thread) noexcept {
  const MaybeInteger own_ns = ThreadCpu();
  if (!own_ns.has_value()) return;
  const bool is_main = thread->tid == recorder->pid;  // whose CPU time counts as announced in any case
  if (!is_main) TakeOut(*recorder, *own_ns);
  thread->cpu_known_from_ns.store(is_main ? 0 : *own_ns, std::memory_order_release);
}

void UnannouncedCpu::TakeOut(const Recorder& recorder, std::int64_t own_ns) noexcept {
  const std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
  const MaybeInteger cpu_ns = lock.owns_lock() ? Read(recorder) : std::nullopt;
  // What it computed until now was set-up of work that is yet to begin: no chunk's that is open. It is not known how
  // much of it was before the last reading.
  const MaybeInteger more_ns = Difference(cpu_ns, last_cpu_ns_);
  if (!more_ns.has_value() || *more_ns + kReadingNs < own_ns) return thread_came_.store(true);
  Give(*cpu_ns - own_ns, last_children_ns_);
  last_cpu_ns_ = cpu_ns;
}

void UnannouncedCpu::LeaveThread(ThreadState* thread, std::int64_t pid) noexcept {
  const std::lock_guard<std::mutex> lock(mutex_);
  const std::int64_t from_ns = thread->cpu_known_from_ns.exchange(kCpuNotKnown);
  const MaybeInteger cpu_ns = ThreadCpu();
  if (thread->tid == pid) return;  // it counts as announced in any case
  if (from_ns != kCpuNotKnown && cpu_ns.has_value()) ended_ns_.fetch_add(*cpu_ns - from_ns, kRelaxed);
}

UnannouncedTime UnannouncedCpu::Time(OpenThen open) noexcept {
  const std::lock_guard<std::mutex> lock(mutex_);
  return times_[static_cast<int>(open)];
}

}  // namespace crema::internal

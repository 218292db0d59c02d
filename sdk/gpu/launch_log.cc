#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

#include "crema/internal/platform.h"
#include "gpu_sums.h"

namespace crema::gpu {
namespace {

constexpr auto kRelaxed = std::memory_order_relaxed;
constexpr std::uint64_t kNotes = 32768;
/// The thread's CPU time is read this often at most; between two readings it was on a CPU.
constexpr std::uint64_t kCpuReadingNanoseconds = 10000;
/// A pause in which the thread was off the CPU for so long is worth a note: it may have waited for the device.
constexpr std::uint64_t kPauseNanoseconds = 10000;
/// What a thread noted is kept so long after its end: the records of its calls may still come.
constexpr std::uint64_t kKeptNanoseconds = 5000000000;
constexpr int kMostThreads = 1024;

struct LaunchNote {
  std::uint64_t time_ns = 0;
  internal::GpuPlace place;
  std::uint64_t pause_ns = 0;      ///< since the reading before, if the thread was off the CPU in it; else 0
  std::uint64_t pause_cpu_ns = 0;  ///< the thread's CPU time in it
};

/// Only its thread writes; who reads checks afterwards that nothing was overwritten meanwhile.
struct ThreadLog {
  std::atomic<std::uint32_t> thread{0};
  std::atomic<std::uint64_t> free_since_ns{0};  ///< its thread ended; 0: in use
  std::atomic<std::uint64_t> written{0};        ///< notes so far
  std::uint64_t last_ns = 0;                    ///< of the last reading, noted or not
  internal::GpuPlace place;                     ///< the same
  std::uint64_t cpu_ns = 0;                     ///< at the last reading
  std::uint64_t cpu_read_at_ns = 0;
  std::uint64_t cpu_read_ns = 0;
  LaunchNote notes[kNotes];
};

std::atomic<internal::GpuPlace (*)()> g_place_of_thread{nullptr};
std::atomic<ThreadLog*> g_logs[kMostThreads];
std::atomic<std::uint64_t> g_readings{0};
std::atomic<bool> g_is_over{false};
CREMA_THREAD_LOCAL ThreadLog* t_log = nullptr;
CREMA_THREAD_LOCAL bool t_has_no_log = false;
CREMA_THREAD_LOCAL bool t_reads = false;
pthread_key_t g_end_key;
pthread_once_t g_key_once = PTHREAD_ONCE_INIT;
bool g_has_key = false;

std::uint64_t Nanoseconds(clockid_t clock) { return static_cast<std::uint64_t>(internal::ClockNanoseconds(clock)); }

void GiveBack(void* log) {
  t_log = nullptr;
  t_has_no_log = true;
  static_cast<ThreadLog*>(log)->free_since_ns.store(Nanoseconds(CLOCK_MONOTONIC), std::memory_order_release);
}

void MakeKey() { g_has_key = pthread_key_create(&g_end_key, GiveBack) == 0; }

ThreadLog* TakeFree(std::uint64_t now_ns) {
  for (std::atomic<ThreadLog*>& slot : g_logs) {
    ThreadLog* const log = slot.load(std::memory_order_acquire);
    if (log == nullptr) return nullptr;
    std::uint64_t since_ns = log->free_since_ns.load(kRelaxed);
    if (since_ns != 0 && since_ns + kKeptNanoseconds < now_ns &&
        log->free_since_ns.compare_exchange_strong(since_ns, 0))
      return log;
  }
  return nullptr;
}

/// Memory of the kernel's, which it gives page by page as notes come.
ThreadLog* MakeNew() {
  void* const memory =
      mmap(nullptr, sizeof(ThreadLog), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  auto* const log = static_cast<ThreadLog*>(memory);  // all of it is 0, as its constructor would have it
  log->thread.store(static_cast<std::uint32_t>(syscall(SYS_gettid)), kRelaxed);
  for (std::atomic<ThreadLog*>& slot : g_logs) {
    if (ThreadLog* none = nullptr; slot.compare_exchange_strong(none, log, std::memory_order_acq_rel)) return log;
  }
  munmap(memory, sizeof(ThreadLog));
  return nullptr;
}

CREMA_NEVER_INLINE ThreadLog* LogOfThread(std::uint64_t now_ns) {
  const internal::KeptErrno kept_errno;
  t_has_no_log = true;  // a signal's handler may come here meanwhile
  pthread_once(&g_key_once, MakeKey);
  ThreadLog* log = TakeFree(now_ns);
  if (log != nullptr) {
    log->thread.store(static_cast<std::uint32_t>(syscall(SYS_gettid)), kRelaxed);
    log->written.store(0);
    log->last_ns = 0;
    log->cpu_read_at_ns = 0;
  } else {
    log = MakeNew();
  }
  if (log != nullptr && g_has_key) pthread_setspecific(g_end_key, log);
  t_has_no_log = log == nullptr;
  return t_log = log;
}

void ReadCpu(ThreadLog* log, std::uint64_t now_ns) {
  if (now_ns - log->cpu_read_at_ns >= kCpuReadingNanoseconds) {
    log->cpu_read_ns = Nanoseconds(CLOCK_THREAD_CPUTIME_ID);
    log->cpu_read_at_ns = now_ns;
  }
  log->cpu_ns = log->cpu_read_ns + (now_ns - log->cpu_read_at_ns);
}

void Note(ThreadLog* log, std::uint64_t now_ns) {
  internal::GpuPlace (*const place_of_thread)() = g_place_of_thread.load(std::memory_order_acquire);
  const internal::GpuPlace place = place_of_thread == nullptr ? internal::GpuPlace() : place_of_thread();
  const std::uint64_t cpu_before_ns = log->cpu_ns;
  ReadCpu(log, now_ns);
  const std::uint64_t written = log->written.load(kRelaxed);
  LaunchNote note = {now_ns, place, now_ns - log->last_ns, 0};
  note.pause_cpu_ns = log->cpu_ns > cpu_before_ns ? log->cpu_ns - cpu_before_ns : 0;
  if (written == 0 || note.pause_ns < note.pause_cpu_ns + kPauseNanoseconds) note.pause_ns = note.pause_cpu_ns = 0;
  if (written == 0 || note.pause_ns != 0 || !(place == log->place)) {
    log->notes[written % kNotes] = note;
    log->written.store(written + 1, std::memory_order_release);
  }
  log->last_ns = now_ns;
  log->place = place;
}

bool FindIn(const ThreadLog& log, std::uint64_t start_ns, std::uint64_t end_ns, internal::GpuPlace* place,
            std::uint64_t* blocked_ns) {
  const std::uint64_t written = log.written.load(std::memory_order_acquire);
  const std::uint64_t oldest = written > kNotes ? written - kNotes + 1 : 0;  // the one before may just be overwritten
  std::uint64_t after = oldest;                                              // the first note that is later
  for (std::uint64_t end = written; after < end;) {
    if (const std::uint64_t middle = after + (end - after) / 2; log.notes[middle % kNotes].time_ns <= end_ns) {
      after = middle + 1;
    } else {
      end = middle;
    }
  }
  if (after == oldest) return false;
  *place = log.notes[(after - 1) % kNotes].place;
  *blocked_ns = 0;
  for (std::uint64_t i = after; i > oldest; --i) {
    const LaunchNote& note = log.notes[(i - 1) % kNotes];
    if (note.time_ns <= start_ns) break;
    if (note.time_ns - note.pause_ns >= start_ns) *blocked_ns += note.pause_ns - note.pause_cpu_ns;
    after = i;
  }
  std::atomic_thread_fence(std::memory_order_acquire);
  return log.written.load(kRelaxed) - (after - 1) < kNotes;
}

}  // namespace

bool SetPlaceOfThread(internal::GpuPlace (*place_of_thread)()) noexcept {
  internal::GpuPlace (*none)() = nullptr;
  return g_place_of_thread.compare_exchange_strong(none, place_of_thread) || none == place_of_thread;
}

std::uint64_t NoteAndReadClock() noexcept {
  if (CREMA_UNLIKELY(g_is_over.load(kRelaxed))) return Nanoseconds(CLOCK_REALTIME);
  const std::uint64_t now_ns = Nanoseconds(CLOCK_MONOTONIC);
  g_readings.store(g_readings.load(kRelaxed) + 1, kRelaxed);  // how many does not matter: whether there was one does
  if (t_has_no_log || t_reads) return now_ns;
  t_reads = true;
  ThreadLog* const log = CREMA_LIKELY(t_log != nullptr) ? t_log : LogOfThread(now_ns);
  if (log != nullptr) Note(log, now_ns);
  t_reads = false;
  return now_ns;
}

void StopNoting() noexcept { g_is_over.store(true, kRelaxed); }

std::uint64_t ClockReadings() noexcept { return g_readings.load(kRelaxed); }

bool FindCall(std::uint32_t thread, std::uint64_t start_ns, std::uint64_t end_ns, internal::GpuPlace* place,
              std::uint64_t* blocked_ns) noexcept {
  for (std::atomic<ThreadLog*>& slot : g_logs) {
    ThreadLog* const log = slot.load(std::memory_order_acquire);
    if (log == nullptr) return false;
    if (log->thread.load(kRelaxed) == thread && FindIn(*log, start_ns, end_ns, place, blocked_ns)) return true;
  }
  return false;
}

}  // namespace crema::gpu

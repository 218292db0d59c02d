// The library libcrema_gpu.so: CUDA's driver loads it in cuInit, where the environment variable CUDA_INJECTION64_PATH
// names it, and calls `InitializeInjection` (CUPTI, "CUPTI Injection"). It has no part of the C++ runtime.
#include <dlfcn.h>
#include <elf.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <initializer_list>

#include "crema/internal/platform.h"
#include "cupti.h"
#include "gpu_sums.h"
#include "process/gpu_counter.h"
#include "process/loaded_objects.h"
#include "site_table.h"

namespace crema::gpu {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 18;
constexpr int kKeptBuffers = 16;
constexpr int kLongestFlushSeconds = 1;
constexpr timespec kFlushInterval = {0, 200000000};
/// The device may complete work long after the last call.
constexpr int kFlushesAfterCalls = 20;
/// Twice as many as the calls that fill a buffer. If none was needed for so long, records go to somebody else.
constexpr std::uint64_t kMostReadingsWithoutBuffer = 4 * kBufferBytes / sizeof(ApiRecord);

constexpr char kRegisterCallbacks[] = "cuptiActivityRegisterCallbacks";
constexpr char kTakenOver[] =
    "another user of CUPTI (a profiler, as torch.profiler) took over; crema does not count beside it";
constexpr char kOtherUser[] = "another user of CUPTI (a profiler) was there first; crema does not count beside it";
constexpr char kNoCupti[] =
    "neither libcupti.so.13 nor libcupti.so.12 was found; it comes with the CUDA toolkit, or as the package "
    "nvidia-cuda-cupti of PyPI; put its directory into LD_LIBRARY_PATH";
constexpr char kRefused[] = "CUPTI refused to record: another profiler may run, or the driver does not permit it";

Cupti g_cupti;
const char* g_cupti_name = "";
std::atomic<bool> g_has_begun{false};
std::atomic<bool> g_is_counting{false};
std::atomic<const char*> g_why_not{nullptr};
std::atomic<std::uint64_t> g_until_ns{0};
std::atomic<std::uint64_t> g_last_buffer_ns{0};
std::atomic<std::uint64_t> g_readings_at_buffer{0};
std::atomic<std::uint8_t*> g_kept_buffers[kKeptBuffers];
std::uint32_t g_version = 0;
pid_t g_pid = 0;
/// Held while the list of loaded files is read, and over a fork: ld.so's lock of that list is never free in the child
/// if another thread held it.
pthread_mutex_t g_list_mutex = PTHREAD_MUTEX_INITIALIZER;

std::uint64_t Now() { return static_cast<std::uint64_t>(internal::MonotonicNanoseconds()); }

void NoteBuffer() {
  g_last_buffer_ns.store(Now(), std::memory_order_relaxed);
  g_readings_at_buffer.store(ClockReadings(), std::memory_order_relaxed);
}

/// Pages of the kernel's: the thread that launches may be one whose allocations are counted.
void Request(std::uint8_t** buffer, std::size_t* size, std::size_t* most_records) {
  *most_records = 0;
  *size = 0;
  *buffer = nullptr;
  for (auto& kept : g_kept_buffers) {
    if (*buffer == nullptr) *buffer = kept.exchange(nullptr);
  }
  if (*buffer == nullptr) {
    void* const pages = mmap(nullptr, kBufferBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages != MAP_FAILED) *buffer = static_cast<std::uint8_t*>(pages);
  }
  if (*buffer != nullptr) *size = kBufferBytes;
  NoteBuffer();
}

void Complete(void* context, std::uint32_t stream, std::uint8_t* buffer, std::size_t /*size*/, std::size_t valid_size) {
  NoteBuffer();
  void* record = nullptr;
  while (valid_size > 0 && g_cupti.activity_get_next_record(buffer, valid_size, &record) == 0) AddRecord(record);
  std::size_t dropped = 0;
  if (g_cupti.activity_get_num_dropped_records(context, stream, &dropped) == 0) AddLost(dropped);
  if (buffer == nullptr) return;
  for (auto& kept : g_kept_buffers) {
    if (std::uint8_t* none = nullptr; kept.compare_exchange_strong(none, buffer)) return;
  }
  munmap(buffer, kBufferBytes);
}

void Stop(const char* why, std::uint64_t until_ns) {
  g_until_ns.store(until_ns);
  g_why_not.store(why);
}

/// How many of them were switched: older drivers do not have them all.
int EnableDriverCalls(const Cupti& cupti, std::uint8_t enable) {
  int calls = 0;
  for (const FunctionRange& range : kFunctions) {
    for (std::uint32_t i = range.first; cupti.activity_enable_driver_api != nullptr && i <= range.last; ++i) {
      if (cupti.activity_enable_driver_api(i, enable) == 0) ++calls;
    }
  }
  return calls;
}

void DisableActivities() {
  for (const std::uint32_t kind : {kConcurrentKernel, kMemcpy, kMemset, kMemcpyPeer, kDriver}) {
    g_cupti.activity_disable(kind);
  }
  EnableDriverCalls(g_cupti, 0);
  g_cupti.set_thread_id_type(kThreadIdOfLibrary);
  g_cupti.activity_flush_all(kForcedFlush);
  StopNoting();
}

/// CUPTI's buffers belong to one user: whoever comes later has asked for it.
void Yield() {
  if (getpid() != g_pid || !g_is_counting.exchange(false)) return;
  g_cupti.activity_flush_all(kForcedFlush);
  DisableActivities();
  Stop(kTakenOver, Now());
}

// Other users of CUPTI in the process, as PyTorch's profiler: libraries that are linked with it.

using internal::LoadedObject;

#if defined(__x86_64__)
bool IsImport(std::uint32_t type) { return type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT; }
#elif defined(__aarch64__)
bool IsImport(std::uint32_t type) { return type == R_AARCH64_JUMP_SLOT || type == R_AARCH64_GLOB_DAT; }
#else
bool IsImport(std::uint32_t) { return false; }
#endif

struct Relocations {
  const ElfW(Rela) * first = nullptr;
  std::size_t bytes = 0;
};

/// What the dynamic section says, and ld.so(8) has made absolute but for the kernel's own library.
struct Dynamic {
  Relocations tables[2];
  bool needs_cupti = false;
};

const ElfW(Phdr) * FindHeader(const LoadedObject& object, std::uint32_t type) {
  for (int i = 0; i < object.header_count; ++i) {
    if (object.headers[i].p_type == type) return &object.headers[i];
  }
  return nullptr;
}

Dynamic ReadDynamic(const LoadedObject& object) {
  Dynamic dynamic;
  const ElfW(Phdr)* const header = FindHeader(object, PT_DYNAMIC);
  if (header == nullptr || object.strings == nullptr || object.symbols == nullptr) return dynamic;
  const auto* entry = reinterpret_cast<const ElfW(Dyn)*>(object.base + header->p_vaddr);
  for (; entry->d_tag != DT_NULL; ++entry) {
    const auto at = [entry] { return reinterpret_cast<const ElfW(Rela)*>(entry->d_un.d_ptr); };
    if (entry->d_tag == DT_NEEDED) {
      const char* const name = object.strings + entry->d_un.d_val;
      dynamic.needs_cupti |= std::strcmp(name, g_cupti_name) == 0;
    }
    if (entry->d_tag == DT_RELA) dynamic.tables[0].first = at();
    if (entry->d_tag == DT_RELASZ) dynamic.tables[0].bytes = entry->d_un.d_val;
    if (entry->d_tag == DT_JMPREL) dynamic.tables[1].first = at();
    if (entry->d_tag == DT_PLTRELSZ) dynamic.tables[1].bytes = entry->d_un.d_val;
  }
  return dynamic;
}

/// Whether ld.so has made this part of the object unwritable once it was linked.
bool IsReadOnly(const LoadedObject& object, std::uintptr_t address) {
  const ElfW(Phdr)* const header = FindHeader(object, PT_GNU_RELRO);
  return header != nullptr && address - object.base - header->p_vaddr < header->p_memsz;
}

/// What a library calls that is linked with CUPTI: a profiler that begins is noticed, and gets CUPTI with no buffer
/// outstanding.
CuptiResult RegisterCallbacksOfOther(RequestBuffer* request, CompleteBuffer* complete) {
  Yield();
  return g_cupti.activity_register_callbacks(request, complete);
}

/// Redirects calls of an object that is linked with CUPTI, in its tables of imported functions, where these can be
/// written. CUPTI itself stays as it is.
bool Redirect(const LoadedObject& object) {
  const Dynamic dynamic = ReadDynamic(object);
  if (!dynamic.needs_cupti) return false;
  for (const Relocations& table : dynamic.tables) {
    for (std::size_t i = 0; i < table.bytes / sizeof(ElfW(Rela)); ++i) {
      const ElfW(Rela)& relocation = table.first[i];
      if (!IsImport(static_cast<std::uint32_t>(ELF64_R_TYPE(relocation.r_info)))) continue;
      const ElfW(Sym)& symbol = object.symbols[ELF64_R_SYM(relocation.r_info)];
      if (std::strcmp(object.strings + symbol.st_name, kRegisterCallbacks) != 0) continue;
      if (const std::uintptr_t slot = object.base + relocation.r_offset; !IsReadOnly(object, slot)) {
        void* const replacement = reinterpret_cast<void*>(RegisterCallbacksOfOther);
        reinterpret_cast<std::atomic<void*>*>(slot)->store(replacement, std::memory_order_relaxed);
      }
    }
  }
  return false;
}

void WatchOthers() { internal::ForEachObject(Redirect); }

/// One flush after another: the last one of the program must not come back while another thread still delivers records.
void FlushAll(std::uint32_t flag) {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  timespec until{};
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += kLongestFlushSeconds;
  const bool is_locked =
      flag == kForcedFlush ? pthread_mutex_timedlock(&mutex, &until) == 0 : pthread_mutex_trylock(&mutex) == 0;
  if (!is_locked && flag != kForcedFlush) return;  // another thread does it
  g_cupti.activity_flush_all(flag);
  if (is_locked) pthread_mutex_unlock(&mutex);
}

void LockList() { pthread_mutex_lock(&g_list_mutex); }
void UnlockList() { pthread_mutex_unlock(&g_list_mutex); }

void* FlushAtIntervals(void* /*unused*/) {
  std::uint64_t readings = 0;
  std::uint64_t loaded = 0;
  int since = 0;
  while (true) {
    nanosleep(&kFlushInterval, nullptr);
    if (!g_is_counting.load()) return nullptr;
    const std::uint64_t loaded_before = loaded;
    LockList();
    loaded = internal::CountLoads().loaded;
    if (loaded != loaded_before) WatchOthers();
    UnlockList();
    since = ClockReadings() != readings ? 0 : since + 1;
    readings = ClockReadings();
    if (since > kFlushesAfterCalls) continue;
    FlushAll(0);
    if (readings > g_readings_at_buffer.load() + kMostReadingsWithoutBuffer && g_is_counting.exchange(false)) {
      Stop(kTakenOver, g_last_buffer_ns.load());
    }
  }
}

bool StartFlushing() {
  if (pthread_atfork(LockList, UnlockList, UnlockList) != 0) return false;
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  sigdelset(&all, SIGSYS);                      // as in process_recorder.cc
  pthread_sigmask(SIG_SETMASK, &all, &before);  // the new thread inherits the mask
  pthread_t thread;
  const bool is_running = pthread_create(&thread, nullptr, FlushAtIntervals, nullptr) == 0;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (!is_running) return false;
  pthread_setname_np(thread, "crema-gpu");
  pthread_detach(thread);
  return true;
}

template <class Function>
bool Find(void* library, const char* name, Function** function) {
  *function = reinterpret_cast<Function*>(dlsym(library, name));
  return *function != nullptr;
}

bool FindFunctions(void* library, Cupti* cupti) {
  Find(library, "cuptiActivityEnableDriverApi", &cupti->activity_enable_driver_api);
  return Find(library, kRegisterCallbacks, &cupti->activity_register_callbacks) &&
         Find(library, "cuptiActivityRegisterTimestampCallback", &cupti->activity_register_timestamp_callback) &&
         Find(library, "cuptiActivityEnable", &cupti->activity_enable) &&
         Find(library, "cuptiActivityDisable", &cupti->activity_disable) &&
         Find(library, "cuptiActivityFlushAll", &cupti->activity_flush_all) &&
         Find(library, "cuptiActivityGetNextRecord", &cupti->activity_get_next_record) &&
         Find(library, "cuptiActivityGetNumDroppedRecords", &cupti->activity_get_num_dropped_records) &&
         Find(library, "cuptiGetVersion", &cupti->get_version) &&
         Find(library, "cuptiSetThreadIdType", &cupti->set_thread_id_type) &&
         Find(library, "cuptiSubscribe", &cupti->subscribe) && Find(library, "cuptiUnsubscribe", &cupti->unsubscribe);
}

/// Only one may be subscribed to CUPTI's callbacks. crema needs none: it only asks.
bool IsSubscribedByOther(const Cupti& cupti) {
  void (*const callback)(void*, int, std::uint32_t, const void*) = [](void*, int, std::uint32_t, const void*) {};
  void* subscriber = nullptr;
  const CuptiResult result = cupti.subscribe(&subscriber, reinterpret_cast<void*>(callback), nullptr);
  if (result == 0) cupti.unsubscribe(subscriber);
  return result == kMultipleSubscribers;
}

bool EnableActivities(const Cupti& cupti) {
  if (cupti.activity_register_timestamp_callback(NoteAndReadClock) != 0) return false;
  if (cupti.set_thread_id_type(kThreadIdOfSystem) != 0) return false;
  if (cupti.activity_register_callbacks(Request, Complete) != 0) return false;
  if (cupti.activity_enable(kConcurrentKernel) != 0 || cupti.activity_enable(kMemcpy) != 0) return false;
  cupti.activity_enable(kMemset);
  cupti.activity_enable(kMemcpyPeer);
  return EnableDriverCalls(cupti, 1) > 0 || cupti.activity_enable(kDriver) == 0;
}

/// Null, or why it does not count.
const char* Start(void* library, const char* name) {
  Cupti cupti;
  if (!FindFunctions(library, &cupti)) return kNoCupti;
  if (IsSubscribedByOther(cupti)) return kOtherUser;
  g_cupti = cupti;
  g_cupti_name = name;
  g_is_counting.store(true);
  WatchOthers();
  if (EnableActivities(cupti) && StartFlushing()) {
    cupti.get_version(&g_version);
    return nullptr;
  }
  g_is_counting.store(false);
  DisableActivities();
  return kRefused;
}

/// Where the CUDA toolkit lies, beside what the loader finds itself.
constexpr const char* kDirectories[] = {"/usr/local/cuda/lib64/", "/usr/local/cuda/extras/CUPTI/lib64/"};
constexpr const char* kNames[] = {"libcupti.so.13", "libcupti.so.12"};

void* Open(const char* directory, const char* name, int flags) {
  char path[256] = "";
  std::strcpy(path, directory);
  std::strcat(path, name);
  return dlopen(path, RTLD_NOW | RTLD_LOCAL | flags);
}

const char* StartWithAny() {
  const char* why_not = kNoCupti;
  const auto start = [&why_not](void* library, const char* name) {
    if (library != nullptr) why_not = Start(library, name);
    return why_not != kNoCupti;
  };
  for (const char* name : kNames) {  // what the program has loaded fits it
    if (start(Open("", name, RTLD_NOLOAD), name)) return why_not;
  }
  for (const char* name : kNames) {
    if (start(Open("", name, 0), name)) return why_not;
    for (const char* directory : kDirectories) {
      if (start(Open(directory, name, 0), name)) return why_not;
    }
  }
  return why_not;
}

void Flush(bool is_last) noexcept {
  if (getpid() != g_pid || !g_is_counting.load()) return;
  FlushAll(is_last ? kForcedFlush : 0);
  if (!is_last || !g_is_counting.exchange(false)) return;
  GiveUpWaiting();
}

/// Before CUDA ends, whatever comes first: the SDK ends its log before or after.
void AtExit() { Flush(true); }

internal::GpuState State() noexcept {
  internal::GpuState state;
  if (getpid() != g_pid || !g_has_begun.load()) return state;
  state.has_begun = true;
  state.why_not = g_why_not.load();
  state.until_ns = static_cast<std::int64_t>(g_until_ns.load());
  state.cupti_version = g_version;
  ReadTotals(&state.busy_ns, &state.lost);
  return state;
}

}  // namespace
}  // namespace crema::gpu

// Names of NVIDIA's and of the SDK's.
// NOLINTBEGIN(readability-identifier-naming)

/// Called by CUDA's driver in cuInit. 1: all is well.
extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  using namespace crema::gpu;
  if (g_has_begun.exchange(true)) return 1;
  g_pid = getpid();
  const crema::internal::KeptErrno kept_errno;
  if (const char* const why_not = StartWithAny()) {
    Stop(why_not, Now());
  } else {
    std::atexit(AtExit);
  }
  return 1;
}

extern "C" __attribute__((visibility("default"))) const crema::internal::GpuCounter* crema_gpu_counter() {
  static constexpr crema::internal::GpuCounter kCounter = {
      crema::internal::GpuCounter::kVersion,
      crema::gpu::SetPlaceOfThread,
      crema::allocations::FindSite,
      crema::allocations::Site,
      crema::gpu::Flush,
      crema::gpu::State,
      crema::gpu::TakeRows,
  };
  return &kCounter;
}
// NOLINTEND(readability-identifier-naming)

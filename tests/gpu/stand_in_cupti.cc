#include "stand_in_cupti.h"

#include <dlfcn.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace {

using Request = void(std::uint8_t**, std::size_t*, std::size_t*);
using Complete = void(void*, std::uint32_t, std::uint8_t*, std::size_t, std::size_t);
using Clock = std::uint64_t();

constexpr std::size_t kRecordBytes = 256;
constexpr std::uint32_t kMemcpy = 1, kMemset = 2, kDriver = 4, kKernel = 10, kMemcpyPeer = 22, kUnknown = 9999;
constexpr std::uint32_t kLaunch = 307, kGraph = 514, kCopy = 306, kCopyPeer = 319, kSynchronize = 126, kFill = 216;

std::string Setting(const char* name) {
  const char* value = getenv((std::string("STAND_IN_") + name).c_str());
  return value == nullptr ? "" : value;
}
bool Fails(const char* function) { return Setting("ERROR") == function; }

std::uint64_t Now() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000u + now.tv_nsec;
}

struct Record {
  std::uint8_t bytes[kRecordBytes] = {};
  std::uint64_t end = 0;
  bool is_call = false;
  template <class Field>
  void Set(std::size_t offset, Field field) {
    std::memcpy(bytes + offset, &field, sizeof field);
  }
};

std::mutex g_mutex;
Request* g_request = nullptr;
Complete* g_complete = nullptr;
Clock* g_clock = nullptr;
std::atomic<bool> g_enabled[1024], g_functions[1024];  // by kind and by function; threads ask without a lock
std::vector<Record> g_records;
std::uint32_t g_correlation = 0;
std::uint64_t g_mixed = 0, g_dropped = 0;
thread_local std::uint64_t t_stream_end = 0;

/// A buffer that was asked for by `owner` and has not been given back.
std::uint8_t* g_buffer = nullptr;
std::size_t g_buffer_size = 0;
Complete* g_owner = nullptr;

std::uint64_t ReadClock() {
  if (g_clock == nullptr) return Now();
  std::uint64_t time = 0;
  if (Setting("CLOCK_THREAD") != "1") return g_clock();
  std::thread([&time] { time = g_clock(); }).join();
  return time;
}

void TakeBuffer() {
  std::size_t most = 0;
  if (g_buffer == nullptr && g_request != nullptr) {
    g_request(&g_buffer, &g_buffer_size, &most);
    g_owner = g_complete;
  }
}

/// Passes on the complete buffers, or all of them.
void Deliver(bool everything) {
  std::unique_lock<std::mutex> lock(g_mutex);
  std::vector<Record> ready, rest;
  const std::uint64_t now = Now();
  for (Record& record : g_records) {
    const bool is_complete = record.end <= now;
    if (!is_complete && everything && !record.is_call)
      record.Set<std::uint64_t>(16, 0), record.Set<std::uint64_t>(24, 0);
    (is_complete || everything ? ready : rest).push_back(record);
  }
  g_records = rest;
  const std::string order = Setting("ORDER");
  if (order == "calls_last")
    std::stable_partition(ready.begin(), ready.end(), [](const Record& r) { return !r.is_call; });
  if (order == "shuffled") std::shuffle(ready.begin(), ready.end(), std::minstd_rand(1));
  std::size_t done = 0;
  do {
    if (ready.empty() && g_buffer == nullptr) return;
    TakeBuffer();
    if (g_buffer == nullptr) return;
    std::size_t size = 0;
    while (done < ready.size() && size + kRecordBytes <= g_buffer_size) {
      std::memcpy(g_buffer + size, ready[done++].bytes, kRecordBytes);
      size += kRecordBytes;
    }
    std::uint8_t* const buffer = g_buffer;
    g_buffer = nullptr;
    if (g_owner != g_complete) ++g_mixed;
    g_dropped = Setting("DROPPED").empty() ? 0 : std::stoul(Setting("DROPPED"));
    Complete* const complete = g_complete;
    const std::size_t buffer_size = g_buffer_size;
    lock.unlock();
    std::thread([&] { complete(nullptr, 0, buffer, buffer_size, size); }).join();  // on a thread of CUPTI's
    lock.lock();
  } while (done < ready.size());
}

struct Activity {
  std::uint32_t kind;
  std::uint64_t nanoseconds;
  const char* name = nullptr;
  std::uint64_t bytes = 0;
  int copy_kind = 0;
};

/// A call of the driver that puts activities on the thread's stream, and ends after `wait`.
template <class Wait>
void Call(std::uint32_t function, const std::vector<Activity>& activities, Wait wait) {
  const std::uint64_t start = ReadClock();
  const std::uint64_t called = Now();
  const std::uint64_t ahead = start > called ? start - called : 0;  // of the wall clock
  std::vector<Record> records;
  const std::uint32_t correlation = __atomic_add_fetch(&g_correlation, 1, __ATOMIC_RELAXED);
  for (const Activity& activity : activities) {
    Record record;
    const std::uint64_t begin = std::max(t_stream_end, called) + 1000;
    t_stream_end = record.end = begin + activity.nanoseconds;
    record.Set(0, activity.kind);
    record.Set(16, begin + ahead);
    record.Set(24, record.end + ahead);
    if (activity.kind == kKernel) {
      record.Set(92, correlation);
      record.Set(104, activity.name);
    } else {
      record.Set(activity.kind == kMemcpyPeer ? 60 : 44, correlation);
      record.Set(8, activity.bytes);
      if (activity.kind == kMemcpy) record.Set(4, static_cast<std::uint8_t>(activity.copy_kind));
    }
    if (g_enabled[activity.kind]) records.push_back(record);
  }
  if (Setting("UNKNOWN") == "1") {
    Record record;
    std::memset(record.bytes, 0xFF, sizeof record.bytes);
    record.Set(0, kUnknown);
    records.push_back(record);
  }
  wait();
  const std::uint64_t end = ReadClock();
  if (g_enabled[kDriver] || g_functions[function]) {
    Record record;
    record.is_call = true;
    record.end = Now();
    record.Set(0, kDriver);
    record.Set(4, function);
    record.Set(8, start);
    record.Set(16, end);
    record.Set(24, static_cast<std::uint32_t>(getpid()));
    record.Set(28, static_cast<std::uint32_t>(syscall(SYS_gettid)));
    record.Set(32, correlation);
    records.insert(records.begin(), record);
  }
  const std::lock_guard<std::mutex> lock(g_mutex);
  if (!records.empty()) TakeBuffer();
  g_records.insert(g_records.end(), records.begin(), records.end());
}
constexpr auto kAtOnce = [] {};

}  // namespace

extern "C" {

void stand_in_init() {
  const char* path = getenv("CUDA_INJECTION64_PATH");
  void* library = path == nullptr ? nullptr : dlopen(path, RTLD_NOW);
  auto* initialize = library == nullptr ? nullptr : reinterpret_cast<int (*)()>(dlsym(library, "InitializeInjection"));
  if (initialize != nullptr) initialize();
}
void stand_in_launch(const char* name, std::uint64_t nanoseconds) {
  Call(kLaunch, {{kKernel, nanoseconds, name}}, kAtOnce);
}
void stand_in_graph(const char* name, int kernels, std::uint64_t nanoseconds) {
  Call(kGraph, std::vector<Activity>(static_cast<std::size_t>(kernels), {kKernel, nanoseconds, name}), kAtOnce);
}
void stand_in_copy(int kind, std::uint64_t bytes, std::uint64_t nanoseconds) {
  Call(kCopy, {{kMemcpy, nanoseconds, nullptr, bytes, kind}}, kAtOnce);
}
void stand_in_copy_peer(std::uint64_t bytes, std::uint64_t nanoseconds) {
  Call(kCopyPeer, {{kMemcpyPeer, nanoseconds, nullptr, bytes, 0}}, kAtOnce);
}
void stand_in_fill(std::uint64_t bytes, std::uint64_t nanoseconds) {
  Call(kFill, {{kMemset, nanoseconds, nullptr, bytes, 0}}, kAtOnce);
}
void stand_in_synchronize(bool spins) {
  Call(kSynchronize, {}, [spins] {
    while (Now() < t_stream_end) {
      if (!spins) usleep(static_cast<useconds_t>((t_stream_end - Now()) / 1000 + 1));
    }
  });
}

int cuptiActivityRegisterCallbacks(Request* request, Complete* complete) {
  if (Fails("cuptiActivityRegisterCallbacks")) return 1;
  const std::lock_guard<std::mutex> lock(g_mutex);
  g_request = request;
  g_complete = complete;
  return 0;
}
int cuptiActivityRegisterTimestampCallback(Clock* clock) {
  if (Fails("cuptiActivityRegisterTimestampCallback")) return 1;
  g_clock = clock;
  return 0;
}
int cuptiActivityEnable(std::uint32_t kind) { return Fails("cuptiActivityEnable") ? 1 : (g_enabled[kind] = true, 0); }
int cuptiActivityDisable(std::uint32_t kind) { return g_enabled[kind] = false, 0; }
#ifndef STAND_IN_OF_12
int cuptiActivityEnableDriverApi(std::uint32_t function, std::uint8_t enable) {
  return Fails("cuptiActivityEnableDriverApi") || function > 800 ? 1 : (g_functions[function] = enable != 0, 0);
}
#endif
int cuptiActivityFlushAll(std::uint32_t flag) { return Deliver(flag == 1), 0; }
int cuptiActivityGetNextRecord(std::uint8_t* buffer, std::size_t valid, void** record) {
  auto* next = *record == nullptr ? buffer : static_cast<std::uint8_t*>(*record) + kRecordBytes;
  if (next + kRecordBytes > buffer + valid) return 12;  // CUPTI_ERROR_MAX_LIMIT_REACHED
  *record = next;
  return 0;
}
int cuptiActivityGetNumDroppedRecords(void*, std::uint32_t, std::size_t* dropped) { return *dropped = g_dropped, 0; }
int cuptiGetVersion(std::uint32_t* version) { return *version = 130001, 0; }
int cuptiSetThreadIdType(std::uint32_t type) { return type == 1 ? 0 : 1; }
int cuptiSubscribe(void** subscriber, void*, void*) {
  *subscriber = &g_mutex;
  return Setting("SUBSCRIBED").empty() ? 0 : 39;
}
int cuptiUnsubscribe(void*) { return 0; }

std::uint64_t stand_in_mixed_buffers() { return g_mixed; }
}

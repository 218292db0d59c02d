// crema does not use the program's own operators new and delete: they may count, print, or take from a pool.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "crema/crema.h"
#include "sdk/tests/recorded.h"
#include "sdk/tests/shared_value.h"

namespace {

std::atomic<long> g_calls{0};

__attribute__((noinline)) void* Allocate(std::size_t bytes) {
  ++g_calls;
  return std::malloc(bytes == 0 ? 1 : bytes);
}

}  // namespace

void* operator new(std::size_t bytes) {
  void* const block = Allocate(bytes);
  if (block == nullptr) std::abort();
  return block;
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return Allocate(bytes); }
__attribute__((noinline)) void operator delete(void* block) noexcept { std::free(block); }
__attribute__((noinline)) void operator delete(void* block, std::size_t) noexcept { std::free(block); }

namespace crema {
namespace testing {
namespace {

TEST(Recording, CallsNoOperatorNewOfTheProgram) {
  for (const char* hertz : {"0", "1000"}) {
    const SharedValue<long> calls;
    static long* result = nullptr;
    result = &*calls;
    Recorded(
        [] {
          std::atexit([] { *result = g_calls; });  // before the SDK's handler is there, so it comes after it
          g_calls = 0;
          for (int i = 0; i < 100; ++i) {
            TrackMetrics chunk("zjets");
            TrackSection section("select", kCpuTime);
            TrackMemory memory("jets");
            TrackActivity activity("read");
            TrackIo io("io");
            TrackRequest request("server", "read");
            Span span("span");
            TrackMetrics nested("other");
            RecordMetric("jets", i, "count");
            RecordCut("all", 1, 1);
            SetAttribute("name", "value");
          }
          Flush();
        },
        {{"CREMA_STACKS", hertz}, {"CREMA_SUMMARY", "0"}});
    EXPECT_EQ(*calls, 0) << "with stacks " << hertz;
  }
}

}  // namespace
}  // namespace testing
}  // namespace crema

// Guards that end in the wrong place, and what must hold for the chunk nevertheless.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <thread>

#include "crema/crema.h"
#include "sdk/tests/record_log.h"

namespace crema {
namespace testing {

/// Self times of the owner's rows are not negative, and add up to what the outermost sections took.
inline void ExpectSelfTimesAddUp(const ChunkLine& chunk) {
  std::int64_t self_ns = 0;
  std::int64_t outermost_ns = 0;
  for (const SectionRow& row : chunk.sections) {
    EXPECT_GE(row.self_ns, 0) << row.path;
    self_ns += row.self_ns;
    if (row.path.find('/') == std::string::npos) outermost_ns += row.total_ns;
  }
  EXPECT_EQ(self_ns, outermost_ns);
  EXPECT_LE(outermost_ns, chunk.duration_ns() - chunk.suspended_ns.value_or(0) - chunk.inner_ns.value_or(0));
}

/// Ends the guard on another thread, which records, too.
template <class Guard>
void EndOnAnotherThread(std::unique_ptr<Guard> guard) {
  std::thread([&] {
    TrackSection section("other thread's");
    guard.reset();
  }).join();
}

}  // namespace testing
}  // namespace crema

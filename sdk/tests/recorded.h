// Recorded: runs a part of a test in a child that records, and reads its log.
#pragma once

#include <functional>

#include "sdk/tests/child_process.h"
#include "sdk/tests/record_log.h"

namespace crema {
namespace testing {

/// The log of a child that ran `body` with recording on and no sampler, and ended by itself. Fails the test when the
/// child failed or printed anything, or when there is not exactly one well-formed log.
RecordLog Recorded(const std::function<void()>& body, const Environment& environment = {});

/// As above, for bodies that record one chunk.
ChunkLine RecordedChunk(const std::function<void()>& body, const Environment& environment = {});

}  // namespace testing
}  // namespace crema

// The `process` line: the first of a record log.
#pragma once

#include <cstdint>

#include "process/process_recorder.h"

namespace crema {
namespace internal {

/// What the writer knows of the format (docs/record_log.md, "Minor numbers").
inline constexpr std::int64_t kRecordSchemaMinor = 24;

/// Opens the log of this process and writes who it is. False, with errno set, where it cannot be opened.
bool OpenLog(Recorder* recorder) noexcept;
/// Opens another log of this process, and writes whose it is; false where that cannot be.
bool OpenLogBeside(Recorder* recorder, ChunkLog* more) noexcept;

}  // namespace internal
}  // namespace crema

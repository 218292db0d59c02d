// The `process` line: the first of a record log.
#pragma once

#include "process/process_recorder.h"

namespace crema::internal {

/// What the writer knows of the format (docs/record_log.md, "Minor numbers").
inline constexpr std::int64_t kRecordSchemaMinor = 25;

/// Opens the log of this process and writes who it is. False, with errno set, where it cannot be opened.
bool OpenLog(Recorder* recorder) noexcept;
/// Opens another log of this process, and writes whose it is; false where that cannot be.
bool OpenLogBeside(Recorder* recorder, ChunkLog* more) noexcept;

// The `sample` and `end` lines: the process as a whole, now and at its end.

struct Recorder;

/// Any thread may call these; they do not meet the sections that other threads are in.
void WriteSample(Recorder* recorder) noexcept;
void WriteEnd(Recorder* recorder) noexcept;

}  // namespace crema::internal

// The `sample` and `end` lines: the process as a whole, now and at its end.
#pragma once

namespace crema {
namespace internal {

struct Recorder;

/// Any thread may call these; they do not meet the sections that other threads are in.
void WriteSample(Recorder* recorder) noexcept;
void WriteEnd(Recorder* recorder) noexcept;

}  // namespace internal
}  // namespace crema

// The `sample` and `end` lines: the process as a whole, now and at its end.
#ifndef CREMA_SRC_LOG_SAMPLE_LINE_H_
#define CREMA_SRC_LOG_SAMPLE_LINE_H_

namespace crema {
namespace internal {

struct Recorder;

/// Any thread may call these; they do not meet the sections that other threads are in.
void WriteSample(Recorder* recorder) noexcept;
void WriteEnd(Recorder* recorder) noexcept;

}  // namespace internal
}  // namespace crema

#endif  // CREMA_SRC_LOG_SAMPLE_LINE_H_

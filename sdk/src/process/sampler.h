// The sampler: one thread that writes a `sample` line at each interval.
#ifndef CREMA_SRC_PROCESS_SAMPLER_H_
#define CREMA_SRC_PROCESS_SAMPLER_H_

namespace crema {
namespace internal {

struct Recorder;

/// Starts it, if the settings ask for one. It takes no signals, and no chunk waits for it.
void StartSampler(Recorder* recorder) noexcept;
/// Ends it and waits for that, but not for a disk that hangs.
void StopSampler() noexcept;

}  // namespace internal
}  // namespace crema

#endif  // CREMA_SRC_PROCESS_SAMPLER_H_

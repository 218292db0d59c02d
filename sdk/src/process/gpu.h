// What GPUs did for each chunk and section, if CUDA loads the library that counts it (docs/gpu.md). The library asks
// for the thread's place when the thread calls CUDA. So chunks and sections cost no more with it.
#pragma once

#include <cstdint>

namespace crema::internal {

struct HelperState;
struct Recorder;

/// Looks for the library, if the environment asks for it. From then on `gpu` lines are written.
void StartGpu(Recorder* recorder) noexcept;
/// What the helper launches belongs to its chunk, and to the section of that. With the chunk's `helpers_mutex` held.
void SetGpuPlace(const Recorder& recorder, HelperState* helper) noexcept;
/// Writes a line if the one before is a second old, and the device has done something since.
void WriteGpuWhenDue(Recorder* recorder, std::int64_t now_ns) noexcept;
/// Writes the line now; `is_last`: recording ends.
void WriteGpu(Recorder* recorder, bool is_last) noexcept;

}  // namespace crema::internal

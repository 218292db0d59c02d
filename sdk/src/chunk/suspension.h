// Chunks that leave their thread for a while: coroutines and fibres.
#pragma once

#include "chunk/open_work.h"
#include "chunk/thread_state.h"
#include "process/process_recorder.h"

namespace crema {
namespace internal {

struct TaskFrame;

/// Adds to the frame around this one which of its time was this one's, up to these readings. What lies inside no other
/// frame of the thread counts once then, in the sections around it, too.
void ReportToOuter(OpenWork* frame, std::uint64_t now_ticks, const FrameReadings& now) noexcept;
/// Takes the time of a task that ended off the chunk or helper scope around it, and off the sections that are open
/// there.
void TakeOff(ThreadState* thread, const TaskFrame& task) noexcept;
/// Takes the chunk, which is the innermost of its thread, off that thread; its open sections go with it.
void Suspend(Recorder* recorder, ThreadState* thread, ChunkState* state) noexcept;
/// Goes on with a suspended chunk on this thread, as its innermost; false when nested too deep.
bool Resume(Recorder* recorder, ThreadState* thread, ChunkState* state) noexcept;
/// Takes a chunk that is not the innermost of its thread out from between the others, which stay as they are, and makes
/// it the innermost, to be ended at once. What those inside it took so far is theirs.
void MakeInnermost(Recorder* recorder, ThreadState* thread, ChunkState* state) noexcept;

}  // namespace internal
}  // namespace crema

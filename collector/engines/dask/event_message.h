// One message of a Dask scheduler's `/eventstream`, the WebSocket that every scheduler has.
#ifndef CREMA_COLLECTOR_ENGINES_DASK_EVENT_MESSAGE_H_
#define CREMA_COLLECTOR_ENGINES_DASK_EVENT_MESSAGE_H_

#include <optional>
#include <string>
#include <string_view>

namespace crema {

enum class SchedulerEventKind { kFinishedTask, kAddWorker, kRemoveWorker, kOther };

struct SchedulerEvent {
  SchedulerEventKind kind = SchedulerEventKind::kOther;
  std::string worker;          ///< its address
  std::string prefix;          ///< of the finished task's key
  double compute_seconds = 0;  ///< of the finished task
};

/// A task that has finished comes as one message for each thing that was done for it; the one of its computing stands
/// for it. What else the stream tells is `kOther`. nullopt: it is malformed.
std::optional<SchedulerEvent> ParseEventMessage(std::string_view text);

/// What Dask calls tasks of a key, as `dask.utils.key_split` does: `inc` of `inc-daadf82c4cc6b4af2f1d12df2517ea0a`.
std::string TaskPrefix(std::string_view key);

}  // namespace crema

#endif  // CREMA_COLLECTOR_ENGINES_DASK_EVENT_MESSAGE_H_

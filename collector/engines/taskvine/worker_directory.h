// The directories that workers of TaskVine and Work Queue make: `worker-<uid>-<pid>`, and in it one for each task.
#ifndef CREMA_COLLECTOR_ENGINES_TASKVINE_WORKER_DIRECTORY_H_
#define CREMA_COLLECTOR_ENGINES_TASKVINE_WORKER_DIRECTORY_H_

#include <cstdint>
#include <optional>
#include <string_view>

namespace crema {

/// The process of the worker whose directory stands in a path; nullopt: none does.
std::optional<int64_t> PidOfWorkerDirectory(std::string_view path);

}  // namespace crema

#endif  // CREMA_COLLECTOR_ENGINES_TASKVINE_WORKER_DIRECTORY_H_

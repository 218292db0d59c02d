// What GPUs did for each chunk of a log. Its lines come after those of the chunks, so the log is looked through before.
#ifndef CREMA_COLLECTOR_SOURCES_GPU_OF_CHUNKS_H_
#define CREMA_COLLECTOR_SOURCES_GPU_OF_CHUNKS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "collector/records/facts.h"
#include "collector/sources/record_log.h"

namespace crema {

class GpuOfChunks {
 public:
  /// Reads the log's `gpu` lines; a stream, which can be read once only, gives none.
  explicit GpuOfChunks(const RecordLog& log);

  /// The sums of the chunk; nullopt where its process did not count, or not until the chunk's end. `pid`, `start_ns`
  /// and `recorder` as in the process line.
  std::optional<GpuRowFact> Of(int64_t pid, int64_t start_ns, int64_t recorder, const ChunkFact& chunk) const;

 private:
  struct Process {
    std::map<int64_t, GpuRowFact> chunks;
    std::optional<int64_t> until_ns;  ///< then, or before, it stopped counting, or vanished
  };
  std::map<std::tuple<int64_t, int64_t, int64_t>, Process> processes_;
};

}  // namespace crema

#endif  // CREMA_COLLECTOR_SOURCES_GPU_OF_CHUNKS_H_

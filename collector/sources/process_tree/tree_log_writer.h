// Writes the process-tree log line by line while the job runs, so that a killed `crema run` leaves what it saw.
#ifndef CREMA_COLLECTOR_SOURCES_PROCESS_TREE_TREE_LOG_WRITER_H_
#define CREMA_COLLECTOR_SOURCES_PROCESS_TREE_TREE_LOG_WRITER_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "collector/records/tree_facts.h"

namespace crema {

/// One file, mode 0600, held with flock(2) while it lives. Each line is one write(2); a full disk costs lines, which
/// are counted, and never the job. SIGXFSZ must be ignored by the caller where RLIMIT_FSIZE is finite.
class TreeLogWriter {
 public:
  /// Creates `directory`/<host>-<pid>-<start_ns>.tree.ndjson; it must not exist yet.
  static absl::StatusOr<TreeLogWriter> Create(const std::string& directory, const std::string& host, int64_t pid,
                                              int64_t start_ns);
  TreeLogWriter(TreeLogWriter&& other) noexcept;
  TreeLogWriter& operator=(TreeLogWriter&&) = delete;
  ~TreeLogWriter();

  void Write(const TreeRunFact& run);
  /// After 32 MiB, processes one by one are written with every tenth sample only.
  void Write(const TreeSampleFact& sample);
  void Write(const TreeReapFact& reaped);
  void Write(const TreeEndFact& end);

  const std::string& path() const { return path_; }
  /// Lines that could not be written.
  int64_t dropped() const { return dropped_; }

 private:
  TreeLogWriter(std::string path, int descriptor);
  void WriteLine();

  std::string path_;
  int descriptor_;
  std::string line_;
  int64_t written_bytes_ = 0;
  int64_t samples_ = 0;
  int64_t dropped_ = 0;
  bool torn_ = false;  // the last line is only partly there
};

}  // namespace crema

#endif  // CREMA_COLLECTOR_SOURCES_PROCESS_TREE_TREE_LOG_WRITER_H_

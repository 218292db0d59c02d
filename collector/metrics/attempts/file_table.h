// What is known of files (`SetFileInfo`) and of the columns read from them (`AddColumns`).
#ifndef CREMA_COLLECTOR_METRICS_ATTEMPTS_FILE_TABLE_H_
#define CREMA_COLLECTOR_METRICS_ATTEMPTS_FILE_TABLE_H_

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/numeric/int128.h"
#include "collector/metrics/statistics/bounded_names.h"
#include "collector/metrics/statistics/names_by_position.h"
#include "collector/records/facts.h"

namespace crema {

struct FileFindings {
  std::vector<std::string> columns;  ///< names read, sorted
  bool columns_known = false;        ///< some attempt said which columns it read
  bool columns_truncated = false;    ///< there were more names than room
  /// Of all branches, of all bytes of a file: the mean over the files of which both sides are known. Of more than
  /// `FileTable::kMaxFiles` files, over as many that chance has chosen.
  std::optional<double> branches_read_share;
  std::optional<double> bytes_read_share;
};

/// Accumulator of file lines and of the columns and bytes of chunk lines.
class FileTable {
 public:
  static constexpr size_t kMaxFiles = 10000;    ///< docs/limits.md, "Kept short"
  static constexpr size_t kMaxColumns = 10000;  ///< of the run, and of a file

  void Add(const FileFact& fact);
  void Add(const ChunkFact& chunk);
  void Add(const SumsFact& sums);
  void Merge(const FileTable& other);
  FileFindings Finalize() const;

 private:
  struct File {
    std::optional<int64_t> branches;
    std::optional<int64_t> bytes;
    std::optional<absl::int128> bytes_read;
    absl::flat_hash_set<uint64_t> columns;  // hashes of their names
    bool too_many_columns = false;          // more than `kMaxColumns`: `columns` is empty then, for good
    uint64_t latest_columns = 0;            // hash of the latest list: chunks of a file read the same columns
  };
  File* Find(std::string_view name);
  void MakeRoom();
  static void AddTo(File& file, const File& other);
  static void LimitColumns(File& file);

  BoundedNames names_{kMaxFiles};
  NamesByPosition recent_;  // the file of the last chunk
  std::vector<File> files_;
  BoundedNames columns_{kMaxColumns};
  uint64_t latest_columns_ = 0;
  bool columns_known_ = false;
  bool columns_truncated_ = false;
};

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_ATTEMPTS_FILE_TABLE_H_

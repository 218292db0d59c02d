// The fields of one chunk attempt as people ask for them: the same names in the list of `crema show --table chunks`, in
// `--sort` and `--where`, and in `crema export --to chunks`.
#pragma once

#include "absl/types/span.h"
#include "collector/measurement/measurement.h"
#include "collector/sources/record_log.h"
#include "nlohmann/json.hpp"

namespace crema {

/// How the list for people shows a field.
struct ShownField {
  std::string_view header;  ///< empty: only the list that is sorted by it has it
  Kind kind = Kind::kText;
  int rank = 0;   ///< as in `Column`
  int place = 1;  ///< columns come by place
  bool opt_in = false;
};

/// A name ends in its unit; `duration cpu cpu_wait joined blocked time_per_event` are seconds as docs/metrics.md
/// defines them, `event_rate` is Hz.
struct ChunkField {
  std::string_view name;
  nlohmann::ordered_json (*value)(const Attempt& attempt);  ///< null: not measured
  ShownField shown = {};
};

/// All fields that are one value, in the order of the columns.
absl::Span<const ChunkField> ChunkFields();

/// What the list for people shows; what it is sorted by, always.
std::vector<CellColumn> ChunkListColumns(const ChunkField& sorted_by);

/// Errors: InvalidArgument with the list of names.
absl::StatusOr<const ChunkField*> FindChunkField(std::string_view name);

/// The fields, then the lists of the record: `columns sections memory_sections metrics cuts activities
/// requests`, with the
/// record's own names (docs/record_log.md).
nlohmann::ordered_json ChunkAsJson(const Attempt& attempt);

struct ChunkCondition {
  const ChunkField* field = nullptr;
  std::string value;
};

struct ChunkQuery {
  const ChunkField* sort = nullptr;
  size_t top = 20;
  std::vector<ChunkCondition> where;  ///< all must hold
  bool failed = false;                ///< only attempts that failed or were lost
};

/// `sort`: a field's name. `where`: `dataset=ttbar,worker=w5`. A comma that no `name=` follows is part of the value.
/// Errors: InvalidArgument with the list of fields for an unknown one.
absl::StatusOr<ChunkQuery> ParseChunkQuery(const std::string& sort, size_t top, const std::vector<std::string>& where,
                                           bool failed);

/// Whether the attempt is asked for. A file matches by its whole path or by its last component.
bool Matches(const ChunkQuery& query, const Attempt& attempt);

/// Keeps the first `query.top` (SIZE_MAX: all) of all that match: numbers largest first, texts in their order, what is
/// not measured last. Ties are broken by start, worker and number, so the order of the logs does not matter.
class TopChunks {
 public:
  explicit TopChunks(ChunkQuery query) : query_(std::move(query)) {}
  void Add(const Attempt& attempt);
  /// Rows as `ChunkAsJson` writes them. Nothing may be added afterwards.
  nlohmann::ordered_json Take();
  int64_t matched() const { return matched_; }  ///< how many matched in all
  int64_t seen() const { return seen_; }

 private:
  struct Kept {
    int rank = 0;  ///< 1: the sort field is not measured
    double number = 0;
    std::string text;
    int64_t start_ns = 0;
    std::string worker;
    int64_t chunk = 0;
    nlohmann::ordered_json row;
  };
  static bool Before(const Kept& left, const Kept& right);

  ChunkQuery query_;
  std::vector<Kept> heap_;  ///< the last of those kept is on top
  int64_t matched_ = 0;
  int64_t seen_ = 0;
};

}  // namespace crema

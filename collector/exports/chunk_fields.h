// The fields of one chunk attempt as people ask for them: the same names in the list of `crema show --table chunks`, in
// `--sort` and `--where`, and in `crema export --to chunks`.
#ifndef CREMA_COLLECTOR_EXPORTS_CHUNK_FIELDS_H_
#define CREMA_COLLECTOR_EXPORTS_CHUNK_FIELDS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "collector/sources/attempt_stream.h"
#include "nlohmann/json_fwd.hpp"

namespace crema {

/// `std::monostate` is "not measured". Texts are views into the attempt.
using ChunkValue = std::variant<std::monostate, int64_t, uint64_t, double, std::string_view>;

/// A name ends in its unit; `duration cpu cpu_wait joined blocked time_per_event` are seconds as docs/metrics.md
/// defines them, `event_rate` is Hz.
struct ChunkField {
  std::string_view name;
  bool is_text = false;
  ChunkValue (*value)(const Attempt& attempt);
};

/// All fields that are one value, in the order of the columns.
absl::Span<const ChunkField> ChunkFields();

/// Errors: InvalidArgument with the list of names.
absl::StatusOr<const ChunkField*> FindChunkField(std::string_view name);

nlohmann::ordered_json ToJson(const ChunkValue& value);

/// The fields, then the lists of the record: `columns sections memory_sections metrics cuts activities
/// requests`, with the
/// record's own names (docs/record_log.md).
nlohmann::ordered_json ChunkAsJson(const Attempt& attempt);

}  // namespace crema

#endif  // CREMA_COLLECTOR_EXPORTS_CHUNK_FIELDS_H_

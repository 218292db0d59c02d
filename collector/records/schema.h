// The names of the record log `crema.records/1` (docs/record_log.md).
#pragma once

#include <cstddef>
#include <string_view>

namespace crema {

/// A log's `schema`: this name, a slash and the major number. Minor versions only add fields and types.
inline constexpr std::string_view kRecordSchema = "crema.records/1";

/// What a record log's name ends with, and the process-tree log of `crema run`; engines' logs have suffixes of their
/// own.
inline constexpr std::string_view kRecordLogSuffix = ".jsonl";
inline constexpr std::string_view kTreeLogSuffix = ".tree.ndjson";

/// Before the suffix, of a copy that was made while the log was written.
inline constexpr std::string_view kLiveCopyMark = ".live";

/// The longest line that a writer may write, its newline included; a longer one is malformed.
inline constexpr size_t kMaxLineBytes = size_t{1} << 20;

}  // namespace crema

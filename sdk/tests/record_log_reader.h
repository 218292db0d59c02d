// Reads record logs, for tests. Knows only JSON, not the code that wrote it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sdk/tests/record_log.h"

namespace crema {
namespace testing {

/// Lines that are no JSON object of a known shape are kept in `malformed`.
RecordLog ReadRecordLog(const std::string& path);
/// All `*.jsonl` of the directory, by name; none if it does not exist.
std::vector<RecordLog> ReadRecordLogs(const std::string& directory);

/// The last `sums` line of each dataset, file, pass and status: the one that counts.
std::vector<SumsLine> LastSums(const RecordLog& log);
/// The number of chunks in these sums.
std::int64_t SummedChunks(const RecordLog& log);

/// The names of a line's fields, in their order.
std::vector<std::string> FieldNames(std::string_view line);
/// The first line of this type; empty if there is none.
std::string FirstLineOfType(const RecordLog& log, std::string_view type);

/// The row of this path; fails the test if there is none, or more than one.
SectionRow Section(const std::vector<SectionRow>& rows, std::string_view path, bool helper = false);
bool HasSection(const std::vector<SectionRow>& rows, std::string_view path, bool helper = false);
/// Paths in their order.
std::vector<std::string> Paths(const std::vector<SectionRow>& rows);
/// The row of this name and unit; fails the test if there is none, or more than one.
MetricRow Metric(const ChunkLine& chunk, std::string_view name, std::string_view unit = {});
/// The activity of this label and unit; fails the test if there is none, or more than one.
ActivityRow Activity(const ChunkLine& chunk, std::string_view label, std::string_view unit = "seconds");
/// The memory row of this path; fails the test if there is none, or more than one.
MemoryRow Memory(const ChunkLine& chunk, std::string_view path);
/// The chunk of this dataset; fails the test if there is none, or more than one.
ChunkLine ChunkOf(const RecordLog& log, std::string_view dataset);

}  // namespace testing
}  // namespace crema

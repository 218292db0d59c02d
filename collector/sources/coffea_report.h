// What Coffea says of a run: the report of `Runner(savemetrics=True)`, and a dictionary of figures by dataset.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace crema {

/// The report, field by field under Coffea's names; nullopt: the report does not hold it.
struct CoffeaReport {
  std::string path;
  std::optional<int64_t> bytesread;   ///< requested from files, with opening and headers
  std::optional<int64_t> entries;     ///< events
  std::optional<int64_t> chunks;      ///< work items
  std::optional<double> processtime;  ///< seconds: sum of wall times around process()
  std::vector<std::string> columns;   ///< names read, sorted
  bool has_columns = false;
};

/// One dataset of a `metrics by dataset` file (the `custom_metrics` of roastcoffea's README).
struct DatasetReport {
  std::string dataset;
  std::optional<int64_t> entries;
  std::optional<double> duration;  ///< seconds, wall
  std::optional<int64_t> num_requested_bytes;
};

struct MetricsByDataset {
  std::string path;
  std::vector<DatasetReport> datasets;  ///< by name
  std::vector<std::string> warnings;    ///< one line for each entry that was left out
};

enum class CoffeaFileKind { kReport, kByDataset };

/// A file of Coffea beside the records of a measurement.
struct CoffeaFile {
  std::string path;
  CoffeaFileKind kind = CoffeaFileKind::kReport;
};

/// What the names of such files end in: by this they are found again.
std::string_view SuffixOf(CoffeaFileKind kind);

/// The files of Coffea in a source, or in its folder `records`, by path; none where the source is not a directory.
std::vector<CoffeaFile> FindCoffeaFiles(const std::string& source);

/// Whether two files say the same.
bool SaySame(const CoffeaReport& a, const CoffeaReport& b);
bool SaySame(const MetricsByDataset& a, const MetricsByDataset& b);

/// Reads a report that was saved as JSON: an object with at least one of `bytesread columns entries processtime
/// chunks`. Other keys are ignored, null is as good as absent.
/// Errors, in one line with the file (and the line where JSON ends): it cannot be read, is not JSON, holds none of the
/// keys, or one of another type, negative, or beyond 64 bits.
absl::StatusOr<CoffeaReport> ReadCoffeaReport(const std::string& path);

/// Reads `{dataset: {"entries", "duration", "performance_counters": {"num_requested_bytes"}}}`. An entry that is no
/// object, or holds a value of another type, is left out with a warning. Errors: it cannot be read, is not a JSON
/// object, or holds no entry of use.
absl::StatusOr<MetricsByDataset> ReadMetricsByDataset(const std::string& path);

}  // namespace crema

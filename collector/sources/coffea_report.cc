#include "collector/sources/coffea_report.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>
#include <tuple>
#include <utility>

#include "absl/algorithm/container.h"
#include "collector/compression/decompressed_file.h"
#include "collector/idioms/file_system.h"
#include "collector/idioms/text.h"
#include "nlohmann/json.hpp"

namespace crema {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kReportRemedy = "save what Runner(savemetrics=True) returns with json.dump";
constexpr std::string_view kByDatasetRemedy =
    "give {dataset: {\"entries\": …, \"duration\": …, \"performance_counters\": {\"num_requested_bytes\": …}}}";

absl::StatusOr<Json> ReadObject(const std::string& path, std::string_view remedy) {
  std::ifstream file(path, std::ios::binary);
  // A directory opens, and cannot be read.
  if (!file || file.peek() == std::ifstream::traits_type::eof()) {
    const std::string why = errno != 0 && !file.is_open() ? strerror(errno) : "it is empty or no file";
    return absl::NotFoundError(fmt::format("{}: cannot be read ({}); {}", path, why, remedy));
  }
  const std::string text(std::istreambuf_iterator<char>(file), {});
  Json json;
  try {
    json = Json::parse(text);
  } catch (const Json::parse_error& error) {
    const size_t at = std::min(error.byte, text.size());
    const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
    return absl::InvalidArgumentError(
        fmt::format("{}:{}: is not JSON (JSON has no NaN and no single quotes); {}", path, line, remedy));
  } catch (const Json::out_of_range&) {
    return absl::InvalidArgumentError(fmt::format("{}: holds a number that is too large; {}", path, remedy));
  }
  if (!json.is_object()) return absl::InvalidArgumentError(fmt::format("{}: is not a JSON object; {}", path, remedy));
  return json;
}

absl::Status Refused(std::string_view where, std::string_view key, std::string_view complaint) {
  return absl::InvalidArgumentError(fmt::format("{}: `{}` {}", where, key, complaint));
}

const Json& Member(const Json& object, std::string_view key) {
  static const Json kNull;
  const auto found = object.find(std::string(key));
  return found == object.end() ? kNull : *found;
}

/// Python writes a count that went through numpy as 480000.0 at times.
absl::Status ReadCount(const Json& object, std::string_view key, std::string_view where, std::optional<int64_t>& out) {
  constexpr double kBeyond = 9223372036854775808.0;  // 2^63
  const Json& value = Member(object, key);
  if (value.is_null()) return absl::OkStatus();
  if (!value.is_number()) return Refused(where, key, "is not a number");
  const double number = value.get<double>();
  if (number < 0) return Refused(where, key, "is negative");
  if (!(number < kBeyond)) return Refused(where, key, "is beyond 64 bits");
  if (value.is_number_float() && number != std::floor(number)) return Refused(where, key, "is not a whole number");
  out = value.is_number_float() ? static_cast<int64_t>(number) : value.get<int64_t>();
  return absl::OkStatus();
}

absl::Status ReadSeconds(const Json& object, std::string_view key, std::string_view where, std::optional<double>& out) {
  const Json& value = Member(object, key);
  if (value.is_null()) return absl::OkStatus();
  if (!value.is_number()) return Refused(where, key, "is not a number");
  out = value.get<double>();
  if (*out < 0) return Refused(where, key, "is negative");
  return std::isfinite(*out) ? absl::OkStatus() : Refused(where, key, "is not finite");
}

absl::Status ReadColumns(const Json& object, std::string_view where, CoffeaReport& report) {
  const Json& columns = Member(object, "columns");
  if (columns.is_null()) return absl::OkStatus();
  if (!columns.is_array()) return Refused(where, "columns", "is not a list (Python: sorted(report[\"columns\"]))");
  std::set<std::string> names;  // Coffea's is a set until the end, in no order
  for (const Json& column : columns) {
    if (!column.is_string()) return Refused(where, "columns", "holds something that is not text");
    names.insert(column.get<std::string>());
  }
  report.columns.assign(names.begin(), names.end());
  report.has_columns = true;
  return absl::OkStatus();
}

absl::StatusOr<DatasetReport> ReadDataset(const std::string& dataset, const Json& entry, const std::string& where) {
  DatasetReport report;
  report.dataset = dataset;
  if (!entry.is_object()) return absl::InvalidArgumentError(where + ": is not an object");
  const Json& counters = Member(entry, "performance_counters");
  if (!counters.is_null() && !counters.is_object()) return Refused(where, "performance_counters", "is not an object");
  absl::Status read = ReadCount(entry, "entries", where, report.entries);
  if (read.ok()) read = ReadSeconds(entry, "duration", where, report.duration);
  if (read.ok() && counters.is_object()) {
    read = ReadCount(counters, "num_requested_bytes", where, report.num_requested_bytes);
  }
  if (!read.ok()) return read;
  if (!report.entries.has_value() && !report.duration.has_value() && !report.num_requested_bytes.has_value()) {
    return absl::InvalidArgumentError(where + ": holds none of entries, duration and num_requested_bytes");
  }
  return report;
}

auto Contents(const CoffeaReport& report) {
  return std::tie(report.bytesread, report.entries, report.chunks, report.processtime, report.columns,
                  report.has_columns);
}

auto Contents(const DatasetReport& report) {
  return std::tie(report.dataset, report.entries, report.duration, report.num_requested_bytes);
}

}  // namespace

std::string_view SuffixOf(CoffeaFileKind kind) {
  return kind == CoffeaFileKind::kReport ? ".coffea_report.json" : ".metrics_by_dataset.json";
}

std::vector<CoffeaFile> FindCoffeaFiles(const std::string& source) {
  namespace fs = std::filesystem;
  std::vector<CoffeaFile> files;
  for (const fs::path& directory : {fs::path(source), fs::path(source) / "records"}) {
    for (const fs::path& entry : EntriesOf(directory)) {
      const std::string path = entry.lexically_normal().string();
      std::error_code ignored;
      for (const CoffeaFileKind kind : {CoffeaFileKind::kReport, CoffeaFileKind::kByDataset}) {
        if (EndsWith(path, SuffixOf(kind)) && fs::is_regular_file(path, ignored)) files.push_back({path, kind});
      }
    }
  }
  absl::c_sort(files, [](const CoffeaFile& a, const CoffeaFile& b) { return a.path < b.path; });
  return files;
}

bool SaySame(const CoffeaReport& a, const CoffeaReport& b) { return Contents(a) == Contents(b); }

bool SaySame(const MetricsByDataset& a, const MetricsByDataset& b) {
  return absl::c_equal(a.datasets, b.datasets, [](const DatasetReport& left, const DatasetReport& right) {
    return Contents(left) == Contents(right);
  });
}

absl::StatusOr<CoffeaReport> ReadCoffeaReport(const std::string& path) {
  const absl::StatusOr<Json> json = ReadObject(path, kReportRemedy);
  if (!json.ok()) return json.status();
  CoffeaReport report;
  report.path = path;
  absl::Status read = ReadCount(*json, "bytesread", path, report.bytesread);
  if (read.ok()) read = ReadCount(*json, "entries", path, report.entries);
  if (read.ok()) read = ReadCount(*json, "chunks", path, report.chunks);
  if (read.ok()) read = ReadSeconds(*json, "processtime", path, report.processtime);
  if (read.ok()) read = ReadColumns(*json, path, report);
  if (!read.ok()) return read;
  if (SaySame(report, CoffeaReport())) {
    return absl::InvalidArgumentError(fmt::format(
        "{}: not a Coffea report (none of bytesread, columns, entries, processtime, chunks); {}", path, kReportRemedy));
  }
  return report;
}

absl::StatusOr<MetricsByDataset> ReadMetricsByDataset(const std::string& path) {
  const absl::StatusOr<Json> json = ReadObject(path, kByDatasetRemedy);
  if (!json.ok()) return json.status();
  MetricsByDataset metrics;
  metrics.path = path;
  for (const auto& [dataset, entry] : json->items()) {
    absl::StatusOr<DatasetReport> report = ReadDataset(dataset, entry, fmt::format("{}: `{}`", path, dataset));
    if (report.ok()) {
      metrics.datasets.push_back(*std::move(report));
    } else {
      metrics.warnings.push_back(std::string(report.status().message()) + "; it was left out");
    }
  }
  if (metrics.datasets.empty()) {
    return absl::InvalidArgumentError(metrics.warnings.empty()
                                          ? fmt::format("{}: holds no dataset; {}", path, kByDatasetRemedy)
                                          : fmt::format("{}; {}", metrics.warnings.front(), kByDatasetRemedy));
  }
  return metrics;
}

}  // namespace crema

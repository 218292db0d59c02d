#include "collector/sources/roastcoffea/roastcoffea_directory.h"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "collector/records/loose_json.h"
#include "fmt/format.h"

namespace crema {
namespace {

namespace fs = std::filesystem;

constexpr char kMetrics[] = "metrics.json";
constexpr char kTimes[] = "start_end_time.txt";

absl::StatusOr<std::string> ReadText(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return absl::NotFoundError(fmt::format("{}: cannot be read", path.string()));
  return std::string(std::istreambuf_iterator<char>(file), {});
}

bool IsWordCharacter(char character) { return absl::ascii_isalnum(static_cast<unsigned char>(character)); }

/// Python writes NaN and Infinity, which are not JSON: they become null. Texts stay as they are.
std::string WithoutNonFinite(const std::string& text) {
  std::string clean;
  clean.reserve(text.size());
  bool in_text = false;
  for (size_t at = 0; at < text.size(); ++at) {
    const char character = text[at];
    if (in_text) {
      clean += character;
      if (character == '\\' && at + 1 < text.size()) clean += text[++at];
      if (character == '"') in_text = false;
      continue;
    }
    if (character == '"') in_text = true;
    bool replaced = false;
    for (std::string_view word : {"-Infinity", "Infinity", "NaN"}) {
      if (text.compare(at, word.size(), word) != 0) continue;
      if (at + word.size() < text.size() && IsWordCharacter(text[at + word.size()])) continue;
      clean += "null";
      at += word.size() - 1;
      replaced = true;
      break;
    }
    if (!replaced) clean += character;
  }
  return clean;
}

bool IsExportOfCrema(const fs::path& metadata) {
  const absl::StatusOr<std::string> text = ReadText(metadata);
  if (!text.ok()) return false;
  const auto document = nlohmann::ordered_json::parse(*text, nullptr, /*allow_exceptions=*/false);
  return TextField(document, "written_by").compare(0, 6, "crema ") == 0;
}

}  // namespace

bool IsRoastcoffea(const std::string& directory) {
  std::error_code error;
  const fs::path path(directory);
  return fs::is_regular_file(path / kMetrics, error) && fs::is_regular_file(path / kTimes, error) &&
         !fs::exists(path / "measurement.json", error);
}

absl::StatusOr<RoastcoffeaMeasurement> ReadRoastcoffea(const std::string& directory) {
  const fs::path path(directory);
  const absl::StatusOr<std::string> text = ReadText(path / kMetrics);
  if (!text.ok()) return text.status();
  const absl::StatusOr<std::string> times = ReadText(path / kTimes);
  if (!times.ok()) return times.status();
  RoastcoffeaMeasurement measurement;
  measurement.metrics = nlohmann::ordered_json::parse(WithoutNonFinite(*text), nullptr, /*allow_exceptions=*/false);
  if (!measurement.metrics.is_object()) {
    return absl::InvalidArgumentError(
        fmt::format("{}: is no JSON object; save the measurement again with roastcoffea", (path / kMetrics).string()));
  }
  const size_t comma = times->find(',');
  double start = 0, stop = 0;
  const bool are_times = comma != std::string::npos && absl::SimpleAtod(times->substr(0, comma), &start) &&
                         absl::SimpleAtod(times->substr(comma + 1), &stop);
  if (!are_times || !std::isfinite(stop - start) || stop < start) {
    return absl::InvalidArgumentError(
        fmt::format("{}: holds no start and stop (two numbers with a comma between)", (path / kTimes).string()));
  }
  measurement.elapsed_seconds = stop - start;
  measurement.has_section_paths = IsExportOfCrema(path / "metadata.json");
  fs::path named = fs::absolute(path).lexically_normal();
  if (!named.has_filename()) named = named.parent_path();
  measurement.name = named.filename().string();
  return measurement;
}

}  // namespace crema

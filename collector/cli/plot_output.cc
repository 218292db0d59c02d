#include "collector/cli/plot_output.h"

#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "collector/cli/measured_source.h"
#include "collector/pictures/renderer.h"
#include "fmt/format.h"

namespace crema {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPlaceholder = "{name}";
constexpr std::string_view kSpecification = "json";

/// `png`, `svg`, `pdf` or `json`; empty for anything else.
std::string FormatOf(const std::string& path) {
  const std::string extension = fs::path(path).extension().string();
  for (const char* format : {"png", "svg", "pdf", "json"}) {
    if (extension == std::string(".") + format) return format;
  }
  return "";
}

bool IsPattern(const std::string& path) { return path.find(kPlaceholder) != std::string::npos; }

/// The name of a chart may hold what users call their metrics; that of a file should not.
std::string FileNameOf(const std::string& chart, std::set<std::string>* taken) {
  constexpr size_t kMostBytes = 100;
  std::string name;
  for (const char byte : chart.substr(0, kMostBytes)) {
    const bool is_plain =
        std::isalnum(static_cast<unsigned char>(byte)) != 0 || byte == '_' || byte == '-' || byte == '.';
    name += is_plain ? byte : '_';
  }
  std::string distinguished = name;
  for (int number = 2; !taken->insert(distinguished).second; ++number)
    distinguished = fmt::format("{}_{}", name, number);
  return distinguished;
}

std::string InPattern(std::string pattern, const std::string& name) {
  return pattern.replace(pattern.find(kPlaceholder), kPlaceholder.size(), name);
}

/// One file to be written.
struct PlannedFile {
  size_t chart = 0;
  std::string path;
  std::string format;
};

absl::StatusOr<std::vector<PlannedFile>> PlanFiles(const std::vector<Chart>& charts, const PlotOutput& output) {
  std::vector<std::string> formats = output.formats;
  if (formats.empty()) formats = {"png"};
  std::vector<PlannedFile> files;
  std::set<std::string> taken;
  for (size_t i = 0; i < charts.size(); ++i) {
    if (charts[i].spec.is_null()) continue;
    if (output.IsOneFile()) {
      files.push_back({i, output.path, FormatOf(output.path)});
      continue;
    }
    const std::string name = FileNameOf(charts[i].name, &taken);
    if (IsPattern(output.path)) {
      if (FormatOf(output.path).empty()) {
        return absl::InvalidArgumentError(output.path + ": the pattern must end in .png, .svg, .pdf or .json");
      }
      files.push_back({i, InPattern(output.path, name), FormatOf(output.path)});
      continue;
    }
    for (const std::string& format : formats) {
      files.push_back({i, (fs::path(output.path) / (name + "." + format)).string(), format});
    }
  }
  return files;
}

std::string SpecificationText(const Chart& chart) {
  return chart.spec.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

absl::StatusOr<std::string> ContentOf(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return absl::InternalError(path.string() + ": the renderer wrote nothing");
  return std::string(std::istreambuf_iterator<char>(file), {});
}

/// All pictures at once; a renderer costs more to start than a picture to draw.
absl::Status WritePictures(const std::vector<Chart>& charts, const std::vector<PlannedFile>& files,
                           const PlotOutput& output, const std::string& directory) {
  std::vector<PictureJob> jobs;
  for (size_t i = 0; i < files.size(); ++i) {
    const std::string stem = fmt::format("{}/{}", directory, i);
    std::ofstream(stem + ".spec") << SpecificationText(charts[files[i].chart]);
    jobs.push_back({stem + ".spec", stem + ".picture", files[i].format});
  }
  const absl::StatusOr<std::vector<absl::Status>> rendered = RenderPictures(jobs, output.python, directory);
  if (!rendered.ok()) return rendered.status();
  absl::Status first_failure;
  for (size_t i = 0; i < files.size(); ++i) {
    absl::Status status = (*rendered)[i];
    if (status.ok()) {
      absl::StatusOr<std::string> content = ContentOf(jobs[i].picture_path);
      status = content.ok() ? WritePicture(files[i].path, MarkedPicture(*std::move(content), files[i].format))
                            : content.status();
    }
    if (!status.ok() && first_failure.ok()) {
      first_failure = absl::Status(status.code(), fmt::format("{}: {}", files[i].path, std::string(status.message())));
    }
  }
  return first_failure;
}

/// Where the specification of a picture goes when there is no renderer.
std::string SpecificationPath(const std::string& picture) {
  return fs::path(picture).replace_extension(".json").string();
}

absl::Status WriteSpecificationsInstead(const std::vector<Chart>& charts, const std::vector<PlannedFile>& files,
                                        bool force, const absl::Status& why) {
  std::set<std::string> written;
  for (const PlannedFile& file : files) {
    const std::string path = SpecificationPath(file.path);
    if (!written.insert(path).second) continue;
    if (absl::Status may = CheckMayReplacePicture(path, force); !may.ok()) return may;
    if (absl::Status status = WritePicture(path, SpecificationText(charts[file.chart])); !status.ok()) return status;
  }
  return absl::NotFoundError(fmt::format("{}; wrote Vega-Lite specifications instead, {}{}; {}",
                                         std::string(why.message()), *written.begin(),
                                         written.size() > 1 ? " and so on" : "", HowToGetPictures()));
}

}  // namespace

bool PlotOutput::IsOneFile() const { return !FormatOf(path).empty() && !IsPattern(path); }

void AddChartOptions(CLI::App* subcommand, const char* help, PlotOutput* output) {
  output->path.clear();
  subcommand->add_option("--chart", output->path, help)->option_text("FILE");
  subcommand->add_flag("--force", output->force, "Let the chart replace a file that crema did not write");
}

void CheckChart(const PlotOutput& output) {
  if (output.path.empty() || output.IsOneFile()) return;
  throw CLI::ValidationError("--chart", "the file must end in .png, .svg, .pdf or .json");
}

absl::Status WriteCharts(const std::vector<Chart>& charts, const PlotOutput& output) {
  const absl::StatusOr<std::vector<PlannedFile>> planned = PlanFiles(charts, output);
  if (!planned.ok()) return planned.status();
  std::vector<PlannedFile> pictures;
  for (const PlannedFile& file : *planned) {
    if (absl::Status may = CheckMayReplacePicture(file.path, output.force); !may.ok()) return may;
    if (file.format != kSpecification) pictures.push_back(file);
  }
  for (const PlannedFile& file : *planned) {
    if (file.format != kSpecification) continue;
    if (absl::Status status = WritePicture(file.path, SpecificationText(charts[file.chart])); !status.ok())
      return status;
  }
  if (pictures.empty()) return absl::OkStatus();
  const absl::StatusOr<std::unique_ptr<TemporaryDirectory>> directory = TemporaryDirectory::Make();
  if (!directory.ok()) return directory.status();
  absl::Status status = WritePictures(charts, pictures, output, (*directory)->path());
  if (!absl::IsNotFound(status)) return status;
  return WriteSpecificationsInstead(charts, pictures, output.force, status);
}

}  // namespace crema

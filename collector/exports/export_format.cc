#include "collector/exports/export_format.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "collector/exports/formats.h"
#include "collector/exports/prmon.h"

namespace crema {
namespace {

bool BeginsWith(std::string_view text, std::string_view beginning) {
  return text.substr(0, beginning.size()) == beginning;
}

/// Whether a small file of the directory names crema as its writer.
bool FileNamesCrema(std::string_view directory, const char* file, std::string_view mark = "\"written_by\": \"crema") {
  std::ifstream in(std::filesystem::path(directory) / file, std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(in), {});
  return text.find(mark) != std::string::npos;
}

bool IsFileset(std::string_view text) {
  return text.find("\"files\": {") != std::string_view::npos && text.find("\"object_path\":") != std::string_view::npos;
}

constexpr std::string_view kFlameGraph = "open {0} at https://www.speedscope.app, or flamegraph.pl {0} > flames.svg";

constexpr ExportFormat kFormats[] = {
    {"chunks", "every chunk attempt: JSON Lines, or CSV where PATH ends in .csv", WriteChunks, nullptr,
     [](std::string_view text) {
       return BeginsWith(text, R"({"run_id":)") || BeginsWith(text, "run_id,worker,") ||
              BeginsWith(text, R"({"dataset":)") || BeginsWith(text, "dataset,file,tree,");
     }},
    {"coffea-fileset", "files and entries without a result, to run them again: a fileset (JSON) as Coffea takes it",
     WriteCoffeaFileset, nullptr, [](std::string_view text) { return BeginsWith(text, "{}\n") || IsFileset(text); }},
    {"csv", "a directory with one CSV file a table", nullptr, WriteCsvTables,
     [](std::string_view path) { return FileNamesCrema(path, "crema_tables.json"); }},
    {"roastcoffea", "a directory that roastcoffea's load_measurement reads", nullptr, WriteRoastcoffea,
     [](std::string_view path) { return FileNamesCrema(path, "metadata.json"); }},
    {"prometheus", "Prometheus' text format, for node_exporter's textfile collector or a push gateway", WritePrometheus,
     nullptr, [](std::string_view text) { return BeginsWith(text, "# HELP crema_"); }},
    {"perfetto", "Chrome's trace format (JSON), for ui.perfetto.dev", WritePerfetto, nullptr,
     [](std::string_view text) { return BeginsWith(text, R"({"otherData":{"written_by":"crema)"); }, "", false,
     "open {} at https://ui.perfetto.dev"},
    {"folded", "stacks of sections, for flamegraph.pl or speedscope.app", WriteFolded, nullptr,
     [](std::string_view text) {
       return BeginsWith(text, "chunks;") || BeginsWith(text, "helpers of chunks;") ||
              BeginsWith(text, "outside chunks;");
     },
     "", true, kFlameGraph},
    {"stacks", "stacks of functions by dataset and section with their samples, for flamegraph.pl or speedscope.app",
     WriteFoldedStacks, nullptr, [](std::string_view text) { return BeginsWith(text, "chunks;"); }, "", true,
     kFlameGraph},
    {"speedscope", "the same stacks in seconds of CPU time, a profile a dataset (JSON), for speedscope.app",
     WriteSpeedscope, nullptr, [](std::string_view text) { return BeginsWith(text, R"({"exporter":"crema)"); }, "",
     false, "open {} at https://www.speedscope.app"},
    {"pprof", "the same stacks for go tool pprof, with labels for dataset and section", WritePprof, nullptr,
     [](std::string_view text) {
       return text.size() > 4 && BeginsWith(text, std::string_view("2\0002", 3)) &&
              BeginsWith(text.substr(4), "crema ");
     },
     "", false, "go tool pprof {}"},
    {"cms-resources", "resources.json as CMSSW's FastTimerService writes it, for circles", WriteCmsResources, nullptr,
     [](std::string_view text) { return text.find("\"written_by\": \"crema") != std::string_view::npos; }},
    {"prmon", "a directory with prmon.txt and prmon.json, as HSF prmon writes them of a job", nullptr, WritePrmon,
     [](std::string_view path) { return FileNamesCrema(path, "prmon.json", kPrmonWriter); }},
};

}  // namespace

absl::Span<const ExportFormat> ExportFormats() { return kFormats; }

}  // namespace crema

#include "collector/exports/export_format.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_join.h"
#include "collector/files/output_directory.h"
#include "collector/idioms/file_system.h"
#include "collector/idioms/text.h"
#include "collector/records/json_fields.h"
#include "nlohmann/json.hpp"

namespace crema {
namespace {

constexpr size_t kBufferBytes = size_t{1} << 20;

bool IsFormula(const std::string& text) {
  if (text.empty() || std::string_view("=+-@\t\r").find(text.front()) == std::string_view::npos) return false;
  double number = 0;
  return !absl::SimpleAtod(text, &number);
}

/// Whether a small file of the directory names crema as its writer.
bool FileNamesCrema(std::string_view directory, const char* file, std::string_view mark = "\"written_by\": \"crema") {
  const absl::StatusOr<std::string> text = ReadText(std::filesystem::path(directory) / file);
  return text.ok() && text->find(mark) != std::string::npos;
}

constexpr std::string_view kFlameGraph = "open {0} at https://www.speedscope.app, or flamegraph.pl {0} > flames.svg";

constexpr ExportFormat kFormats[] = {
    {"chunks", "every chunk attempt: JSON Lines, or CSV where PATH ends in .csv", WriteChunks, nullptr,
     [](std::string_view text) {
       return BeginsWith(text, R"({"run_id":)") || BeginsWith(text, "run_id,worker,") ||
              BeginsWith(text, R"({"dataset":)") || BeginsWith(text, "dataset,file,tree,");
     },
     "read {} with pandas: read_json(..., lines=True), or read_csv"},
    {"coffea-fileset", "files and entries without a result, to run them again: a fileset (JSON) as Coffea takes it",
     WriteCoffeaFileset, nullptr,
     [](std::string_view text) {
       return BeginsWith(text, "{}\n") || (text.find("\"files\": {") != std::string_view::npos &&
                                           text.find("\"object_path\":") != std::string_view::npos);
     },
     "give {} to Coffea's preprocess, or to crema_hep.work_items"},
    {"csv", "a directory with one CSV file a table", nullptr, WriteCsvTables,
     [](std::string_view path) { return FileNamesCrema(path, "crema_tables.json"); },
     "open the tables of {} with pandas or a spreadsheet"},
    {"roastcoffea", "a directory that roastcoffea's load_measurement reads", nullptr, WriteRoastcoffea,
     [](std::string_view path) { return FileNamesCrema(path, "metadata.json"); },
     "open {} with roastcoffea's load_measurement"},
    {"prometheus", "Prometheus' text format, for node_exporter's textfile collector or a push gateway", WritePrometheus,
     nullptr, [](std::string_view text) { return BeginsWith(text, "# HELP crema_"); },
     "move {} into the directory of node_exporter's textfile collector"},
    {"perfetto", "Chrome's trace format (JSON), for ui.perfetto.dev", WritePerfetto, nullptr,
     [](std::string_view text) { return BeginsWith(text, R"({"otherData":{"written_by":"crema)"); },
     "open {} at https://ui.perfetto.dev"},
    {"folded", "stacks of sections, for flamegraph.pl or speedscope.app", WriteFolded, nullptr,
     [](std::string_view text) {
       return BeginsWith(text, "chunks;") || BeginsWith(text, "helpers of chunks;") ||
              BeginsWith(text, "outside chunks;");
     },
     kFlameGraph, "", true},
    {"stacks", "stacks of functions by dataset and section with their samples, for flamegraph.pl or speedscope.app",
     WriteFoldedStacks, nullptr, [](std::string_view text) { return BeginsWith(text, "chunks;"); }, kFlameGraph, "",
     true},
    {"speedscope", "the same stacks in seconds of CPU time, a profile a dataset (JSON), for speedscope.app",
     WriteSpeedscope, nullptr, [](std::string_view text) { return BeginsWith(text, R"({"exporter":"crema)"); },
     "open {} at https://www.speedscope.app"},
    {"pprof", "the same stacks for go tool pprof, with labels for dataset and section", WritePprof, nullptr,
     [](std::string_view text) {
       return text.size() > 4 && BeginsWith(text, std::string_view("2\0002", 3)) &&
              BeginsWith(text.substr(4), "crema ");
     },
     "go tool pprof {}"},
    {"cms-resources", "resources.json as CMSSW's FastTimerService writes it, for circles", WriteCmsResources, nullptr,
     [](std::string_view text) { return text.find("\"written_by\": \"crema") != std::string_view::npos; },
     "open {} in circles"},
    {"prmon", "a directory with prmon.txt and prmon.json, as HSF prmon writes them of a job", nullptr, WritePrmon,
     [](std::string_view path) { return FileNamesCrema(path, "prmon.json", kPrmonWriter); },
     "prmon_plot.py --input {}/prmon.txt --xvar wtime --yvar rss"},
};

namespace fs = std::filesystem;

absl::Status CheckMayReplace(const ExportFormat& format, const fs::path& path, bool force) {
  std::error_code error;
  const fs::file_status status = fs::symlink_status(path, error);
  if (!fs::exists(status)) return absl::OkStatus();
  const bool wants_directory = format.write_directory != nullptr;
  if (wants_directory != fs::is_directory(status) || (!wants_directory && !fs::is_regular_file(status))) {
    return absl::FailedPreconditionError(fmt::format("{}: exists and is not a {}; choose another path", path.string(),
                                                     wants_directory ? "directory" : "regular file"));
  }
  if (force || fs::is_empty(path, error)) return absl::OkStatus();
  if (format.is_ours(wants_directory ? path.string() : BeginningOf(path, 4096))) return absl::OkStatus();
  const std::string command =
      format.command.empty() ? fmt::format("crema export --to {}", format.name) : std::string(format.command);
  return absl::AlreadyExistsError(fmt::format(
      "{}: exists and was not written by `{}`; choose another path, or add --force", path.string(), command));
}

absl::Status WriteFile(const ExportFormat& format, const ExportSource& source, const fs::path& temporary,
                       const fs::path& path) {
  const Descriptor descriptor(temporary, O_WRONLY | O_NOFOLLOW);
  if (descriptor < 0) return Failed(temporary, errno);
  TextSink sink(descriptor, path.string());
  absl::Status status = format.write_file(source, path.string(), &sink);
  if (status.ok()) status = sink.Flush();
  if (status.ok() && fsync(descriptor) != 0) status = Failed(path, errno);
  return status;
}

absl::Status WriteDirectory(const ExportFormat& format, const ExportSource& source, const fs::path& temporary) {
  if (absl::Status status = format.write_directory(source, temporary.string()); !status.ok()) return status;
  for (const fs::path& path : EntriesOf(temporary)) {
    if (absl::Status synced = Sync(path); !synced.ok()) return synced;
  }
  return Sync(temporary);
}

/// In a directory that is there, only the files of the same names are replaced: others stay.
absl::Status MoveFilesInto(const fs::path& parts, const fs::path& directory) {
  for (const fs::path& path : EntriesOf(parts)) {
    const fs::path to = directory / path.filename();
    if (rename(path.c_str(), to.c_str()) != 0) return Failed(to, errno);
  }
  return Sync(directory);
}

absl::Status PutInPlace(TemporaryFile* temporary, const fs::path& path) {
  std::error_code error;
  if (fs::is_directory(fs::symlink_status(path, error))) return MoveFilesInto(temporary->path(), path);
  if (absl::Status status = temporary->Rename(); !status.ok()) return status;
  return Sync(path.parent_path());
}

}  // namespace

void TextSink::Write(std::string_view text) {
  if (text_ != nullptr) {
    text_->append(text);
    return;
  }
  buffer_.append(text);
  // an error is kept, and reported by the last Flush
  if (buffer_.size() >= kBufferBytes) Flush().IgnoreError();
}

absl::Status TextSink::Flush() {
  if (status_.ok()) status_ = WriteAll(descriptor_, name_, buffer_);
  buffer_.clear();
  return status_;
}

absl::Status WriteTextFile(const std::string& path, const std::function<absl::Status(TextSink*)>& write) {
  const Descriptor descriptor(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0666);
  if (descriptor < 0) return Failed(path, errno);
  TextSink sink(descriptor, path);
  absl::Status status = write(&sink);
  return status.ok() ? sink.Flush() : status;
}

absl::Status WriteTextFile(const std::string& path, std::string_view text) {
  return WriteTextFile(path, [text](TextSink* sink) {
    sink->Write(text);
    return absl::OkStatus();
  });
}

std::string CsvField(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  return "\"" + absl::StrReplaceAll(std::string(text), {{"\"", "\"\""}}) + "\"";
}

std::string CsvField(const Cell& value) {
  if (const Number* number = std::get_if<Number>(&value)) return DigitsOf(*number);
  if (const bool* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  const std::string* text = std::get_if<std::string>(&value);
  if (text == nullptr) return "";
  return CsvField(std::string_view(IsFormula(*text) ? "'" + *text : *text));
}

std::string CsvField(const Json& value) {
  if (value.is_null()) return "";
  if (value.is_string()) return CsvField(Cell(value.get<std::string>()));
  return CsvField(std::string_view(JsonText(value)));
}

std::string CsvLine(const std::vector<std::string>& fields) { return absl::StrJoin(fields, ",") + "\r\n"; }

absl::Span<const ExportFormat> ExportFormats() { return kFormats; }

absl::Status Export(const ExportFormat& format, const ExportSource& source, const std::string& path, bool force) {
  if (path == "-") {
    if (format.write_file == nullptr) {
      return absl::InvalidArgumentError(
          fmt::format("{} is a directory of files and cannot go to stdout; give -o DIRECTORY", format.name));
    }
    TextSink sink(STDOUT_FILENO, "stdout");
    if (absl::Status status = format.write_file(source, path, &sink); !status.ok()) return status;
    return sink.Flush();
  }
  fs::path target = fs::absolute(path).lexically_normal();
  if (!target.has_filename()) target = target.parent_path();
  if (absl::Status may = CheckMayReplace(format, target, force); !may.ok()) return may;
  std::error_code error;
  fs::create_directories(target.parent_path(), error);
  if (error) return Failed(target.parent_path(), error.value());
  const bool is_file = format.write_file != nullptr;
  absl::StatusOr<TemporaryFile> temporary = TemporaryFile::Make(target, is_file ? 0666 : 0777, !is_file);
  if (!temporary.ok()) return temporary.status();
  absl::Status status = is_file ? WriteFile(format, source, temporary->path(), target)
                                : WriteDirectory(format, source, temporary->path());
  if (status.ok()) status = PutInPlace(&*temporary, target);
  return status;
}

}  // namespace crema

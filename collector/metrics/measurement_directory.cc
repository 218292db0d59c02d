// A measurement on disk: `measurement.json` and `records/`.
#include "collector/metrics/measurement_directory.h"

#include <sys/stat.h>

#include <nlohmann/json.hpp>
#include <set>

#include "collector/compression/decompressed_file.h"
#include "collector/files/output_directory.h"
#include "collector/idioms/file_system.h"
#include "collector/records/json_fields.h"
#include "collector/sources/record_log.h"

namespace crema {
namespace {

namespace fs = std::filesystem;

constexpr int kNewFile = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW;
constexpr size_t kCopiedBytes = size_t{1} << 20;

// Copies a log that may grow meanwhile, up to its last whole line.
absl::Status CopyLog(const fs::path& from, const fs::path& to) {
  const Descriptor source(from, O_RDONLY);
  if (source < 0) return Failed(from, errno);
  const Descriptor file(to, kNewFile);
  if (file < 0) return Failed(to, errno);
  const std::unique_ptr<char[]> block(new char[kCopiedBytes]);
  off_t copied = 0, whole = 0;
  for (ssize_t got; (got = read(source, block.get(), kCopiedBytes)) != 0;) {
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Failed(from, errno);
    const std::string_view text(block.get(), static_cast<size_t>(got));
    if (absl::Status written = WriteAll(file, to, text); !written.ok()) return written;
    const size_t newline = text.rfind('\n');
    if (newline != std::string_view::npos) whole = copied + static_cast<off_t>(newline) + 1;
    copied += got;
  }
  if (ftruncate(file, whole) != 0 || fsync(file) != 0) return Failed(to, errno);
  return absl::OkStatus();
}

// Dates in a log may lack their year, which then follows from the time of the file.
absl::Status CopyWithTime(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::copy_file(from, to, error);
  if (error) return Failed(to, error.value());
  fs::last_write_time(to, fs::last_write_time(from, error), error);
  return absl::OkStatus();
}

// A log that will not change is the same file under a second name; where that cannot be, a copy.
absl::Status LinkLog(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::create_hard_link(from, to, error);
  return error ? CopyWithTime(from, to) : absl::OkStatus();
}

// `stem` and `ending`, numbered in between where that is taken.
std::string UniqueName(std::string_view stem, std::string_view ending, std::set<std::string>& taken) {
  std::string name = fmt::format("{}{}", stem, ending);
  for (int i = 2; !taken.insert(name).second; ++i) name = fmt::format("{}~{}{}", stem, i, ending);
  return name;
}

// The name a log gets among others: its own, numbered where two of different directories share it.
std::string UniqueName(const std::string& name, std::set<std::string>& taken) {
  const std::string_view kind = KindOfLog(name);
  return UniqueName(std::string_view(name).substr(0, name.size() - kind.size()), kind, taken);
}

// A log that grows is copied under a name that says so: once read from the copy, its process does not pass for lost.
absl::Status KeepLog(const fs::path& from, const fs::path& directory, std::set<std::string>& taken) {
  const std::string name = from.filename().string();
  if (!IsHeldByItsProcess(from.string())) return LinkLog(from, directory / UniqueName(name, taken));
  return CopyLog(from, directory / UniqueName(LiveCopyName(name), taken));
}

// A copy of an engine's log gets the ending by which it is found again.
absl::Status KeepEngineLog(const EngineLog& log, const fs::path& directory, std::set<std::string>& taken) {
  const std::string name = fs::path(log.path).filename().string();
  const std::string_view plain = NameBeforeCompression(name);
  const std::string_view compression = std::string_view(name).substr(plain.size());
  const std::string unique = UniqueName(fmt::format("{}{}{}", plain, log.engine->log_suffix, compression), taken);
  if (log.engine->keep == nullptr || !compression.empty()) return CopyWithTime(log.path, directory / unique);
  return log.engine->keep(log.path, directory.string(),
                          unique.substr(0, unique.size() - log.engine->log_suffix.size()));
}

// The same for a file of Coffea, which gets the ending by which it is found again.
std::string UniqueName(const CoffeaFile& file, std::set<std::string>& taken) {
  const std::string suffix(SuffixOf(file.kind));
  std::string stem = fs::path(file.path).filename().string();
  for (const std::string& ending : {suffix, std::string(".json")}) {
    if (stem.size() <= ending.size() || stem.compare(stem.size() - ending.size(), ending.size(), ending) != 0) continue;
    stem.resize(stem.size() - ending.size());
    break;
  }
  return UniqueName(stem, suffix, taken);
}

// Files of Coffea are copied: unlike ended logs they belong to somebody, who may write them again.
absl::Status KeepCoffeaFiles(const std::vector<CoffeaFile>& files, const fs::path& directory,
                             std::set<std::string> taken) {
  for (const CoffeaFile& file : files) {
    const absl::StatusOr<std::string> text = ReadText(file.path);
    if (!text.ok()) return text.status();
    if (absl::Status written = WriteSynced(directory / UniqueName(file, taken), kNewFile, *text); !written.ok())
      return written;
  }
  return absl::OkStatus();
}

// Names of files may hold anything; the document is UTF-8.
std::string DocumentText(const MeasuredRun& measured) {
  if (!measured.text.empty()) return measured.text;
  return JsonText(JsonOf(measured.measurement), 1) + "\n";
}

absl::Status WriteParts(const MeasuredRun& measured, const SaveOptions& options, bool records,
                        const fs::path& directory) {
  if (absl::Status written = WriteSynced(directory / kDocumentName, kNewFile, DocumentText(measured)); !written.ok()) {
    return written;
  }
  if (records) {
    const fs::path kept = directory / kRecordsName;
    if (mkdir(kept.c_str(), 0700) != 0) return Failed(kept, errno);
    std::set<std::string> taken;
    for (const std::string& path : measured.log_paths) {
      if (options.is_cancelled != nullptr && options.is_cancelled()) {
        return absl::CancelledError("interrupted: nothing was written; what was there is as it was");
      }
      if (absl::Status status = KeepLog(path, kept, taken); !status.ok()) return status;
    }
    for (const EngineLog& log : measured.engine_logs) {
      if (absl::Status status = KeepEngineLog(log, kept, taken); !status.ok()) return status;
    }
    if (absl::Status status = KeepCoffeaFiles(measured.coffea_files, kept, taken); !status.ok()) return status;
    if (absl::Status synced = Sync(kept); !synced.ok()) return synced;
  }
  return Sync(directory);
}

// Whether all logs lie in the directory's own `records`: they are where they belong.
bool HoldsItsLogs(const fs::path& directory, const MeasuredRun& measured) {
  if (!measured.engine_logs.empty()) return false;
  for (const std::string& path : measured.log_paths) {
    std::error_code error;
    if (!fs::equivalent(fs::path(path).parent_path(), directory / kRecordsName, error)) return false;
  }
  return !measured.log_paths.empty();
}

// The logs are where they belong: only the document is made anew, after files of Coffea that are new beside them.
absl::Status AddDocument(const MeasuredRun& measured, bool records, const fs::path& room, const fs::path& directory) {
  const fs::path kept = directory / kRecordsName;
  std::error_code error;
  std::set<std::string> taken;
  for (const fs::path& path : EntriesOf(kept)) taken.insert(path.filename().string());
  const fs::path added = room / kRecordsName;
  if (mkdir(added.c_str(), 0700) != 0) return Failed(added, errno);
  if (records) {
    // what is in `records/` already is known by its directory
    std::vector<CoffeaFile> files;
    for (const CoffeaFile& file : measured.coffea_files) {
      if (!fs::equivalent(fs::path(file.path).parent_path(), kept, error)) files.push_back(file);
    }
    if (absl::Status status = KeepCoffeaFiles(files, added, taken); !status.ok()) return status;
  }
  const fs::path document = room / kDocumentName;
  if (absl::Status status = WriteSynced(document, kNewFile, DocumentText(measured)); !status.ok()) return status;
  for (const fs::path& file : EntriesOf(added)) {
    if (rename(file.c_str(), (kept / file.filename()).c_str()) != 0) return Failed(kept / file.filename(), errno);
  }
  if (rename(document.c_str(), (directory / kDocumentName).c_str()) != 0) {
    return Failed(directory / kDocumentName, errno);
  }
  return Sync(directory);
}

absl::Status Save(const MeasuredRun& measured, const SaveOptions& options, OutputDirectory* output) {
  if (HoldsItsLogs(output->path(), measured)) {
    const absl::StatusOr<fs::path> room = output->MakeRoom();
    if (!room.ok()) return room.status();
    absl::Status status = AddDocument(measured, options.records, *room, output->path());
    std::error_code ignored;
    fs::remove_all(*room, ignored);
    return status;
  }
  const bool has_records =
      !(measured.log_paths.empty() && measured.engine_logs.empty() && measured.coffea_files.empty());
  const absl::StatusOr<fs::path> parts = output->Prepare({options.replace, options.force});
  if (!parts.ok()) return parts.status();
  absl::Status status = WriteParts(measured, options, options.records && has_records, *parts);
  if (status.ok()) status = output->Install();
  if (status.ok()) status = output->Settle();
  if (status.ok() && options.kept_as != nullptr) *options.kept_as = output->kept_as();
  return status;
}

}  // namespace

absl::Status SaveMeasurement(const MeasuredRun& measured, const std::string& directory, const SaveOptions& options) {
  if (options.claimed != nullptr) return Save(measured, options, options.claimed);
  absl::StatusOr<OutputDirectory> claimed = OutputDirectory::Claim(directory);
  if (!claimed.ok()) return claimed.status();
  return Save(measured, options, &*claimed);
}

bool IsMeasurement(const std::string& directory) {
  std::error_code error;
  return fs::is_regular_file(fs::path(directory) / kDocumentName, error);
}

absl::StatusOr<MeasuredRun> ParseMeasurement(const std::string& text, const std::string& source) {
  const auto document = ParsedJson(text);
  if (!document.is_object() || !document.contains("schema") || !document["schema"].is_string()) {
    return absl::InvalidArgumentError(fmt::format(
        "{}: is not a measurement (no JSON object with a schema); make it again with `crema collect`", source));
  }
  if (const auto& schema = document["schema"].get_ref<const std::string&>(); schema != kMeasurementSchema) {
    return absl::FailedPreconditionError(
        fmt::format("{}: its schema is {}, but this crema reads {}; read it with the crema that wrote it", source,
                    schema, kMeasurementSchema));
  }
  MeasuredRun measured;
  measured.measurement = MeasurementOf(document);
  measured.text = text;
  return measured;
}

absl::StatusOr<MeasuredRun> LoadMeasurement(const std::string& directory) {
  if (const absl::Status status = CompleteOutput(directory); !status.ok()) return status;
  const fs::path path = fs::path(directory) / kDocumentName;
  const absl::StatusOr<std::string> text = ReadText(path);
  if (!text.ok()) return text.status();
  return ParseMeasurement(*text, path.string());
}

}  // namespace crema

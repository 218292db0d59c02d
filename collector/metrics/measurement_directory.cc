// A measurement on disk: `measurement.json` and `records/`.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <system_error>
#include <utility>

#include "collector/metrics/measurement.h"
#include "collector/sources/log_life.h"

namespace crema {
namespace {

namespace fs = std::filesystem;

constexpr char kDocument[] = "measurement.json";
constexpr char kRecords[] = "records";
constexpr std::string_view kSchemaName = "crema.measurement/";

absl::Status Failed(const fs::path& path, int error) { return absl::ErrnoToStatus(error, path.string()); }
absl::Status Failed(const fs::path& path, const std::error_code& error) { return Failed(path, error.value()); }

/// A descriptor that is closed whatever happens.
class Descriptor {
 public:
  Descriptor(const fs::path& path, int flags, mode_t mode = 0600) : fd_(open(path.c_str(), flags | O_CLOEXEC, mode)) {}
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

absl::Status WriteSynced(const fs::path& path, std::string_view text) {
  const Descriptor file(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW);
  if (file.get() < 0) return Failed(path, errno);
  while (!text.empty()) {
    const ssize_t written = write(file.get(), text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return Failed(path, errno);
    text.remove_prefix(static_cast<size_t>(written));
  }
  return fsync(file.get()) == 0 ? absl::OkStatus() : Failed(path, errno);
}

absl::Status SyncDirectory(const fs::path& path) {
  const Descriptor directory(path, O_RDONLY | O_DIRECTORY);
  if (directory.get() < 0) return Failed(path, errno);
  return fsync(directory.get()) == 0 ? absl::OkStatus() : Failed(path, errno);
}

absl::Status Rename(const fs::path& from, const fs::path& to) {
  return rename(from.c_str(), to.c_str()) == 0 ? absl::OkStatus() : Failed(to, errno);
}

absl::StatusOr<std::string> ReadText(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return absl::NotFoundError(fmt::format("{}: cannot be read ({})", path.string(), strerror(errno)));
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// Copies a log that may grow meanwhile, up to its last whole line.
absl::Status CopyLog(const fs::path& from, const fs::path& to) {
  absl::StatusOr<std::string> text = ReadText(from);
  if (!text.ok()) return text.status();
  text->resize(text->rfind('\n') + 1);  // none: empty
  return WriteSynced(to, *text);
}

// A log that will not change is the same file under a second name; where that cannot be, a copy.
absl::Status LinkLog(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::create_hard_link(from, to, error);
  if (!error) return absl::OkStatus();
  fs::copy_file(from, to, error);
  return error ? Failed(to, error) : absl::OkStatus();
}

// The name a log gets among others: its own, numbered where two of different directories share it.
std::string UniqueName(const std::string& name, std::set<std::string>& taken) {
  const std::string_view kind = KindOfLog(name);
  const std::string stem = name.substr(0, name.size() - kind.size());
  std::string unique = name;
  for (int i = 2; !taken.insert(unique).second; ++i) unique = fmt::format("{}~{}{}", stem, i, kind);
  return unique;
}

// A log that grows is copied under a name that says so: once read from the copy, its process does not pass for lost.
absl::Status KeepLog(const fs::path& from, const fs::path& directory, std::set<std::string>& taken) {
  const std::string name = from.filename().string();
  if (!IsHeldByItsProcess(from.string())) return LinkLog(from, directory / UniqueName(name, taken));
  return CopyLog(from, directory / UniqueName(LiveCopyName(name), taken));
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
  std::string name = stem + suffix;
  for (int i = 2; !taken.insert(name).second; ++i) name = fmt::format("{}~{}{}", stem, i, suffix);
  return name;
}

// Files of Coffea are copied: unlike ended logs they belong to somebody, who may write them again.
absl::Status KeepCoffeaFiles(const std::vector<CoffeaFile>& files, const fs::path& directory,
                             std::set<std::string> taken) {
  for (const CoffeaFile& file : files) {
    std::error_code error;
    if (fs::equivalent(fs::path(file.path).parent_path(), directory, error)) continue;  // it lies there already
    const absl::StatusOr<std::string> text = ReadText(file.path);
    if (!text.ok()) return text.status();
    if (absl::Status written = WriteSynced(directory / UniqueName(file, taken), *text); !written.ok()) return written;
  }
  return absl::OkStatus();
}

absl::Status WriteParts(const Measurement& measurement, bool records, const fs::path& directory) {
  if (mkdir(directory.c_str(), 0700) != 0) return Failed(directory, errno);
  // Names of files may hold anything; the document is UTF-8.
  const std::string text =
      measurement.document.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  if (absl::Status written = WriteSynced(directory / kDocument, text); !written.ok()) return written;
  if (records) {
    const fs::path kept = directory / kRecords;
    if (mkdir(kept.c_str(), 0700) != 0) return Failed(kept, errno);
    std::set<std::string> taken;
    for (const std::string& path : measurement.log_paths) {
      if (absl::Status status = KeepLog(path, kept, taken); !status.ok()) return status;
    }
    if (absl::Status status = KeepCoffeaFiles(measurement.coffea_files, kept, taken); !status.ok()) return status;
    if (absl::Status synced = SyncDirectory(kept); !synced.ok()) return synced;
  }
  return SyncDirectory(directory);
}

// Adds files of Coffea to logs that are where they belong.
absl::Status AddCoffeaFiles(const Measurement& measurement, const fs::path& kept) {
  std::set<std::string> taken;
  for (const fs::directory_entry& entry : fs::directory_iterator(kept)) taken.insert(entry.path().filename().string());
  if (absl::Status status = KeepCoffeaFiles(measurement.coffea_files, kept, taken); !status.ok()) return status;
  return SyncDirectory(kept);
}

// Whether all logs lie in the directory's own `records`: they are where they belong.
bool HoldsItsLogs(const fs::path& directory, const Measurement& measurement) {
  for (const std::string& path : measurement.log_paths) {
    std::error_code error;
    if (!fs::equivalent(fs::path(path).parent_path(), directory / kRecords, error)) return false;
  }
  return !measurement.log_paths.empty();
}

// Whether crema wrote what is there, so that it may be replaced.
absl::Status CheckMayWrite(const fs::path& directory, const Measurement& measurement, bool force) {
  std::error_code error;
  if (!fs::is_directory(directory, error)) {
    return absl::FailedPreconditionError(fmt::format("{}: is there and is no directory", directory.string()));
  }
  if (force || fs::is_empty(directory, error)) return absl::OkStatus();
  if (fs::exists(directory / kDocument, error)) {
    const absl::StatusOr<std::string> text = ReadText(directory / kDocument);
    if (!text.ok()) return text.status();
    const auto document = nlohmann::ordered_json::parse(*text, nullptr, /*allow_exceptions=*/false);
    const bool ours = document.is_object() && document.contains("schema") && document["schema"].is_string() &&
                      document["schema"].get_ref<const std::string&>().rfind(kSchemaName, 0) == 0;
    if (ours) return absl::OkStatus();
  } else if (HoldsItsLogs(directory, measurement)) {
    return absl::OkStatus();  // `crema run` has made it
  }
  return absl::AlreadyExistsError(fmt::format(
      "{}: is there and was not written by crema; choose another directory, or --force", directory.string()));
}

// Puts the parts into a directory that is there already, each by one rename; other files in it stay.
absl::Status MoveInto(const fs::path& parts, const fs::path& directory, bool records) {
  std::error_code error;
  if (records) {
    if (fs::exists(directory / kRecords, error)) {
      if (absl::Status moved = Rename(directory / kRecords, parts / "replaced"); !moved.ok()) return moved;
    }
    if (absl::Status moved = Rename(parts / kRecords, directory / kRecords); !moved.ok()) return moved;
  }
  if (absl::Status moved = Rename(parts / kDocument, directory / kDocument); !moved.ok()) return moved;
  return SyncDirectory(directory);
}

}  // namespace

absl::Status SaveMeasurement(const Measurement& measurement, const std::string& directory, const SaveOptions& options) {
  fs::path target = fs::absolute(directory).lexically_normal();
  if (!target.has_filename()) target = target.parent_path();
  std::error_code error;
  const bool is_there = fs::exists(fs::symlink_status(target, error));
  if (is_there) {
    if (absl::Status may = CheckMayWrite(target, measurement, options.force); !may.ok()) return may;
  } else {
    fs::create_directories(target.parent_path(), error);
    if (error) return Failed(target.parent_path(), error);
  }
  // A measurement that was loaded knows no logs: those beside it stay.
  const bool holds_logs = HoldsItsLogs(target, measurement);
  const bool records =
      options.records && !holds_logs && !(measurement.log_paths.empty() && measurement.coffea_files.empty());
  const std::string temporary = fmt::format(".{}.crema-{}", target.filename().string(), getpid());
  const fs::path parts = is_there ? target / temporary : target.parent_path() / temporary;
  fs::remove_all(parts, error);
  absl::Status status = WriteParts(measurement, records, parts);
  if (status.ok() && holds_logs && options.records && !measurement.coffea_files.empty()) {
    status = AddCoffeaFiles(measurement, target / kRecords);
  }
  if (status.ok()) status = is_there ? MoveInto(parts, target, records) : Rename(parts, target);
  if (status.ok()) status = SyncDirectory(target.parent_path());
  fs::remove_all(parts, error);
  return status;
}

bool IsMeasurement(const std::string& directory) {
  std::error_code error;
  return fs::is_regular_file(fs::path(directory) / kDocument, error);
}

absl::StatusOr<Measurement> LoadMeasurement(const std::string& directory) {
  const fs::path path = fs::path(directory) / kDocument;
  const absl::StatusOr<std::string> text = ReadText(path);
  if (!text.ok()) return text.status();
  Measurement measurement;
  measurement.document = nlohmann::ordered_json::parse(*text, nullptr, /*allow_exceptions=*/false);
  if (!measurement.document.is_object() || !measurement.document.contains("schema") ||
      !measurement.document["schema"].is_string()) {
    return absl::InvalidArgumentError(fmt::format(
        "{}: is no measurement (no JSON object with a schema); make it again with `crema collect`", path.string()));
  }
  const auto& schema = measurement.document["schema"].get_ref<const std::string&>();
  if (schema != kMeasurementSchema) {
    return absl::FailedPreconditionError(
        fmt::format("{}: schema {} where {} is readable; read it with the crema that wrote it", path.string(), schema,
                    kMeasurementSchema));
  }
  return measurement;
}

}  // namespace crema

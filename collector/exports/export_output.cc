// Puts what a format writes where it belongs: all of it or nothing, and never over somebody else's file.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

#include "absl/status/statusor.h"
#include "collector/exports/export_format.h"
#include "collector/output/temporary_file.h"
#include "fmt/format.h"

namespace crema {
namespace {

namespace fs = std::filesystem;

absl::Status Failed(const fs::path& path, int error) { return absl::ErrnoToStatus(error, path.string()); }

std::string Beginning(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text(4096, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(file.gcount()));
  return text;
}

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
  if (format.is_ours(wants_directory ? path.string() : Beginning(path))) return absl::OkStatus();
  const std::string command =
      format.command.empty() ? fmt::format("crema export --to {}", format.name) : std::string(format.command);
  return absl::AlreadyExistsError(fmt::format(
      "{}: exists and was not written by `{}`; choose another path, or add --force", path.string(), command));
}

absl::Status Synced(const fs::path& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return Failed(path, errno);
  const int result = fsync(descriptor) == 0 ? 0 : errno;
  close(descriptor);
  return result == 0 ? absl::OkStatus() : Failed(path, result);
}

absl::Status WriteFile(const ExportFormat& format, const ExportSource& source, const fs::path& temporary,
                       const fs::path& path) {
  const int descriptor = open(temporary.c_str(), O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
  if (descriptor < 0) return Failed(temporary, errno);
  TextSink sink(descriptor, path.string());
  absl::Status status = format.write_file(source, path.string(), &sink);
  if (status.ok()) status = sink.Flush();
  if (status.ok() && fsync(descriptor) != 0) status = Failed(path, errno);
  close(descriptor);
  return status;
}

absl::Status WriteDirectory(const ExportFormat& format, const ExportSource& source, const fs::path& temporary) {
  if (absl::Status status = format.write_directory(source, temporary.string()); !status.ok()) return status;
  for (const fs::directory_entry& entry : fs::directory_iterator(temporary)) {
    if (absl::Status synced = Synced(entry.path()); !synced.ok()) return synced;
  }
  return Synced(temporary);
}

/// Of a directory that is there, only the files of the same names are replaced: others stay.
absl::Status MoveFilesInto(const fs::path& parts, const fs::path& directory) {
  for (const fs::directory_entry& entry : fs::directory_iterator(parts)) {
    const fs::path to = directory / entry.path().filename();
    if (rename(entry.path().c_str(), to.c_str()) != 0) return Failed(to, errno);
  }
  return Synced(directory);
}

absl::Status PutInPlace(TemporaryFile* temporary, const fs::path& path) {
  std::error_code error;
  if (fs::is_directory(fs::symlink_status(path, error))) return MoveFilesInto(temporary->path(), path);
  if (absl::Status status = temporary->Rename(); !status.ok()) return status;
  return Synced(path.parent_path());
}

}  // namespace

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

// Files and directories that are whole at every moment: written to the disk, locked, renamed.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "collector/idioms/descriptor.h"

namespace crema {

absl::Status Failed(const std::filesystem::path& path, int error);

/// `path` is for the error.
absl::Status WriteAll(int descriptor, const std::filesystem::path& path, std::string_view text);
/// Writes the file that open(2) opens with these flags, and syncs it.
absl::Status WriteSynced(const std::filesystem::path& path, int flags, std::string_view text);
/// Asks the disk to keep a file or directory: fsync(2).
absl::Status Sync(const std::filesystem::path& path);
/// Its first bytes, at most so many; empty where it cannot be read.
std::string BeginningOf(const std::filesystem::path& file, size_t most);

/// A lock on a file or directory, flock(2). Held until it is destroyed, or the process ends however that happens: the
/// kernel gives it back. Children that were forked hold it too; programs that they execute do not.
class HeldLock {
 public:
  enum class State {
    kHeld,
    kTaken,    ///< somebody else holds it
    kNone,     ///< nothing of that name can be opened
    kNoLocks,  ///< the file system has no locks: it stays open, and nobody is kept out
  };

  HeldLock() = default;
  /// Does not wait, and follows no symbolic link. What is locked is what has the name once it is locked.
  explicit HeldLock(const std::string& path);

  State state() const { return state_; }

 private:
  Descriptor descriptor_;
  State state_ = State::kNone;
};

/// A file or directory that gets its name once it is whole: `.NAME.crema-PID` beside the file that is to be called
/// NAME. It is locked while its process lives, so that the next one that writes NAME removes what a killed one left.
class TemporaryFile {
 public:
  /// An empty file, or a directory, with these permissions. Errors: cannot be created there.
  static absl::StatusOr<TemporaryFile> Make(const std::filesystem::path& target, mode_t mode, bool directory = false);

  TemporaryFile(TemporaryFile&&) = default;
  TemporaryFile& operator=(TemporaryFile&&) = delete;
  /// Removes it, unless it was renamed.
  ~TemporaryFile();

  const std::filesystem::path& path() const { return path_; }
  /// Gives it the name `target`.
  absl::Status Rename();

 private:
  TemporaryFile() = default;

  std::filesystem::path path_;
  std::filesystem::path target_;
  HeldLock lock_;
};

/// Removes what is there of the names that begin with `prefix` and are this user's, as far as nobody holds its lock.
void RemoveUnlocked(const std::filesystem::path& directory, const std::string& prefix);

// The directory of a measurement while crema writes it: `measurement.json` and `records/`, whole at every moment.

struct OutputContents {
  bool is_measurement = false;       ///< crema's document, or a log in `records/`
  bool has_foreign_records = false;  ///< `records/` holds something that is not a log
  std::string foreign;               ///< one name of what crema did not write; empty: there is none
  std::string live_log;              ///< a log that is being written; empty: there is none
};

OutputContents LookInto(const std::filesystem::path& directory);

/// When the measurement began, as UTC fit for a file's name: `20261121T140211Z`. Of its document, else of its logs,
/// else of its directory's last change.
std::string StampOfStart(const std::filesystem::path& directory);

inline constexpr char kDocumentName[] = "measurement.json";
inline constexpr char kRecordsName[] = "records";
/// In it while `crema run --allocations` runs, or `crema run --gpu`.
inline constexpr char kAllocationsLibraryName[] = "libcrema_allocations.so";
inline constexpr char kGpuLibraryName[] = "libcrema_gpu.so";

/// What becomes of what is there already.
struct OlderOutput {
  bool replace = false;  ///< an older measurement is thrown away; else it is kept as `DIR.<its start>`
  bool force = false;    ///< other files in DIR do not matter: they stay where they are
};

/// One process at a time has it, by a lock on the directory itself. New parts are made under a temporary name, and take
/// the place of the old ones by one exchange of directories where the kernel and the file system can do that
/// (renameat2(2)), else by renames that whoever claims the directory next completes. What a killed process left behind
/// is removed by then too.
///
/// An older measurement goes as a whole, with what else is in DIR. Only where DIR has to stay (it is or holds the
/// current directory, is a mount point, its parent cannot be written, other files were to stay) its parts alone go.
class OutputDirectory {
 public:
  /// Makes DIR where it is not there. A symbolic link is followed. Errors: FailedPrecondition where somebody writes
  /// into it; it is not a directory; no permission.
  static absl::StatusOr<OutputDirectory> Claim(const std::string& directory);

  OutputDirectory(OutputDirectory&&) = default;
  OutputDirectory& operator=(OutputDirectory&&) = default;
  /// What was neither installed nor settled is removed again.
  ~OutputDirectory();

  /// A directory to be filled with the new `measurement.json`, `records/`, or both. Errors: DIR holds what crema did
  /// not write, and neither `force` nor an older measurement explains it; logs in it are still being written; no
  /// permission.
  absl::StatusOr<std::filesystem::path> Prepare(const OlderOutput& older);
  /// The new parts take the place of the old ones. To be synced before.
  absl::Status Install();
  /// Old parts get the name that they keep, or are removed.
  absl::Status Settle();
  /// Instead of `Settle`: all is as it was before.
  void Undo();

  /// A temporary directory within DIR, for one more part of what is there. It is removed with this object.
  absl::StatusOr<std::filesystem::path> MakeRoom();

  /// Absolute, without symbolic links.
  const std::filesystem::path& path() const { return path_; }
  /// Where the older measurement is now; empty where there was none, or it was replaced.
  const std::string& kept_as() const { return kept_as_; }

 private:
  enum class How { kNothing, kWhole, kParts };

  OutputDirectory() = default;
  void Recover();
  bool MayMoveWhole() const;
  absl::Status InstallWhole();
  absl::Status InstallParts();
  absl::Status KeepOrRemove(const std::filesystem::path& old);
  std::filesystem::path Sibling(const std::string& purpose) const;

  std::filesystem::path path_;
  std::string given_;  // as the user wrote it
  HeldLock lock_;
  HeldLock new_lock_;  // of the directory that takes its place
  bool is_new_ = false;
  bool keeps_older_ = false;
  How how_ = How::kNothing;
  bool is_installed_ = false;
  std::filesystem::path parts_;
  std::string kept_as_;
};

/// Completes what a killed process left half done in the directory, where nobody else writes into it: for readers.
/// FailedPrecondition where that cannot be: its parts are of two measurements then, or it is not there.
absl::Status CompleteOutput(const std::string& directory);

}  // namespace crema

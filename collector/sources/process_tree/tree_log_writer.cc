#include "collector/sources/process_tree/tree_log_writer.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "collector/records/schema.h"
#include "collector/sources/process_tree/tree_log_format.h"
#include "collector/sources/process_tree/tree_log_lines.h"
#include "fmt/format.h"

namespace crema {
namespace {

constexpr int64_t kAllRowsBytes = int64_t{32} << 20;
constexpr int64_t kSamplesBetweenRows = 10;

}  // namespace

absl::StatusOr<TreeLogWriter> TreeLogWriter::Create(const std::string& directory, const std::string& host, int64_t pid,
                                                    int64_t start_ns) {
  std::string path = absl::StrCat(directory, "/", host, "-", pid, "-", start_ns);
  path.append(kTreeLogSuffix);
  const int descriptor = open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (descriptor < 0) {
    return absl::UnavailableError(
        fmt::format("{}: cannot be created ({}); choose another directory with -o", path, strerror(errno)));
  }
  flock(descriptor, LOCK_EX | LOCK_NB);  // some network file systems have no locks: then the log never looks running
  return TreeLogWriter(std::move(path), descriptor);
}

TreeLogWriter::TreeLogWriter(std::string path, int descriptor) : path_(std::move(path)), descriptor_(descriptor) {}

TreeLogWriter::TreeLogWriter(TreeLogWriter&& other) noexcept
    : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)) {}

TreeLogWriter::~TreeLogWriter() {
  if (descriptor_ >= 0) close(descriptor_);
}

void TreeLogWriter::Write(const TreeRunFact& run) {
  AppendLine(run, &line_);
  WriteLine();
}

void TreeLogWriter::Write(const TreeSampleFact& sample) {
  const bool with_rows = written_bytes_ < kAllRowsBytes || samples_ % kSamplesBetweenRows == 0;
  ++samples_;
  AppendLine(sample, with_rows, &line_);
  WriteLine();
}

void TreeLogWriter::Write(const TreeReapFact& reaped) {
  AppendLine(reaped, &line_);
  WriteLine();
}

void TreeLogWriter::Write(const TreeEndFact& end) {
  AppendLine(end, &line_);
  WriteLine();
}

void TreeLogWriter::WriteLine() {
  if (torn_) line_.insert(line_.begin(), '\n');  // so that the torn line ends where it is
  ssize_t written = 0;
  do {
    written = write(descriptor_, line_.data(), line_.size());
  } while (written < 0 && errno == EINTR);
  if (written > 0) written_bytes_ += written;
  if (written == static_cast<ssize_t>(line_.size())) {
    torn_ = false;
  } else {
    ++dropped_;
    torn_ = torn_ || written > 0;
  }
  line_.clear();
}

}  // namespace crema

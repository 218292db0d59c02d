#include "collector/cli/run_directory.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "collector/cli/subcommand.h"

namespace crema {

std::string RunDirectory::DefaultName() {
  const std::string name = absl::FormatTime("crema-%Y%m%dT%H%M%S", absl::Now(), absl::LocalTimeZone());
  std::string candidate = name;
  for (int number = 2; access(candidate.c_str(), F_OK) == 0; ++number) candidate = absl::StrCat(name, "-", number);
  return candidate;
}

absl::StatusOr<RunDirectory> RunDirectory::Create(const std::string& directory, const OlderOutput& older) {
  absl::StatusOr<OutputDirectory> claimed = OutputDirectory::Claim(directory);
  if (!claimed.ok()) return claimed.status();
  RunDirectory run(directory, *std::move(claimed));
  const absl::StatusOr<std::filesystem::path> parts = run.output_.Prepare(older);
  if (!parts.ok()) return parts.status();
  const std::filesystem::path records = *parts / kRecordsName;
  if (mkdir(records.c_str(), 0700) != 0) return absl::ErrnoToStatus(errno, records.string());
  if (absl::Status status = run.output_.Install(); !status.ok()) return status;
  run.records_ = (run.output_.path() / kRecordsName).string();
  return run;
}

void RunDirectory::Keep() {
  if (const absl::Status status = output_.Settle(); !status.ok()) ReportFailure(status);
}

}  // namespace crema

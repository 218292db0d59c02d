#include "collector/engines/log_lines.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <ctime>

namespace crema {
namespace {

constexpr int64_t kMostComplaints = 20;

}  // namespace

int64_t WrittenNs(const std::string& path) {
  struct stat status = {};
  return (stat(path.c_str(), &status) == 0 ? int64_t{status.st_mtime} : int64_t{time(nullptr)}) * 1'000'000'000;
}

bool LogLines::Next(std::string* line) {
  if (std::getline(file_, *line)) {
    ++number_;
    is_whole_ = !file_.eof();
    return true;
  }
  if (!file_.status().ok()) {
    reading_->problems.push_back(
        fmt::format("{}: {}; crema used what comes before the damage", path_, std::string(file_.status().message())));
    ++reading_->torn;
  }
  if (complaints_ > kMostComplaints) {
    reading_->problems.push_back(
        fmt::format("{}: {} more lines could not be used", path_, complaints_ - kMostComplaints));
  }
  return false;
}

void LogLines::Complain(std::string_view what) {
  if (++complaints_ > kMostComplaints) return;
  reading_->problems.push_back(fmt::format("{}:{}: {}; it was left out", path_, number_, what));
}

absl::Status LogLines::opened() const {
  return number_ > 0 || file_.status().ok()
             ? absl::OkStatus()
             : absl::NotFoundError(fmt::format("{}: {}", path_, std::string(file_.status().message())));
}

}  // namespace crema

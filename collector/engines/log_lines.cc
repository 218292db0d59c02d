#include "collector/engines/log_lines.h"

#include <sys/stat.h>

#include "collector/records/record_parser.h"

namespace crema {

int64_t WrittenNs(const std::string& path) {
  struct stat status = {};
  return (stat(path.c_str(), &status) == 0 ? int64_t{status.st_mtime} : int64_t{time(nullptr)}) * 1'000'000'000;
}

bool LogLines::Next(std::string* line) {
  if (std::getline(file_, *line)) {
    ++number_;
    is_whole_ = !file_.eof();
    if (!line->empty() && line->back() == '\r') line->pop_back();
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

void LineAssembler::Add(std::string_view bytes, const std::function<void(std::string_view)>& on_line,
                        const std::function<void()>& on_too_long) {
  while (!bytes.empty()) {
    const size_t end = bytes.find('\n');
    const std::string_view piece = bytes.substr(0, end);
    if (!skipping_ && held_.size() + piece.size() >= kMaxLineBytes) {
      skipping_ = true;
      held_.clear();
      held_.shrink_to_fit();
      on_too_long();
    }
    if (end == std::string_view::npos) {
      if (!skipping_) held_.append(piece);
      return;
    }
    if (!skipping_) {
      if (held_.empty() && bytes.size() - piece.size() > RecordParser::kPadding) {
        if (!piece.empty()) on_line(piece);  // in place: what follows it may be read
      } else {
        held_.append(piece);
        const size_t size = held_.size();
        held_.append(RecordParser::kPadding, '\0');
        if (size > 0) on_line(std::string_view(held_).substr(0, size));
        held_.clear();
      }
    }
    skipping_ = false;
    bytes.remove_prefix(end + 1);
  }
}

}  // namespace crema

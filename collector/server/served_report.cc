#include "collector/server/served_report.h"

#include <utility>

namespace crema {
namespace {

constexpr std::string_view kHtml = "text/html; charset=utf-8";
constexpr std::string_view kText = "text/plain; charset=utf-8";

/// The page brings its own policy, of hashes, which that of the live page would forbid. What it cannot say itself is
/// that no other page may show it in a frame.
constexpr std::string_view kReportPolicy = "frame-ancestors 'none'";

constexpr char kAskAgain[] =
    "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta http-equiv=\"refresh\" content=\"1\">"
    "<title>crema</title></head><body><p>The report is being written.</p></body></html>\n";

}  // namespace

ServedReport::ServedReport(Write write) : write_(std::move(write)) {}

void ServedReport::Begin(const std::string& run_id, int64_t records) {
  records_ = records;
  page_.reset();
  writing_ = std::async(std::launch::async, write_, run_id);
}

LiveReply ServedReport::Answer(const std::string& run_id, int64_t records) {
  if (!writing_.valid() && (records != records_ || !page_.has_value())) Begin(run_id, records);
  if (writing_.valid() && !is_writing()) page_ = writing_.get();
  if (!page_.has_value()) return {202, kHtml, kAskAgain};
  if (!page_->ok())
    return {500, kText, "the report cannot be written: " + std::string(page_->status().message()) + "\n"};
  return {200, kHtml, **page_, kReportPolicy};
}

}  // namespace crema

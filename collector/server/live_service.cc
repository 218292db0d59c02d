#include "collector/server/live_service.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <charconv>
#include <utility>

#include "collector/exports/export_format.h"
#include "collector/server/live_document.h"
#include "collector/server/page_state.h"
#include "collector/server/served_files.h"
#include "fmt/format.h"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kRoundEvery(1);
/// Read between two looks at what clients want: some 10 ms of work.
constexpr size_t kSliceBytes = size_t{2} << 20;
constexpr size_t kMostOpenRows = 1000;

constexpr std::string_view kJson = "application/json";

int64_t UnixNow() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

int64_t QueryNumber(const HttpTarget& target, const std::string& name) {
  const auto found = target.query.find(name);
  int64_t number = 0;
  if (found != target.query.end()) {
    std::from_chars(found->second.data(), found->second.data() + found->second.size(), number);
  }
  return number;
}

LiveReply JsonReply(const Json& json) { return {200, kJson, Dump(json, 1) + "\n"}; }

template <class Row>
LiveReply JsonReply(const std::vector<Row>& rows) {
  Json json;
  WriteValue(rows, &json);
  return JsonReply(json);
}

std::string Exposition(const Measurement& measurement) {
  std::string text;
  TextSink sink(&text);
  ExportSource source = {measurement, {}, {}, {}};
  source.metrics = LiveMetrics();
  for (const ExportFormat& format : ExportFormats()) {
    if (format.name != "prometheus") continue;
    const absl::Status written = format.write_file(source, "", &sink);
    if (!written.ok()) return "";
  }
  return text;
}

}  // namespace

std::string Dump(const Json& json, int indent) {
  return json.dump(indent, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace);
}

LiveService::LiveService(boost::asio::io_context* context, const std::vector<std::string>& sources, LiveOptions options,
                         std::function<void()> on_update)
    : context_(context),
      timer_(*context),
      model_(std::move(options)),
      sources_(sources, &model_),
      store_(UnixNow() / 1'000'000),
      on_update_(std::move(on_update)) {}

void LiveService::OfferReport(ServedReport::Write write) { report_ = std::make_unique<ServedReport>(std::move(write)); }

void LiveService::Start() {
  last_tick_ = Clock::now();
  model_.Tick(UnixNow(), 0);
  Publish();  // a page that is opened at once finds something
  Round();
}

void LiveService::Stop() {
  stopped_ = true;
  timer_.cancel();
}

void LiveService::Round() {
  if (stopped_) return;
  round_began_ = Clock::now();
  sources_.Look();
  ReadSlice();
}

void LiveService::ReadSlice() {
  if (stopped_) return;
  const bool more = sources_.ReadSome(kSliceBytes);
  if (more && Clock::now() - round_began_ < kRoundEvery) {
    boost::asio::post(*context_, [this] { ReadSlice(); });
    return;
  }
  // a backlog of more than a second is published on the way
  Publish();
  if (more) {
    boost::asio::post(*context_, [this] { Round(); });
    return;
  }
  timer_.expires_at(std::max(Clock::now() + std::chrono::milliseconds(50), round_began_ + kRoundEvery));
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (!error) Round();
  });
}

void LiveService::Publish() {
  const Clock::time_point now = Clock::now();
  model_.Tick(UnixNow(), std::chrono::duration_cast<std::chrono::nanoseconds>(now - last_tick_).count());
  last_tick_ = now;
  figures_ = ComputeLiveFigures(model_);
  UpdatePage(model_, figures_, sources_.states(), &store_);
  if (on_update_) on_update_();
}

std::string LiveService::Delta(int64_t since) const { return Dump(store_.Since(since)); }

LiveReply LiveService::AnswerApi(const HttpTarget& target) const {
  if (target.path == "/api/v1/events") return JsonReply(EventRows(model_));
  if (target.path == "/api/v1/chunks") return JsonReply(OpenChunkRows(model_, kMostOpenRows));
  const Json document = LiveDocument(model_, figures_);
  if (target.path == "/api/v1") return JsonReply(document);
  const size_t slash = target.path.rfind('/');
  const std::string table = target.path.substr(slash + 1);
  if (target.path == "/api/v1/" + table && document.contains(table)) return JsonReply(document[table]);
  return {404, kJson, Dump({{"error", "there is no such address: see docs/live_api.md"}}) + "\n"};
}

LiveReply LiveService::AnswerReport() const {
  constexpr std::string_view kText = "text/plain; charset=utf-8";
  if (report_ == nullptr) return {404, kText, "not found\n"};
  if (model_.totals().records == 0) return {404, kText, "nothing was recorded yet\n"};
  return report_->Answer(model_.run_id(), model_.totals().records);
}

LiveReply LiveService::Answer(const HttpTarget& target) const {
  for (const ServedFile& file : ServedFiles()) {
    if (file.path == target.path) return {200, file.type, std::string(file.text)};
  }
  if (target.path == "/metrics") {
    return {200, "text/plain; version=0.0.4; charset=utf-8", Exposition(LiveMeasurement(model_, figures_))};
  }
  if (target.path == "/api/live") return {200, kJson, Delta(QueryNumber(target, "since")) + "\n"};
  if (target.path == "/report") return AnswerReport();
  if (target.path == "/favicon.ico") return {204, "image/x-icon", ""};  // browsers ask on behalf of the report
  if (target.path.rfind("/api/v1", 0) == 0) return AnswerApi(target);
  return {404, "text/plain; charset=utf-8", "not found\n"};
}

}  // namespace crema

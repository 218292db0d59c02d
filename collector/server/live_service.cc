#include "collector/server/live_service.h"

#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>

#include <boost/asio/ip/address.hpp>
#include <boost/asio/post.hpp>
#include <cerrno>

#include "absl/time/clock.h"
#include "collector/engines/http_get.h"
#include "collector/exports/export_format.h"
#include "collector/idioms/descriptor.h"
#include "collector/records/json_fields.h"

namespace crema {
namespace {

std::string Lower(std::string_view text) { return absl::AsciiStrToLower(absl::string_view(text.data(), text.size())); }

/// Decodes a query, where `+` is a space.
std::string Decoded(std::string_view text) {
  return PercentDecoded(absl::StrReplaceAll(std::string(text), {{"+", " "}}));
}

/// `name`, `name:80`, `[::1]:80` without the port; empty where it is none of these.
std::string_view WithoutPort(std::string_view host) {
  const bool has_brackets = !host.empty() && host.front() == '[';
  const size_t end = has_brackets ? host.find(']') : host.find(':');
  const std::string_view name = has_brackets ? host.substr(0, end == host.npos ? 0 : end + 1) : host.substr(0, end);
  const std::string_view port = host.substr(name.size());
  if (port.empty()) return name;
  const bool is_port = port.front() == ':' && port.find_first_not_of("0123456789", 1) == std::string_view::npos;
  return is_port ? name : std::string_view();
}

/// How a `Host` writes an address; an IPv4 address that came in by a socket for both kinds is one of IPv4.
std::string AsHost(std::string_view address) {
  boost::system::error_code error;
  auto parsed = boost::asio::ip::make_address(std::string(address), error);
  if (error) return "";
  if (parsed.is_v6() && parsed.to_v6().is_v4_mapped()) {
    parsed = boost::asio::ip::make_address_v4(boost::asio::ip::v4_mapped, parsed.to_v6());
  }
  return parsed.is_v6() ? "[" + parsed.to_string() + "]" : parsed.to_string();
}

bool IsSame(std::string_view token, std::string_view given) {
  unsigned difference = token.size() == given.size() ? 0 : 1;
  for (size_t i = 0; i < token.size(); ++i) {
    difference |=
        static_cast<unsigned char>(token[i]) ^ static_cast<unsigned char>(given.empty() ? 0 : given[i % given.size()]);
  }
  return difference == 0;
}

/// Another port of this host may have set a cookie of the same name: one that is right is enough.
bool HasCookie(std::string_view cookies, std::string_view name, std::string_view token) {
  bool has = false;
  while (!cookies.empty()) {
    const size_t end = cookies.find(';');
    std::string_view cookie = cookies.substr(0, end);
    while (!cookie.empty() && cookie.front() == ' ') cookie.remove_prefix(1);
    const size_t equals = cookie.find('=');
    if (equals != std::string_view::npos && cookie.substr(0, equals) == name) {
      has |= IsSame(token, cookie.substr(equals + 1));
    }
    if (end == std::string_view::npos) break;
    cookies.remove_prefix(end + 1);
  }
  return has;
}

/// Names of schemes are of either case (RFC 9110, 11.1).
std::string_view BearerOf(std::string_view authorization) {
  constexpr std::string_view kBearer = "bearer ";
  const bool is_bearer = Lower(authorization.substr(0, kBearer.size())) == kBearer;
  return is_bearer ? authorization.substr(kBearer.size()) : std::string_view();
}

constexpr size_t kMostBytes = 1024;

absl::Status TokenFailure(const std::string& path) {
  return absl::ErrnoToStatus(errno, fmt::format("{}: the token cannot be kept there", path));
}

absl::Status CheckPrivate(const std::string& path, int descriptor) {
  struct stat status;
  if (fstat(descriptor, &status) != 0) return TokenFailure(path);
  if (!S_ISREG(status.st_mode)) return absl::FailedPreconditionError(path + ": is not a regular file");
  if (status.st_uid != geteuid()) {
    return absl::FailedPreconditionError(path + ": belongs to another user, who knows the token; name a file of yours");
  }
  if ((status.st_mode & 0077) != 0) {
    return absl::FailedPreconditionError(fmt::format(
        "{}: others can read or write the token (mode {:04o}); run chmod 600 on it", path, status.st_mode & 07777));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> ReadOrMake(const std::string& path, int descriptor) {
  if (absl::Status status = CheckPrivate(path, descriptor); !status.ok()) return status;
  flock(descriptor, LOCK_EX);  // of two servers that begin together, one makes the token
  std::string text(kMostBytes, '\0');
  const ssize_t got = pread(descriptor, text.data(), text.size(), 0);
  if (got < 0) return TokenFailure(path);
  text.resize(static_cast<size_t>(got));
  text.erase(text.find_last_not_of(" \t\r\n") + 1);
  if (text.empty()) {
    text = MakeToken();
    const std::string line = text + "\n";
    if (pwrite(descriptor, line.data(), line.size(), 0) != static_cast<ssize_t>(line.size())) return TokenFailure(path);
  }
  if (!CanBeToken(text)) {
    return absl::InvalidArgumentError(path + ": holds no token: one line of 8 to 256 letters, digits and -._~");
  }
  return text;
}

}  // namespace

HttpTarget ParseTarget(std::string_view target) {
  HttpTarget parsed;
  const size_t question = target.find('?');
  parsed.path = std::string(target.substr(0, question));
  if (question == std::string_view::npos) return parsed;
  std::string_view query = target.substr(question + 1);
  while (!query.empty()) {
    const std::string_view pair = query.substr(0, query.find('&'));
    const size_t equals = pair.find('=');
    parsed.query[Decoded(pair.substr(0, equals))] =
        equals == std::string_view::npos ? "" : Decoded(pair.substr(equals + 1));
    query.remove_prefix(std::min(query.size(), pair.size() + 1));
  }
  return parsed;
}

std::vector<std::string> OwnHostNames(const std::vector<std::string>& given) {
  std::vector<std::string> names = {"localhost"};
  for (const std::string& name : given) names.push_back(Lower(name));
  char own[256] = "";
  if (gethostname(own, sizeof(own) - 1) == 0 && own[0] != '\0') {
    const std::string full = Lower(own);
    names.push_back(full.substr(0, full.find('.')));
    names.push_back(full);
  }
  return names;
}

bool IsOwnHost(std::string_view host, std::string_view address, const std::vector<std::string>& names) {
  const std::string name = Lower(WithoutPort(host));
  if (name.empty()) return false;
  return name == "127.0.0.1" || name == "[::1]" || name == AsHost(address) || absl::c_linear_search(names, name);
}

bool HasToken(std::string_view token, const HttpTarget& target, std::string_view authorization,
              std::string_view cookies) {
  if (token.empty()) return true;
  bool has = IsSame(token, BearerOf(authorization));
  if (const auto given = target.query.find("token"); given != target.query.end()) has |= IsSame(token, given->second);
  return has | HasCookie(cookies, TokenCookie(token), token);
}

std::string MakeToken() {
  unsigned char bytes[16] = {};
  while (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes)) {
  }
  std::string token;
  for (const unsigned char byte : bytes) token += fmt::format("{:02x}", byte);
  return token;
}

bool CanBeToken(std::string_view text) {
  constexpr size_t kLeast = 8, kMost = 256;
  const auto means_itself = [](char byte) {
    return absl::ascii_isalnum(static_cast<unsigned char>(byte)) ||
           std::string_view("-._~").find(byte) != std::string_view::npos;
  };
  return text.size() >= kLeast && text.size() <= kMost && std::all_of(text.begin(), text.end(), means_itself);
}

std::string TokenCookie(std::string_view token) {
  uint32_t hash = 2166136261;  // FNV-1a: who sees the name sees the value too, so it has nothing to hide
  for (const char byte : token) hash = (hash ^ static_cast<unsigned char>(byte)) * 16777619;
  return fmt::format("crema_{:08x}", hash);
}

absl::StatusOr<std::string> TokenOfFile(const std::string& path) {
  constexpr int kFlags = O_NONBLOCK | O_NOCTTY;
  Descriptor descriptor(path.c_str(), O_RDWR | O_CREAT | kFlags);
  if (descriptor < 0 && errno == EACCES) descriptor = Descriptor(path.c_str(), O_RDONLY | kFlags);  // 0400
  if (descriptor < 0) return TokenFailure(path);
  return ReadOrMake(path, descriptor);
}

// What the page is shown of a live run, as values and rows that change one by one.

namespace {

/// Rows of workers that the page is sent; the API has all of them.
inline constexpr size_t kMostWorkerRows = 200;

/// Digits beyond the sixth change every second and say nothing.
double Rounded(double value) {
  if (value == 0 || !std::isfinite(value)) return 0;
  const double scale = std::pow(10, 5 - std::floor(std::log10(std::abs(value))));
  return std::round(value * scale) / scale;
}

Json RoundedOrNull(const std::optional<double>& value) { return value.has_value() ? Json(Rounded(*value)) : Json(); }

void SetRun(const LiveModel& model, const LiveFigures& figures, const std::vector<SourceState>& sources,
            DeltaStore* store) {
  Json run = LiveRunJson(model);
  run.erase("stop_ns");  // of a run that goes on it is now
  run["has_schedulers_only"] = model.has_schedulers_only();
  run["trouble"] = LiveTrouble(model, figures);
  run["has_records"] = model.totals().records > 0 || !model.workers().empty();
  run["workers"] = figures.workers.at_work;
  run["cores"] = figures.cores;
  store->Set("run", std::move(run));
  store->Set("sources", Mapped<Json>(sources, [](const SourceState& source) {
               return Json{{"name", source.name}, {"is_there", source.is_there}, {"problem", source.problem}};
             }));
  store->Set("schedulers", SchedulersJson(model));
}

void SetTiles(const LiveModel& model, const LiveFigures& figures, DeltaStore* store) {
  Json tiles;
  tiles["wall_seconds"] = std::floor(figures.wall_seconds);
  tiles["quiet_seconds"] = std::floor(model.quiet_seconds());
  tiles["is_quiet"] = kQuiet.Holds(model.quiet_seconds());
  tiles["mean_event_rate"] = RoundedOrNull(figures.mean_event_rate);
  tiles["mean_byte_rate"] = RoundedOrNull(figures.mean_byte_rate);
  tiles["failed"] = model.has_schedulers_only() ? Json() : Json(model.totals().gone());
  tiles["rows"] = Mapped<Json>(LiveKeyFigureRows(model, figures), [](const KeyFigureRow& row) {
    std::string notes = row.why_not;
    for (const FigureText& note : row.notes) notes += (notes.empty() ? "" : " · ") + note.text();
    return Json{{"key", row.figure.key},
                {"label", row.label},
                {"text", row.text},
                {"mark", row.mark.has_value() ? Json(ToString(*row.mark)) : Json()},
                {"note", std::move(notes)}};
  });
  store->Set("tiles", std::move(tiles));
}

void SetProgress(const LiveModel& model, const LiveFigures& figures, DeltaStore* store) {
  const Progress& progress = figures.progress;
  store->Set("progress", {{"chunks", model.has_schedulers_only() ? Json() : Json(model.totals().counts.num_chunks)},
                          {"chunks_exact", model.totals().chunks_exact},
                          {"open_chunks", model.open_chunks()},
                          {"events", progress.events},
                          {"total_events", JsonOf(Number(progress.total_events))},
                          {"share", RoundedOrNull(progress.share)},
                          {"left", RoundedOrNull(progress.left)},
                          {"left_low", RoundedOrNull(progress.left_low)},
                          {"left_high", RoundedOrNull(progress.left_high)}});
  const std::vector<int64_t> open = model.OpenByDataset();
  for (size_t i = 0; i < model.datasets().size(); ++i) {
    store->SetRow("datasets", std::to_string(i), LiveDatasetJson(model, i, open[i]));
  }
  Json recent = Mapped<Json>(figures.recent, [](const RecentShare& share) {
    return Json{{"key", share.key}, {"label", share.label}, {"share", Rounded(share.share)}};
  });
  store->Set("recent", {{"seconds", figures.recent_seconds}, {"shares", std::move(recent)}});
}

void SetWorkers(const LiveModel& model, const LiveFigures& figures, const std::set<size_t>& shown, DeltaStore* store) {
  store->Set("workers_hidden", figures.workers.recorded - static_cast<int64_t>(shown.size()));
  std::map<std::string, Json> rows;
  for (const size_t i : shown) {
    const LiveWorker& worker = model.workers()[i];
    Json lanes = Json::array();
    worker.ForEachOpen([&](const LiveLog&, const BegunAttempt& begun) {
      if (static_cast<double>(lanes.size()) < worker.cores()) lanes.push_back(model.DatasetOf(begun.dataset));
    });
    Json& row = rows[std::to_string(i)] = LiveWorkerJson(model, i);
    row["lanes"] = std::move(lanes);
    row["memory_mark"] = ToString(MemoryMarkOf(model, worker));
    row["slow"] = worker.slow_is_warned;
    row["concern"] = static_cast<int>(ConcernOf(model, worker));  // the order of rows
  }
  store->SetTable("workers", std::move(rows));
}

/// Seconds since the run's start, to a hundredth.
double SecondsOf(const LiveModel& model, int64_t time_ns) {
  return std::round(static_cast<double>(time_ns - model.start_ns()) / 1e7) / 100;
}

/// What threads did lately, and what they do now: `[worker, lane, start, stop, dataset, failed, waiting percent]`, and
/// of open chunks `[worker, lane, start, dataset]`.
void SetStream(const LiveModel& model, const std::set<size_t>& shown, DeltaStore* store) {
  const int64_t now_ns = model.stop_ns();
  store->Set("stream_seconds", kStreamSeconds);
  store->Set("stream_pale_above", kPaleWaiting.value);
  store->Set("stream_now", SecondsOf(model, now_ns));
  const int64_t oldest_ns = now_ns - kStreamSeconds * 1'000'000'000;
  std::map<std::string, Json> stream, open;
  for (const LatestChunk& chunk : model.latest_chunks().all()) {
    if (chunk.stop_ns < oldest_ns || shown.count(chunk.worker) == 0) continue;
    stream[std::to_string(chunk.number)] = {chunk.worker,
                                            chunk.lane,
                                            SecondsOf(model, chunk.start_ns),
                                            SecondsOf(model, chunk.stop_ns),
                                            chunk.dataset,
                                            chunk.failed,
                                            chunk.waiting_percent};
  }
  for (const size_t worker : shown) {
    model.workers()[worker].ForEachOpen([&](const LiveLog& log, const BegunAttempt& begun) {
      const int32_t lane = model.workers()[worker].LaneOf(begun.fact);
      if (lane < 0) return;
      open[fmt::format("{}-{}-{}", worker, begun.fact.number, log.recorder)] = {
          worker, lane, SecondsOf(model, begun.fact.time_ns), model.DatasetOf(begun.dataset)};
    });
  }
  store->SetTable("stream", std::move(stream));
  store->SetTable("open", std::move(open));
}

void SetHistory(const LiveModel& model, const LiveFigures& figures, DeltaStore* store) {
  const RateSeries& series = model.series();
  store->Set("series_bin_seconds", series.bin_seconds());
  std::map<std::string, Json> bins;
  for (size_t i = 0; i < series.bins().size(); ++i) {
    bins[std::to_string(i)] = {std::llround(series.bins()[i].events), std::llround(series.bins()[i].bytes)};
  }
  store->SetTable("series", std::move(bins));
  // the last minute for the spark lines: a row once it is over, and then never again
  const int64_t last = model.second() - 1;
  const RunSecond& second = model.recent().At(last);
  const double busy = second.core_ns > 0 ? second.occupied_ns / second.core_ns * figures.cores : 0;
  store->SetRow(
      "seconds", std::to_string(last),
      {model.totals().events.count > 0 ? Json(Rounded(figures.event_rate)) : Json(),
       model.totals().bytes.with_read > 0 ? Json(Rounded(figures.byte_rate)) : Json(), Rounded(busy),
       RoundedOrNull(figures.cpu_efficiency), figures.memory.has_value() ? Json(figures.memory->bytes) : Json(),
       model.totals().gone(), RoundedOrNull(figures.gpus.utilization)});
  store->KeepRows("seconds", [&](const std::string& key) { return std::stoll(key) > last - 60; });
}

void SetEvents(const LiveModel& model, DeltaStore* store) {
  std::map<std::string, Json> rows;
  for (const LiveEvent& event : model.events().all()) {
    rows[std::to_string(event.number)] = {
        {"seconds", std::max(0.0, std::floor((event.time_ns - model.start_ns()) / 1e9))},
        {"kind", ToString(event.kind)},
        {"text", event.text}};
  }
  store->SetTable("events", std::move(rows));
}

/// Sets everything from the model, as one change. docs/live_api.md has the fields.
void UpdatePage(const LiveModel& model, const LiveFigures& figures, const std::vector<SourceState>& sources,
                DeltaStore* store) {
  store->Begin();
  SetRun(model, figures, sources, store);
  SetTiles(model, figures, store);
  SetProgress(model, figures, store);
  const std::vector<size_t> worst = WorstWorkersFirst(model, kMostWorkerRows);
  const std::set<size_t> shown(worst.begin(), worst.end());
  SetWorkers(model, figures, shown, store);
  SetStream(model, shown, store);
  SetHistory(model, figures, store);
  SetEvents(model, store);
}

constexpr size_t kMostRemovals = 5000;

constexpr std::string_view kHtml = "text/html; charset=utf-8";
constexpr std::string_view kText = "text/plain; charset=utf-8";

/// The page brings its own policy, of hashes, which that of the live page would forbid. What it cannot say itself is
/// that no other page may show it in a frame.
constexpr std::string_view kReportPolicy = "frame-ancestors 'none'";

constexpr char kAskAgain[] =
    "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta http-equiv=\"refresh\" content=\"1\">"
    "<title>crema</title></head><body><p>The report is being written.</p></body></html>\n";

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kRoundEvery(1);
/// Read between two looks at what clients want: some 10 ms of work.
constexpr size_t kSliceBytes = size_t{2} << 20;
constexpr size_t kMostOpenRows = 1000;

constexpr std::string_view kJson = "application/json";

int64_t QueryNumber(const HttpTarget& target, const std::string& name) {
  const std::string text = ValueOr(target.query, name, "");
  int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

LiveReply JsonReply(const Json& json) { return {200, kJson, JsonText(json, 1) + "\n"}; }

std::string Exposition(const Measurement& measurement) {
  std::string text;
  TextSink sink(&text);
  ExportSource source = {measurement, {}, {}, {}};
  source.metrics = LiveMetrics();
  const ExportFormat* format = FindBy(ExportFormats(), &ExportFormat::name, "prometheus");
  return format->write_file(source, "", &sink).ok() ? text : "";
}

}  // namespace

void DeltaStore::Put(Value& value, Json json) {
  if (value.changed > 0 && value.json == json) return;
  value.json = std::move(json);
  value.changed = now_;
}

void DeltaStore::RemoveRow(const std::string& table, const std::string& key) {
  if (tables_[table].erase(key) == 0) return;
  removals_.push_back({now_, table, key});
  if (removals_.size() <= kMostRemovals) return;
  forgotten_ = removals_.front().changed;
  removals_.pop_front();
}

Json DeltaStore::Since(int64_t since) const {
  const bool full = since <= first_ || since > now_ || since < forgotten_;
  if (full) since = 0;
  Json delta;
  delta["id"] = now_;
  delta["full"] = full;
  for (const auto& [key, value] : values_) {
    if (value.changed > since) delta[key] = value.json;
  }
  for (const auto& [table, rows] : tables_) {
    Json changed;
    for (const auto& [key, row] : rows) {
      if (row.changed > since) changed[key] = row.json;
    }
    if (!changed.is_null()) delta[table] = std::move(changed);
  }
  if (full) return delta;
  Json removed;
  for (const Removal& removal : removals_) {
    const auto table = tables_.find(removal.table);
    const bool is_back = table != tables_.end() && table->second.count(removal.key) > 0;
    if (removal.changed > since && !is_back) removed[removal.table].push_back(removal.key);
  }
  if (!removed.is_null()) delta["removed"] = std::move(removed);
  return delta;
}

LiveReply ServedReport::Answer(const std::string& run_id, int64_t records) {
  if (!writing_.valid() && (records != records_ || !page_.has_value())) {
    records_ = records;
    page_.reset();
    writing_ = std::async(std::launch::async, write_, run_id);
  }
  if (writing_.valid() && !is_writing()) page_ = writing_.get();
  if (!page_.has_value()) return {202, kHtml, kAskAgain};
  if (!page_->ok())
    return {500, kText, "the report cannot be written: " + std::string(page_->status().message()) + "\n"};
  return {200, kHtml, **page_, kReportPolicy};
}

LiveService::LiveService(boost::asio::io_context* context, const std::vector<std::string>& sources, LiveOptions options,
                         std::function<void()> on_update)
    : context_(context),
      timer_(*context),
      model_(std::move(options)),
      sources_(sources, &model_),
      store_(absl::GetCurrentTimeNanos() / 1'000'000),
      on_update_(std::move(on_update)) {}

void LiveService::Start() {
  last_tick_ = Clock::now();
  model_.Tick(absl::GetCurrentTimeNanos(), 0);
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
  model_.Tick(absl::GetCurrentTimeNanos(),
              std::chrono::duration_cast<std::chrono::nanoseconds>(now - last_tick_).count());
  last_tick_ = now;
  figures_ = ComputeLiveFigures(model_);
  UpdatePage(model_, figures_, sources_.states(), &store_);
  if (on_update_) on_update_();
}

std::string LiveService::Delta(int64_t since) const { return JsonText(store_.Since(since)); }

LiveReply LiveService::AnswerApi(const HttpTarget& target) const {
  if (target.path == "/api/v1/events") return JsonReply(EventsJson(model_));
  if (target.path == "/api/v1/chunks") return JsonReply(OpenChunksJson(model_, kMostOpenRows));
  const Json document = LiveDocument(model_, figures_);
  if (target.path == "/api/v1") return JsonReply(document);
  const size_t slash = target.path.rfind('/');
  const std::string table = target.path.substr(slash + 1);
  if (target.path == "/api/v1/" + table && document.contains(table)) return JsonReply(document[table]);
  return {404, kJson, JsonText({{"error", "there is no such address: see docs/live_api.md"}}) + "\n"};
}

LiveReply LiveService::AnswerReport() const {
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
  return {404, kText, "not found\n"};
}

}  // namespace crema

// The live run that is looked at once a second, everything that is served of it, and who may ask for what.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <future>

#include "collector/server/live_figures.h"
#include "collector/server/live_model.h"
#include "collector/server/live_sources.h"
#include "nlohmann/json.hpp"

namespace crema {

/// A request's target, taken apart: `/api/live?since=3` is the path `/api/live` and `since` = `3`.
struct HttpTarget {
  std::string path;
  std::map<std::string, std::string> query;
};

/// Decodes `%XX` and `+` in the query.
HttpTarget ParseTarget(std::string_view target);

/// By which names a browser may mean this server, in lower case: `localhost`, this machine's name, whole and up to its
/// first dot, and `given`, those that the user says it has elsewhere.
std::vector<std::string> OwnHostNames(const std::vector<std::string>& given);

/// Whether the `Host` of a request is exactly one of `names`, 127.0.0.1, [::1], or `address`, at which the connection
/// came in. A page of another site that has its name point here (DNS rebinding) fails by it. The port does not matter:
/// it is another one behind a tunnel.
bool IsOwnHost(std::string_view host, std::string_view address, const std::vector<std::string>& names);

/// Whether a request carries the token: as `Authorization: Bearer`, as `token` of the query, or as the cookie that the
/// page got for it. Takes the same time whatever is wrong. An empty `token` asks for none.
bool HasToken(std::string_view token, const HttpTarget& target, std::string_view authorization,
              std::string_view cookies);

/// A token of 32 hexadecimal digits, from the kernel's random numbers.
std::string MakeToken();

/// Whether a text can be a token: letters, digits, `-._~`, at least 8, which mean themselves in an address, a header
/// and a cookie.
bool CanBeToken(std::string_view text);

/// The name of the cookie with this token. A browser sends the cookies of a host to all its ports, so that of another
/// server beside this one must have another name.
std::string TokenCookie(std::string_view token);

/// The token in the file, which stays the same from server to server. A file that is not there, or empty, gets a new
/// one and is its user's alone (0600). Errors: others can read or write the file, or own it; no regular file; what it
/// holds can be no token.
absl::StatusOr<std::string> TokenOfFile(const std::string& path);

/// Values, and tables of rows with keys, each with the number of the change that made it what it is.
class DeltaStore {
 public:
  /// Numbers of changes begin after `first`: one that is larger than those of any server before, so that a client of
  /// another server gets everything.
  explicit DeltaStore(int64_t first) : first_(first), now_(first) {}

  /// Begins a change. What is set until the next belongs to it.
  void Begin() { ++now_; }
  void Set(const std::string& key, Json value) { Put(values_[key], std::move(value)); }
  void SetRow(const std::string& table, const std::string& key, Json row) { Put(tables_[table][key], std::move(row)); }
  void RemoveRow(const std::string& table, const std::string& key);
  /// Removes every row of a table for which `keep(key)` is false.
  template <class Keep>
  void KeepRows(const std::string& table, const Keep& keep) {
    std::vector<std::string> gone;
    for (const auto& [key, row] : tables_[table]) {
      if (!keep(key)) gone.push_back(key);
    }
    for (const std::string& key : gone) RemoveRow(table, key);
  }

  /// These rows, and no others.
  void SetTable(const std::string& table, std::map<std::string, Json> rows) {
    KeepRows(table, [&rows](const std::string& key) { return rows.count(key) > 0; });
    for (auto& [key, row] : rows) SetRow(table, key, std::move(row));
  }

  int64_t now() const { return now_; }

  /// `{"id": now, "full": bool, key: value, table: {key: row}, "removed": {table: [key]}}`, with what has changed after
  /// `since`. Everything, and `full`, where `since` is not one of this store's numbers or lies too far back.
  Json Since(int64_t since) const;

 private:
  struct Value {
    Json json;
    int64_t changed = 0;
  };
  struct Removal {
    int64_t changed;
    std::string table;
    std::string key;
  };
  void Put(Value& value, Json json);

  int64_t first_;
  int64_t now_;
  std::map<std::string, Value> values_;
  std::map<std::string, std::map<std::string, Value>> tables_;
  std::deque<Removal> removals_;
  int64_t forgotten_ = 0;  ///< removals up to this change are no longer known
};

/// The page and its parts, as they are built into the program from page/.
struct ServedFile {
  std::string_view path;
  std::string_view type;  ///< MIME type
  std::string_view text;
};
absl::Span<const ServedFile> ServedFiles();

struct LiveReply {
  int status = 200;
  std::string_view type;
  std::string body;
  std::string_view policy = "";  ///< its Content-Security-Policy; empty: that of the live page
};

class ServedReport {
 public:
  /// Makes the page of the run of that id. Called on another thread, never twice at once.
  using Write = std::function<absl::StatusOr<std::string>(const std::string& run_id)>;

  explicit ServedReport(Write write) : write_(std::move(write)) {}

  /// The page; 202 with a page that asks again while it is being written; 500 with the reason where it cannot be. It
  /// is written anew when there are other `records` than the last time.
  LiveReply Answer(const std::string& run_id, int64_t records);

  bool is_writing() const {
    return writing_.valid() && writing_.wait_for(std::chrono::seconds(0)) != std::future_status::ready;
  }

 private:
  Write write_;
  int64_t records_ = -1;  ///< that there were when the last one was begun
  std::optional<absl::StatusOr<std::string>> page_;
  std::future<absl::StatusOr<std::string>> writing_;
};

/// Everything runs on the thread of the `io_context`; a large backlog is read in slices between which clients are
/// served.
class LiveService {
 public:
  /// `context` outlives it. `on_update` is called after each look at the run.
  LiveService(boost::asio::io_context* context, const std::vector<std::string>& sources, LiveOptions options,
              std::function<void()> on_update);

  /// From now on `/report` answers with what `write` makes, once the run is over.
  void OfferReport(ServedReport::Write write) { report_ = std::make_unique<ServedReport>(std::move(write)); }

  /// Begins to look. The first round is read before anything is published.
  void Start();
  void Stop();
  /// Whether a report is being written. The destructor waits for it.
  bool IsWritingReport() const { return report_ != nullptr && report_->is_writing(); }

  /// The answer to a GET of the page, its parts or the API (docs/live_api.md). `/events` is not answered here.
  LiveReply Answer(const HttpTarget& target) const;
  /// What has changed since, as JSON.
  std::string Delta(int64_t since) const;

  int64_t now() const { return store_.now(); }
  const LiveModel& model() const { return model_; }
  const LiveFigures& figures() const { return figures_; }
  const std::vector<SourceState>& sources() const { return sources_.states(); }

 private:
  void Round();
  void ReadSlice();
  void Publish();
  LiveReply AnswerApi(const HttpTarget& target) const;
  LiveReply AnswerReport() const;

  boost::asio::io_context* context_;
  boost::asio::steady_timer timer_;
  LiveModel model_;
  LiveSources sources_;
  LiveFigures figures_;
  DeltaStore store_;
  std::function<void()> on_update_;
  std::unique_ptr<ServedReport> report_;
  std::chrono::steady_clock::time_point round_began_;
  std::chrono::steady_clock::time_point last_tick_;
  bool stopped_ = false;
};

}  // namespace crema

// A live run that is looked at once a second, and everything that is served of it.
#ifndef CREMA_COLLECTOR_SERVER_LIVE_SERVICE_H_
#define CREMA_COLLECTOR_SERVER_LIVE_SERVICE_H_

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "collector/server/access.h"
#include "collector/server/delta_store.h"
#include "collector/server/live_figures.h"
#include "collector/server/live_model.h"
#include "collector/server/live_reply.h"
#include "collector/server/live_sources.h"
#include "collector/server/served_report.h"

namespace crema {

/// Everything runs on the thread of the `io_context`; a large backlog is read in slices between which clients are
/// served.
class LiveService {
 public:
  /// `context` outlives it. `on_update` is called after each look at the run.
  LiveService(boost::asio::io_context* context, const std::vector<std::string>& sources, LiveOptions options,
              std::function<void()> on_update);

  /// From now on `/report` answers with what `write` makes, once the run is over.
  void OfferReport(ServedReport::Write write);

  /// Begins to look. The first round is read before anything is published.
  void Start();
  void Stop();
  /// Whether a report is being written, for which the destructor waits.
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

/// JSON for the wire: names that are no UTF-8 get the replacement character.
std::string Dump(const nlohmann::ordered_json& json, int indent = -1);

}  // namespace crema

#endif  // CREMA_COLLECTOR_SERVER_LIVE_SERVICE_H_

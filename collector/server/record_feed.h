// Lines of one record log, as they come, into the live model.
#ifndef CREMA_COLLECTOR_SERVER_RECORD_FEED_H_
#define CREMA_COLLECTOR_SERVER_RECORD_FEED_H_

#include <optional>
#include <string_view>

#include "collector/records/record_parser.h"
#include "collector/server/file_tail.h"
#include "collector/server/live_model.h"

namespace crema {

class RecordFeed {
 public:
  /// `parser` and `model` outlive it; feeds that take turns share one parser.
  RecordFeed(RecordParser* parser, LiveModel* model) : parser_(parser), model_(model) {}

  void Add(std::string_view bytes);
  /// The log is read from its beginning again: what was told before is not counted twice.
  void Restart() { lines_.Clear(); }
  /// The worker whose log it is; nullopt: not known yet, or its records are left out.
  std::optional<LiveModel::WorkerId> worker() const { return worker_; }

 private:
  void AddLine(std::string_view line);
  /// It was told before: the log was copied, or written anew.
  bool IsRepeated(const Record& record);

  RecordParser* parser_;
  LiveModel* model_;
  LineAssembler lines_;
  std::optional<LiveModel::WorkerId> worker_;
  bool is_left_out_ = false;
  LiveRecorder* recorder_ = nullptr;  ///< the worker's
};

}  // namespace crema

#endif  // CREMA_COLLECTOR_SERVER_RECORD_FEED_H_

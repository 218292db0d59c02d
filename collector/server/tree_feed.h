// Lines of a process-tree log (`crema run`), as they come, into the live model.
#ifndef CREMA_COLLECTOR_SERVER_TREE_FEED_H_
#define CREMA_COLLECTOR_SERVER_TREE_FEED_H_

#include <string>
#include <string_view>

#include "collector/server/file_tail.h"
#include "collector/server/live_model.h"

namespace crema {

class TreeFeed {
 public:
  explicit TreeFeed(LiveModel* model) : model_(model) {}
  void Add(std::string_view bytes);
  /// `running`: `crema run` still holds the log.
  void SetLife(bool running);

 private:
  void AddLine(std::string_view line);

  LiveModel* model_;
  LineAssembler lines_;
  LiveCommand command_;
  std::string host_;
};

}  // namespace crema

#endif  // CREMA_COLLECTOR_SERVER_TREE_FEED_H_

// Asks a scheduler's plug-in for what is new, again and again, on a thread of its own. A plug-in that is attached later
// is found within a second.
#ifndef CREMA_COLLECTOR_ENGINES_DASK_DASK_FOLLOWER_H_
#define CREMA_COLLECTOR_ENGINES_DASK_DASK_FOLLOWER_H_

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "collector/engines/engine.h"

namespace crema {

/// Follows `dask://HOST:PORT`, once a second. It never has workers flush: nothing of the job waits for it. At most
/// 16 MB of pages wait to be taken; then it stops asking until they are.
class DaskFollower : public EngineFollower {
 public:
  explicit DaskFollower(const std::string& address);
  /// Waits for an answer that is under way, at most some seconds.
  ~DaskFollower() override;
  DaskFollower(const DaskFollower&) = delete;
  DaskFollower& operator=(const DaskFollower&) = delete;

  EngineNews Take() override;

 private:
  void Follow();
  void AddPage(std::string page);

  std::string address_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  size_t waiting_bytes_ = 0;
  EngineNews news_;
  std::thread thread_;
};

}  // namespace crema

#endif  // CREMA_COLLECTOR_ENGINES_DASK_DASK_FOLLOWER_H_

// Asks a scheduler's plug-in for what is new, again and again, on a thread of its own. Where there is no plug-in, it
// follows what every scheduler tells, until there is one.
#ifndef CREMA_COLLECTOR_SOURCES_DASK_DASK_FOLLOWER_H_
#define CREMA_COLLECTOR_SOURCES_DASK_DASK_FOLLOWER_H_

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace crema {

class BareFollower;
class HttpConnection;

/// What came since the last time it was asked for.
struct DaskNews {
  std::vector<std::string> pages;  ///< of `crema.dask/1`, in order
  bool answers = false;            ///< the scheduler answered when it was last asked
  std::string problem;             ///< why not, or what it cannot tell, in one line
};

/// Follows `dask://HOST:PORT`, once a second. It never has workers flush: nothing of the job waits for it. At most
/// 16 MB of pages wait to be taken; then it stops asking until they are.
class DaskFollower {
 public:
  explicit DaskFollower(const std::string& address);
  /// Waits for an answer that is under way, at most some seconds.
  ~DaskFollower();
  DaskFollower(const DaskFollower&) = delete;
  DaskFollower& operator=(const DaskFollower&) = delete;

  DaskNews Take();

 private:
  void Follow();
  /// For some seconds. `lock` holds the mutex, but not while anything is waited for.
  void FollowBare(HttpConnection* scheduler, BareFollower* bare, std::unique_lock<std::mutex>* lock);
  void AddPage(std::string page);

  std::string address_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  size_t waiting_bytes_ = 0;
  DaskNews news_;
  std::thread thread_;
};

}  // namespace crema

#endif  // CREMA_COLLECTOR_SOURCES_DASK_DASK_FOLLOWER_H_

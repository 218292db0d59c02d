// Tells a person at a terminal that something takes its time.
#ifndef CREMA_COLLECTOR_CLI_PROGRESS_NOTE_H_
#define CREMA_COLLECTOR_CLI_PROGRESS_NOTE_H_

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace crema {

/// While it lives longer than a second, `crema: <what> ...` stands on stderr, if that is a terminal; then it is gone.
class ProgressNote {
 public:
  ProgressNote(std::string what, bool quiet);
  ~ProgressNote();
  ProgressNote(const ProgressNote&) = delete;
  ProgressNote& operator=(const ProgressNote&) = delete;

 private:
  void Wait();

  std::string what_;
  std::mutex mutex_;
  std::condition_variable over_;
  bool is_over_ = false;
  std::thread waiter_;  // last: it uses the others
};

}  // namespace crema

#endif  // CREMA_COLLECTOR_CLI_PROGRESS_NOTE_H_

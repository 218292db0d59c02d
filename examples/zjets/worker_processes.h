// WorkerProcess: a forked copy of this program that gets a message, works, and answers with one.
#ifndef CREMA_EXAMPLES_ZJETS_WORKER_PROCESSES_H_
#define CREMA_EXAMPLES_ZJETS_WORKER_PROCESSES_H_

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zjets {

/// What a worker does with the message it gets. The answer goes back to the parent.
using WorkerFunction = std::function<std::string(std::string_view)>;

/// Worker processes, from fork(2) until the end of the scope, which waits for them. Make it before the program starts
/// threads: a forked process has only the thread that forked. Workers that get no message end quietly; all end when the
/// parent dies.
class WorkerProcesses {
 public:
  /// Forks `count` processes, which run `function` and exit. Throws std::runtime_error when that cannot be done.
  WorkerProcesses(int count, const WorkerFunction& function);
  ~WorkerProcesses();
  WorkerProcesses(const WorkerProcesses&) = delete;
  WorkerProcesses& operator=(const WorkerProcesses&) = delete;

  /// Sends all workers the same message. `Receive` notices a worker that died meanwhile.
  void SendToAll(std::string_view message);

  struct Answer {
    std::optional<std::string> message;  ///< nothing: the worker died before it had answered in full
    std::string worker;                  ///< for people: "worker 1 (process 4711) was killed by signal 9"
  };
  /// Waits for all answers and for the ends of the processes. Call it once.
  std::vector<Answer> Receive();

 private:
  struct Worker {
    pid_t pid;
    int socket;
  };
  void Close();

  std::vector<Worker> workers_;
};

}  // namespace zjets

#endif  // CREMA_EXAMPLES_ZJETS_WORKER_PROCESSES_H_

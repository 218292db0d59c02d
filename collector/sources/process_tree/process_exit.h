// Tells when a process ends that is no child of this one.
#ifndef CREMA_COLLECTOR_SOURCES_PROCESS_TREE_PROCESS_EXIT_H_
#define CREMA_COLLECTOR_SOURCES_PROCESS_TREE_PROCESS_EXIT_H_

#include <cstdint>

namespace crema {

/// The process that has the pid at construction; never another one that gets its pid later.
class ProcessExit {
 public:
  explicit ProcessExit(int pid);
  ~ProcessExit();
  ProcessExit(const ProcessExit&) = delete;
  ProcessExit& operator=(const ProcessExit&) = delete;

  /// Whether it has ended; true too where there was none. Nobody needs to have waited for it.
  bool HasEnded() const;

  /// Becomes readable when it ends (pidfd_open(2)); -1 where the kernel has no such thing (before 5.3): ask `HasEnded`.
  int descriptor() const { return descriptor_; }

 private:
  int pid_;
  int64_t start_ticks_;
  int descriptor_;
};

}  // namespace crema

#endif  // CREMA_COLLECTOR_SOURCES_PROCESS_TREE_PROCESS_EXIT_H_

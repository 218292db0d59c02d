// Signals that wait until something on disk is whole.
#ifndef CREMA_COLLECTOR_OUTPUT_HELD_SIGNALS_H_
#define CREMA_COLLECTOR_OUTPUT_HELD_SIGNALS_H_

#include <csignal>

namespace crema {

/// While it lives, SIGINT, SIGTERM and SIGHUP wait (sigprocmask(2)). Its destructor lets them do what they do: as a
/// rule they end the process. For the only thread of a process.
class HeldSignals {
 public:
  HeldSignals();
  ~HeldSignals();
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

  /// Whether one of them came, that the process does not ignore.
  bool pending() const;

 private:
  sigset_t before_;
};

}  // namespace crema

#endif  // CREMA_COLLECTOR_OUTPUT_HELD_SIGNALS_H_

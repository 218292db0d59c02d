// What a scheduler's `/eventstream` told in a while, summed up: its messages need not be kept.
#ifndef CREMA_COLLECTOR_ENGINES_DASK_EVENT_SUMS_H_
#define CREMA_COLLECTOR_ENGINES_DASK_EVENT_SUMS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "nlohmann/json.hpp"

namespace crema {

/// Bounded, however long nobody takes: what is beyond the limits adds up as `(other)`.
class EventSums {
 public:
  static constexpr size_t kMostPrefixes = 1000;
  static constexpr size_t kMostWorkers = 10'000;

  /// One message, whatever it is.
  void Add(std::string_view message);

  /// The stream begins, or begins again: it tells all workers that are there, and then what happens.
  void BeginRollCall();
  /// Those were told; who was there before and was not told has left.
  void EndRollCall();
  /// The stream broke: those that were told are there, and nothing is known of the others.
  void BreakOffRollCall() { is_roll_call_ = false; }

  /// Fields for a line of type `bare`, of what came since this was last called: `finished`, `finished_by_worker`,
  /// `malformed`.
  nlohmann::ordered_json TakeFinished();
  /// Lines of type `worker`: who is there or is gone that was not when this was last called. Those that the first roll
  /// call names were `present`.
  std::string TakeWorkers(int64_t time_ns);

  /// How many there were in all.
  int64_t messages() const { return messages_; }

 private:
  struct Finished {
    int64_t tasks = 0;
    double compute_seconds = 0;
  };

  int64_t messages_ = 0;
  int64_t malformed_ = 0;
  std::map<std::string, Finished> finished_;           // by prefix
  std::map<std::string, int64_t> finished_by_worker_;  // tasks
  std::set<std::string> workers_;                      // that are there
  std::set<std::string> told_workers_;                 // as they were when last taken
  std::set<std::string> roll_;
  bool is_roll_call_ = false;
  bool has_ended_roll_call_ = false;
  bool has_told_workers_ = false;
};

}  // namespace crema

#endif  // CREMA_COLLECTOR_ENGINES_DASK_EVENT_SUMS_H_

// A run that goes on, as an engine's feed tells of it.
#ifndef CREMA_COLLECTOR_ENGINES_LIVE_RUN_H_
#define CREMA_COLLECTOR_ENGINES_LIVE_RUN_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "collector/records/cluster_facts.h"

namespace crema {

enum class EventKind { kInfo, kGood, kWarning, kBad };

/// What whoever shows the run takes in. Times are Unix nanoseconds.
class LiveRun {
 public:
  virtual ~LiveRun() = default;

  virtual int64_t now_ns() const = 0;
  /// The engine was heard of; its version may be empty.
  virtual void SetVersion(const std::string& version) = 0;
  /// A measurement begins, or ends; workers may have been there before, and go on to serve others.
  virtual void BeginSession(int64_t time_ns) = 0;
  virtual void EndSession(int64_t time_ns) = 0;
  /// Events that each dataset is to have.
  virtual void SetPlan(std::map<std::string, int64_t> events) = 0;

  /// A worker, by its host name and process id: the records of that process are shown under its address.
  virtual void AddWorker(const ClusterWorkerFact& worker) = 0;
  /// More bytes of a record log that a worker sends.
  virtual void AddRecords(const std::string& log, std::string_view bytes) = 0;
  /// Asks of each process whose records were added whether it is there.
  virtual void SetLives(const std::function<bool(const std::string& host, int64_t pid)>& is_there) = 0;

  /// What a scheduler tells whose workers tell nothing.
  virtual void AddScheduler(const SchedulerFact& scheduler) = 0;
  /// Of such a one: compute seconds since it began, by prefix.
  virtual void SetComputeSeconds(const std::string& address, const std::map<std::string, double>& by_prefix) = 0;

  /// Something that people should read.
  virtual void Note(EventKind kind, std::string text) = 0;
  /// Lines that could not be used.
  virtual void CountMalformed(int64_t lines) = 0;
};

}  // namespace crema

#endif  // CREMA_COLLECTOR_ENGINES_LIVE_RUN_H_

// Chrome's trace events: a line of JSON each, written as they come.
//
// Format: "Trace Event Format", https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU;
// microseconds, here with three decimals, since the trace's own zero: Unix time in them would not fit a double.
#ifndef CREMA_COLLECTOR_EXPORTS_TRACE_EVENTS_H_
#define CREMA_COLLECTOR_EXPORTS_TRACE_EVENTS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "collector/exports/text_sink.h"
#include "collector/records/facts.h"
#include "collector/sources/attempt_stream.h"
#include "nlohmann/json.hpp"

namespace crema {

/// Writes events to a sink. It remembers the processes and threads that it named, nothing else.
class TraceEvents {
 public:
  TraceEvents(TextSink* sink, int64_t zero_ns) : sink_(sink), zero_ns_(zero_ns) {}

  /// A number for the process in this trace; it is named when it is new. Pids of several hosts may be the same.
  int64_t Process(const AttemptProcess& process);
  /// The number of a process that was named and began then, to a second; 0: there is none.
  int64_t Process(const std::string& host, int64_t pid, int64_t about_start_ns) const;
  /// A slice for an attempt that ended; in trace mode, slices for its sections, on their own threads. A lost attempt is
  /// an instant.
  void Add(const Attempt& attempt);
  /// `by`: who sampled, at the end of the counters' names; empty: the process itself.
  void Add(int64_t process, const SampleFact& sample, std::string_view by = "");
  void Add(int64_t process, const SpanFact& span);
  /// A value that changes over time.
  void Counter(int64_t process, std::string_view name, std::string_view unit, int64_t time_ns, double value);
  /// Sections outside chunks, summed since the process began: counters of the seconds in each per second since the
  /// reading before.
  void OutsideSections(int64_t process, int64_t process_start_ns, int64_t time_ns,
                       const std::vector<SectionFact>& sections);
  /// CPU time since the process began, drawn as cores in use since the reading before.
  void CpuReading(int64_t process, std::string_view by, int64_t time_ns, std::optional<int64_t> cpu_ns);

 private:
  struct TraceSlice {
    int64_t start_ns;
    int64_t stop_ns;
    int64_t depth;  ///< 0: the chunk
    std::string_view category;
    std::string name;
    nlohmann::ordered_json arguments;
  };

  int64_t Thread(int64_t process, int64_t tid, bool is_helper);
  void WriteNested(int64_t process, int64_t thread, std::vector<TraceSlice> slices);
  void Write(const std::string& event);
  std::string Micros(int64_t time_ns) const;

  TextSink* sink_;
  int64_t zero_ns_;
  bool is_first_ = true;
  int64_t spans_ = 0;
  int64_t numbers_ = 0;                                                         // given to processes and threads
  std::map<std::tuple<std::string, int64_t, int64_t>, int64_t> processes_;      // (host, pid, start)
  std::map<int64_t, int64_t> pids_;                                             // by process
  std::map<std::pair<int64_t, int64_t>, int64_t> threads_;                      // (process, tid)
  std::map<std::pair<int64_t, std::string>, std::pair<int64_t, int64_t>> cpu_;  // (process, by): (time, CPU time)
  std::map<int64_t, int64_t> outside_at_ns_;                                    // by process: the reading before
  std::map<std::pair<int64_t, std::string>, int64_t> outside_ns_;               // (process, section): its sum then
};

}  // namespace crema

#endif  // CREMA_COLLECTOR_EXPORTS_TRACE_EVENTS_H_

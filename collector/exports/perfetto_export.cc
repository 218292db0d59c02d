// `crema export --to perfetto`.
#include <algorithm>
#include <cstdlib>
#include <tuple>

#include "collector/exports/chunk_fields.h"
#include "collector/exports/export_format.h"
#include "collector/exports/formats.h"
#include "collector/records/facts.h"
#include "collector/records/section_path.h"
#include "collector/sources/attempt_stream.h"
#include "collector/sources/process_tree/tree_log.h"
#include "collector/sources/record_log.h"
#include "fmt/format.h"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

// Chrome's trace events: a line of JSON each, written as they come.
//
// Format: "Trace Event Format", https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU;
// microseconds, here with three decimals, since the trace's own zero: Unix time in them would not fit a double.

std::string Quoted(std::string_view text) { return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace); }

/// Nanoseconds as microseconds with three decimals, exactly.
std::string MicrosOf(int64_t ns) {
  return fmt::format("{}{}.{:03}", ns < 0 ? "-" : "", std::llabs(ns) / 1000, std::llabs(ns) % 1000);
}

std::string LastName(std::string_view path) { return NameOfPathPart(std::string(path.substr(path.rfind('/') + 1))); }

Json ArgumentsOf(const Attempt& attempt) {
  Json arguments = Json::object();
  for (std::string_view key : {"chunk", "status", "error", "dataset", "file", "entry_start", "entry_stop", "pass",
                               "events", "bytes_read", "cpu", "cpu_wait", "joined", "blocked", "rss_delta_bytes"}) {
    Json value = ToJson((*FindChunkField(key))->value(attempt));
    if (!value.is_null()) arguments[std::string(key)] = std::move(value);
  }
  for (const SectionFact& section : attempt.chunk.sections) {
    arguments[fmt::format("{}{} ms", section.path, section.helper ? " (helper)" : "")] = section.total_ns / 1e6;
  }
  if (attempt.chunk.trace_dropped > 0) arguments["trace_dropped"] = attempt.chunk.trace_dropped;
  return arguments;
}

int64_t ThreadOf(const ChunkFact& chunk) {
  return chunk.tid.value_or(static_cast<int64_t>(chunk.thread.value_or(0) & 0x7fffffff));
}

/// Writes events to a sink. It remembers the processes and threads that it named, nothing else.
class TraceEvents {
 public:
  TraceEvents(TextSink* sink, int64_t zero_ns) : sink_(sink), zero_ns_(zero_ns) {}

  /// A number for the process in this trace; it is named when it is new. Pids of several hosts may be the same.
  int64_t Process(const AttemptProcess& process) {
    const auto [entry, is_new] = processes_.try_emplace({process.host, process.pid, process.start_ns}, numbers_ + 1);
    if (is_new) {
      ++numbers_;
      pids_[entry->second] = process.pid;
      Write(fmt::format(R"({{"ph":"M","pid":{},"tid":0,"name":"process_name","args":{{"name":{}}}}})", entry->second,
                        Quoted(process.worker)));
      Write(fmt::format(R"({{"ph":"M","pid":{0},"tid":0,"name":"process_sort_index","args":{{"sort_index":{0}}}}})",
                        entry->second));
    }
    return entry->second;
  }

  /// The number of a process that was named and began then, to a second; 0: there is none.
  int64_t Process(const std::string& host, int64_t pid, int64_t about_start_ns) const {
    constexpr int64_t kTolerance = 1000000000;
    const auto at = processes_.lower_bound({host, pid, about_start_ns - kTolerance});
    const bool is_it = at != processes_.end() && std::get<0>(at->first) == host && std::get<1>(at->first) == pid &&
                       std::get<2>(at->first) <= about_start_ns + kTolerance;
    return is_it ? at->second : 0;
  }

  /// A slice for an attempt that ended; in trace mode, slices for its sections, on their own threads. A lost attempt is
  /// an instant.
  void Add(const Attempt& attempt) {
    const ChunkFact& chunk = attempt.chunk;
    const int64_t process = Process(attempt.process);
    const int64_t owner_tid = ThreadOf(chunk);
    const int64_t thread = Thread(process, owner_tid, /*is_helper=*/false);
    const std::string_view name = chunk.input.dataset.empty() ? "chunk" : chunk.input.dataset;
    if (!attempt.has_ended()) {
      Write(fmt::format(R"({{"ph":"i","s":"t","cat":"{}","name":{},"pid":{},"tid":{},"ts":{},"args":{}}})",
                        ToString(attempt.state), Quoted(fmt::format("{} ({})", name, ToString(attempt.state))), process,
                        thread, Micros(chunk.start_ns),
                        ArgumentsOf(attempt).dump(-1, ' ', false, Json::error_handler_t::replace)));
      return;
    }
    const bool failed = attempt.state == AttemptState::kFailed;
    std::map<int64_t, std::vector<TraceSlice>> slices;  // by thread
    slices[thread].push_back({chunk.start_ns, chunk.stop_ns, 0, failed ? "failed chunk" : "chunk",
                              failed ? std::string(name) + " (failed)" : std::string(name), ArgumentsOf(attempt)});
    for (const TraceFact& occurrence : chunk.trace) {
      if (occurrence.section >= static_cast<int64_t>(chunk.sections.size())) continue;
      const std::string_view path = chunk.sections[static_cast<size_t>(occurrence.section)].path;
      const bool is_owner = occurrence.tid == owner_tid || occurrence.tid == 0;
      const int64_t start_ns = chunk.start_ns + occurrence.start_ns;
      slices[is_owner ? thread : Thread(process, occurrence.tid, /*is_helper=*/true)].push_back(
          {start_ns, start_ns + occurrence.duration_ns, 1 + std::count(path.begin(), path.end(), '/'), "section",
           LastName(path), Json{{"path", path}}});
    }
    for (auto& [number, of_thread] : slices) WriteNested(process, number, std::move(of_thread));
  }

  /// `by`: who sampled, at the end of the counters' names; empty: the process itself.
  void Add(int64_t process, const SampleFact& sample, std::string_view by = "") {
    const auto counter = [&](std::string_view name, std::string_view unit, const std::optional<int64_t>& value) {
      if (!value.has_value()) return;
      Counter(process, fmt::format("{}{}", name, by), unit, sample.time_ns, static_cast<double>(*value));
    };
    counter("resident memory", "bytes", sample.rss_bytes);
    counter("open chunks", "count", sample.open_chunks);
    counter("threads", "count", sample.threads);
    CpuReading(process, by, sample.time_ns, sample.cpu_ns);
  }

  void Add(int64_t process, const SpanFact& span) {
    const std::string head = fmt::format(R"("cat":"span","id":{},"name":{},"pid":{},"tid":0)", ++spans_,
                                         Quoted(span.path.empty() ? span.name : span.path), process);
    Write(fmt::format(R"({{"ph":"b",{},"ts":{}}})", head, Micros(span.start_ns)));
    Write(fmt::format(R"({{"ph":"e",{},"ts":{}}})", head, Micros(span.stop_ns)));
  }

  /// A value that changes over time.
  void Counter(int64_t process, std::string_view name, std::string_view unit, int64_t time_ns, double value) {
    if (!std::isfinite(value)) return;
    Write(fmt::format(R"({{"ph":"C","pid":{},"tid":0,"name":{},"ts":{},"args":{{{}:{}}}}})", process, Quoted(name),
                      Micros(time_ns), Quoted(unit), value));
  }

  /// Sections outside chunks, summed since the process began: counters of the seconds in each per second since the
  /// reading before.
  void OutsideSections(int64_t process, int64_t process_start_ns, int64_t time_ns,
                       const std::vector<SectionFact>& sections) {
    const auto at = outside_at_ns_.try_emplace(process, process_start_ns).first;
    const int64_t before_ns = at->second;
    if (time_ns <= before_ns) return;
    at->second = time_ns;
    for (const SectionFact& section : sections) {
      const std::string name = fmt::format("outside chunks: {}{}", section.path, section.helper ? " (helper)" : "");
      int64_t& sum_ns = outside_ns_[{process, name}];
      const int64_t grown_ns = std::max<int64_t>(0, section.total_ns - sum_ns);
      sum_ns = std::max(sum_ns, section.total_ns);
      Counter(process, name, "s/s", before_ns,
              static_cast<double>(grown_ns) / static_cast<double>(time_ns - before_ns));
      Counter(process, name, "s/s", time_ns, 0);  // until the next reading says otherwise
    }
  }

  /// CPU time since the process began, drawn as cores in use since the reading before.
  void CpuReading(int64_t process, std::string_view by, int64_t time_ns, std::optional<int64_t> cpu_ns) {
    if (!cpu_ns.has_value()) return;
    const auto [entry, is_new] = cpu_.try_emplace(std::pair(process, std::string(by)), std::pair(time_ns, *cpu_ns));
    if (is_new) return;
    const auto [before_ns, before_cpu_ns] = entry->second;
    if (time_ns <= before_ns) return;
    // the value holds until the next reading, so it is written where its interval begins
    Counter(
        process, fmt::format("CPU in use{}", by), "cores", before_ns,
        static_cast<double>(std::max<int64_t>(0, *cpu_ns - before_cpu_ns)) / static_cast<double>(time_ns - before_ns));
    entry->second = {time_ns, *cpu_ns};
  }

 private:
  struct TraceSlice {
    int64_t start_ns;
    int64_t stop_ns;
    int64_t depth;  ///< 0: the chunk
    std::string_view category;
    std::string name;
    Json arguments;
  };

  /// A thread with a process's number is taken for that process's main thread, so only that one gets it.
  int64_t Thread(int64_t process, int64_t tid, bool is_helper) {
    const int64_t number = tid == pids_[process] ? process : numbers_ + 1;
    const auto [entry, is_new] = threads_.try_emplace({process, tid}, number);
    if (is_new) {
      numbers_ += number == process ? 0 : 1;
      Write(fmt::format(R"({{"ph":"M","pid":{},"tid":{},"name":"thread_name","args":{{"name":{}}}}})", process, number,
                        Quoted(fmt::format("{} {}", is_helper ? "helper" : "thread", tid))));
      constexpr int64_t kHelpersLast = 1000000;
      Write(fmt::format(R"({{"ph":"M","pid":{},"tid":{},"name":"thread_sort_index","args":{{"sort_index":{}}}}})",
                        process, number, number + (is_helper ? kHelpersLast : 0)));
    }
    return entry->second;
  }

  /// As pairs of begin and end in an order that nests: readers that add a duration to a start may come out after the
  /// slice around it.
  void WriteNested(int64_t process, int64_t thread, std::vector<TraceSlice> slices) {
    std::stable_sort(slices.begin(), slices.end(), [](const TraceSlice& a, const TraceSlice& b) {
      return std::tie(a.start_ns, a.depth, a.stop_ns) < std::tie(b.start_ns, b.depth, b.stop_ns);
    });
    std::vector<std::pair<int64_t, int64_t>> open;  // depth, stop
    const auto close = [&] {
      Write(fmt::format(R"({{"ph":"E","pid":{},"tid":{},"ts":{}}})", process, thread, Micros(open.back().second)));
      open.pop_back();
    };
    for (const TraceSlice& slice : slices) {
      while (!open.empty() && (open.back().first >= slice.depth || open.back().second < slice.start_ns)) close();
      const int64_t stop_ns = open.empty() ? slice.stop_ns : std::min(slice.stop_ns, open.back().second);
      Write(fmt::format(R"({{"ph":"B","cat":"{}","name":{},"pid":{},"tid":{},"ts":{},"args":{}}})", slice.category,
                        Quoted(slice.name), process, thread, Micros(slice.start_ns),
                        slice.arguments.dump(-1, ' ', false, Json::error_handler_t::replace)));
      open.emplace_back(slice.depth, std::max(stop_ns, slice.start_ns));
    }
    while (!open.empty()) close();
  }

  void Write(const std::string& event) {
    sink_->Write(is_first_ ? "\n" : ",\n");
    sink_->Write(event);
    is_first_ = false;
  }

  std::string Micros(int64_t time_ns) const { return MicrosOf(time_ns - zero_ns_); }

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

/// The trace's zero: the run's start, or that of a process which began before it.
int64_t ZeroOf(const Measurement& measurement, const RecordLogs& logs) {
  int64_t zero_ns = std::numeric_limits<int64_t>::max();
  if (const Number& start_ns = measurement.run.start_ns; start_ns.is_integer()) zero_ns = start_ns.integer();
  for (const RecordLog& log : logs.logs) {
    if (log.start_ns > 0) zero_ns = std::min(zero_ns, log.start_ns);
  }
  return zero_ns == std::numeric_limits<int64_t>::max() ? 0 : zero_ns;
}

void AddLog(const RecordLog& log, bool all_runs, TraceEvents* events) {
  const bool running = MayLackItsEnd(log.path);
  AttemptAssembler assembler(running, [events](const Attempt& attempt) { events->Add(attempt); });
  ReadLogOfRun(log, running, all_runs, [&](const Record& record) {
    assembler.Add(record);
    const AttemptProcess& process = assembler.process();
    if (record.type == RecordType::kProcess) events->Process(process);
    if (record.type == RecordType::kSample) {
      events->Add(events->Process(process), record.sample);
      events->OutsideSections(events->Process(process), process.start_ns, record.sample.time_ns,
                              record.sample.sections);
    }
    if (record.type == RecordType::kEnd) {
      events->OutsideSections(events->Process(process), process.start_ns, record.end.time_ns, record.end.sections);
    }
    if (record.type == RecordType::kSpan) events->Add(events->Process(process), record.span);
  });
  assembler.Finish();
}

/// What `crema run` sampled, process by process: beside what the process recorded of itself, where it did.
void AddTree(const TreeRun& tree, TraceEvents* events) {
  for (const auto& [key, samples] : tree.processes) {
    int64_t number = events->Process(tree.run.host, key.first, key.second);
    if (number == 0) {
      AttemptProcess process;
      process.host = tree.run.host;
      process.pid = key.first;
      process.start_ns = key.second;
      process.worker = process.host + ":" + std::to_string(process.pid);
      number = events->Process(process);
    }
    for (const ProcessSample& sample : samples) {
      SampleFact fact;
      fact.time_ns = sample.time_ns;
      fact.rss_bytes = sample.rss_bytes;
      fact.cpu_ns = sample.cpu_ns;
      fact.threads = sample.threads;
      events->Add(number, fact, " (crema run)");
    }
  }
}

}  // namespace

absl::Status WritePerfetto(const ExportSource& source, const std::string&, TextSink* sink) {
  RecordLogs logs;
  if (source.find_logs) {
    absl::StatusOr<RecordLogs> found = source.find_logs();
    if (!found.ok()) return found.status();
    logs = *std::move(found);
  }
  const int64_t zero_ns = ZeroOf(source.measurement, logs);
  Json name;
  WriteValue(source.measurement.run.name, &name);
  const Json about = {
      {"written_by", "crema " CREMA_VERSION_STRING}, {"run", name}, {"zero_unix_ns", std::to_string(zero_ns)}};
  sink->Write(R"({"otherData":)" + about.dump(-1, ' ', false, Json::error_handler_t::replace) + R"(,"traceEvents":[)");
  TraceEvents events(sink, zero_ns);
  if (source.find_logs) {
    for (const RecordLog& log : logs.logs) AddLog(log, logs.all_runs, &events);
    for (const std::string& path : logs.tree_logs) {
      // what cannot be read is named in the measurement's own warnings
      if (const absl::StatusOr<TreeLogReading> tree = ReadTreeLog(path); tree.ok()) AddTree(tree->run, &events);
    }
  } else {
    absl::Status read = source.for_each_attempt([&events](const Attempt& attempt) { events.Add(attempt); });
    if (!read.ok()) return read;
  }
  sink->Write("\n]}\n");
  return absl::OkStatus();
}

}  // namespace crema

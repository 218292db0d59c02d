// `crema export --to perfetto`.
#include <cstdlib>

#include "collector/exports/export_format.h"
#include "collector/exports/table_exports.h"
#include "collector/idioms/sequences.h"
#include "collector/idioms/text.h"
#include "collector/records/json_fields.h"
#include "collector/sources/process_tree/tree_log.h"

namespace crema {
namespace {

// Chrome's trace events: a line of JSON each, written as they come.
//
// Format: "Trace Event Format", https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU;
// microseconds, here with three decimals, since the trace's own zero: Unix time in them would not fit a double.

std::string Quoted(std::string_view text) { return JsonText(Json(text)); }

/// Nanoseconds as microseconds with three decimals, exactly.
std::string MicrosOf(int64_t ns) {
  return fmt::format("{}{}.{:03}", ns < 0 ? "-" : "", std::llabs(ns) / 1000, std::llabs(ns) % 1000);
}

std::string LastName(std::string_view path) { return NameOfPathPart(std::string(LastPart(path))); }

Json ArgumentsOf(const Attempt& attempt) {
  Json arguments = Json::object();
  for (std::string_view key : {"chunk", "status", "error", "dataset", "file", "entry_start", "entry_stop", "pass",
                               "events", "bytes_read", "cpu", "cpu_wait", "joined", "blocked", "rss_delta_bytes"}) {
    Json value = (*FindChunkField(key))->value(attempt);
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

struct LatencyPart {
  std::string_view name;
  int64_t start_ns;
  int64_t stop_ns;
};

/// Where an event's latency went, in the order of time (docs/tasks.md).
std::vector<LatencyPart> PartsOf(const ChunkFact& chunk) {
  constexpr std::array<std::string_view, 4> kNames = {"at work", "queued", "external", "nothing ready"};
  struct Step {
    int64_t time_ns;
    size_t part;
    int more;
  };
  const int64_t latency_ns = chunk.stop_ns - chunk.start_ns;
  std::vector<Step> steps = {{0, 3, 1}, {latency_ns, 3, -1}};
  const auto add = [&](size_t part, int64_t from_ns, int64_t to_ns) {
    if (to_ns <= from_ns || from_ns < 0 || to_ns > latency_ns) return;
    steps.push_back({from_ns, part, 1});
    steps.push_back({to_ns, part, -1});
  };
  for (const TracedTaskFact& task : chunk.tasks) {
    add(task.is_request() ? 2 : 0, task.start_ns, task.stop_ns());
    add(1, task.ready_ns.value_or(task.start_ns), task.start_ns);
  }
  absl::c_sort(steps, [](const Step& a, const Step& b) { return a.time_ns < b.time_ns; });
  std::vector<LatencyPart> parts;
  std::array<int, 4> open = {};
  for (size_t i = 0; i + 1 < steps.size(); ++i) {
    open[steps[i].part] += steps[i].more;
    if (steps[i + 1].time_ns == steps[i].time_ns) continue;
    const auto part = absl::c_find_if(open, [](int tasks) { return tasks > 0; });
    if (part == open.end()) continue;
    const std::string_view name = kNames[static_cast<size_t>(part - open.begin())];
    const int64_t start_ns = chunk.start_ns + steps[i].time_ns, stop_ns = chunk.start_ns + steps[i + 1].time_ns;
    if (!parts.empty() && parts.back().name == name && parts.back().stop_ns == start_ns) {
      parts.back().stop_ns = stop_ns;
    } else {
      parts.push_back({name, start_ns, stop_ns});
    }
  }
  return parts;
}

/// Tasks and requests of an event, by what let each of them begin.
class Predecessors {
 public:
  explicit Predecessors(const std::vector<TracedTaskFact>& tasks) : tasks_(tasks) {
    for (const TracedTaskFact& task : tasks) by_stop_.push_back(&task);
    SortBy(&by_stop_, [](const TracedTaskFact* a) { return a->stop_ns(); });
  }

  /// The task that marked it as ready; if none did, the one that had ended last when it became ready or began. If that
  /// is a request, the task that began it. Null: none.
  const TracedTaskFact* Of(const TracedTaskFact& task) const {
    const TracedTaskFact* from = By(task);
    if (from == nullptr) {
      auto after =
          absl::c_upper_bound(by_stop_, task.ready_ns.value_or(task.start_ns),
                              [](int64_t time_ns, const TracedTaskFact* of) { return time_ns < of->stop_ns(); });
      if (after != by_stop_.begin()) from = *--after;
    }
    if (from != nullptr && from->is_request()) from = By(*from);
    return from == &task || (from != nullptr && from->is_request()) ? nullptr : from;
  }

 private:
  const TracedTaskFact* By(const TracedTaskFact& of) const {
    const bool is_there = of.by.has_value() && *of.by < static_cast<int64_t>(tasks_.size());
    return is_there ? &tasks_[static_cast<size_t>(*of.by)] : nullptr;
  }

  const std::vector<TracedTaskFact>& tasks_;
  std::vector<const TracedTaskFact*> by_stop_;
};

/// Writes events to a sink. It remembers the processes and threads that it named, nothing else.
class TraceEvents {
 public:
  TraceEvents(TextSink* sink, int64_t zero_ns) : sink_(sink), zero_ns_(zero_ns) {}

  bool is_empty() const { return is_first_; }

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
    if (chunk.is_detached && attempt.has_ended()) return AddEvent(attempt);
    const int64_t process = Process(attempt.process);
    const int64_t owner_tid = ThreadOf(chunk);
    const int64_t thread = Thread(process, owner_tid, /*is_helper=*/false);
    const std::string_view name = chunk.input.dataset.empty() ? "chunk" : chunk.input.dataset;
    if (!attempt.has_ended()) {
      Write(fmt::format(R"({{"ph":"i","s":"t","cat":"{}","name":{},"pid":{},"tid":{},"ts":{},"args":{}}})",
                        ToString(attempt.state), Quoted(fmt::format("{} ({})", name, ToString(attempt.state))), process,
                        thread, Micros(chunk.start_ns), JsonText(ArgumentsOf(attempt))));
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
          {start_ns, start_ns + occurrence.duration_ns, 1 + absl::c_count(path, '/'), "section", LastName(path),
           Json{{"path", path}}});
    }
    for (auto& [number, of_thread] : slices) WriteNested(process, number, std::move(of_thread));
  }

  /// An event that no thread holds: a track of its own, with the parts of its latency. In trace mode, slices for its
  /// tasks on their threads, with an arrow from what let each of them begin, and a track for each request.
  void AddEvent(const Attempt& attempt) {
    const ChunkFact& chunk = attempt.chunk;
    const int64_t process = Process(attempt.process);
    const std::string name = chunk.input.dataset.empty() ? "event" : std::string(chunk.input.dataset);
    const int64_t track = ++tracks_;
    const auto slice = [&](std::string_view category, int64_t id, std::string_view of, int64_t start_ns,
                           int64_t stop_ns) {
      Track("b", category, id, of, process, start_ns);
      Track("e", category, id, of, process, stop_ns);
    };
    const std::string shown = chunk.failed ? name + " (failed)" : name;  // an end belongs to the begin of its name
    Track("b", "event", track, shown, process, chunk.start_ns, ArgumentsOf(attempt));
    if (chunk.trace_dropped == 0 && !chunk.tasks.empty()) {
      for (const auto& [part, start_ns, stop_ns] : PartsOf(chunk)) slice("event", track, part, start_ns, stop_ns);
    }
    Track("e", "event", track, shown, process, chunk.stop_ns);
    std::map<int64_t, std::vector<TraceSlice>> slices;  // by thread
    for (const TracedTaskFact& task : chunk.tasks) {
      const int64_t start_ns = chunk.start_ns + task.start_ns, stop_ns = chunk.start_ns + task.stop_ns();
      if (task.is_request()) {
        slice("request", ++tracks_, fmt::format("{} {}", task.operation, task.name), start_ns, stop_ns);
        continue;
      }
      Json arguments = {{"event", name}, {"chunk", chunk.number}};
      if (task.ready_ns.has_value()) arguments["queued ms"] = (task.start_ns - *task.ready_ns) / 1e6;
      slices[Thread(process, task.tid, /*is_helper=*/false)].push_back(
          {start_ns, stop_ns, 0, "task", std::string(task.name), std::move(arguments)});
    }
    for (auto& [thread, of_thread] : slices) {
      SetDepths(&of_thread);
      WriteNested(process, thread, std::move(of_thread));
    }
    const Predecessors predecessors(chunk.tasks);
    for (const TracedTaskFact& task : chunk.tasks) {
      const TracedTaskFact* const from = task.is_request() ? nullptr : predecessors.Of(task);
      if (from != nullptr && from->duration_ns > 0) Arrow(process, chunk.start_ns, *from, task);
    }
  }

  /// Sums of events since the process began: counters of how many ended per second since the line before, and of how
  /// many of them were in each part of their latency on average.
  void Add(int64_t process, const TaskSumsFact& fact) {
    if (fact.events.empty()) return;
    const EventSumFact all = fact.AllEvents();
    auto& [before_ns, before] = event_sums_.try_emplace(process, all.first_start_ns, EventSumFact()).first->second;
    if (all.last_stop_ns <= before_ns || all.count < before.count) return;
    const double wall_ns = static_cast<double>(all.last_stop_ns - before_ns);
    const auto counter = [&, since_ns = before_ns](std::string_view of, std::string_view unit, double value) {
      Counter(process, of, unit, since_ns, value);
      Counter(process, of, unit, all.last_stop_ns, 0);  // until the next line says otherwise
    };
    counter("events that ended", "1/s", static_cast<double>(all.count - before.count) / wall_ns * 1e9);
    for (const auto& [part, sum] :
         {std::pair("events at work", &EventSumFact::active_ns), std::pair("events queued", &EventSumFact::queued_ns),
          std::pair("events external", &EventSumFact::external_ns),
          std::pair("events with nothing ready", &EventSumFact::rest_ns)}) {
      counter(part, "events", static_cast<double>(std::max<int64_t>(0, all.*sum - before.*sum)) / wall_ns);
    }
    before_ns = all.last_stop_ns;
    before = all;
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
    const std::string_view name = span.path.empty() ? span.name : span.path;
    Track("b", "span", ++tracks_, name, process, span.start_ns);
    Track("e", "span", tracks_, name, process, span.stop_ns);
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

  /// The begin or the end of a slice on a track of its own, inside those that are open there.
  void Track(std::string_view phase, std::string_view category, int64_t id, std::string_view name, int64_t process,
             int64_t time_ns, const Json& arguments = {}) {
    Write(fmt::format(R"({{"ph":"{}","cat":"{}","id":{},"name":{},"pid":{},"tid":0,"ts":{}{}}})", phase, category, id,
                      Quoted(name), process, Micros(time_ns),
                      arguments.is_null() ? "" : R"(,"args":)" + JsonText(arguments)));
  }

  /// From inside the slice of `from`, where it marked `to` as ready or just before it ended, to the begin of `to`.
  void Arrow(int64_t process, int64_t start_ns, const TracedTaskFact& from, const TracedTaskFact& to) {
    const int64_t last_ns = from.stop_ns() - 1;
    const int64_t from_ns = std::clamp(to.ready_ns.value_or(to.start_ns), from.start_ns, last_ns);
    const auto end = [&](std::string_view phase, const TracedTaskFact& task, int64_t time_ns) {
      Write(fmt::format(R"({{{},"cat":"task","name":"next","id":{},"pid":{},"tid":{},"ts":{}}})", phase, tracks_,
                        process, Thread(process, task.tid, /*is_helper=*/false), Micros(start_ns + time_ns)));
    };
    ++tracks_;
    end(R"("ph":"s")", from, from_ns);
    end(R"("ph":"f","bp":"e")", to, to.start_ns);
  }

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

  /// For tasks of one thread: how many others each of them is in.
  static void SetDepths(std::vector<TraceSlice>* slices) {
    SortBy(slices, [](const TraceSlice& slice) { return std::pair(slice.start_ns, -slice.stop_ns); });
    std::vector<int64_t> open;  // stops
    for (TraceSlice& slice : *slices) {
      while (!open.empty() && open.back() <= slice.start_ns && open.back() < slice.stop_ns) open.pop_back();
      slice.depth = static_cast<int64_t>(open.size());
      open.push_back(slice.stop_ns);
    }
  }

  /// As pairs of begin and end in an order that nests: readers that add a duration to a start may come out after the
  /// slice around it.
  void WriteNested(int64_t process, int64_t thread, std::vector<TraceSlice> slices) {
    SortBy(&slices, [](const TraceSlice& a) { return std::tie(a.start_ns, a.depth, a.stop_ns); });
    std::vector<std::pair<int64_t, int64_t>> open;  // depth, stop
    const auto close = [&] {
      Write(fmt::format(R"({{"ph":"E","pid":{},"tid":{},"ts":{}}})", process, thread, Micros(open.back().second)));
      open.pop_back();
    };
    for (const TraceSlice& slice : slices) {
      while (!open.empty() && (open.back().first >= slice.depth || open.back().second < slice.start_ns)) close();
      const int64_t stop_ns = open.empty() ? slice.stop_ns : std::min(slice.stop_ns, open.back().second);
      Write(fmt::format(R"({{"ph":"B","cat":"{}","name":{},"pid":{},"tid":{},"ts":{},"args":{}}})", slice.category,
                        Quoted(slice.name), process, thread, Micros(slice.start_ns), JsonText(slice.arguments)));
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
  int64_t tracks_ = 0;                                                          // and arrows
  int64_t numbers_ = 0;                                                         // given to processes and threads
  std::map<std::tuple<std::string, int64_t, int64_t>, int64_t> processes_;      // (host, pid, start)
  std::map<int64_t, int64_t> pids_;                                             // by process
  std::map<std::pair<int64_t, int64_t>, int64_t> threads_;                      // (process, tid)
  std::map<std::pair<int64_t, std::string>, std::pair<int64_t, int64_t>> cpu_;  // (process, by): (time, CPU time)
  std::map<int64_t, int64_t> outside_at_ns_;                                    // by process: the reading before
  std::map<std::pair<int64_t, std::string>, int64_t> outside_ns_;               // (process, section): its sum then
  std::map<int64_t, std::pair<int64_t, EventSumFact>> event_sums_;              // by process: the line before
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
    if (record.type == RecordType::kTaskSums) events->Add(events->Process(process), record.task_sums);
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
  sink->Write(R"({"otherData":)" + JsonText(about) + R"(,"traceEvents":[)");
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
  if (events.is_empty()) {
    return absl::NotFoundError("there is nothing to draw: " + WhyNoRows("processes", source.measurement));
  }
  sink->Write("\n]}\n");
  return absl::OkStatus();
}

}  // namespace crema

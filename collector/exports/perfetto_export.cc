// `crema export --to perfetto`.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>

#include "collector/exports/formats.h"
#include "collector/exports/trace_events.h"
#include "collector/sources/log_life.h"
#include "collector/sources/process_tree/tree_log_reader.h"
#include "crema/version.h"
#include "nlohmann/json.hpp"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

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

#include "collector/exports/trace_events.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "collector/exports/chunk_fields.h"
#include "collector/records/section_path.h"
#include "fmt/format.h"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

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
    arguments[fmt::format("{}{} ms", section.path, section.helper ? " (helper)" : "")] =
        static_cast<double>(section.total_ns) / 1e6;
  }
  if (attempt.chunk.trace_dropped > 0) arguments["trace_dropped"] = attempt.chunk.trace_dropped;
  return arguments;
}

int64_t ThreadOf(const ChunkFact& chunk) {
  return chunk.tid.value_or(static_cast<int64_t>(chunk.thread.value_or(0) & 0x7fffffff));
}

}  // namespace

std::string TraceEvents::Micros(int64_t time_ns) const { return MicrosOf(time_ns - zero_ns_); }

void TraceEvents::Write(const std::string& event) {
  sink_->Write(is_first_ ? "\n" : ",\n");
  sink_->Write(event);
  is_first_ = false;
}

int64_t TraceEvents::Process(const AttemptProcess& process) {
  const auto [entry, is_new] = processes_.try_emplace({process.host, process.pid, process.start_ns},
                                                      static_cast<int64_t>(processes_.size()) + 1);
  if (is_new) {
    Write(fmt::format(R"({{"ph":"M","pid":{},"tid":0,"name":"process_name","args":{{"name":{}}}}})", entry->second,
                      Quoted(process.worker)));
    Write(fmt::format(R"({{"ph":"M","pid":{0},"tid":0,"name":"process_sort_index","args":{{"sort_index":{0}}}}})",
                      entry->second));
  }
  return entry->second;
}

int64_t TraceEvents::Thread(int64_t process, int64_t tid, std::string_view name) {
  const auto [entry, is_new] = threads_.try_emplace({process, tid}, static_cast<int64_t>(threads_.size()) + 1);
  if (is_new) {
    Write(fmt::format(R"({{"ph":"M","pid":{},"tid":{},"name":"thread_name","args":{{"name":{}}}}})", process,
                      entry->second, Quoted(fmt::format("{} {}", name, tid))));
  }
  return entry->second;
}

void TraceEvents::Slice(int64_t process, int64_t thread, std::string_view category, std::string_view name,
                        int64_t start_ns, int64_t duration_ns, const Json& arguments) {
  Write(fmt::format(R"({{"ph":"X","cat":"{}","name":{},"pid":{},"tid":{},"ts":{},"dur":{},"args":{}}})", category,
                    Quoted(name), process, thread, Micros(start_ns), MicrosOf(duration_ns),
                    arguments.dump(-1, ' ', false, Json::error_handler_t::replace)));
}

void TraceEvents::Add(const Attempt& attempt) {
  const ChunkFact& chunk = attempt.chunk;
  const int64_t process = Process(attempt.process);
  const int64_t owner_tid = ThreadOf(chunk);
  const int64_t thread = Thread(process, owner_tid, "thread");
  const std::string_view name = chunk.input.dataset.empty() ? "chunk" : chunk.input.dataset;
  if (!attempt.has_ended()) {
    Write(fmt::format(R"({{"ph":"i","s":"t","cat":"{}","name":{},"pid":{},"tid":{},"ts":{},"args":{}}})",
                      ToString(attempt.state), Quoted(fmt::format("{} ({})", name, ToString(attempt.state))), process,
                      thread, Micros(chunk.start_ns),
                      ArgumentsOf(attempt).dump(-1, ' ', false, Json::error_handler_t::replace)));
    return;
  }
  const bool failed = attempt.state == AttemptState::kFailed;
  Slice(process, thread, failed ? "failed chunk" : "chunk",
        failed ? std::string(name) + " (failed)" : std::string(name), chunk.start_ns, chunk.stop_ns - chunk.start_ns,
        ArgumentsOf(attempt));
  for (const TraceFact& occurrence : chunk.trace) {
    if (occurrence.section >= static_cast<int64_t>(chunk.sections.size())) continue;
    const std::string_view path = chunk.sections[static_cast<size_t>(occurrence.section)].path;
    const bool is_owner = occurrence.tid == owner_tid || occurrence.tid == 0;
    Slice(process, is_owner ? thread : Thread(process, occurrence.tid, "helper"), "section", LastName(path),
          chunk.start_ns + occurrence.start_ns, occurrence.duration_ns, {{"path", path}});
  }
}

void TraceEvents::Counter(int64_t process, std::string_view name, std::string_view unit, int64_t time_ns,
                          double value) {
  if (!std::isfinite(value)) return;
  Write(fmt::format(R"({{"ph":"C","pid":{},"tid":0,"name":{},"ts":{},"args":{{{}:{}}}}})", process, Quoted(name),
                    Micros(time_ns), Quoted(unit), value));
}

void TraceEvents::CpuReading(int64_t process, int64_t time_ns, std::optional<int64_t> cpu_ns) {
  if (!cpu_ns.has_value()) return;
  const auto [entry, is_new] = cpu_.try_emplace(process, time_ns, *cpu_ns);
  if (is_new) return;
  const auto [before_ns, before_cpu_ns] = entry->second;
  if (time_ns <= before_ns) return;
  // the value holds until the next reading, so it is written where its interval begins
  Counter(
      process, "cores in use", "cores", before_ns,
      static_cast<double>(std::max<int64_t>(0, *cpu_ns - before_cpu_ns)) / static_cast<double>(time_ns - before_ns));
  entry->second = {time_ns, *cpu_ns};
}

void TraceEvents::Add(int64_t process, const SampleFact& sample) {
  if (sample.rss_bytes.has_value()) {
    Counter(process, "resident memory", "bytes", sample.time_ns, static_cast<double>(*sample.rss_bytes));
  }
  if (sample.open_chunks.has_value()) {
    Counter(process, "open chunks", "chunks", sample.time_ns, static_cast<double>(*sample.open_chunks));
  }
  if (sample.threads.has_value()) {
    Counter(process, "threads", "threads", sample.time_ns, static_cast<double>(*sample.threads));
  }
  CpuReading(process, sample.time_ns, sample.cpu_ns);
}

void TraceEvents::Add(int64_t process, const SpanFact& span) {
  const std::string head = fmt::format(R"("cat":"span","id":{},"name":{},"pid":{},"tid":0)", ++spans_,
                                       Quoted(span.path.empty() ? span.name : span.path), process);
  Write(fmt::format(R"({{"ph":"b",{},"ts":{}}})", head, Micros(span.start_ns)));
  Write(fmt::format(R"({{"ph":"e",{},"ts":{}}})", head, Micros(span.stop_ns)));
}

}  // namespace crema

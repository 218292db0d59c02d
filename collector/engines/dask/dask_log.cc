#include "collector/engines/dask/dask_log.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <istream>
#include <map>
#include <set>
#include <utility>

#include "collector/compression/compressed_name.h"
#include "collector/compression/decompressed_file.h"
#include "collector/records/loose_json.h"
#include "collector/records/schema.h"
#include "fmt/format.h"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

/// So many bytes, or all that are left.
std::string ReadBytes(size_t count, std::istream& from) {
  constexpr size_t kBlockBytes = size_t{1} << 20;  // a count may be far beyond what there is
  std::string bytes;
  while (bytes.size() < count && from) {
    const size_t before = bytes.size();
    bytes.resize(before + std::min(kBlockBytes, count - before));
    from.read(bytes.data() + before, static_cast<std::streamsize>(bytes.size() - before));
    bytes.resize(before + static_cast<size_t>(from.gcount()));
  }
  return bytes;
}

absl::Status CheckSchema(const std::string& path, const Json& first) {
  const bool is_cluster = first.value("type", "") == "cluster";
  const std::string schema = is_cluster ? first.value("schema", "") : "";
  if (schema == kDaskSchema) return absl::OkStatus();
  return absl::FailedPreconditionError(
      is_cluster ? fmt::format("{}:1: its schema is {}, but this crema reads {}; read it with the crema that wrote it",
                               path, schema, kDaskSchema)
                 : fmt::format("{}:1: is no Dask log (the first line names no schema {}); save it with crema_hep", path,
                               kDaskSchema));
}

bool IsObjectWithType(const Json& fields) {
  return fields.is_object() && fields.contains("type") && fields["type"].is_string();
}

std::optional<int64_t> Integer(const Json& fields, std::string_view key) {
  const Json& field = Field(fields, key);
  if (!field.is_number()) return std::nullopt;
  return field.is_number_float() ? static_cast<int64_t>(field.get<double>()) : field.get<int64_t>();
}

std::map<std::string, double> Seconds(const Json& fields) {
  std::map<std::string, double> seconds;
  const Json& by_action = Field(fields, "seconds");
  if (!by_action.is_object()) return seconds;
  for (const auto& [action, value] : by_action.items()) {
    if (value.is_number()) seconds[action] = value.get<double>();
  }
  return seconds;
}

// The worker of this address that is there, else the last that was.
ClusterWorkerFact* FindWorker(ClusterFact& cluster, const std::string& address) {
  for (auto worker = cluster.workers.rbegin(); worker != cluster.workers.rend(); ++worker) {
    if (worker->address == address) return &*worker;
  }
  return nullptr;
}

// Dask's name of what made the scheduler let a worker go, and the status that it knew of the worker then.
void NoteDeparture(const Json& fields, ClusterWorkerFact& worker) {
  const std::string reason = TextField(fields, "reason");
  const std::string status = TextField(fields, "status");  // since minor 2
  const auto is_any = [&reason](std::initializer_list<std::string_view> names) {
    return std::any_of(names.begin(), names.end(), [&](std::string_view name) { return reason.rfind(name, 0) == 0; });
  };
  if (is_any({"retire-workers", "worker-close-gracefully"})) {
    worker.left_reason = "retired";
  } else if (status == "restarting" || is_any({"restart", "client-restart"})) {
    worker.left_reason = "restarted";
  } else if (status.rfind("clos", 0) == 0) {
    worker.left_reason = "closed";
  } else if (is_any({"check-worker-ttl"})) {
    worker.is_lost = true;
    worker.left_reason = "it sent no heartbeat any more";
  } else if (!status.empty()) {
    worker.is_lost = true;
    worker.left_reason = "its connection broke: killed, crashed, or out of memory";
  } else {
    worker.left_unreported = true;
  }
}

void AddWorker(const Json& fields, int64_t time_ns, ClusterFact& cluster) {
  const std::string event = TextField(fields, "event");
  const std::string address = TextField(fields, "worker");
  ClusterWorkerFact* known = FindWorker(cluster, address);
  if (event == "leave") {
    // what a worker said as it closed may come after its connection broke
    const bool is_explained = known != nullptr && known->is_lost && TextField(fields, "status") == "closing";
    if (known == nullptr || (known->left_ns.has_value() && !is_explained)) return;
    known->left_ns = known->left_ns.value_or(time_ns);
    known->is_lost = false;
    return NoteDeparture(fields, *known);
  }
  if (known != nullptr && !known->left_ns.has_value()) return;  // reported twice
  ClusterWorkerFact worker;
  worker.address = address;
  worker.name = TextField(fields, "name");
  worker.host = TextField(fields, "host");
  worker.pid = Integer(fields, "pid");
  worker.threads = Integer(fields, "threads").value_or(0);
  worker.memory_limit_bytes = Integer(fields, "memory_limit_bytes");
  worker.joined_ns = event == "present" ? 0 : time_ns;
  cluster.workers.push_back(std::move(worker));
}

void AddPlugin(const Json& fields, int64_t, ClusterFact& cluster) {
  ClusterWorkerFact* worker = FindWorker(cluster, TextField(fields, "worker"));
  if (worker == nullptr) return;
  worker->hostname = TextField(fields, "hostname");
  worker->pid = Integer(fields, "pid");
  worker->process_start_ns = Integer(fields, "start_ns");
  worker->failure = TextField(fields, "failure");
}

void AddSample(const Json& fields, int64_t time_ns, ClusterFact& cluster) {
  ClusterWorkerFact* worker = FindWorker(cluster, TextField(fields, "worker"));
  if (worker == nullptr) return;
  ClusterSampleFact sample;
  sample.time_ns = time_ns;
  sample.last_seen_ns = Integer(fields, "last_seen_ns");
  sample.memory_bytes = Integer(fields, "memory_bytes");
  sample.memory_limit_bytes = Integer(fields, "memory_limit_bytes");
  sample.cpu_percent = NumberField(fields, "cpu_percent");
  sample.active = Integer(fields, "active");
  sample.executing = Integer(fields, "executing");
  sample.nbytes = Integer(fields, "nbytes");
  sample.occupancy = NumberField(fields, "occupancy");
  sample.managed_bytes = Integer(fields, "managed_bytes");
  sample.spilled_bytes = Integer(fields, "spilled_bytes");
  sample.network_read_bps = NumberField(fields, "network_read_bps");
  sample.network_write_bps = NumberField(fields, "network_write_bps");
  sample.disk_read_bps = NumberField(fields, "disk_read_bps");
  sample.disk_write_bps = NumberField(fields, "disk_write_bps");
  sample.event_loop_interval = NumberField(fields, "event_loop_interval");
  sample.fds = Integer(fields, "fds");
  sample.gil_contention = NumberField(fields, "gil_contention");
  worker->samples.push_back(sample);
}

void AddAccounts(const Json& fields, int64_t time_ns, ClusterFact& cluster) {
  for (const Json& row : ListField(fields, "rows")) {
    if (!row.is_object()) continue;
    cluster.accounts.push_back({time_ns, TextField(row, "prefix"), Seconds(row)});
  }
}

void AddSpan(const Json& fields, int64_t, ClusterFact& cluster) {
  ClusterSpanFact span;
  span.id = TextField(fields, "id");
  for (const Json& tag : ListField(fields, "name")) {
    span.name.push_back(tag.is_string() ? tag.get<std::string>() : tag.dump());
  }
  span.enqueued_ns = Integer(fields, "enqueued_ns").value_or(0);
  span.stop_ns = Integer(fields, "stop_ns").value_or(0);
  span.done = fields.value("done", false);
  for (ClusterSpanFact& known : cluster.spans) {
    if (known.id != span.id) continue;
    known = std::move(span);
    return;
  }
  cluster.spans.push_back(std::move(span));
}

void AddSession(const Json& fields, int64_t time_ns, ClusterFact& cluster) {
  const std::string id = TextField(fields, "id");
  auto session = std::find_if(cluster.sessions.begin(), cluster.sessions.end(), [&](const ClusterSessionFact& known) {
    return known.id == id && !known.end_ns.has_value();
  });
  if (session == cluster.sessions.end()) {
    cluster.sessions.emplace_back();
    cluster.sessions.back().id = id;
    session = cluster.sessions.end() - 1;
  }
  if (TextField(fields, "event") == "begin") {
    session->begin_ns = time_ns;
    session->processor = TextField(fields, "processor");
  } else {
    session->end_ns = time_ns;
    session->flushed_ns = Integer(fields, "flushed_ns");
  }
}

void AddFlush(const Json& fields, int64_t, ClusterFact& cluster) {
  cluster.silent.clear();
  const Json& silent = Field(fields, "silent");
  if (!silent.is_object()) return;
  for (const auto& [worker, why] : silent.items())
    cluster.silent[worker] = why.is_string() ? why.get<std::string>() : "";
}

/// What a line of each type adds; null: nothing.
constexpr std::pair<std::string_view, void (*)(const Json& fields, int64_t time_ns, ClusterFact& cluster)> kLines[] = {
    {"worker", AddWorker},
    {"plugin", AddPlugin},
    {"sample", AddSample},
    {"account", AddAccounts},
    {"span", AddSpan},
    {"session", AddSession},
    {"flush", AddFlush},
    {"erred", [](const Json&, int64_t, ClusterFact& cluster) { ++cluster.erred; }},
    {"overhead",
     [](const Json& fields, int64_t, ClusterFact& cluster) { cluster.busy_ns = Integer(fields, "busy_ns"); }},
    {"lost",
     [](const Json& fields, int64_t, ClusterFact& cluster) {
       cluster.lost_bytes[TextField(fields, "source")] += Integer(fields, "bytes").value_or(0);
     }},
    {"closed", [](const Json&, int64_t, ClusterFact& cluster) { cluster.closed = true; }},
    {"records", nullptr},
    {"plan", nullptr},  // for who watches the run
};

/// False: a type that is not known.
bool AddLine(const Json& fields, ClusterFact& cluster) {
  const std::string type = TextField(fields, "type");
  const int64_t time_ns = Integer(fields, "time_ns").value_or(cluster.last_ns);
  cluster.last_ns = std::max(cluster.last_ns, time_ns);
  const auto line =
      std::find_if(std::begin(kLines), std::end(kLines), [&](const auto& row) { return row.first == type; });
  if (line == std::end(kLines)) return false;
  if (line->second != nullptr) line->second(fields, time_ns, cluster);
  return true;
}

constexpr size_t kMostProblems = 20;

namespace fs = std::filesystem;

/// A record log that is put together from what was sent of it.
struct SentLog {
  std::ofstream file;
  std::string worker;    // who sent it last
  int64_t end = 0;       // offset in the original up to which it was seen
  int64_t missing = 0;   // bytes in between that never came
  bool has_end = false;  // the process said that it ended
  bool adopted = false;  // its process is gone: another one sent it
};

// The name comes from another machine: it must not lead out of the directory.
bool IsSafeName(const std::string& name) {
  return !name.empty() && name.front() != '.' && name.find('/') == std::string::npos && name.size() < 255 &&
         EndsWith(name, kRecordLogSuffix) && !EndsWith(name, fmt::format("{}{}", kLiveCopyMark, kRecordLogSuffix));
}

std::string LiveCopyName(const std::string& name) {
  return fmt::format("{}{}{}", name.substr(0, name.size() - kRecordLogSuffix.size()), kLiveCopyMark, kRecordLogSuffix);
}

bool HasEndLine(std::string_view records) {
  constexpr std::string_view kEnd = "{\"type\":\"end\",";
  return records.substr(0, kEnd.size()) == kEnd || records.find(fmt::format("\n{}", kEnd)) != std::string_view::npos;
}

class Splitter {
 public:
  Splitter(fs::path directory, const std::string& name)
      : directory_(std::move(directory)),
        lines_(directory_ / (name + std::string(kDaskLogSuffix)), std::ios::binary | std::ios::trunc) {}

  void Take(const DaskLine& line) {
    if (line.fields["type"] != "records") {
      const std::string type = line.fields["type"];
      if (type == "worker" && line.fields.value("event", "") == "leave") here_.erase(line.fields.value("worker", ""));
      if (type == "worker" && line.fields.value("event", "") != "leave") here_.insert(line.fields.value("worker", ""));
      if (type == "closed") here_.clear();
      lines_ << line.text << '\n';
      return;
    }
    const std::string source = line.fields.value("source", "");
    const auto offset = line.fields["offset"];
    if (!IsSafeName(source) || !offset.is_number_unsigned()) {
      Take(DaskLineFault{line.number, false, "the records behind it name no record log"});
      return;
    }
    SentLog& log = logs_[source];
    log.worker = line.fields.value("worker", "");
    log.adopted = log.adopted || line.fields.value("adopted", false);
    TakeRecords(source, offset.get<int64_t>(), line.bytes, log);
  }

  void Take(const DaskLineFault& fault) {
    const nlohmann::json line = {{"type", "fault"}, {"line", fault.number}, {"torn", fault.torn}, {"what", fault.what}};
    lines_ << line.dump() << '\n';
  }

  // Logs of workers that are still there are no sign of a lost process, as long as they have no end.
  absl::Status Finish() {
    for (auto& [source, log] : logs_) {
      if (log.missing > 0) {
        lines_ << fmt::format("{{\"type\":\"lost\",\"source\":{},\"bytes\":{}}}\n", nlohmann::json(source).dump(),
                              log.missing);
      }
      log.file.close();
      if (log.file.fail()) return Failed();
      std::error_code error;
      if (!log.has_end && !log.adopted && here_.count(log.worker) > 0) {
        fs::rename(directory_ / source, directory_ / LiveCopyName(source), error);
      }
      if (error) return Failed();
    }
    lines_.close();
    return lines_.fail() ? Failed() : absl::OkStatus();
  }

 private:
  absl::Status Failed() const {
    return absl::UnavailableError(fmt::format("{}: cannot be written ({})", directory_.string(), strerror(errno)));
  }

  void TakeRecords(const std::string& source, int64_t offset, std::string_view bytes, SentLog& log) {
    if (!log.file.is_open()) log.file.open(directory_ / source, std::ios::binary | std::ios::trunc);
    if (offset < log.end) bytes.remove_prefix(std::min<size_t>(bytes.size(), static_cast<size_t>(log.end - offset)));
    if (offset > log.end) log.missing += offset - log.end;
    log.end = std::max(log.end, offset) + static_cast<int64_t>(bytes.size());
    log.has_end = log.has_end || HasEndLine(bytes);
    log.file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }

  fs::path directory_;
  std::ofstream lines_;
  std::map<std::string, SentLog> logs_;
  std::set<std::string> here_;
};

}  // namespace

absl::Status ForEachDaskLine(const std::string& path, const std::function<void(const DaskLine&)>& on_line,
                             const std::function<void(const DaskLineFault&)>& on_fault) {
  DecompressedStream file(path);
  bool checked = false;
  int64_t number = 1;
  for (std::string text; std::getline(file, text); ++number) {
    const bool whole = !file.eof();
    if (text.empty()) continue;
    DaskLine line = {number, Json::parse(text, nullptr, /*allow_exceptions=*/false), text, {}};
    if (!IsObjectWithType(line.fields)) {
      on_fault({number, !whole, whole ? "not a JSON object with a type" : "the rest of this line was never written"});
      continue;
    }
    if (!checked) {
      if (absl::Status status = CheckSchema(path, line.fields); !status.ok()) return status;
      checked = true;
    }
    std::string bytes;
    if (line.fields["type"] == "records") {
      const auto& size = line.fields["bytes"];
      if (!size.is_number_unsigned()) {
        on_fault({number, false, "`bytes` is not a size; the records that follow are read as lines"});
        continue;
      }
      bytes = ReadBytes(size.get<size_t>(), file);
      line.bytes = bytes;
      if (bytes.size() < size.get<size_t>()) {
        on_fault({number, true, "the records behind it were never written in full"});
      }
      number += std::count(bytes.begin(), bytes.end(), '\n');
    }
    on_line(line);
  }
  if (!file.status().ok()) {
    const std::string why(file.status().message());
    if (!checked || !IsCompressed(path)) return absl::UnavailableError(fmt::format("{}: {}", path, why));
    on_fault({number, true, fmt::format("{}; what was read so far is used", why)});
  }
  if (checked) return absl::OkStatus();
  return absl::FailedPreconditionError(fmt::format("{}: is empty, or no Dask log", path));
}

bool IsDaskLog(const std::string& path) {
  constexpr std::string_view kBegin = "{\"type\":\"cluster\",\"schema\":\"crema.dask/";
  return ReadBeginning(path, kBegin.size()) == kBegin;
}

absl::StatusOr<EngineReading> ReadDaskLog(const std::string& path) {
  EngineReading reading;
  const auto on_fault = [&](const DaskLineFault& fault) {
    ++(fault.torn ? reading.torn : reading.malformed);
    if (reading.problems.size() < kMostProblems) {
      reading.problems.push_back(fmt::format("{}:{}: {}; it was left out", path, fault.number, fault.what));
    }
  };
  const auto on_line = [&](const DaskLine& line) {
    ++reading.lines;
    if (line.fields["type"] == "fault") {  // seen when the log was taken apart
      on_fault(
          {line.fields.value("line", int64_t{0}), line.fields.value("torn", false), TextField(line.fields, "what")});
      return;
    }
    if (line.fields["type"] == "cluster") {
      const std::string epoch = TextField(line.fields, "epoch");
      const bool is_new = reading.clusters.empty() || reading.clusters.back().epoch != epoch;
      if (is_new) reading.clusters.emplace_back();
      ClusterFact& cluster = reading.clusters.back();
      cluster.epoch = epoch;
      cluster.address = TextField(line.fields, "address");
      cluster.version = TextField(line.fields, "dask");
      cluster.boot_id = TextField(line.fields, "boot_id");
      if (is_new) cluster.first_ns = cluster.last_ns = Integer(line.fields, "time_ns").value_or(0);
    } else if (!AddLine(line.fields, reading.clusters.back())) {
      ++reading.unknown;
    }
  };
  if (absl::Status status = ForEachDaskLine(path, on_line, on_fault); !status.ok()) return status;
  return reading;
}

absl::Status SplitDaskLog(const std::string& path, const std::string& directory, const std::string& name) {
  Splitter splitter(directory, name);
  absl::Status read = ForEachDaskLine(
      path, [&](const DaskLine& line) { splitter.Take(line); },
      [&](const DaskLineFault& fault) { splitter.Take(fault); });
  return read.ok() ? splitter.Finish() : read;
}

}  // namespace crema

#include "collector/engines/dask/dask_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "collector/compression/decompressed_stream.h"
#include "collector/engines/dask/dask_lines.h"

namespace crema {
namespace {

using Json = nlohmann::json;

std::optional<int64_t> Integer(const Json& fields, const char* key) {
  const auto found = fields.find(key);
  if (found == fields.end() || !found->is_number()) return std::nullopt;
  return found->is_number_float() ? static_cast<int64_t>(found->get<double>()) : found->get<int64_t>();
}

std::optional<double> Real(const Json& fields, const char* key) {
  const auto found = fields.find(key);
  if (found == fields.end() || !found->is_number()) return std::nullopt;
  return found->get<double>();
}

std::string Text(const Json& fields, const char* key) {
  const auto found = fields.find(key);
  return found != fields.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::map<std::string, double> Seconds(const Json& fields) {
  std::map<std::string, double> seconds;
  const auto found = fields.find("seconds");
  if (found == fields.end() || !found->is_object()) return seconds;
  for (const auto& [action, value] : found->items()) {
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
  const std::string reason = Text(fields, "reason");
  const std::string status = Text(fields, "status");  // since minor 2
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
    worker.left_untold = true;
  }
}

void AddWorker(const Json& fields, int64_t time_ns, ClusterFact& cluster) {
  const std::string event = Text(fields, "event");
  const std::string address = Text(fields, "worker");
  ClusterWorkerFact* known = FindWorker(cluster, address);
  if (event == "leave") {
    if (known == nullptr || known->left_ns.has_value()) return;
    known->left_ns = time_ns;
    return NoteDeparture(fields, *known);
  }
  if (known != nullptr && !known->left_ns.has_value()) return;  // told twice
  ClusterWorkerFact worker;
  worker.address = address;
  worker.name = Text(fields, "name");
  worker.host = Text(fields, "host");
  worker.pid = Integer(fields, "pid");
  worker.threads = Integer(fields, "threads").value_or(0);
  worker.memory_limit_bytes = Integer(fields, "memory_limit_bytes");
  worker.joined_ns = event == "present" ? 0 : time_ns;
  cluster.workers.push_back(std::move(worker));
}

void AddPlugin(const Json& fields, ClusterFact& cluster) {
  ClusterWorkerFact* worker = FindWorker(cluster, Text(fields, "worker"));
  if (worker == nullptr) return;
  worker->hostname = Text(fields, "hostname");
  worker->pid = Integer(fields, "pid");
  worker->process_start_ns = Integer(fields, "start_ns");
  worker->failure = Text(fields, "failure");
}

void AddSample(const Json& fields, int64_t time_ns, ClusterFact& cluster) {
  ClusterWorkerFact* worker = FindWorker(cluster, Text(fields, "worker"));
  if (worker == nullptr) return;
  ClusterSampleFact sample;
  sample.time_ns = time_ns;
  sample.last_seen_ns = Integer(fields, "last_seen_ns");
  sample.memory_bytes = Integer(fields, "memory_bytes");
  sample.memory_limit_bytes = Integer(fields, "memory_limit_bytes");
  sample.cpu_percent = Real(fields, "cpu_percent");
  sample.active = Integer(fields, "active");
  sample.executing = Integer(fields, "executing");
  sample.nbytes = Integer(fields, "nbytes");
  sample.occupancy = Real(fields, "occupancy");
  sample.managed_bytes = Integer(fields, "managed_bytes");
  sample.spilled_bytes = Integer(fields, "spilled_bytes");
  sample.network_read_bps = Real(fields, "network_read_bps");
  sample.network_write_bps = Real(fields, "network_write_bps");
  sample.disk_read_bps = Real(fields, "disk_read_bps");
  sample.disk_write_bps = Real(fields, "disk_write_bps");
  sample.event_loop_interval = Real(fields, "event_loop_interval");
  sample.fds = Integer(fields, "fds");
  sample.gil_contention = Real(fields, "gil_contention");
  worker->samples.push_back(sample);
}

void AddAccounts(const Json& fields, int64_t time_ns, ClusterFact& cluster) {
  const auto rows = fields.find("rows");
  if (rows == fields.end() || !rows->is_array()) return;
  for (const Json& row : *rows) {
    if (!row.is_object()) continue;
    cluster.accounts.push_back({time_ns, Text(row, "prefix"), Seconds(row)});
  }
}

void AddSpan(const Json& fields, ClusterFact& cluster) {
  ClusterSpanFact span;
  span.id = Text(fields, "id");
  const auto name = fields.find("name");
  if (name != fields.end() && name->is_array()) {
    for (const Json& tag : *name) span.name.push_back(tag.is_string() ? tag.get<std::string>() : tag.dump());
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
  const std::string id = Text(fields, "id");
  auto session = std::find_if(cluster.sessions.begin(), cluster.sessions.end(), [&](const ClusterSessionFact& known) {
    return known.id == id && !known.end_ns.has_value();
  });
  if (session == cluster.sessions.end()) {
    cluster.sessions.emplace_back();
    cluster.sessions.back().id = id;
    session = cluster.sessions.end() - 1;
  }
  if (Text(fields, "event") == "begin") {
    session->begin_ns = time_ns;
    session->processor = Text(fields, "processor");
  } else {
    session->end_ns = time_ns;
    session->flushed_ns = Integer(fields, "flushed_ns");
  }
}

void AddFlush(const Json& fields, ClusterFact& cluster) {
  cluster.silent.clear();
  const auto silent = fields.find("silent");
  if (silent == fields.end() || !silent->is_object()) return;
  for (const auto& [worker, why] : silent->items())
    cluster.silent[worker] = why.is_string() ? why.get<std::string>() : "";
}

/// False: a type that is not known.
bool AddLine(const Json& fields, ClusterFact& cluster) {
  const std::string type = Text(fields, "type");
  const int64_t time_ns = Integer(fields, "time_ns").value_or(cluster.last_ns);
  cluster.last_ns = std::max(cluster.last_ns, time_ns);
  if (type == "worker") {
    AddWorker(fields, time_ns, cluster);
  } else if (type == "plugin") {
    AddPlugin(fields, cluster);
  } else if (type == "sample") {
    AddSample(fields, time_ns, cluster);
  } else if (type == "account") {
    AddAccounts(fields, time_ns, cluster);
  } else if (type == "span") {
    AddSpan(fields, cluster);
  } else if (type == "session") {
    AddSession(fields, time_ns, cluster);
  } else if (type == "flush") {
    AddFlush(fields, cluster);
  } else if (type == "erred") {
    ++cluster.erred;
  } else if (type == "overhead") {
    cluster.busy_ns = Integer(fields, "busy_ns");
  } else if (type == "lost") {
    cluster.lost_bytes[Text(fields, "source")] += Integer(fields, "bytes").value_or(0);
  } else if (type == "closed") {
    cluster.closed = true;
  } else {
    return type == "records" || type == "plan";  // a plan is for who watches the run
  }
  return true;
}

constexpr size_t kMostProblems = 20;

}  // namespace

bool IsDaskLog(const std::string& path) {
  DecompressedStream file(path);
  std::string head(512, '\0');
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<size_t>(file.gcount()));
  return head.rfind("{\"type\":\"cluster\",\"schema\":\"crema.dask/", 0) == 0;
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
      on_fault({line.fields.value("line", int64_t{0}), line.fields.value("torn", false), Text(line.fields, "what")});
      return;
    }
    if (line.fields["type"] == "cluster") {
      const std::string epoch = Text(line.fields, "epoch");
      const bool is_new = reading.clusters.empty() || reading.clusters.back().epoch != epoch;
      if (is_new) reading.clusters.emplace_back();
      ClusterFact& cluster = reading.clusters.back();
      cluster.epoch = epoch;
      cluster.address = Text(line.fields, "address");
      cluster.version = Text(line.fields, "dask");
      cluster.boot_id = Text(line.fields, "boot_id");
      if (is_new) cluster.first_ns = cluster.last_ns = Integer(line.fields, "time_ns").value_or(0);
    } else if (!AddLine(line.fields, reading.clusters.back())) {
      ++reading.unknown;
    }
  };
  if (absl::Status status = ForEachDaskLine(path, on_line, on_fault); !status.ok()) return status;
  return reading;
}

}  // namespace crema

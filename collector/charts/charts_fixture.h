// A small run, its document and its detail, for the tests of charts; and a way to find rows in a specification.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "collector/charts/chart.h"
#include "collector/measurement/measurement.h"
#include "collector/plot_data/run_detail.h"
#include "nlohmann/json.hpp"

namespace crema {

using Json = nlohmann::ordered_json;

/// Two workers of two cores for 10 s: `node:1` from the start, `node:2` from 2 s on.
inline Json MadeDocument() {
  return Json::parse(R"DOC({
    "run": {"name": "made", "id": "r1", "start": "2026-11-22T04:00:00.000Z"},
    "metrics": {"wall_time": 10, "avg_workers": 1.8, "core_seconds": 36, "total_cores": 3.6, "peak_cores": 4,
      "busy_time": 20, "cpu_efficiency": 0.5, "core_efficiency": 0.55, "balance": 0.8, "io_overhead_pct": 12,
      "memory_utilization_avg": 0.25, "memory_utilization_max": 0.5, "worker_cpu_utilization_avg": 0.45,
      "num_attempts": 12, "num_failed_attempts": 1, "num_lost_attempts": 1, "compression_ratio": 3,
      "chunk_duration_mean": 2, "chunk_duration_std": 0.5, "chunk_duration_p50": 2, "chunk_duration_p95": 3,
      "chunk_duration_p99": 4, "chunk_duration_max": 4, "bytes_read_share": 0.2, "branches_read_share": 0.1},
    "definitions": {"wall_time": {"unit": "s", "label": "Elapsed"},
      "chunk_duration_mean": {"unit": "s", "label": "Chunk time, mean"}},
    "budget": [
      {"part": "compute", "group": "CPU in your code", "core_seconds": 18},
      {"part": "cpu_wait", "group": "Waiting in your code", "core_seconds": 1},
      {"part": "blocked", "group": "Waiting in your code", "core_seconds": 3},
      {"part": "outside_chunk", "group": "Opening and reading around your code", "core_seconds": 2},
      {"part": "framework", "group": "Framework and repeats", "core_seconds": 4},
      {"part": "idle", "group": "Idle", "core_seconds": 8}],
    "contention": [{"slope": 0.001, "slope_low": 0.0008, "slope_high": 0.00125,
      "points": [[2, 0.002], [4, 0.004], [8, 0.008]]}],
    "sections": [
      {"path": "load", "helper": false, "count": 10, "total": 8, "self": 2, "cpu": 2},
      {"path": "load/read", "helper": false, "count": 20, "total": 6, "self": 6, "cpu": 1},
      {"path": "analyse", "helper": false, "count": 10, "total": 10, "self": 10, "cpu": 9},
      {"path": "fill", "helper": true, "count": 10, "total": 3, "self": 3, "cpu": null},
      {"path": "(other)", "helper": false, "count": 10, "total": 2, "self": 2, "cpu": null}],
    "datasets": [
      {"name": "ttbar", "chunks": 8, "duration_p50": 2, "duration_p95": 3, "duration_max": 4, "duration_mean": 2.1,
       "event_rate": 500},
      {"name": "zjets", "chunks": 2, "duration_p50": 1, "duration_p95": 1.5, "duration_max": 1.6, "duration_mean": 1.1,
       "event_rate": 900}],
    "files": [{"name": "a.root", "bytes_read": 4000000, "duration_sum": 8},
              {"name": "b.root", "bytes_read": 1000000, "duration_sum": 10}],
    "workers": [
      {"name": "node:1", "start": 0, "stop": 10, "cores": 2, "duration_sum": 14, "cpu_sum": 12},
      {"name": "node:2", "start": 2, "stop": 10, "cores": 2, "duration_sum": 6, "cpu_sum": 6}],
    "timelines": {
      "worker_counts": [[0, 1], [2, 2]],
      "worker_memory": {"node:1": [[0, 1073741824], [5, 2147483648]], "node:2": [[2, 1073741824]]},
      "worker_memory_limit": {"node:1": [[0, 4294967296]], "node:2": [[2, 4294967296]]},
      "worker_cpu": {"node:1": [[0, 1]], "node:2": [[2, 0.5]]},
      "worker_cores": {"node:1": [[0, 2]], "node:2": [[2, 2]]},
      "worker_open_chunks": {"node:1": [[0, 2], [8, 0]], "node:2": [[2, 1], [8, 0]]},
      "worker_active_tasks": {"node:1": [[0, 6], [5, 2]], "node:2": [[2, 3]]},
      "worker_executing": {"node:1": [[0, 2]], "node:2": [[2, 2]]},
      "worker_occupancy": {"node:1": [[0, 30], [5, 10]], "node:2": [[2, 20]]},
      "tree_cpu": {"node:7": [[0, 1.5], [8, 0]]}, "tree_memory": {"node:7": [[0, 3145728], [8, 0]]},
      "tree_processes": {"node:7": [[0, 2], [8, 0]]}, "tree_threads": {"node:7": [[0, 4], [8, 0]]},
      "tree_read_bps": {"node:7": [[0, 2000000], [8, 0]]},
      "process_cpu": {"sort:11": [[0, 1], [8, 0]]}, "process_memory": {"sort:11": [[0, 1048576], [8, 0]]}},
    "fine": [
      {"context": "execute", "span": null, "worker": "node:1", "function": "process", "activity": "thread-cpu",
       "unit": "seconds", "value": 12},
      {"context": "execute", "span": null, "worker": "node:2", "function": "process", "activity": "thread-cpu",
       "unit": "seconds", "value": 6},
      {"context": "execute", "span": null, "worker": "node:1", "function": "process", "activity": "thread-noncpu",
       "unit": "seconds", "value": 4},
      {"context": "execute", "span": null, "worker": "node:1", "function": "reduce", "activity": "deserialize",
       "unit": "seconds", "value": 1},
      {"context": "execute", "span": null, "worker": "node:1", "function": "reduce", "activity": "disk-read",
       "unit": "bytes", "value": 5000000},
      {"context": "execute", "span": null, "worker": "node:1", "function": "N/A", "activity": "idle or other spans",
       "unit": "seconds", "value": 99},
      {"context": "gather-dep", "span": null, "worker": "node:1", "function": null, "activity": "network",
       "unit": "seconds", "value": 2}],
    "custom_metrics": [{"name": "jets", "unit": "count", "count": 10, "sum": 50, "mean": 5, "min": 1, "max": 9,
      "p50": 5, "p95": 8, "by_dataset": {"ttbar": {"count": 8, "sum": 44, "mean": 5.5, "min": 3, "max": 9, "p50": 6,
      "p95": 8}, "zjets": {"count": 2, "sum": 6, "mean": 3, "min": 1, "max": 5, "p50": 1, "p95": 5}},
      "quantiles_of": "values", "histogram": {"edges": [0.5, 3.5, 6.5, 9.5], "counts": [2, 5, 3]}}],
    "cuts": [{"name": "all", "events": 1000, "step_efficiency": null, "total_efficiency": 1},
             {"name": "two jets", "events": 100, "step_efficiency": 0.1, "total_efficiency": 0.1},
             {"name": "impossible", "events": 0, "step_efficiency": 0, "total_efficiency": 0}],
    "quality": {"fine_metrics_coverage": 0.98, "not_measured": {"rss_slope": "it needs 20 chunks"}},
    "provenance": {"crema": "0.1.0"}
  })DOC");
}

inline DetailAttempt MadeAttempt(uint32_t worker, double start, double seconds, int64_t events, AttemptState state) {
  DetailAttempt attempt;
  attempt.worker = worker;
  attempt.row = worker;
  attempt.state = state;
  attempt.is_result = state == AttemptState::kOk;
  attempt.start_ns = static_cast<int64_t>(start * 1e9);
  attempt.duration_ns = static_cast<int64_t>(seconds * 1e9);
  attempt.events = events;
  attempt.cpu_ns = static_cast<int64_t>(seconds * 0.6e9);
  attempt.cpu_wait_ns = static_cast<int64_t>(seconds * 0.1e9);
  attempt.blocked_ns = static_cast<int64_t>(seconds * 0.3e9);
  return attempt;
}

/// Four chunks on two workers; the second attempt failed, the third repeats it.
inline RunDetail MadeDetail() {
  RunDetail detail;
  detail.seconds = 10;
  detail.attempts_seen = 4;
  detail.datasets = {{"ttbar", 3, 7'000'000'000}, {"zjets", 1, 1'000'000'000}};
  detail.workers = {{"node:1", "node", 1, 5'000'000'000}, {"node:2", "node", 1, 3'000'000'000}};
  detail.files = {"a.root"};
  detail.errors = {"", "bad basket"};
  detail.attempts = {MadeAttempt(0, 0, 4, 1000, AttemptState::kOk), MadeAttempt(1, 2, 1, 0, AttemptState::kFailed),
                     MadeAttempt(1, 3, 2, 500, AttemptState::kOk), MadeAttempt(0, 4, 1, 300, AttemptState::kOk)};
  detail.attempts[1].events.reset();
  detail.attempts[1].error = 1;
  detail.attempts[1].attempts = 2;
  detail.attempts[2].attempt = 2;
  detail.attempts[2].attempts = 2;
  detail.attempts[3].dataset = 1;
  detail.attempts[0].straggler_reason = "blocked";
  detail.attempts[0].expected_seconds = 1.5;
  for (uint32_t worker : {0U, 1U}) {
    DetailRow row;
    row.label = detail.workers[worker].name;
    row.worker = worker;
    detail.rows.push_back(row);
  }
  TimeBins& bins = detail.over_time;
  bins.bin_seconds = 5;
  bins.busy_seconds = {8, 0};
  bins.cpu_seconds = {4.8, 0};
  bins.cpu_wait_seconds = {0.8, 0};
  bins.blocked_seconds = {2.4, 0};
  bins.events = {1800, 0};
  bins.bytes_read = {5e9, 0};
  bins.finished_chunks = {3, 0};
  bins.lanes_available = {3, 4};
  detail.by_worker = {0, 5, 2, {"node:1", "node:2"}, {5, 0, 3, 0}, {3e9, 0, 2e9, 0}};
  ValueShape duration;
  duration.quantity = "duration_seconds";
  duration.count = 3;
  duration.sum = 7;
  duration.sorted = {1, 2, 4};
  duration.first_exponent = 0;
  duration.per_decade = 10;
  duration.counts = {{0, 0, 0, 1, 0, 0, 1}, {1, 0, 0, 0, 0, 0, 0}};
  ValueShape bytes = duration;
  bytes.quantity = "bytes_read";
  detail.distributions = {duration, bytes};
  CountGrid grid;
  grid.x_quantity = "events";
  grid.y_quantity = "duration_seconds";
  grid.columns = 2;
  grid.rows = 2;
  grid.x_max = 1000;
  grid.y_max = 4;
  grid.count = 3;
  grid.cells = {1, 1, 0, 1};
  CountGrid memory = grid;
  memory.y_quantity = "rss_stop_bytes";
  detail.grids = {grid, memory};
  detail.fits = {{0, 0.5, 0.003, true, 2}};
  detail.tail_start_seconds = 4;
  return detail;
}

/// Every row of inline data, anywhere in the specification, that has a field of that name.
inline std::vector<Json> RowsWith(const Json& spec, const std::string& field) {
  std::vector<Json> rows;
  if (spec.is_object() && spec.contains("data") && spec["data"].contains("values")) {
    for (const Json& row : spec["data"]["values"]) {
      if (row.contains(field)) rows.push_back(row);
    }
  }
  for (const char* key : {"layer", "vconcat", "hconcat"}) {
    if (!spec.is_object() || !spec.contains(key)) continue;
    for (const Json& view : spec[key]) {
      for (Json& row : RowsWith(view, field)) rows.push_back(std::move(row));
    }
  }
  if (spec.is_object() && spec.contains("spec")) {
    for (Json& row : RowsWith(spec["spec"], field)) rows.push_back(std::move(row));
  }
  return rows;
}

/// The value of `field` in the first row whose `key` has that name; null where there is none.
inline Json Value(const std::vector<Json>& rows, const std::string& key, const std::string& name,
                  const std::string& field) {
  for (const Json& row : rows) {
    if (row.contains(key) && row[key] == name && row.contains(field)) return row[field];
  }
  return nullptr;
}

}  // namespace crema

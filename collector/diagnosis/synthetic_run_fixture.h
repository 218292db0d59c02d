// A measurement in which nothing is wrong, for tests that plant a cause into it.
#pragma once

#include "collector/diagnosis/judged_document_fixture.h"

namespace crema {

/// 100 chunks of one dataset on 4 workers of one core, nothing wrong; every table that is judged has rows.
inline nlohmann::ordered_json HealthyRun() {
  Json document = QuietRun();
  Json& metrics = document["metrics"];
  metrics["busy_time"] = 94;
  metrics["total_cores"] = 4;
  metrics["wall_time"] = 25;
  metrics["oversized_chunks"] = 0;
  metrics["max_open_chunks"] = 1;
  metrics["memory_utilization_max"] = 0.5;
  metrics["avg_memory_per_worker_bytes"] = 4e8;
  metrics["chunk_rss_delta_per_event_p95"] = 1;
  metrics["rss_slope"] = 1000;
  metrics["peak_live_bytes"] = 2e8;
  metrics["rss_slope_low"] = -1000;
  metrics["instrumentation_overhead"] = 0.001;
  metrics["disk_read_time_seconds"] = 0;
  metrics["disk_write_time_seconds"] = 0;
  metrics["disk_write_bytes"] = 0;
  metrics["total_serialization_overhead_seconds"] = 0.5;
  metrics["total_compression_overhead_seconds"] = 0.1;
  metrics["compression_ratio"] = 2.5;
  metrics["bytes_read_compressed"] = 1e10;
  document["chunk_fits"] = {{{"dataset", "ttbar"},
                             {"attempts", 100},
                             {"fixed_seconds", 0.02},
                             {"seconds_per_event", 1e-4},
                             {"events_min", 4000},
                             {"events_p50", 9000},
                             {"events_max", 12000},
                             {"oversized", 0}}};
  document["datasets"] = {
      {{"name", "ttbar"}, {"attempts", 100}, {"duration_sum", 94}, {"duration_p50", 0.92}, {"duration_p95", 1.3}}};
  for (const char* worker : {"h:1", "h:2", "h:3", "h:4"}) {
    document["workers"].push_back({{"name", worker},
                                   {"state", "ended"},
                                   {"events", 225000},
                                   {"peak_memory_bytes", 5e8},
                                   {"memory_limit_bytes", 1e9}});
    document["expected_time"].push_back(
        {{"by", "worker"}, {"name", worker}, {"attempts", 25}, {"duration", 23.5}, {"predicted", 23.0}});
  }
  for (const char* file : {"a.root", "b.root"}) {
    document["expected_time"].push_back(
        {{"by", "file"}, {"name", file}, {"attempts", 50}, {"duration", 47}, {"predicted", 46}});
  }
  document["sections"] = {{{"path", "read"}, {"helper", false}, {"share", 0.3}, {"total", 28.2}, {"cpu", 2.8}},
                          {{"path", "select"},
                           {"helper", false},
                           {"share", 0.35},
                           {"chunks", 100},
                           {"live_bytes", 5e7},
                           {"live_growth_bytes", 0}},
                          {{"path", "(other)"}, {"helper", false}, {"share", 0.35}}};
  document["timelines"]["worker_counts"] = {{0.0, 4}, {25.0, 4}};
  document["quality"]["records_read"] = 210;
  return document;
}

}  // namespace crema

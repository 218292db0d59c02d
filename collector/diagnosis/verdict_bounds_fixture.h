// For each bound of each verdict: how a healthy run is changed so that only this bound decides.
#pragma once

#include <cstddef>
#include <functional>
#include <ostream>
#include <string>

#include "collector/diagnosis/judged_document_fixture.h"
#include "collector/diagnosis/key_figures.h"
#include "collector/diagnosis/synthetic_run_fixture.h"
#include "collector/diagnosis/verdict_table.h"

namespace crema {

using Json = nlohmann::ordered_json;

/// What one bound of a rule judges, in a run in which all its other conditions hold.
struct BoundCase {
  std::string id;
  size_t bound;  ///< 0: the threshold; from 1 on `also`
  std::function<void(Json*, double value)> set;
  double step = 0;  ///< between values that there are; 0: any
};

inline void PrintTo(const BoundCase& bound_case, std::ostream* out) {
  *out << bound_case.id << " " << bound_case.bound;
}

inline const Bound& BoundOf(const BoundCase& bound_case) {
  const VerdictRule& rule = RuleOf(bound_case.id);
  return bound_case.bound == 0 ? rule.threshold : *rule.also.at(bound_case.bound - 1);
}

inline void SetMetric(Json* document, const char* key, double value) { (*document)["metrics"][key] = value; }

/// The share of one part of the budget; the rest is what no verdict looks at.
inline std::function<void(Json*, double)> PartSetter(const std::string& part) {
  return [part](Json* document, double share) {
    SetBudget(document, {{"joined", 100 * (1 - share)}, {part, 100 * share}});
  };
}

inline std::function<void(Json*, double)> MetricSetter(const std::string& key, double scale = 1) {
  return [key, scale](Json* document, double value) { SetMetric(document, key.c_str(), value * scale); };
}

/// A worker or file that takes `factor` times what its chunks should.
/// The others take exactly as long as predicted.
inline void SlowDown(Json* document, size_t row, double factor) {
  for (Json& other : (*document)["expected_time"]) other["duration"] = other["predicted"];
  Json& slow = (*document)["expected_time"][row];
  slow["duration"] = slow["predicted"].get<double>() * factor;
}

/// Leaves `count` workers (files) in the table of expected times, the slow one first.
inline void LeaveSeen(Json* document, const std::string& by, double count) {
  Json rows = Json::array();
  for (const Json& row : (*document)["expected_time"]) {
    if (row["by"] == by && count-- > 0) rows.push_back(row);
  }
  (*document)["expected_time"] = rows;
}

inline void FewChunks(Json* document) {
  SetBudget(document, {{"compute", 80}, {"idle", 9}, {"tail", 11}});
  SetMetric(document, "num_chunks", 8);
}

inline void ReadClusters(Json* document, double clusters) {
  (*document)["custom_metrics"] = {{{"name", "tree_clusters"}, {"unit", "count"}, {"sum", clusters}}};
}

inline void AddPeriod(Json* document, double predicted, double duration) {
  (*document)["slow_spells"] = {{{"name", "h:2"},
                                 {"by", "worker"},
                                 {"start", 5},
                                 {"stop", 15},
                                 {"attempts", 20},
                                 {"duration", duration},
                                 {"predicted", predicted}}};
}

inline void Contend(Json* document, double excess) {
  (*document)["contention"] = {{{"attempts", 100},
                                {"lanes_low", 2},
                                {"lanes_high", 8},
                                {"slope", 0.001},
                                {"slope_low", 0.0008},
                                {"slope_high", 0.002},
                                {"excess", 1.2 * excess},
                                {"excess_low", excess}}};
}

inline void SmallChunks(Json* document) { (*document)["chunk_fits"][0]["fixed_seconds"] = 0.3; }

inline void Lag(Json* document, double first, double until, double most, double wall_time) {
  SetMetric(document, "wall_time", wall_time);
  (*document)["timelines"]["worker_counts"] = {{0.0, first}, {until, most}, {wall_time, most}};
}

/// No worker is there before `until`.
inline void Absence(Json* document, double until, double wall_time) {
  SetMetric(document, "wall_time", wall_time);
  (*document)["timelines"]["worker_counts"] = {{0.0, 0}, {until, 1}};
}

/// So many workers have chunks until `until` of 100 seconds, and one to the end.
inline void RunOut(Json* document, double workers, double until) {
  SetMetric(document, "wall_time", 100);
  (*document)["workers"] = Json::array();
  for (int i = 0; i < workers; ++i) {
    (*document)["workers"].push_back(
        {{"name", "h:" + std::to_string(i)}, {"first_chunk", 0}, {"last_chunk", i + 1 == workers ? 100 : until}});
  }
}

/// A dataset takes a share of the time of two, for a share of their events.
inline void Cost(Json* document, double time, double events = 0.5) {
  (*document)["datasets"] = {{{"name", "a"}, {"events", 1e6 * events}, {"duration_sum", 90 * time}},
                             {{"name", "b"}, {"events", 1e6 * (1 - events)}, {"duration_sum", 90 * (1 - time)}}};
}

inline Json Request(const char* server, double calls, double bytes, double seconds) {
  return {{"server", server}, {"operation", "read"}, {"calls", calls}, {"bytes", bytes}, {"seconds", seconds}};
}

/// Requests to two servers, of `seconds` each to the slow one, and `usual` to the other.
inline void Ask(Json* document, double calls, double seconds, double usual) {
  (*document)["requests"] = {Request("root://slow", calls, 0, calls * seconds),
                             Request("root://fast", 1000, 0, 1000 * usual)};
}

inline void ReadSmall(Json* document, double calls, double bytes, double share) {
  (*document)["requests"] = {Request("root://one", calls, bytes * calls, 100 * share)};
}

/// What the section `select` keeps.
inline void Keep(Json* document, double bytes, double chunks) {
  (*document)["sections"][1]["live_growth_bytes"] = bytes;
  (*document)["sections"][1]["chunks"] = chunks;
}

/// Kernels and copies of so many seconds.
inline void UseGpu(Json* document, double kernels, double copies) {
  SetMetric(document, "gpu_seconds", kernels);
  SetMetric(document, "gpu_copy_seconds", copies);
  SetMetric(document, "gpu_to_device_bytes", 1e6);
  SetMetric(document, "gpu_wait_cpu_seconds", 0);
}

/// 100 seconds, in which a device works for so many.
inline void StarveGpu(Json* document, double busy, double kernels) {
  UseGpu(document, kernels, 0);
  SetMetric(document, "wall_time", 100);
  SetMetric(document, "gpu_busy_seconds", busy);
}

/// Threads occupied all of 100 core-seconds, and wanted so many more.
inline void WantMoreCpu(Json* document, double beyond) {
  SetMetric(document, "core_efficiency", 1);
  SetMetric(document, "chunk_cpu_time", 95);
  SetMetric(document, "lane_cpu_wait", 5 + beyond);
  SetMetric(document, "oversubscribed_core_seconds", 2 * beyond);
}

/// Chunks of 94 s of CPU, so much of it in the kernel, with so many read calls a second.
inline void CallKernel(Json* document, double seconds, double calls, double bytes) {
  SetMetric(document, "chunk_cpu_time", 94);
  SetMetric(document, "system_cpu_time", seconds);
  SetMetric(document, "process_read_calls", 94 * calls);
  SetMetric(document, "process_read_call_bytes", 94 * calls * bytes);
}

/// Page faults in each second of chunks, of which all is CPU.
inline void Fault(Json* document, double minor, double major) {
  CallKernel(document, 10, 0, 0);
  SetMetric(document, "minor_faults", 94 * minor);
  SetMetric(document, "chunk_major_faults", 94 * major);
}

/// Four cores; 100 events with a latency of 1 s, of which so much is external or rest, and so many cores without a
/// task on average. So many of the 100 calls of the module were marked as ready.
inline void RunEvents(Json* document, double external, double rest, double free, double marked) {
  SetMetric(document, "total_cores", 4);
  (*document)["events"] = {{{"events", 100},
                            {"events_per_second", 10},
                            {"in_flight", 10},
                            {"latency_seconds", 100},
                            {"work_seconds", 100 * 4 * (1 - free) / 10},
                            {"external_seconds", 100 * external},
                            {"rest_seconds", 100 * rest}}};
  (*document)["modules"] = {
      {{"module", "tracks"}, {"calls", 100}, {"queued_calls", 100 * marked}, {"own_seconds", 40}, {"at_once", 4}}};
}

/// A module that runs one at a time, for such a share of the run, and keeps events waiting.
inline void RunSerial(Json* document, double load, double behind) {
  RunEvents(document, 0, 0, 0.5, 1);
  Json& module = (*document)["modules"][0];
  module["at_once"] = 1;
  module["ceiling"] = 10 / load;
  module["behind_seconds"] = 100 * behind;
}

inline const BoundCase kBoundCases[] = {
    {"serial-module", 0, [](Json* document, double load) { RunSerial(document, load, 0.5); }},
    {"serial-module", 1, [](Json* document, double behind) { RunSerial(document, 0.99, behind); }},
    {"external-work", 0, [](Json* document, double share) { RunEvents(document, share, 0, 0.5, 1); }},
    {"external-work", 1, [](Json* document, double free) { RunEvents(document, 0.5, 0, free, 1); }},
    {"stolen-work", 0,
     [](Json* document, double share) {
       RunEvents(document, 0, 0, 0, 1);
       (*document)["modules"][0]["stolen_seconds"] = 40 * share;
     }},
    {"nothing-ready", 0, [](Json* document, double share) { RunEvents(document, 0, share, 0.5, 1); }},
    {"nothing-ready", 1, [](Json* document, double free) { RunEvents(document, 0, 0.5, free, 1); }},
    {"nothing-ready", 2, [](Json* document, double marked) { RunEvents(document, 0, 0.5, 0.5, marked); }},
    {"gpu-bound", 0,
     [](Json* document, double share) {
       PartSetter("gpu_wait")(document, share);
       UseGpu(document, 20, 10);
     }},
    {"gpu-bound", 1,
     [](Json* document, double share) {
       PartSetter("gpu_wait")(document, 0.5);
       UseGpu(document, 100 * share, 0);
     }},
    {"gpu-copies", 0,
     [](Json* document, double share) {
       PartSetter("gpu_wait")(document, share);
       UseGpu(document, 1, 2);
     }},
    {"gpu-starved", 0, [](Json* document, double share) { StarveGpu(document, 100 * share, 20); }},
    {"gpu-starved", 1, [](Json* document, double share) { StarveGpu(document, 1, 100 * share); }},
    {"gpu-shared", 0, MetricSetter("gpu_utilization_of_others")},
    {"compute-bound", 0, PartSetter("compute")},
    {"waiting-bound", 0,
     [](Json* document, double share) {
       SetBudget(document, {{"compute", 100 * (1 - share)}, {"waiting", 100 * share}});
     }},
    {"waiting-bound", 1,
     [](Json* document, double share) {
       SetBudget(document, {{"compute", 1}, {"joined", 99 - 100 * share}, {"blocked", 100 * share}});
     }},
    {"cpu-contention", 0, PartSetter("cpu_wait")},
    {"gil-contention", 0,
     [](Json* document, double share) {
       SetMetric(document, "gil_contention", 1);
       PartSetter("blocked")(document, share);
     }},
    {"gil-contention", 1,
     [](Json* document, double taken) {
       SetMetric(document, "gil_contention", taken);
       PartSetter("blocked")(document, 0.9);
     }},
    {"shared-bottleneck", 0, [](Json* document, double share) { Contend(document, 100 * share); }},
    {"opening-bound", 0, PartSetter("outside_chunk")},
    {"chunks-too-small", 0,
     [](Json* document, double share) { (*document)["chunk_fits"][0]["fixed_seconds"] = share; }},
    {"chunks-too-small", 1,
     [](Json* document, double share) {
       // many chunks, so that the fixed cost of all of them is enough on either side
       Json& fit = (*document)["chunk_fits"][0];
       fit["attempts"] = 1000;
       fit["fixed_seconds"] = 0.9 * share / (1 - share);
     }},
    {"chunks-too-small", 2,
     [](Json* document, double chunks) {
       SmallChunks(document);
       (*document)["chunk_fits"][0]["fixed_seconds"] = 5;
       (*document)["chunk_fits"][0]["attempts"] = chunks;
     },
     1},
    {"chunks-too-small", 3,
     [](Json* document, double spread) {
       SmallChunks(document);
       (*document)["chunk_fits"][0]["events_max"] = 4000 * spread;
     }},
    {"chunks-too-small", 4,
     [](Json* document, double width) {
       SmallChunks(document);  // 1.2 s for a median chunk
       (*document)["chunk_fits"][0]["fixed_seconds_low"] = 0.3 - 0.6 * width;
       (*document)["chunk_fits"][0]["fixed_seconds_high"] = 0.3 + 0.6 * width;
     }},
    {"chunks-too-small", 5,
     [](Json* document, double share) {
       Json& fit = (*document)["chunk_fits"][0];
       fit["events_min"] = 8500;
       fit["fixed_seconds"] = 1;
       fit["seconds_per_event"] = 0;
       fit["seconds_per_event_high"] = share / 9000;
     }},
    {"slow-spell", 0, [](Json* document, double factor) { AddPeriod(document, 10, 10 * factor); }},
    {"slow-spell", 1,
     [](Json* document, double excess) { AddPeriod(document, 100 * excess / 4, 100 * excess * 5 / 4); }},
    {"chunks-too-large", 0,
     [](Json* document, double share) {
       (*document)["chunk_fits"][0]["events_p50"] = 24000;
       (*document)["chunk_fits"][0]["events_max"] = 25000;
       SetBudget(document, {{"compute", 100 * (1 - share)}, {"tail", 100 * share}});
     }},
    {"chunks-too-large", 1,
     [](Json* document, double used) {
       SetMetric(document, "chunk_rss_delta_per_event_p95", 40000);
       SetMetric(document, "memory_utilization_max", used);
       (*document)["chunk_fits"][0]["events_p50"] = 10500;
     }},
    {"too-few-chunks", 0,
     [](Json* document, double chunks_a_core) {
       FewChunks(document);
       SetMetric(document, "num_chunks", 4 * chunks_a_core);
     }},
    {"too-few-chunks", 1,
     [](Json* document, double cores) {
       FewChunks(document);
       SetMetric(document, "num_chunks", 2);
       SetMetric(document, "total_cores", cores);
     }},
    {"too-few-chunks", 2,
     [](Json* document, double share) {
       FewChunks(document);
       SetMetric(document, "num_chunks", 9);
       SetBudget(document, {{"compute", 100 * (1 - share)}, {"idle", 50 * share}, {"tail", 50 * share}});
     }},
    {"too-few-clusters", 0,
     [](Json* document, double clusters_a_core) {
       FewChunks(document);
       ReadClusters(document, 4 * clusters_a_core);
     }},
    {"too-few-clusters", 1,
     [](Json* document, double cores) {
       FewChunks(document);
       ReadClusters(document, 2);
       SetMetric(document, "total_cores", cores);
     }},
    {"too-few-clusters", 2,
     [](Json* document, double share) {
       ReadClusters(document, 8);
       SetBudget(document, {{"compute", 100 * (1 - share)}, {"idle", 50 * share}, {"tail", 50 * share}});
     }},
    {"slow-batch", 0,
     [](Json* document, double share) {
       SetBudget(document, {{"compute", 100 * (1 - share)}, {"idle", 100 * share}});
       (*document)["process_sections"] = {{{"path", "wait for next files"}, {"count", 4}, {"total", 100 * share}}};
     }},
    {"oversized-chunks", 0,
     [](Json* document, double share) {
       SetMetric(document, "oversized_chunks", 3);
       SetBudget(document, {{"compute", 100 * (1 - share)}, {"tail", 100 * share}});
     }},
    {"oversized-chunks", 1,
     [](Json* document, double chunks) {
       SetMetric(document, "oversized_chunks", chunks);
       SetBudget(document, {{"compute", 97}, {"tail", 3}});
     },
     1},
    {"stragglers", 0,
     [](Json* document, double share) {
       SetMetric(document, "straggler_chunks", 1);
       (*document)["stragglers"] = {{{"duration", 1 + 100 * share}, {"predicted", 1.0}}};
     }},
    {"stragglers", 1,
     [](Json* document, double chunks) {
       SetMetric(document, "straggler_chunks", chunks);
       (*document)["stragglers"] = {{{"duration", 10}, {"predicted", 1.0}}};
     },
     1},
    {"skewed-dataset", 0,
     [](Json* document, double factor) { (*document)["datasets"][0]["duration_p95"] = 0.92 * factor; }},
    {"skewed-dataset", 1,
     [](Json* document, double attempts) {
       (*document)["datasets"][0]["duration_p95"] = 10;
       (*document)["datasets"][0]["attempts"] = attempts;
     },
     1},
    {"skewed-dataset", 2,
     [](Json* document, double share) {
       (*document)["datasets"][0]["duration_p95"] = 10;
       (*document)["datasets"][0]["duration_sum"] = 94 * share;
     }},
    {"skewed-dataset", 3,
     [](Json* document, double share) {
       (*document)["datasets"][0]["duration_p95"] = 10;
       (*document)["datasets"][0]["failed"] = 100 * share;
     }},
    {"slow-file", 0, [](Json* document, double factor) { SlowDown(document, 5, factor); }},
    {"slow-file", 1,
     [](Json* document, double chunks) {
       SlowDown(document, 5, 3);
       (*document)["expected_time"][5]["attempts"] = chunks;
     },
     1},
    {"slow-file", 2,
     [](Json* document, double files) {
       SlowDown(document, 4, 3);
       LeaveSeen(document, "file", files);
     },
     1},
    {"slow-file", 3,
     [](Json* document, double share) {
       (*document)["expected_time"][5]["predicted"] = 100 * share;
       SlowDown(document, 5, 2 + 1e-9);
     }},
    {"slow-worker", 0, [](Json* document, double factor) { SlowDown(document, 0, factor); }},
    {"slow-worker", 1,
     [](Json* document, double chunks) {
       SlowDown(document, 0, 3);
       (*document)["expected_time"][0]["attempts"] = chunks;
     },
     1},
    {"slow-worker", 2,
     [](Json* document, double workers) {
       SlowDown(document, 0, 3);
       LeaveSeen(document, "worker", workers);
     },
     1},
    {"slow-worker", 3,
     [](Json* document, double share) {
       (*document)["expected_time"][0]["predicted"] = 100 * share;
       SlowDown(document, 0, 2);
     }},
    {"slow-server", 0, [](Json* document, double factor) { Ask(document, 100, 0.1 * factor, 0.1); }},
    {"slow-server", 1, [](Json* document, double calls) { Ask(document, calls, 0.3, 0.1); }, 1},
    {"slow-server", 2, [](Json* document, double share) { Ask(document, 1e4 * share, 0.02 + 1e-9, 0.01); }},
    {"many-small-reads", 0, [](Json* document, double bytes) { ReadSmall(document, 2000, bytes, 0.2); }},
    {"many-small-reads", 1, [](Json* document, double calls) { ReadSmall(document, calls, 4000, 0.2); }, 1},
    {"many-small-reads", 2, [](Json* document, double share) { ReadSmall(document, 2000, 4000, share); }},
    {"many-small-reads", 3, [](Json* document, double calls) { CallKernel(document, 10, calls, 100); }},
    {"many-small-reads", 4, [](Json* document, double bytes) { CallKernel(document, 10, 1e5, bytes); }},
    {"kernel-time", 0, [](Json* document, double share) { CallKernel(document, 94 * share, 0, 0); }},
    {"kernel-time", 1,
     [](Json* document, double share) {
       CallKernel(document, 100 * share, 0, 0);
       SetMetric(document, "chunk_cpu_time", 10);
     }},
    {"spinning", 0,
     [](Json* document, double share) {
       SetMetric(document, "chunk_cpu_time", 100);
       (*document)["functions"] = {{{"function", "libgomp.so.1+0x1f780"},
                                    {"file", "/lib/libgomp.so.1"},
                                    {"samples", 1e6 * share},
                                    {"share", share},
                                    {"share_error", 0}},
                                   {{"function", "fit"}, {"samples", 1e6 * (1 - share)}, {"share", 1 - share}}};
     }},
    {"page-faults", 0, [](Json* document, double rate) { Fault(document, 0, rate); }},
    {"page-faults", 1, [](Json* document, double rate) { Fault(document, rate, 0); }},
    {"page-faults", 2,
     [](Json* document, double share) {
       Fault(document, 1e6, 0);
       SetMetric(document, "system_cpu_time", 100 * share);
     }},
    {"long-tail", 0, PartSetter("tail")},
    {"idle-workers", 0, PartSetter("idle")},
    {"unused-cores", 0, PartSetter("unused_by_tasks")},
    {"scaling-lag", 0, [](Json* document, double share) { Lag(document, 1, 100 * share * 4 / 3, 4, 100); }},
    {"scaling-lag", 1,
     [](Json* document, double share) {
       // the second row is "nearly all" or not: then the third is, after half the run
       SetMetric(document, "wall_time", 100);
       (*document)["timelines"]["worker_counts"] = {{0.0, 0}, {9.0, 1000 * share}, {50.0, 1000}};
     },
     -0.001},
    {"no-workers", 0, [](Json* document, double share) { Absence(document, 100 * share, 100); }},
    {"no-workers", 1, [](Json* document, double seconds) { Absence(document, seconds, 2); }},
    {"scaling-lag", 2, [](Json* document, double seconds) { Lag(document, 0, seconds, 4, 20); }},
    {"scaling-lag", 3, [](Json* document, double workers) { Lag(document, 0, 50, workers, 100); }, 1},
    {"scaling-lag", 4,
     [](Json* document, double share) {
       SetMetric(document, "wall_time", 100);
       (*document)["timelines"]["worker_counts"] = {{0.0, 1}, {50.0, 4}, {50 + 100 * share, 1}, {100.0, 1}};
     }},
    {"startup-dominated", 0, PartSetter("startup")},
    {"shutdown-dominated", 0, PartSetter("shutdown")},
    {"last-worker", 0, [](Json* document, double share) { RunOut(document, 4, 100 * (1 - share * 4 / 3)); }},
    {"last-worker", 1, [](Json* document, double workers) { RunOut(document, workers, 20); }, 1},
    {"last-worker", 2,
     [](Json* document, double share) {
       // those that stay are nearly all or not: then time counts from when the others left
       RunOut(document, 1000, 95);
       for (size_t i = 0; i < 1000 * (1 - share); ++i) (*document)["workers"][i]["last_chunk"] = 1;
     },
     -0.001},
    {"costly-dataset", 0, [](Json* document, double factor) { Cost(document, factor / (1 + factor)); }},
    {"costly-dataset", 1, [](Json* document, double share) { Cost(document, share, 0.05); }},
    {"memory-pressure", 0, MetricSetter("memory_utilization_max")},
    {"memory-growth", 0,
     [](Json* document, double share) {
       SetMetric(document, "rss_slope", 9e5);
       SetMetric(document, "rss_slope_low", share * 1e9 / 225000 * 1000);
     }},
    {"leaking-section", 0, [](Json* document, double share) { Keep(document, 2e8 * share, 100); }},
    {"leaking-section", 1, [](Json* document, double chunks) { Keep(document, 1e8, chunks); }, 1},
    {"leaking-section", 2,
     [](Json* document, double bytes) {
       SetMetric(document, "peak_live_bytes", 2e6);
       Keep(document, bytes, 100);
     },
     1},
    {"spilling", 0, MetricSetter("disk_write_time_seconds", 100)},
    {"serialization-heavy", 0, MetricSetter("total_serialization_overhead_seconds", 100)},
    {"compression-heavy", 0, MetricSetter("total_compression_overhead_seconds", 100)},
    {"compression-heavy", 1,
     [](Json* document, double share) {
       (*document)["custom_metrics"] = {{{"name", "unzip_wall"}, {"unit", "s"}, {"sum", 100 * share}}};
     }},
    {"compression-heavy", 2,
     [](Json* document, double share) {
       (*document)["custom_metrics"] = {{{"name", "unzip_wall"}, {"unit", "s"}, {"sum", 5}}};
       (*document)["metrics"]["decompression_share"] = share;
     }},
    {"framework-overhead", 0, PartSetter("framework")},
    {"failed-run", 0, [](Json* document, double status) { (*document)["run"]["exit_status"] = status; }, 1},
    {"failing-chunks", 0,
     [](Json* document, double share) {
       SetMetric(document, "num_attempts", 1e6);
       SetMetric(document, "num_failed_attempts", 1e6 * share);
     }},
    {"failing-tasks", 0,
     [](Json* document, double tasks) {
       SetMetric(document, "num_tasks", 10);
       SetMetric(document, "num_failed_tasks", tasks);
     },
     1},
    {"retry-waste", 0, PartSetter("failed")},
    {"worker-loss", 0,
     [](Json* document, double workers) {
       for (size_t i = 0; i < workers; ++i) {
         (*document)["workers"][i]["state"] = "lost";
         (*document)["workers"][i]["lost"] = 1;
       }
     },
     1},
    {"low-compression", 0,
     [](Json* document, double ratio) {
       SetBudget(document, {{"compute", 80}, {"blocked", 20}});
       SetMetric(document, "compression_ratio", ratio);
     }},
    {"low-compression", 1,
     [](Json* document, double bytes) {
       SetBudget(document, {{"compute", 80}, {"blocked", 20}});
       SetMetric(document, "compression_ratio", 1);
       SetMetric(document, "bytes_read_compressed", bytes);
     }},
    {"low-compression", 2,
     [](Json* document, double share) {
       SetBudget(document, {{"compute", 100 * (1 - share)}, {"blocked", 50 * share}, {"outside_chunk", 50 * share}});
       SetMetric(document, "compression_ratio", 1);
     }},
    {"repeated-loops", 0,
     [](Json* document, double loops) {
       for (int i = 2; i <= loops; ++i) {
         Json fit = (*document)["chunk_fits"][0];
         fit["pass"] = "loop " + std::to_string(i);
         (*document)["chunk_fits"].push_back(fit);
       }
     },
     1},
    {"hot-section", 0, [](Json* document, double share) { (*document)["sections"][1]["share"] = share; }},
    {"hot-section", 1,
     [](Json* document, double sections) {
       (*document)["sections"] = Json::array();
       for (int i = 0; i < sections; ++i) {
         (*document)["sections"].push_back({{"path", "part " + std::to_string(i)}, {"share", 0.45}});
       }
     },
     1},
    {"largest-loss", 0,
     [](Json* document, double share) {
       SetBudget(document, {{"compute", 100 * (1 - share)}, {"blocked", 100 * share}});
     }},
    {"instrumentation-heavy", 0, MetricSetter("instrumentation_overhead")},
    {"instrumentation-heavy", 1,
     [](Json* document, double share) {
       SetMetric(document, "instrumentation_overhead", 0.5);
       SetMetric(document, "busy_time", 200 * share);
     }},
    {"oversubscribed", 0, [](Json* document, double share) { WantMoreCpu(document, 100 * share); }},
    {"incomplete-measurement", 0,
     [](Json* document, double records) { (*document)["quality"]["records_malformed"] = records; }, 1},
    {"incomplete-measurement", 1,
     [](Json* document, double share) { (*document)["quality"]["event_coverage"] = share; }},
    {"incomplete-measurement", 2, PartSetter("unmeasured")},
    {"healthy", 0, MetricSetter("cpu_efficiency")},
};

}  // namespace crema

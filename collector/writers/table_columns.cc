#include "collector/writers/table_columns.h"

#include "collector/document/document_fields.h"

namespace crema {
namespace {

using Kind = FieldKind;

}  // namespace

std::string WhyNoBreakdown(const nlohmann::ordered_json& document, std::string_view what) {
  if (Metric(document, "num_attempts").value_or(0) <= 0) return "no chunk was recorded";
  return "no chunk named its " + std::string(what);
}

std::vector<DocumentColumn> BreakdownColumns(std::string_view what, Kind kind) {
  return {{"name", what, kind, 0},
          {"chunks", "chunks", Kind::kCount, 0},
          {"attempts", "attempts", Kind::kCount, 7},
          {"failed", "failed", Kind::kCount, 3},
          {"lost", "lost", Kind::kCount, 3},
          {"events", "events", Kind::kCount, 1},
          {"bytes_read", "read", Kind::kData, 4},
          {"bytes_uncompressed", "uncompressed", Kind::kData, 9},
          {"duration_sum", "busy", Kind::kDuration, 0},
          {"duration_mean", "mean", Kind::kDuration, 8},
          {"duration_p50", "p50", Kind::kDuration, 5},
          {"duration_p95", "p95", Kind::kDuration, 5},
          {"duration_max", "max", Kind::kDuration, 8},
          {"cpu_sum", "cpu", Kind::kDuration, 2},
          {"cpu_wait_sum", "cpu wait", Kind::kDuration, 4},
          {"blocked_sum", "blocked", Kind::kDuration, 4},
          {"event_rate", "rate", Kind::kRate, 3},
          {"events_per_cpu_second", "per cpu s", Kind::kRate, 9},
          {"rss_delta_mean", "RSS delta", Kind::kMemory, 10}};
}

std::vector<DocumentColumn> WorkerColumns() {
  std::vector<DocumentColumn> columns = BreakdownColumns("worker", Kind::kText);
  columns.insert(columns.begin() + 1, {{"cores", "cores", Kind::kNumber, 2},
                                       {"state", "state", Kind::kText, 5},
                                       {"start", "from", Kind::kDuration, 6},
                                       {"stop", "until", Kind::kDuration, 6},
                                       {"peak_memory_bytes", "peak memory", Kind::kMemory, 3},
                                       {"memory_limit_bytes", "limit", Kind::kMemory, 6}});
  return columns;
}

std::vector<DocumentColumn> ProcessColumns() {
  return {{"name", "process", Kind::kText, 0},
          {"host", "host", Kind::kText, 5},
          {"pid", "pid", Kind::kText, 1},
          {"cpu", "CPU time", Kind::kDuration, 0},
          {"peak_memory_bytes", "peak memory", Kind::kMemory, 0},
          {"threads", "threads", Kind::kCount, 2},
          {"start", "from", Kind::kDuration, 3},
          {"stop", "until", Kind::kDuration, 3}};
}

std::vector<DocumentColumn> SectionColumns() {
  return {{"path", "section", Kind::kText, 0},
          {"count", "calls", Kind::kCount, 1},
          {"self", "own time", Kind::kDuration, 0},
          {"share", "share", Kind::kShare, 0},
          {"total", "total", Kind::kDuration, 2},
          {"mean_when_run", "when run", Kind::kDuration, 3},
          {"chunks", "chunks", Kind::kCount, 5},
          {"mean", "per call", Kind::kDuration, 6},
          {"max", "max call", Kind::kDuration, 7},
          {"p50", "p50", Kind::kDuration, 8},
          {"p95", "p95", Kind::kDuration, 6},
          {"cpu", "cpu", Kind::kDuration, 4},
          {"failed", "failed", Kind::kCount, 5},
          {"allocations", "allocations", Kind::kCount, 7, true},
          {"allocated_bytes", "allocated", Kind::kMemory, 2, true},
          {"live_bytes", "live at the end", Kind::kMemory, 3, true},
          {"peak_live_bytes", "most live", Kind::kMemory, 3, true},
          {"gpu_seconds", "GPU", Kind::kDuration, 2, true},
          {"gpu_launches", "kernels", Kind::kCount, 5, true},
          {"gpu_copy_seconds", "GPU copies", Kind::kDuration, 4, true},
          {"gpu_wait_seconds", "waits for GPU", Kind::kDuration, 3, true}};
}

std::vector<DocumentColumn> StragglerColumns() {
  return {{"chunk", "chunk", Kind::kText, 0},
          {"dataset", "dataset", Kind::kText, 1},
          {"file", "file", Kind::kPath, 5},
          {"entry_start", "from entry", Kind::kExactCount, 6},
          {"entry_stop", "to entry", Kind::kExactCount, 6},
          {"worker", "worker", Kind::kText, 3},
          {"start", "start", Kind::kDuration, 4},
          {"duration", "took", Kind::kDuration, 0},
          {"predicted", "predicted", Kind::kDuration, 0},
          {"events", "events", Kind::kCount, 2},
          {"cpu", "cpu", Kind::kDuration, 2},
          {"cpu_wait", "cpu wait", Kind::kDuration, 3},
          {"blocked", "blocked", Kind::kDuration, 3},
          {"reason", "reason", Kind::kText, 1}};
}

std::vector<DocumentColumn> ChunkColumns(std::string_view sorted_by) {
  std::vector<DocumentColumn> columns = {{"chunk", "chunk", Kind::kText, 0},
                                         {"status", "status", Kind::kText, 1},
                                         {"dataset", "dataset", Kind::kText, 1},
                                         {"file", "file", Kind::kPath, 6},
                                         {"entry_start", "from entry", Kind::kExactCount, 7},
                                         {"entry_stop", "to entry", Kind::kExactCount, 7},
                                         {"worker", "worker", Kind::kText, 3},
                                         {"start", "start", Kind::kDuration, 5},
                                         {"duration", "took", Kind::kDuration, 0},
                                         {"events", "events", Kind::kCount, 2},
                                         {"event_rate", "rate", Kind::kRate, 5},
                                         {"bytes_read", "read", Kind::kData, 5},
                                         {"cpu", "cpu", Kind::kDuration, 2},
                                         {"cpu_wait", "cpu wait", Kind::kDuration, 4},
                                         {"joined", "joined", Kind::kDuration, 8},
                                         {"blocked", "blocked", Kind::kDuration, 4},
                                         {"rss_delta_bytes", "RSS delta", Kind::kMemory, 6},
                                         {"error", "error", Kind::kText, 3}};
  for (DocumentColumn& column : columns) {
    if (column.field != sorted_by) continue;
    column.rank = 0;
    return columns;
  }
  columns.insert(columns.begin() + 1, {sorted_by, sorted_by, Kind::kText, 0});
  return columns;
}

std::vector<DocumentColumn> MemorySectionColumns() {
  return {{"path", "section", Kind::kText, 0},
          {"count", "calls", Kind::kCount, 1},
          {"delta_bytes", "sum", Kind::kMemory, 0},
          {"min_bytes", "least", Kind::kMemory, 2},
          {"max_bytes", "largest", Kind::kMemory, 0},
          {"rss_start_bytes", "RSS before it", Kind::kMemory, 3},
          {"rss_stop_bytes", "RSS after it", Kind::kMemory, 3},
          {"peak_bytes", "peak", Kind::kMemory, 1}};
}

std::vector<DocumentColumn> CustomMetricColumns() {
  return {{"name", "metric", Kind::kText, 0},
          {"unit", "unit", Kind::kText, 1},
          {"count", "count", Kind::kCount, 2},
          {"sum", "sum", Kind::kNumber, 0},
          {"mean", "mean", Kind::kNumber, 0},
          {"min", "min", Kind::kNumber, 3},
          {"p50", "p50", Kind::kNumber, 4},
          {"p95", "p95", Kind::kNumber, 4},
          {"max", "max", Kind::kNumber, 3},
          {"invalid", "invalid", Kind::kCount, 5},
          {"failed_count", "of failed chunks", Kind::kCount, 6}};
}

std::vector<DocumentColumn> CutColumns() {
  return {{"name", "cut", Kind::kText, 0},
          {"events", "events", Kind::kExactCount, 0},
          {"weights", "sum of weights", Kind::kNumber, 2},
          {"step_efficiency", "of the step before", Kind::kShare, 1},
          {"total_efficiency", "of all", Kind::kShare, 0}};
}

std::vector<DocumentColumn> PredictionColumns() {
  return {{"change", "with", Kind::kText, 0},
          {"wall_time", "wall time", Kind::kDuration, 0},
          {"difference", "change", Kind::kText, 0},
          {"range", "90 % of runs", Kind::kText, 0},
          {"core_seconds", "core-seconds", Kind::kNumber, 1},
          {"core_hours", "core-hours", Kind::kNumber, 2},
          {"efficiency", "CPU efficiency", Kind::kShare, 2},
          {"busy_share", "lanes busy", Kind::kShare, 3}};
}

std::vector<DocumentColumn> RequestColumns() {
  return {{"server", "server", Kind::kText, 0},    {"operation", "operation", Kind::kText, 0},
          {"calls", "calls", Kind::kCount, 0},     {"bytes", "bytes", Kind::kData, 1},
          {"seconds", "time", Kind::kDuration, 0}, {"max_seconds", "slowest", Kind::kDuration, 1},
          {"errors", "errors", Kind::kCount, 2}};
}

std::vector<DocumentColumn> GpuKernelColumns() {
  return {{"section", "section", Kind::kText, 0},         {"dataset", "dataset", Kind::kText, 1},
          {"launches", "launches", Kind::kCount, 0},      {"seconds", "time", Kind::kDuration, 0},
          {"max_seconds", "longest", Kind::kDuration, 1}, {"kernel", "kernel", Kind::kText, 0}};
}

std::vector<DocumentColumn> ScalingColumns() {
  return {{"name", "run", Kind::kPath, 0},
          {"cores_text", "cores", Kind::kText, 0},
          {"wall_time", "wall time", Kind::kDuration, 0},
          {"range", "90 % of runs", Kind::kText, 0},
          {"throughput", "rate", Kind::kRate, 2},
          {"speedup", "speed-up", Kind::kNumber, 0},
          {"efficiency", "efficiency", Kind::kShare, 0},
          {"core_seconds", "core-seconds", Kind::kNumber, 1},
          {"cost", "cost", Kind::kNumber, 3}};
}

std::vector<DocumentColumn> ScalingLawColumns() {
  return {{"law", "fit", Kind::kText, 0},
          {"sigma", "serial or queued", Kind::kText, 0},
          {"kappa", "each pair of cores", Kind::kText, 0},
          {"fastest", "fastest at", Kind::kText, 0},
          {"worthwhile", "last worthwhile core", Kind::kText, 0},
          {"error", "error of a run", Kind::kShare, 1}};
}

std::vector<DocumentColumn> HistoryRunColumns() {
  return {{"start", "began (UTC)", Kind::kText, 0},
          {"directory", "run", Kind::kPath, 0},
          {"commit", "commit", Kind::kText, 0},
          {"value", "value", Kind::kText, 0},
          {"mark", "change", Kind::kText, 0}};
}

std::vector<DocumentColumn> HistoryLevelColumns() {
  return {{"start", "since (UTC)", Kind::kText, 0}, {"runs", "runs", Kind::kCount, 0},
          {"value", "level", Kind::kText, 0},       {"change", "change", Kind::kText, 0},
          {"range", "range", Kind::kText, 0},       {"commit", "first with", Kind::kText, 0}};
}

std::vector<DocumentColumn> FunctionColumns() {
  return {{"section", "section", Kind::kText, 0},       {"dataset", "dataset", Kind::kText, 2},
          {"function", "function", Kind::kFunction, 0}, {"file", "file", Kind::kPath, 4},
          {"line", "line", Kind::kExactCount, 4},       {"samples", "samples", Kind::kCount, 3},
          {"share", "share", Kind::kShare, 0},          {"share_error", "error", Kind::kShare, 1}};
}

std::vector<DocumentColumn> FineColumns() {
  return {{"context", "context", Kind::kText, 0},   {"span", "span", Kind::kText, 3},
          {"worker", "worker", Kind::kText, 2},     {"function", "function", Kind::kText, 1},
          {"activity", "activity", Kind::kText, 0}, {"unit", "unit", Kind::kText, 0},
          {"value", "value", Kind::kNumber, 0}};
}

std::vector<DocumentColumn> BudgetColumns() {
  return {{"part", "part", Kind::kText, 0},
          {"group", "group", Kind::kText, 1},
          {"core_seconds", "core-seconds", Kind::kDuration, 0},
          {"share", "share", Kind::kShare, 0}};
}

std::vector<DocumentColumn> PhaseColumns() {
  return {{"phase", "phase", Kind::kText},
          {"wall_time", "wall time", Kind::kDuration},
          {"task_seconds", "task time", Kind::kDuration, 1},
          {"start", "from", Kind::kDuration, 2},
          {"stop", "until", Kind::kDuration, 2}};
}

}  // namespace crema

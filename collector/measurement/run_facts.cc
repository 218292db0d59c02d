#include "collector/measurement/run_facts.h"

#include "collector/idioms/sequences.h"
#include "nlohmann/json.hpp"

namespace crema {
namespace {

constexpr Column kRunSpanColumns[] = {
    FieldOf<&RunSpan::name>(),
    ColumnOf<&RunSpan::path>("span"),
    ColumnOf<&RunSpan::start_ns>("start (Unix ns)"),
    ColumnOf<&RunSpan::stop_ns>("stop (Unix ns)"),
};

constexpr auto kCoffeaReportFactsColumns =
    FieldsOf<&CoffeaReportFacts::reports, &CoffeaReportFacts::bytesread, &CoffeaReportFacts::entries,
             &CoffeaReportFacts::processtime, &CoffeaReportFacts::chunks, &CoffeaReportFacts::columns>();

constexpr auto kCoffeaDatasetFactsColumns =
    FieldsOf<&CoffeaDatasetFacts::datasets, &CoffeaDatasetFacts::entries, &CoffeaDatasetFacts::duration,
             &CoffeaDatasetFacts::num_requested_bytes>();

constexpr Column kNeverBegunRowColumns[] = {
    ColumnOf<&NeverBegunRow::reason>("reason"),
    ColumnOf<&NeverBegunRow::jobs>(Kind::kCount),
};

constexpr auto kRunFactsColumns =
    FieldsOf<&RunFacts::id, &RunFacts::name, &RunFacts::command, &RunFacts::start_ns, &RunFacts::stop_ns,
             &RunFacts::start, &RunFacts::boundary, &RunFacts::cores_source, &RunFacts::busy_time_source,
             &RunFacts::num_chunks_source, &RunFacts::total_events_source, &RunFacts::bytes_source,
             &RunFacts::columns_source, &RunFacts::datasets_source, &RunFacts::cpu_time_source,
             &RunFacts::io_overhead_source, &RunFacts::allocated_cores_source, &RunFacts::exit_status, &RunFacts::state,
             &RunFacts::error, &RunFacts::engine, &RunFacts::never_began, &RunFacts::net_host_wide, &RunFacts::commit,
             &RunFacts::commit_source, &RunFacts::run_ids, &RunFacts::coffea_report, &RunFacts::metrics_by_dataset,
             &RunFacts::spans>();

constexpr auto kProvenanceColumns =
    FieldsOf<&Provenance::crema, &Provenance::sources, &Provenance::host, &Provenance::created, &Provenance::logs>();

constexpr auto kTroubleFactsColumns = FieldsOf<&TroubleFacts::state, &TroubleFacts::mark, &TroubleFacts::clauses>();

constexpr Column kQualityColumns[] = {
    FieldOf<&Quality::records_read>(Kind::kCount, "lines of record logs that were used"),
    FieldOf<&Quality::records_malformed>(Kind::kCount, "lines that are not records: named in `warnings`, left out"),
    FieldOf<&Quality::records_torn>(Kind::kCount, "lines whose rest was never written"),
    FieldOf<&Quality::records_unknown>(Kind::kCount, "lines of a type that this version does not know"),
    FieldOf<&Quality::logs_left_out>(Kind::kCount,
                                     "logs that were left out as a whole: empty, of another schema, or unreadable"),
    FieldOf<&Quality::logs_damaged>(Kind::kCount,
                                    "logs that could not be read to their end: what comes before the damage was used"),
    FieldOf<&Quality::logs_missing>(Kind::kCount,
                                    "logs that are gone from a measurement's `records/` since it was made"),
    FieldOf<&Quality::records_dropped>(Kind::kCount,
                                       "records that processes could not write, and values that guards could not keep, "
                                       "as the processes say at their end"),
    FieldOf<&Quality::guards_misused>(
        Kind::kCount,
        "of `records_dropped`: guards that were used wrongly, for example a chunk that ended on another thread"),
    FieldOf<&Quality::records_unwritten>(Kind::kCount,
                                         "of `records_dropped`: lines that the disk did not take; null where a log "
                                         "with losses does not record causes (before minor 10)"),
    FieldOf<&Quality::values_outside_chunks>(Kind::kCount,
                                             "of `records_dropped`: values and guards where no chunk was open; null "
                                             "where a log with losses does not record causes"),
    FieldOf<&Quality::records_lost>(
        Kind::kCount,
        "chunks that ended, as the `end` of their log or their thread's next chunk shows, and have no record"),
    FieldOf<&Quality::sections_dropped>(Kind::kCount, "section paths beyond the limits"),
    FieldOf<&Quality::summed_chunks>(Kind::kCount,
                                     "attempts without a line, because the disk had no room: they count in every "
                                     "total, but single ones are not known"),
    FieldOf<&Quality::tasks_read>(Kind::kCount, "task records of an engine"),
    FieldOf<&Quality::tasks_left_out>(Kind::kCount,
                                      "tasks of an engine that have no record, because the disk had no room"),
    FieldOf<&Quality::lost_samples>(Kind::kCount,
                                    "samples of native stacks that were due and are in no line; `warnings` has the "
                                    "reasons; null: no process took them"),
    FieldOf<&Quality::chunks_without_events>(Kind::kCount, "results whose events were not recorded"),
    FieldOf<&Quality::processes_ended>(Kind::kCount, "processes that said that they ended"),
    FieldOf<&Quality::processes_running>(Kind::kCount, "processes that still hold their log"),
    FieldOf<&Quality::processes_lost>(
        Kind::kCount,
        "processes that vanished in a chunk, or of which an engine, the kernel or an exit status reports a failure"),
    FieldOf<&Quality::processes_unreported>(
        Kind::kCount,
        "none of these: nothing says how they ended; all their chunks are recorded (a signal, or `_exit`)"),
    FieldOf<&Quality::chunks_joined_to_tasks>(Kind::kCount, "null without an engine's tasks, as the next two"),
    FieldOf<&Quality::chunks_unjoined>(Kind::kCount, "chunks that belong to no task"),
    FieldOf<&Quality::tasks_without_chunk>(Kind::kCount, "tasks in which no chunk was recorded"),
    FieldOf<&Quality::event_coverage>(Kind::kShare,
                                      "events in records over the Coffea report's, else over CREMA_TOTAL_EVENTS"),
    FieldOf<&Quality::fine_metrics_coverage>(
        Kind::kShare,
        "share of the engine's own compute seconds that fine seconds in tasks account for; below 0.99 is flagged"),
    FieldOf<&Quality::clock_offset_max_s>(Kind::kDuration, "largest difference between clocks of hosts"),
    FieldOf<&Quality::clock_step_max_s>(Kind::kDuration, "largest step of a wall clock while a process ran"),
    FieldOf<&Quality::allocations_cost_s>(Kind::kDuration,
                                          "CPU time that counting allocations cost, as each process measured it; part "
                                          "of instrumentation_overhead; null: none were counted"),
    FieldOf<&Quality::sampling_gap_max_s>(Kind::kDuration, "longest time between two samples"),
    FieldOf<&Quality::workers_unseen>(
        Kind::kCount, "workers of the engine that sent nothing; null where only the engine's log was read"),
    FieldOf<&Quality::records_lost_bytes>(Kind::kMemory, "records that workers sent and the scheduler could not keep"),
    FieldOf<&Quality::tree_cpu_sampled>(Kind::kCount, "processes whose CPU is known from their last sample only"),
    FieldOf<&Quality::processes_left_running>(Kind::kCount, "processes of the command that outlived it"),
    FieldOf<&Quality::processes_without_waits>(
        Kind::kCount,
        "processes that could not see what their threads waited for; `warnings` has the reasons; null: "
        "none, or nobody asked"),
    FieldOf<&Quality::missing_values>(Kind::kText, "ok attempts without a value, by quantity"),
    Column{"not_measured", "", "why a metric is null, by key", nullptr, nullptr, nullptr, "", Kind::kText, 0},
    FieldOf<&Quality::warnings>(Kind::kText, "one line each"),
};

constexpr TimelineKind kTimelines[] = {
    {"worker_counts", "count", "live workers"},
    {"worker_memory", "B", "resident memory"},
    {"worker_anonymous_memory", "B", "of it, what the program allocated, where its samples say so"},
    {"worker_memory_limit", "B", "its limit"},
    {"worker_cores", "cores", "the worker's cores"},
    {"worker_active_tasks", "count", "tasks assigned, queued ones too"},
    {"worker_executing", "count", "tasks running"},
    {"worker_nbytes", "B", "results held"},
    {"worker_occupancy", "s", "queued work"},
    {"worker_last_seen", "s", "latest sign of life, since the run's start"},
    {"worker_cpu", "cores", "CPU seconds per second since the sample before"},
    {"worker_spilled_bytes", "B", "spilled to disk"},
    {"worker_managed_bytes", "B", "memory that the engine manages"},
    {"worker_network_read_bps", "B/s", "received"},
    {"worker_network_write_bps", "B/s", "sent"},
    {"worker_disk_read_bps", "B/s", "read from devices"},
    {"worker_disk_write_bps", "B/s", "written to devices"},
    {"worker_event_loop_interval", "s", "time between two turns of the engine's event loop"},
    {"worker_gil_contention", "ratio", "share of the time in which Python's global interpreter lock was not free"},
    {"worker_open_chunks", "count", "chunks open"},
    {"worker_fds", "count", "open file descriptors"},
    {"worker_threads", "count", "threads of the process"},
    {"tree_cpu", "cores", "all processes of a `crema run`: CPU seconds per second since the reading before"},
    {"tree_cpu_system", "cores", "of it, in the kernel"},
    {"tree_memory", "B", "their resident memory"},
    {"tree_pss", "B", "their proportional memory: a shared page is divided among those that share it"},
    {"tree_processes", "count", "how many they were"},
    {"tree_threads", "count", "their threads"},
    {"tree_read_bps", "B/s", "they read from devices"},
    {"tree_write_bps", "B/s", "they wrote to devices"},
    {"tree_rchar_bps", "B/s", "their read calls returned, from caches and pipes too"},
    {"tree_wchar_bps", "B/s", "their write calls took"},
    {"tree_net_rx_bps", "B/s", "received in their network namespace (host-wide where run.net_host_wide says so)"},
    {"tree_net_tx_bps", "B/s", "sent from it"},
    {"gpu_utilization_percent", "%",
     "a GPU, `<host>:<index>`: share of the driver's last sampling period in which some kernel ran"},
    {"gpu_memory", "B", "its memory that is in use, by anybody"},
    {"gpu_power_mw", "mW", "its power"},
    {"process_cpu", "cores",
     "a process of theirs, `<name>:<pid>`; the 24 with most CPU time and the 8 with most memory"},
    {"process_memory", "B", "its resident memory"},
    {"process_threads", "count", "its threads"},
    {"event_latency", "s",
     "mean latency of the events (`TrackEvent`) that ended until the next point, by its parts `active`, `queued`, "
     "`external` and `rest`; left out where there are none"},
};

void WritePoints(const Timeline& timeline, Json* value) {
  *value = Json::array();
  for (const TimelinePoint& point : timeline) {
    value->push_back({point.seconds, std::isfinite(point.value) ? Json(point.value) : Json()});
  }
}

Timeline PointsOf(const Json& value) {
  Timeline timeline;
  if (!value.is_array()) return timeline;
  for (const Json& point : value) {
    if (!point.is_array() || point.size() != 2 || !point[0].is_number()) continue;
    timeline.push_back({point[0].get<double>(),
                        point[1].is_number() ? point[1].get<double>() : std::numeric_limits<double>::quiet_NaN()});
  }
  return timeline;
}

}  // namespace

absl::Span<const Column> RunSpan::Columns() { return kRunSpanColumns; }
absl::Span<const Column> CoffeaReportFacts::Columns() { return kCoffeaReportFactsColumns; }
absl::Span<const Column> CoffeaDatasetFacts::Columns() { return kCoffeaDatasetFactsColumns; }
absl::Span<const Column> NeverBegunRow::Columns() { return kNeverBegunRowColumns; }
absl::Span<const Column> RunFacts::Columns() { return kRunFactsColumns; }
absl::Span<const Column> Quality::Columns() { return kQualityColumns; }
absl::Span<const Column> Provenance::Columns() { return kProvenanceColumns; }
absl::Span<const Column> TroubleFacts::Columns() { return kTroubleFactsColumns; }

absl::Span<const TimelineKind> TimelineKinds() { return kTimelines; }

const std::vector<std::pair<std::string, Timeline>>* Timelines::Find(std::string_view key) const {
  const NamedTimelines* named = FindBy(series, &NamedTimelines::key, key);
  return named != nullptr && named->by_worker.has_value() ? &*named->by_worker : nullptr;
}

void WriteValue(const CountsByName& member, Json* value) {
  *value = Json::object();
  for (const auto& [name, count] : member) (*value)[name] = count;
}

void ReadValue(const Json& value, CountsByName* member) {
  member->clear();
  if (!value.is_object()) return;
  for (const auto& [name, count] : value.items()) {
    if (count.is_number_integer()) member->push_back({name, count.get<int64_t>()});
  }
}

void WriteValue(const Timelines& member, Json* value) {
  WritePoints(member.worker_counts, &(*value)["worker_counts"]);
  for (const NamedTimelines& series : member.series) {
    Json& lines = (*value)[series.key];
    if (!series.by_worker.has_value()) continue;
    Json::object_t by_worker;
    // Names differ: looking for each among all those before it would take too long.
    for (const auto& [worker, timeline] : *series.by_worker) {
      WritePoints(timeline, &by_worker.Container::emplace_back(worker, Json()).second);
    }
    lines = std::move(by_worker);
  }
}

void ReadValue(const Json& value, Timelines* member) {
  *member = {};
  if (!value.is_object()) return;
  for (const TimelineKind& kind : kTimelines) {
    const auto found = value.find(std::string(kind.key));
    if (found == value.end()) continue;
    if (kind.key == "worker_counts") {
      member->worker_counts = PointsOf(*found);
      continue;
    }
    NamedTimelines& series = member->series.emplace_back();
    series.key = kind.key;
    if (!found->is_object()) continue;
    series.by_worker.emplace();
    for (const auto& [worker, points] : found->items()) series.by_worker->emplace_back(worker, PointsOf(points));
  }
}

}  // namespace crema

#include "collector/measurement/run_facts.h"

#include "nlohmann/json.hpp"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

constexpr Column kRunSpanColumns[] = {
    ColumnOf<&RunSpan::name>("name"),
    ColumnOf<&RunSpan::path>("path", "span"),
    ColumnOf<&RunSpan::start_ns>("start_ns", "start (Unix ns)"),
    ColumnOf<&RunSpan::stop_ns>("stop_ns", "stop (Unix ns)"),
};

constexpr Column kCoffeaReportFactsColumns[] = {
    ColumnOf<&CoffeaReportFacts::reports>("reports"), ColumnOf<&CoffeaReportFacts::bytesread>("bytesread"),
    ColumnOf<&CoffeaReportFacts::entries>("entries"), ColumnOf<&CoffeaReportFacts::processtime>("processtime"),
    ColumnOf<&CoffeaReportFacts::chunks>("chunks"),   ColumnOf<&CoffeaReportFacts::columns>("columns"),
};

constexpr Column kCoffeaDatasetFactsColumns[] = {
    ColumnOf<&CoffeaDatasetFacts::datasets>("datasets"),
    ColumnOf<&CoffeaDatasetFacts::entries>("entries"),
    ColumnOf<&CoffeaDatasetFacts::duration>("duration"),
    ColumnOf<&CoffeaDatasetFacts::num_requested_bytes>("num_requested_bytes"),
};

constexpr Column kNeverBegunRowColumns[] = {
    ColumnOf<&NeverBegunRow::reason>("reason", "reason"),
    ColumnOf<&NeverBegunRow::jobs>("jobs", "jobs", Kind::kCount),
};

constexpr Column kRunFactsColumns[] = {
    ColumnOf<&RunFacts::id>("id"),
    ColumnOf<&RunFacts::name>("name"),
    ColumnOf<&RunFacts::command>("command"),
    ColumnOf<&RunFacts::start_ns>("start_ns"),
    ColumnOf<&RunFacts::stop_ns>("stop_ns"),
    ColumnOf<&RunFacts::start>("start"),
    ColumnOf<&RunFacts::boundary>("boundary"),
    ColumnOf<&RunFacts::cores_source>("cores_source"),
    ColumnOf<&RunFacts::busy_time_source>("busy_time_source"),
    ColumnOf<&RunFacts::num_chunks_source>("num_chunks_source"),
    ColumnOf<&RunFacts::total_events_source>("total_events_source"),
    ColumnOf<&RunFacts::bytes_source>("bytes_source"),
    ColumnOf<&RunFacts::columns_source>("columns_source"),
    ColumnOf<&RunFacts::datasets_source>("datasets_source"),
    ColumnOf<&RunFacts::cpu_time_source>("cpu_time_source"),
    ColumnOf<&RunFacts::io_overhead_source>("io_overhead_source"),
    ColumnOf<&RunFacts::allocated_cores_source>("allocated_cores_source"),
    ColumnOf<&RunFacts::exit_status>("exit_status"),
    ColumnOf<&RunFacts::state>("state"),
    ColumnOf<&RunFacts::error>("error"),
    ColumnOf<&RunFacts::engine>("engine"),
    ColumnOf<&RunFacts::never_began>("never_began"),
    ColumnOf<&RunFacts::net_host_wide>("net_host_wide"),
    ColumnOf<&RunFacts::commit>("commit"),
    ColumnOf<&RunFacts::commit_source>("commit_source"),
    ColumnOf<&RunFacts::run_ids>("run_ids"),
    ColumnOf<&RunFacts::coffea_report>("coffea_report"),
    ColumnOf<&RunFacts::metrics_by_dataset>("metrics_by_dataset"),
    ColumnOf<&RunFacts::spans>("spans"),
};

constexpr Column kProvenanceColumns[] = {
    ColumnOf<&Provenance::crema>("crema"), ColumnOf<&Provenance::sources>("sources"),
    ColumnOf<&Provenance::host>("host"),   ColumnOf<&Provenance::created>("created"),
    ColumnOf<&Provenance::logs>("logs"),
};

constexpr Column kTroubleFactsColumns[] = {
    ColumnOf<&TroubleFacts::state>("state"),
    ColumnOf<&TroubleFacts::mark>("mark"),
    ColumnOf<&TroubleFacts::clauses>("clauses"),
};

constexpr Column kQualityColumns[] = {
    ColumnOf<&Quality::records_read>("records_read", "", Kind::kCount, 0, "lines of record logs that were used"),
    ColumnOf<&Quality::records_malformed>("records_malformed", "", Kind::kCount, 0,
                                          "lines that are no record: named in `warnings`, left out"),
    ColumnOf<&Quality::records_torn>("records_torn", "", Kind::kCount, 0, "lines whose rest was never written"),
    ColumnOf<&Quality::records_unknown>("records_unknown", "", Kind::kCount, 0,
                                        "lines of a type that this version does not know"),
    ColumnOf<&Quality::logs_left_out>("logs_left_out", "", Kind::kCount, 0,
                                      "logs that were left out as a whole: empty, of another schema, or unreadable"),
    ColumnOf<&Quality::logs_damaged>("logs_damaged", "", Kind::kCount, 0,
                                     "logs that could not be read to their end: what comes before the damage was used"),
    ColumnOf<&Quality::logs_missing>("logs_missing", "", Kind::kCount, 0,
                                     "logs that are gone from a measurement's `records/` since it was made"),
    ColumnOf<&Quality::records_dropped>("records_dropped", "", Kind::kCount, 0,
                                        "records that processes could not write, and values that guards could not "
                                        "keep, as the processes say at their end"),
    ColumnOf<&Quality::guards_misused>(
        "guards_misused", "", Kind::kCount, 0,
        "of `records_dropped`: guards that were used wrongly, for example a chunk that ended on another thread"),
    ColumnOf<&Quality::records_unwritten>("records_unwritten", "", Kind::kCount, 0,
                                          "of `records_dropped`: lines that the disk did not take; null where a log "
                                          "with losses does not record causes (before minor 10)"),
    ColumnOf<&Quality::values_outside_chunks>("values_outside_chunks", "", Kind::kCount, 0,
                                              "of `records_dropped`: values and guards where no chunk was open; null "
                                              "where a log with losses does not record causes"),
    ColumnOf<&Quality::records_lost>(
        "records_lost", "", Kind::kCount, 0,
        "chunks that ended, as the `end` of their log or their thread's next chunk shows, and have no record"),
    ColumnOf<&Quality::sections_dropped>("sections_dropped", "", Kind::kCount, 0, "section paths beyond the limits"),
    ColumnOf<&Quality::summed_chunks>("summed_chunks", "", Kind::kCount, 0,
                                      "attempts without a line, because the disk had no room: they count in every "
                                      "total, but single ones are not known"),
    ColumnOf<&Quality::tasks_read>("tasks_read", "", Kind::kCount, 0, "task records of an engine"),
    ColumnOf<&Quality::tasks_left_out>("tasks_left_out", "", Kind::kCount, 0,
                                       "tasks of an engine that have no record, because the disk had no room"),
    ColumnOf<&Quality::lost_samples>("lost_samples", "", Kind::kCount, 0,
                                     "samples of native stacks that were due and are in no line; `warnings` has the "
                                     "reasons; null: no process took them"),
    ColumnOf<&Quality::chunks_without_events>("chunks_without_events", "", Kind::kCount, 0,
                                              "results whose events were not recorded"),
    ColumnOf<&Quality::processes_ended>("processes_ended", "", Kind::kCount, 0, "processes that said that they ended"),
    ColumnOf<&Quality::processes_running>("processes_running", "", Kind::kCount, 0,
                                          "processes that still hold their log"),
    ColumnOf<&Quality::processes_lost>("processes_lost", "", Kind::kCount, 0,
                                       "processes that vanished in a chunk, or of which an engine, the kernel or an "
                                       "exit status reports a failure"),
    ColumnOf<&Quality::processes_unreported>("processes_unreported", "", Kind::kCount, 0,
                                             "none of these: nothing says how they ended; all their chunks are "
                                             "recorded (a signal, or `_exit`)"),
    ColumnOf<&Quality::chunks_joined_to_tasks>("chunks_joined_to_tasks", "", Kind::kCount, 0,
                                               "null without an engine's tasks, as the next two"),
    ColumnOf<&Quality::chunks_unjoined>("chunks_unjoined", "", Kind::kCount, 0, "chunks that belong to no task"),
    ColumnOf<&Quality::tasks_without_chunk>("tasks_without_chunk", "", Kind::kCount, 0,
                                            "tasks in which no chunk was recorded"),
    ColumnOf<&Quality::event_coverage>("event_coverage", "", Kind::kShare, 0,
                                       "events in records over the Coffea report's, else over CREMA_TOTAL_EVENTS"),
    ColumnOf<&Quality::fine_metrics_coverage>(
        "fine_metrics_coverage", "", Kind::kShare, 0,
        "share of the engine's own compute seconds that fine seconds in tasks account "
        "for; below 0.99 is flagged"),
    ColumnOf<&Quality::clock_offset_max_s>("clock_offset_max_s", "", Kind::kDuration, 0,
                                           "largest difference between clocks of hosts"),
    ColumnOf<&Quality::clock_step_max_s>("clock_step_max_s", "", Kind::kDuration, 0,
                                         "largest step of a wall clock while a process ran"),
    ColumnOf<&Quality::allocations_cost_s>("allocations_cost_s", "", Kind::kDuration, 0,
                                           "CPU time that counting allocations cost, as each process measured it; part "
                                           "of instrumentation_overhead; null: none were counted"),
    ColumnOf<&Quality::sampling_gap_max_s>("sampling_gap_max_s", "", Kind::kDuration, 0,
                                           "longest time between two samples"),
    ColumnOf<&Quality::workers_unseen>(
        "workers_unseen", "", Kind::kCount, 0,
        "workers of the engine that sent nothing; null where only the engine's log was read"),
    ColumnOf<&Quality::records_lost_bytes>("records_lost_bytes", "", Kind::kMemory, 0,
                                           "records that workers sent and the scheduler could not keep"),
    ColumnOf<&Quality::tree_cpu_sampled>("tree_cpu_sampled", "", Kind::kCount, 0,
                                         "processes whose CPU is known from their last sample only"),
    ColumnOf<&Quality::processes_left_running>("processes_left_running", "", Kind::kCount, 0,
                                               "processes of the command that outlived it"),
    ColumnOf<&Quality::missing_values>("missing_values", "", Kind::kText, 0,
                                       "ok attempts without a value, by quantity"),
    Column{"not_measured", "", "why a metric is null, by key", nullptr, nullptr, nullptr, "", Kind::kText, 0},
    ColumnOf<&Quality::warnings>("warnings", "", Kind::kText, 0, "one line each"),
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
    {"gpu_utilization_percent", "%", "a GPU, `<host>:<index>`: share of the last moments in which some kernel ran"},
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
  for (const NamedTimelines& named : series) {
    if (named.key == key) return named.by_worker.has_value() ? &*named.by_worker : nullptr;
  }
  return nullptr;
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

#include "collector/metrics/catalog/quality_fields.h"

namespace crema {
namespace {

constexpr RowField kQualityFields[] = {
    {"records_read", "count", "lines of record logs that were used"},
    {"records_malformed", "count", "lines that are no record: named in `warnings`, left out"},
    {"records_torn", "count", "lines whose rest was never written"},
    {"records_unknown", "count", "lines of a type that this version does not know"},
    {"logs_left_out", "count", "logs that were left out as a whole: empty, of another schema, or not to be read"},
    {"logs_damaged", "count", "logs that could not be read to their end: what comes before the damage was used"},
    {"logs_missing", "count", "logs that are gone from a measurement's `records/` since it was made"},
    {"records_dropped", "count",
     "records that processes could not write, and values that guards could not keep, as the processes say at their "
     "end"},
    {"guards_misused", "count",
     "of `records_dropped`: guards that were used wrongly, for example a chunk that ended on another thread"},
    {"records_unwritten", "count",
     "of `records_dropped`: lines that the disk did not take; null where a log with losses does not tell causes "
     "(before "
     "minor 10)"},
    {"values_outside_chunks", "count",
     "of `records_dropped`: values and guards where no chunk was open; null where a log with losses does not tell "
     "causes"},
    {"records_lost", "count",
     "chunks that ended, as the `end` of their log or their thread's next chunk tells, and have no record"},
    {"sections_dropped", "count", "section paths beyond the limits"},
    {"summed_chunks", "count",
     "attempts without a line, because the disk had no room: they count in every total, but single ones are not known"},
    {"tasks_read", "count", "task records of an engine"},
    {"tasks_left_out", "count", "tasks of an engine that have no record, because the disk had no room"},
    {"lost_samples", "count",
     "samples of native stacks that were due and are in no line; `warnings` has the reasons; null: no process took "
     "them"},
    {"chunks_without_events", "count", "results that did not tell their events"},
    {"processes_ended", "count", "processes that said that they ended"},
    {"processes_running", "count", "processes that still hold their log"},
    {"processes_lost", "count", "neither: killed, crashed or vanished"},
    {"chunks_joined_to_tasks", "count", "null without an engine's tasks, as the next two"},
    {"chunks_unjoined", "count", "chunks that belong to no task"},
    {"tasks_without_chunk", "count", "tasks in which no chunk was recorded"},
    {"event_coverage", "ratio", "events in records over the Coffea report's, else over CREMA_TOTAL_EVENTS"},
    {"fine_metrics_coverage", "ratio", "in-task fine seconds over the engine's own; below 0.99 is flagged"},
    {"clock_offset_max_s", "s", "largest difference between clocks of hosts"},
    {"clock_step_max_s", "s", "largest step of a wall clock while a process ran"},
    {"allocations_cost_s", "s",
     "CPU time that counting allocations cost, as each process measured it; part of instrumentation_overhead; null: "
     "none "
     "were counted"},
    {"sampling_gap_max_s", "s", "longest time between two samples"},
    {"workers_unseen", "count", "workers of the engine that sent nothing"},
    {"records_lost_bytes", "B", "records that workers sent and the scheduler could not keep"},
    {"tree_cpu_sampled", "count", "processes whose CPU is known from their last sample only"},
    {"processes_left_running", "count", "processes of the command that outlived it"},
    {"missing_values", "", "ok attempts without a value, by quantity"},
    {"not_measured", "", "why a metric is null, by key"},
    {"warnings", "", "one line each"},
};

}  // namespace

absl::Span<const RowField> QualityFields() { return kQualityFields; }

}  // namespace crema

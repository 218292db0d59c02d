#include "collector/insight/run_trouble.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "collector/appearance/human_numbers.h"
#include "collector/insight/lost_workers.h"
#include "collector/insight/run_evidence.h"
#include "fmt/format.h"

namespace crema {
namespace {

void Add(RunTrouble& trouble, Mark mark, std::string clause, std::string brief) {
  if (trouble.brief.empty()) trouble.brief = std::move(brief);
  trouble.clauses.push_back(std::move(clause));
  if (mark == Mark::kBad || trouble.mark == Mark::kGood) trouble.mark = mark;
}

void AddMissingResults(const Measurement& measurement, RunTrouble& trouble) {
  const double unfinished = measurement.Metric("num_unfinished_chunks").value_or(0);
  if (unfinished <= 0) return;
  const double all = measurement.Metric("num_chunks").value_or(0) + unfinished;
  trouble.results_may_lack = true;
  Add(trouble, Mark::kBad,
      fmt::format("{} of {} {} no result", HumanCount(unfinished), Counted(all, "chunk", "chunks"),
                  unfinished == 1 ? "has" : "have"),
      Counted(unfinished, "chunk", "chunks") + " without a result");
}

/// By the engine's own log. Those of lost chunks and of chunks without a result are told as these.
void AddFailedTasks(const Measurement& measurement, RunTrouble& trouble) {
  const double failed = measurement.Metric("num_failed_tasks").value_or(0);
  if (failed <= 0) return;
  const double without_chunk = measurement.Metric("num_failed_tasks_without_chunk").value_or(0);
  const double told = std::max(measurement.Metric("num_unfinished_chunks").value_or(0),
                               measurement.Metric("num_lost_attempts").value_or(0));
  const double shown = failed - without_chunk > told ? failed : without_chunk;
  trouble.results_may_lack = true;
  if (shown <= 0) return;
  std::string clause = fmt::format("{} of {} failed", HumanCount(shown),
                                   Counted(measurement.Metric("num_tasks").value_or(failed), "task", "tasks"));
  if (shown == without_chunk) {
    clause += " without a recorded chunk";
  } else if (without_chunk > 0) {
    clause += fmt::format(", {} without a recorded chunk", HumanCount(without_chunk));
  }
  Add(trouble, without_chunk > 0 ? Mark::kBad : Mark::kWatch, std::move(clause),
      Counted(shown, "task", "tasks") + " failed");
}

void AddLostWorkers(const Measurement& measurement, RunTrouble& trouble) {
  const LostWorkers lost = FindLostWorkers(measurement);
  if (!lost.any()) return;
  const auto count = static_cast<double>(lost.names.size());
  trouble.results_may_lack |= lost.uncertain_chunks > 0;
  std::string clause = fmt::format("{} of {} vanished ({})", HumanCount(count),
                                   Counted(lost.workers, "worker", "workers"), lost.Names());
  if (lost.uncertain_chunks > 0) {
    clause += fmt::format(" after {} whose results may be lost too",
                          Counted(lost.uncertain_chunks, "ended chunk", "ended chunks"));
  }
  Add(trouble, lost.uncertain_chunks > 0 ? Mark::kBad : Mark::kWatch, std::move(clause),
      Counted(count, "worker", "workers") + " lost");
}

void AddIncompleteRecords(const Measurement& measurement, RunTrouble& trouble) {
  const Quality& quality = measurement.quality;
  const std::optional<double> coverage = quality.event_coverage;
  const double dropped = quality.records_dropped.value_or(0);
  trouble.results_may_lack |= coverage.value_or(1) < 1 || dropped > 0;
  const double read = quality.records_read.value_or(0);
  if (coverage.has_value() && MarkOf(KeyFigure::kEventCoverage, *coverage) != Mark::kGood) {
    Add(trouble, MarkOf(KeyFigure::kEventCoverage, *coverage),
        fmt::format("the records hold only {} of the events", HumanPercent(*coverage)), "records incomplete");
  } else if (dropped > 0 && MarkOf(KeyFigure::kDroppedRecords, dropped / (dropped + read)) == Mark::kBad) {
    Add(trouble, Mark::kWatch, Counted(dropped, "record was", "records were") + " lost", "records incomplete");
  }
  const double lost = quality.records_lost.value_or(0);
  trouble.results_may_lack |= lost > 0;
  if (lost > 0) {
    Add(trouble, Mark::kWatch,
        lost == 1 ? "the record of 1 ended chunk is lost"
                  : fmt::format("the records of {} ended chunks are lost", HumanCount(lost)),
        "records incomplete");
  }
}

}  // namespace

RunTrouble FindRunTrouble(const Measurement& measurement) {
  RunTrouble trouble;
  const bool is_running = ReadRunEvidence(measurement).state == RunState::kRunning;
  if (!is_running) AddMissingResults(measurement, trouble);
  if (!is_running) AddFailedTasks(measurement, trouble);
  AddLostWorkers(measurement, trouble);
  if (!is_running) AddIncompleteRecords(measurement, trouble);
  return trouble;
}

}  // namespace crema

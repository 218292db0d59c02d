#include "collector/metrics/record_accumulator.h"

namespace crema {

template <class Fact>
void RecordAccumulator::AddEnded(const LogRef& log, const Fact& fact) {
  processes_.SawChunk(log);
  if (const auto lanes = LanesPeakOf(fact)) processes_.SawLanes(log, *lanes);
  processes_.SawPeak(log, fact.rss_peak_bytes);
  attempts_.Add(log, fact);
  sections_.Add(fact);
  memory_sections_.Add(fact);
  custom_metrics_.Add(fact);
  cuts_.Add(log, fact);
  activities_.Add(log, fact);
  requests_.Add(fact);
  waits_.Add(fact.input.dataset, fact.waits);
  files_.Add(fact);
}

void RecordAccumulator::Add(const LogRef& log, const Record& record) {
  switch (record.type) {
    case RecordType::kProcess:
      break;  // `AddProcess`
    case RecordType::kBegin:
      processes_.Add(log, record.begin);
      attempts_.Add(log, record.begin);
      break;
    case RecordType::kChunk:
      processes_.SawAlive(log, record.chunk.stop_ns);
      AddEnded(log, record.chunk);
      attributes_.Add(record.chunk);
      break;
    case RecordType::kSums:
      processes_.SawAlive(log, record.sums.time_ns);
      sums_.Add(log, record.sums);
      break;
    case RecordType::kTask:
      processes_.SawAlive(log, record.task.stop_ns);
      processes_.SawEngine(log, record.task.worker);
      tasks_.Add(log, record.task);
      break;
    case RecordType::kFine:
      processes_.SawAlive(log, record.fine.time_ns);
      processes_.SawEngine(log, record.fine.worker);
      fine_.Add(log, record.fine);
      break;
    case RecordType::kClock:
      processes_.Add(log, record.clock);
      break;
    case RecordType::kStacks:
      processes_.SawAlive(log, record.stacks.time_ns);
      functions_.Add(record.stacks);
      break;
    case RecordType::kAllocations:
      processes_.SawAlive(log, record.allocations.time_ns);
      allocations_.Add(log.log_hash, record.allocations);
      break;
    case RecordType::kGpu:
      processes_.SawAlive(log, record.gpu.time_ns);
      gpu_.Add(log, record.gpu);
      break;
    case RecordType::kTaskSums:
      processes_.SawAlive(log, record.task_sums.time_ns);
      task_sums_.Add(log, record.task_sums);
      break;
    case RecordType::kSample:
      processes_.Add(log, record.sample);
      process_metrics_.Add(log, record.sample.time_ns, record.sample.metrics);
      break;
    case RecordType::kFile:
      files_.Add(record.file);
      break;
    case RecordType::kSpan:
      processes_.SawAlive(log, record.span.stop_ns);
      spans_.Add(record.span);
      break;
    case RecordType::kEnd:
      processes_.Add(log, record.end);
      process_metrics_.Add(log, record.end.time_ns, record.end.metrics);
      break;
  }
}

void RecordAccumulator::Merge(RecordAccumulator other) {
  const std::vector<uint32_t> logs = processes_.Merge(other.processes_);
  attempts_.Merge(std::move(other.attempts_), logs);
  sections_.Merge(other.sections_);
  memory_sections_.Merge(other.memory_sections_);
  custom_metrics_.Merge(other.custom_metrics_);
  process_metrics_.Merge(other.process_metrics_, logs);
  cuts_.Merge(other.cuts_, logs);
  activities_.Merge(other.activities_, logs);
  attributes_.Merge(other.attributes_);
  requests_.Merge(other.requests_);
  waits_.Merge(other.waits_);
  functions_.Merge(other.functions_);
  allocations_.Merge(other.allocations_);
  gpu_.Merge(other.gpu_, logs);
  task_sums_.Merge(other.task_sums_, logs);
  files_.Merge(other.files_);
  spans_.Merge(other.spans_);
  tasks_.Merge(other.tasks_, logs);
  fine_.Merge(other.fine_, logs);
  sums_.Merge(other.sums_, logs);
}

RecordFindings RecordAccumulator::Finalize(const WorkLimits& limits) && {
  RecordFindings findings;
  findings.sums = sums_.Finalize([this](const LogRef& log, const SumsFact& sums) { AddEnded(log, sums); });
  std::vector<AttemptKey> results;
  findings.processes = processes_.Finalize();
  findings.attempts =
      std::move(attempts_).Finalize(findings.processes, cuts_.empty() && gpu_.empty() ? nullptr : &results, limits);
  Omissions& omissions = findings.omissions;
  findings.sections = sections_.Finalize(findings.attempts.nested_ns);
  omissions.section_paths = SaturatingAdd(findings.sections.sections_dropped, findings.processes.dropped_paths);
  omissions.inconsistent_chunks = findings.sections.inconsistent_chunks;
  findings.tables.memory_sections = memory_sections_.Finalize(&omissions.memory_paths);
  process_metrics_.AddTo(&custom_metrics_);
  findings.tables.custom_metrics = custom_metrics_.Finalize(&omissions.metrics);
  findings.tables.cuts = cuts_.Finalize(results, &omissions.cuts);
  findings.activities = activities_.Finalize(findings.processes, &omissions.activities);
  findings.tables.attributes = std::move(attributes_).Finalize(&omissions.attributes);
  findings.tables.requests = requests_.Finalize(&omissions.requests);
  findings.waits = waits_.Finalize();
  findings.tables.functions = functions_.Finalize(&omissions.functions);
  findings.allocations = allocations_.Finalize(&findings.sections.rows, &findings.processes.sections);
  findings.gpu = gpu_.Finalize(results, &findings.sections.rows, &findings.processes.sections);
  findings.task_sums = task_sums_.Finalize();
  findings.files = files_.Finalize();
  omissions.columns = findings.files.columns_truncated;
  findings.spans = spans_.Finalize(&omissions.spans);
  findings.tasks = tasks_.Finalize(findings.processes);
  findings.fine = fine_.Finalize(findings.processes, &omissions.fine);
  return findings;
}

}  // namespace crema

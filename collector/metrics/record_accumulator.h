// All that records add up to: the accumulators of every family, fed by one stream of facts.
#pragma once

#include "collector/measurement/measurement.h"
#include "collector/metrics/attempts/attempt_table.h"
#include "collector/metrics/engine/task_join.h"
#include "collector/metrics/recorded/activity_table.h"
#include "collector/metrics/recorded/custom_tables.h"
#include "collector/metrics/recorded/recorded_tables.h"
#include "collector/metrics/recorded/sampled_tables.h"
#include "collector/metrics/recorded/section_table.h"
#include "collector/metrics/recorded/task_sums_table.h"
#include "collector/metrics/workers/process_table.h"
#include "collector/records/facts.h"

namespace crema {

/// How many things found no room (docs/limits.md, "Kept short"), or were left out for another stated reason.
struct Omissions {
  int64_t section_paths = 0;
  int64_t memory_paths = 0;
  int64_t metrics = 0;
  int64_t cuts = 0;
  int64_t activities = 0;
  int64_t fine = 0;
  int64_t attributes = 0;
  int64_t requests = 0;
  int64_t functions = 0;
  bool columns = false;
  bool spans = false;
  int64_t inconsistent_chunks = 0;  ///< sections that claim more than their chunk's duration
};

/// Everything that records say, in an order that depends on nothing but the records.
struct RecordFindings {
  ProcessFindings processes;
  AttemptFindings attempts;
  SectionFindings sections;
  std::vector<EngineFineSum> activities;
  std::vector<WaitCount> waits;
  FileFindings files;
  std::vector<SpanRow> spans;
  TaskFindings tasks;
  std::vector<EngineFineSum> fine;
  SumsFindings sums;
  Omissions omissions;
  AllocationFindings allocations;
  GpuFindings gpu;
  TaskSumsFindings task_sums;
  /// The tables that need nothing but records: memory sections, custom metrics, attributes, cuts, requests, functions.
  Measurement tables;
};

/// The monoid of records: any partition into accumulators, merged in any order, gives the same findings.
class RecordAccumulator {
 public:
  /// Attempts that have no room in memory go there; it outlives this.
  void SpillTo(RowSpill* spill) { attempts_.SpillTo(spill); }
  /// Call when this part is complete. Frees the write buffers.
  void Seal() { attempts_.Seal(); }
  /// Begins a log, or goes on with one: the facts that follow belong to its process.
  LogRef AddProcess(const ProcessFact& fact, bool running) { return processes_.Add(fact, running); }
  /// The rest of the log could not be read.
  void SawDamage(const LogRef& log) { processes_.SawDamage(log); }
  /// Adds a record of any type but `process`.
  void Add(const LogRef& log, const Record& record);
  /// Why stacks of native code are missing, in some processes or threads.
  std::vector<std::string> StacksRefused() const { return functions_.refused(); }
  /// Takes ownership; does not copy.
  void Merge(RecordAccumulator other);
  /// The findings so far; more may be added afterwards.
  RecordFindings Finalize() const& { return RecordAccumulator(*this).Finalize(); }
  /// The same without a copy of the attempts; nothing may be added afterwards.
  RecordFindings Finalize(const WorkLimits& limits = {}) &&;

 private:
  /// A chunk, or the last word on what chunks without a line came to: it enters the same tables as they would have.
  template <class Fact>
  void AddEnded(const LogRef& log, const Fact& fact);

  ProcessTable processes_;
  AttemptTable attempts_;
  SectionTable sections_;
  MemorySectionTable memory_sections_;
  CustomMetricTable custom_metrics_;
  ProcessMetrics process_metrics_;  // until all of it is read, as `sums_`
  CutTable cuts_;
  ActivityTable activities_;
  AttributeTable attributes_;
  RequestTable requests_;
  WaitTable waits_;
  FunctionTable functions_;
  FileTable files_;
  SpanTable spans_;
  TaskTable tasks_;
  FineTable fine_;
  SumsTable sums_;  // until all of it is read: a later line replaces an earlier one
  AllocationTable allocations_;
  GpuTable gpu_;
  TaskSumsTable task_sums_;
};

}  // namespace crema

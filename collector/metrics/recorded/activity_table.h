// Activities that chunks recorded (`TrackActivity`, `RecordActivity`): native fine metrics.
#pragma once

#include "collector/metrics/statistics/bounded_names.h"
#include "collector/metrics/statistics/optional_sum.h"
#include "collector/metrics/workers/process_table.h"
#include "collector/records/facts.h"

namespace crema {

/// Accumulator: one sum for each process and list of texts, of which the last is the unit. Beyond `max_rows` some rows,
/// always the same ones (docs/limits.md), are together in one for each unit, all other texts of which are `(other)`;
/// where there are too many units, in one without a value.
class ProcessSums {
 public:
  struct Row {
    uint32_t process = 0;  ///< index of the finished process; `kAllProcesses`: those that found no room
    std::vector<std::string> texts;
    std::optional<double> value;  ///< nullopt: the sum left the range of a double, or is of several units
  };
  static constexpr uint32_t kAllProcesses = 0xffffffff;

  explicit ProcessSums(size_t max_rows);

  /// A value that is not finite is left out and counts as dropped. Call `MakeRoom` after a few of them.
  void Add(const LogRef& log, std::initializer_list<std::string_view> texts, std::optional<double> value);
  void MakeRoom() {
    if (names_.full()) Prune();
  }
  /// `logs`: what `ProcessTable::Merge` returned.
  void Merge(const ProcessSums& other, const std::vector<uint32_t>& logs);
  /// Rows by process and texts. `dropped`: readings that found no room, so that they are in `(other)`, or were not
  /// finite.
  std::vector<Row> Finalize(const ProcessFindings& processes, int64_t* dropped) const;

 private:
  struct Sum {
    uint32_t log = 0;  // one of the process's
    int64_t readings = 0;
    RealSum value;

    void Add(const Sum& other) {
      log = other.log;
      readings += other.readings;
      value.Add(other.value);
    }
  };
  Sum& Find(std::string_view name, uint32_t log);
  void Prune() {
    names_.Prune().ApplySumming(sums_, [](Sum& to, const Sum& from) { to.Add(from); });
  }

  NamesWithOther names_;
  std::vector<Sum> sums_;
  int64_t not_finite_ = 0;
};

/// A finished row: the sum of one activity in one unit, of one worker's tasks of one prefix, or chunks, in one span.
struct EngineFineSum {
  uint32_t process = 0;  ///< index of the finished process; `ProcessSums::kAllProcesses`: those that found no room
  std::string context;   ///< `native`: of chunks
  std::string span;      ///< empty: none
  std::string function;  ///< task prefix; empty: none
  std::string activity;
  std::string unit;
  double value = 0;  ///< infinite: the sum left the range of a double, or is of several units
};

/// Accumulator of the `activities` of chunk lines, over ended attempts. No list of names or units is known here.
class ActivityTable {
 public:
  static constexpr size_t kMaxRows = 10000;

  void Add(const LogRef& log, const ChunkFact& chunk);
  /// Sums have no span.
  void Add(const LogRef& log, const SumsFact& sums);
  /// `logs`: what `ProcessTable::Merge` returned.
  void Merge(const ActivityTable& other, const std::vector<uint32_t>& logs) { sums_.Merge(other.sums_, logs); }
  /// Rows by process, span, activity, unit. `dropped`: readings that found no room, so that they are
  /// in `(other)`, or were not finite.
  std::vector<EngineFineSum> Finalize(const ProcessFindings& processes, int64_t* dropped) const;

 private:
  ProcessSums sums_{kMaxRows};
};

/// Accumulator of fine lines. No list of names or units is known here.
class FineTable {
 public:
  static constexpr size_t kMaxRows = 100'000;

  void Add(const LogRef& log, const FineFact& fact);
  /// `logs`: what `ProcessTable::Merge` returned.
  void Merge(const FineTable& other, const std::vector<uint32_t>& logs) { sums_.Merge(other.sums_, logs); }
  /// Rows by process, context, span, function, activity, unit. `dropped`: readings that found no room, so that they are
  /// in `(other)`, or were not finite.
  std::vector<EngineFineSum> Finalize(const ProcessFindings& processes, int64_t* dropped) const;

 private:
  ProcessSums sums_{kMaxRows};
};

}  // namespace crema

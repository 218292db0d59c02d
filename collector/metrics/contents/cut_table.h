// The cut flow (`RecordCut`): summed over results, so it is kept by attempt until the results are known.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "collector/measurement/recorded.h"
#include "collector/metrics/attempts/attempt_table.h"
#include "collector/metrics/statistics/bounded_names.h"
#include "collector/records/facts.h"

namespace crema {

/// Accumulator of the `cuts` of `ok` chunk lines: a few bytes for each cut of each attempt. Cuts that have a path are
/// parts of flows; those that have none are a list.
class CutTable {
 public:
  static constexpr size_t kMaxCuts = 1000;     ///< rows
  static constexpr size_t kMaxNames = 10'000;  ///< kept apart until their order is known

  void Add(const LogRef& log, const ChunkFact& chunk);
  /// Each summed `ok` attempt is a result.
  void Add(const LogRef& log, const SumsFact& sums);
  /// `logs`: what `ProcessTable::Merge` returned.
  void Merge(const CutTable& other, const std::vector<uint32_t>& logs);

  bool empty() const { return attempts_.empty(); }
  /// Rows in the order of the cuts (`OrderCuts`): the list, then each flow, in it each cut behind its parent.
  /// `results`: sorted. `dropped`: readings of cuts beyond `kMaxCuts`. Beyond `kMaxNames` it is not known which cut was
  /// the first or the one before, so no row has an efficiency.
  std::vector<CutRow> Finalize(const std::vector<AttemptKey>& results, int64_t* dropped) const;

 private:
  struct Attempt {
    AttemptKey key;
    uint64_t offset = 0;  // into `readings_`
  };
  struct Reading {
    uint32_t cut = 0;
    uint64_t events = 0;
    std::optional<double> weights;
    std::optional<uint64_t> seen;
  };
  void Append(const Reading& reading);
  void AppendAll(const std::vector<Reading>& readings);
  /// Those of an attempt in other `readings`, but for cuts that have no new index.
  template <class NewIndex>
  void AppendKnown(const std::string& readings, uint64_t offset, const NewIndex& new_index);
  static Reading Take(const std::string& readings, uint64_t& offset);
  static uint64_t TakeNumber(const std::string& readings, uint64_t& offset);
  /// Those whose name has room; the others are counted.
  std::vector<Reading> KnownReadings(const std::vector<CutFact>& cuts);
  void AppendNumber(uint64_t number);

  void MakeRoom();
  void Renumber(const Renumbering& renumbering);

  BoundedNames names_{kMaxNames};
  NamesByPosition recent_;
  std::vector<Attempt> attempts_;
  int64_t refused_ = 0;               // readings of names that found no room
  std::vector<uint64_t> of_results_;  // offsets: readings that are results' whatever attempts there are
  std::string readings_;  // of each attempt: how many, then each as cut, events, what else there is, weights, seen
};

}  // namespace crema

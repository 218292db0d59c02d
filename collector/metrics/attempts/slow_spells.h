// Slowness that lasted only a while: of a worker, a host, a file, a dataset, or of everything.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "collector/metrics/attempts/attempt_row.h"
#include "collector/metrics/attempts/attempt_rows.h"
#include "collector/metrics/attempts/stragglers.h"

namespace crema {

/// From the narrowest to all.
enum class SpellOf : uint8_t { kFile, kWorker, kHost, kDataset, kRun };

std::string_view ToString(SpellOf of);

/// In a spell, chunks take at least so many times what their datasets' fits give.
inline constexpr double kSpellFactor = 1.5;

struct SlowSpell {
  SpellOf of = SpellOf::kRun;
  uint32_t group = 0;    ///< index of the file, process, host or dataset; 0 of the run
  int64_t start_ns = 0;  ///< Unix time: the first begin and the last stop of its chunks
  int64_t stop_ns = 0;
  int64_t attempts = 0;
  double duration_seconds = 0;
  double predicted_seconds = 0;                        ///< what the fits give for their events
  StragglerReason reason = StragglerReason::kUnknown;  ///< where most of the excess went

  double excess_seconds() const { return duration_seconds - predicted_seconds; }
};

/// Where attempts belong. Hosts are those of the processes. Without names, files and datasets are no groups.
struct SpellGroups {
  const std::vector<uint32_t>& dataset_of_input;  ///< in its pass
  const std::vector<uint32_t>& file_of_input;
  const std::vector<uint32_t>& host_of_process;
  bool has_files = true;
  bool has_datasets = true;
};

/// Largest excess first; of spells that overlap in time only the one with most of it, and of those that have nearly as
/// much, the narrowest. A spell has 5 `ok` attempts or more that the fits judge, of which 7 in 10 are slow by
/// themselves, and no single one has half of the excess; it holds at most 8 tenths of what its group should take, and
/// outside it the group is not slow.
std::vector<SlowSpell> FindSlowSpells(const AttemptRows& attempts, const SpellGroups& groups,
                                      const std::vector<DatasetFit>& fits);

/// The attempt's file, process, host or dataset; 0 of the run. `Attempt`: what has `input` and `process`.
template <class Attempt>
uint32_t GroupOf(SpellOf of, const Attempt& attempt, const SpellGroups& groups) {
  switch (of) {
    case SpellOf::kFile:
      return groups.file_of_input[attempt.input];
    case SpellOf::kWorker:
      return attempt.process;
    case SpellOf::kHost:
      return groups.host_of_process[attempt.process];
    case SpellOf::kDataset:
      return groups.dataset_of_input[attempt.input];
    case SpellOf::kRun:
      break;
  }
  return 0;
}

/// Whether the attempt belongs to the spell's group, and began and ended in the spell.
inline bool IsInSpell(const AttemptRow& attempt, const SlowSpell& spell, const SpellGroups& groups) {
  return attempt.start_ns >= spell.start_ns && attempt.stop_ns() <= spell.stop_ns &&
         GroupOf(spell.of, attempt, groups) == spell.group;
}

/// Spells that get a reason: the others cost less, and are not shown.
inline constexpr size_t kMostExplainedSpells = 100;

/// Sets the reason of the first spells: computing, waiting for a CPU, blocked or waiting for helpers, by what their
/// chunks took of it beyond what chunks of their datasets take elsewhere. Unknown where their CPU time is.
void ExplainSpells(const AttemptRows& attempts, const std::vector<HelperTimes>& helpers, const SpellGroups& groups,
                   const std::vector<DatasetFit>& fits, std::vector<SlowSpell>* spells);

/// Chunks of a sample on each side: enough for a share, and few enough to be found again in the logs.
inline constexpr size_t kMostSampledChunks = 1000;

struct SampledAttempt {
  size_t attempt = 0;  ///< index into the attempts
  uint32_t dataset = 0;
  int64_t predicted_ns = 0;  ///< by its dataset's fit
};

struct SpellSample {
  std::vector<SampledAttempt> inside;
  std::vector<SampledAttempt> elsewhere;  ///< of the same datasets
};

/// Evenly spread over the attempts that fits judge.
SpellSample SampleSpell(const AttemptRows& attempts, const SlowSpell& spell, const SpellGroups& groups,
                        const std::vector<DatasetFit>& fits);

}  // namespace crema

// Several measurements side by side: what should be equal and is not, and what changed by how much.
#pragma once

#include "collector/comparison/paired_change.h"
#include "collector/measurement/measurement.h"

namespace crema {

// What two measurements, or two sides of several, differ by, in a few sentences.

/// Runs of one side and what people call it.
struct ComparedSide {
  std::vector<const Measurement*> documents;
  std::string name;
};

/// First how the elapsed time differs, and in which parts of the budget. Then why: the time in chunks with its range
/// and the sections that changed, the waiting for a CPU, memory. Then what else differs, and what makes a run
/// incomplete. `paired`: the comparison piece by piece; null: nobody asked for it.
std::string ComparisonSentence(const ComparedSide& before, const ComparedSide& after,
                               const PairedChange* paired = nullptr);

// How the elapsed time of runs differs, and in which parts of the budget: the parts add up to the difference.

/// Seconds. The range (90 %) is known where each side has several runs, or one of them has three.
struct ElapsedDifference {
  double seconds = 0;
  std::optional<double> low;
  std::optional<double> high;
};

struct ElapsedPart {
  std::string part;  ///< as the document's `budget` names it
  ElapsedDifference difference;
};

struct ElapsedChange {
  double before = 0;  ///< mean wall time of the side
  double after = 0;
  ElapsedDifference difference;
  /// A part's core-seconds over the cores that the run had on average: the time for which the part kept all of them.
  /// Largest first; empty where a run has no budget.
  std::vector<ElapsedPart> parts;
};

// The tree of sections of two runs, or of two sides, with what each section took more or less: what is in a section
// adds up to it, and the roots add up to the difference of the time in chunks.

/// Seconds of owners; of several runs a side their mean. These were measured; how sure a difference is, is said of
/// top-level sections (paired_change.h).
struct SectionDifference {
  std::string path;
  int depth = 0;  ///< 0: a top-level section, or `(other)`
  double before = 0;
  double after = 0;
  double self_difference = 0;  ///< without the sections inside it
  double difference() const { return after - before; }
};

/// Depth first, siblings by the size of their difference.
std::vector<SectionDifference> CompareSectionTrees(const std::vector<const Measurement*>& before,
                                                   const std::vector<const Measurement*>& after);

/// One quantity in every measurement.
struct ComparedValue {
  std::string key;                            ///< of the document: a metric, or a field of a row
  std::string label;                          ///< for people; may be empty
  std::string unit;                           ///< as docs/metrics.md writes it
  std::vector<std::optional<double>> values;  ///< one a measurement; empty: not measured, or no such row
  /// (value - first) / |first|, one a measurement; empty where either is unknown or the first is 0. The first has 0.
  std::vector<std::optional<double>> changes;

  bool differs() const;
};

/// The fields of the rows of one name: a dataset, a section.
struct ComparedRow {
  std::string name;
  std::vector<ComparedValue> fields;
};

/// Runs of one name are named by what the paths of their sources differ in (`before`, `after`), where that
/// distinguishes them. `sources`: the path that each was read from; empty: they are not known.
std::vector<std::string> NamesOfRuns(const std::vector<const Measurement*>& documents,
                                     const std::vector<std::string>& sources);

struct ComparedRun {
  /// Distinguished: as above, else `ttbar`, `ttbar (2)`.
  std::string name;
  std::string id;
  std::string state;
};

struct Comparison {
  std::vector<ComparedRun> runs;
  std::vector<PairedChange> paired;    ///< of each run but the first, piece by piece; empty: only documents are known
  std::vector<std::string> sentences;  ///< of each run but the first, how it differs from that
  std::vector<ElapsedChange> elapsed;  ///< of each run but the first; empty where a wall time is missing
  /// With several runs a side, all of them: `runs` and all values then are of the sides, means over their runs.
  std::vector<ComparedRun> runs_before;
  std::vector<ComparedRun> runs_after;
  /// Events and cuts: the same analysis of the same data gives the same, whatever machine it ran on.
  std::vector<ComparedValue> should_be_equal;
  std::vector<SectionDifference> section_tree;  ///< of two runs, or of two sides
  std::vector<ComparedValue> metrics;  ///< in docs/metrics.md's order, without aliases; those measured in one of them
  std::vector<ComparedRow> datasets;
  std::vector<ComparedRow> sections;  ///< a helper's are named `path (helper)`
  std::vector<ComparedRow> waits;     ///< by kind

  /// The values of `should_be_equal` that differ. A value that only some measurements know differs.
  std::vector<ComparedValue> Unequal() const;
};

/// Pure; documents with missing fields are compared in what they have. The first is what the others are compared with.
/// `paired`: of each other run, how it compares with the first piece by piece; empty: that is not known. `sources`: the
/// path that each was read from; empty: they are not known.
Comparison Compare(const std::vector<const Measurement*>& documents, std::vector<PairedChange> paired = {},
                   const std::vector<std::string>& sources = {});

/// The same of two sides of several runs: what should be equal is so where it is in all of them.
Comparison CompareSides(const std::vector<const Measurement*>& before, const std::vector<const Measurement*>& after,
                        std::vector<PairedChange> paired = {});

/// The schema `crema.comparison/1`.
Json ComparisonAsJson(const Comparison& comparison);

// Gates on a comparison, for continuous integration: `wall_time>5%`.

/// KEY>LIMIT or KEY<LIMIT: falls where the change of KEY against the first measurement is beyond the limit, in any of
/// the others. With `%` the change is relative to the first value, else the difference in the key's unit. KEY is a
/// metric, `dataset:NAME:FIELD` or `section:PATH:FIELD`. The gate `unequal` falls where something differs that should
/// be equal.
struct ComparisonGate {
  std::string text;  ///< as it was given
  std::string key;   ///< empty: `unequal`
  bool is_above = true;
  double limit = 0;  ///< of 5 %: 0.05
  bool is_relative = false;
};

/// Errors: InvalidArgument with one line if the text is not a gate.
absl::StatusOr<ComparisonGate> ParseGate(const std::string& text);

struct GateResult {
  bool fell = false;
  std::string sentence;    ///< what was found
  std::string doubt = {};  ///< why this says little; mostly empty
};

/// A gate on a value that was not measured falls: it cannot vouch for anything.
/// Errors: InvalidArgument where no measurement knows the key.
absl::StatusOr<GateResult> Judge(const ComparisonGate& gate, const Comparison& comparison);

/// A gate as it was asked for, and what became of it.
struct JudgedGate {
  std::string text;
  GateResult result;
};

/// `--fail-on-sure PERCENT`, for each run or side but the first: falls where the work in its chunks took longer by
/// more than that, with its whole range. It does not fall where that is not known. Adds to `judged`.
void JudgeSure(double percent, const Comparison& comparison, std::vector<JudgedGate>* judged);

/// `--fail-on-unclear`: falls where it is not known whether the work took longer.
void JudgeUnclear(const Comparison& comparison, std::vector<JudgedGate>* judged);

}  // namespace crema

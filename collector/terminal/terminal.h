// What `crema run`, `crema show` and `crema top` print for people: the summary and its blocks, one table, one metric, a
// running job on one screen.
//
// Pure functions of the measurement document (docs/measurements.md). They compute no metric, never
// fail on a document with missing or null fields (a block without data says why in one line), and end in a newline.
#pragma once

#include "collector/comparison/comparison.h"
#include "collector/terminal/document_table.h"
#include "nlohmann/json.hpp"

namespace crema {

class LiveModel;
struct LiveFigures;
struct Prediction;
struct RunHistory;
struct ScalingStudy;
struct SourceState;

struct ChunkListing {
  Json rows;                        ///< the attempts, in order; fields as in `crema export --to chunks`
  std::vector<CellColumn> columns;  ///< what is shown of them
  std::string sorted_by;
  int64_t matched = 0;                  ///< of these many that match the rows are the first
  int64_t seen = 0;                     ///< of these many in all
  std::string near;                     ///< where none matches: `; did you mean ttbar?`, or empty
  int64_t summed = 0;                   ///< beside these: they have no line of their own
  std::optional<int64_t> run_start_ns;  ///< Unix time; starts are shown from here on
};

/// The rows as a table, and how many there are that it does not show.
std::string RenderChunkList(const ChunkListing& listing, const TerminalStyle& style);

/// The headline, then each verdict: sign, id and saving, its sentence, the evidence with its keys, the suggestion.
/// `rows` as in the document's `verdicts`. Ends in a newline.
std::string RenderVerdicts(const std::string& headline, const std::vector<VerdictRow>& rows,
                           const TerminalStyle& style);

/// The whole picture: where the core-seconds went in one sentence first, then key figures, budget, sections, time,
/// datasets, cut flow, findings, and whether all this can be trusted last. Every line of the box has the same width.
std::string RenderSummary(const Measurement& measurement, const TerminalStyle& style);

/// The names `RenderTable` knows, in the order in which `crema show --help` lists them.
std::vector<std::string_view> TableNames();

/// The metrics that the table `memory` begins with.
absl::Span<const std::string_view> MemoryTableMetrics();

/// One table of the measurement. A table without rows is one line that says why.
/// Columns that do not fit `style.width` are left out and named under the table.
/// Errors: InvalidArgument with the known names for an unknown table.
absl::StatusOr<std::string> RenderTable(const Measurement& measurement, std::string_view table,
                                        const TerminalStyle& style);

/// One metric: value, unit, definition and source, or null with the reason.
/// Errors: NotFound with similar keys where the document has no such metric.
absl::StatusOr<std::string> RenderMetric(const Measurement& measurement, std::string_view key,
                                         const TerminalStyle& style);

/// First what should be equal and is not, then the key figures and every other metric that changed, then datasets and
/// sections. No line is wider than `style.width`.
std::string RenderComparison(const Comparison& comparison, const std::vector<JudgedGate>& gates,
                             const TerminalStyle& style);

/// The sentences; for each compared run the sections that changed, with their ranges, and the parts of its elapsed
/// time; what should be equal and is not; the gates.
std::string ComparisonAsMarkdown(const Comparison& comparison, const std::vector<JudgedGate>& gates);

/// One test suite `crema compare`, a test case for each gate, in the format of JUnit that continuous integration reads
/// (https://github.com/testmoapp/junitxml). Valid XML whatever runs and sections are called.
std::string GatesAsJunit(const std::vector<JudgedGate>& gates);
/// Stands in each of these files.
inline constexpr std::string_view kSuiteOfGates = "<testsuite name=\"crema compare\"";

/// A sentence, a row for each run, a row for each fit or why there is none, then what to keep in mind. Ends in a
/// newline.
std::string RenderScaling(const ScalingStudy& scaling, const TerminalStyle& style);

/// What the run took and what its replay takes, then a row for each change, or why there is none. Ends in a newline.
std::string RenderPrediction(const Prediction& prediction, const TerminalStyle& style);

/// Sentences, the latest `rows` runs, each level, then what to keep in mind. Ends in a newline.
std::string RenderHistory(const RunHistory& history, size_t rows, const TerminalStyle& style);

// The blocks of the summary, from top to bottom, and the tables among them.

/// How the run ended: `✓ finished`.
PaintedText StateText(const Measurement& measurement);

/// `2026-11-21 14:02:11 – 14:08:28 UTC · 8 workers × 4 cores on 2 hosts`, as far as it is known.
std::string WhenAndOnWhat(const Measurement& measurement);

/// A key figure, with its bar, and its mark against its band: what a narrow box has no room for is left out, notes from
/// the last on, but not a reason. How many lines it took.
int DrawKeyFigure(const KeyFigureRow& row, TerminalBox* box);

struct BarOfRow {
  double share = 0;  ///< of the longest bar
  Paint paint = Paint::kCompute;
  std::string below = "";       ///< a line under the row: what it consists of
  std::string instead_of = "";  ///< why there is no bar
};

struct SummaryTable {
  std::string_view name;  ///< of `crema show --table`
  std::string title = "";
  std::string_view bars_are = "";  ///< what bars are shares of, where a title has to say so
  std::string why_not = "";        ///< why there are no rows
  TextTable text = {};
  std::vector<BarOfRow> bars = {};  ///< one a row, or none
  size_t left_out = 0;              ///< rows beyond those that a summary shows
};

/// The core-seconds by the groups of the budget. Its title says of what cores, if it `has_room`.
SummaryTable BudgetSummary(const Measurement& measurement, bool has_room = true);

/// `waiting for a CPU, inside these times: 1.2 s (16 %)`: how long the sections waited during their own times. Empty if
/// they hardly waited.
std::string WaitInsideSections(const Measurement& measurement);

/// By own time, the slowest first; `(other)` is always among them: without it the shares would not add up.
SummaryTable SectionSummary(const Measurement& measurement);

SummaryTable DatasetSummary(const Measurement& measurement);

SummaryTable WorkerSummary(const Measurement& measurement);

SummaryTable CutSummary(const Measurement& measurement);

/// `crema top`: at most `rows` lines, each ended by a newline and as wide as the others: progress, key figures, where
/// the last half minute went, workers, what happened. From 24 rows on all of it is there; below, the last blocks are
/// cut.
std::string RenderLive(const LiveModel& model, const LiveFigures& figures, const std::vector<SourceState>& sources,
                       const TerminalStyle& style, int rows);

/// The same in one line, for files and pipes. While nothing is recorded it says what is wrong with the sources.
std::string RenderLiveLine(const LiveModel& model, const LiveFigures& figures, const std::vector<SourceState>& sources);

}  // namespace crema

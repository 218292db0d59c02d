// What `crema run` and `crema show` print for people: the summary, one table, one metric.
//
// Pure functions of the measurement document (docs/measurements.md). They compute no metric, never
// fail on a document with missing or null fields (a block without data says why in one line), and end in a newline.
#pragma once

#include "collector/comparison/comparison.h"
#include "collector/measurement/findings.h"
#include "collector/measurement/measurement.h"
#include "collector/terminal/terminal_box.h"
#include "nlohmann/json.hpp"

namespace crema {

struct Prediction;
struct RunHistory;
struct ScalingStudy;

struct ChunkListing {
  Json rows;  ///< the attempts, in order; fields as in `crema export --to chunks`
  std::string sorted_by;
  int64_t matched = 0;                  ///< of these many that match the rows are the first
  int64_t seen = 0;                     ///< of these many in all
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
std::string RenderComparison(const Comparison& comparison, const TerminalStyle& style);

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

}  // namespace crema

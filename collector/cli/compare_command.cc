// `crema compare`: measurements side by side, and gates on how they differ.
#include <unistd.h>

#include "collector/charts/study_charts.h"
#include "collector/cli/measured_source.h"
#include "collector/cli/plot_output.h"
#include "collector/cli/subcommand.h"
#include "collector/exports/export_format.h"
#include "collector/insight/comparison.h"
#include "collector/insight/comparison_gate.h"
#include "collector/insight/paired_change.h"
#include "collector/insight/run_pieces.h"
#include "collector/records/loose_json.h"
#include "collector/writers/terminal.h"
#include "fmt/format.h"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

struct CompareOptions {
  std::vector<std::string> sources;
  std::vector<std::string> before;
  std::vector<std::string> after;
  std::vector<std::string> gates;
  std::string run;
  std::optional<double> sure_percent;
  bool fail_on_unclear = false;
  bool json = false;
  bool markdown = false;
  std::string junit;
  PlotOutput chart;
  int width = 0;
  OutputOptions output;
};

std::vector<ComparisonGate> ParseGates(const std::vector<std::string>& texts) {
  std::vector<ComparisonGate> gates;
  for (const std::string& text : texts) {
    absl::StatusOr<ComparisonGate> gate = ParseGate(text);
    if (!gate.ok()) throw CLI::ValidationError("--fail-on", std::string(gate.status().message()));
    gates.push_back(*std::move(gate));
  }
  return gates;
}

std::string AsJson(const Comparison& comparison, const std::vector<JudgedGate>& gates) {
  Json document = ComparisonAsJson(comparison);
  document["gates"] = Json::array();
  for (const JudgedGate& gate : gates) {
    document["gates"].push_back({{"gate", gate.text}, {"fell", gate.result.fell}, {"sentence", gate.result.sentence}});
  }
  return JsonText(document, 1) + "\n";
}

/// What a source's chunks did; `why_not` where they are not there.
struct ReadPieces {
  RunPieces pieces;
  std::string why_not;
};

ReadPieces PiecesOf(const MeasuredSource& source) {
  ReadPieces read;
  if (const auto logs = source.FindLogs(); logs.ok() && logs->logs_missing > 0) {
    read.why_not = fmt::format("{} of its logs are gone since the measurement was made", logs->logs_missing);
    return read;
  }
  const absl::Status status = source.ForEachAttempt([&read](const Attempt& attempt) { read.pieces.Add(attempt); });
  if (!status.ok()) read.why_not = std::string(status.message());
  read.pieces.ForgetSinglePass();
  return read;
}

/// The first source against each other one, piece by piece.
std::vector<PairedChange> CompareAllPieces(const std::vector<MeasuredSource>& sources) {
  std::vector<PairedChange> changes;
  const ReadPieces first = PiecesOf(sources.front());
  for (size_t i = 1; i < sources.size(); ++i) {
    const ReadPieces other = PiecesOf(sources[i]);
    if (first.why_not.empty() && other.why_not.empty()) {
      changes.push_back(ComparePieces(first.pieces, other.pieces));
    } else {
      changes.emplace_back().why_not = first.why_not.empty() ? other.why_not : first.why_not;
    }
  }
  return changes;
}

PairedChange CompareSidesPieces(const std::vector<MeasuredSource>& before, const std::vector<MeasuredSource>& after) {
  std::vector<RunPieces> sides[2];
  for (const auto* side : {&before, &after}) {
    for (const MeasuredSource& source : *side) {
      ReadPieces read = PiecesOf(source);
      if (!read.why_not.empty()) {
        PairedChange not_known;
        not_known.why_not = std::move(read.why_not);
        return not_known;
      }
      sides[side == &before ? 0 : 1].push_back(std::move(read.pieces));
    }
  }
  return CompareSides(sides[0], sides[1]);
}

/// Runs of a side are taken in the order in which they ran, whatever the order in which they are named.
std::vector<MeasuredSource> OpenSide(const std::vector<std::string>& paths, const CompareOptions& options) {
  std::vector<MeasuredSource> sources = OpenAll(paths, options.run, options.output.quiet);
  const auto start_of = [](const MeasuredSource& source) { return source.measurement().run.start_ns.value_or(0); };
  std::stable_sort(sources.begin(), sources.end(),
                   [&](const MeasuredSource& a, const MeasuredSource& b) { return start_of(a) < start_of(b); });
  return sources;
}

Comparison CompareSources(const CompareOptions& options) {
  if (!options.sources.empty()) {
    const std::vector<MeasuredSource> sources = OpenAll(options.sources, options.run, options.output.quiet);
    return Compare(MeasurementsOf(sources), CompareAllPieces(sources), options.sources);
  }
  const std::vector<MeasuredSource> before = OpenSide(options.before, options);
  const std::vector<MeasuredSource> after = OpenSide(options.after, options);
  return CompareSides(MeasurementsOf(before), MeasurementsOf(after), {CompareSidesPieces(before, after)});
}

/// Two sources or more, or both sides. Throws a usage error.
void CheckSources(const CompareOptions& options) {
  const bool has_sides = !options.before.empty() || !options.after.empty();
  if (has_sides && !options.sources.empty()) {
    throw CLI::ValidationError("SOURCE", "give the runs either one after the other, or with --before and --after");
  }
  if (has_sides && (options.before.empty() || options.after.empty())) {
    throw CLI::ValidationError(options.before.empty() ? "--before" : "--after", "the other side has no run");
  }
  if (!has_sides && options.sources.size() < 2) throw CLI::ValidationError("SOURCE", "at least two are needed");
}

int RunCompare(const CompareOptions& options) {
  CheckSources(options);
  CheckChart(options.chart);
  const std::vector<ComparisonGate> gates = ParseGates(options.gates);  // wrong usage, before anything is read
  const Comparison comparison = CompareSources(options);
  std::vector<JudgedGate> judged;
  for (const ComparisonGate& gate : gates) {
    const absl::StatusOr<GateResult> result = Judge(gate, comparison);
    if (!result.ok()) {
      PrintError(std::string(result.status().message()));
      return kWrongUsage;
    }
    judged.push_back({gate.text, *result});
  }
  const auto add = [&judged](const std::vector<JudgedGate>& more) {
    judged.insert(judged.end(), more.begin(), more.end());
  };
  if (options.sure_percent.has_value()) add(JudgeSure(*options.sure_percent, comparison));
  if (options.fail_on_unclear) add(JudgeUnclear(comparison));
  if (!options.junit.empty()) {
    OrFail(WriteTextFile(options.junit, GatesAsJunit(judged)));
  }
  if (!options.chart.path.empty()) {
    OrFail(WriteCharts({MakeSectionTreeChart(ComparisonAsJson(comparison))}, options.chart));
  }
  TerminalStyle style = StyleFor(STDOUT_FILENO, options.output);
  if (options.width > 0) style.width = options.width;
  int printed = kDone;
  if (options.json) {
    printed = PrintBesideGate(AsJson(comparison, judged));
  } else if (options.markdown) {
    printed = PrintBesideGate(ComparisonAsMarkdown(comparison, judged));
  } else if (!options.output.quiet) {
    const std::string& last = options.sources.empty() ? options.after.back() : options.sources.back();
    printed = PrintBesideGate(RenderComparison(comparison, style) + NextStep(options.output, "crema predict " + last,
                                                                             "what the next change would bring",
                                                                             style.width));
  }
  bool fell = false;
  for (const JudgedGate& gate : judged) {
    if (gate.result.fell) PrintError(fmt::format("gate {} fell: {}", gate.text, gate.result.sentence));
    fell = fell || gate.result.fell;
  }
  return fell ? kGateFell : printed;
}

}  // namespace

void AddCompareCommand(CLI::App* program, int* status) {
  CLI::App* command = program->add_subcommand("compare", "Show measurements side by side, with their differences");
  command->footer(
      "A gate is KEY>LIMIT or KEY<LIMIT. KEY is a metric, dataset:NAME:FIELD or section:PATH:FIELD. LIMIT is for its\n"
      "change against the first source. The gate `unequal` fails if events or cuts differ. Exit status 3: a gate "
      "failed.\n\n"
      "Example:\n"
      "  crema compare before after\n"
      "  crema compare before after --fail-on 'wall_time>5%' --fail-on 'event_rate_wall_khz<-5%' --fail-on unequal\n"
      "  crema compare --before a1 --before a2 --after b1 --after b2 --fail-on-sure 2");
  auto options = std::make_shared<CompareOptions>();
  command->add_option("SOURCE", options->sources, "Measurements, directories of record logs, roastcoffea measurements");
  const auto side = [command](const char* name, std::vector<std::string>* into, const char* help) {
    command->add_option(name, *into, help)->take_all()->allow_extra_args(false)->option_text("SOURCE");
  };
  side("--before", &options->before, "A run of the first side; give the option once for each run");
  side("--after", &options->after, "A run of the second side; give the option once for each run");
  command->add_option("--fail-on", options->gates, "End with status 3 if this gate fails")
      ->take_all()
      ->allow_extra_args(false)
      ->option_text("GATE");
  command
      ->add_option("--fail-on-sure", options->sure_percent,
                   "End with status 3 if the work in a run's chunks took longer, and the whole range of the difference "
                   "is above PERCENT")
      ->option_text("PERCENT")
      ->check(FiniteNumber(0, kAnyNumber));
  command->add_flag("--fail-on-unclear", options->fail_on_unclear,
                    "End with status 3 if crema cannot say whether the work in a run's chunks took longer");
  command->add_option("--run", options->run, "The run whose records are taken: its id, or all");
  command->add_option("--width", options->width, "Width in columns (default: that of the terminal, else 100)")
      ->check(WholeNumber(1, kAnyCount));
  CLI::Option* json = command->add_flag("--json", options->json, "Print the comparison as JSON");
  command->add_flag("--markdown", options->markdown, "Print the comparison as Markdown, for a merge request")
      ->excludes(json);
  AddChartOptions(command, "Draw the tree of sections with their differences: FILE.png, .svg, .pdf or .json",
                  &options->chart);
  command->add_option("--junit", options->junit, "Write the gates as JUnit's XML")->option_text("FILE");
  AddOutputOptions(command, &options->output);
  command->callback([options, status] { *status = RunCompare(*options); });
}

}  // namespace crema

// `crema compare`: measurements side by side, and gates on how they differ.
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "CLI/App.hpp"
#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"
#include "absl/status/statusor.h"
#include "collector/appearance/human_numbers.h"
#include "collector/cli/measured_source.h"
#include "collector/cli/output_options.h"
#include "collector/cli/subcommand.h"
#include "collector/insight/comparison.h"
#include "collector/insight/comparison_gate.h"
#include "collector/insight/paired_change.h"
#include "collector/insight/run_pieces.h"
#include "collector/writers/terminal_comparison.h"
#include "fmt/format.h"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

struct CompareOptions {
  std::vector<std::string> sources;
  std::vector<std::string> gates;
  std::string run;
  std::optional<double> sure_percent;
  bool fail_on_unclear = false;
  bool json = false;
  int width = 0;
  OutputOptions output;
};

struct JudgedGate {
  std::string text;
  GateResult result;
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
  return document.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

/// The first source against each other one, piece by piece.
std::vector<PairedChange> CompareAllPieces(const std::vector<MeasuredSource>& sources) {
  std::vector<PairedChange> changes;
  RunPieces first;
  std::string first_is_missing;
  for (size_t i = 0; i < sources.size(); ++i) {
    RunPieces pieces;
    const absl::Status read = sources[i].ForEachAttempt([&pieces](const Attempt& attempt) { pieces.Add(attempt); });
    const std::string is_missing = read.ok() ? "" : std::string(read.message());
    if (i == 0) {
      first = std::move(pieces);
      first_is_missing = is_missing;
    } else if (first_is_missing.empty() && is_missing.empty()) {
      changes.push_back(ComparePieces(first, pieces));
    } else {
      changes.emplace_back().why_not = first_is_missing.empty() ? is_missing : first_is_missing;
    }
  }
  return changes;
}

/// Whether a run is slower by more than the limit, with its whole range, or cannot be told from the first.
bool JudgePaired(const CompareOptions& options, const Comparison& comparison) {
  bool fell = false;
  for (size_t i = 0; i < comparison.paired.size(); ++i) {
    const PairedChange& change = comparison.paired[i];
    const std::string& name = comparison.runs[i + 1].name;
    const bool is_known = change.conclusion != ChangeConclusion::kNotKnown;
    if (options.sure_percent.has_value() && is_known && change.low > *options.sure_percent / 100) {
      PrintError(fmt::format("gate --fail-on-sure fell: {} took {} to {} in chunks", name, HumanChange(change.low),
                             HumanChange(change.high)));
      fell = true;
    }
    if (options.fail_on_unclear && (!is_known || change.conclusion == ChangeConclusion::kUnclear)) {
      PrintError(fmt::format("gate --fail-on-unclear fell: whether {} is slower cannot be told{}", name,
                             is_known ? "" : ": " + change.why_not));
      fell = true;
    }
  }
  return fell;
}

int RunCompare(const CompareOptions& options) {
  const std::vector<ComparisonGate> gates = ParseGates(options.gates);  // wrong usage, before anything is read
  std::vector<MeasuredSource> sources;
  for (const std::string& path : options.sources) {
    absl::StatusOr<MeasuredSource> source = MeasuredSource::Open(path, options.run, options.output.quiet);
    if (!source.ok()) return ReportFailure(source.status());
    sources.push_back(*std::move(source));
  }
  std::vector<const Json*> documents;
  for (const MeasuredSource& source : sources) documents.push_back(&source.document());
  const Comparison comparison = Compare(documents, CompareAllPieces(sources));
  std::vector<JudgedGate> judged;
  for (const ComparisonGate& gate : gates) {
    const absl::StatusOr<GateResult> result = Judge(gate, comparison);
    if (!result.ok()) {
      PrintError(std::string(result.status().message()));
      return kWrongUsage;
    }
    judged.push_back({gate.text, *result});
  }
  TerminalStyle style = StyleFor(STDOUT_FILENO, options.output);
  if (options.width > 0) style.width = options.width;
  int printed = kDone;
  if (options.json) {
    printed = PrintOut(AsJson(comparison, judged));
  } else if (!options.output.quiet) {
    printed = PrintOut(RenderComparison(comparison, style));
  }
  bool fell = JudgePaired(options, comparison);
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
      "A gate is KEY>LIMIT or KEY<LIMIT on the change against the first source: of a metric, of dataset:NAME:FIELD or\n"
      "section:PATH:FIELD; the gate `unequal` falls where events or cuts differ. Exit status 3: a gate fell.\n\n"
      "Example:\n  crema compare before after\n"
      "  crema compare before after --fail-on 'wall_time>5%' --fail-on 'event_rate_wall_khz<-5%' --fail-on unequal");
  auto options = std::make_shared<CompareOptions>();
  command->add_option("SOURCE", options->sources, "Measurements, directories of record logs, roastcoffea measurements")
      ->required()
      ->expected(2, 1 << 20);
  command->add_option("--fail-on", options->gates, "End with status 3 where this gate falls")
      ->take_all()
      ->allow_extra_args(false)
      ->option_text("GATE");
  command
      ->add_option("--fail-on-sure", options->sure_percent,
                   "End with status 3 where a run took more than PERCENT longer in its chunks, with its whole range")
      ->option_text("PERCENT");
  command->add_flag("--fail-on-unclear", options->fail_on_unclear,
                    "End with status 3 where it cannot be told whether a run took longer");
  command->add_option("--run", options->run, "Which run's records to take: an id, or all");
  command->add_option("--width", options->width, "Columns (default: the terminal's, else 100)")
      ->check(CLI::PositiveNumber);
  command->add_flag("--json", options->json, "Print the comparison as JSON");
  AddOutputOptions(command, &options->output);
  command->callback([options, status] { *status = RunCompare(*options); });
}

}  // namespace crema

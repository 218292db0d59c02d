// `crema verdict`: what stands out in a run, on which evidence, and what to do; a gate for scripts.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "collector/appearance/similar_names.h"
#include "collector/cli/measured_source.h"
#include "collector/cli/subcommand.h"
#include "collector/insight/headline.h"
#include "collector/insight/verdict_table.h"
#include "collector/insight/verdicts.h"
#include "collector/metrics/measure.h"
#include "collector/prediction/prediction.h"
#include "collector/records/loose_json.h"
#include "collector/writers/terminal.h"

namespace crema {
namespace {

struct VerdictOptions {
  MeasureOptions measure;
  std::string source;
  std::vector<std::string> fail_on;
  bool json = false;
  OutputOptions output;
};

std::vector<std::string_view> Ids() {
  std::vector<std::string_view> ids;
  for (const VerdictRule& rule : VerdictTable()) ids.push_back(rule.id);
  return ids;
}

std::string KnownIds() { return fmt::format("{}", fmt::join(Ids(), ", ")); }

int PrintVerdicts(VerdictOptions options) {
  for (const std::string& id : options.fail_on) {
    // A gate on a misspelt id would never fall.
    if (FindRule(id) == nullptr) {
      throw CLI::ValidationError("--fail-on",
                                 fmt::format("no verdict `{}`{}; there are {}", id, DidYouMean(id, Ids()), KnownIds()));
    }
  }
  if (!options.source.empty()) options.measure.sources = {options.source};
  RequireSource(options.measure);
  const MeasuredRun measured = OrFail(LoadOrMeasure(options.measure, options.output.quiet));

  // Judged anew: an older crema may have judged by other rules.
  const std::vector<Verdict> verdicts = Judge(measured.measurement);
  std::vector<std::string> fallen;
  for (const Verdict& verdict : verdicts) {
    const bool gate = std::find(options.fail_on.begin(), options.fail_on.end(), verdict.id) != options.fail_on.end();
    if (gate) fallen.push_back(verdict.id);
  }
  const std::string headline = Headline(measured.measurement);
  const std::vector<VerdictRow> rows = VerdictRows(verdicts);
  int printed = kDone;
  if (options.json) {
    nlohmann::ordered_json document = {{"headline", headline}, {"verdicts", nullptr}, {"failed_on", fallen}};
    WriteValue(rows, &document["verdicts"]);
    printed = PrintBesideGate(JsonText(document, 1) + "\n");
  } else if (!options.output.quiet) {
    const TerminalStyle style = StyleFor(STDOUT_FILENO, options.output);
    const bool is_predicted = measured.measurement.Metric("num_chunks").value_or(0) >= kFewestChunks;
    const std::string command = is_predicted ? "crema predict " : "crema report ";
    const char* const brings = is_predicted ? "what the usual changes would bring" : "one page, for any browser";
    const std::string next =
        options.source.empty() ? "" : NextStep(options.output, command + options.source, brings, style.width);
    printed = PrintBesideGate(RenderVerdicts(headline, rows, style) + next);
  }
  if (fallen.empty()) return printed;
  PrintError(fmt::format("{} fired", fmt::join(fallen, ", ")));
  return kGateFell;
}

}  // namespace

void AddVerdictCommand(CLI::App* program, int* status) {
  CLI::App* verdict = program->add_subcommand("verdict", "Say what stands out in a run, and on what evidence");
  verdict->footer("Verdicts: " + KnownIds() +
                  "\n\nExample:\n  crema verdict ttbar\n  crema verdict ttbar --fail-on failing-chunks,long-tail");
  auto options = std::make_shared<VerdictOptions>();
  verdict->add_option("SOURCE", options->source, "A measurement, or a directory of record logs");
  verdict->add_option("--fail-on", options->fail_on, "End with status 3 if one of these verdicts fires")
      ->delimiter(',')
      ->take_all();
  verdict->add_option("--run", options->measure.run, "The run whose records are taken: its id, or all");
  AddCoffeaOptions(verdict, &options->measure);
  verdict->add_flag("--json", options->json,
                    "Print JSON: the headline, the verdicts, and which of those that --fail-on names fired");
  AddOutputOptions(verdict, &options->output);
  verdict->callback([options, status] { *status = PrintVerdicts(*options); });
}

}  // namespace crema

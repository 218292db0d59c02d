// `crema predict`: what a change would bring, by a replay of the run's own chunks.
#include <unistd.h>

#include <cstdlib>

#include "collector/cli/measured_source.h"
#include "collector/cli/subcommand.h"
#include "collector/prediction/prediction.h"
#include "collector/records/loose_json.h"
#include "collector/writers/terminal.h"
#include "fmt/format.h"

namespace crema {
namespace {

using Kind = RunChange::Kind;

struct PredictOptions {
  std::string source;
  std::string run;
  std::vector<double> cores, lanes, workers, chunk_events, streams;
  std::vector<std::string> without_worker;
  std::string faster, faster_gpu;
  std::string order = "measured";
  bool without_waiting = false;
  bool all_from_start = false;
  bool json = false;
  OutputOptions output;
};

// `select=2`. Throws a usage error.
RunChange FasterChange(Kind kind, const std::string& text) {
  const size_t equals = text.rfind('=');
  char* end = nullptr;
  const double factor = equals == std::string::npos ? 0 : std::strtod(text.c_str() + equals + 1, &end);
  if (equals == 0 || !(factor > 0) || end == nullptr || *end != 0) {
    throw CLI::ValidationError(kind == Kind::kFaster ? "--faster" : "--faster-gpu",
                               "`" + text + "` is not SECTION=FACTOR, as in select=2");
  }
  return {kind, factor, text.substr(0, equals)};
}

std::vector<RunChange> AskedFor(const PredictOptions& options) {
  std::vector<RunChange> changes;
  const auto add = [&changes](Kind kind, const std::vector<double>& numbers) {
    for (const double number : numbers) changes.push_back({kind, number, ""});
  };
  add(Kind::kCores, options.cores);
  add(Kind::kLanes, options.lanes);
  add(Kind::kWorkers, options.workers);
  add(Kind::kChunkEvents, options.chunk_events);
  add(Kind::kStreams, options.streams);
  for (const std::string& name : options.without_worker) changes.push_back({Kind::kWithoutWorker, 0, name});
  if (options.order == "longest") changes.push_back({Kind::kLongestFirst, 0, ""});
  if (!options.faster.empty()) changes.push_back(FasterChange(Kind::kFaster, options.faster));
  if (!options.faster_gpu.empty()) changes.push_back(FasterChange(Kind::kFasterGpu, options.faster_gpu));
  if (options.without_waiting) changes.push_back({Kind::kWithoutWaiting, 0, ""});
  if (options.all_from_start) changes.push_back({Kind::kAllFromStart, 0, ""});
  return changes;
}

int PrintPrediction(const PredictOptions& options) {
  std::vector<RunChange> changes = AskedFor(options);
  const MeasuredSource source = OrFail(MeasuredSource::Open(options.source, options.run, options.output.quiet));
  const bool asked = !changes.empty();
  std::string section = asked ? "" : LargestSection(source.measurement());
  for (const RunChange& change : changes) {
    if (change.kind != Kind::kFaster && change.kind != Kind::kFasterGpu) continue;
    if (!section.empty() && section != change.name) {
      OrFail(absl::InvalidArgumentError("--faster and --faster-gpu name two sections; ask for one at a time"));
    }
    section = change.name;
  }
  RunObserver observer(section);
  OrFail(source.ForEachAttempt([&observer](const Attempt& attempt) { observer.Add(attempt); }));
  const ObservedRun run = observer.Finish(source.measurement());
  if (asked && !section.empty() && run.events.count == 0 &&
      std::all_of(run.chunks.begin(), run.chunks.end(),
                  [](const ObservedChunk& chunk) { return chunk.section == 0; })) {
    OrFail(absl::NotFoundError("no chunk was in a section `" + section +
                               "`; `crema show SOURCE --table sections` lists them"));
  }
  if (!asked) changes = UsualChanges(run, section);
  const Prediction prediction = Predict(run, changes);
  nlohmann::ordered_json document = PredictionJson(prediction);
  if (!asked) SortBestFirst(&document);
  const TerminalStyle style = StyleFor(STDOUT_FILENO, options.output);
  const std::string next = prediction.refused.empty()
                               ? NextStep(options.output, fmt::format("crema compare {} AFTER", options.source),
                                          "what the change brought, once it is made and run", style.width)
                               : "";
  const int printed = PrintOut(options.json ? JsonText(document, 1) + "\n" : RenderPrediction(document, style) + next);
  return printed != kDone || prediction.refused.empty() ? printed : kFailed;
}

}  // namespace

void AddPredictCommand(CLI::App* program, int* status) {
  CLI::App* predict = program->add_subcommand("predict", "Say how long the run would take after a change");
  predict->footer(
      "crema replays the run's own chunks on lanes, and changes one thing at a time. If you name no change, it tries\n"
      "the usual ones, and shows the best first.\n\n"
      "Example:\n"
      "  crema predict ttbar --cores 8 --cores 16\n"
      "  crema predict ttbar --faster select=2");
  auto options = std::make_shared<PredictOptions>();
  predict->add_option("SOURCE", options->source, "A measurement, or a directory of record logs")->required();
  predict->add_option("--run", options->run, "The run whose records are taken: its id, or all");
  const auto numbers = [predict](const char* name, std::vector<double>* into, const char* help) {
    predict->add_option(name, *into, help)->delimiter(',')->take_all()->check(FiniteNumber(1, 1e9));
  };
  numbers("--cores", &options->cores, "Number of cores; each has as many chunks at once as in the run");
  numbers("--lanes", &options->lanes, "Number of chunks at once, on the cores of the run");
  numbers("--workers", &options->workers, "Number of workers like those of the run");
  numbers("--streams", &options->streams, "Number of events open at once, of task frameworks");
  numbers("--chunk-events", &options->chunk_events, "Number of events in a chunk");
  predict->add_option("--without-worker", options->without_worker, "The other workers do the chunks of this worker")
      ->take_all();
  predict->add_option("--order", options->order, "The chunks that come first: longest, or as measured")
      ->check(CLI::IsMember({"longest", "measured"}));
  predict->add_option("--faster", options->faster, "SECTION=F: this section's code on the CPU is F times as fast");
  predict->add_option("--faster-gpu", options->faster_gpu,
                      "SECTION=F: kernels and copies that this section launches are F times as fast");
  predict->add_flag("--without-waiting", options->without_waiting,
                    "Chunks wait for nothing but GPUs, and CPUs that others use");
  predict->add_flag("--all-from-start", options->all_from_start, "All workers are there from the start to the end");
  predict->add_flag("--json", options->json, "Print JSON");
  AddOutputOptions(predict, &options->output);
  predict->callback([options, status] { *status = PrintPrediction(*options); });
}

}  // namespace crema

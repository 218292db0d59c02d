// Commands that study measurements: `crema compare` with its gates; then `crema predict`, `scaling`, `history`.
#include <cstdlib>

#include "absl/strings/numbers.h"
#include "collector/charts/chart.h"
#include "collector/cli/measured_source.h"
#include "collector/comparison/comparison.h"
#include "collector/comparison/paired_change.h"
#include "collector/format/worker_names.h"
#include "collector/history/run_history.h"
#include "collector/idioms/file_system.h"
#include "collector/idioms/sequences.h"
#include "collector/metrics/statistics/bounded_names.h"
#include "collector/prediction/observed_run.h"
#include "collector/records/json_fields.h"
#include "collector/scaling/scaling_study.h"
#include "collector/sources/process_tree/allocated_cores.h"
#include "collector/terminal/terminal.h"

namespace crema {
namespace {

// Each of these sources. Throws a `Failure` where one cannot be opened.
std::vector<MeasuredSource> OpenAll(const std::vector<std::string>& paths, const std::string& run, bool quiet) {
  std::vector<MeasuredSource> sources;
  for (const std::string& path : paths) sources.push_back(OrFail(MeasuredSource::Open(path, run, quiet)));
  return sources;
}

std::vector<const Measurement*> MeasurementsOf(const std::vector<MeasuredSource>& sources) {
  return Mapped<const Measurement*>(sources, [](const MeasuredSource& source) { return &source.measurement(); });
}

struct CompareOptions {
  std::vector<std::string> sources;
  std::vector<std::string> before;
  std::vector<std::string> after;
  std::vector<std::string> gates;
  std::string run;
  std::optional<double> sure_percent;
  bool fail_on_unclear = false;
  bool markdown = false;
  std::string junit;
  PlotOutput chart;
  OutputOptions output;
};

/// The value. Throws a usage error where there is none.
template <class Value>
Value OrWrongUsage(const char* option, absl::StatusOr<Value> value) {
  if (!value.ok()) throw CLI::ValidationError(option, std::string(value.status().message()));
  return *std::move(value);
}

std::string ComparisonJson(const Comparison& comparison, const std::vector<JudgedGate>& gates) {
  Json document = ComparisonAsJson(comparison);
  document["gates"] = Mapped<Json>(gates, [](const JudgedGate& gate) {
    return Json{{"gate", gate.text}, {"fell", gate.result.fell}, {"sentence", gate.result.sentence}};
  });
  return JsonText(document, 1) + "\n";
}

RunPieces PiecesOf(const MeasuredSource& source) {
  RunPieces pieces;
  if (const auto logs = source.FindLogs(); logs.ok() && logs->logs_missing > 0) {
    pieces.why_not = fmt::format("{} of its logs are gone since the measurement was made", logs->logs_missing);
    return pieces;
  }
  const absl::Status status = source.ForEachAttempt([&pieces](const Attempt& attempt) { pieces.Add(attempt); });
  if (!status.ok()) pieces.why_not = std::string(status.message());
  pieces.ForgetSinglePass();
  return pieces;
}

/// The first side, of `first` sources, against all others together, or (`each`) against each, piece by piece.
std::vector<PairedChange> CompareAllPieces(const std::vector<MeasuredSource>& sources, size_t first, bool each) {
  std::vector<PairedChange> changes;
  std::vector<RunPieces> before, after;
  for (size_t i = 0; i < first; ++i) before.push_back(PiecesOf(sources[i]));
  for (size_t i = first; i < sources.size(); ++i) {
    after.push_back(PiecesOf(sources[i]));
    if (!each && i + 1 < sources.size()) continue;
    changes.push_back(CompareSides(before, after));
    after.clear();
  }
  return changes;
}

/// Runs of a side are taken in the order in which they ran, whatever the order in which they are named. One that is
/// given twice counts once. Its id and its start identify it; without an id, its path and its start.
std::vector<MeasuredSource> OpenSide(const std::vector<std::string>& paths, const CompareOptions& options) {
  std::map<std::pair<double, std::string>, MeasuredSource> runs;
  for (MeasuredSource& source : OpenAll(paths, options.run, options.output.quiet)) {
    const RunFacts& run = source.measurement().run;
    const std::string named = source.Named();
    const std::string id = run.id.empty() ? std::filesystem::weakly_canonical(named).string() : run.id.str();
    if (!runs.try_emplace({run.start_ns.value_or(0), id}, std::move(source)).second) {
      PrintError(named + ": its side has this run already; it counts once");
    }
  }
  std::vector<MeasuredSource> sources;
  for (auto& [start, source] : runs) sources.push_back(std::move(source));
  return sources;
}

/// Behind a longer run its functions, or how to get them; else a prediction.
std::string NextOfLast(const MeasuredSource& last, const PairedChange& change, const OutputOptions& output) {
  const bool is_slower = change.conclusion == ChangeConclusion::kSlower;
  if (is_slower && !last.measurement().functions.empty()) {
    return NextStep(output, fmt::format("crema show {} --table functions", last.Named()), "what takes the time now");
  }
  if (is_slower && !last.measurement().AskedForStacks()) {
    return NextRun(output, last.measurement(), "--stacks ", "the functions of each section");
  }
  return NextPrediction(last, output, "what the next change would bring");
}

/// `next`: the step behind it, of the last run.
Comparison CompareSources(const CompareOptions& options, std::string* next) {
  const bool each = !options.sources.empty();
  std::vector<MeasuredSource> sources =
      each ? OpenAll(options.sources, options.run, options.output.quiet) : OpenSide(options.before, options);
  const size_t first = each ? 1 : sources.size();
  for (MeasuredSource& source : OpenSide(options.after, options)) sources.push_back(std::move(source));
  std::vector<PairedChange> changes = CompareAllPieces(sources, first, each);
  if (!options.markdown) *next = NextOfLast(sources.back(), changes.back(), options.output);
  const std::vector<const Measurement*> all = MeasurementsOf(sources);
  if (each) return Compare(all, std::move(changes), options.sources);
  const auto after = all.begin() + static_cast<ptrdiff_t>(first);
  return CompareSides({all.begin(), after}, {after, all.end()}, std::move(changes));
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

/// Makes way for new gates where old ones are.
void RemoveOldGates(const std::string& path) {
  if (!std::filesystem::is_regular_file(path)) return;
  if (ReadText(path).value_or("").find(kSuiteOfGates) == std::string::npos) {
    throw Failure(absl::AlreadyExistsError(path + ": crema did not write it; give --junit another name"));
  }
  std::filesystem::remove(path);
}

int RunCompare(const CompareOptions& options) {
  CheckSources(options);
  CheckChart(options.chart);
  std::vector<ComparisonGate> gates;  // wrong usage, before anything is read
  for (const std::string& text : options.gates) gates.push_back(OrWrongUsage("--fail-on", ParseGate(text)));
  std::string next;
  const Comparison comparison = CompareSources(options, &next);
  std::vector<JudgedGate> judged;
  for (const ComparisonGate& gate : gates)
    judged.push_back({gate.text, OrWrongUsage("--fail-on", Judge(gate, comparison))});
  if (options.sure_percent.has_value()) JudgeSure(*options.sure_percent, comparison, &judged);
  if (options.fail_on_unclear) JudgeUnclear(comparison, &judged);
  if (!options.junit.empty()) {
    RemoveOldGates(options.junit);
    OrFail(WriteTextFile(options.junit, GatesAsJunit(judged)));
  }
  if (!options.chart.path.empty()) OrFail(WriteCharts({MakeSectionTreeChart(comparison.section_tree)}, options.chart));
  int printed = kExitDone;
  if (options.output.json) {
    printed = PrintBesideGate(ComparisonJson(comparison, judged));
  } else if (options.markdown) {
    printed = PrintBesideGate(ComparisonAsMarkdown(comparison, judged));
  } else if (!options.output.quiet) {
    printed = PrintBesideGate(RenderComparison(comparison, judged, StyleFor(STDOUT_FILENO, options.output)) + next);
  }
  bool fell = false;
  for (const JudgedGate& gate : judged) {
    if (gate.result.fell) PrintError(fmt::format("gate {} failed: {}", gate.text, gate.result.sentence));
    if (!gate.result.doubt.empty()) PrintError(fmt::format("gate {}: {}", gate.text, gate.result.doubt));
    fell = fell || gate.result.fell;
  }
  return fell ? kExitGateFell : printed;
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
      "  crema compare before after --fail-on 'chunk_cpu_time>5%' --fail-on unequal\n"
      "  crema compare --before a1 --before a2 --after b1 --after b2 --fail-on-sure 2");
  auto options = std::make_shared<CompareOptions>();
  command->add_option("SOURCE", options->sources, "Measurements, directories of record logs, roastcoffea measurements");
  const auto side = [command](const char* name, std::vector<std::string>* into, const char* help) {
    command->add_option(name, *into, help)->take_all()->option_text("SOURCE");
  };
  side("--before", &options->before, "A run of the first side; give the option once for each run");
  side("--after", &options->after, "A run of the second side; give the option once for each run");
  command->add_option("--fail-on", options->gates, "End with status 3 if this gate fails")
      ->take_all()
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
  command->add_option("--width", options->output.width, "Width in columns (default: that of the terminal, else 100)")
      ->check(WholeNumber(1, kAnyCount));
  CLI::Option* json = command->add_flag("--json", options->output.json, "Print the comparison as JSON");
  command->add_flag("--markdown", options->markdown, "Print the comparison as Markdown, for a merge request")
      ->excludes(json);
  AddChartOptions(command, "Draw the tree of sections with their differences: FILE.png, .svg, .pdf or .json",
                  &options->chart);
  command->add_option("--junit", options->junit, "Write the gates as JUnit's XML")->option_text("FILE");
  AddOutputOptions(command, &options->output);
  command->callback([options, status] { *status = RunCompare(*options); });
}

// `crema predict`: what a change would bring, by a replay of the run's own chunks.

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
  OutputOptions output;
};

// `select=2`. Throws a usage error.
RunChange FasterChange(Kind kind, const std::string& text) {
  const size_t equals = text.rfind('=');
  double factor = 0;
  if (equals == 0 || equals == text.npos || !absl::SimpleAtod(text.substr(equals + 1), &factor) || !(factor > 0)) {
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
  if (options.source.empty()) throw CLI::RequiredError("SOURCE");
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
  const ObservedRun run = OrFail(Observe(source, section));
  if (asked && !section.empty() && run.events.count == 0 &&
      absl::c_all_of(run.chunks, [](const ObservedChunk& chunk) { return chunk.section == 0; })) {
    const auto paths = Mapped<std::string_view>(source.measurement().sections, &SectionRow::path);
    OrFail(absl::NotFoundError("no chunk was in a section `" + section + "`" + DidYouMean(section, paths) +
                               (section == kOtherName ? ": this is the time of chunks outside sections"
                                                      : "; `crema show SOURCE --table sections` lists them")));
  }
  if (!asked) changes = UsualChanges(run, section);
  Prediction prediction = Predict(run, changes);
  if (!asked) SortBestFirst(&prediction);
  const TerminalStyle style = StyleFor(STDOUT_FILENO, options.output, source.Named());
  const std::string next = absl::c_any_of(prediction.rows, std::mem_fn(&PredictedRow::has_answer))
                               ? NextStep(options.output, fmt::format("crema compare {} AFTER", source.Named()),
                                          "what the change brought, once it is made and run")
                               : NextPrediction(source, options.output, "what the usual changes would bring");
  const int printed = PrintOut(options.output.json ? JsonText(PredictionJson(prediction), 1) + "\n"
                                                   : RenderPrediction(prediction, style) + next);
  return printed != kExitDone || prediction.refused.empty() ? printed : kExitFailed;
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
  predict->add_option("SOURCE", options->source, "A measurement, or a directory of record logs");
  predict->add_option("--run", options->run, "The run whose records are taken: its id, or all");
  const auto numbers = [predict](const char* name, std::vector<double>* into, const char* help) {
    predict->add_option(name, *into, help)->delimiter(',')->take_all()->check(FiniteNumber(1, 1e9));
  };
  numbers("--cores", &options->cores, "Number of cores; the chunks at once (threads) grow with them");
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
                    "Chunks are never blocked: they wait only for GPUs, and for CPUs that others use");
  predict->add_flag("--all-from-start", options->all_from_start, "All workers are there from the start to the end");
  predict->add_flag("--json", options->output.json, "Print JSON");
  AddOutputOptions(predict, &options->output);
  predict->callback([options, status] { *status = PrintPrediction(*options); });
}

// `crema scaling`: runs on different numbers of cores, or what one run would take on others.

namespace {

struct ScalingOptions {
  std::vector<std::string> sources;
  std::string run;
  PlotOutput chart;
  OutputOptions output;
};

int PrintScaling(const ScalingOptions& options) {
  CheckChart(options.chart);
  const std::vector<MeasuredSource> sources = OpenAll(options.sources, options.run, options.output.quiet);
  const ScalingStudy study = sources.size() == 1
                                 ? PredictScaling(sources.front().measurement(), OrFail(Observe(sources.front(), "")))
                                 : StudyScaling(MeasurementsOf(sources), options.sources);
  const size_t first = study.points.empty() ? 0 : study.points.front().source;
  const size_t last = study.points.empty() ? sources.size() - 1 : study.points.back().source;
  const std::string next = sources.size() == 1
                               ? NextPrediction(sources.front(), options.output, "what other changes would bring")
                               : NextStep(options.output,
                                          fmt::format("crema compare {} {}{}", ShellWord(options.sources[first]),
                                                      ShellWord(options.sources[last]),
                                                      options.run.empty() ? "" : " --run " + ShellWord(options.run)),
                                          "what differs between the first and the last");
  const int printed =
      PrintOut(options.output.json ? JsonText(ScalingAsJson(study), 1) + "\n"
                                   : RenderScaling(study, StyleFor(STDOUT_FILENO, options.output)) + next);
  if (printed != kExitDone || !study.refused.empty()) return kExitFailed;
  if (!options.chart.path.empty()) OrFail(WriteCharts({MakeScalingChart(study)}, options.chart));
  return kExitDone;
}

}  // namespace

void AddScalingCommand(CLI::App* program, int* status) {
  CLI::App* command = program->add_subcommand("scaling", "Compare runs on different numbers of cores");
  command->footer(
      "The runs are of one analysis, each on another number of cores: with the same input, or with input that grows\n"
      "with the cores. From four numbers of cores on, crema fits Amdahl's law and the Universal Scalability Law. If\n"
      "there is only one run, crema replays it on other numbers of cores, and calls the answer a prediction.\n\n"
      "Example:\n  crema scaling on_1 on_2 on_4 on_8 --chart scaling.svg\n  crema scaling on_4");
  auto options = std::make_shared<ScalingOptions>();
  command->add_option("SOURCE", options->sources, "Measurements, or directories of record logs")->required();
  command->add_option("--run", options->run, "The run whose records are taken: its id, or all");
  AddChartOptions(command, "Also draw a chart: FILE.png, .svg, .pdf or .json", &options->chart);
  command->add_flag("--json", options->output.json, "Print JSON");
  AddOutputOptions(command, &options->output);
  command->callback([options, status] { *status = PrintScaling(*options); });
}

// `crema history`: one figure of many measurements by time, and since when it has its level.

namespace {

struct HistoryOptions {
  std::vector<std::string> directories;
  HistoryChoice choice;
  std::optional<double> worse_percent;
  bool fail_on_unclear = false;
  size_t rows = 20;
  PlotOutput chart;
  OutputOptions output;
};

std::string NextOfHistory(const RunHistory& history, const OutputOptions& options) {
  if (history.runs.size() < kLeastValues) {
    return NextStep(options, "crema run -o DIR/NAME -- COMMAND", "one more run, in the directory of the others");
  }
  const size_t at = history.points.segments.back().begin;
  const auto source_at = [&history](size_t run) { return ShellWord(history.runs[run].directory); };
  if (at == 0) return NextReport(options, source_at(history.runs.size() - 1));
  return NextStep(options, fmt::format("crema compare {} {}", source_at(at - 1), source_at(at)),
                  "the last run before the latest change, and the first after it");
}

int PrintHistory(const HistoryOptions& options) {
  CheckChart(options.chart);
  std::vector<std::string> metrics = {std::string(kWorkOfRun), std::string(kTimeOfRun), std::string(kRateOfRun)};
  if (!options.choice.metric.empty()) metrics = {options.choice.metric};
  std::vector<HistoryRun> runs = OrFail(ReadHistory(options.directories, metrics, AffinityCores().value_or(1)));
  const RunHistory history = OrFail(StudyHistory(std::move(runs), options.choice));
  std::string worse;
  if (options.worse_percent.has_value())
    worse = OrWrongUsage("--fail-on-worse", WorseThanBefore(history, *options.worse_percent / 100));
  int done = kExitDone;
  if (options.output.json) {
    done = PrintBesideGate(JsonText(HistoryAsJson(history), 1) + "\n");
  } else if (!options.output.quiet) {
    done = PrintBesideGate(RenderHistory(history, options.rows, StyleFor(STDOUT_FILENO, options.output)) +
                           NextOfHistory(history, options.output));
  }
  if (done != kExitDone) return done;
  if (!options.chart.path.empty()) OrFail(WriteCharts({MakeHistoryChart(history)}, options.chart));
  const std::string unclear = options.fail_on_unclear ? WhyNotJudged(history) : "";
  if (!worse.empty()) PrintError("gate --fail-on-worse failed: " + worse);
  if (!unclear.empty()) PrintError("gate --fail-on-unclear failed: " + unclear);
  return worse.empty() && unclear.empty() ? kExitDone : kExitGateFell;
}

}  // namespace

void AddHistoryCommand(CLI::App* program, int* status) {
  CLI::App* command = program->add_subcommand("history", "Find the run and the commit at which a figure changed");
  command->footer(
      "crema takes measurements, and those in directories that you name, and orders them by the start of their runs.\n"
      "It leaves out runs that failed, were killed or did not end. Exit status 3: the gate failed.\n\n"
      "Example:\n"
      "  crema history nightly/\n"
      "  crema history nightly/ --metric process_peak_rss_bytes --last 100 --fail-on-worse 5");
  auto options = std::make_shared<HistoryOptions>();
  command->add_option("DIR", options->directories, "Measurements, or directories that hold them")->required();
  command->add_option("--metric", options->choice.metric,
                      "The figure (default: work, the time in chunks without waiting for a CPU, else wall_time; "
                      "event_rate_wall_khz if the runs' events differ)");
  command->add_option("--name", options->choice.name, "Only runs of this name");
  command->add_option("--last", options->choice.last, "Only the latest N runs (default and most: 10000)")
      ->check(WholeNumber(1, kAnyCount));
  command->add_option("--rows", options->rows, "Number of runs in the table (default: 20)")
      ->check(WholeNumber(0, kAnyCount));
  AddChartOptions(command, "Also draw a chart: FILE.png, .svg, .pdf or .json", &options->chart);
  command
      ->add_option("--fail-on-worse", options->worse_percent,
                   "End with status 3 if the latest level is worse than the best level before, and the whole range of "
                   "the difference is above PERCENT")
      ->option_text("PERCENT")
      ->check(FiniteNumber(0, kAnyNumber));
  command->add_flag("--fail-on-unclear", options->fail_on_unclear,
                    "End with status 3 if it is not known whether the latest runs are worse");
  command->add_flag("--json", options->output.json, "Print JSON");
  AddOutputOptions(command, &options->output);
  command->callback([options, status] { *status = PrintHistory(*options); });
}

}  // namespace crema

#include "examples/zjets/options.h"

#include <stdexcept>

#include "CLI/CLI.hpp"

namespace zjets {
namespace {

/// NAME=FILE[,FILE...]
Dataset ParseDataset(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == 0 || equals == std::string::npos || equals + 1 == text.size()) {
    throw CLI::ValidationError("--dataset", "expected NAME=FILE[,FILE...], found '" + text + "'");
  }
  return {text.substr(0, equals), CLI::detail::split(text.substr(equals + 1), ',')};
}

void SetDefaultFiles(const std::string& directory, Options* options) {
  const std::string prefix = directory + "/pylhe-testfile-madgraph";
  if (options->datasets.empty()) {
    for (const std::string name : {"ckkwl", "fxfx", "mlm"}) {
      options->datasets.push_back({name, {prefix + "-2.2.1-Z-" + name + ".lhe.gz"}});
    }
  }
  if (options->pileup_file.empty()) options->pileup_file = prefix + "5-3.5.8-pp_to_jj.lhe.gz";
}

}  // namespace

std::optional<Options> ParseOptions(int argc, char** argv, int* exit_status) {
  Options options;
  std::string data_directory = "examples/data";
  std::vector<std::string> datasets;
  CLI::App app(
      "Selects Z bosons with jets in Les Houches event files, under pile-up, and prints the cut flow.\n"
      "Example: crema run -- zjets --processes 2 --output zjets.json",
      "zjets");
  app.add_option("--data", data_directory, "folder of the default files")->capture_default_str();
  app.add_option("--dataset", datasets, "NAME=FILE[,FILE...]; may be repeated [the three Z+jets samples]")
      ->take_all()
      ->allow_extra_args(false);
  app.add_option("--events", options.events, "events per file; 0: all")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option("--chunk", options.chunk, "events per chunk")->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--repeat", options.repeat, "passes over the data, each with another pile-up")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--pileup", options.pileup, "events that are laid over each event; 0: none, and no subtraction")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option("--pileup-file", options.pileup_file, "file from which pile-up is drawn [the di-jet sample]");
  app.add_option("--ghost-area", options.ghost_area,
                 "area of a ghost: smaller ones measure jet areas better, and take longer")
      ->check(CLI::Range(0.001, 1.0))
      ->capture_default_str();
  app.add_option("--processes", options.processes, "worker processes; 0: work in this one")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  app.add_option("--threads", options.threads, "threads per worker process, each with chunks of its own")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  app.add_option("--helpers", options.helpers, "further threads that help each of them with its chunk")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  app.add_option("-o,--output", options.output, "write histograms to this file (JSON)");
  try {
    app.parse(argc, argv);
    for (const std::string& dataset : datasets) options.datasets.push_back(ParseDataset(dataset));
  } catch (const CLI::ParseError& error) {
    *exit_status = app.exit(error) == 0 ? 0 : 2;
    return std::nullopt;
  }
  SetDefaultFiles(data_directory, &options);
  return options;
}

}  // namespace zjets

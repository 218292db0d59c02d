#include "collector/cli/live_options.h"

#include <charconv>
#include <cstdint>
#include <filesystem>
#include <optional>

#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"
#include "collector/cli/measured_source.h"

namespace crema {
namespace {

std::optional<int64_t> EventsOf(const std::string& text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number <= 0) return std::nullopt;
  return number;
}

std::string NameOf(const std::string& source) {
  std::filesystem::path path = std::filesystem::path(source).lexically_normal();
  if (path.filename().empty()) path = path.parent_path();
  if (path.filename() == "records") path = path.parent_path();
  const std::string name = path.filename().string();
  return name.empty() || name == "." ? source : name;
}

}  // namespace

void AddLiveOptions(CLI::App* subcommand, LiveCommandOptions* options) {
  subcommand
      ->add_option("SOURCE", options->sources,
                   "Directories of record logs (of `crema run`, or CREMA_DIR), single logs, " + EngineAddressesHelp())
      ->required();
  subcommand->add_option("--name", options->name, "Name of the run (default: the name of the first source)");
  subcommand->add_option("--run", options->run,
                         "The run whose records are taken: its id, or all (default: the first run that is seen)");
  subcommand
      ->add_option("--total-events", options->total_events,
                   "Events that the whole run will process, or DATASET=EVENTS for each dataset. Progress and time left "
                   "need it (default: CREMA_TOTAL_EVENTS of the job)")
      ->delimiter(',')
      ->take_all()
      ->option_text("N|DATASET=N,...");
}

LiveOptions ReadLiveOptions(const LiveCommandOptions& options) {
  LiveOptions live;
  live.name = options.name.empty() ? NameOf(options.sources.front()) : options.name;
  live.run = options.run;
  for (const std::string& total : options.total_events) {
    const size_t equals = total.rfind('=');
    const std::optional<int64_t> events = EventsOf(equals == std::string::npos ? total : total.substr(equals + 1));
    if (!events.has_value()) {
      throw CLI::ValidationError("--total-events", "`" + total + "` is neither a number of events nor DATASET=NUMBER");
    }
    if (equals == std::string::npos) {
      live.total_events = events;
    } else {
      live.total_events_of_dataset[total.substr(0, equals)] = *events;
    }
  }
  return live;
}

}  // namespace crema

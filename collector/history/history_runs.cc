#include "collector/history/history_runs.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <set>
#include <string_view>
#include <system_error>
#include <thread>
#include <tuple>

#include "absl/status/status.h"
#include "collector/measurement/measurement_schema.h"
#include "fmt/format.h"
#include "simdjson.h"

namespace crema {
namespace {

namespace fs = std::filesystem;
using simdjson::dom::element;

constexpr char kDocument[] = "measurement.json";

std::string Text(const element& object, std::string_view key) {
  std::string_view text;
  return object[key].get(text) == simdjson::SUCCESS ? std::string(text) : std::string();
}

std::optional<double> Number(const element& object, std::string_view key) {
  double number = 0;
  if (object[key].get(number) != simdjson::SUCCESS) return std::nullopt;
  return number;
}

std::optional<int64_t> Integer(const element& object, std::string_view key) {
  int64_t number = 0;
  if (object[key].get(number) != simdjson::SUCCESS) return std::nullopt;
  return number;
}

std::string WhyNot(const element& run, int64_t start_ns) {
  const std::string state = Text(run, "state");
  if (state == "running") return "it had not ended";
  if (state == "killed") return "it was killed";
  if (state == "failed") return "it failed with " + Text(run, "error");
  const int64_t status = Integer(run, "exit_status").value_or(0);
  if (status != 0) return fmt::format("its command ended with status {}", status);
  if (start_ns == 0) return "it does not say when it began";
  return state.empty() ? "nothing says how it ended (`crema run` records it)" : "";
}

void ReadDocument(const element& document, const std::vector<std::string>& metrics, HistoryRun* read) {
  element run, figures, definitions;
  if (document["run"].get(run) != simdjson::SUCCESS || document["metrics"].get(figures) != simdjson::SUCCESS) {
    read->why_not = "its document has no run or no metrics";
    return;
  }
  read->name = Text(run, "name");
  read->id = Text(run, "id");
  read->commit = Text(run, "commit");
  read->start_ns = Integer(run, "start_ns").value_or(0);
  read->why_not = WhyNot(run, read->start_ns);
  read->events = Number(figures, "total_events");
  read->cores = Number(figures, "peak_cores");
  const bool is_defined = document["definitions"].get(definitions) == simdjson::SUCCESS;
  for (const std::string& metric : metrics) {
    if (metric == kWorkOfRun) {
      const std::optional<double> busy = Number(figures, "busy_time"), waiting = Number(figures, "chunk_cpu_wait");
      if (busy.has_value() && waiting.has_value()) read->values[metric] = *busy - *waiting;
      read->units[metric] = "s";
      continue;
    }
    element definition;
    if (is_defined && definitions[metric].get(definition) == simdjson::SUCCESS) {
      read->units[metric] = Text(definition, "unit");
    }
    if (const std::optional<double> value = Number(figures, metric); value.has_value()) read->values[metric] = *value;
  }
  element provenance;
  if (document["provenance"].get(provenance) == simdjson::SUCCESS) read->host = Text(provenance, "host");
  simdjson::dom::array datasets;
  if (document["datasets"].get(datasets) == simdjson::SUCCESS) {
    for (const element row : datasets) read->datasets.push_back(Text(row, "name"));
    std::sort(read->datasets.begin(), read->datasets.end());
  }
}

HistoryRun ReadRun(const fs::path& directory, const std::vector<std::string>& metrics, simdjson::dom::parser* parser) {
  HistoryRun read;
  read.directory = directory.string();
  element document;
  const simdjson::error_code error = parser->load((directory / kDocument).string()).get(document);
  if (error != simdjson::SUCCESS) {
    read.why_not = fmt::format("{} cannot be read ({})", kDocument, simdjson::error_message(error));
  } else if (Text(document, "schema") != kMeasurementSchema) {
    read.why_not = fmt::format("{} is not of the schema {}", kDocument, kMeasurementSchema);
  } else {
    ReadDocument(document, metrics, &read);
  }
  return read;
}

absl::Status AddMeasurements(const std::string& directory, std::set<fs::path>* seen, std::vector<fs::path>* found) {
  std::error_code error;
  const auto add = [&](const fs::path& place) {
    if (!fs::is_regular_file(place / kDocument, error)) return false;
    if (seen->insert(fs::canonical(place, error)).second) found->push_back(place);
    return true;
  };
  if (add(directory)) return absl::OkStatus();
  fs::directory_iterator entry(directory, error);
  if (error) {
    return absl::NotFoundError(fmt::format("{}: cannot be listed ({})", directory, error.message()));
  }
  bool any = false;
  for (; entry != fs::directory_iterator(); entry.increment(error)) {
    const bool is_hidden = entry->path().filename().string().front() == '.';  // of a crema that is at work
    if (!is_hidden) any |= add(entry->path());
  }
  if (any) return absl::OkStatus();
  return absl::NotFoundError(
      fmt::format("{}: no measurement in it; give directories that `crema run` wrote, or one "
                  "that holds them",
                  directory));
}

}  // namespace

absl::StatusOr<std::vector<HistoryRun>> ReadHistory(const std::vector<std::string>& directories,
                                                    const std::vector<std::string>& metrics, int jobs) {
  std::set<fs::path> seen;
  std::vector<fs::path> found;
  for (const std::string& directory : directories) {
    if (const absl::Status added = AddMeasurements(directory, &seen, &found); !added.ok()) return added;
  }
  std::vector<HistoryRun> runs(found.size());
  std::atomic<size_t> next{0};
  const auto work = [&] {
    simdjson::dom::parser parser;
    for (size_t i = next++; i < found.size(); i = next++) runs[i] = ReadRun(found[i], metrics, &parser);
  };
  std::vector<std::thread> threads;
  for (int i = 1; i < std::min<int>(jobs, static_cast<int>(found.size())); ++i) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
  std::sort(runs.begin(), runs.end(), [](const HistoryRun& a, const HistoryRun& b) {
    return std::tie(a.start_ns, a.directory) < std::tie(b.start_ns, b.directory);
  });
  return runs;
}

}  // namespace crema

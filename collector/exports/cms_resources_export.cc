// `crema export --to cms-resources`.
#include <algorithm>

#include "collector/exports/formats.h"
#include "collector/records/loose_json.h"
#include "nlohmann/json.hpp"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kMilliseconds = 1e3;

struct Module {
  std::string type;
  std::string label;
  double real_ms = 0;               ///< self time: FastTimerService's modules do not nest
  std::optional<double> thread_ms;  ///< CPU in it and not in a section inside it; empty: not asked for
};

bool IsHelper(const SectionRow& row) { return row.helper.value_or(false); }

/// The nearest section around this one that has CPU time of its own, in the same kind of rows; empty: none.
std::string TimedParent(const std::map<std::string, size_t>& timed, const std::string& key) {
  for (size_t slash = key.rfind('/'); slash != std::string::npos; slash = key.rfind('/', slash - 1)) {
    std::string parent = key.substr(0, slash);
    if (timed.count(parent) > 0) return parent;
    if (slash == 0) break;
  }
  return "";
}

/// Whether an owner's section has neither CPU time of its own nor lies in one that has.
bool HasSectionsWithoutCpu(const Measurement& measurement) {
  std::map<std::string, size_t> timed;
  for (const SectionRow& row : measurement.sections) {
    if (!IsHelper(row) && row.cpu.has_value()) timed[row.path.str()] = 0;
  }
  for (const SectionRow& row : measurement.sections) {
    const std::string& path = row.path;
    if (IsHelper(row) || path == "(other)" || timed.count(path) > 0) continue;
    if (TimedParent(timed, path).empty()) return true;
  }
  return false;
}

std::vector<Module> ModulesOf(const Measurement& measurement) {
  std::vector<Module> modules;
  std::map<std::string, size_t> timed;
  const auto key_of = [](const SectionRow& row) { return (IsHelper(row) ? "helper:" : "owner:") + row.path.str(); };
  for (const SectionRow& row : measurement.sections) {
    Module module{IsHelper(row) ? "helper section" : "section", row.path.str(), row.self.value_or(0) * kMilliseconds,
                  std::nullopt};
    if (row.cpu.has_value()) {
      module.thread_ms = *row.cpu * kMilliseconds;
      timed[key_of(row)] = modules.size();
    }
    modules.push_back(std::move(module));
  }
  // a section's CPU time includes that of the sections inside it
  for (const auto& [key, index] : timed) {
    const std::string parent = TimedParent(timed, key);
    if (!parent.empty()) *modules[timed[parent]].thread_ms -= *measurement.sections[index].cpu * kMilliseconds;
  }
  return modules;
}

}  // namespace

absl::Status WriteCmsResources(const ExportSource& source, const std::string&, TextSink* sink) {
  const Measurement& measurement = source.measurement;
  const std::optional<double> events = measurement.Metric("total_events");
  std::vector<Module> modules = ModulesOf(measurement);
  // CPU time that no section measured would all be `(other)`'s: then it is left out
  const bool any_timed =
      std::any_of(modules.begin(), modules.end(), [](const Module& m) { return m.thread_ms.has_value(); });
  const std::optional<double> cpu = any_timed ? measurement.Metric("chunk_cpu_time") : std::nullopt;
  double attributed_ms = 0;
  Module* other = nullptr;
  for (Module& module : modules) {
    attributed_ms += module.thread_ms.value_or(0);
    if (module.label == "(other)" && module.type == "section") other = &module;
  }
  // what no section measured as its own belongs to the rest, so that the sum closes: to the time in no section where
  // all sections have a CPU clock, else to nobody in particular
  if (cpu.has_value()) {
    const double rest_ms = *cpu * kMilliseconds - attributed_ms;
    if (other != nullptr && !HasSectionsWithoutCpu(measurement)) {
      other->thread_ms = rest_ms;
    } else {
      modules.push_back({"section", "(CPU in sections without a CPU clock and in none)", 0, rest_ms});
    }
  }

  const auto entry = [&](const std::string& type, const std::string& label, double real_ms, double thread_ms) {
    Json row = {{"type", type}, {"label", label}};
    // circles divides by the number of events: 1 where it is not known, or 0
    row["events"] = std::max<int64_t>(1, static_cast<int64_t>(events.value_or(1)));
    row["time_real"] = real_ms;
    if (cpu.has_value()) row["time_thread"] = thread_ms;
    return row;
  };
  Json rows = Json::array();
  double real_ms = 0, thread_ms = 0;
  for (const Module& module : modules) {
    rows.push_back(entry(module.type, module.label, module.real_ms, module.thread_ms.value_or(0)));
    real_ms += module.real_ms;
    thread_ms += module.thread_ms.value_or(0);
  }
  Json resources = Json::array({Json{{"time_real", "real time"}}});
  if (cpu.has_value()) resources.push_back(Json{{"time_thread", "cpu time"}});
  const std::string& name = measurement.run.name;
  const Json result = {{"written_by", "crema " CREMA_VERSION_STRING},
                       {"resources", resources},
                       {"total", entry("Job", name.empty() ? "crema" : name, real_ms, thread_ms)},
                       {"modules", rows}};
  sink->Write(JsonText(result, 1) + "\n");
  return absl::OkStatus();
}

}  // namespace crema

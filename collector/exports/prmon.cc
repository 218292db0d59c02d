#include "collector/exports/export_format.h"
#include "collector/idioms/sequences.h"
#include "collector/idioms/units.h"
#include "collector/records/json_fields.h"
#include "collector/sources/prmon/prmon_reader.h"
#include "nlohmann/json.hpp"

namespace crema {
namespace {

enum class CounterKind { kCounter, kHeld };

/// One of prmon's quantities: its value in a sample and in the totals, in base units.
struct Quantity {
  std::string_view name;
  CounterKind kind;
  double unit;  ///< base units in one of prmon's
  std::string_view unit_name;
  std::string_view rate_name;  ///< of a counter's average
  std::function<std::optional<int64_t>(const TreeSampleFact&)> in_sample;
  std::function<std::optional<int64_t>(const TreeTotals&)> in_totals;
};

/// `field` of a group of counters, which a sample and the totals may lack.
template <class Group>
Quantity OfBytes(std::string_view name, std::optional<Group> TreeSampleFact::*sampled,
                 std::optional<Group> TreeTotals::*total, int64_t Group::*field) {
  const auto read = [field](const std::optional<Group>& group) {
    return group.has_value() ? std::optional<int64_t>((*group).*field) : std::nullopt;
  };
  const auto in_sample = [=](const TreeSampleFact& sample) { return read(sample.*sampled); };
  const auto in_totals = [=](const TreeTotals& totals) { return read(totals.*total); };
  return {name, CounterKind::kCounter, 1, "B", "B/s", in_sample, in_totals};
}

Quantity OfCpu(std::string_view name, int64_t TreeSampleFact::*field, std::optional<int64_t> TreeTotals::*total) {
  const auto in_sample = [field](const TreeSampleFact& sample) { return sample.*field; };
  const auto in_totals = [total](const TreeTotals& totals) { return totals.*total; };
  return {name, CounterKind::kCounter, kSecondNs, "s", "", in_sample, in_totals};
}

template <class Field>
Quantity OfHeld(std::string_view name, double unit, std::string_view unit_name, Field TreeSampleFact::*field,
                std::optional<int64_t> TreeTotals::*peak) {
  const auto in_sample = [field](const TreeSampleFact& sample) { return std::optional<int64_t>(sample.*field); };
  const auto in_totals = [peak](const TreeTotals& totals) { return totals.*peak; };
  return {name, CounterKind::kHeld, unit, unit_name, unit_name, in_sample, in_totals};
}

std::vector<Quantity> Quantities() {
  return {
      OfCpu("utime", &TreeSampleFact::cpu_user_ns, &TreeTotals::cpu_user_ns),
      OfCpu("stime", &TreeSampleFact::cpu_system_ns, &TreeTotals::cpu_system_ns),
      OfHeld("pss", kKibibyte, "kB", &TreeSampleFact::pss_bytes, &TreeTotals::tree_peak_pss_bytes),
      OfHeld("rss", kKibibyte, "kB", &TreeSampleFact::rss_bytes, &TreeTotals::tree_peak_rss_bytes),
      OfHeld("swap", kKibibyte, "kB", &TreeSampleFact::swap_bytes, &TreeTotals::tree_peak_swap_bytes),
      OfBytes("rchar", &TreeSampleFact::io, &TreeTotals::io, &TreeIo::rchar_bytes),
      OfBytes("wchar", &TreeSampleFact::io, &TreeTotals::io, &TreeIo::wchar_bytes),
      OfBytes("read_bytes", &TreeSampleFact::io, &TreeTotals::io, &TreeIo::read_bytes),
      OfBytes("write_bytes", &TreeSampleFact::io, &TreeTotals::io, &TreeIo::write_bytes),
      OfBytes("rx_bytes", &TreeSampleFact::net, &TreeTotals::net, &TreeNet::rx_bytes),
      OfBytes("tx_bytes", &TreeSampleFact::net, &TreeTotals::net, &TreeNet::tx_bytes),
      OfHeld("nprocs", 1, "1", &TreeSampleFact::processes, &TreeTotals::max_processes),
      OfHeld("nthreads", 1, "1", &TreeSampleFact::threads, &TreeTotals::max_threads),
  };
}

int64_t Rounded(int64_t value, double unit) { return std::llround(static_cast<double>(value) / unit); }

/// One row: when, and each quantity as last known.
struct Row {
  int64_t time_ns = 0;
  std::vector<int64_t> values;
};

// A PSS from an earlier sample may be above the RSS of this one, which no process's can be. Either may be missing.
std::vector<int64_t> CappedPss(std::vector<int64_t> values, const std::vector<Quantity>& quantities) {
  const auto value_of = [&](std::string_view name) -> int64_t* {
    for (size_t i = 0; i < quantities.size(); ++i) {
      if (quantities[i].name == name) return &values[i];
    }
    return nullptr;
  };
  int64_t* pss = value_of("pss");
  if (const int64_t* rss = value_of("rss"); pss != nullptr && rss != nullptr) *pss = std::min(*pss, *rss);
  return values;
}

// The samples while the tree lived, and the end. What a sample lacks is what it was before: PSS is read seldom.
std::vector<Row> PrmonRows(const PrmonSeries& series, const std::vector<Quantity>& quantities) {
  std::vector<Row> rows;
  std::vector<int64_t> last(quantities.size(), 0);
  for (const TreeSampleFact& sample : series.samples) {
    if (sample.time_ns > series.stop_ns) break;  // `crema run` looks once more when all have ended
    for (size_t i = 0; i < quantities.size(); ++i) last[i] = quantities[i].in_sample(sample).value_or(last[i]);
    rows.push_back({sample.time_ns, CappedPss(last, quantities)});
  }
  for (size_t i = 0; i < quantities.size(); ++i) {
    if (quantities[i].kind == CounterKind::kCounter) last[i] = quantities[i].in_totals(series.totals).value_or(last[i]);
  }
  rows.push_back({series.stop_ns, CappedPss(last, quantities)});
  return rows;
}

// The time average of a quantity that holds until the next row.
double Average(const std::vector<Row>& rows, size_t quantity) {
  double integral = 0;
  for (size_t i = 0; i + 1 < rows.size(); ++i) {
    integral += static_cast<double>(rows[i].values[quantity]) * Seconds(rows[i + 1].time_ns - rows[i].time_ns);
  }
  const double seconds = Seconds(rows.back().time_ns - rows.front().time_ns);
  return seconds > 0 ? integral / seconds : static_cast<double>(rows.back().values[quantity]);
}

// prmon's scripts take a second for a row's name, so the last row of each is written.
std::string TableText(const PrmonSeries& series, const std::vector<Quantity>& quantities,
                      const std::vector<Row>& rows) {
  std::string text = "Time\twtime";
  for (const Quantity& quantity : quantities) text.append("\t").append(quantity.name);
  text.push_back('\n');
  const int64_t start = Rounded(series.start_ns, kSecondNs);
  const auto second = [&series](const Row& row) { return Rounded(row.time_ns - series.start_ns, kSecondNs); };
  for (size_t at = 0; at < rows.size(); ++at) {
    const Row& row = rows[at];
    if (at + 1 < rows.size() && second(rows[at + 1]) == second(row)) continue;
    text += std::to_string(start + second(row)) + "\t" + std::to_string(second(row));
    for (size_t i = 0; i < quantities.size(); ++i) {
      text += "\t" + std::to_string(Rounded(row.values[i], quantities[i].unit));
    }
    text.push_back('\n');
  }
  return text;
}

Json Summary(const PrmonSeries& series, const std::vector<Quantity>& quantities, const std::vector<Row>& rows) {
  const double wall = Seconds(series.stop_ns - series.start_ns);
  Json average = Json::object(), largest = Json::object(), average_units = Json::object(), units = Json::object();
  largest["wtime"] = std::llround(wall);
  units["wtime"] = "s";
  for (size_t i = 0; i < quantities.size(); ++i) {
    const Quantity& quantity = quantities[i];
    const std::string name(quantity.name);
    const int64_t total = quantity.in_totals(series.totals).value_or(0);
    largest[name] = Rounded(total, quantity.unit);
    units[name] = quantity.unit_name;
    if (quantity.rate_name.empty()) continue;
    if (quantity.kind == CounterKind::kHeld) {
      average[name] = Average(rows, i) / quantity.unit;
    } else if (wall > 0) {
      average[name] = std::round(static_cast<double>(total) / quantity.unit / wall);
    } else {
      continue;
    }
    average_units[name] = quantity.rate_name;
  }
  return {{"Avg", average},
          {"Max", largest},
          {"Units", {{"Avg", average_units}, {"Max", units}}},
          {"prmon", {{"Version", kPrmonWriter}}}};
}

// The run of the measurement, where the logs hold trees of others too.
bool IsOf(const TreeRunFact& run, const Measurement& measurement) {
  const Text& id = measurement.run.id;
  return run.run_id.empty() || !id.has_value() || id == run.run_id;
}

absl::StatusOr<PrmonSeries> ReadSeries(const ExportSource& source) {
  const absl::StatusOr<RecordLogs> logs = source.find_logs();
  if (!logs.ok()) return logs.status();
  std::vector<PrmonSeries> trees;
  absl::Status unread;
  const auto add = [&](const auto& read) {
    PrmonSeries series;
    absl::StatusOr<TreeLogReading> reading =
        read([&series](const TreeSampleFact& sample) { series.samples.push_back(sample); });
    if (!reading.ok()) {
      unread = reading.status();
      return;
    }
    const TreeRun& run = reading->run;
    if (!IsOf(run.run, source.measurement)) return;
    series.start_ns = run.run.start_ns;
    series.stop_ns = run.end.has_value() ? run.end->time_ns : run.last_ns;
    series.totals = run.totals;
    trees.push_back(std::move(series));
  };
  for (const std::string& path : logs->tree_logs) {
    add([&path](const OnTreeSample& on_sample) { return ReadTreeLog(path, on_sample); });
  }
  for (const PrmonPaths& paths : logs->prmon) {
    add([&paths](const OnTreeSample& on_sample) { return ReadPrmon(paths, on_sample); });
  }
  if (trees.size() == 1) return std::move(trees.front());
  if (trees.empty() && !unread.ok()) return unread;
  if (trees.empty()) {
    return absl::NotFoundError(
        "no process tree was sampled; prmon's files describe one: run the command under `crema run`");
  }
  return absl::FailedPreconditionError(fmt::format(
      "{} process trees were sampled and prmon's files hold one; export each from its own directory", trees.size()));
}

}  // namespace

PrmonTexts RenderPrmon(const PrmonSeries& series) {
  std::vector<Quantity> quantities = Quantities();
  EraseWhere(&quantities, [&](const Quantity& quantity) { return !quantity.in_totals(series.totals).has_value(); });
  const std::vector<Row> rows = PrmonRows(series, quantities);
  return {TableText(series, quantities, rows), JsonText(Summary(series, quantities, rows), 2) + "\n"};
}

absl::Status WritePrmon(const ExportSource& source, const std::string& directory) {
  const absl::StatusOr<PrmonSeries> series = ReadSeries(source);
  if (!series.ok()) return series.status();
  const PrmonTexts texts = RenderPrmon(*series);
  for (const auto& [name, text] : {std::pair("prmon.txt", &texts.rows), std::pair("prmon.json", &texts.summary)}) {
    if (absl::Status written = WriteTextFile(directory + "/" + name, *text); !written.ok()) return written;
  }
  return absl::OkStatus();
}

// `crema export --to cms-resources`.

namespace {

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
    if (std::string parent = key.substr(0, slash); timed.count(parent) > 0) return parent;
    if (slash == 0) break;
  }
  return "";
}

/// Whether an owner's section has neither CPU time of its own nor is in one that has.
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
  const bool any_timed = absl::c_any_of(modules, [](const Module& m) { return m.thread_ms.has_value(); });
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

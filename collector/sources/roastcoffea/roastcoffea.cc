#include "collector/sources/roastcoffea/roastcoffea.h"

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/time/time.h"
#include "collector/idioms/file_system.h"
#include "collector/idioms/units.h"
#include "collector/measurement/catalog.h"
#include "collector/records/facts.h"
#include "collector/records/json_fields.h"

namespace crema {
namespace {

namespace fs = std::filesystem;

constexpr char kMetrics[] = "metrics.json";
constexpr char kTimes[] = "start_end_time.txt";

/// Python writes NaN and Infinity, which are not JSON: they become null. Texts stay as they are.
std::string WithoutNonFinite(const std::string& text) {
  std::string clean;
  clean.reserve(text.size());
  bool in_text = false;
  for (size_t at = 0; at < text.size(); ++at) {
    const char character = text[at];
    if (in_text) {
      clean += character;
      if (character == '\\' && at + 1 < text.size()) clean += text[++at];
      if (character == '"') in_text = false;
      continue;
    }
    if (character == '"') in_text = true;
    constexpr std::string_view kWords[] = {"-Infinity", "Infinity", "NaN"};
    const auto word = absl::c_find_if(kWords, [&](std::string_view name) {
      return text.compare(at, name.size(), name) == 0 &&
             !absl::ascii_isalnum(static_cast<unsigned char>(text[at + name.size()]));
    });
    if (word == std::end(kWords)) {
      clean += character;
    } else {
      clean += "null";
      at += word->size() - 1;
    }
  }
  return clean;
}

bool IsExportOfCrema(const fs::path& metadata) {
  const absl::StatusOr<std::string> text = ReadText(metadata);
  if (!text.ok()) return false;
  const auto document = Json::parse(*text, nullptr, /*allow_exceptions=*/false);
  return TextField(document, "written_by").compare(0, 6, "crema ") == 0;
}

std::optional<int64_t> Nanoseconds(const std::optional<double>& seconds) {
  // so that the sum of two fits 64 bits of nanoseconds
  if (!seconds.has_value() || !(*seconds >= 0 && *seconds < 4e9)) return std::nullopt;
  return std::llround(*seconds * 1e9);
}

/// null where it does not fit.
Json Integer(double value) { return std::fabs(value) < 9e18 ? Json(std::llround(value)) : Json(); }

Json PositiveInteger(const Json& record, const char* key, double unit = 1) {
  const std::optional<double> value = NumberField(record, key);
  return value.has_value() && *value > 0 ? Integer(*value * unit) : Json();
}

Json CountOrNull(const Json& record, const char* key) {
  const std::optional<double> value = NumberField(record, key);
  return value.has_value() && *value >= 0 ? Integer(*value) : Json();
}

Json TextOrNull(const Json& record, const char* key) {
  const std::string text = TextField(record, key);
  return text.empty() || text == "None" ? Json() : Json(text);
}

/// roastcoffea's own names are one section each: a slash in one is not a path.
std::string PathOf(const std::string& name, bool has_section_paths) {
  return has_section_paths ? name : PathPartOfName(name);
}

/// What is inside each section, by its path; what is in no other one, by the empty path.
std::map<std::string, int64_t> InnerNanoseconds(const std::map<std::string, int64_t>& total_ns) {
  std::map<std::string, int64_t> inner_ns;
  for (const auto& [path, ns] : total_ns) {
    const size_t slash = path.rfind('/');
    const std::string around = slash == std::string::npos ? "" : path.substr(0, slash);
    int64_t& inner = inner_ns[total_ns.count(around) > 0 ? around : ""];
    inner = std::min(inner, INT64_MAX - ns) + ns;
  }
  return inner_ns;
}

Json Sections(const Json& record, int64_t duration_ns, bool has_section_paths, RoastcoffeaRecords* reported) {
  std::map<std::string, int64_t> total_ns;
  for (const auto& [name, seconds] : Field(record, "timing").items()) {
    if (!seconds.is_number()) continue;
    const std::optional<int64_t> ns = Nanoseconds(seconds.get<double>());
    if (ns.has_value()) total_ns[PathOf(name, has_section_paths)] = *ns;
  }
  std::map<std::string, int64_t> inner_ns = InnerNanoseconds(total_ns);
  bool overlap = inner_ns[""] > duration_ns;
  Json rows = Json::array();
  for (const auto& [path, ns] : total_ns) {
    const int64_t self_ns = path.empty() ? ns : ns - inner_ns[path];
    overlap = overlap || self_ns < 0;
    rows.push_back(
        {{"path", path}, {"count", 1}, {"total_ns", ns}, {"self_ns", self_ns}, {"min_ns", ns}, {"max_ns", ns}});
  }
  if (!overlap) return rows;
  ++reported->overlapping_timings;
  return Json::array();
}

Json MemorySections(const Json& record, bool has_section_paths) {
  Json rows = Json::array();
  for (const auto& [name, mebibytes] : Field(record, "memory").items()) {
    if (!mebibytes.is_number()) continue;
    const Json bytes = Integer(mebibytes.get<double>() * kMebibyte);
    if (bytes.is_null()) continue;
    rows.push_back({{"path", PathOf(name, has_section_paths)},
                    {"count", 1},
                    {"delta_bytes", bytes},
                    {"min_bytes", bytes},
                    {"max_bytes", bytes}});
  }
  return rows;
}

std::optional<Json> ChunkLine(const Json& record, bool has_section_paths, RoastcoffeaRecords* reported) {
  const std::optional<int64_t> start_ns = Nanoseconds(NumberField(record, "t_start"));
  const std::optional<int64_t> duration_ns = Nanoseconds(NumberField(record, "duration"));
  if (!start_ns.has_value() || !duration_ns.has_value()) return std::nullopt;
  const bool failed = Field(record, "error").is_string();
  Json columns = Json::array();
  for (const Json& column : ListField(record, "accessed_branches")) {
    if (column.is_string()) columns.push_back(column);
  }
  Json line = {{"type", "chunk"},
               {"chunk", reported->chunks},
               {"start_ns", *start_ns},
               {"stop_ns", *start_ns + *duration_ns},
               {"status", failed ? "failed" : "ok"},
               {"events", CountOrNull(record, "num_events")},
               {"bytes_read", PositiveInteger(record, "bytes_read")},
               // 0.0 is what it writes without psutil: no process has no memory
               {"rss_start_bytes", PositiveInteger(record, "mem_before_mb", kMebibyte)},
               {"rss_stop_bytes", PositiveInteger(record, "mem_after_mb", kMebibyte)},
               {"dataset", TextOrNull(record, "dataset")},
               {"file", TextOrNull(record, "file")},
               {"entry_start", CountOrNull(record, "entry_start")},
               {"entry_stop", CountOrNull(record, "entry_stop")},
               {"error", failed ? Field(record, "error") : Json()},
               {"columns", std::move(columns)}};
  line["sections"] = Sections(record, *duration_ns, has_section_paths, reported);
  line["memory_sections"] = MemorySections(record, has_section_paths);
  return line;
}

Json FileLine(const std::string& name, const Json& metadata) {
  const Json compressed = PositiveInteger(metadata, "total_tree_bytes");
  const std::optional<double> ratio = NumberField(metadata, "compression_ratio");
  const bool has_bytes = compressed.is_number() && ratio.has_value() && *ratio > 0;
  return {{"type", "file"},
          {"file", name},
          {"branches", PositiveInteger(metadata, "total_branches")},
          // theirs is compressed over uncompressed
          {"bytes", has_bytes ? Integer(compressed.get<double>() / *ratio) : Json()},
          {"compressed_bytes", compressed}};
}

std::optional<double> SecondsOf(const std::string& naive) {
  absl::Time time;
  std::string error;
  if (!absl::ParseTime("%Y-%m-%dT%H:%M:%E*S", naive, absl::UTCTimeZone(), &time, &error)) return std::nullopt;
  return absl::ToDoubleSeconds(time - absl::UnixEpoch());
}

void ShiftBy(double zero, SampledSteps* steps) {
  for (auto& [seconds, value] : *steps) seconds -= zero;
  std::sort(steps->begin(), steps->end());
}

/// Sets metrics together with their aliases and reasons.
class Patch {
 public:
  explicit Patch(Measurement* measured) : measured_(*measured) {}

  void Set(std::string_view key, const std::optional<double>& value, std::string_view reason_if_null) {
    const MetricDefinition* definition = FindMetric(key);
    if (definition == nullptr) return;  // not a key of this version
    measured_.metrics.SetOptional(definition->key, value, reason_if_null);
    if (!definition->alias.empty()) measured_.metrics.SetOptional(definition->alias, value, reason_if_null);
  }
  std::optional<double> Get(std::string_view key) const { return measured_.Metric(key); }
  void Warn(std::string sentence) { measured_.quality.warnings.push_back(std::move(sentence)); }

 private:
  Measurement& measured_;
};

std::optional<double> Ratio(const std::optional<double>& numerator, const std::optional<double>& denominator) {
  if (!numerator.has_value() || !denominator.has_value() || *denominator <= 0) return std::nullopt;
  return *numerator / *denominator;
}

constexpr char kNotTracked[] = "the roastcoffea measurement holds no worker samples (tracking_data)";

double SumOfIntegrals(const RoastcoffeaTimelines& timelines, const std::string& series) {
  double sum = 0;
  const auto found = timelines.by_worker.find(series);
  if (found == timelines.by_worker.end()) return sum;
  for (const auto& [worker, steps] : found->second) sum += StepIntegral(steps, timelines.stop);
  return sum;
}

/// Time averages over the samples; `core_seconds` is their mean core count over the whole run.
void AddWorkers(const RoastcoffeaTimelines& timelines, Patch* patch) {
  const bool tracked = !timelines.worker_counts.empty() && timelines.stop > 0;
  const auto measured = [tracked](double value) { return tracked ? std::optional<double>(value) : std::nullopt; };
  double peak_count = 0, count_sum = 0, peak_memory = 0;
  for (const auto& [seconds, count] : timelines.worker_counts) {
    peak_count = std::max(peak_count, count);
    count_sum += count;
  }
  const auto memory = timelines.by_worker.find("worker_memory");
  const bool has_memory = tracked && memory != timelines.by_worker.end() && !memory->second.empty();
  double memory_seconds = 0;
  if (has_memory) {
    for (const auto& [worker, steps] : memory->second) {
      if (!steps.empty()) memory_seconds += timelines.stop - steps.front().first;
      for (const auto& [seconds, bytes] : steps) peak_memory = std::max(peak_memory, bytes);
    }
  }
  const double worker_seconds = StepIntegral(timelines.worker_counts, timelines.stop);
  const double core_integral = SumOfIntegrals(timelines, "worker_cores");
  const double memory_integral = SumOfIntegrals(timelines, "worker_memory");
  const std::optional<double> wall_time = patch->Get("wall_time");
  const std::optional<double> cores =
      tracked && core_integral > 0 ? std::optional<double>(core_integral / timelines.stop) : std::nullopt;
  const std::optional<double> core_seconds =
      cores.has_value() && wall_time.has_value() ? std::optional<double>(*cores * *wall_time) : std::nullopt;
  const auto set = [patch](const char* key, const std::optional<double>& value) {
    patch->Set(key, value, kNotTracked);
  };
  set("avg_workers", measured(worker_seconds / timelines.stop));
  set("peak_workers", measured(peak_count));
  set("mean_sampled_workers", measured(count_sum / static_cast<double>(timelines.worker_counts.size())));
  set("total_cores", cores);
  patch->Set("peak_cores", std::nullopt, "roastcoffea samples the cores of each worker at other times");
  set("cores_per_worker", Ratio(measured(core_integral), measured(worker_seconds)));
  set("core_seconds", core_seconds);
  set("peak_memory_bytes", has_memory ? std::optional<double>(peak_memory) : std::nullopt);
  patch->Set("peak_total_memory_bytes", std::nullopt, "roastcoffea's samples of workers were not added up by instant");
  set("avg_memory_per_worker_bytes", has_memory ? Ratio(memory_integral, memory_seconds) : std::nullopt);
  patch->Set("memory_utilization_avg",
             has_memory ? Ratio(memory_integral, SumOfIntegrals(timelines, "worker_memory_limit")) : std::nullopt,
             "the roastcoffea measurement holds no memory limit of workers");
  for (const char* key : {"memory_utilization_min", "memory_utilization_max"}) {
    patch->Set(key, std::nullopt, "not taken from roastcoffea's samples");
  }
  set("task_slot_utilization_avg",
      Ratio(measured(SumOfIntegrals(timelines, "worker_executing")), measured(core_integral)));
  set("worker_cpu_utilization_avg",
      Ratio(measured(SumOfIntegrals(timelines, "worker_cpu") / 100), measured(core_integral)));
  set("core_efficiency", Ratio(patch->Get("busy_time"), core_seconds));
  set("ideal_wall_time", Ratio(patch->Get("busy_time"), cores));
  const std::optional<double> rate = Ratio(patch->Get("total_events"), core_seconds);
  set("event_rate_core_hz", rate);
  set("event_rate_core_khz", Ratio(rate, 1000));
  constexpr char kWhichWorker[] = "roastcoffea's chunk records do not say on which worker they ran";
  for (const char* key : {"load_imbalance", "balance", "max_open_chunks", "rss_slope", "rss_slope_low",
                          "rss_slope_high", "oversubscribed_core_seconds", "tail_time"}) {
    patch->Set(key, std::nullopt, kWhichWorker);
  }
}

/// Dask's figures under their own keys; roastcoffea's chunk records have no CPU time of their own.
void AddFine(const Json& theirs, Patch* patch) {
  constexpr char kNoSpans[] = "the roastcoffea measurement holds no fine metrics of Dask";
  for (const auto& [key, ours] : kRoastcoffeaFine) patch->Set(ours, NumberField(theirs, key), kNoSpans);
}

/// The four texts of a Python tuple's `repr`, as roastcoffea writes the keys of `raw_span_metrics`.
std::optional<std::vector<std::string>> PythonTuple(const std::string& text) {
  std::vector<std::string> parts;
  for (size_t at = 0; at < text.size(); ++at) {
    const char quote = text[at];
    if (quote != '\'' && quote != '"') continue;
    std::string part;
    for (++at; at < text.size() && text[at] != quote; ++at) {
      if (text[at] == '\\' && at + 1 < text.size()) ++at;
      part += text[at];
    }
    if (at == text.size()) return std::nullopt;
    parts.push_back(std::move(part));
  }
  return parts.size() == 4 ? std::optional(parts) : std::nullopt;
}

/// `left_out`: how many have no name or no number.
std::vector<FineRow> FineRows(const Json& span_metrics, int64_t* left_out) {
  std::vector<FineRow> rows;
  for (const auto& [key, value] : span_metrics.items()) {
    const std::optional<std::vector<std::string>> parts = PythonTuple(key);
    if (!parts.has_value() || !value.is_number()) {
      ++*left_out;
      continue;
    }
    FineRow& row = rows.emplace_back();
    row.context = parts->at(0);
    row.function = parts->at(1);
    row.activity = parts->at(2);
    row.unit = parts->at(3);
    ReadValue(value, &row.value);
  }
  return rows;
}

/// The totals that roastcoffea has of Coffea's report, where its decorator recorded no chunks.
void AddTotals(const RoastcoffeaMeasurement& measurement, Patch* patch) {
  constexpr char kNotThere[] = "the roastcoffea measurement does not have it";
  for (const auto& [ours, key] :
       {std::pair("num_chunks", "num_chunks"), {"total_events", "total_events"}, {"busy_time", "total_cpu_time"}}) {
    patch->Set(ours, NumberField(measurement.metrics, key), kNotThere);
  }
  const std::optional<double> events = patch->Get("total_events");
  const auto kilo = [&](const std::optional<double>& seconds) { return Ratio(Ratio(events, seconds), 1000); };
  patch->Set("event_rate_wall_khz", kilo(measurement.elapsed_seconds), kNotThere);
  patch->Set("event_rate_agg_khz", kilo(patch->Get("busy_time")), kNotThere);
  patch->Warn(
      "roastcoffea recorded no chunks, so only totals are known; its decorator @track_metrics on the processor records "
      "them");
}

Timeline PointsOf(const SampledSteps& steps) {
  Timeline timeline;
  for (const auto& [seconds, value] : steps) timeline.push_back({seconds, value});
  return timeline;
}

void AddTimelines(const RoastcoffeaTimelines& timelines, Timelines* to) {
  to->worker_counts = PointsOf(timelines.worker_counts);
  for (NamedTimelines& series : to->series) {
    series.by_worker.reset();
    if (series.key == "worker_last_seen") continue;  // Unix times of the scheduler: no second since the run's start
    const auto workers = timelines.by_worker.find(series.key);
    if (workers == timelines.by_worker.end()) continue;
    series.by_worker.emplace();
    for (const auto& [worker, steps] : workers->second) series.by_worker->emplace_back(worker, PointsOf(steps));
  }
}

}  // namespace

bool IsRoastcoffea(const std::string& directory) {
  std::error_code error;
  const fs::path path(directory);
  return fs::is_regular_file(path / kMetrics, error) && fs::is_regular_file(path / kTimes, error) &&
         !fs::exists(path / "measurement.json", error);
}

absl::StatusOr<RoastcoffeaMeasurement> ReadRoastcoffea(const std::string& directory) {
  const fs::path path(directory);
  const absl::StatusOr<std::string> text = ReadText(path / kMetrics);
  if (!text.ok()) return text.status();
  const absl::StatusOr<std::string> times = ReadText(path / kTimes);
  if (!times.ok()) return times.status();
  RoastcoffeaMeasurement measurement;
  measurement.metrics = ParsedJson(WithoutNonFinite(*text));
  if (!measurement.metrics.is_object()) {
    return absl::InvalidArgumentError(fmt::format(
        "{}: is not a JSON object; save the measurement again with roastcoffea", (path / kMetrics).string()));
  }
  const size_t comma = times->find(',');
  double start = 0, stop = 0;
  const bool are_times = comma != std::string::npos && absl::SimpleAtod(times->substr(0, comma), &start) &&
                         absl::SimpleAtod(times->substr(comma + 1), &stop);
  if (!are_times || !std::isfinite(stop - start) || stop < start) {
    return absl::InvalidArgumentError(
        fmt::format("{}: holds no start and stop (two numbers with a comma between)", (path / kTimes).string()));
  }
  measurement.elapsed_seconds = stop - start;
  measurement.has_section_paths = IsExportOfCrema(path / "metadata.json");
  fs::path named = fs::absolute(path).lexically_normal();
  if (!named.has_filename()) named = named.parent_path();
  measurement.name = named.filename().string();
  return measurement;
}

absl::StatusOr<RoastcoffeaRecords> WriteRoastcoffeaRecords(const RoastcoffeaMeasurement& measurement,
                                                           const std::string& directory) {
  RoastcoffeaRecords reported;
  std::string lines;
  int64_t last_ns = 0;
  const auto add = [&lines](const Json& line) { lines += JsonText(line) + "\n"; };
  for (const Json& record : ListField(measurement.metrics, "raw_chunk_metrics")) {
    const std::optional<Json> line = ChunkLine(record, measurement.has_section_paths, &reported);
    if (!line.has_value()) {
      ++reported.malformed;
      continue;
    }
    last_ns = std::max(last_ns, line->at("stop_ns").get<int64_t>());
    add(*line);
    ++reported.chunks;
  }
  constexpr int64_t kSomeTime = 1'000'000'000;  // without chunks nothing shows when it was
  if (reported.chunks == 0 && !NumberField(measurement.metrics, "num_chunks").has_value()) {
    return absl::FailedPreconditionError(
        fmt::format("{}: holds neither chunk records (raw_chunk_metrics) nor totals", measurement.name));
  }
  if (reported.chunks == 0) last_ns = Nanoseconds(measurement.elapsed_seconds).value_or(0) + kSomeTime;
  for (const auto& [name, metadata] : Field(measurement.metrics, "file_metadata").items())
    add(FileLine(name, metadata));
  add({{"type", "end"}, {"time_ns", last_ns}, {"realtime_offset_ns", 0}, {"chunks", reported.chunks}});

  const int64_t start_ns = last_ns - Nanoseconds(measurement.elapsed_seconds).value_or(last_ns);
  const std::optional<double> cores = NumberField(measurement.metrics, "total_cores");
  const Json process = {{"type", "process"},
                        {"schema", "crema.records/1"},
                        {"schema_minor", 0},
                        {"run_id", "roastcoffea-" + measurement.name},
                        {"host", "unknown"},
                        {"pid", 0},
                        {"start_ns", std::max<int64_t>(0, start_ns)},
                        {"recorder", 0},
                        {"threads", cores.has_value() && *cores >= 1 && *cores < 1e9 ? Integer(*cores) : Json()}};
  const std::string path = fmt::format("{}/unknown-0-{}-0.jsonl", directory, std::max<int64_t>(0, start_ns));
  std::ofstream log(path, std::ios::binary);
  log << JsonText(process) << "\n" << lines;
  log.close();
  if (!log) return absl::UnavailableError(fmt::format("{}: cannot be written", path));
  return reported;
}

RoastcoffeaTimelines ReadRoastcoffeaTimelines(const Json& tracking_data) {
  RoastcoffeaTimelines timelines;
  double first = std::numeric_limits<double>::infinity(), last = -first;
  const auto add = [&](const Json& time, const Json& value, SampledSteps* steps) {
    if (!time.is_string() || !value.is_number()) return;
    const std::optional<double> seconds = SecondsOf(time.get<std::string>());
    if (!seconds.has_value()) return;
    steps->emplace_back(*seconds, value.get<double>());
    first = std::min(first, *seconds);
    last = std::max(last, *seconds);
  };
  for (const auto& [time, count] : Field(tracking_data, "worker_counts").items()) {
    add(time, count, &timelines.worker_counts);
  }
  for (const char* series : kRoastcoffeaSeries) {
    for (const auto& [worker, samples] : Field(tracking_data, series).items()) {
      if (!samples.is_array()) continue;
      SampledSteps& steps = timelines.by_worker[series][worker];
      for (const Json& sample : samples) {
        if (sample.is_array() && sample.size() == 2) add(sample[0], sample[1], &steps);
      }
    }
  }
  if (last < first) return {};
  ShiftBy(first, &timelines.worker_counts);
  for (auto& [series, workers] : timelines.by_worker) {
    for (auto& [worker, steps] : workers) ShiftBy(first, &steps);
  }
  timelines.stop = last - first;
  return timelines;
}

double StepIntegral(const SampledSteps& steps, double stop) {
  double integral = 0;
  for (size_t at = 0; at < steps.size(); ++at) {
    const double until = at + 1 < steps.size() ? steps[at + 1].first : std::max(stop, steps[at].first);
    integral += steps[at].second * (until - steps[at].first);
  }
  return integral;
}

void AddRoastcoffeaFigures(const RoastcoffeaMeasurement& measurement, const RoastcoffeaRecords& records,
                           Measurement* measured) {
  const Json& theirs = measurement.metrics;
  const RoastcoffeaTimelines timelines = ReadRoastcoffeaTimelines(Field(theirs, "tracking_data"));
  Patch patch(measured);
  if (const std::optional<double> bytes = NumberField(theirs, "total_bytes_read"); bytes.has_value() && *bytes > 0) {
    const std::optional<double> rate = Ratio(bytes, measurement.elapsed_seconds);
    patch.Set("total_bytes_read_coffea", bytes, "");
    patch.Set("bytes_read_compressed", bytes, "");
    patch.Set("overall_rate_gbps", Ratio(rate, 1e9 / 8), "the run took no time");
    patch.Set("overall_rate_mbs", Ratio(rate, 1e6), "the run took no time");
    measured->run.bytes_source = "coffea";
  }
  // bytes that chunks read may exceed the file's: baskets at the edges are read twice; roastcoffea has the share itself
  for (const auto& [key, percent] : {std::pair("branches_read_share", "avg_branches_read_percent"),
                                     {"bytes_read_share", "avg_bytes_read_percent"}}) {
    const std::optional<double> share = Ratio(NumberField(theirs, percent), 100);
    patch.Set(key, share.has_value() && *share > 0 ? share : std::nullopt, "roastcoffea saw no branch of any file");
  }
  if (records.chunks == 0) AddTotals(measurement, &patch);
  AddWorkers(timelines, &patch);
  AddFine(theirs, &patch);
  int64_t fine_left_out = 0;
  measured->fine = FineRows(Field(theirs, "raw_span_metrics"), &fine_left_out);
  AddTimelines(timelines, &measured->timelines);
  measured->workers.clear();
  measured->hosts.clear();
  measured->threads.clear();
  measured->budget.clear();
  RunFacts& run = measured->run;
  run.name = measurement.name;
  run.boundary = "context";
  run.cores_source = Text::OrNull(patch.Get("total_cores").has_value() ? "nthreads" : "");
  run.start_ns = run.stop_ns = Number();
  run.start = Text();
  patch.Warn(
      "read from a roastcoffea measurement, which does not keep its start time: crema takes the end of the last chunk "
      "as the end of the run");
  if (fine_left_out > 0) {
    patch.Warn(fmt::format("{} of raw_span_metrics have no number, or no name of four texts; they were left out",
                           fine_left_out));
  }
  if (records.malformed > 0) patch.Warn(fmt::format("{} chunk records have no start or duration", records.malformed));
  if (records.overlapping_timings > 0) {
    patch.Warn(
        fmt::format("in {} chunks the sections take longer than the chunk, because they were nested, and roastcoffea "
                    "does not record this; these sections were left out",
                    records.overlapping_timings));
  }
}

}  // namespace crema

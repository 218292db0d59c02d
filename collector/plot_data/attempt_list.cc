#include "collector/plot_data/attempt_list.h"

#include "collector/idioms/text.h"
#include "collector/metrics/attempts/attempt_table.h"
#include "collector/metrics/statistics/quantiles.h"
#include "collector/metrics/workers/worker_life.h"

namespace crema {
namespace {

constexpr std::string_view kOfWorkers = "samples of the workers";
constexpr std::string_view kOfChunks = "chunks, each spread evenly over its time";

bool HasAny(const std::vector<double>& values) {
  return std::any_of(values.begin(), values.end(), [](double value) { return value > 0; });
}

void AddSteps(const Timeline& steps, double end, const BinAxis& axis, std::vector<double>* means) {
  for (size_t i = 0; i < steps.size(); ++i) {
    const double from = std::max(axis.start, steps[i].seconds);
    const double to = i + 1 < steps.size() ? std::min(end, steps[i + 1].seconds) : end;
    if (!(to > from)) continue;
    const double integral = steps[i].value * (to - from);
    axis.Spread(from, to,
                [&](int bin, double share) { (*means)[static_cast<size_t>(bin)] += integral * share / axis.width; });
  }
}

size_t SeriesIn(const Measurement& measurement, std::string_view key) {
  const auto* series = measurement.timelines.Find(key);
  return series == nullptr ? 0 : series->size();
}

/// `worker` is a key of timelines; `chunks` are sums of seconds or bytes in each bin.
TimeTrack TrackOf(const Measurement& measurement, const BinAxis& axis, std::string_view name, std::string_view unit,
                  std::string_view worker, const std::vector<double>& chunks) {
  TimeTrack track = {name, unit, kOfWorkers, MeanSteps(measurement, worker, axis), {}};
  if (!HasAny(track.values)) {
    track.values = chunks;
    for (double& value : track.values) value /= axis.width;
    track.source = kOfChunks;
  }
  if (!HasAny(track.values)) track.values.clear();
  return track;
}

bool IsEarlier(const TimelinePoint& a, const TimelinePoint& b) { return a.seconds < b.seconds; }

/// Whether a value is of the time since the sample before; those of `crema run` begin where they hold.
bool IsSinceTheSampleBefore(std::string_view key) {
  if (key == "worker_cpu" || key == "worker_gil_contention") return true;
  return BeginsWith(key, "worker_") && EndsWith(key, "_bps");
}

class Lister {
 public:
  explicit Lister(AttemptList* list) : list_(list) { list_->attributes.Number(""); }

  void Add(const Attempt& attempt) {
    const ChunkFact& chunk = attempt.chunk;
    AttemptRow row;
    AttemptBytes bytes;
    if (attempt.has_ended()) {
      row = RowOf(chunk);
      row.helpers = AddHelpers(HelpersOf(chunk));
      bytes = {OrUnknown(chunk.bytes_read), OrUnknown(chunk.bytes_uncompressed)};
    } else {
      constexpr size_t kMostAttributeBytes = 16 << 20;  // held twice
      list_->unended[list_->rows.size()] = {chunk.input.entry_start, chunk.input.entry_stop,
                                            list_->attributes.Number(chunk.attributes, kMostAttributeBytes)};
    }
    SeeProcess(attempt.process);
    const RecentInput& input = InputOf(chunk.input);
    row.chunk_id = ChunkIdentity(input.identity, chunk.input, log_hash_, chunk.number);
    row.start_ns = chunk.start_ns;
    row.number = chunk.number;
    row.process = process_;
    row.input = input.index;
    row.thread = ThreadOf(row.process, chunk);
    row.status = attempt.state;
    list_->rows.Add(row);
    list_->bytes.push_back(bytes);
  }

 private:
  /// Attempts of one process come together.
  void SeeProcess(const AttemptProcess& process) {
    const auto key = [](const AttemptProcess& of) {
      return std::tuple_cat(IdentityOf(of), std::tie(of.recorder, of.worker));
    };
    if (!list_->processes.empty() && key(process) == key(recent_process_)) return;
    recent_process_ = process;
    const auto [at, is_new] =
        processes_.try_emplace({process.worker, process.start_ns}, static_cast<uint32_t>(list_->processes.size()));
    if (is_new) list_->processes.push_back({process.worker, process.host, process.start_ns});
    process_ = at->second;
    run_hash_ = HashOf(process.run_id);
    log_hash_ = HashOfLog(HashOfProcess(process), process.recorder);
  }
  const RecentInput& InputOf(const ChunkInput& input) {
    if (const RecentInput* recent = recent_inputs_.Find(run_hash_, input)) return *recent;
    ListedInput listed = {list_->datasets.Number(input.dataset), list_->files.Number(input.file)};
    const auto [kind, is_new_kind] = kinds_.try_emplace({listed.dataset, passes_.Number(input.pass)},
                                                        static_cast<uint32_t>(list_->dataset_of_kind.size()));
    if (is_new_kind) list_->dataset_of_kind.push_back(listed.dataset);
    listed.kind = kind->second;
    const auto [at, is_new] =
        inputs_.try_emplace({listed.kind, listed.file}, static_cast<uint32_t>(list_->inputs.size()));
    if (is_new) list_->inputs.push_back(listed);
    return recent_inputs_.Keep(input, {run_hash_, at->second, InputIdentity(run_hash_, input)});
  }
  uint32_t ThreadOf(uint32_t process, const ChunkFact& chunk) {
    const uint64_t id = IdOfThread(chunk);
    const auto [at, is_new] = threads_.try_emplace({process, id}, static_cast<uint32_t>(list_->threads.size()));
    if (is_new) list_->threads.push_back({process, id, chunk.thread.value_or(0)});
    return at->second;
  }
  uint32_t AddHelpers(const std::optional<HelperTimes>& helpers) {
    if (!helpers.has_value()) return AttemptRow::kNone;
    list_->helpers.push_back(*helpers);
    return static_cast<uint32_t>(list_->helpers.size() - 1);
  }

  AttemptList* list_;
  std::map<std::pair<std::string, int64_t>, uint32_t> processes_;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> inputs_;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> kinds_;
  NameNumbers passes_;
  std::map<std::pair<uint32_t, uint64_t>, uint32_t> threads_;
  RecentInputs recent_inputs_;
  AttemptProcess recent_process_;
  uint32_t process_ = 0;  // of the recent process, as the next two
  uint64_t run_hash_ = 0;
  uint64_t log_hash_ = 0;
};

/// An attempt that did not end stands where its thread worked last.
void PlaceUnended(AttemptList* list) {
  if (!absl::c_linear_search(list->lanes, AttemptRow::kNone)) return;
  std::vector<size_t> order = Indices<size_t>(list->rows.size());
  absl::c_sort(order, [list](size_t a, size_t b) { return list->rows[a].start_ns < list->rows[b].start_ns; });
  std::map<uint32_t, uint32_t> lane_of_thread;
  for (const size_t i : order) {
    uint32_t& lane = list->lanes[i];
    if (lane == AttemptRow::kNone) {
      lane = ValueOr(lane_of_thread, list->rows[i].thread, 0);
    } else {
      lane_of_thread[list->rows[i].thread] = lane;
    }
  }
}

constexpr size_t kSortedPoints = 201;
constexpr int kMostBins = 120;

std::optional<double> NumberOf(int64_t value) {
  return value == AttemptRow::kUnknown ? std::nullopt : std::optional<double>(static_cast<double>(value));
}

struct Quantity {
  std::string_view name;
  std::optional<double> (*of)(const AttemptList& list, size_t index);
};

constexpr Quantity kDuration = {"duration_seconds", [](const AttemptList& list, size_t i) -> std::optional<double> {
                                  return list.rows[i].duration_ns / 1e9;
                                }};
constexpr Quantity kEvents = {"events",
                              [](const AttemptList& list, size_t i) { return NumberOf(list.rows[i].events); }};
constexpr Quantity kQuantities[kShapedQuantities] = {
    kDuration,
    {"bytes_read", [](const AttemptList& list, size_t i) { return NumberOf(list.bytes[i].read); }},
    {"bytes_uncompressed", [](const AttemptList& list, size_t i) { return NumberOf(list.bytes[i].uncompressed); }},
};

struct Pair {
  Quantity x;
  Quantity y;
};

constexpr Pair kPairs[] = {
    {kEvents, kDuration},
    {kEvents,
     {"rss_stop_bytes", [](const AttemptList& list, size_t i) { return NumberOf(list.rows[i].rss_stop_bytes); }}},
};

bool IsCounted(const AttemptRow& row) { return row.status == AttemptState::kOk && row.duration_ns >= 0; }

/// Narrow bins where the values are close together, wide ones where they span many decades.
void SetLogAxis(double least, double most, ValueShape* shape) {
  for (const int per_decade : {50, 20, 10, 5, 2}) {
    const double first = std::floor(std::log10(least) * per_decade);
    const double last = std::floor(std::log10(most) * per_decade) + 1;
    shape->per_decade = per_decade;
    shape->first_exponent = first / per_decade;
    const auto bins = static_cast<size_t>(last - first);
    for (std::vector<int64_t>& counts : shape->counts) counts.assign(bins, 0);
    if (last - first <= kMostBins / 2.0) return;
  }
}

void FillSorted(std::vector<double> values, ValueShape* shape) {
  if (values.size() <= kSortedPoints) {
    std::sort(values.begin(), values.end());
    shape->sorted = std::move(values);
    return;
  }
  std::vector<uint64_t> ranks;
  for (size_t point = 0; point < kSortedPoints; ++point) {
    ranks.push_back(1 + point * (values.size() - 1) / (kSortedPoints - 1));
  }
  shape->sorted = ValuesOfRanks<double>(values, ranks);
}

std::optional<CountGrid> Grid(const AttemptList& list, const Pair& pair) {
  CountGrid grid;
  grid.x_quantity = pair.x.name;
  grid.y_quantity = pair.y.name;
  const auto for_each = [&](const auto& visit) {
    for (size_t i = 0; i < list.rows.size(); ++i) {
      if (!IsCounted(list.rows[i])) continue;
      const std::optional<double> x = pair.x.of(list, i);
      const std::optional<double> y = pair.y.of(list, i);
      if (x.has_value() && y.has_value()) visit(*x, *y);
    }
  };
  for_each([&grid](double x, double y) {
    if (grid.count++ == 0) {
      grid.x_max = std::max(0.0, x);
      grid.y_max = std::max(0.0, y);
    }
    grid.x_min = std::min(grid.x_min, x);
    grid.x_max = std::max(grid.x_max, x);
    grid.y_min = std::min(grid.y_min, y);
    grid.y_max = std::max(grid.y_max, y);
  });
  if (grid.count == 0) return std::nullopt;
  if (!(grid.x_max > grid.x_min)) grid.x_max = grid.x_min + 1;
  if (!(grid.y_max > grid.y_min)) grid.y_max = grid.y_min + 1;
  grid.cells.assign(static_cast<size_t>(grid.columns) * static_cast<size_t>(grid.rows), 0);
  const auto cell_of = [](double value, double min, double max, int cells) {
    return std::clamp(static_cast<int>((value - min) / (max - min) * cells), 0, cells - 1);
  };
  for_each([&](double x, double y) {
    const int column = cell_of(x, grid.x_min, grid.x_max, grid.columns);
    const int row = cell_of(y, grid.y_min, grid.y_max, grid.rows);
    ++grid.cells[static_cast<size_t>(row) * static_cast<size_t>(grid.columns) + static_cast<size_t>(column)];
  });
  return grid;
}

}  // namespace

std::vector<double> MeanSteps(const Measurement& measurement, std::string_view key, const BinAxis& axis) {
  std::vector<double> means;
  const auto* workers = measurement.timelines.Find(key);
  if (workers == nullptr || workers->empty()) return means;
  const std::map<std::string, double> stops = WorkerStops(measurement);
  means.resize(static_cast<size_t>(axis.bins));
  const SampledSteps steps(measurement, key);
  for (const auto& [name, points] : *workers) {
    const double end = axis.start + axis.width * axis.bins;
    AddSteps(steps.Of(name, points), std::min(end, ValueOr(stops, name, end)), axis, &means);
  }
  return means;
}

std::vector<TimeTrack> TracksOf(const Measurement& measurement, const TimeBins& over_time) {
  const BinAxis axis = {over_time.start_seconds, over_time.bin_seconds,
                        static_cast<int>(over_time.busy_seconds.size())};
  std::vector<TimeTrack> tracks;
  TimeTrack memory = TrackOf(measurement, axis, "Memory", "B", "worker_memory", {});
  if (memory.source == kOfWorkers &&
      SeriesIn(measurement, "worker_memory_limit") == SeriesIn(measurement, "worker_memory")) {
    memory.limit = MeanSteps(measurement, "worker_memory_limit", axis);
    memory.limit_name = "limits of the workers";
  }
  tracks.push_back(std::move(memory));
  TimeTrack cpu = TrackOf(measurement, axis, "CPU", "cores", "worker_cpu", over_time.cpu_seconds);
  if (cpu.source == kOfChunks) cpu.name = "CPU of chunks";
  cpu.limit = over_time.lanes_available;
  cpu.limit_name = "cores";
  tracks.push_back(std::move(cpu));
  const bool chunks_reported = HasAny(over_time.bytes_read);
  tracks.push_back(
      TrackOf(measurement, axis, "Read", "B/s", chunks_reported ? "" : "worker_disk_read_bps", over_time.bytes_read));
  EraseWhere(&tracks, [](const TimeTrack& track) { return track.values.empty(); });
  return tracks;
}

SampledSteps::SampledSteps(const Measurement& measurement, std::string_view key) {
  const auto* workers = measurement.timelines.Find("worker_last_seen");
  if (workers == nullptr || !IsSinceTheSampleBefore(key)) return;
  for (const auto& [name, samples] : *workers) {
    if (std::is_sorted(samples.begin(), samples.end(), IsEarlier)) samples_.emplace(name, &samples);
  }
}

Timeline SampledSteps::Of(const std::string& worker, const Timeline& points) const {
  Timeline steps;
  for (const TimelinePoint& step : points) {
    if (std::isfinite(step.seconds) && std::isfinite(step.value)) steps.push_back(step);
  }
  if (!std::is_sorted(steps.begin(), steps.end(), IsEarlier)) std::stable_sort(steps.begin(), steps.end(), IsEarlier);
  const auto found = samples_.find(worker);
  if (found == samples_.end()) return steps;
  for (TimelinePoint& step : steps) {
    const auto at = std::lower_bound(found->second->begin(), found->second->end(), step, IsEarlier);
    if (at != found->second->begin()) step.seconds = std::prev(at)->seconds;
  }
  return steps;
}

uint32_t NameNumbers::Number(std::string_view name, size_t most_bytes) {
  if (!names.empty() && names[recent_] == name) return recent_;
  auto found = numbers_.find(name);
  if (found == numbers_.end()) {
    if (name.size() > most_bytes - std::min(bytes_, most_bytes)) return 0;
    bytes_ += name.size();
    found = numbers_.emplace(std::string(name), static_cast<uint32_t>(names.size())).first;
    names.emplace_back(name);
  }
  recent_ = found->second;
  return recent_;
}

absl::Status ListAttempts(const AttemptReader& for_each_attempt, AttemptList* list) {
  Lister lister(list);
  absl::Status read = for_each_attempt([&lister](const Attempt& attempt) { lister.Add(attempt); }, &list->places);
  if (!read.ok()) return read;
  list->rows.Seal();
  MarkResults(list->rows, {ThreadsFor(0)}, &list->repeated);
  list->lanes = AssignLanes(list->rows);
  PlaceUnended(list);
  return absl::OkStatus();
}

double ValueShape::Edge(size_t index) const {
  return std::pow(10.0, first_exponent + static_cast<double>(index) / per_decade);
}

std::optional<ValueShape> ShapeDistribution(const AttemptList& list, size_t quantity,
                                            const std::vector<uint32_t>& slots, uint32_t slot_count) {
  const Quantity& of = kQuantities[quantity];
  ValueShape shape;
  shape.quantity = of.name;
  shape.counts.resize(std::max(1U, slot_count));
  const auto for_each = [&](const auto& visit) {
    for (size_t i = 0; i < list.rows.size(); ++i) {
      const std::optional<double> value = IsCounted(list.rows[i]) ? of.of(list, i) : std::nullopt;
      if (value.has_value()) visit(i, *value);
    }
  };
  std::vector<double> values;
  double least_positive = 0;
  for_each([&](size_t, double value) {
    values.push_back(value);
    shape.sum += value;
    if (value > 0 && (least_positive == 0 || value < least_positive)) least_positive = value;
  });
  if (values.empty()) return std::nullopt;
  shape.count = static_cast<int64_t>(values.size());
  FillSorted(std::move(values), &shape);
  if (least_positive == 0) return shape;
  SetLogAxis(least_positive, shape.sorted.back(), &shape);
  const auto last = static_cast<double>(shape.bins() - 1);
  for_each([&](size_t i, double value) {
    if (value <= 0) return;
    const double bin = std::floor((std::log10(value) - shape.first_exponent) * shape.per_decade);
    ++shape.counts[slots[i]][static_cast<size_t>(std::clamp(bin, 0.0, last))];
  });
  return shape;
}

std::vector<CountGrid> ShapeGrids(const AttemptList& list) {
  std::vector<CountGrid> grids;
  for (const Pair& pair : kPairs) {
    if (std::optional<CountGrid> grid = Grid(list, pair)) grids.push_back(*std::move(grid));
  }
  return grids;
}

}  // namespace crema

#include "collector/charts/families.h"
#include "collector/format/colours.h"
#include "collector/format/human_numbers.h"
#include "collector/idioms/sequences.h"
#include "collector/idioms/units.h"
#include "collector/measurement/thresholds.h"

namespace crema {
namespace {

constexpr size_t kMostColumns = 640;  // a column a pixel

double WaitingSeconds(const DetailAttempt& attempt) {
  return Seconds(attempt.cpu_wait_ns.value_or(0) + attempt.blocked_ns.value_or(0));
}

std::vector<LaneCell> CellsOfAttempts(const RunDetail& detail) {
  std::vector<LaneCell> cells;
  for (const DetailAttempt& attempt : detail.attempts) {
    if (!attempt.duration_ns.has_value()) continue;
    cells.push_back({attempt.row, Seconds(attempt.start_ns), Seconds(attempt.stop_ns()),
                     SlotOf(detail, attempt.dataset), WaitingSeconds(attempt)});
  }
  return cells;
}

/// As the detail's runs give them, else attempts.
std::vector<LaneCell> StretchesOf(const RunDetail& detail) {
  if (detail.runs.empty()) return CellsOfAttempts(detail);
  std::vector<LaneCell> stretches;
  for (const DetailRun& run : detail.runs) {
    if (run.busy == 0) continue;
    const double start = detail.timeline_start_seconds + run.first_bin * detail.bin_seconds;
    const double stop = start + run.bins * detail.bin_seconds;
    stretches.push_back({run.row, start, stop, run.slot, 0, static_cast<double>(run.busy) / 8});
  }
  return stretches;
}

/// Busy seconds by row, column and slot.
class ColumnGrid {
 public:
  ColumnGrid(size_t rows, size_t columns, double seconds)
      : columns_(columns), width_(seconds / static_cast<double>(columns)), busy_(rows * columns) {}

  void Add(const LaneCell& stretch) {
    const double last = static_cast<double>(columns_) * width_;
    const double from = std::clamp(stretch.start_seconds, 0.0, last), to = std::clamp(stretch.stop_seconds, 0.0, last);
    const size_t end = std::min(columns_, static_cast<size_t>(std::ceil(to / width_)));
    for (auto column = static_cast<size_t>(from / width_); column < end; ++column) {
      const double begin = static_cast<double>(column) * width_;
      const double overlap = std::min(to, begin + width_) - std::max(from, begin);
      if (overlap > 0) busy_[stretch.row * columns_ + column][stretch.slot] += overlap * stretch.busy_share;
    }
  }

  /// Columns that are busy for a quarter of their time at least, equal neighbours merged.
  std::vector<LaneCell> Cells() const {
    std::vector<LaneCell> cells;
    for (size_t i = 0; i < busy_.size(); ++i) {
      const auto most = absl::c_max_element(busy_[i]);
      double sum = absl::c_accumulate(busy_[i], 0.0);
      if (sum < 0.25 * width_) continue;
      const auto row = static_cast<uint32_t>(i / columns_);
      const double start = static_cast<double>(i % columns_) * width_;
      const auto slot = static_cast<uint32_t>(most - busy_[i].begin());
      const bool goes_on = !cells.empty() && cells.back().row == row && cells.back().slot == slot &&
                           std::fabs(cells.back().stop_seconds - start) < width_ / 2;
      if (goes_on) {
        cells.back().stop_seconds = start + width_;
      } else {
        cells.push_back({row, start, start + width_, slot, 0});
      }
    }
    return cells;
  }

 private:
  size_t columns_;
  double width_;
  std::vector<std::array<double, kDatasetSlots>> busy_;
};

}  // namespace

LaneCells LaneCellsOf(const RunDetail& detail, size_t most) {
  if (detail.timeline_is_exact && detail.attempts.size() <= most) return {CellsOfAttempts(detail)};
  LaneCells lanes = {{}, /*is_exact=*/false};
  if (detail.rows.empty() || !(detail.seconds > 0)) return lanes;
  const std::vector<LaneCell> stretches = StretchesOf(detail);
  for (size_t columns = kMostColumns; columns > 0; columns /= 2) {
    ColumnGrid grid(detail.rows.size(), columns, detail.seconds);
    for (const LaneCell& stretch : stretches) grid.Add(stretch);
    lanes.cells = grid.Cells();
    if (lanes.cells.size() <= most) return lanes;
  }
  return lanes;
}

// Chunk by chunk: where and when each attempt ran, those that failed, durations and memory, the slowest.

namespace {

constexpr size_t kMostCells = 12'000;  // with the pale parts that show waiting, below 20,000
constexpr size_t kMostFailures = 2'000;
constexpr size_t kMostLabels = 64;
constexpr size_t kMostPoints = 2'000;
constexpr size_t kMostSlow = 30;
constexpr size_t kMostColours = 5;  // everybody can distinguish so many colours

bool HasAttempts(const ChartInput& input) { return input.detail != nullptr && input.detail->why_no_attempts.empty(); }

bool IsFailure(const DetailAttempt& attempt) {
  return attempt.state == AttemptState::kFailed || attempt.state == AttemptState::kLost;
}

std::vector<std::string> SlotNames(const RunDetail& detail) {
  std::vector<std::string> shown;
  ShownNames names;
  for (uint32_t slot = 0; slot < SlotCount(detail); ++slot) shown.push_back(names.Of(SlotName(detail, slot)));
  return shown;
}

/// One label a row; the workers' name is at its first lane only.
std::vector<std::string> RowLabels(const RunDetail& detail) {
  std::vector<std::string> labels;
  ShownNames names;
  for (const DetailRow& row : detail.rows) {
    labels.push_back(row.lanes > 1 || detail.row_kind != "thread"
                         ? names.Of(row.label)
                         : names.Of(fmt::format("{} · {}", row.label, row.lane)));
  }
  return labels;
}

Json FailureMarks(const RunDetail& detail, const std::vector<std::string>& labels) {
  Json rows = Json::array();
  for (const DetailAttempt& attempt : detail.attempts) {
    if (!IsFailure(attempt) || attempt.row >= labels.size() || rows.size() >= kMostFailures) continue;
    rows.push_back({{"from", Rounded(Seconds(attempt.stop_ns()))}, {"row", labels[attempt.row]}});
  }
  return rows;
}

const ValueShape* DurationsOf(const RunDetail* detail) {
  return detail == nullptr ? nullptr : detail->FindDistribution("duration_seconds");
}

int64_t CountIn(const ValueShape& shape, size_t bin) {
  return SumOf<int64_t>(shape.counts, [bin](const std::vector<int64_t>& counts) { return counts[bin]; });
}

/// A bar of a histogram, on top of those of the datasets before it, which grow by it.
template <class Count>
Json StackedBar(double from, double to, const std::string& dataset, Count count, Count* below) {
  Json bar = {{"from", Rounded(from)}, {"to", Rounded(to)}, {"dataset", dataset}, {"count", count}, {"below", *below}};
  *below += count;
  bar["above"] = *below;
  return bar;
}

/// A bar for each bin and dataset.
Json StackedBars(const ValueShape& shape, const std::vector<std::string>& slots) {
  Json rows = Json::array();
  for (size_t bin = 0; bin < shape.bins(); ++bin) {
    int64_t below = 0;
    for (size_t slot = 0; slot < shape.counts.size(); ++slot) {
      const int64_t count = shape.counts[slot][bin];
      if (count == 0) continue;
      const std::string dataset = slot < slots.size() ? slots[slot] : "";
      rows.push_back(StackedBar(shape.Edge(bin), shape.Edge(bin + 1), dataset, count, &below));
    }
  }
  return rows;
}

/// Each attempt as a point, as far as they are to be seen one by one; else those that stand out.
Json AttemptPoints(const RunDetail& detail, bool all) {
  Json rows = Json::array();
  for (const DetailAttempt& attempt : detail.attempts) {
    const bool stands_out = !attempt.straggler_reason.empty();
    if (attempt.state != AttemptState::kOk || !attempt.duration_ns.has_value() || !attempt.events.has_value()) continue;
    if ((!all && !stands_out) || rows.size() >= kMostPoints) continue;
    rows.push_back({{"events", *attempt.events},
                    {"seconds", Rounded(Seconds(*attempt.duration_ns))},
                    {"kind", stands_out ? "straggler" : "chunk"},
                    {"dataset", ShownName(detail.datasets[attempt.dataset].name)},
                    {"file", ShownName(detail.files[attempt.file])},
                    {"reason", std::string(attempt.straggler_reason)}});
  }
  return rows;
}

/// Cells of a grid that hold something, and the axes that fit them.
Json GridValues(const CountGrid& grid, double y_factor) {
  Json cells = Json::array();
  const double width = (grid.x_max - grid.x_min) / grid.columns, height = (grid.y_max - grid.y_min) / grid.rows;
  for (int row = 0; row < grid.rows; ++row) {
    for (int column = 0; column < grid.columns; ++column) {
      const int64_t count =
          grid.cells[static_cast<size_t>(row) * static_cast<size_t>(grid.columns) + static_cast<size_t>(column)];
      if (count == 0) continue;
      cells.push_back({{"x", Rounded(grid.x_min + column * width)},
                       {"x2", Rounded(grid.x_min + (column + 1) * width)},
                       {"y", Rounded((grid.y_min + row * height) * y_factor)},
                       {"y2", Rounded((grid.y_min + (row + 1) * height) * y_factor)},
                       {"count", count}});
    }
  }
  Json axis = NumberLabels(grid.x_max);
  axis["tickCount"] = 8;
  return {{"cells", std::move(cells)},
          {"event axis", std::move(axis)},
          {"count labels", NumberLabels(static_cast<double>(grid.count))}};
}

/// Lines of the datasets that took most time, each over the events that its chunks have: it says nothing of others.
/// They have the datasets' colours, and the legend says which is which and what it means.
void AddFits(const RunDetail& detail, Json* values) {
  std::vector<DetailFit> fits;
  for (const DetailFit& fit : detail.fits) {
    // chunks that take less time for more events do not take it for their events
    const bool is_of_events = fit.slope_known && fit.seconds_per_event > 0;
    // others share one colour
    const bool is_other = detail.datasets.size() > kDatasetSlots && fit.dataset + 1 >= kDatasetSlots;
    if (is_of_events && !is_other) fits.push_back(fit);
  }
  SortLargestFirst(&fits, &DetailFit::points);
  if (fits.size() > kMostColours) fits.resize(kMostColours);
  std::vector<std::string> lines;
  std::vector<std::string_view> colours;
  ShownNames names;
  for (const DetailFit& fit : fits) {
    // a line that begins below zero says nothing of what a chunk without events would take
    const std::string fixed = fit.fixed_seconds > 0 ? HumanDuration(fit.fixed_seconds) + " + " : "";
    lines.push_back(fmt::format("{}: {}{} per event", names.Of(detail.datasets[fit.dataset].name), fixed,
                                HumanDuration(fit.seconds_per_event)));
    colours.push_back(DatasetColours()[SlotOf(detail, fit.dataset)].name);
    for (const double events : {fit.events_min, fit.events_max}) {
      (*values)["fits"].push_back(
          {{"line", lines.back()},
           {"events", Rounded(events)},
           {"seconds", Rounded(std::max(0.0, fit.fixed_seconds + fit.seconds_per_event * events))}});
    }
  }
  (*values)["lines"] = ColourScale(lines, colours);
}

}  // namespace

Drawing DrawChunkTimeline(const ChartInput& input) {
  if (!HasAttempts(input)) return NotDrawn(WhyNoChunks(input));
  const RunDetail& detail = *input.detail;
  const LaneCells lanes = LaneCellsOf(detail, kMostCells);
  const std::vector<std::string> labels = RowLabels(detail), slots = SlotNames(detail);
  Json boxes = Json::array(), waiting = Json::array();
  for (const LaneCell& cell : lanes.cells) {
    if (cell.row >= labels.size() || cell.slot >= slots.size()) continue;
    boxes.push_back({{"row", labels[cell.row]},
                     {"from", Rounded(cell.start_seconds)},
                     {"to", Rounded(cell.stop_seconds)},
                     {"dataset", slots[cell.slot]}});
    if (kPaleWaiting.Holds(cell.waiting_seconds / (cell.stop_seconds - cell.start_seconds))) {
      waiting.push_back({{"row", labels[cell.row]},
                         {"from", Rounded(cell.start_seconds)},
                         {"to", Rounded(std::min(cell.stop_seconds, cell.start_seconds + cell.waiting_seconds))}});
    }
  }
  const double step = std::clamp(560.0 / static_cast<double>(std::max<size_t>(labels.size(), 1)), 2.0, 20.0);
  const bool has_labels = labels.size() <= kMostLabels;
  std::string finding =
      fmt::format("{} attempts on {} {}s", ExactCount(detail.attempts_seen), labels.size(), detail.row_kind);
  finding += lanes.is_exact ? fmt::format("; pale left part: waiting, above {}", HumanPercent(kPaleWaiting.value))
                            : "; each box: the dataset busy longest";
  finding += "; red cross: failed";
  return {FilledTemplate("chunk_timeline", {{"boxes", std::move(boxes)},
                                            {"waiting", std::move(waiting)},
                                            {"failures", FailureMarks(detail, labels)},
                                            {"time", TimeAxis(detail.seconds)},
                                            {"rows", labels},
                                            {"gap", has_labels ? 0.15 : 0.0},
                                            {"has labels", has_labels},
                                            {"step", step},
                                            {"rim", step >= 6 ? 0.5 : 0.0},
                                            {"datasets", slots}}),
          finding};
}

Drawing DrawFailuresTimeline(const ChartInput& input) {
  if (!HasAttempts(input)) return NotDrawn(WhyNoChunks(input));
  const RunDetail& detail = *input.detail;
  Json rows = Json::array();
  size_t failed = 0, lost = 0, repeated = 0;
  ShownNames names;
  for (const DetailAttempt& attempt : detail.attempts) {
    const bool is_lost = attempt.state == AttemptState::kLost;
    if (!IsFailure(attempt) && (attempt.state != AttemptState::kOk || attempt.attempt < 2)) continue;
    ++(is_lost ? lost : IsFailure(attempt) ? failed : repeated);
    if (rows.size() >= kMostFailures) continue;
    rows.push_back({{"t", Rounded(Seconds(attempt.stop_ns()))},
                    {"worker", names.Of(detail.workers[attempt.worker].name)},
                    {"kind", is_lost              ? "lost"
                             : IsFailure(attempt) ? "failed"
                                                  : "repeated, ok"},
                    {"file", ShownName(detail.files[attempt.file])},
                    {"attempt", attempt.attempt},
                    {"error", attempt.error == 0 ? "" : ShownName(detail.errors[attempt.error])}});
  }
  if (rows.empty()) return NotDrawn("no attempt failed, was lost or repeated");
  std::string finding = fmt::format("{} failed, {} lost, {} repeated with success", failed, lost, repeated);
  if (detail.failed_left_out > 0) finding += fmt::format("; {} more not drawn", detail.failed_left_out);
  return {FilledTemplate("failures_timeline", {{"attempts", std::move(rows)}, {"time", TimeAxis(detail.seconds)}}),
          finding};
}

Drawing DrawRuntimeDistribution(const ChartInput& input) {
  const ValueShape* shape = DurationsOf(input.detail);
  if (shape == nullptr || shape->bins() == 0) return NotDrawn(WhyNoChunks(input));
  const std::vector<std::string> slots = SlotNames(*input.detail);
  std::string finding = Counted(shape->count, "chunk", "chunks");
  std::vector<std::pair<double, std::string>> marks;
  for (const auto& [key, label] : {std::pair<std::string_view, std::string_view>{"chunk_duration_p50", "median"},
                                   {"chunk_duration_p95", "p95"},
                                   {"chunk_duration_p99", "p99"},
                                   {"chunk_duration_max", "longest"}}) {
    const auto value = input.measurement->Metric(key);
    if (!value.has_value() || !(*value > 0)) continue;
    const std::string words = fmt::format("{} {}", label, HumanDuration(*value));
    finding += ", " + words;
    marks.emplace_back(*value, words);
  }
  int64_t tallest = 0;
  for (size_t bin = 0; bin < shape->bins(); ++bin) tallest = std::max(tallest, CountIn(*shape, bin));
  Json outline = Json::array();
  const ValueShape* baseline = DurationsOf(input.baseline_detail);
  for (size_t bin = 0; baseline != nullptr && baseline->per_decade == shape->per_decade && bin < baseline->bins();
       ++bin) {
    outline.push_back({{"from", Rounded(baseline->Edge(bin))}, {"count", CountIn(*baseline, bin)}});
  }
  return {FilledTemplate("runtime_distribution",
                         {{"title", "duration of a chunk (logarithmic) [s]"},
                          {"scale", "log"},
                          {"things", "chunks"},
                          {"bars", StackedBars(*shape, slots)},
                          {"datasets", slots},
                          // room for the words above the bars
                          {"top", 1.3 * static_cast<double>(tallest)},
                          {"baseline", std::move(outline)},
                          {"sides", MarksWithWords(marks, shape->Edge(0), shape->Edge(shape->bins()), true)}}),
          finding};
}

Drawing DrawRuntimeVsEvents(const ChartInput& input) {
  if (!HasAttempts(input)) return NotDrawn(WhyNoChunks(input));
  const RunDetail& detail = *input.detail;
  const CountGrid* grid = detail.FindGrid("events", "duration_seconds");
  if (grid == nullptr || grid->count == 0) return NotDrawn(WhyNoChunks(input, kNoEvents));
  Json values = GridValues(*grid, 1);
  const bool all = detail.is_exact && detail.attempts.size() <= kMostPoints;
  if (all) values.erase("cells");
  values["points"] = AttemptPoints(detail, all);
  double least_events = grid->x_max;
  for (const Json& point : values["points"]) least_events = std::min(least_events, point["events"].get<double>());
  // chunks of one size would be at the edge
  if (all && least_events > grid->x_max / 2) values["event scale"] = {{"zero", false}, {"padding", 12}};
  values["kinds"] = all ? ColourScale({"chunk", "straggler"}, {"cpu", "wait"}) : ColourScale({"straggler"}, {"wait"});
  AddFits(detail, &values);
  values.update({{"height", 300}, {"y title", "duration [s]"}, {"resolve", {{"scale", {{"color", "independent"}}}}}});
  return {
      FilledTemplate("chunks_over_events", values),
      fmt::format("{}{}{}", Counted(grid->count, "chunk", "chunks"),
                  values.contains("fits") ? "; lines: fits, by dataset" : "", all ? "" : "; colour: how many chunks")};
}

Drawing DrawMemoryVsEvents(const ChartInput& input) {
  if (!HasAttempts(input)) return NotDrawn(WhyNoChunks(input));
  const CountGrid* grid = input.detail->FindGrid("events", "rss_stop_bytes");
  if (grid == nullptr || grid->count == 0)
    return NotDrawn("no chunk has both its process's memory and a number of events (SetEvents)");
  Json values = GridValues(*grid, 1.0 / kMebibyte);
  values.update({{"height", 280}, {"y title", "memory of the process at the chunk's end [MiB]"}});
  const auto slope = input.measurement->Metric("rss_slope");
  std::string finding = fmt::format("{} at most", HumanMemory(grid->y_max));
  if (slope.has_value()) finding += fmt::format("; grows by {} per 1 000 events", HumanMemory(*slope));
  return {FilledTemplate("chunks_over_events", values), finding};
}

Drawing DrawSlowestChunks(const ChartInput& input) {
  if (!HasAttempts(input)) return NotDrawn(WhyNoChunks(input));
  const RunDetail& detail = *input.detail;
  std::vector<const DetailAttempt*> slow = PlacesWhere(detail.attempts, [](const DetailAttempt& attempt) {
    return attempt.duration_ns.has_value() && attempt.state == AttemptState::kOk;
  });
  if (slow.empty()) return NotDrawn(WhyNoChunks(input));
  SortLargestFirst(&slow, [](const DetailAttempt* a) { return *a->duration_ns; });
  if (slow.size() > kMostSlow) slow.resize(kMostSlow);
  const std::vector<std::string_view> files(detail.files.begin(), detail.files.end());
  Json rows = Json::array();
  for (size_t i = 0; i < slow.size(); ++i) {
    const DetailAttempt& attempt = *slow[i];
    const double duration = Seconds(*attempt.duration_ns);
    const double cpu = std::min(duration, Seconds(attempt.cpu_ns.value_or(0)));
    const double waiting = std::min(duration - cpu, WaitingSeconds(attempt));
    const std::string entries = attempt.entry_start.has_value()
                                    ? fmt::format(" from {}", HumanCount(*attempt.entry_start))
                                    : fmt::format(" chunk {}", attempt.number);
    // two attempts may be at the same entries: their place distinguishes them
    const std::string label =
        fmt::format("{}. {}{}", i + 1, ShownName(ShortestUniqueEnd(detail.files[attempt.file], files)), entries);
    int order = 0;
    for (const auto& [part, seconds] : {std::pair<std::string_view, double>{"CPU", cpu},
                                        {"waiting", waiting},
                                        {"not measured", std::max(0.0, duration - cpu - waiting)}}) {
      Json row = {{"chunk", label},
                  {"part", part},
                  {"order", order++},
                  {"seconds", Rounded(seconds)},
                  {"duration", Rounded(duration)},
                  {"dataset", ShownName(detail.datasets[attempt.dataset].name)},
                  {"worker", ShownName(detail.workers[attempt.worker].name)}};
      if (attempt.expected_seconds.has_value()) row["expected"] = Rounded(*attempt.expected_seconds);
      if (seconds > 0) rows.push_back(std::move(row));
    }
  }
  return {FilledTemplate("slowest_chunks", {{"parts", std::move(rows)}}),
          fmt::format("slowest {}; black tick: expected from its number of events",
                      HumanDuration(Seconds(*slow.front()->duration_ns)))};
}

// The latency of events that go from thread to thread: how it is distributed, and where it went as time went on.

Drawing DrawEventLatencies(const ChartInput& input) {
  std::vector<const EventLatencyRow*> rows =
      PlacesWhere(input.measurement->events, [](const EventLatencyRow& row) { return row.histogram.has_value(); });
  if (rows.empty()) return NotDrawn(input, "events", "the log does not hold all latencies");
  SortLargestFirst(&rows, [](const EventLatencyRow* a) { return a->events.value_or(0); });
  const std::vector<double>& edges = rows.front()->histogram->edges;
  std::vector<double> below(edges.size() - 1);
  Json bars = Json::array();
  std::vector<std::pair<double, std::string>> marks;
  std::vector<std::string> datasets;
  ShownNames names;
  for (size_t i = 0; i < rows.size(); ++i) {
    const ValueHistogram& histogram = *rows[i]->histogram;
    if (histogram.edges != edges) continue;
    const std::string dataset = i + 1 < kMostColours || rows.size() == kMostColours
                                    ? rows[i]->dataset.has_value() ? names.Of(rows[i]->dataset.str()) : "(no dataset)"
                                    : "other datasets";
    if (datasets.empty() || datasets.back() != dataset) datasets.push_back(dataset);
    for (size_t bin = 0; bin < below.size(); ++bin) {
      const auto count = static_cast<double>(histogram.counts[bin]);
      if (count > 0) bars.push_back(StackedBar(edges[bin], edges[bin + 1], dataset, count, &below[bin]));
    }
  }
  const EventLatencyRow& most = *rows.front();
  std::string finding = Counted(most.events.value_or(0), "event", "events");
  if (rows.size() > 1) finding = datasets.front() + ": " + finding;
  for (const auto& [value, label] : {std::pair(most.p50_seconds, "median"), std::pair(most.p95_seconds, "p95"),
                                     std::pair(most.max_seconds, "longest")}) {
    if (!value.has_value()) continue;
    const std::string words = fmt::format("{} {}", label, HumanDuration(*value));
    finding += ", " + words;
    if (rows.size() == 1) marks.emplace_back(*value, words);
  }
  const bool is_log = edges.front() > 0;
  return {FilledTemplate("runtime_distribution",
                         {{"title", is_log ? "latency of an event (logarithmic) [s]" : "latency of an event [s]"},
                          {"scale", is_log ? "log" : "linear"},
                          {"things", "events"},
                          {"bars", std::move(bars)},
                          {"datasets", datasets},
                          {"top", 1.3 * *absl::c_max_element(below)},
                          {"baseline", Json::array()},
                          {"sides", MarksWithWords(marks, edges.front(), edges.back(), is_log)}}),
          finding};
}

Drawing DrawEventLatencyTimeline(const ChartInput& input) {
  const Measurement& measurement = *input.measurement;
  const auto* lines = measurement.timelines.Find("event_latency");
  if (lines == nullptr || lines->empty() || lines->front().second.size() < 2)
    return NotDrawn(input, "events", "the log has too few latencies");
  struct Part {
    std::string_view key;
    std::string words;
    Number EventLatencyRow::*seconds;
  };
  const Part parts[] = {{"active", "at work", &EventLatencyRow::active_seconds},
                        {"queued", "queued", &EventLatencyRow::queued_seconds},
                        {"external", "external", &EventLatencyRow::external_seconds},
                        {"rest", "nothing ready", &EventLatencyRow::rest_seconds}};
  double latency =
      SumOf<double>(measurement.events, [](const EventLatencyRow& row) { return row.latency_seconds.value_or(0); });
  std::vector<std::string> names;
  Json rows = Json::array();
  std::string finding;
  for (const Part& part : parts) {
    for (const auto& [key, line] : *lines) {
      for (size_t i = 0; key == part.key && i < line.size(); ++i) {
        rows.push_back({{"t", Rounded(std::max(0.0, line[i].seconds))},
                        {"part", part.words},
                        {"order", names.size()},
                        {"seconds", std::isfinite(line[i].value) ? Rounded(line[i].value) : 0.0}});
      }
    }
    double seconds = 0;
    for (const EventLatencyRow& row : measurement.events) seconds += (row.*part.seconds).value_or(0);
    if (latency > 0) {
      finding += fmt::format("{}{} {}", names.empty() ? "" : ", ", part.words, HumanPercent(seconds / latency));
    }
    names.push_back(part.words);
  }
  return {FilledTemplate(
              "activity_timeline",
              {{"parts", std::move(rows)},
               {"field", "seconds"},
               {"title", "mean latency of events [s]"},
               {"time", TimeAxis(measurement.Metric("wall_time").value_or(lines->front().second.back().seconds))},
               {"kinds", ColourScale(names, {"cpu", "wait", "outside", "idle"})}}),
          finding};
}

}  // namespace crema

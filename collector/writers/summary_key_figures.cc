// The key figures of the summary: label, value, bar, mark, and what it is measured against.
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collector/insight/document_fields.h"
#include "collector/insight/human_numbers.h"
#include "collector/insight/key_figure_bands.h"
#include "collector/writers/display_text.h"
#include "collector/writers/summary_blocks.h"
#include "collector/writers/terminal_bars.h"
#include "fmt/format.h"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

struct KeyFigureRow {
  std::string label;
  std::string value = "–";
  std::optional<double> bar = std::nullopt;  ///< share of the full bar
  std::optional<Mark> mark = std::nullopt;
  std::vector<std::string> notes = {};  ///< most important first
};

/// "good ≥ 70 %" and what goes with it, where there is a value; the reason where there is none.
KeyFigureRow ShareRow(std::string label, KeyFigure figure, std::optional<double> share, const std::string& reason) {
  KeyFigureRow row{std::move(label)};
  if (!share.has_value()) {
    row.notes = {reason};
    return row;
  }
  row.value = HumanPercent(*share, 1);
  row.bar = share;
  row.mark = MarkOf(figure, *share);
  row.notes = {GoodHint(figure)};
  return row;
}

KeyFigureRow Elapsed(const Json& document) {
  KeyFigureRow row{"Elapsed"};
  const std::optional<double> wall_time = Metric(document, "wall_time");
  const std::optional<double> ideal = Metric(document, "ideal_wall_time");
  if (wall_time.has_value()) row.value = HumanDuration(*wall_time);
  if (!wall_time.has_value()) row.notes.push_back(WhyNotMeasured(document, "wall_time"));
  if (ideal.has_value()) row.notes.insert(row.notes.end(), {"ideal " + HumanDuration(*ideal), "all cores busy"});
  return row;
}

KeyFigureRow EventRate(const Json& document) {
  KeyFigureRow row{"Event rate"};
  const std::optional<double> rate = Metric(document, "event_rate_wall_khz");
  const std::optional<double> events = Metric(document, "total_events");
  const std::optional<double> per_core = Metric(document, "event_rate_core_hz");
  if (rate.has_value()) row.value = HumanRate(*rate * 1000);
  if (!rate.has_value()) row.notes.push_back(WhyNotMeasured(document, "event_rate_wall_khz"));
  if (events.has_value()) row.notes.push_back(HumanCount(*events) + " events");
  if (per_core.has_value()) row.notes.push_back(HumanRate(*per_core) + " per core");
  return row;
}

KeyFigureRow DataRate(const Json& document) {
  KeyFigureRow row{"Data rate"};
  const std::optional<double> gbps = Metric(document, "overall_rate_gbps");
  const std::optional<double> bytes = Metric(document, "bytes_read_compressed");
  const std::optional<double> ratio = Metric(document, "compression_ratio");
  if (gbps.has_value()) row.value = HumanBitRate(*gbps);
  if (!gbps.has_value()) row.notes.push_back(WhyNotMeasured(document, "overall_rate_gbps"));
  if (bytes.has_value()) row.notes.push_back(HumanData(*bytes) + " read");
  if (ratio.has_value()) row.notes.push_back(fmt::format("compressed {:.2f}×", *ratio));
  return row;
}

KeyFigureRow CpuEfficiency(const Json& document) {
  KeyFigureRow row = ShareRow("CPU efficiency", KeyFigure::kCpuEfficiency, Metric(document, "cpu_efficiency"),
                              WhyNotMeasured(document, "cpu_efficiency"));
  const std::optional<double> job = Metric(document, "job_cpu_efficiency");
  // without chunks what the site sees is all there is
  const auto place = row.bar.has_value() ? row.notes.end() : row.notes.begin();
  if (job.has_value()) row.notes.insert(place, "the site sees " + HumanPercent(*job, 1));
  return row;
}

KeyFigureRow Blocked(const Json& document) {
  std::optional<double> share = Metric(document, "io_overhead_pct");
  if (share.has_value()) *share /= 100;
  KeyFigureRow row =
      ShareRow("Blocked in code", KeyFigure::kWaiting, share, WhyNotMeasured(document, "io_overhead_pct"));
  // the budget's group "Waiting in your code" holds the wait for a CPU too: both stand here, so that they agree
  const std::optional<double> cpu_wait = Metric(document, "chunk_cpu_wait");
  const std::optional<double> busy_time = Metric(document, "busy_time");
  if (share.has_value() && cpu_wait.has_value() && busy_time.value_or(0) > 0) {
    row.notes.push_back("CPU wait " + HumanPercent(*cpu_wait / *busy_time));
  }
  return row;
}

/// The worker that came closest to its limit.
struct TightestWorker {
  std::string name;
  double peak_bytes = 0;
  double limit_bytes = 0;
  double share() const { return peak_bytes / limit_bytes; }
};

std::optional<TightestWorker> FindTightestWorker(const Json& document) {
  std::optional<TightestWorker> tightest;
  for (const Json& worker : ListField(document, "workers")) {
    const std::optional<double> peak = NumberField(worker, "peak_memory_bytes");
    const std::optional<double> limit = NumberField(worker, "memory_limit_bytes");
    if (!peak.has_value() || !limit.has_value() || *limit <= 0) continue;
    const TightestWorker candidate{TextField(worker, "name"), *peak, *limit};
    if (!tightest.has_value() || candidate.share() > tightest->share()) tightest = candidate;
  }
  return tightest;
}

KeyFigureRow PeakMemory(const Json& document) {
  KeyFigureRow row{"Peak memory"};
  const std::optional<double> of_worker = Metric(document, "peak_memory_bytes");
  const std::optional<double> of_process = Metric(document, "process_peak_rss_bytes");
  const std::optional<double> of_tree = Metric(document, "tree_peak_rss_bytes");
  if (of_worker.has_value()) {
    row.value = HumanMemory(*of_worker);
  } else if (of_process.has_value()) {
    row.value = HumanMemory(*of_process);
    row.notes.push_back("largest process");
  } else {
    row.notes.push_back(WhyNotMeasured(document, "peak_memory_bytes"));
    return row;
  }
  const std::optional<TightestWorker> tightest = FindTightestWorker(document);
  if (of_worker.has_value() && tightest.has_value()) {
    row.bar = tightest->share();
    row.mark = MarkOf(KeyFigure::kMemory, tightest->share());
    row.notes = {GoodHint(KeyFigure::kMemory),
                 fmt::format("{} of {}", HumanPercent(tightest->share(), 0), HumanMemory(tightest->limit_bytes)),
                 "on " + tightest->name};
  } else if (of_tree.has_value()) {
    row.notes.push_back(HumanMemory(*of_tree) + " in all processes");
  }
  return row;
}

KeyFigureRow FailedAttempts(const Json& document) {
  KeyFigureRow row{"Failed attempts"};
  const std::optional<double> attempts = Metric(document, "num_attempts");
  const std::optional<double> failed = Metric(document, "num_failed_attempts");
  const double lost = Metric(document, "num_lost_attempts").value_or(0);
  if (!attempts.has_value() || !failed.has_value()) {
    row.notes = {WhyNotMeasured(document, "num_failed_attempts")};
    return row;
  }
  row.value = fmt::format("{} of {}", HumanCount(*failed + lost), HumanCount(*attempts));
  if (*attempts <= 0) return row;
  row.mark = MarkOf(KeyFigure::kFailedAttempts, (*failed + lost) / *attempts);
  row.notes = {GoodHint(KeyFigure::kFailedAttempts)};
  if (lost > 0) row.notes.push_back(HumanCount(lost) + " lost");
  const std::optional<double> unfinished = Metric(document, "num_unfinished_chunks");
  const bool is_running = TextField(Field(document, "run"), "state") == "running";
  if (unfinished.value_or(0) > 0 && !is_running) {
    row.mark = Mark::kBad;
    row.notes.insert(row.notes.begin(), Counted(*unfinished, "chunk", "chunks") + " without result");
  } else if (*failed + lost > 0 && unfinished.has_value() && !is_running) {
    row.notes.push_back("all ok on retry");
  }
  return row;
}

Paint PaintOf(const KeyFigureRow& row) {
  if (row.mark == Mark::kWatch) return Paint::kWatch;
  return row.mark == Mark::kBad ? Paint::kBad : Paint::kBold;
}

/// As many notes as fit; the first one always, cut by the box if it must be.
std::string NotesWithin(const std::vector<std::string>& notes, int columns, const TerminalStyle& style) {
  std::string text;
  for (const std::string& note : notes) {
    const std::string longer = text + (text.empty() ? "" : " · ") + note;
    if (!text.empty() && ColumnsOf(DisplayText(longer, style)) > columns) break;
    text = longer;
  }
  return text;
}

void DrawRow(const KeyFigureRow& row, TerminalBox* box) {
  constexpr int kLabel = 15, kValue = 14, kMark = 9, kGap = 2, kFullBar = 18, kFullColumns = 96;
  const TerminalStyle& style = box->style();
  // what a narrower box lacks is taken from the bar
  const int bar = box->has_bars() ? std::max(6, kFullBar - (kFullColumns - box->inner_columns())) : 0;
  PaintedLine line = {{Pad(row.label, kLabel, Align::kLeft, style)},
                      {Pad(row.value, kValue, Align::kRight, style), PaintOf(row)},
                      {std::string(kGap, ' ')}};
  int taken = kLabel + kValue + kGap;
  const int note_column = taken + (bar > 0 ? bar + kGap : 0) + kMark;
  if (row.bar.has_value() && bar > 0) {
    line.push_back({BarOnTrack(*row.bar, bar, style), PaintOf(row) == Paint::kBold ? Paint::kCompute : PaintOf(row)});
    line.push_back({std::string(kGap, ' ')});
    taken += bar + kGap;
  }
  if (row.mark.has_value()) {
    if (taken + kMark < note_column)
      line.push_back({std::string(static_cast<size_t>(note_column - kMark - taken), ' ')});
    PaintedText mark = MarkText(*row.mark);
    mark.text = Pad(mark.text, kMark, Align::kLeft, style);
    line.push_back(mark);
    taken = note_column;
  }
  // at full width all notes stand under each other; in a narrower box they need the room of the bar that is not there
  if (taken < note_column && box->inner_columns() >= kFullColumns) {
    line.push_back({std::string(static_cast<size_t>(note_column - taken), ' ')});
    taken = note_column;
  }
  const std::string notes = NotesWithin(row.notes, box->inner_columns() - taken, style);
  line.push_back({notes, Paint::kDim});
  box->Line(line);
}

}  // namespace

void AddKeyFigures(const Json& document, TerminalBox* box) {
  box->Rule("key figures");
  DrawRow(Elapsed(document), box);
  DrawRow(EventRate(document), box);
  DrawRow(DataRate(document), box);
  DrawRow(CpuEfficiency(document), box);
  DrawRow(Blocked(document), box);
  DrawRow(PeakMemory(document), box);
  DrawRow(ShareRow("Balance", KeyFigure::kBalance, Metric(document, "balance"), WhyNotMeasured(document, "balance")),
          box);
  DrawRow(FailedAttempts(document), box);
}

}  // namespace crema

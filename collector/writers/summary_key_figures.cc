// The key figures of the summary: label, value, bar, mark, and what it is measured against.
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collector/appearance/human_numbers.h"
#include "collector/document/document_fields.h"
#include "collector/insight/key_figure_bands.h"
#include "collector/insight/key_figures.h"
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
KeyFigureRow ShareRow(const Json& document, std::string label, const ShareFigure& figure) {
  KeyFigureRow row{std::move(label)};
  const std::optional<double> share = ShareOf(document, figure);
  if (!share.has_value()) {
    row.notes = {WhyNotMeasured(document, figure.key)};
    return row;
  }
  row.value = HumanPercent(*share, 1);
  row.bar = share;
  row.mark = MarkOf(figure.band, *share);
  row.notes = {GoodHint(figure.band)};
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
  const std::string compression = CompressionNote(document);
  if (gbps.has_value()) row.value = HumanBitRate(*gbps);
  if (!gbps.has_value()) row.notes.push_back(WhyNotMeasured(document, "overall_rate_gbps"));
  if (bytes.has_value()) row.notes.push_back(HumanData(*bytes) + " read");
  if (!compression.empty()) row.notes.push_back(compression);
  return row;
}

KeyFigureRow CpuEfficiency(const Json& document) {
  KeyFigureRow row = ShareRow(document, "CPU efficiency", kCpuEfficiencyShare);
  const std::optional<double> job = Metric(document, "job_cpu_efficiency");
  // without chunks what the site sees is all there is
  const auto place = row.bar.has_value() ? row.notes.end() : row.notes.begin();
  if (job.has_value()) row.notes.insert(place, "the site sees " + HumanPercent(*job, 1));
  return row;
}

KeyFigureRow Blocked(const Json& document) {
  KeyFigureRow row = ShareRow(document, "Blocked in code", kBlockedShare);
  const std::optional<double> cpu_wait = CpuWaitShare(document);
  if (row.bar.has_value() && cpu_wait.has_value()) row.notes.push_back("CPU wait " + HumanPercent(*cpu_wait));
  return row;
}

KeyFigureRow PeakMemoryRow(const Json& document) {
  KeyFigureRow row{"Peak memory"};
  const std::optional<PeakMemory> memory = FindPeakMemory(document);
  if (!memory.has_value()) {
    row.notes.push_back(WhyNotMeasured(document, "peak_memory_bytes"));
    return row;
  }
  row.value = HumanMemory(memory->bytes);
  if (memory->tightest.has_value()) {
    const TightestWorker& tightest = *memory->tightest;
    row.bar = tightest.share();
    row.mark = MarkOf(memory->band, tightest.share());
    row.notes = {GoodHint(memory->band),
                 fmt::format("{} of {}", HumanPercent(tightest.share(), 0), HumanMemory(tightest.limit_bytes)),
                 "on " + tightest.name};
    return row;
  }
  if (!memory->is_of_worker) row.notes.push_back("largest process");
  if (memory->all_processes_bytes.has_value()) {
    row.notes.push_back(HumanMemory(*memory->all_processes_bytes) + " in all processes");
  }
  return row;
}

KeyFigureRow FailedAttemptsRow(const Json& document) {
  KeyFigureRow row{"Failed attempts"};
  const std::optional<FailedAttempts> figure = FindFailedAttempts(document);
  if (!figure.has_value()) {
    row.notes = {WhyNotMeasured(document, "num_failed_attempts")};
    return row;
  }
  row.value = fmt::format("{} of {}", HumanCount(figure->gone()), HumanCount(figure->attempts));
  row.mark = figure->mark;
  if (!figure->mark.has_value()) return row;
  row.notes = {GoodHint(KeyFigure::kFailedAttempts)};
  if (figure->lost > 0) row.notes.push_back(HumanCount(figure->lost) + " lost");
  if (figure->without_result > 0) {
    row.notes.insert(row.notes.begin(), Counted(figure->without_result, "chunk", "chunks") + " without result");
  }
  if (figure->is_all_recovered) row.notes.emplace_back("all ok on retry");
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
  DrawRow(PeakMemoryRow(document), box);
  DrawRow(ShareRow(document, "Balance", kBalanceShare), box);
  DrawRow(FailedAttemptsRow(document), box);
}

}  // namespace crema

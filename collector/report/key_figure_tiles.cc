// Eight figures that say how a run went, each with what it is measured against.
#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "collector/document/document_fields.h"
#include "collector/insight/human_numbers.h"
#include "collector/insight/key_figure_bands.h"
#include "collector/insight/key_figures.h"
#include "collector/report/html.h"
#include "collector/report/page_block.h"
#include "fmt/format.h"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

struct Tile {
  std::string_view key;
  std::string_view label;
  std::optional<double> value = std::nullopt;
  std::string text = "";  ///< the value as people read it
  std::string picture = "";
  std::string note = "";  ///< HTML
  std::optional<Mark> mark = std::nullopt;
  std::string change = "";  ///< HTML: against the baseline
};

/// `553 k/s`: the digits large, the unit small.
std::string ValueHtml(const Tile& tile) {
  if (!tile.value.has_value()) return "<span class=\"dash\" title=\"not measured\">–</span>";
  const bool is_long = tile.text.find(' ') != tile.text.rfind(' ');  // `6 m 17 s`
  const size_t space = is_long ? std::string::npos : tile.text.find(' ');
  const std::string head = tile.text.substr(0, space);
  const std::string tail = space == std::string::npos ? "" : tile.text.substr(space + 1);
  return Figure("metrics." + std::string(tile.key), *tile.value, head) +
         (tail.empty() ? "" : fmt::format(" <small>{}</small>", Escaped(tail)));
}

std::string TileHtml(const Json& document, const Tile& tile) {
  return fmt::format(
      "<div class=\"tile\" id=\"tile-{}\"><div class=\"tile-head\">{}{}</div><p class=\"value\">{}</p>{}{}<p "
      "class=\"note\">{}</p></div>\n",
      tile.key, Term(document, tile.key, tile.label), tile.mark.has_value() ? Pill(*tile.mark) : "", ValueHtml(tile),
      tile.change, tile.picture, tile.note);
}

/// Three zones of equal width, so that a limit of 1 % is as well seen as one of 70 %; a mark where the figure is.
std::string Gauge(const KeyFigureBand& band, double share) {
  const double low = std::min(band.good, band.bad);
  const double high = std::max(band.good, band.bad);
  const double end = band.more_is_better ? 1.0 : std::min(1.0, 3 * high);
  double at = 0;
  if (share < low) {
    at = share / low / 3;
  } else if (share < high) {
    at = (1 + (share - low) / (high - low)) / 3;
  } else {
    at = end > high ? (2 + (share - high) / (end - high)) / 3 : 1;
  }
  at = std::clamp(at, 0.01, 0.99) * 100;
  const char* first = band.more_is_better ? "bad" : "good";
  const char* last = band.more_is_better ? "good" : "bad";
  return fmt::format(
      "<svg class=\"gauge\" role=\"img\" aria-label=\"{}: {}\"><rect class=\"{}\" x=\"0\" y=\"4\" width=\"32.7%\" "
      "height=\"6\" rx=\"2\"/>"
      "<rect class=\"watch\" x=\"33.6%\" y=\"4\" width=\"32.7%\" height=\"6\" rx=\"2\"/><rect class=\"{}\" x=\"67.2%\" "
      "y=\"4\" width=\"32.7%\" height=\"6\" rx=\"2\"/>"
      "<line class=\"needle\" x1=\"{:.1f}%\" x2=\"{:.1f}%\" y1=\"0\" y2=\"14\"/></svg>",
      WordOf(MarkOf(band, share)), Escaped(GoodHint(band)), first, last, at, at);
}

/// A line over the run, without axes: its shape is the message.
std::string Spark(const std::vector<double>& values, std::string_view kind, std::string_view label) {
  constexpr size_t kColumns = 80;
  constexpr double kHeight = 20;
  if (values.empty()) return "";
  std::vector<double> means(std::min(kColumns, values.size()));
  for (size_t column = 0; column < means.size(); ++column) {
    const size_t from = column * values.size() / means.size();
    const size_t to = std::max(from + 1, (column + 1) * values.size() / means.size());
    for (size_t i = from; i < to; ++i) means[column] += values[i] / static_cast<double>(to - from);
  }
  const double most = *std::max_element(means.begin(), means.end());
  if (!(most > 0)) return "";
  std::string points;
  for (size_t i = 0; i < means.size(); ++i) {
    points += fmt::format("{:.1f},{:.1f} ", 100.0 * (static_cast<double>(i) + 0.5) / static_cast<double>(means.size()),
                          1 + kHeight * (1 - means[i] / most));
  }
  return fmt::format(
      "<svg class=\"spark\" viewBox=\"0 0 100 22\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"{}\">"
      "<polyline class=\"{}\" points=\"{}\"/></svg>",
      Escaped(label), kind, points);
}

std::string Joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : " · ") + part;
  return text;
}

std::string NotMeasured(const Json& document, std::string_view key) {
  return "not measured: " + Escaped(WhyNotMeasured(document, key));
}

std::string ShareInWords(double share) { return HumanPercent(share); }

Tile ShareTile(const PageInput& input, std::string_view label, const ShareFigure& figure, std::string_view note) {
  const Json& document = input.document;
  Tile tile = {figure.key, label, Metric(document, figure.key)};
  const std::optional<double> share = ShareOf(document, figure);
  if (!share.has_value()) {
    tile.note = NotMeasured(document, figure.key);
    return tile;
  }
  tile.text = HumanPercent(*share);
  tile.mark = MarkOf(figure.band, *share);
  tile.picture = Gauge(BandOf(figure.band), *share);
  tile.note = Escaped(note) + " · <span class=\"hint\">" + Escaped(GoodHint(figure.band)) + "</span>";
  const ChangedFigure compared = {figure.key, ChangeOf::kShare, BandOf(figure.band).more_is_better, figure.scale};
  tile.change = ChangeLine(input, compared, ShareInWords);
  return tile;
}

Tile Elapsed(const PageInput& input) {
  const Json& document = input.document;
  Tile tile = {"wall_time", "Elapsed time", Metric(document, "wall_time")};
  if (!tile.value.has_value()) {
    tile.note = NotMeasured(document, tile.key);
    return tile;
  }
  tile.text = HumanDuration(*tile.value);
  tile.change = ChangeLine(input, {tile.key, ChangeOf::kRate, /*more_is_better=*/false}, HumanDuration);
  const std::optional<double> ideal = Metric(document, "ideal_wall_time");
  if (!ideal.has_value() || !(*tile.value > 0)) {
    tile.note = "ideal time: " + NotMeasured(document, "ideal_wall_time");
    return tile;
  }
  const double share = *ideal / *tile.value;
  tile.picture = "<div class=\"elapsed\">" + Bar(share, "cpu") + "</div>";
  tile.note = fmt::format("{} {} ({}) with all cores busy", Term(document, "ideal_wall_time", "ideal"),
                          Escaped(HumanDuration(*ideal)), Escaped(HumanPercent(share)));
  return tile;
}

Tile EventRate(const PageInput& input) {
  const Json& document = input.document;
  Tile tile = {"event_rate_wall_khz", "Event rate", Metric(document, "event_rate_wall_khz")};
  if (!tile.value.has_value()) {
    tile.note = NotMeasured(document, tile.key);
    return tile;
  }
  tile.text = HumanRate(*tile.value * 1000);
  const size_t slash = tile.text.rfind("/s");
  if (slash != std::string::npos) {
    const bool has_scale = tile.text.find(' ') != std::string::npos;
    tile.text.replace(slash, 2, has_scale ? "\u00a0events/s" : " events/s");
  }
  tile.change = ChangeLine(input, {tile.key, ChangeOf::kRate, /*more_is_better=*/true, 1000}, HumanRate);
  tile.picture = Spark(input.detail.over_time.events, "events", "events per second over the run");
  std::vector<std::string> notes;
  const std::optional<double> per_core = Metric(document, "event_rate_core_hz");
  const std::optional<double> events = Metric(document, "total_events");
  if (per_core.has_value()) notes.push_back(Escaped(HumanRate(*per_core)) + " per core");
  if (events.has_value()) notes.push_back(Figure("metrics.total_events", *events, HumanCount(*events)) + " events");
  tile.note = Joined(notes);
  return tile;
}

Tile DataRate(const PageInput& input) {
  const Json& document = input.document;
  Tile tile = {"overall_rate_gbps", "Data rate", Metric(document, "overall_rate_gbps")};
  if (!tile.value.has_value()) {
    tile.note = NotMeasured(document, tile.key);
    return tile;
  }
  tile.text = HumanBitRate(*tile.value);
  tile.change = ChangeLine(input, {tile.key, ChangeOf::kRate, /*more_is_better=*/true}, HumanBitRate);
  tile.picture = Spark(input.detail.over_time.bytes_read, "bytes", "bytes read per second over the run");
  std::vector<std::string> notes;
  const std::optional<double> bytes = Metric(document, "bytes_read_compressed");
  const std::string compression = CompressionNote(document);
  if (bytes.has_value()) notes.push_back(Figure("metrics.bytes_read_compressed", *bytes, HumanData(*bytes)) + " read");
  if (!compression.empty()) notes.push_back(Escaped(compression));
  tile.note = Joined(notes);
  return tile;
}

Tile Waiting(const PageInput& input) {
  Tile tile = ShareTile(input, "Blocked in your code", kBlockedShare, "of chunk time: reads, locks");
  const std::optional<double> cpu_wait = CpuWaitShare(input.document);
  if (tile.value.has_value() && cpu_wait.has_value()) {
    tile.note = "waiting for a CPU: " + Escaped(HumanPercent(*cpu_wait)) + " · " + tile.note;
  }
  return tile;
}

Tile MemoryTile(const PageInput& input) {
  const Json& document = input.document;
  const std::optional<PeakMemory> memory = FindPeakMemory(document);
  Tile tile = {memory.has_value() ? memory->key : "process_peak_rss_bytes", "Peak memory"};
  if (!memory.has_value()) {
    tile.note = NotMeasured(document, "peak_memory_bytes");
    return tile;
  }
  tile.value = memory->bytes;
  tile.text = HumanMemory(memory->bytes);
  tile.change = ChangeLine(input, {tile.key, ChangeOf::kMemory, /*more_is_better=*/false}, HumanMemory);
  if (memory->tightest.has_value()) {
    const TightestWorker& tightest = *memory->tightest;
    tile.mark = MarkOf(memory->band, tightest.share());
    tile.picture = Gauge(memory->band, tightest.share());
    tile.note = fmt::format("{} of {} on {} · <span class=\"hint\">{}</span>",
                            Escaped(HumanPercent(tightest.share(), 0)), Escaped(HumanMemory(tightest.limit_bytes)),
                            Name(tightest.name, 24), Escaped(GoodHint(memory->band)));
    return tile;
  }
  tile.note = memory->is_of_worker ? "of one worker" : "of the largest process";
  if (memory->all_processes_bytes.has_value()) {
    tile.note += " · " + Escaped(HumanMemory(*memory->all_processes_bytes)) + " in all processes";
  }
  tile.note += " · no limit known";
  return tile;
}

Tile FailuresTile(const PageInput& input) {
  const Json& document = input.document;
  Tile tile = {"num_failed_attempts", "Failed attempts"};
  const std::optional<FailedAttempts> figure = FindFailedAttempts(document);
  if (!figure.has_value()) {
    tile.note = NotMeasured(document, tile.key);
    return tile;
  }
  // the digits are the failed ones alone where some were lost too, as the key says; the note has the others
  tile.value = figure->failed;
  tile.text = HumanCount(figure->failed);
  tile.change = ChangeLine(input, {tile.key, ChangeOf::kFailures, /*more_is_better=*/false}, HumanCount);
  tile.mark = figure->mark;
  std::vector<std::string> notes = {
      "of " + Figure("metrics.num_attempts", figure->attempts, HumanCount(figure->attempts)) + " attempts"};
  if (figure->lost > 0) {
    notes.push_back(Figure("metrics.num_lost_attempts", figure->lost, HumanCount(figure->lost)) +
                    " lost with their process");
  }
  if (figure->mark.has_value()) {
    tile.picture = Gauge(BandOf(KeyFigure::kFailedAttempts), figure->gone() / figure->attempts);
    if (figure->without_result > 0) {
      notes.push_back(Escaped(Counted(figure->without_result, "chunk", "chunks")) + " without result");
    }
    if (figure->is_all_recovered) notes.emplace_back("all ok on retry");
    notes.push_back("<span class=\"hint\">" + Escaped(GoodHint(KeyFigure::kFailedAttempts)) + "</span>");
  }
  tile.note = Joined(notes);
  return tile;
}

}  // namespace

std::string KeyFigureTiles(const PageInput& input) {
  std::string html = "<div class=\"tiles\" role=\"group\" aria-label=\"Key figures\">\n";
  for (const Tile& tile :
       {Elapsed(input), EventRate(input), DataRate(input),
        ShareTile(input, "CPU efficiency", kCpuEfficiencyShare, "CPU time ÷ (cores × elapsed)"), Waiting(input),
        MemoryTile(input), ShareTile(input, "Balance", kBalanceShare, "cores busy until the tail"),
        FailuresTile(input)}) {
    html += TileHtml(input.document, tile);
  }
  return html + "</div>\n";
}

}  // namespace crema

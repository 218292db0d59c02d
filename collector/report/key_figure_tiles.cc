// Eight figures that say how a run went, each with what it is measured against.
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "collector/appearance/human_numbers.h"
#include "collector/insight/key_figure_rows.h"
#include "collector/report/html.h"
#include "collector/report/page_block.h"
#include "fmt/format.h"

namespace crema {
namespace {

/// `553 k/s`: the digits large, the unit small.
std::string ValueHtml(const Measurement& measurement, const KeyFigureRow& row) {
  if (!row.value.has_value()) return "<span class=\"dash\" title=\"not measured\">–</span>";
  const bool is_long = row.text.find(' ') != row.text.rfind(' ');  // `6 m 17 s`
  const size_t space = is_long ? std::string::npos : row.text.find(' ');
  const std::string head = row.text.substr(0, space);
  const std::string tail = space == std::string::npos ? "" : row.text.substr(space + 1);
  // failures and those that were lost are two metrics
  const bool is_exact = row.value == measurement.Metric(row.figure.key);
  return (is_exact ? Figure("metrics." + std::string(row.figure.key), *row.value, head) : Escaped(head)) +
         (tail.empty() ? "" : fmt::format("\u00a0<small>{}</small>", Escaped(tail)));
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
      ToString(MarkOf(band, share)), Escaped(GoodHint(band)), first, last, at, at);
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

std::string PictureOf(const PageInput& input, const KeyFigureRow& row) {
  if (row.band.has_value()) return Gauge(*row.band, *row.share);
  if (row.share.has_value()) return "<div class=\"elapsed\">" + Bar(*row.share, "cpu") + "</div>";
  if (!row.value.has_value()) return "";
  if (row.figure.key == "wall_time") {
    const std::optional<double> ideal = input.measurement.Metric("ideal_wall_time");
    if (!ideal.has_value() || !(*row.value > 0)) return "";
    return "<div class=\"elapsed\">" + Bar(*ideal / *row.value, "cpu") + "</div>";
  }
  const TimeBins& over_time = input.detail.over_time;
  if (row.figure.key == "event_rate_wall_khz") {
    return Spark(over_time.events, "events", "events per second over the run");
  }
  if (row.figure.key == "overall_rate_gbps") {
    return Spark(over_time.bytes_read, "bytes", "bytes read per second over the run");
  }
  return "";
}

std::string NotesHtml(const KeyFigureRow& row) {
  std::string html;
  const auto add = [&html](const std::string& note) { html += (html.empty() ? "" : " · ") + note; };
  if (row.value.has_value() && !row.meaning.empty()) add(Escaped(row.meaning));
  for (const ToldFigure& note : row.notes) add(ToldHtml(note));
  if (!row.why_not.empty()) add("not measured: " + Escaped(row.why_not));
  return html;
}

std::string TileHtml(const PageInput& input, const KeyFigureRow& row) {
  return fmt::format(
      "<div class=\"tile\" id=\"tile-{}\"><div class=\"tile-head\">{}{}</div><p class=\"value\">{}</p>{}{}<p "
      "class=\"note\">{}</p></div>\n",
      row.figure.key, Term(input.measurement, row.figure.key, row.label), row.mark.has_value() ? Pill(*row.mark) : "",
      ValueHtml(input.measurement, row), ChangeLine(input, row.figure, row.words), PictureOf(input, row),
      NotesHtml(row));
}

}  // namespace

std::string KeyFigureTiles(const PageInput& input) {
  std::string html = "<div class=\"tiles\" role=\"group\" aria-label=\"Key figures\">\n";
  for (const KeyFigureRow& row : KeyFigureRows(input.measurement)) html += TileHtml(input, row);
  return html + "</div>\n";
}

}  // namespace crema

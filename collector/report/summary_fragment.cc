#include <cstdlib>

#include "collector/diagnosis/run_head.h"
#include "collector/diagnosis/verdicts.h"
#include "collector/format/colours.h"
#include "collector/format/human_numbers.h"
#include "collector/measurement/budget_parts.h"
#include "collector/report/html.h"
#include "collector/report/report_page.h"
#include "collector/terminal/terminal.h"

namespace crema {
namespace {

constexpr size_t kMostWarnings = 3;
constexpr size_t kMostRows = 20;
constexpr size_t kLongestSentence = 600;

constexpr std::string_view kStyle = R"(
.crema{max-width:1000px;font:13px/1.45 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;
 font-variant-numeric:tabular-nums;text-align:left}
.crema p{margin:0}
.crema .headline{font-size:16px;font-weight:600;line-height:1.4}
.crema .muted,.crema small{opacity:.72}
.crema small{font-size:12px}
.crema .figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(195px,1fr));gap:8px;margin:12px 0}
.crema .figures>div{border:1px solid rgba(128,128,128,.35);border-radius:6px;padding:7px 10px;overflow-wrap:anywhere}
.crema .figures b{display:block;font-size:19px;font-weight:600;line-height:1.35}
.crema .mark{float:right;font-size:12px;padding-left:8px;border-bottom:2px solid}
.crema .finding{border-left:3px solid;padding:1px 0 1px 10px;margin:7px 0;overflow-wrap:anywhere}
.crema h4{font-size:13px;font-weight:600;margin:14px 0 6px}
.crema .bar{display:flex;gap:2px;height:14px;margin:0 0 6px}
.crema .bar i{display:block;border-radius:2px}
.crema .key{display:inline-block;width:10px;height:10px;border-radius:2px;margin-right:7px}
.crema details{margin:8px 0}
.crema summary{cursor:pointer;font-weight:600}
.crema .wide{overflow-x:auto}
.crema.crema table td.parts{text-align:left;opacity:.72;font-size:12px}
.crema table{border-collapse:collapse;border:0;margin:4px 0;font-size:13px;color:inherit}
.crema table th,.crema table td{border:0;padding:3px 14px 3px 0;text-align:right;white-space:nowrap;background:none}
.crema table th:first-child,.crema table td:first-child{text-align:left}
.crema table thead th{font-weight:400;opacity:.72;border-bottom:1px solid rgba(128,128,128,.45)}
.crema.crema table tbody tr{background:none}
.crema table tbody td{border-bottom:1px solid rgba(128,128,128,.18)}
)";

/// Names come from records: a sentence that holds one may be endless.
std::string Sentence(std::string_view text) { return Name(text, kLongestSentence); }

std::string Capitalized(std::string text) {
  if (!text.empty()) text[0] = absl::ascii_toupper(text[0]);
  return text;
}

std::string ColourOf(Mark mark) {
  return NeutralColour(mark == Mark::kGood ? "events" : mark == Mark::kWatch ? "wait" : "limit");
}

std::string FragmentHead(const Measurement& measurement) {
  const std::string& headline = measurement.headline;
  const std::string when = WhenAndOnWhat(measurement);
  return fmt::format("<p class=\"headline\">{}</p><p class=\"muted\">{} · {}{}{}</p>",
                     Sentence(headline.empty() ? Headline(measurement) : headline), Name(RunName(measurement)),
                     Escaped(StateText(measurement).text), when.empty() ? "" : " · ", Escaped(when));
}

std::string Tile(const Measurement& measurement, const KeyFigureRow& row) {
  std::string notes;
  for (const FigureText& note : row.notes) notes += (notes.empty() ? "" : " · ") + FigureHtml(note);
  if (!row.why_not.empty()) notes += (notes.empty() ? "" : " · ") + Sentence(row.why_not);
  std::string mark;
  if (row.mark.has_value()) {
    mark = fmt::format("<span class=\"mark\" style=\"border-color:{}\">{} {}</span>", ColourOf(*row.mark),
                       SignOf(*row.mark), ToString(*row.mark));
  }
  const std::optional<double> exact = measurement.Metric(row.figure.key);
  const std::string title =
      fmt::format("metrics['{}'] = {}: {}", row.figure.key, exact.has_value() ? fmt::format("{}", *exact) : "None",
                  DefinitionOf(measurement, row.figure.key).substr(0, kLongestSentence));
  return fmt::format("<div title=\"{}\">{}<span class=\"muted\">{}</span><b>{}</b><small>{}</small></div>",
                     Escaped(title), mark, row.label, Escaped(row.text), notes);
}

std::string Figures(const Measurement& measurement) {
  std::string tiles;
  for (const KeyFigureRow& row : KeyFigureRows(measurement)) tiles += Tile(measurement, row);
  return "<div class=\"figures\">" + tiles + "</div>";
}

std::string Finding(const VerdictGroup& group) {
  const VerdictRow& verdict = *group.cause;
  std::string symptoms;
  for (const VerdictRow* symptom : group.symptoms) {
    symptoms += "<p class=\"muted\">└ " + Sentence(symptom->sentence) + "</p>";
  }
  const std::optional<Mark> mark = MarkOf(verdict);
  const std::string saving = SavingText(verdict);
  return fmt::format(
      "<div class=\"finding\" style=\"border-left-color:{}\"><b>{} {}</b>{}<p>{}</p>{}<p class=\"muted\">{}</p></div>",
      mark.has_value() ? ColourOf(*mark) : NeutralColour("baseline"), mark.has_value() ? SignOf(*mark) : "·",
      mark.has_value() ? ToString(*mark) : "note",
      saving.empty() ? "" : " · " + Escaped(saving) + " of the core-seconds", Sentence(verdict.sentence), symptoms,
      Sentence(verdict.suggestion));
}

std::string FragmentFindings(const Measurement& measurement) {
  const std::vector<VerdictGroup> groups = GroupVerdicts(measurement);
  if (groups.empty()) return "<p class=\"muted\">Nothing stands out in what was measured.</p>";
  std::string html;
  for (size_t i = 0; i < groups.size() && i < kMostFindings; ++i) html += Finding(groups[i]);
  if (groups.size() > kMostFindings) {
    html += fmt::format("<p class=\"muted\">{} more: <code>crema verdict</code></p>", groups.size() - kMostFindings);
  }
  return html;
}

std::string ColourOfGroup(std::string_view group) {
  const BudgetGroupKind* known = FindBudgetGroup(group);
  return NeutralColour(known == nullptr ? "baseline" : known->colour);
}

std::string Budget(const Measurement& measurement) {
  const SummaryTable table = BudgetSummary(measurement);
  if (!table.why_not.empty()) {
    return "<h4>Where the core-seconds went</h4><p class=\"muted\">Not known: " + Sentence(table.why_not) + "</p>";
  }
  std::string boxes, rows;
  for (size_t i = 0; i < table.bars.size(); ++i) {
    const PaintedLine& row = table.text.rows[i];
    const BarOfRow& bar = table.bars[i];
    const std::string colour = ColourOfGroup(row[0].text);
    if (bar.share > 0) boxes += fmt::format("<i style=\"flex:{:.4f} 1 0;background:{}\"></i>", bar.share, colour);
    rows += fmt::format(
        "<tr><td><span class=\"key\" style=\"background:{}\"></span>{}</td><td>{}</td><td>{}</td><td "
        "class=\"parts\">{}</td></tr>",
        colour, Name(row[0].text), Escaped(row[1].text), Escaped(row[2].text),
        Escaped(bar.below.empty() ? bar.instead_of : bar.below));
  }
  return fmt::format("<h4>{}</h4><div class=\"bar\">{}</div><div class=\"wide\"><table><tbody>{}</tbody></table></div>",
                     Escaped(Capitalized(table.title)), boxes, rows);
}

std::string TableHtml(const SummaryTable& table, bool is_open) {
  if (table.text.rows.empty()) return "";
  std::string head, body;
  for (const TableColumn& column : table.text.columns) head += "<th>" + Escaped(column.header) + "</th>";
  const size_t rows = table.text.rows.size(), shown = std::min(rows, kMostRows);
  for (size_t at = 0; at < shown; ++at) {
    const PaintedLine& row = table.text.rows[at];
    body += "<tr>";
    for (size_t i = 0; i < row.size(); ++i) {
      body += "<td>" + (i == 0 ? Name(row[i].text) : Escaped(row[i].text)) + "</td>";
    }
    body += "</tr>";
  }
  std::string more;
  const size_t all = rows + table.left_out;
  if (all > shown) {
    more = fmt::format("<p class=\"muted\">{} more: <code>crema show --table {}</code></p>", all - shown, table.name);
  }
  return fmt::format(
      "<details{}><summary>{} ({})</summary><div class=\"wide\"><table><thead><tr>{}</tr></thead><tbody>{}</tbody>"
      "</table></div>{}</details>",
      is_open ? " open" : "", Escaped(Capitalized(table.title)), all, head, body, more);
}

std::string Trust(const Measurement& measurement) {
  std::string items;
  for (const TrustItem& item : TrustItems(measurement)) {
    items += fmt::format("{}{} {}", items.empty() ? "" : " · ", SignOf(item.mark), FigureHtml(item.reported));
  }
  if (items.empty()) items = "▲ Nothing is known about the quality of these figures";
  std::string lines;
  const std::vector<std::string>& warnings = measurement.quality.warnings;
  for (size_t i = 0; i < std::min(kMostWarnings, warnings.size()); ++i)
    lines += "<p>▲ " + Sentence(warnings[i]) + "</p>";
  std::vector<std::string> more;
  size_t not_measured = 0;
  for (const UnmeasuredFigures& figures : FindUnmeasured(measurement)) not_measured += figures.keys.size();
  if (not_measured > 0)
    more.push_back(Counted(not_measured, "figure", "figures") + " not measured (may need guards or options)");
  if (warnings.size() > kMostWarnings) {
    more.push_back(Counted(warnings.size() - kMostWarnings, "further warning", "further warnings"));
  }
  std::string last;
  for (const std::string& part : more) last += (last.empty() ? "" : " · ") + Escaped(part);
  if (!last.empty()) last = "<p class=\"muted\">" + last + ": <code>crema show --table quality</code></p>";
  return "<h4>Can I trust this?</h4>" + lines + "<p class=\"muted\">" + items + "</p>" + last;
}

using Rgb = std::array<double, 3>;  // 0 to 255

/// WCAG 2.2, "relative luminance": the contrast to white and to a grey of 17 is 4.4 there.
constexpr double kBetweenWhiteAndDark = 0.19;
constexpr int kSteps = 10;

Rgb RgbOf(std::string_view hex) {
  Rgb rgb = {};
  for (size_t i = 0; i < rgb.size(); ++i) rgb[i] = std::stoi(std::string(hex.substr(1 + 2 * i, 2)), nullptr, 16);
  return rgb;
}

double Luminance(const Rgb& rgb) {
  constexpr Rgb kWeights = {0.2126, 0.7152, 0.0722};
  double sum = 0;
  for (size_t i = 0; i < rgb.size(); ++i) {
    const double value = rgb[i] / 255;
    sum += kWeights[i] * (value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4));
  }
  return sum;
}

}  // namespace

std::string SummaryFragment(const Measurement& measurement) {
  std::string html = "<div class=\"crema\"><style>" + std::string(kStyle) + "</style>";
  html += FragmentHead(measurement) + Figures(measurement) + FragmentFindings(measurement) + Budget(measurement);
  html += TableHtml(SectionSummary(measurement), /*is_open=*/true);
  for (const SummaryTable& table : {DatasetSummary(measurement), WorkerSummary(measurement), CutSummary(measurement)}) {
    html += TableHtml(table, /*is_open=*/false);
  }
  return html + Trust(measurement) + "</div>\n";
}

std::string NeutralColour(std::string_view name) {
  for (const Colour& colour : Colours()) {
    if (colour.name != name) continue;
    const Rgb light = RgbOf(colour.light), dark = RgbOf(colour.dark);
    Rgb nearest = light;
    for (int step = 1; step <= kSteps; ++step) {
      Rgb mixed = {};
      for (size_t i = 0; i < mixed.size(); ++i) mixed[i] = light[i] + (dark[i] - light[i]) * step / kSteps;
      const auto distance = [](const Rgb& rgb) { return std::fabs(Luminance(rgb) - kBetweenWhiteAndDark); };
      if (distance(mixed) < distance(nearest)) nearest = mixed;
    }
    return fmt::format("#{:02x}{:02x}{:02x}", std::lround(nearest[0]), std::lround(nearest[1]),
                       std::lround(nearest[2]));
  }
  std::abort();  // a name that is not in the table is a mistake here, which every test of the fragment would meet
}

}  // namespace crema

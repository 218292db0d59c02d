// What one reads first, and often all that one reads: the verdict and its findings, the key figures, the change against
// the baseline, and how far the figures can be trusted.

#include "absl/strings/match.h"
#include "collector/charts/time_charts.h"
#include "collector/comparison/comparison.h"
#include "collector/diagnosis/between_runs.h"
#include "collector/diagnosis/run_head.h"
#include "collector/diagnosis/verdict_table.h"
#include "collector/diagnosis/verdicts.h"
#include "collector/format/human_numbers.h"
#include "collector/idioms/sequences.h"
#include "collector/report/html.h"
#include "collector/report/page_block.h"
#include "collector/terminal/document_table.h"

namespace crema {
namespace {

std::string_view TitleOfBlock(std::string_view id) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kTitles = {{
      {"time", "Where time goes"},
      {"timeline", "Timeline"},
      {"chunks", "Chunks"},
      {"workers", "Workers"},
      {"inputs", "Datasets and files"},
      {"fine", "Fine metrics"},
      {"failures", "Failures and retries"},
      {"environment", "Environment"},
  }};
  const auto* found = FindBy(kTitles, &std::pair<std::string_view, std::string_view>::first, id);
  return found == nullptr ? "Overview" : found->second;
}

/// `slow-worker` as a person says it.
std::string TitleOf(std::string_view id) {
  std::string title = absl::StrReplaceAll(std::string(id), {{"-", " "}});
  const bool is_abbreviation = absl::StartsWith(title, "cpu ") || absl::StartsWith(title, "gil ");
  for (size_t i = 0; i < std::min<size_t>(is_abbreviation ? 3 : 1, title.size()); ++i) {
    title[i] = absl::ascii_toupper(title[i]);
  }
  return title;
}

std::string Evidence(const VerdictRow& verdict) {
  std::string items;
  for (const EvidenceRow& row : verdict.evidence) {
    if (!row.value.has_value()) continue;
    items += fmt::format("<li><code>{}</code> {}</li>", Escaped(row.key), HumanNumber(*row.value));
  }
  if (items.empty()) return "";
  return fmt::format("<details><summary>evidence</summary><ul class=\"evidence\">{}</ul></details>", items);
}

/// What comes of the finding, with a way to where it is shown.
std::string Symptoms(const VerdictGroup& group) {
  std::string items;
  for (const VerdictRow* symptom : group.symptoms) {
    const std::string_view block = BlockOfVerdict(symptom->id);
    items += fmt::format("<li>{} <a href=\"#{}\">{}</a></li>", Escaped(symptom->sentence), block, TitleOfBlock(block));
  }
  return items.empty() ? "" : "<ul class=\"symptoms\">" + items + "</ul>";
}

/// `Most often: XRootD: operation expired (2 of 3; first on w5 at 2:16)`: what failed attempts said.
std::string ErrorOfMost(const PageInput& input) {
  const RunDetail& detail = input.detail;
  struct Said {
    size_t count = 0;
    const DetailAttempt* first = nullptr;
  };
  std::map<uint32_t, Said> by_error;
  size_t all = 0;
  for (const DetailAttempt& attempt : detail.attempts) {
    if (attempt.error == 0) continue;
    Said& said = by_error[attempt.error];
    ++said.count;
    ++all;
    if (said.first == nullptr || attempt.start_ns < said.first->start_ns) said.first = &attempt;
  }
  const auto* most = LargestBy(by_error, [](const auto& one) { return one.second.count; }).first;
  if (most == nullptr) return "";
  const DetailAttempt& first = *most->second.first;
  return fmt::format("<p>Most often: <q>{}</q> ({} of {}; first on {} at {}).</p>",
                     Name(detail.errors[most->first], 120), ExactCount(most->second.count), ExactCount(all),
                     Name(NamesOfWorkers(input.measurement).Of(detail.workers[first.worker].name)),
                     Escaped(HumanClock(first.start_ns / 1e9)));
}

/// The address of what a finding is about: a slow period's stretch of the timeline, where there is one.
std::string AddressOf(const PageInput& input, const std::string& verdict) {
  std::string block(BlockOfVerdict(verdict));
  if (block != "timeline" || !input.detail.why_no_attempts.empty()) return block;
  std::optional<double> from, to;
  const std::vector<SlowPeriodRow>& periods = input.measurement.slow_spells;
  if (verdict == "slow-spell" && !periods.empty()) {
    from = periods.front().start;
    to = periods.front().stop;
  }
  if (verdict == "long-tail" && input.detail.tail_start_seconds.has_value()) {
    from = input.detail.tail_start_seconds;
    to = input.detail.seconds;
  }
  if (!from.has_value() || !to.has_value() || !(*to > *from)) return block;
  const double around = (*to - *from) / 4;  // what was before and after distinguishes it from the rest
  return fmt::format("{}&amp;zoom={:.9g}_{:.9g}", block, std::max(0.0, *from - around),
                     std::min(input.detail.seconds, *to + around));
}

std::string Card(const PageInput& input, const VerdictGroup& group, size_t number) {
  const VerdictRow& verdict = *group.cause;
  const std::string& id = verdict.id;
  const Mark mark = MarkOf(verdict).value_or(Mark::kGood);
  const std::string_view block = BlockOfVerdict(id);
  std::string html =
      fmt::format("<article class=\"finding {}\" id=\"finding-{}\"><header><h3><span class=\"no\">{}</span> {}</h3>",
                  ToString(mark), number, number, Escaped(TitleOf(id)));
  if (const std::string saving = SavingText(verdict); !saving.empty()) {
    html += fmt::format("<span class=\"saving\" title=\"share of the core-seconds that could be saved\">{}</span>",
                        Escaped(saving));
  } else {
    html += fmt::format("<span class=\"saving\">{} {}</span>", SignOf(mark), mark == Mark::kGood ? "note" : "risk");
  }
  html += fmt::format("</header><p>{}</p>{}", Escaped(verdict.sentence), Symptoms(group));
  if (id == "failing-chunks") html += ErrorOfMost(input);
  const std::string& suggestion = verdict.suggestion;
  if (!suggestion.empty()) html += fmt::format("<p class=\"advice\">{}", Escaped(suggestion));
  if (suggestion.empty()) html += "<p>";
  html += fmt::format(" <a href=\"#{}\">{}</a></p>{}</article>\n", AddressOf(input, id), TitleOfBlock(block),
                      Evidence(verdict));
  return html;
}

std::string Findings(const PageInput& input) {
  const std::vector<VerdictGroup> groups = GroupVerdicts(input.measurement);
  if (groups.empty()) return "<p class=\"quiet\">✓ Nothing stands out in what was measured.</p>\n";
  std::string shown, folded;
  size_t number = 0;
  for (const VerdictGroup& group : groups) {
    ++number;
    (number <= kMostFindings ? shown : folded) += Card(input, group, number);
  }
  std::string html = fmt::format("<div class=\"findings\">\n{}</div>\n", shown);
  if (number > kMostFindings) {
    html += fmt::format(
        "<details class=\"more-findings\"><summary>{}</summary><div class=\"findings\">\n{}</div></details>\n",
        Counted(number - kMostFindings, "further finding", "further findings"), folded);
  }
  return html;
}

/// `3.1 %` of a share is `3.1 points`.
std::string InPoints(std::string text) { return text.replace(text.rfind('%'), 1, "points"); }

/// `+12.0 %`, `-3.1 points`, `+2`.
std::string SignedChange(ChangeOf kind, double change) {
  if (kind == ChangeOf::kFailures) return (change < 0 ? "" : "+") + HumanCount(change);
  return kind == ChangeOf::kShare ? InPoints(HumanChange(change)) : HumanChange(change);
}

std::string Noise(ChangeOf kind, double noise) {
  if (kind == ChangeOf::kFailures) return HumanFactor(noise);
  return kind == ChangeOf::kShare ? InPoints(HumanPercent(noise, 1)) : HumanPercent(noise);
}

/// With all digits, so that no difference is rounded away.
std::string InFull(const std::optional<double>& value) { return value.has_value() ? ExactNumber(*value) : "none"; }

/// Why a change has no colour.
std::string WhyPlain(ChangeOf kind, const FigureChange& change) {
  const bool is_noise = change.noise.has_value() && std::fabs(*change.change) <= *change.noise;
  if (is_noise) return ": within the noise, \u00b1" + Noise(kind, *change.noise);
  return kind == ChangeOf::kShare ? ": under 5 points" : ": under 5 %";
}

/// Under a key figure: how it differs from the baseline's, coloured beyond 5 % and the noise. `words` writes the
/// baseline's value. Empty without a baseline.
std::string ChangeLine(const PageInput& input, const ChangedFigure& figure, std::string (*words)(double)) {
  if (input.baseline == nullptr) return "";
  const std::optional<FigureChange> change = ChangeSince(*input.baseline, input.measurement, figure);
  if (!change.has_value()) {
    if (!input.measurement.Metric(figure.key).has_value()) return "";
    return "<p class=\"change\">not measured in the baseline</p>";
  }
  const std::string before = Escaped(words(change->before));
  if (!change->change.has_value()) return "<p class=\"change\">baseline " + before + "</p>";
  const bool is_same =
      figure.kind == ChangeOf::kShare ? std::fabs(*change->change) < kRoundsToZero : *change->change == 0;
  if (is_same) return "<p class=\"change\">as in the baseline</p>";
  const std::string text = fmt::format("{} from {}", Escaped(SignedChange(figure.kind, *change->change)), before);
  const bool is_of_other_work = figure.key == "wall_time" && !HaveSameEvents(*input.baseline, input.measurement);
  if (is_of_other_work) return fmt::format("<p class=\"change\">{}: of other events</p>", text);
  if (!change->is_better.has_value()) {
    return fmt::format("<p class=\"change\">{}{}</p>", text, Escaped(WhyPlain(figure.kind, *change)));
  }
  const char* word = *change->is_better ? "better" : "worse";
  return fmt::format("<p class=\"change {}\">{} {}: {}</p>", word, *change->is_better ? "✓" : "✕", text, word);
}

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
  const auto [low, high] = std::minmax(band.good, band.bad);
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
      "height=\"6\" rx=\"2\"/><rect class=\"watch\" x=\"33.6%\" y=\"4\" width=\"32.7%\" height=\"6\" rx=\"2\"/><rect "
      "class=\"{}\" x=\"67.2%\" y=\"4\" width=\"32.7%\" height=\"6\" rx=\"2\"/><line class=\"needle\" x1=\"{:.1f}%\" "
      "x2=\"{:.1f}%\" y1=\"0\" y2=\"14\"/></svg>",
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
      "<svg class=\"spark\" viewBox=\"0 0 100 22\" preserveAspectRatio=\"none\" role=\"img\" "
      "aria-label=\"{}\"><polyline class=\"{}\" points=\"{}\"/></svg>",
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
  for (const FigureText& note : row.notes) add(FigureHtml(note));
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

std::string KeyFigureTiles(const PageInput& input) {
  std::string html = "<div class=\"tiles\" role=\"group\" aria-label=\"Key figures\">\n";
  for (const KeyFigureRow& row : KeyFigureRows(input.measurement)) html += TileHtml(input, row);
  return html + "</div>\n";
}

std::string Warnings(const std::vector<std::string>& warnings) {
  if (warnings.empty()) return "";
  std::string items;
  for (const std::string& warning : warnings) items += fmt::format("<li>{}</li>", Escaped(warning));
  return fmt::format("<details{}><summary>▲ {}</summary><ul>{}</ul></details>", warnings.size() <= 3 ? " open" : "",
                     Counted(warnings.size(), "warning", "warnings"), items);
}

/// One row for each reason; where it is that of many figures, these are folded.
std::string NotMeasured(const Measurement& measurement) {
  constexpr size_t kMostNamed = 3;
  std::string items;
  size_t count = 0;
  for (const UnmeasuredFigures& figures : FindUnmeasured(measurement)) {
    count += figures.keys.size();
    std::string keys;
    for (const std::string& key : figures.keys) {
      keys += fmt::format("{}<code>{}</code>", keys.empty() ? "" : ", ", Escaped(key));
    }
    if (figures.keys.size() > kMostNamed) {
      keys = fmt::format("<details><summary>{} figures</summary>{}</details>", figures.keys.size(), keys);
    }
    items += fmt::format("<dt>{}</dt><dd>{}</dd>", keys, Escaped(figures.reason));
  }
  if (count == 0) return "";
  return fmt::format("<details><summary>{} not measured, and why</summary><dl class=\"reasons\">{}</dl></details>",
                     Counted(count, "figure", "figures"), items);
}

std::string TrustCard(const PageInput& input) {
  std::string items;
  for (const TrustItem& item : TrustItems(input.measurement)) {
    items += fmt::format("<li><span class=\"sign {}\">{}</span> {}</li>\n", ToString(item.mark), SignOf(item.mark),
                         FigureHtml(item.reported));
  }
  if (items.empty()) items = "<li><span class=\"sign watch\">▲</span> Nothing is known about their quality</li>";
  return fmt::format(
      "<section class=\"card trust\" id=\"trust\" aria-label=\"Can I trust these numbers?\"><ul><li><b>Can I trust "
      "these numbers?</b></li>\n{}</ul>{}{}</section>\n",
      items, Warnings(input.measurement.quality.warnings), NotMeasured(input.measurement));
}

}  // namespace

std::string_view BlockOfVerdict(std::string_view verdict) {
  const VerdictRule* rule = FindRule(verdict);
  return rule == nullptr ? "overview" : rule->place;
}

PageBlock OverviewBlock(const PageInput& input) {
  PageBlock block = {"overview", "Overview"};
  const std::string& headline = input.measurement.headline;
  block.html = fmt::format(
      "<section class=\"card verdict\" aria-label=\"Verdict\">\n<p class=\"headline\">{}</p>\n{}</section>\n",
      Escaped(headline.empty() ? Headline(input.measurement) : headline), Findings(input));
  block.html += KeyFigureTiles(input) + TrustCard(input);
  return block;
}

std::string BaselineLine(const PageInput& input) {
  if (input.baseline == nullptr) return "";
  const std::optional<RunTimes> times = TimesOf(input.baseline->run, {"%a %d %b %Y", ", "});
  std::string html = fmt::format("<p class=\"when\" id=\"baseline\">Baseline: {}{}. Charts show it in grey.",
                                 Name(RunName(*input.baseline), 80),
                                 times.has_value() ? ", " + Escaped(times->start) + " UTC" : std::string());
  constexpr size_t kMost = 3;
  const std::vector<ComparedValue> differing = Compare({input.baseline, &input.measurement}).Unequal();
  std::string unequal;
  for (size_t at = 0; at < std::min(kMost, differing.size()); ++at) {
    const ComparedValue& value = differing[at];
    unequal += fmt::format("{}{} {} before, {} now", unequal.empty() ? "" : "; ",
                           Name(value.label.empty() ? value.key : value.label), Escaped(InFull(value.values.front())),
                           Escaped(InFull(value.values.back())));
  }
  if (differing.size() > kMost) unequal += fmt::format("; {} more: crema compare shows them", differing.size() - kMost);
  if (!unequal.empty()) html += " <strong>What should be equal is not: " + unequal + ".</strong>";
  return html + "</p>";
}

// What changes would bring, best first, by a replay of the run's own chunks; and the run on other numbers of cores.

namespace {

/// A change as one says it. One that the report does not ask for stays the option of crema predict.
std::string InWords(const PredictedRow& row) {
  const std::string& change = row.change;
  const size_t space = change.find(' '), equals = change.rfind('=');
  const std::string option = change.substr(0, space);
  double cores = 0;
  if (option == "--cores" && absl::SimpleAtod(change.substr(space + 1), &cores))
    return CoresWithLanes(cores, row.lanes);
  if (absl::StartsWith(option, "--faster") && equals != change.npos) {
    return fmt::format("{}{} {} times as fast", option == "--faster" ? "" : "kernels and copies of ",
                       change.substr(space + 1, equals - space - 1), change.substr(equals + 1));
  }
  if (option == "--without-waiting") return "chunks never blocked";
  if (option == "--order") return "longest chunks first";
  return option == "--all-from-start" ? "no worker late or lost" : change;
}

std::string ChangesTable(const Prediction& prediction) {
  HtmlTable table;
  table.caption = "Changes, by the wall time that they would bring";
  table.columns = {{"with", false, "", true},
                   {"wall time"},
                   {"90 % of runs", false},
                   {"change", true, "of the wall time, against this run"}};
  std::string not_reported;
  for (const PredictedRow& row : prediction.rows) {
    const std::string change = Escaped(row.change);
    if (!row.has_answer()) {
      not_reported +=
          fmt::format("<p class=\"more\">not predicted for <code>{}</code>: {}</p>\n", change, Escaped(row.why_not));
      continue;
    }
    const PredictedValue& time = row.wall_time;
    const double against = prediction.measured > 0 ? time.value / prediction.measured - 1 : 0;
    table.rows.push_back({{fmt::format("<span title=\"{}\">{}</span>", change, Escaped(InWords(row)))},
                          NumberCell(time.value, HumanDuration),
                          {Escaped(HumanDurationRange(time.low, time.high))},
                          {Escaped(HumanChange(against)), against}});
  }
  return (table.rows.empty() ? "" : Render(table)) + not_reported;
}

std::string ScalingTable(const std::vector<ScalingPoint>& points) {
  HtmlTable table;
  table.caption = "This run on other numbers of cores";
  table.columns = {{"cores"}, {"wall time"}, {"90 % of runs", false}, {"speed-up"}, {"efficiency"}};
  for (const ScalingPoint& point : points) {
    table.rows.push_back({NumberCell(point.cores, HumanNumber),
                          NumberCell(point.wall_time, HumanDuration),
                          {*point.predicted ? Escaped(HumanDurationRange(*point.low, *point.high)) : "–"},
                          NumberCell(point.speedup, HumanNumber),
                          NumberCell(point.efficiency, HumanPercent)});
  }
  return table.rows.empty() ? "" : Render(table);
}

}  // namespace

PageBlock OutlookBlock(const PageInput& input) {
  PageBlock block = {"outlook", "What would help",
                     "Predicted, not measured: the run's own chunks are replayed, with one thing changed. <code>crema "
                     "predict</code> takes other changes."};
  const std::string refused = input.outlook == nullptr ? "its chunks were not read" : input.outlook->prediction.refused;
  if (!refused.empty()) {
    block.brief = "<p class=\"quiet\">Nothing is predicted from this run: " + Escaped(refused) + "</p>\n";
    return block;
  }
  block.html = "<div class=\"charts\">\n<section class=\"card\"><h3>Changes, best first</h3>\n" +
               ChangesTable(input.outlook->prediction) + "</section>\n";
  if (const std::string points = ScalingTable(input.outlook->scaling.points); !points.empty()) {
    block.html += fmt::format(
        "<section class=\"card\" id=\"scaling\"><h3>On other numbers of cores</h3><p "
        "class=\"sub\">{}</p>\n{}</section>\n",
        Escaped(ScalingSentence(input.outlook->scaling)), points);
  }
  block.html += "</div>\n" + ChartCards(input, block.id);
  return block;
}

}  // namespace crema

// The verdict and its findings: what one reads first, and often all that one reads.
#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "collector/appearance/human_numbers.h"
#include "collector/charts/workers_of_document.h"
#include "collector/insight/grouped_verdicts.h"
#include "collector/insight/headline.h"
#include "collector/insight/verdict_table.h"
#include "collector/report/html.h"
#include "collector/report/page_block.h"
#include "fmt/format.h"

namespace crema {
namespace {

constexpr size_t kCards = 3;  // more than three things to do are none

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
  for (const auto& [key, title] : kTitles) {
    if (key == id) return title;
  }
  return "Overview";
}

Mark MarkOfSeverity(std::string_view severity) {
  if (severity == "bad") return Mark::kBad;
  return severity == "warning" ? Mark::kWatch : Mark::kGood;
}

/// `slow-worker` as a person says it.
std::string TitleOf(std::string_view id) {
  std::string title(id);
  std::replace(title.begin(), title.end(), '-', ' ');
  for (const std::string_view word : {"cpu", "gil"}) {
    if (title.substr(0, word.size() + 1) == std::string(word) + " ") {
      for (size_t i = 0; i < word.size(); ++i) title[i] = static_cast<char>(title[i] - 'a' + 'A');
    }
  }
  if (!title.empty() && title[0] >= 'a' && title[0] <= 'z') title[0] = static_cast<char>(title[0] - 'a' + 'A');
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
  const auto most = std::max_element(by_error.begin(), by_error.end(), [](const auto& one, const auto& other) {
    return one.second.count < other.second.count;
  });
  if (most == by_error.end()) return "";
  const DetailAttempt& first = *most->second.first;
  return fmt::format("<p>Most often: <q>{}</q> ({} of {}; first on {} at {}).</p>",
                     Name(detail.errors[most->first], 120), ExactCount(static_cast<double>(most->second.count)),
                     ExactCount(static_cast<double>(all)),
                     Name(NamesOfWorkers(input.measurement).Of(detail.workers[first.worker].name)),
                     Escaped(HumanClock(static_cast<double>(first.start_ns) / 1e9)));
}

/// The address of what a finding is about: a spell's stretch of the timeline, where there is one.
std::string AddressOf(const PageInput& input, const std::string& verdict) {
  std::string block(BlockOfVerdict(verdict));
  if (block != "timeline" || !input.detail.why_no_attempts.empty()) return block;
  std::optional<double> from, to;
  const std::vector<SlowSpellRow>& spells = input.measurement.slow_spells;
  if (verdict == "slow-spell" && !spells.empty()) {
    from = spells.front().start;
    to = spells.front().stop;
  }
  if (verdict == "long-tail" && input.detail.tail_start_seconds.has_value()) {
    from = input.detail.tail_start_seconds;
    to = input.detail.seconds;
  }
  if (!from.has_value() || !to.has_value() || !(*to > *from)) return block;
  const double around = (*to - *from) / 4;  // what was before and after tells it from the rest
  return fmt::format("{}&amp;zoom={:.9g}_{:.9g}", block, std::max(0.0, *from - around),
                     std::min(input.detail.seconds, *to + around));
}

std::string Card(const PageInput& input, const VerdictGroup& group, size_t number) {
  const VerdictRow& verdict = *group.cause;
  const std::string& id = verdict.id;
  const Mark mark = MarkOfSeverity(verdict.severity);
  const std::string_view block = BlockOfVerdict(id);
  std::string html =
      fmt::format("<article class=\"finding {}\" id=\"finding-{}\"><header><h3><span class=\"no\">{}</span> {}</h3>",
                  ToString(mark), number, number, Escaped(TitleOf(id)));
  if (verdict.saving.has_value()) {
    html += fmt::format("<span class=\"saving\" title=\"share of the core-seconds that could be saved\">≈ {}</span>",
                        Escaped(HumanPercent(*verdict.saving)));
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

}  // namespace

std::string_view BlockOfVerdict(std::string_view verdict) {
  const VerdictRule* rule = FindRule(verdict);
  return rule == nullptr ? "overview" : rule->place;
}

std::string Findings(const PageInput& input) {
  const std::vector<VerdictGroup> groups = GroupVerdicts(input.measurement);
  if (groups.empty()) return "<p class=\"quiet\">✓ Nothing stands out in what was measured.</p>\n";
  std::string shown;
  std::string folded;
  size_t number = 0;
  for (const VerdictGroup& group : groups) {
    ++number;
    (number <= kCards ? shown : folded) += Card(input, group, number);
  }
  std::string html = fmt::format("<div class=\"findings\">\n{}</div>\n", shown);
  if (number > kCards) {
    html += fmt::format(
        "<details class=\"more-findings\"><summary>{}</summary><div class=\"findings\">\n{}</div></details>\n",
        Counted(static_cast<double>(number - kCards), "further finding", "further findings"), folded);
  }
  return html;
}

PageBlock OverviewBlock(const PageInput& input) {
  PageBlock block = {"overview", "Overview", "", "", ""};
  const std::string& headline = input.measurement.headline;
  block.html = fmt::format(
      "<section class=\"card verdict\" aria-label=\"Verdict\">\n<p class=\"headline\">{}</p>\n{}</section>\n",
      Escaped(headline.empty() ? Headline(input.measurement) : headline), Findings(input));
  block.html += KeyFigureTiles(input);
  block.html += TrustCard(input);
  return block;
}

}  // namespace crema

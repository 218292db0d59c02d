// "Can I trust these numbers?": what is known about the measurement itself.
#include <string>
#include <vector>

#include "collector/appearance/human_numbers.h"
#include "collector/insight/trust_items.h"
#include "collector/report/html.h"
#include "collector/report/page_block.h"
#include "fmt/format.h"

namespace crema {
namespace {

std::string Warnings(const std::vector<std::string>& warnings) {
  if (warnings.empty()) return "";
  std::string items;
  for (const std::string& warning : warnings) items += fmt::format("<li>{}</li>", Escaped(warning));
  return fmt::format("<details{}><summary>▲ {}</summary><ul>{}</ul></details>", warnings.size() <= 3 ? " open" : "",
                     Counted(static_cast<double>(warnings.size()), "warning", "warnings"), items);
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
                     Counted(static_cast<double>(count), "figure", "figures"), items);
}

}  // namespace

std::string TrustCard(const PageInput& input) {
  std::string items;
  for (const TrustItem& item : TrustItems(input.measurement)) {
    items += fmt::format("<li><span class=\"sign {}\">{}</span> {}</li>\n", ToString(item.mark), SignOf(item.mark),
                         ToldHtml(item.told));
  }
  if (items.empty()) items = "<li><span class=\"sign watch\">▲</span> Nothing is known about their quality</li>";
  return fmt::format(
      "<section class=\"card trust\" id=\"trust\" aria-label=\"Can I trust these numbers?\"><ul><li><b>Can I trust "
      "these numbers?</b></li>\n{}</ul>{}{}</section>\n",
      items, Warnings(input.measurement.quality.warnings), NotMeasured(input.measurement));
}

}  // namespace crema

// "Can I trust these numbers?": what is known about the measurement itself.
#include <string>

#include "collector/appearance/human_numbers.h"
#include "collector/document/document_fields.h"
#include "collector/insight/trust_items.h"
#include "collector/report/html.h"
#include "collector/report/page_block.h"
#include "fmt/format.h"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

std::string Warnings(const Json& quality) {
  std::string items;
  size_t count = 0;
  for (const Json& warning : ListField(quality, "warnings")) {
    if (!warning.is_string()) continue;
    ++count;
    items += fmt::format("<li>{}</li>", Escaped(warning.get_ref<const std::string&>()));
  }
  if (count == 0) return "";
  return fmt::format("<details{}><summary>▲ {}</summary><ul>{}</ul></details>", count <= 3 ? " open" : "",
                     Counted(static_cast<double>(count), "warning", "warnings"), items);
}

/// One row for each reason; where it is that of many figures, these are folded.
std::string NotMeasured(const Json& document) {
  constexpr size_t kMostNamed = 3;
  std::string items;
  size_t count = 0;
  for (const UnmeasuredFigures& figures : FindUnmeasured(document)) {
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
  const Json& quality = Field(input.document, "quality");
  std::string items;
  for (const TrustItem& item : TrustItems(input.document)) {
    items += fmt::format("<li><span class=\"sign {}\">{}</span> {}</li>\n", WordOf(item.mark), SignOf(item.mark),
                         ToldHtml(item.told));
  }
  if (items.empty()) items = "<li><span class=\"sign watch\">▲</span> Nothing is known about their quality</li>";
  return fmt::format(
      "<section class=\"card trust\" id=\"trust\" aria-label=\"Can I trust these numbers?\"><ul><li><b>Can I trust "
      "these numbers?</b></li>\n{}</ul>{}{}</section>\n",
      items, Warnings(quality), NotMeasured(input.document));
}

}  // namespace crema

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

std::string NotMeasured(const Json& quality) {
  const Json& reasons = Field(quality, "not_measured");
  if (!reasons.is_object() || reasons.empty()) return "";
  std::string items;
  for (const auto& [key, reason] : reasons.items()) {
    items += fmt::format("<dt><code>{}</code></dt><dd>{}</dd>", Escaped(key),
                         reason.is_string() ? Escaped(reason.get_ref<const std::string&>()) : "");
  }
  return fmt::format("<details><summary>{} not measured, and why</summary><dl class=\"reasons\">{}</dl></details>",
                     Counted(static_cast<double>(reasons.size()), "figure", "figures"), items);
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
      items, Warnings(quality), NotMeasured(quality));
}

}  // namespace crema

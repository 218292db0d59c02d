// What changes would bring, best first, by a replay of the run's own chunks; and the run on other numbers of cores.

#include "collector/appearance/human_numbers.h"
#include "collector/records/loose_json.h"
#include "collector/report/html.h"
#include "collector/report/page_block.h"
#include "collector/writers/document_table.h"
#include "fmt/format.h"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

std::string Range(const Json& row) {
  const auto low = NumberField(row, "low"), high = NumberField(row, "high");
  if (!low.has_value() || !high.has_value()) return "–";
  return Escaped(HumanDuration(*low) + " to " + HumanDuration(*high));
}

/// These are no figures of the measurement, so they have no key.
HtmlCell FigureOf(const Json& row, std::string_view field, Kind kind) {
  const Number number = NumberField(row, field);
  return {Escaped(CellText(CellOf(number), kind)), number};
}

/// A change as one says it; `option` of crema predict. One that the report does not ask for stays as it is.
std::string InWords(std::string_view option) {
  constexpr std::string_view kCores = "--cores ";
  constexpr std::pair<std::string_view, std::string_view> kFaster[] = {{"--faster ", ""},
                                                                       {"--faster-gpu ", "kernels and copies of "}};
  if (option.substr(0, kCores.size()) == kCores) {
    const std::string_view count = option.substr(kCores.size());
    return fmt::format("{} {}", count, count == "1" ? "core" : "cores");
  }
  const size_t equals = option.rfind('=');
  for (const auto& [prefix, what] : kFaster) {
    if (option.substr(0, prefix.size()) != prefix || equals == std::string_view::npos) continue;
    return fmt::format("{}{} {} times as fast", what, option.substr(prefix.size(), equals - prefix.size()),
                       option.substr(equals + 1));
  }
  if (option == "--without-waiting") return "no waiting";
  if (option == "--order longest") return "longest chunks first";
  return option == "--all-from-start" ? "no worker late or lost" : std::string(option);
}

std::string ChangesTable(const Json& prediction) {
  const double measured = NumberField(Field(prediction, "measured"), "wall_time").value_or(0);
  HtmlTable table;
  table.caption = "Changes, by the wall time that they would bring";
  table.columns = {{"with", false, "", true},
                   {"wall time"},
                   {"90 % of runs", false},
                   {"change", true, "of the wall time, against this run"}};
  std::string not_reported;
  for (const Json& row : ListField(prediction, "predicted")) {
    const std::string change = TextField(row, "change");
    const auto wall_time = NumberField(row, "wall_time");
    if (!wall_time.has_value()) {
      not_reported += fmt::format("<p class=\"more\">not predicted for <code>{}</code>: {}</p>\n", Escaped(change),
                                  Escaped(TextField(row, "not_told")));
      continue;
    }
    const double against = measured > 0 ? *wall_time / measured - 1 : 0;
    table.rows.push_back({{fmt::format("<span title=\"{}\">{}</span>", Escaped(change), Escaped(InWords(change)))},
                          FigureOf(row, "wall_time", Kind::kDuration),
                          {Range(row)},
                          {Escaped(HumanChange(against)), against}});
  }
  return (table.rows.empty() ? "" : Render(table)) + not_reported;
}

std::string ScalingTable(const Json& scaling) {
  HtmlTable table;
  table.caption = "This run on other numbers of cores";
  table.columns = {{"cores"}, {"wall time"}, {"90 % of runs", false}, {"speed-up"}, {"efficiency"}};
  for (const Json& point : ListField(scaling, "points")) {
    table.rows.push_back({FigureOf(point, "cores", Kind::kNumber),
                          FigureOf(point, "wall_time", Kind::kDuration),
                          {Range(point)},
                          FigureOf(point, "speedup", Kind::kNumber),
                          FigureOf(point, "efficiency", Kind::kShare)});
  }
  return table.rows.empty() ? "" : Render(table);
}

}  // namespace

PageBlock OutlookBlock(const PageInput& input) {
  PageBlock block = {"outlook", "What would help",
                     "Predicted, not measured: the run's own chunks are replayed, with one thing changed. "
                     "<code>crema predict</code> takes other changes.",
                     "", ""};
  const std::string refused =
      input.outlook == nullptr ? "its chunks were not read" : TextField(input.outlook->prediction, "refused");
  if (!refused.empty()) {
    block.brief = "<p class=\"quiet\">Nothing is predicted from this run: " + Escaped(refused) + "</p>\n";
    return block;
  }
  block.html = "<div class=\"charts\">\n<section class=\"card\"><h3>Changes, best first</h3>\n" +
               ChangesTable(input.outlook->prediction) + "</section>\n";
  if (const std::string points = ScalingTable(input.outlook->scaling); !points.empty()) {
    block.html += fmt::format(
        "<section class=\"card\" id=\"scaling\"><h3>On other numbers of cores</h3><p class=\"sub\">{}</p>\n{}"
        "</section>\n",
        Escaped(TextField(input.outlook->scaling, "sentence")), points);
  }
  block.html += "</div>\n" + ChartCards(input, block.id);
  return block;
}

}  // namespace crema

#include "collector/charts/drawing.h"

#include <cstdlib>

#include "absl/algorithm/container.h"
#include "collector/format/colours.h"
#include "collector/format/human_numbers.h"
#include "collector/format/worker_names.h"
#include "collector/idioms/text.h"
#include "collector/plot_data/run_detail.h"

namespace crema {
namespace {

struct TimeFormat {
  std::string_view title;
  std::string_view label;  ///< an expression over `datum.value`, in seconds
};

TimeFormat FormatFor(double seconds) {
  if (seconds < 120) return {"time since the start [s]", ""};
  if (seconds < 7200) {
    return {"time since the start [min:s]",
            "floor(datum.value / 60) + ':' + pad(toString(round(datum.value % 60)), 2, '0', 'left')"};
  }
  if (seconds < 172800) {
    return {"time since the start [h:min]",
            "floor(datum.value / 3600) + ':' + pad(toString(round(datum.value % 3600 / 60)), 2, '0', 'left')"};
  }
  return {"time since the start [days]", "format(datum.value / 86400, '.3~f')"};
}

constexpr std::string_view kSchema = "https://vega.github.io/schema/vega-lite/v5.json";
constexpr size_t kSubtitleColumns = 100;

/// Lines of at most `columns` bytes, broken at spaces.
Json Lines(std::string_view text, size_t columns) {
  Json lines = Json::array();
  while (text.size() > columns) {
    size_t at = text.rfind(' ', columns);
    if (at == std::string_view::npos || at == 0) at = text.find(' ', columns);
    if (at == std::string_view::npos) break;
    lines.push_back(text.substr(0, at));
    text.remove_prefix(at + 1);
  }
  lines.push_back(text);
  return lines;
}

constexpr size_t kMostSigns = 60;
constexpr std::string_view kReplacement = "\uFFFD";

/// What would move other text about: controls, marks and overrides of direction, line separators.
bool IsUnprintable(std::string_view sign) {
  if (sign.size() == 1) return static_cast<uint8_t>(sign[0]) < 0x20 || sign[0] == 0x7F;
  if (sign == "\u061C" || sign == "\uFEFF") return true;
  if (sign.size() == 2) return sign[0] == '\xC2' && static_cast<uint8_t>(sign[1]) < 0xA0;
  if (sign.size() != 3 || sign[0] != '\xE2') return false;
  const auto second = static_cast<uint8_t>(sign[1]), third = static_cast<uint8_t>(sign[2]);
  return (second == 0x80 && ((third >= 0x8B && third <= 0x8F) || (third >= 0xA8 && third <= 0xAE))) ||
         (second == 0x81 && third >= 0xA0 && third <= 0xAF);
}

/// By name.
constexpr std::pair<std::string_view, std::string_view> kFiles[] = {
#include "collector/charts/templates.inc"
};

const Json& FileNamed(std::string_view name) {
  static const auto* const kParsed = [] {
    auto* files = new std::map<std::string_view, Json>;
    for (const auto& [file, text] : kFiles) files->emplace(file, Json::parse(text));
    return files;
  }();
  return kParsed->at(name);
}

/// Where names are looked up: here, then in what is around.
struct Scope {
  const Json* entries;
  bool are_pieces;  ///< parts of templates; else values, which are put in as they are
  const Scope* outer;
};

std::optional<Json> Filled(const Json& part, const Scope& scope);

std::optional<Json> Named(const std::string& name, const Scope& scope) {
  for (const Scope* in = &scope; in != nullptr; in = in->outer) {
    const auto found = in->entries->find(name);
    if (found == in->entries->end()) continue;
    return in->are_pieces ? Filled(*found, scope) : std::optional<Json>(*found);
  }
  return std::nullopt;
}

std::optional<Json> FilledObject(const Json& part, const Scope& scope) {
  Json filled = Json::object();
  for (const auto& [key, value] : part.items()) {
    if (key == "$each") continue;
    if (key == "$if") {
      if (!Named(value, scope).has_value()) return std::nullopt;
    } else if (key == "$like") {
      std::optional<Json> piece = Named(value, scope);
      if (!piece.has_value()) return std::nullopt;
      filled.update(*piece);
    } else if (key == "data" && value.contains("name")) {
      std::optional<Json> rows = Named(value["name"], scope);
      if (!rows.has_value() || rows->empty()) return std::nullopt;
      filled[key] = {{"values", *std::move(rows)}};
    } else if (std::optional<Json> inside = Filled(value, scope)) {
      const Json more = {{key, *std::move(inside)}};
      filled.update(more, /*merge_objects=*/true);
    }
  }
  return filled;
}

/// nullopt: nothing belongs there.
std::optional<Json> Filled(const Json& part, const Scope& scope) {
  if (part.is_object()) return FilledObject(part, scope);
  if (part.is_string()) {
    const auto& text = part.get_ref<const std::string&>();
    return text.rfind('$', 0) == 0 ? Named(text.substr(1), scope) : std::optional<Json>(part);
  }
  if (!part.is_array()) return part;
  Json filled = Json::array();
  const auto add = [&](const Json& item, const Scope& inner) {
    if (std::optional<Json> inside = Filled(item, inner)) filled.push_back(*std::move(inside));
  };
  for (const Json& item : part) {
    if (!item.is_object() || !item.contains("$each")) {
      add(item, scope);
    } else if (const std::optional<Json> list = Named(item["$each"], scope)) {
      for (const Json& values : *list) add(item, {&values, false, &scope});
    }
  }
  return filled;
}

}  // namespace

Json SpecificationOf(const Chart& chart, const std::string& finding, const std::string& source_line, const Json& body) {
  Json subtitle = Lines(chart.subtitle, kSubtitleColumns);
  subtitle.push_back(source_line);
  Json spec;
  spec["$schema"] = kSchema;
  spec["usermeta"] = {{"crema", chart.name}};  // shows that crema wrote it
  spec["title"] = {{"text", chart.title}, {"subtitle", std::move(subtitle)}};
  spec["description"] = fmt::format("{} {}.", chart.title, finding);
  spec["config"] = ChartConfig(ChartTheme::kLight);
  spec.update(body);
  return spec;
}

Drawing NotDrawn(const ChartInput& input, std::string_view table, const std::string& otherwise) {
  return NotDrawn(FindTable(table)->size(*input.measurement) > 0 ? otherwise : WhyNoRows(table, *input.measurement));
}

std::string WhyNoChunks(const ChartInput& input, const std::string& otherwise) {
  if (!input.measurement->HasChunks()) return kNoChunk;
  if (input.detail == nullptr) return "the single chunks are not known: this is a measurement without its records";
  return input.detail->why_no_attempts.empty() ? otherwise : input.detail->why_no_attempts;
}

Json TimeAxis(double seconds, int most_ticks) {
  const TimeFormat format = FormatFor(seconds);
  const double step = RoundTimeStep(seconds, most_ticks);
  Json ticks = Json::array();
  for (int i = 0; i * step <= seconds * (1 + 1e-9); ++i) ticks.push_back(Rounded(i * step));
  Json axis = {{"values", std::move(ticks)}, {"grid", false}};
  if (!format.label.empty()) axis["labelExpr"] = format.label;
  return {{"type", "quantitative"},
          {"title", format.title},
          {"scale", {{"domain", {0, Rounded(seconds)}}, {"nice", false}}},
          {"axis", std::move(axis)}};
}

Json NumberLabels(double largest) {
  if (largest < kExactBelow) return {{"format", ",~r"}};
  return {{"labelExpr", "replace(format(datum.value, '~s'), regexp('([a-zA-Zµ])$'), ' $1')"}};
}

Json ColourScale(const std::vector<std::string>& names, const std::vector<std::string_view>& colours) {
  Json range = Json::array();
  for (const std::string_view colour : colours) range.push_back({{"expr", std::string(colour) + "Colour"}});
  return {{"domain", names}, {"range", std::move(range)}};
}

Json MarksWithWords(const std::vector<std::pair<double, std::string>>& marks, double first, double last,
                    bool is_logarithmic) {
  // text to the right of the last bin would not fit in a chart of half the page's width
  constexpr double kRoomForWords = 0.65;
  const auto place = [&](double value) { return is_logarithmic ? std::log(value) : value; };
  const double from = place(first), span = place(last) - from;
  Json right = Json::array(), left = Json::array();
  for (const auto& [value, words] : marks) {
    // words that would be on one another take turns in height
    const size_t turn = (right.size() + left.size()) % 4;
    Json& side = place(value) - from > kRoomForWords * span ? left : right;
    side.push_back({{"v", Rounded(value)}, {"words", words}, {"top", 2 + 14 * turn}});
  }
  return Json::array({{{"marks", std::move(right)}, {"align", "left"}, {"dx", 4}},
                      {{"marks", std::move(left)}, {"align", "right"}, {"dx", -4}}});
}

Json RealOf(const Number& number) { return number.has_value() ? Json(*number) : Json(); }

double Rounded(double value) { return std::strtod(fmt::format("{:.6g}", value).c_str(), nullptr); }

std::string ShownName(std::string_view name) {
  std::vector<std::string_view> signs;
  for (size_t at = 0; at < name.size();) {
    const size_t length = CodePointBytes(name, at);
    const std::string_view sign = length == 0 ? kReplacement : name.substr(at, length);
    signs.push_back(IsUnprintable(sign) ? " " : sign);
    at += length == 0 ? 1 : length;
  }
  if (signs.empty()) return "(no name)";
  std::string shown;
  const bool is_cut = signs.size() > kMostSigns;
  if (is_cut) shown = "…";
  for (size_t i = is_cut ? signs.size() - kMostSigns + 1 : 0; i < signs.size(); ++i) shown += signs[i];
  return shown;
}

std::string_view ShortestUniqueEnd(std::string_view path, const std::vector<std::string_view>& paths) {
  size_t slash = path.size() < 2 ? std::string_view::npos : path.rfind('/', path.size() - 2);
  for (; slash != std::string_view::npos && slash > 0; slash = path.rfind('/', slash - 1)) {
    const std::string_view end = path.substr(slash + 1), with_slash = path.substr(slash);
    const auto ends_alike = [&](std::string_view other) {
      return other != path && (other == end || EndsWith(other, with_slash));
    };
    if (absl::c_none_of(paths, ends_alike)) return end;
  }
  return path;
}

const std::string& ShownNames::Of(std::string_view name) {
  if (const auto found = shown_.find(name); found != shown_.end()) return found->second;
  const std::string shown = ShownName(name);
  std::string distinguished = shown;
  for (int number = 2; !taken_.insert(distinguished).second; ++number)
    distinguished = fmt::format("{} ({})", shown, number);
  return shown_.emplace(name, std::move(distinguished)).first->second;
}

Json FilledTemplate(std::string_view name, const Json& values) {
  Json view = FileNamed(name);
  const Json pieces = view.value("pieces", Json::object());
  view.erase("pieces");
  const Scope shared = {&FileNamed("shared"), true, nullptr};
  const Scope own = {&pieces, true, &shared};
  return Filled(view, {&values, false, &own}).value_or(Json());
}

Json ChartConfig(ChartTheme theme) {
  Json values;
  const auto add = [&](const Colour& colour) -> std::string_view {
    const std::string_view value = theme == ChartTheme::kLight ? colour.light : colour.dark;
    values["params"].push_back({{"name", std::string(colour.name) + "Colour"}, {"value", value}});
    return value;
  };
  for (const Colour& colour : Colours()) {
    // a mark takes its colour by `"style": "limit"`
    values["styles"][std::string(colour.name)]["color"] = values[std::string(colour.name)] = add(colour);
  }
  for (const Colour& colour : DatasetColours()) values["datasets"].push_back(add(colour));
  values["map"] = {values["palest"], values["cpu"], values["strongest"]};
  return FilledTemplate("theme", values);
}

}  // namespace crema

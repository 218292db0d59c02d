#include "collector/report/html.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "collector/appearance/human_numbers.h"
#include "collector/measurement/catalog.h"
#include "collector/measurement/measurement_json.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"

namespace crema {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
constexpr size_t kLongestTitle = 1000;

/// Bytes of the code point at `at`, 0 where there is none (RFC 3629, section 4).
size_t CodePointBytes(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) { return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0U; };
  const auto is_tail = [&](size_t i) { return (byte(i) & 0xC0U) == 0x80; };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return is_tail(1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    const unsigned second = byte(1);
    const bool is_good =
        is_tail(1) && is_tail(2) && !(first == 0xE0 && second < 0xA0) && !(first == 0xED && second > 0x9F);
    return is_good ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    const unsigned second = byte(1);
    const bool is_good = is_tail(1) && is_tail(2) && is_tail(3) && !(first == 0xF0 && second < 0x90) &&
                         !(first == 0xF4 && second > 0x8F);
    return is_good ? 4 : 0;
  }
  return 0;
}

/// The text as code points that a page may hold.
std::vector<std::string_view> CodePoints(std::string_view text) {
  std::vector<std::string_view> points;
  for (size_t at = 0; at < text.size();) {
    const size_t bytes = CodePointBytes(text, at);
    const std::string_view point = bytes == 0 ? kReplacement : text.substr(at, bytes);
    const auto first = static_cast<unsigned char>(point[0]);
    // U+202A to U+202E, U+2066 to U+2069: they would turn the text that follows
    const bool is_direction = point.size() == 3 && point >= "\xE2\x80\xAA" && point <= "\xE2\x81\xA9" &&
                              (point <= "\xE2\x80\xAE" || point >= "\xE2\x81\xA6");
    const bool is_c1 = point.size() == 2 && first == 0xC2 && static_cast<unsigned char>(point[1]) < 0xA0;
    if (first == '\t' || first == '\n' || first == '\r') {
      points.emplace_back(" ");
    } else if (first < 0x20 || first == 0x7F || is_c1 || is_direction) {
      points.push_back(kReplacement);
    } else {
      points.push_back(point);
    }
    at += std::max<size_t>(1, bytes);
  }
  return points;
}

void AddEscaped(std::string_view point, std::string* out) {
  if (point == "&") {
    *out += "&amp;";
  } else if (point == "<") {
    *out += "&lt;";
  } else if (point == ">") {
    *out += "&gt;";
  } else if (point == "\"") {
    *out += "&quot;";
  } else if (point == "'") {
    *out += "&#39;";
  } else {
    *out += point;
  }
}

std::string EscapedRange(const std::vector<std::string_view>& points, size_t from, size_t to) {
  std::string text;
  for (size_t i = from; i < to; ++i) AddEscaped(points[i], &text);
  return text;
}

std::string Cut(const std::vector<std::string_view>& points, size_t from, size_t most) {
  const size_t count = points.size() - from;
  if (count <= most) return EscapedRange(points, from, points.size());
  const size_t tail = most * 2 / 3;
  return EscapedRange(points, from, from + most - 1 - tail) + "…" +
         EscapedRange(points, points.size() - tail, points.size());
}

std::string NameFrom(const std::vector<std::string_view>& points, size_t from, size_t most) {
  if (points.empty()) return "<bdi class=\"none\">(unnamed)</bdi>";
  std::string title;
  if (from > 0 || points.size() > most) {
    title = fmt::format(" title=\"{}{}\"", EscapedRange(points, 0, std::min(points.size(), kLongestTitle)),
                        points.size() > kLongestTitle ? "…" : "");
  }
  return fmt::format("<bdi{}>{}</bdi>", title, Cut(points, from, most));
}

}  // namespace

std::string Escaped(std::string_view text) {
  const std::string unbroken = Unbroken(text);
  const std::vector<std::string_view> points = CodePoints(unbroken);
  return EscapedRange(points, 0, points.size());
}

std::string Name(std::string_view name, size_t most) { return NameFrom(CodePoints(name), 0, most); }

std::string PathName(std::string_view path, size_t most) {
  const std::vector<std::string_view> points = CodePoints(path);
  size_t from = 0;
  for (size_t i = 0; i + 1 < points.size(); ++i) {
    if (points[i] == "/") from = i + 1;
  }
  return NameFrom(points, from, most);
}

std::string Figure(std::string_view key, double value, std::string_view text) {
  return fmt::format("<data data-key=\"{}\" value=\"{}\">{}</data>", Escaped(key), value, Escaped(text));
}

std::string ToldHtml(const ToldFigure& told) {
  const bool is_exact = !told.key.empty() && !told.figure.empty();
  const std::string figure = is_exact ? Figure(told.key, told.value, told.figure) : Escaped(told.figure);
  return Escaped(told.before) + figure + Escaped(told.after) + (told.name.empty() ? "" : Name(told.name, 24));
}

std::string DefinitionOf(const Measurement& measurement, std::string_view key) {
  const MetricDefinition* definition = measurement.metrics.Find(key) == nullptr ? nullptr : FindMetric(key);
  return definition == nullptr ? "" : definition->text;
}

std::string Term(const Measurement& measurement, std::string_view key, std::string_view label) {
  const std::string text = DefinitionOf(measurement, key);
  if (text.empty()) return Escaped(label);
  return fmt::format("<a class=\"term\" href=\"#term-{}\" title=\"{}\">{}</a>", Escaped(key), Escaped(text),
                     Escaped(label));
}

std::string_view SignOf(Mark mark) {
  if (mark == Mark::kGood) return "✓";
  return mark == Mark::kWatch ? "▲" : "✕";
}

std::string Pill(Mark mark, std::string_view text) {
  return fmt::format("<span class=\"pill {}\">{} {}</span>", ToString(mark), SignOf(mark),
                     text.empty() ? std::string(ToString(mark)) : Escaped(text));
}

std::string Bar(double share, std::string_view kind) {
  const double width = std::clamp(std::isfinite(share) ? share : 0.0, 0.0, 1.0) * 100;
  return fmt::format(
      "<svg class=\"bar\" aria-hidden=\"true\"><rect class=\"{}\" width=\"{:.2f}%\" height=\"100%\" rx=\"2\"/></svg>",
      kind, width);
}

nlohmann::ordered_json ValueOf(const Measurement& measurement, std::string_view metric) {
  const MetricValue* value = measurement.metrics.Find(metric);
  return value == nullptr ? nlohmann::ordered_json() : JsonOf(*value);
}

std::string ScriptJson(const nlohmann::ordered_json& json) {
  const std::string text = json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  std::string safe;
  safe.reserve(text.size());
  for (const char c : text) {
    if (c == '<') {
      safe += "\\u003c";
    } else {
      safe += c;
    }
  }
  return safe;
}

std::string DataScript(std::string_view id, const nlohmann::ordered_json& json) {
  return fmt::format("<script type=\"application/json\" id=\"{}\">{}</script>\n", Escaped(id), ScriptJson(json));
}

std::string Absent(std::string_view what, std::string_view reason) {
  return fmt::format("<p class=\"absent\"><span aria-hidden=\"true\">–</span> {}: {}.</p>\n", Escaped(what),
                     Escaped(reason));
}

}  // namespace crema

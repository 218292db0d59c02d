#include "collector/charts/chart_template.h"

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "nlohmann/json.hpp"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

struct EmbeddedFile {
  std::string_view name;
  std::string_view text;
};

constexpr EmbeddedFile kFiles[] = {
#include "collector/charts/templates.inc"
};

const Json& FileNamed(std::string_view name) {
  static const auto* const kParsed = [] {
    auto* files = new std::map<std::string_view, Json>;
    for (const EmbeddedFile& file : kFiles) files->emplace(file.name, Json::parse(file.text));
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

Json FilledTemplate(std::string_view name, const Json& values) {
  Json view = FileNamed(name);
  Json pieces = Json::object();
  if (view.contains("pieces")) {
    pieces = view["pieces"];
    view.erase("pieces");
  }
  const Scope shared = {&FileNamed("shared"), true, nullptr};
  const Scope own = {&pieces, true, &shared};
  return Filled(view, {&values, false, &own}).value_or(Json());
}

}  // namespace crema

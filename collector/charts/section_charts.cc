// The sections inside the chunks: what encloses what, and where the time is.
#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "collector/appearance/human_numbers.h"
#include "collector/charts/chart_template.h"
#include "collector/charts/families.h"
#include "collector/charts/shown_names.h"
#include "collector/insight/key_figures.h"
#include "fmt/format.h"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMostBars = 25;
constexpr char kOther[] = "(other)";
constexpr char kNoSections[] = "no section was recorded; put TrackSection guards around the steps of a chunk";

struct Section {
  std::string path;
  bool is_helper = false;
  double total = 0, self = 0;  ///< seconds
  std::optional<double> cpu;   ///< seconds, where it was asked for
  double count = 0;

  bool is_other() const { return path == kOther; }
};

std::vector<Section> ReadSections(const Measurement& measurement) {
  std::vector<Section> sections;
  for (const SectionRow& row : measurement.sections) {
    if (!row.total.has_value() || !row.self.has_value()) continue;
    sections.push_back({row.path, row.helper.value_or(false), *row.total, *row.self, row.cpu, row.count.value_or(0)});
  }
  return sections;
}

bool HasNamed(const std::vector<Section>& sections) {
  return std::any_of(sections.begin(), sections.end(), [](const Section& section) { return !section.is_other(); });
}

/// `/` separates sections; inside a name it is written `%2F`.
std::string LastName(std::string_view path) {
  std::string name(path.substr(path.rfind('/') + 1));
  for (size_t at; (at = name.find("%2F")) != std::string::npos;) name.replace(at, 3, "/");
  return name;
}

/// nullopt: nothing encloses it. That is not the same as a parent without a name.
std::optional<std::string> ParentOf(std::string_view path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return std::nullopt;
  return std::string(path.substr(0, slash));
}

/// What colour stands for: a section counts as computing from half its time on.
std::string_view KindOf(const Section& section) {
  if (section.is_other()) return "outside every section";
  if (!section.cpu.has_value()) return "CPU not measured";
  return *section.cpu >= section.total / 2 ? "mostly CPU" : "mostly waiting";
}

/// Puts sections side by side inside what encloses them, largest first.
class IcicleLayout {
 public:
  IcicleLayout(const std::vector<Section>& sections, double whole) : whole_(whole) {
    for (const Section& section : sections) {
      if (!section.is_helper && section.total > 0) children_[ParentOf(section.path)].push_back(&section);
    }
    for (auto& [parent, children] : children_) {
      std::stable_sort(children.begin(), children.end(), [](const Section* a, const Section* b) {
        return std::make_pair(!a->is_other(), a->total) > std::make_pair(!b->is_other(), b->total);
      });
    }
    Place(std::nullopt, 0, 0);
  }

  Json& cells() { return cells_; }

 private:
  void Place(const std::optional<std::string>& parent, double from, int level) {
    const auto found = children_.find(parent);
    if (found == children_.end()) return;
    for (const Section* section : found->second) {
      Cell(*section, from, level);
      if (!section->is_other()) Place(section->path, from, level + 1);
      from += section->total;
    }
  }

  void Cell(const Section& section, double from, int level) {
    const double share = section.total / whole_;
    if (share < 0.0005) return;  // below a pixel
    // a letter is about 6.5 of the 720 pixels
    const auto letters = static_cast<size_t>(share * 720 / 6.5);
    const std::string name = ShownName(LastName(section.path));
    std::string label = fmt::format("{} {}", name, HumanPercent(share));
    if (label.size() > letters) label = name.size() <= letters ? name : "";
    cells_.push_back({{"path", ShownName(section.path)},
                      {"label", label},
                      {"from", Rounded(100 * from / whole_)},
                      {"to", Rounded(100 * (from + section.total) / whole_)},
                      {"middle", Rounded(100 * (from + section.total / 2) / whole_)},
                      {"level", level},
                      {"kind", KindOf(section)},
                      {"seconds", section.total},
                      {"self", section.self},
                      {"cpu", RealOf(section.cpu)},
                      {"calls", section.count}});
  }

  double whole_;
  std::map<std::optional<std::string>, std::vector<const Section*>> children_;
  Json cells_ = Json::array();
};

double WholeOf(const std::vector<Section>& sections) {
  double whole = 0;
  for (const Section& section : sections) {
    if (!section.is_helper && !ParentOf(section.path).has_value()) whole += section.total;
  }
  return whole;
}

}  // namespace

Drawing DrawSectionIcicle(const ChartInput& input) {
  const std::vector<Section> sections = ReadSections(*input.measurement);
  const double whole = WholeOf(sections);
  if (!HasNamed(sections) || !(whole > 0)) return NotDrawn(kNoSections);
  IcicleLayout layout(sections, whole);
  return {FilledTemplate("section_icicle", {{"cells", std::move(layout.cells())}}),
          fmt::format("{} of chunk time; width is time, what is inside stands below", HumanDuration(whole)), ""};
}

namespace {

std::string LabelOf(const Section& section) { return section.path + (section.is_helper ? " (helper)" : ""); }

std::map<std::string, double> SelfTimes(const Measurement* measurement) {
  std::map<std::string, double> times;
  if (measurement == nullptr) return times;
  for (const Section& section : ReadSections(*measurement)) times[LabelOf(section)] = section.self;
  return times;
}

}  // namespace

Drawing DrawSectionSelfTime(const ChartInput& input) {
  std::vector<Section> sections = ReadSections(*input.measurement);
  std::stable_sort(sections.begin(), sections.end(),
                   [](const Section& a, const Section& b) { return a.self > b.self; });
  const size_t all = sections.size();
  if (all > kMostBars) sections.resize(kMostBars);
  if (!HasNamed(sections)) return NotDrawn(kNoSections);
  const double busy = TimeOfThreads(*input.measurement).value_or(0);
  const std::map<std::string, double> baseline = SelfTimes(input.baseline);
  Json values;
  ShownNames names;
  for (const Section& section : sections) {
    std::string words = HumanDuration(section.self);
    if (busy > 0) words += " · " + HumanPercent(section.self / busy);
    Json row = {{"section", names.Of(LabelOf(section))},
                {"self", section.self},
                {"calls", section.count},
                {"kind", KindOf(section)},
                {"words", words},
                {"end", section.self}};
    const auto other = baseline.find(LabelOf(section));
    if (other != baseline.end()) {
      row["baseline"] = other->second;
      row["end"] = std::max(section.self, other->second);
    }
    values["sections"].push_back(std::move(row));
  }
  std::string finding =
      fmt::format("largest: {}, {}", ShownName(LabelOf(sections.front())), HumanDuration(sections.front().self));
  if (all > kMostBars) finding += fmt::format("; {} smaller ones not drawn", all - kMostBars);
  if (!baseline.empty()) {
    values["has baseline"] = true;
    finding += "; grey ticks: baseline";
  }
  return {FilledTemplate("section_self_time", values), finding, ""};
}

}  // namespace crema

// Where the core-seconds went, in which sections, the key figures with what is good and what is not, and what chunks
// wait for together.

#include "collector/charts/families.h"
#include "collector/diagnosis/evidence.h"
#include "collector/diagnosis/key_figures.h"
#include "collector/format/human_numbers.h"
#include "collector/idioms/text.h"
#include "collector/measurement/budget_parts.h"
#include "collector/records/facts.h"

namespace crema {
namespace {

/// Those groups that the budget has, each in its colour.
Json GroupColours(const BudgetRows& budget) {
  std::vector<std::string> names;
  std::vector<std::string_view> colours;
  for (const BudgetGroupKind& known : kBudgetGroups) {
    if (absl::c_none_of(budget.groups, [&](const BudgetGroup& group) { return group.group == known.group; })) continue;
    names.emplace_back(known.group);
    colours.push_back(known.colour);
  }
  return ColourScale(names, colours);
}

/// A figure in per cent with the parts of its scale.
struct Bullet {
  std::string label;
  std::optional<double> share;
  std::optional<KeyFigureBand> judged_as;
};

std::vector<Bullet> BulletsOf(const Measurement& run) {
  const std::optional<FailedAttempts> found = FindFailedAttempts(run);
  std::optional<double> failed;
  if (found.has_value() && found->attempts > 0) failed = found->gone() / found->attempts;
  return {{"CPU efficiency", run.Metric("cpu_efficiency"), BandOf(KeyFigure::kCpuEfficiency)},
          {"cores busy", run.Metric("core_efficiency"), std::nullopt},
          {"balance before the tail", run.Metric("balance"), BandOf(KeyFigure::kBalance)},
          {"blocked, of chunk time", ShareOf(run, kBlockedShare), BandOf(KeyFigure::kWaiting)},
          {"fullest memory, of its limit", run.Metric("memory_utilization_max"), MemoryBand(run.run.engine)},
          {"failed or lost, of attempts", failed, BandOf(KeyFigure::kFailedAttempts)}};
}

void AddZones(const Bullet& bullet, double top, Json* zones) {
  if (!bullet.judged_as.has_value()) return;
  const KeyFigureBand& band = *bullet.judged_as;
  const std::array<double, 4> edges = {0, 100 * std::min(band.good, band.bad), 100 * std::max(band.good, band.bad),
                                       top};
  std::array<std::string_view, 3> names = {"good", "watch", "bad"};
  if (band.more_is_better) std::swap(names.front(), names.back());
  for (size_t i = 0; i < names.size(); ++i) {
    if (edges[i + 1] <= edges[i]) continue;
    zones->push_back({{"figure", bullet.label}, {"from", edges[i]}, {"to", edges[i + 1]}, {"zone", names[i]}});
  }
}

constexpr size_t kMostBars = 25;
constexpr char kOther[] = "(other)";

bool IsOther(const SectionRow& section) { return section.path == kOther; }

std::vector<SectionRow> KnownSections(const Measurement& measurement) {
  std::vector<SectionRow> sections = measurement.sections;
  EraseWhere(&sections, [](const SectionRow& row) { return !row.total.has_value() || !row.self.has_value(); });
  return sections;
}

bool HasNamed(const std::vector<SectionRow>& sections) { return !absl::c_all_of(sections, IsOther); }

/// nullopt: nothing encloses it. That is not the same as a parent without a name.
std::optional<std::string> ParentOf(std::string_view path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return std::nullopt;
  return std::string(path.substr(0, slash));
}

/// What colour stands for: a section counts as computing from half its time on.
std::string_view KindOf(const SectionRow& section) {
  if (IsOther(section)) return "outside every section";
  if (!section.cpu.has_value()) return "CPU not measured";
  return kMostlyWaits.Holds(*section.cpu / *section.total) ? "mostly waiting" : "mostly CPU";
}

/// Puts sections side by side inside what encloses them, largest first.
class IcicleLayout {
 public:
  IcicleLayout(const std::vector<SectionRow>& sections, double whole) : whole_(whole) {
    for (const SectionRow& section : sections) {
      if (!section.helper.value_or(false) && *section.total > 0) children_[ParentOf(section.path)].push_back(&section);
    }
    for (auto& [parent, children] : children_) {
      SortLargestFirst(&children, [](const SectionRow* a) { return std::make_pair(!IsOther(*a), *a->total); });
    }
    Place(std::nullopt, 0, 0);
  }

  Json& cells() { return cells_; }

 private:
  void Place(const std::optional<std::string>& parent, double from, int level) {
    const auto found = children_.find(parent);
    if (found == children_.end()) return;
    for (const SectionRow* section : found->second) {
      Cell(*section, from, level);
      if (!IsOther(*section)) Place(section->path, from, level + 1);
      from += *section->total;
    }
  }

  void Cell(const SectionRow& section, double from, int level) {
    const double share = *section.total / whole_;
    if (share < kRoundsToZero) return;  // below a pixel, too
    // a letter is about 6.5 of the 720 pixels
    const auto letters = static_cast<size_t>(share * 720 / 6.5);
    const std::string& path = section.path;
    const std::string name = ShownName(NameOfPathPart(std::string(LastPart(path))));
    std::string label = fmt::format("{} {}", name, HumanPercent(share));
    if (label.size() > letters) label = name.size() <= letters ? name : "";
    cells_.push_back({{"path", ShownName(path)},
                      {"label", label},
                      {"from", Rounded(100 * from / whole_)},
                      {"to", Rounded(100 * (from + *section.total) / whole_)},
                      {"middle", Rounded(100 * (from + *section.total / 2) / whole_)},
                      {"level", level},
                      {"kind", KindOf(section)},
                      {"seconds", *section.total},
                      {"self", *section.self},
                      {"cpu", RealOf(section.cpu)},
                      {"calls", section.count.value_or(0)}});
  }

  double whole_;
  std::map<std::optional<std::string>, std::vector<const SectionRow*>> children_;
  Json cells_ = Json::array();
};

double WholeOf(const std::vector<SectionRow>& sections) {
  return SumOf<double>(sections, [](const SectionRow& section) {
    return section.helper.value_or(false) || ParentOf(section.path).has_value() ? 0 : *section.total;
  });
}

std::map<std::string, double> SelfTimes(const Measurement* measurement) {
  std::map<std::string, double> times;
  if (measurement == nullptr) return times;
  for (const SectionRow& section : KnownSections(*measurement)) times[section.Label()] = *section.self;
  return times;
}

}  // namespace

Drawing DrawActivityBreakdown(const ChartInput& input) {
  const std::optional<BudgetRows> budget = ReadBudget(*input.measurement);
  if (!budget.has_value()) return NotDrawn(WhyNoRows("budget", *input.measurement));
  const std::optional<BudgetRows> other = input.baseline == nullptr ? std::nullopt : ReadBudget(*input.baseline);
  Json values = {{"groups", GroupColours(*budget)}};
  for (const BudgetPart& part : budget->parts) {
    Json row = {{"part", part.name()},
                {"group", part.group},
                {"seconds", part.core_seconds},
                {"share", Rounded(100 * part.share)},
                {"words", fmt::format("{} · {}", HumanPercent(part.share, 1), HumanDuration(part.core_seconds))}};
    const double baseline = other.has_value() ? other->Share(part.part) : 0;
    if (other.has_value()) row["baseline"] = Rounded(100 * baseline);
    row["end"] = Rounded(100 * std::max(part.share, baseline));
    values["parts"].push_back(std::move(row));
  }
  if (other.has_value()) values["has baseline"] = true;
  return {FilledTemplate("activity_breakdown", values),
          fmt::format("{} of cores; the parts add up to 100 %{}", HumanDuration(budget->core_seconds),
                      other.has_value() ? "; grey ticks: baseline" : "")};
}

Drawing DrawEfficiencySummary(const ChartInput& input) {
  const std::vector<Bullet> bullets = BulletsOf(*input.measurement);
  std::vector<Bullet> others = input.baseline == nullptr ? std::vector<Bullet>() : BulletsOf(*input.baseline);
  others.resize(bullets.size());
  double top = 100;
  for (size_t i = 0; i < bullets.size(); ++i) {
    if (!bullets[i].share.has_value()) continue;
    top = std::max({top, 100 * *bullets[i].share, 100 * others[i].share.value_or(0)});
  }
  Json figures = Json::array(), bars = Json::array(), zones = Json::array(), baselines = Json::array();
  std::string finding;
  for (size_t i = 0; i < bullets.size(); ++i) {
    const auto& [label, share, judged_as] = bullets[i];
    if (!share.has_value()) continue;
    if (figures.empty()) finding = fmt::format("{} {}", label, HumanPercent(*share));
    figures.push_back(label);
    AddZones(bullets[i], top, &zones);
    std::string words = HumanPercent(*share, 1);
    std::string_view sign;
    if (judged_as.has_value()) {
      const Mark mark = MarkOf(*judged_as, *share);
      sign = SignOf(mark);
      words += fmt::format(" · {} ({})", ToString(mark), GoodHint(*judged_as));
    }
    bars.push_back(
        {{"figure", label}, {"share", Rounded(100 * *share)}, {"words", words}, {"sign", sign}, {"end", top}});
    if (others[i].share.has_value())
      baselines.push_back({{"figure", label}, {"share", Rounded(100 * *others[i].share)}});
  }
  if (bars.empty()) return NotDrawn(input.measurement->WhyNotMeasured("cpu_efficiency"));
  if (input.baseline != nullptr) finding += "; grey ticks: baseline";
  return {FilledTemplate("efficiency_summary", {{"figures", std::move(figures)},
                                                {"top", top},
                                                {"zones", std::move(zones)},
                                                {"bars", std::move(bars)},
                                                {"baselines", std::move(baselines)}}),
          finding};
}

Drawing DrawContention(const ChartInput& input) {
  constexpr double kMilliseconds = 1e3;
  if (input.measurement->contention.empty()) return NotDrawn(WhyNoRows("contention", *input.measurement));
  const ContentionRow& found = input.measurement->contention.front();
  if (found.points.empty() || !found.slope.has_value())
    return NotDrawn(found.reason.empty() ? "not measured" : found.reason.str());
  const auto row = [](double lanes, double seconds) {
    return Json{{"lanes", Rounded(lanes)}, {"blocked", Rounded(kMilliseconds * seconds)}};
  };
  Json points = Json::array(), line = Json::array();
  for (const LanePoint& point : found.points) points.push_back(row(point.lanes, point.seconds));
  // the line goes through the middle of the points
  const LanePoint& middle = found.points[found.points.size() / 2];
  for (const LanePoint& end : {found.points.front(), found.points.back()}) {
    line.push_back(row(end.lanes, middle.seconds + *found.slope * (end.lanes - middle.lanes)));
  }
  const double low = found.slope_low.value_or(0), high = found.slope_high.value_or(0);
  std::string finding = "no";
  if (low > 0) {
    finding = fmt::format("yes: something that all chunks share serves about {} events a second ({} to {})",
                          HumanCount(1 / *found.slope), HumanCount(1 / high), HumanCount(1 / low));
  } else if (high > 0) {
    finding =
        fmt::format("no more than chance explains; at most {} an event for each further chunk", HumanDuration(high));
  }
  return {FilledTemplate("contention", {{"line", std::move(line)}, {"points", std::move(points)}}), finding};
}

Drawing DrawSectionIcicle(const ChartInput& input) {
  const std::vector<SectionRow> sections = KnownSections(*input.measurement);
  const double whole = WholeOf(sections);
  if (!HasNamed(sections) || !(whole > 0)) return NotDrawn(WhyNoRows("sections", *input.measurement));
  IcicleLayout layout(sections, whole);
  return {FilledTemplate("section_icicle", {{"cells", std::move(layout.cells())}}),
          fmt::format("{} of chunk time; width is time; nested sections are below", HumanDuration(whole))};
}

Drawing DrawSectionSelfTime(const ChartInput& input) {
  std::vector<SectionRow> sections = KnownSections(*input.measurement);
  SortLargestFirst(&sections, [](const SectionRow& a) { return *a.self; });
  const size_t all = sections.size();
  if (all > kMostBars) sections.resize(kMostBars);
  if (!HasNamed(sections)) return NotDrawn(WhyNoRows("sections", *input.measurement));
  const double busy = TimeOfThreads(*input.measurement).value_or(0);
  const std::map<std::string, double> baseline = SelfTimes(input.baseline);
  Json values;
  ShownNames names;
  for (const SectionRow& section : sections) {
    std::string words = HumanDuration(*section.self);
    if (busy > 0) words += " · " + HumanPercent(*section.self / busy);
    Json row = {{"section", names.Of(section.Label())},
                {"self", *section.self},
                {"calls", section.count.value_or(0)},
                {"kind", KindOf(section)},
                {"words", words},
                {"end", *section.self}};
    if (const auto other = baseline.find(section.Label()); other != baseline.end()) {
      row["baseline"] = other->second;
      row["end"] = std::max(*section.self, other->second);
    }
    values["sections"].push_back(std::move(row));
  }
  std::string finding =
      fmt::format("largest: {}, {}", ShownName(sections.front().Label()), HumanDuration(*sections.front().self));
  if (all > kMostBars) finding += fmt::format("; {} smaller ones not drawn", all - kMostBars);
  if (!baseline.empty()) {
    values["has baseline"] = true;
    finding += "; grey ticks: baseline";
  }
  return {FilledTemplate("section_self_time", values), finding};
}

}  // namespace crema

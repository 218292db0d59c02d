#include "collector/comparison/comparison.h"

#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "collector/diagnosis/evidence.h"
#include "collector/diagnosis/run_head.h"
#include "collector/diagnosis/words.h"
#include "collector/format/human_numbers.h"
#include "collector/measurement/budget_parts.h"
#include "collector/measurement/catalog.h"
#include "nlohmann/json.hpp"

namespace crema {
namespace {

using Documents = std::vector<const Measurement*>;

constexpr size_t kNamed = 3;  // parts of the elapsed time, and sections

/// One of each run; empty: not known of all.
std::vector<double> ValuesOf(const Documents& documents, std::string_view key) {
  std::vector<double> values;
  for (const Measurement* measurement : documents) {
    const std::optional<double> one = measurement->Metric(key);
    if (!one.has_value()) return {};
    values.push_back(*one);
  }
  return values;
}

ElapsedDifference DifferenceOf(const std::vector<double>& before, const std::vector<double>& after) {
  ElapsedDifference difference{MeanOf(after) - MeanOf(before), std::nullopt, std::nullopt};
  if (before.size() + after.size() > 2) {
    double deviation = 0;
    const MeasuredChange measured = BetweenSides(before, after, &deviation);
    difference.low = difference.seconds - measured.below;
    difference.high = difference.seconds + measured.above;
  }
  return difference;
}

/// Parts of each run's elapsed time, by their names; false where a run has no budget.
bool SplitElapsed(const Documents& documents, std::vector<std::map<std::string, double>>* runs) {
  for (const Measurement* measurement : documents) {
    const std::optional<BudgetRows> budget = ReadBudget(*measurement);
    const double wall_time = measurement->Metric("wall_time").value_or(0);
    if (!budget.has_value() || budget->core_seconds <= 0) return false;
    std::map<std::string, double>& parts = runs->emplace_back();
    const double absent = SumOf<double>(GapsOfWorkers(*measurement, 0), &WorkerGap::seconds);
    if (absent > 0) parts["no worker"] = absent;
    for (const BudgetPart& part : budget->parts)
      parts[part.part] += part.core_seconds / budget->core_seconds * (wall_time - absent);
  }
  return true;
}

/// nullopt: the wall time of a run is missing, or a side has no run.
std::optional<ElapsedChange> CompareElapsed(const Documents& before, const Documents& after) {
  const std::vector<double> was = ValuesOf(before, "wall_time"), now = ValuesOf(after, "wall_time");
  if (was.empty() || now.empty()) return std::nullopt;
  ElapsedChange change{MeanOf(was), MeanOf(now), DifferenceOf(was, now), {}};
  std::vector<std::map<std::string, double>> runs;
  if (!SplitElapsed(before, &runs) || !SplitElapsed(after, &runs)) return change;
  std::map<std::string, double> any;
  for (const auto& run : runs) any.insert(run.begin(), run.end());
  for (const auto& part : any) {
    const auto seconds = Mapped<double>(runs, [&part](const auto& run) { return ValueOr(run, part.first, 0); });
    const auto middle = seconds.begin() + static_cast<ptrdiff_t>(before.size());
    change.parts.push_back({part.first, DifferenceOf({seconds.begin(), middle}, {middle, seconds.end()})});
  }
  SortLargestFirst(&change.parts, [](const ElapsedPart& a) { return std::fabs(a.difference.seconds); });
  return change;
}

/// "after (it was killed)"
std::string NameWithEnd(const ComparedSide& side) {
  std::set<std::string> endings;
  for (const Measurement* measurement : side.documents) endings.insert(WhyNotWhole(*measurement));
  endings.erase("");
  if (endings.empty()) return side.name;
  return fmt::format("{} ({}{})", side.name, side.documents.size() > 1 ? "not all of its runs finished: " : "",
                     absl::StrJoin(endings, "; "));
}

/// "after took 11.0 s, before 10.0 s (+10.0 %). Per core: CPU +610 ms, while the last chunks ran +320 ms."
std::string ElapsedWords(const ComparedSide& before, const ComparedSide& after) {
  const std::optional<ElapsedChange> change = CompareElapsed(before.documents, after.documents);
  if (!change.has_value() || change->before <= 0) {
    return fmt::format("Whether {} took longer than {} is not known: a run has no elapsed time.", NameWithEnd(after),
                       NameWithEnd(before));
  }
  const ElapsedDifference& difference = change->difference;
  std::string text =
      fmt::format("{} took {}, {} {} ({}", NameWithEnd(after), HumanDuration(change->after), NameWithEnd(before),
                  HumanDuration(change->before), HumanChange(difference.seconds / change->before));
  if (difference.low.has_value()) {
    text += fmt::format("; {}, {} to {}", HumanTimeChange(difference.seconds), HumanTimeChange(*difference.low),
                        HumanTimeChange(*difference.high));
  }
  text += ")";
  size_t named = 0;
  for (const ElapsedPart& part : change->parts) {
    if (named == kNamed || !kWorthNaming.Holds(std::fabs(part.difference.seconds) / change->before)) break;
    const BudgetPartKind* kind = FindBudgetPart(part.part);
    text += fmt::format("{}{} {}", named++ == 0 ? ". Per core: " : ", ", kind != nullptr ? kind->name : part.part,
                        HumanTimeChange(part.difference.seconds));
  }
  return text + ".";
}

/// The section inside this one that takes most of its time, on both sides; empty: there is none.
std::string MostInside(const std::string& section, const ComparedSide& before, const ComparedSide& after) {
  std::string most;
  for (const ComparedSide* side : {&before, &after}) {
    std::map<std::string, double> self;
    double all = 0;
    for (const Measurement* measurement : side->documents) {
      for (const SectionRow& row : measurement->sections) {
        const std::string path = row.path.str();
        if (row.helper.value_or(false) || (path != section && !absl::StartsWith(path, section + "/"))) continue;
        self[path] += row.self.value_or(0);
        all += row.self.value_or(0);
      }
    }
    if (!(all > 0)) return "";
    const auto [largest, seconds] = LargestBy(self, [](const auto& one) { return one.second; });
    const std::string& path = largest->first;
    if (path == section || !kMostOfIt.Holds(seconds / all) || (!most.empty() && most != path)) return "";
    most = path;
  }
  return most;
}

std::string EffectWords(const PairedChange& change, const ComparedSide& before, const ComparedSide& after) {
  std::string text;
  size_t named = 0;
  double rest = 0;
  for (const ChangeEffect& effect : change.effects) {
    if (effect.is_sure && named < kNamed && kWorthNaming.Holds(std::fabs(effect.change))) {
      const std::string inside = MostInside(effect.what, before, after);
      text += fmt::format("{}{} {} {}{}{}", named == 0 ? ": " : ", ", effect.what, effect.change > 0 ? "adds" : "saves",
                          HumanPercent(std::fabs(effect.change), 1), named == 0 ? " of the whole" : "",
                          inside.empty() ? "" : " (" + ShortName(inside) + " takes most of its time)");
      ++named;
    } else {
      rest = std::max({rest, std::fabs(effect.low), std::fabs(effect.high)});
    }
  }
  if (named > 0 && named < change.effects.size()) text += fmt::format("; all else within ±{}", HumanPercent(rest));
  return text;
}

/// "The work in its chunks is 6.1 % longer (4.8 % to 7.3 %): select adds 5.2 % of the whole; all else within ±0.6 %."
std::string WorkWords(const PairedChange& change, const ComparedSide& before, const ComparedSide& after) {
  const std::string what = fmt::format("The {} in its chunks{}", change.is_of_work ? "work" : "time",
                                       change.is_by_event ? " for each event" : "");
  const auto size = [](double share) { return HumanPercent(std::fabs(share), 1); };
  const std::string number = HumanChange(change.change);
  const std::string range = fmt::format("{} to {}", HumanChange(change.low), HumanChange(change.high));
  const bool is_slower = change.conclusion == ChangeConclusion::kSlower;
  std::string text = fmt::format("{} differs by {} ({}): whether it changed is not known", what, number, range);
  if (is_slower || change.conclusion == ChangeConclusion::kFaster) {
    text = fmt::format("{} is {} {} ({} to {})", what, size(change.change), is_slower ? "longer" : "shorter",
                       size(is_slower ? change.low : change.high), size(is_slower ? change.high : change.low));
  } else if (change.conclusion == ChangeConclusion::kSame) {
    text = fmt::format("{} is about as long: {} ({})", what, number, range);
  }
  if (change.is_short_of_cpu && change.conclusion == ChangeConclusion::kUnclear) {
    text += ", because threads waited for CPUs, and this may also have blocked the threads that waited for these";
  }
  return text + EffectWords(change, before, after) + ".";
}

/// What the machine's other programs decide, and not the work.
std::string WaitingWords(const PairedChange& change, const ComparedSide& before) {
  double busy = SumOf<double>(before.documents, [&](const Measurement* measurement) {
    return measurement->Metric("busy_time").value_or(0) / static_cast<double>(before.documents.size());
  });
  const double more = change.after_waiting - change.before_waiting;
  if (!change.is_of_work || busy <= 0 || !kWorthNaming.Holds(std::fabs(more) / busy)) return "";
  return fmt::format(" Beside the work, its chunks waited {} for a CPU (those of {}: {}).",
                     HumanDuration(change.after_waiting), before.name, HumanDuration(change.before_waiting));
}

std::string PairWords(const PairedChange& change) {
  const auto pairs = static_cast<double>(change.pairs);
  std::string text = change.paired_by == "none"
                         ? fmt::format(" Not paired, because chunks have no ranges in common: {} a side.",
                                       Counted(pairs, "chunk", "chunks"))
                         : fmt::format(" Paired by {} ({}).", change.paired_by, Counted(pairs, "pair", "pairs"));
  if (const double least = std::min(change.before_share, change.after_share); !kAllOfTheInput.Holds(least)) {
    text += fmt::format(" This is of the input that both have: {} of the first and {} of the second one's time.",
                        HumanPercent(change.before_share), HumanPercent(change.after_share));
  }
  if (!change.between_runs.has_value()) {
    return text +
           fmt::format(
               " The range assumes that equal runs differ by ±{}{}. They may differ by more: several runs a side "
               "measure it.",
               HumanPercent(change.assumed), change.is_beside_others ? ", because threads waited for CPUs" : "");
  }
  std::vector<std::string> needed;
  for (const double effect : kEffectsOfRuns) {
    const size_t runs = RunsNeeded(effect, *change.between_runs);
    needed.push_back(fmt::format("{} for {}", runs > 0 ? std::to_string(runs) : "over 1 000", HumanPercent(effect)));
  }
  return text + fmt::format(
                    " {} and {} runs; equal ones differ by {} (standard deviation). Runs needed on each side, by the "
                    "size of a change: {}.",
                    change.runs_before, change.runs_after, HumanPercent(*change.between_runs),
                    absl::StrJoin(needed, ", "));
}

/// The largest of a side; nullopt: not known of all its runs.
std::optional<double> PeakOf(const ComparedSide& side, std::string_view key) {
  const std::vector<double> values = ValuesOf(side.documents, key);
  return values.empty() ? std::nullopt : std::optional(*absl::c_max_element(values));
}

std::string MemoryWords(const ComparedSide& before, const ComparedSide& after) {
  for (const char* key : {"process_peak_rss_bytes", "peak_memory_bytes"}) {
    const std::optional<double> was = PeakOf(before, key), now = PeakOf(after, key);
    if (!was.has_value() || !now.has_value() || *was <= 0) continue;
    const double change = *now / *was - 1;
    if (std::fabs(change) <= kNotableChange) return "";
    return fmt::format(" Peak memory is {}, was {} ({}).", HumanMemory(*now), HumanMemory(*was), HumanChange(change));
  }
  return "";
}

/// What else may explain a difference.
std::string SurroundingsWords(const ComparedSide& before, const ComparedSide& after) {
  const auto hosts_of = [](const ComparedSide& side) {
    std::set<std::string> hosts;
    for (const Measurement* measurement : side.documents) {
      for (const BreakdownRow& row : measurement->hosts) hosts.insert(row.name);
    }
    return hosts;
  };
  std::string words;
  const std::set<std::string> was = hosts_of(before), now = hosts_of(after);
  if (was != now && !was.empty() && !now.empty()) {
    words += was.size() + now.size() > 2 ? " They ran on other hosts."
                                         : fmt::format(" They ran on other hosts: {} on {}, {} on {}.", after.name,
                                                       *now.begin(), before.name, *was.begin());
  }
  const std::optional<double> cores = PeakOf(after, "peak_cores"), cores_before = PeakOf(before, "peak_cores");
  if (cores.has_value() && cores_before.has_value() && *cores != *cores_before) {
    words += fmt::format(" {} had {}, {} {}.", after.name, Counted(*cores, "core", "cores"), before.name,
                         HumanCount(*cores_before));
  }
  return words;
}

std::string TroubleWords(const ComparedSide& side) {
  std::string words;
  for (const Measurement* measurement : side.documents) {
    std::vector<std::string> clauses = FindRunTrouble(*measurement).clauses;
    const std::string state = measurement->run.state.str();
    const bool is_sure = !clauses.empty() || state == "running" || state == "killed";
    if (const std::string why = WhyNotWhole(*measurement); !why.empty()) clauses.insert(clauses.begin(), why);
    if (clauses.empty()) continue;
    words += fmt::format(
        " {} {} complete ({}): only what it did is compared, and its elapsed time {} that of the whole.", side.name,
        is_sure ? "is not" : "may not be", absl::StrJoin(clauses, "; "), is_sure ? "is not" : "may not be");
  }
  return words;
}

/// Where pieces give no answer, of runs with as many events: what their chunks took in all, which has no range.
std::string CpuWords(const ComparedSide& before, const ComparedSide& after) {
  const std::vector<double> was = ValuesOf(before.documents, "chunk_cpu_time");
  const std::vector<double> now = ValuesOf(after.documents, "chunk_cpu_time");
  if (was.empty() || now.empty() || !(MeanOf(was) > 0)) return "";
  return fmt::format(" For as many events its chunks used {} of CPU, and those of {} used {} ({}, without a range).",
                     HumanDuration(MeanOf(now)), before.name, HumanDuration(MeanOf(was)),
                     HumanChange(MeanOf(now) / MeanOf(was) - 1));
}

struct Node {
  double self_before = 0, self_after = 0;
  double before = 0, after = 0;  // with all that is inside
  std::map<std::string, Node> inside;
};

void AddTimes(const Documents& documents, double Node::*self, double Node::*all, Node* root) {
  for (const Measurement* measurement : documents) {
    for (const SectionRow& row : measurement->sections) {
      if (row.helper.value_or(false)) continue;
      Node* node = root;
      const double seconds = row.self.value_or(0) / static_cast<double>(documents.size());
      for (const absl::string_view name : absl::StrSplit(row.path.str(), '/')) {
        node = &node->inside[std::string(name)];
        node->*all += seconds;
      }
      node->*self += seconds;
    }
  }
}

void AddRows(const Node& node, const std::string& path, int depth, std::vector<SectionDifference>* rows) {
  auto children =
      Mapped<const std::pair<const std::string, Node>*>(node.inside, [](const auto& child) { return &child; });
  SortLargestFirst(&children, [](const auto* a) { return std::fabs(a->second.after - a->second.before); });
  for (const auto* child : children) {
    const std::string of_child = path.empty() ? child->first : path + "/" + child->first;
    const Node& below = child->second;
    rows->push_back({of_child, depth, below.before, below.after, below.self_after - below.self_before});
    AddRows(below, of_child, depth + 1, rows);
  }
}

ComparedValue ValueOf(std::string key, std::string label, std::string unit, std::vector<std::optional<double>> values) {
  ComparedValue compared{std::move(key), std::move(label), std::move(unit), std::move(values), {}};
  const std::optional<double>& first = compared.values.front();
  compared.changes = Mapped<std::optional<double>>(compared.values, [&first](const std::optional<double>& value) {
    const bool are_known = first.has_value() && value.has_value();
    if (are_known && *first == *value) return std::optional(0.0);
    return are_known && *first != 0 ? std::optional((*value - *first) / std::fabs(*first)) : std::nullopt;
  });
  return compared;
}

std::vector<std::optional<double>> Collect(const Documents& documents,
                                           const std::function<std::optional<double>(const Measurement&)>& value_of) {
  return Mapped<std::optional<double>>(documents,
                                       [&](const Measurement* measurement) { return value_of(*measurement); });
}

bool AnyKnown(const ComparedValue& value) {
  return absl::c_any_of(value.values, [](const auto& one) { return one.has_value(); });
}

template <class Row>
std::string RowName(const Row& row) {
  return row.name;
}
std::string RowName(const CutRow& row) { return row.Label(); }
std::string RowName(const WaitSumRow& row) { return row.kind.str(); }
std::string RowName(const SectionRow& row) { return row.Label(); }

/// The rows of one table of all measurements, by name; of several with one name the first.
template <class Row>
class NamedRows {
 public:
  NamedRows(const Documents& documents, std::vector<Row> Measurement::*table) {
    std::set<std::string> seen;
    for (const Measurement* measurement : documents) {
      for (const Row& row : measurement->*table) {
        std::string name = RowName(row);
        if (seen.insert(name).second) names_.push_back(name);
        rows_.try_emplace({measurement, std::move(name)}, &row);
      }
    }
  }

  /// In the order of the first measurement, then those that only later ones have.
  const std::vector<std::string>& names() const { return names_; }
  /// `of`: a member or a function.
  template <class Function>
  std::optional<double> Value(const Measurement& measurement, const std::string& name, const Function& of) const {
    const auto row = rows_.find({&measurement, name});
    return row == rows_.end() ? std::nullopt : std::optional<double>(std::invoke(of, *row->second));
  }

 private:
  std::vector<std::string> names_;
  std::map<std::pair<const Measurement*, std::string>, const Row*> rows_;
};

/// The columns that are compared (`Column::compared`).
template <class Row>
std::vector<ComparedRow> CompareRows(const Documents& documents, std::vector<Row> Measurement::*table) {
  std::vector<const Column*> columns = PlacesWhere(Row::Columns(), &Column::compared);
  SortBy(&columns, &Column::compared);
  std::vector<ComparedRow> rows;
  const NamedRows<Row> named(documents, table);
  for (const std::string& name : named.names()) {
    ComparedRow row{name, {}};
    for (const Column* column : columns) {
      const auto number = [column](const Row& of) { return NumberOf(column->cell(&of)); };
      ComparedValue value = ValueOf(
          std::string(column->key), "", std::string(column->unit),
          Collect(documents, [&](const Measurement& measurement) { return named.Value(measurement, name, number); }));
      if (AnyKnown(value)) row.fields.push_back(std::move(value));
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

/// By kind, the one that the first measurement has most of first.
std::vector<ComparedRow> CompareWaits(const Documents& documents) {
  std::vector<ComparedRow> rows;
  const NamedRows waits(documents, &Measurement::waits);
  for (const std::string& kind : waits.names()) {
    const auto seconds = [&kind](const Measurement& measurement) {
      std::optional<double> sum;  // of a run without waits nothing is known
      for (const WaitSumRow& row : measurement.waits) {
        sum = sum.value_or(0) + (row.kind.str() == kind ? row.seconds.value_or(0) : 0);
      }
      return sum;
    };
    rows.push_back({kind, {ValueOf("seconds", "", "s", Collect(documents, seconds))}});
  }
  return rows;
}

std::vector<ComparedValue> CompareMetrics(const Documents& documents) {
  std::vector<ComparedValue> metrics;
  for (const MetricDefinition& definition : MetricCatalog()) {
    const std::string& key = definition.key;
    ComparedValue value =
        ValueOf(key, definition.label, definition.unit,
                Collect(documents, [&key](const Measurement& measurement) { return measurement.Metric(key); }));
    if (AnyKnown(value)) metrics.push_back(std::move(value));
  }
  return metrics;
}

std::vector<ComparedValue> CompareContents(const Documents& documents) {
  std::vector<ComparedValue> contents;
  const auto add = [&](std::string key, std::string label, const auto& value_of) {
    ComparedValue value = ValueOf(std::move(key), std::move(label), "count", Collect(documents, value_of));
    if (AnyKnown(value)) contents.push_back(std::move(value));
  };
  add("total_events", "events", [](const Measurement& measurement) { return measurement.Metric("total_events"); });
  const NamedRows datasets(documents, &Measurement::datasets);
  for (const std::string& name : datasets.names()) {
    add("dataset:" + name + ":events", "events of " + name,
        [&](const Measurement& measurement) { return datasets.Value(measurement, name, &BreakdownRow::events); });
  }
  const NamedRows cuts(documents, &Measurement::cuts);
  for (const std::string& name : cuts.names()) {
    for (Number CutRow::*field : {&CutRow::events, &CutRow::weights}) {
      const std::string key(ColumnOfMember(field).key);
      add(fmt::format("cut:{}:{}", name, key), key + " after " + name,
          [&](const Measurement& measurement) { return cuts.Value(measurement, name, field); });
    }
  }
  return contents;
}

/// The parts of a path, the last one first, without those of no name.
std::vector<std::string> PartsFromTheEnd(const std::string& path) {
  std::vector<std::string> parts = absl::StrSplit(path, '/', absl::SkipEmpty());
  parts.erase(std::remove(parts.begin(), parts.end(), "."), parts.end());
  absl::c_reverse(parts);
  return parts;
}

/// The last part of each source's path in which they differ, where that distinguishes all of them; else none.
std::vector<std::string> DifferingParts(const std::vector<std::string>& sources) {
  const auto paths = Mapped<std::vector<std::string>>(sources, PartsFromTheEnd);
  for (size_t at = 0;; ++at) {
    std::vector<std::string> parts;
    for (const auto& path : paths) {
      if (at >= path.size()) return {};
      parts.push_back(path[at]);
    }
    const size_t different = std::set<std::string>(parts.begin(), parts.end()).size();
    if (different == parts.size()) return parts;
    if (different > 1) return {};
  }
}

std::vector<ComparedRun> RunsOf(const Documents& documents, const std::vector<std::string>& sources) {
  std::vector<ComparedRun> runs;
  std::set<std::string> taken;
  const std::vector<std::string> names = NamesOfRuns(documents, sources);
  for (const Measurement* measurement : documents) {
    const std::string& name = names[runs.size()];
    std::string unique = name;
    for (int number = 2; !taken.insert(unique).second; ++number) unique = fmt::format("{} ({})", name, number);
    runs.push_back({unique, measurement->run.id, measurement->run.state});
  }
  return runs;
}

/// Sums of weights are floating-point sums in whatever order the chunks came (docs/metrics.md, "Rules").
bool SameWithinRounding(double left, double right) {
  return std::fabs(left - right) <= 1e-12 * std::max(std::fabs(left), std::fabs(right));
}

bool IsEqual(const ComparedValue& value) {
  const std::optional<double>& first = value.values.front();
  return absl::c_all_of(value.values, [&first](const std::optional<double>& other) {
    return first.has_value() && other.has_value() && SameWithinRounding(*first, *other);
  });
}

/// The mean over the runs of each side. Of what should be equal: the one value that all runs of the side have.
void ReduceToSides(size_t before, bool is_equal, ComparedValue* value) {
  std::vector<std::optional<double>> sides;
  for (const auto& [begin, end] : {std::pair(size_t{0}, before), std::pair(before, value->values.size())}) {
    double sum = 0;
    bool is_known = true;
    for (size_t at = begin; at < end; ++at) {
      const std::optional<double>& one = value->values[at];
      is_known =
          is_known && one.has_value() && (!is_equal || SameWithinRounding(*one, value->values[begin].value_or(0)));
      sum += one.value_or(0);
    }
    sides.push_back(is_known ? std::optional(is_equal ? *value->values[begin] : sum / static_cast<double>(end - begin))
                             : std::nullopt);
  }
  *value = ValueOf(value->key, value->label, value->unit, std::move(sides));
}

void CompareFigures(const Documents& documents, Comparison* comparison) {
  comparison->should_be_equal = CompareContents(documents);
  comparison->metrics = CompareMetrics(documents);
  comparison->datasets = CompareRows(documents, &Measurement::datasets);
  comparison->sections = CompareRows(documents, &Measurement::sections);
  comparison->waits = CompareWaits(documents);
}

Json ToJson(const std::optional<double>& value) { return value.has_value() ? Json(*value) : Json(); }

Json ToJson(const ElapsedDifference& difference) {
  return {{"difference", difference.seconds}, {"low", ToJson(difference.low)}, {"high", ToJson(difference.high)}};
}

Json ToJson(const ElapsedPart& part) {
  Json json = {{"part", part.part}};
  json.update(ToJson(part.difference));
  return json;
}

template <class Item>
Json ToJson(const std::vector<Item>& items);

Json ToJson(const ElapsedChange& change) {
  Json elapsed = {{"before", change.before}, {"after", change.after}};
  elapsed.update(ToJson(change.difference));
  elapsed["parts"] = ToJson(change.parts);
  return elapsed;
}

Json ToJson(const SectionDifference& section) {
  return {{"path", section.path},
          {"depth", section.depth},
          {"before", section.before},
          {"after", section.after},
          {"difference", section.difference()},
          {"self_difference", section.self_difference}};
}

Json ToJson(const ComparedRun& run) { return {{"name", run.name}, {"id", run.id}, {"state", run.state}}; }

Json ToJson(const ComparedValue& value) {
  return {{"key", value.key},
          {"label", value.label},
          {"unit", value.unit},
          {"values", ToJson(value.values)},
          {"changes", ToJson(value.changes)}};
}

Json ToJson(const ComparedRow& row) { return {{"name", row.name}, {"fields", ToJson(row.fields)}}; }

template <class Item>
Json ToJson(const std::vector<Item>& items) {
  return Mapped<Json>(items, [](const Item& item) { return ToJson(item); });
}

}  // namespace

std::string ComparisonSentence(const ComparedSide& before, const ComparedSide& after, const PairedChange* paired) {
  bool same_events = true, are_known = true;
  for (const ComparedSide* side : {&before, &after}) {
    for (const Measurement* measurement : side->documents) {
      same_events = same_events && HaveSameEvents(*before.documents.front(), *measurement);
      are_known = are_known && measurement->Metric("total_events").has_value();
    }
  }
  std::string words = ElapsedWords(before, after);
  if (!same_events) {
    words += are_known ? " The two did not process the same events."
                       : " Whether the two processed the same events is not known.";
  }
  if (paired != nullptr && paired->conclusion != ChangeConclusion::kNotKnown) {
    words += " " + WorkWords(*paired, before, after) + WaitingWords(*paired, before) + PairWords(*paired);
  } else {
    words +=
        fmt::format(" Whether its work took longer is not known{}.", paired == nullptr ? "" : ": " + paired->why_not);
    if (same_events) words += CpuWords(before, after);
  }
  return words + MemoryWords(before, after) + SurroundingsWords(before, after) + TroubleWords(before) +
         TroubleWords(after);
}

std::vector<SectionDifference> CompareSectionTrees(const Documents& before, const Documents& after) {
  Node root;
  AddTimes(before, &Node::self_before, &Node::before, &root);
  AddTimes(after, &Node::self_after, &Node::after, &root);
  std::vector<SectionDifference> rows;
  AddRows(root, "", 0, &rows);
  return rows;
}

std::vector<std::string> NamesOfRuns(const Documents& documents, const std::vector<std::string>& sources) {
  std::map<std::string, std::vector<size_t>> runs_of_name;
  std::vector<std::string> names;
  for (const Measurement* measurement : documents) {
    names.push_back(RunName(*measurement));
    runs_of_name[names.back()].push_back(names.size() - 1);
  }
  if (sources.size() != documents.size()) return names;
  for (const auto& [name, runs] : runs_of_name) {
    std::vector<std::string> paths = Mapped<std::string>(runs, [&](const size_t run) { return sources[run]; });
    const std::vector<std::string> parts = runs.size() > 1 ? DifferingParts(paths) : std::vector<std::string>();
    for (size_t i = 0; i < parts.size(); ++i) names[runs[i]] = parts[i];
  }
  return names;
}

bool ComparedValue::differs() const {
  return absl::c_any_of(changes,
                        [](const std::optional<double>& change) { return !change.has_value() || *change != 0; });
}

std::vector<ComparedValue> Comparison::Unequal() const {
  std::vector<ComparedValue> unequal = should_be_equal;
  EraseWhere(&unequal, IsEqual);
  return unequal;
}

Comparison Compare(const Documents& documents, std::vector<PairedChange> paired,
                   const std::vector<std::string>& sources) {
  Comparison comparison;
  comparison.paired = std::move(paired);
  if (documents.empty()) return comparison;
  comparison.runs = RunsOf(documents, sources);
  for (size_t at = 1; at < documents.size(); ++at) {
    const PairedChange* by_pieces = at <= comparison.paired.size() ? &comparison.paired[at - 1] : nullptr;
    comparison.sentences.push_back(ComparisonSentence({{documents[0]}, comparison.runs[0].name},
                                                      {{documents[at]}, comparison.runs[at].name}, by_pieces));
    if (const auto elapsed = CompareElapsed({documents[0]}, {documents[at]})) comparison.elapsed.push_back(*elapsed);
  }
  if (comparison.elapsed.size() + 1 < documents.size()) comparison.elapsed.clear();
  CompareFigures(documents, &comparison);
  if (documents.size() == 2) comparison.section_tree = CompareSectionTrees({documents[0]}, {documents[1]});
  return comparison;
}

Comparison CompareSides(const Documents& before, const Documents& after, std::vector<PairedChange> paired) {
  Documents all = before;
  all.insert(all.end(), after.begin(), after.end());
  Comparison comparison;
  comparison.paired = std::move(paired);
  const std::vector<ComparedRun> runs = RunsOf(all, {});
  const auto first_after = runs.begin() + static_cast<ptrdiff_t>(before.size());
  comparison.runs_before.assign(runs.begin(), first_after);
  comparison.runs_after.assign(first_after, runs.end());
  comparison.runs = {{"before", "", ""}, {"after", "", ""}};
  comparison.sentences.push_back(ComparisonSentence({before, "before"}, {after, "after"},
                                                    comparison.paired.empty() ? nullptr : &comparison.paired.front()));
  if (const auto elapsed = CompareElapsed(before, after)) comparison.elapsed.push_back(*elapsed);
  CompareFigures(all, &comparison);
  comparison.section_tree = CompareSectionTrees(before, after);
  for (ComparedValue& value : comparison.should_be_equal) ReduceToSides(before.size(), /*is_equal=*/true, &value);
  for (ComparedValue& value : comparison.metrics) ReduceToSides(before.size(), false, &value);
  for (std::vector<ComparedRow>* rows : {&comparison.datasets, &comparison.sections, &comparison.waits}) {
    for (ComparedRow& row : *rows) {
      for (ComparedValue& value : row.fields) ReduceToSides(before.size(), false, &value);
    }
  }
  return comparison;
}

Json ComparisonAsJson(const Comparison& comparison) {
  Json document = {{"schema", "crema.comparison/1"},
                   {"schema_minor", 9},
                   {"runs", ToJson(comparison.runs)},
                   {"sentences", comparison.sentences}};
  if (!comparison.runs_before.empty()) {
    document["sides"] = {{"before", ToJson(comparison.runs_before)}, {"after", ToJson(comparison.runs_after)}};
  }
  document["elapsed"] = ToJson(comparison.elapsed);
  Json paired = Mapped<Json>(comparison.paired, PairedChangeAsJson);
  if (paired.size() == 1) document.update(paired.front());
  document["paired"] = std::move(paired);
  document.update(Json({{"unequal", ToJson(comparison.Unequal())},
                        {"should_be_equal", ToJson(comparison.should_be_equal)},
                        {"metrics", ToJson(comparison.metrics)},
                        {"datasets", ToJson(comparison.datasets)},
                        {"sections", ToJson(comparison.sections)},
                        {"waits", ToJson(comparison.waits)},
                        {"section_tree", ToJson(comparison.section_tree)}}));
  return document;
}

}  // namespace crema

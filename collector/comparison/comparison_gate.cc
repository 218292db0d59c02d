// Gates on a comparison, for continuous integration.

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "collector/comparison/comparison.h"
#include "collector/format/human_numbers.h"
#include "collector/format/worker_names.h"
#include "collector/idioms/sequences.h"
#include "collector/measurement/catalog.h"

namespace crema {
namespace {

constexpr char kUnequal[] = "unequal";

/// The value that a gate names; null where there is none, and `meant` then says what may be meant.
const ComparedValue* Find(const Comparison& comparison, const std::string& key, std::string* meant) {
  const auto find = [meant](const auto& list, auto member, const std::string& name) {
    const auto* found = FindBy(list, member, name);
    if (found == nullptr) *meant = DidYouMean(name, Mapped<std::string_view>(list, member));
    return found;
  };
  for (const auto& [prefix, rows] :
       {std::pair<std::string, const std::vector<ComparedRow>*>{"dataset:", &comparison.datasets},
        {"section:", &comparison.sections}}) {
    if (key.compare(0, prefix.size(), prefix) != 0) continue;
    const size_t colon = key.find(':', prefix.size()) == key.npos ? key.size() : key.rfind(':');
    const ComparedRow* row = find(*rows, &ComparedRow::name, key.substr(prefix.size(), colon - prefix.size()));
    if (row == nullptr) return nullptr;
    return find(row->fields, &ComparedValue::key, key.substr(std::min(colon + 1, key.size())));
  }
  return find(comparison.metrics, &ComparedValue::key, key);
}

/// The change in the gate's terms; from 0 to something is beyond any limit in per cent.
std::optional<double> ChangeByGate(const ComparisonGate& gate, const ComparedValue& value, size_t at) {
  const std::optional<double>& first = value.values.front();
  const std::optional<double>& other = value.values[at];
  if (!first.has_value() || !other.has_value()) return std::nullopt;
  if (!gate.is_relative) return *other - *first;
  return value.changes[at].value_or(*other > 0 ? HUGE_VAL : -HUGE_VAL);
}

std::string ChangeText(const ComparisonGate& gate, double change, const std::string& unit) {
  if (gate.is_relative) return HumanChange(change);
  return (change < 0 ? "" : "+") + HumanQuantity(gate.key, change, unit);
}

}  // namespace

absl::StatusOr<ComparisonGate> ParseGate(const std::string& text) {
  ComparisonGate gate;
  gate.text = text;
  if (text == kUnequal) return gate;
  const absl::Status wrong = absl::InvalidArgumentError(
      fmt::format("`{}` is not a gate; write KEY>5%, KEY<-5%, KEY>0.5 (in the key's unit) or unequal", text));
  const size_t sign = text.find_last_of("<>");
  if (sign == std::string::npos || sign == 0) return wrong;
  std::string limit(absl::StripAsciiWhitespace(text.substr(sign + 1)));
  gate.key = std::string(absl::StripAsciiWhitespace(text.substr(0, sign)));
  gate.is_above = text[sign] == '>';
  gate.is_relative = !limit.empty() && limit.back() == '%';
  if (gate.is_relative) limit.pop_back();
  if (!absl::SimpleAtod(limit, &gate.limit) || !std::isfinite(gate.limit)) return wrong;
  if (gate.is_relative) gate.limit /= 100;
  return gate;
}

absl::StatusOr<GateResult> Judge(const ComparisonGate& gate, const Comparison& comparison) {
  if (gate.key.empty()) {
    if (comparison.should_be_equal.empty()) return GateResult{true, "no events or cuts were measured"};
    const std::vector<ComparedValue> unequal = comparison.Unequal();
    if (unequal.empty()) return GateResult{false, "everything that should be equal is equal"};
    return GateResult{true, fmt::format("{} of {} values that should be equal differ, {} first", unequal.size(),
                                        comparison.should_be_equal.size(), unequal.front().label)};
  }
  std::string meant;
  const ComparedValue* value = Find(comparison, gate.key, &meant);
  if (value == nullptr && FindMetric(gate.key) != nullptr) {
    return GateResult{true, fmt::format("{} is measured in no run", gate.key)};
  }
  if (value == nullptr) {
    return absl::InvalidArgumentError(fmt::format(
        "no measurement has a value of `{}`{}; `crema show SOURCE --json` lists the keys", gate.key, meant));
  }
  GateResult result;
  for (size_t at = 1; at < value->values.size(); ++at) {
    const std::optional<double> change = ChangeByGate(gate, *value, at);
    const std::string& name = comparison.runs[at].name;
    if (!change.has_value()) return GateResult{true, fmt::format("{} is not measured in both runs", gate.key)};
    const bool fell = gate.is_above ? *change > gate.limit : *change < gate.limit;
    const std::string text = std::isinf(*change) ? "from 0" : "by " + ChangeText(gate, *change, value->unit);
    const std::string sentence =
        fmt::format("{} changed {} in {} (limit: {})", gate.key, text, name, ChangeText(gate, gate.limit, value->unit));
    if (fell && !result.fell) result = {true, sentence};
    if (result.sentence.empty()) result.sentence = sentence;
  }
  const bool is_elapsed = value->unit == "s" || absl::StrContains(value->key, "_wall");
  if (is_elapsed && !absl::StrContains(value->key, "cpu") &&
      !PlacesWhere(comparison.paired, &PairedChange::is_beside_others).empty()) {
    result.doubt = "this is elapsed time, and threads waited much for CPUs: take --fail-on-sure, or chunk_cpu_time";
  }
  return result;
}

void JudgeSure(double percent, const Comparison& comparison, std::vector<JudgedGate>* judged) {
  for (size_t i = 0; i < comparison.paired.size(); ++i) {
    const PairedChange& change = comparison.paired[i];
    const std::string& name = comparison.runs[i + 1].name;
    GateResult result = {false,
                         fmt::format("whether the work of {} took longer is not known: {}", name, change.why_not)};
    if (change.conclusion != ChangeConclusion::kNotKnown) {
      result = {change.low > percent / 100,
                fmt::format("the {} in the chunks of {}{} changed by {} to {} (limit: {}){}",
                            change.is_of_work ? "work" : "time", name, change.is_by_event ? " for each event" : "",
                            HumanChange(change.low), HumanChange(change.high), HumanChange(percent / 100),
                            change.between_runs.has_value()
                                ? ""
                                : " if equal runs differ by no more than ±" + HumanPercent(change.assumed) +
                                      ", which one run a side does not measure")};
    }
    judged->push_back({fmt::format("--fail-on-sure {}", percent), std::move(result)});
  }
}

void JudgeUnclear(const Comparison& comparison, std::vector<JudgedGate>* judged) {
  for (size_t i = 0; i < comparison.paired.size(); ++i) {
    const PairedChange& change = comparison.paired[i];
    const bool is_known = change.conclusion != ChangeConclusion::kNotKnown;
    const bool fell = !is_known || change.conclusion == ChangeConclusion::kUnclear;
    judged->push_back({"--fail-on-unclear",
                       {fell, fmt::format("whether the work of {} took longer is {}{}", comparison.runs[i + 1].name,
                                          fell ? "not known" : "known", is_known ? "" : ": " + change.why_not)}});
  }
}

}  // namespace crema

#include "collector/metrics/attempt_tables.h"

#include <algorithm>
#include <cmath>

#include "collector/metrics/attempts/attempt_quantities.h"

namespace crema {
namespace {

std::optional<double> SecondsOfKnown(const std::optional<int64_t>& nanoseconds) {
  return nanoseconds.has_value() ? std::optional<double>(static_cast<double>(*nanoseconds) / 1e9) : std::nullopt;
}

}  // namespace

Json ChunkFitTable(const RunFigures& figures) {
  Json table = Json::array();
  for (const DatasetFit& dataset : figures.stragglers.datasets) {
    const auto events = [&](double count) { return dataset.by_events ? Json(std::llround(count)) : Json(); };
    const RobustFit& fit = dataset.fit;
    const auto if_known = [&](double value) { return fit.slope_known ? Json(value) : Json(); };
    table.push_back({{"dataset", NameOrNull(figures.findings.attempts.datasets[dataset.dataset])},
                     {"attempts", dataset.fit.points},
                     {"fixed_seconds", if_known(fit.fixed_seconds)},
                     {"fixed_seconds_low", if_known(fit.fixed_seconds - fit.fixed_error)},
                     {"fixed_seconds_high", if_known(fit.fixed_seconds + fit.fixed_error)},
                     {"seconds_per_event", if_known(fit.seconds_per_event)},
                     {"seconds_per_event_low", if_known(fit.seconds_per_event - fit.slope_error)},
                     {"seconds_per_event_high", if_known(fit.seconds_per_event + fit.slope_error)},
                     {"events_min", events(dataset.events_min)},
                     {"events_p50", events(dataset.events_p50)},
                     {"events_max", events(dataset.events_max)},
                     {"stragglers", dataset.stragglers},
                     {"oversized", dataset.oversized}});
  }
  return table;
}

Json ExpectedTimeTable(const RunFigures& figures) {
  Json table = Json::array();
  const auto add = [&](const char* by, const std::vector<ExpectedTime>& times, const auto& name_of) {
    for (size_t i = 0; i < std::min(times.size(), kMaxExpectedRows); ++i) {
      table.push_back({{"name", name_of(times[i].group)},
                       {"by", by},
                       {"attempts", times[i].attempts},
                       {"duration", times[i].duration_seconds},
                       {"predicted", times[i].predicted_seconds}});
    }
  };
  add("worker", figures.expected_by_worker,
      [&](uint32_t process) { return Json(figures.findings.processes.processes[process].worker()); });
  add("file", figures.expected_by_file,
      [&](uint32_t file) { return NameOrNull(figures.findings.attempts.files[file]); });
  return table;
}

Json SlowSpellTable(const RunFigures& figures) {
  constexpr size_t kMostSpells = 100;
  Json table = Json::array();
  const int64_t start_ns = figures.bounds.window.start_ns;
  for (const NamedSpell& named : figures.slow_spells) {
    const SlowSpell& spell = named.spell;
    if (table.size() == kMostSpells) break;
    table.push_back({{"name", NameOrNull(named.name)},
                     {"by", ToString(spell.of)},
                     {"start", static_cast<double>(spell.start_ns - start_ns) / 1e9},
                     {"stop", static_cast<double>(spell.stop_ns - start_ns) / 1e9},
                     {"attempts", spell.attempts},
                     {"duration", spell.duration_seconds},
                     {"predicted", spell.predicted_seconds},
                     {"reason", ToString(spell.reason)},
                     {"section", NameOrNull(named.section)}});
  }
  return table;
}

Json ContentionTable(const RunFigures& figures) {
  const Contention& found = figures.contention;
  Json table = Json::array();
  if (figures.findings.attempts.rows.empty()) return table;
  const bool is_known = found.why_not.empty();
  const auto known = [is_known](double value) { return is_known ? Json(value) : Json(); };
  const auto rate = [is_known](double slope) { return is_known && slope > 0 ? Json(1 / slope) : Json(); };
  const bool is_shared = is_known && found.slope_low > 0;
  Json points = Json::array();
  for (const auto& [lanes, seconds] : found.points) points.push_back({lanes, seconds});
  table.push_back({{"attempts", found.attempts},
                   {"lanes_low", found.lanes_high > 0 ? Json(found.lanes_low) : Json()},
                   {"lanes_high", found.lanes_high > 0 ? Json(found.lanes_high) : Json()},
                   {"slope", known(found.slope)},
                   {"slope_low", known(found.slope_low)},
                   {"slope_high", known(found.slope_high)},
                   {"ceiling", is_shared ? rate(found.slope) : Json()},
                   {"ceiling_low", is_shared ? rate(found.slope_high) : Json()},
                   {"ceiling_high", is_shared ? rate(found.slope_low) : Json()},
                   {"excess", known(found.excess_seconds)},
                   {"excess_low", known(found.excess_low_seconds)},
                   {"points", std::move(points)},
                   {"reason", is_known ? Json() : Json(found.why_not)}});
  return table;
}

Json StragglerTable(const RunFigures& figures, const std::vector<EntryRange>& ranges) {
  const AttemptFindings& attempts = figures.findings.attempts;
  Json table = Json::array();
  for (size_t i = 0; i < ranges.size(); ++i) {
    const Straggler& straggler = figures.stragglers.stragglers[i];
    const AttemptRow& attempt = attempts.rows[straggler.attempt];
    table.push_back({{"chunk", attempt.number},
                     {"dataset", NameOrNull(attempts.datasets[attempts.dataset_of_input[attempt.input]])},
                     {"file", NameOrNull(attempts.files[attempts.file_of_input[attempt.input]])},
                     {"entry_start", OrNull(ranges[i].start)},
                     {"entry_stop", OrNull(ranges[i].stop)},
                     {"worker", figures.findings.processes.processes[attempt.process].worker()},
                     {"start", static_cast<double>(attempt.start_ns - figures.bounds.window.start_ns) / 1e9},
                     {"duration", static_cast<double>(attempt.duration_ns) / 1e9},
                     {"predicted", OrNull(straggler.predicted_seconds)},
                     {"events", OrNull(Known(attempt.events))},
                     {"cpu", OrNull(SecondsOfKnown(ChunkCpu(attempt, attempts.helpers)))},
                     {"cpu_wait", OrNull(SecondsOfKnown(Known(attempt.cpu_wait_ns)))},
                     {"blocked", OrNull(SecondsOfKnown(ChunkBlocked(attempt, attempts.helpers)))},
                     {"reason", ToString(straggler.reason)}});
  }
  return table;
}

}  // namespace crema

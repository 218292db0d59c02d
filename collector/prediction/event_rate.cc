// What changes would bring to a run of events that go from task to task (docs/predict_events.md).
#include <algorithm>
#include <cmath>

#include "collector/appearance/human_numbers.h"
#include "collector/insight/between_runs.h"
#include "collector/insight/thresholds.h"
#include "collector/prediction/prediction.h"
#include "fmt/format.h"

namespace crema {
namespace {

constexpr double kMostStreams = 10'000;
constexpr char kTooManyStreams[] = "more than 10,000 events at once are not predicted";
constexpr double kFewestOverlaps = 10;  // that chance would have brought: none at all is no chance then
constexpr double kUnexplained = 0.8;    // of the lower bound: a run below it waits for something else, too
constexpr double kAboveBound = 1.05;    // of the upper bound: its figures are not of one kind of event
constexpr double kNotableShare = 0.05;  // of the latency, or of the events
constexpr std::string_view kNotMarked =
    "Most calls were not marked as ready (MarkReady): how much of the time with nothing ready was spent in queues is "
    "not known. ";
constexpr std::string_view kNotDivided =
    "The latency of events with very many tasks was not divided: how much of it was spent in queues is not known. ";

/// What lets no more than `rate` events through in a second.
struct Limit {
  double rate = 0;
  std::string by;
};

/// The run, or the run with one thing changed.
struct Setup {
  double cores = 0;
  double lanes = 0;
  double streams = 0;
};

/// Whether the tasks at once are not simply as many as the cores.
bool TasksAtOnceLimit(const Setup& setup) { return std::abs(setup.lanes / setup.cores - 1) > 1e-9; }

/// The upper bound. `with_chance`: modules count that may only by chance never have run twice at once.
Limit LimitOf(const ObservedEvents& events, const Setup& setup, double needed, bool with_chance) {
  Limit limit = {setup.lanes / events.work, TasksAtOnceLimit(setup) ? "tasks at once" : "cores"};
  const auto add = [&limit](double rate, const std::string& by) {
    if (rate < limit.rate) limit = {rate, by};
  };
  if (events.cpu > 0) add(setup.cores / events.cpu, "cores");
  if (needed > 0) add(setup.streams / needed, "events open at once");
  for (const ObservedModule& module : events.modules) {
    if (module.is_serial || with_chance) add(1 / module.seconds, "module " + module.name);
  }
  return limit;
}

/// The lower bound: events per second of a closed network of queues with `streams` customers.
double NetworkRate(const ObservedEvents& events, const Setup& setup, double needed) {
  std::vector<double> demands = {events.work / setup.lanes};
  for (const ObservedModule& module : events.modules) demands.push_back(module.seconds);
  double elsewhere = needed;
  for (const double demand : demands) elsewhere -= demand;
  elsewhere = std::max(0.0, elsewhere);
  std::vector<double> queues(demands.size());
  const auto all = static_cast<int64_t>(std::ceil(std::max(1.0, setup.streams)));
  double rate = 0, before = 0;
  for (int64_t customers = 1; customers <= all; ++customers) {
    double response = elsewhere;
    for (size_t i = 0; i < demands.size(); ++i) response += demands[i] * (1 + queues[i]);
    before = rate;
    rate = static_cast<double>(customers) / response;
    for (size_t i = 0; i < demands.size(); ++i) queues[i] = rate * demands[i] * (1 + queues[i]);
  }
  const double part = std::max(1.0, setup.streams) - static_cast<double>(all - 1);  // of the last customer
  return before + part * (rate - before);
}

/// The bounds, and what lies between them.
struct Rates {
  Limit most;
  double least = 0;

  double At(double place) const { return std::pow(most.rate, 1 - place) * std::pow(least, place); }
};

Rates RatesOf(const ObservedEvents& events, const Setup& setup) {
  const double rest = events.latency - events.queued;  // where the queue is not known, a part of it may be in here
  Rates rates;
  rates.most = LimitOf(events, setup, events.why_queue_is_not_known.empty() ? rest : rest - events.rest, false);
  rates.least = std::min(rates.most.rate, NetworkRate(events, setup, rest));
  return rates;
}

std::string WhyNot(const ObservedEvents& events, const RunChange& change, Setup* setup) {
  switch (change.kind) {
    case ChangeKind::kNone:
      return "";
    case ChangeKind::kCores:
      setup->lanes *= change.number / setup->cores;
      setup->cores = change.number;
      return "";
    case ChangeKind::kLanes:
      setup->lanes = change.number;
      return "";
    case ChangeKind::kStreams:
      setup->streams = change.number;
      return change.number > kMostStreams ? kTooManyStreams : "";
    default:
      break;
  }
  return fmt::format("crema predicts only --cores, --lanes and --streams for a run with events ({} events)",
                     HumanCount(events.count));
}

void SetFigures(const ObservedEvents& events, double others, const Setup& setup, double rate,
                double PredictedValue::*member, PredictedRow* row) {
  const double wall_time = others + events.count / rate;
  row->wall_time.*member = wall_time;
  row->core_seconds.*member = setup.cores * wall_time;
  row->cpu_known = events.cpu > 0;
  row->cpu.*member = events.count * (row->cpu_known ? events.cpu : events.work);
  row->waiting.*member = row->cpu_known ? events.count * (events.work - events.cpu) : 0;
  row->free.*member = std::max(0.0, setup.lanes * wall_time - events.count * events.work);
  row->efficiency.*member = events.count * events.cpu / (setup.cores * wall_time);
}

std::string BasisOf(const ObservedEvents& events, const Setup& setup, const Rates& rates) {
  std::string text = fmt::format("{} events came at {}/s, {:.2f} of them open at once", HumanCount(events.count),
                                 HumanCount(events.rate()), events.streams);
  text += fmt::format("; at most {}/s by its {}", HumanCount(setup.lanes / events.work),
                      TasksAtOnceLimit(setup) ? fmt::format("{:.2g} tasks at once", setup.lanes)
                                              : Counted(events.cores, "core", "cores"));
  if (rates.most.by != "cores" && rates.most.by != "tasks at once")
    text += fmt::format(", {}/s by {}", HumanCount(rates.most.rate), rates.most.by);
  return text + ".";
}

std::string NotKnownOf(const ObservedEvents& events, bool has_chance) {
  std::string text;
  if (events.rest > kNotableShare * events.latency) text += events.why_queue_is_not_known;
  if (events.external > kNotableShare * events.latency) {
    text += "What answers requests is taken to be as fast with more of them at once. ";
  }
  if (has_chance) {
    text += "Modules of which never two calls ran at once may be serial, or it was chance: the range has both. ";
  }
  if (!text.empty()) text.pop_back();
  return text;
}

}  // namespace

ObservedEvents EventsOf(const Measurement& measurement) {
  ObservedEvents events;
  const auto* lines = measurement.timelines.Find("event_latency");
  if (lines == nullptr || lines->empty() || lines->front().second.empty()) return events;
  events.seconds = lines->front().second.back().seconds - lines->front().second.front().seconds;
  events.cores = measurement.Metric("peak_cores").value_or(measurement.Metric("total_cores").value_or(0));
  double count = 0, not_divided = 0;
  for (const EventLatencyRow& row : measurement.events) {
    count += row.events.value_or(0);
    events.latency += row.latency_seconds.value_or(0);
    events.queued += row.queued_seconds.value_or(0);
    events.external += row.external_seconds.value_or(0);
    events.rest += row.rest_seconds.value_or(0);
    not_divided += row.not_divided.value_or(0);
  }
  if (not_divided > kNotableShare * count) events.why_queue_is_not_known = kNotDivided;
  double calls = 0, marked = 0;
  for (const ModuleRow& row : measurement.modules) {
    if (row.operation.has_value()) continue;
    calls += row.calls.value_or(0);
    marked += row.queued_calls.value_or(0);
    events.work += row.own_seconds.value_or(0);
    events.cpu += row.cpu_seconds.value_or(0);
  }
  if (!(events.seconds > 0) || !(count > 0)) return events;
  events.count = count;
  events.streams = events.latency / events.seconds;
  if (events.why_queue_is_not_known.empty() && !(calls > 0 && kMostAreMarked.Holds(marked / calls))) {
    events.why_queue_is_not_known = kNotMarked;
  }
  events.cpu = std::min(events.cpu, events.work);  // the kernel's clock and ours differ a little
  // Tasks beside the call itself. A module is never twice at work if each process has one thread.
  const double workers = std::max(1.0, measurement.Metric("peak_workers").value_or(1));
  const double at_once = std::clamp(events.work / events.seconds / workers - 1, 0.0, 1.0);
  for (const ModuleRow& row : measurement.modules) {
    if (row.at_once.value_or(0) != 1 || !(row.ceiling.value_or(0) > 0)) continue;
    const double needed = row.calls.value_or(0) / row.ceiling.value_or(0);
    const double overlaps = row.calls.value_or(0) * std::min(1.0, needed / events.seconds) * at_once;
    events.modules.push_back({row.module.str(), needed / count, overlaps >= kFewestOverlaps});
  }
  for (double* sum : {&events.latency, &events.queued, &events.external, &events.rest, &events.work, &events.cpu}) {
    *sum /= count;
  }
  return events;
}

Prediction PredictEvents(const ObservedRun& run, const std::vector<RunChange>& changes) {
  const ObservedEvents& events = run.events;
  Prediction prediction;
  prediction.measured = run.wall_time;
  prediction.refused = run.why_not;
  if (prediction.refused.empty() && !(events.cores > 0)) prediction.refused = "the number of its cores is not known";
  if (prediction.refused.empty() && !(events.work > 0)) prediction.refused = "no task of its events was recorded";
  if (prediction.refused.empty() && !(events.streams <= kMostStreams)) prediction.refused = kTooManyStreams;
  if (!prediction.refused.empty()) return prediction;
  const Setup as_it_was = {events.cores, events.lanes(), events.streams};
  const Rates rates = RatesOf(events, as_it_was);
  const double rate = events.rate();
  if (rate < kUnexplained * rates.least || rate > kAboveBound * rates.most.rate) {
    prediction.refused = fmt::format(
        "its events came at {}/s, but its cores, modules and open events explain {} to {}/s: something that nobody "
        "recorded limits them",
        HumanCount(rate), HumanCount(rates.least), HumanCount(rates.most.rate));
    return prediction;
  }
  // Where it was between the bounds: 0 at the upper one.
  const double width = std::log(rates.most.rate / rates.least);
  const double place = width > 1e-6 ? std::clamp(std::log(rates.most.rate / rate) / width, 0.0, 1.0) : 0;
  const double correction = rate / rates.At(place);
  const double others = std::max(0.0, run.wall_time - events.seconds);
  prediction.basis = BasisOf(events, as_it_was, rates);
  bool has_chance = false;
  for (const RunChange& change : changes) {
    PredictedRow row;
    row.change = change.Text();
    Setup setup = as_it_was;
    row.why_not = WhyNot(events, change, &setup);
    if (row.why_not.empty()) {
      const Rates changed = RatesOf(events, setup);
      const double more = 1 + kBetweenRuns;
      const double value = correction * changed.At(place);
      // the fewest seconds come from the most events a second
      SetFigures(events, others, setup, std::max(value, changed.most.rate) * more, &PredictedValue::low, &row);
      SetFigures(events, others, setup, value, &PredictedValue::value, &row);
      SetFigures(events, others, setup, std::min(value, changed.least) / more, &PredictedValue::high, &row);
      std::swap(row.efficiency.low, row.efficiency.high);
      row.limited_by = changed.most.by;
      has_chance = has_chance || LimitOf(events, setup, 0, true).rate < changed.most.rate;
    }
    prediction.rows.push_back(std::move(row));
  }
  prediction.not_known = NotKnownOf(events, has_chance);
  return prediction;
}

}  // namespace crema

#include "collector/prediction/prediction.h"

#include "collector/diagnosis/between_runs.h"
#include "collector/diagnosis/verdict_families.h"
#include "collector/format/human_numbers.h"
#include "collector/idioms/sequences.h"
#include "nlohmann/json.hpp"

namespace crema {
namespace {

constexpr double kReplayedChunks = 4e5;  // in all, for one range: a page has seven
constexpr double kSecondsOfAnHour = 3600;
constexpr char kWaitsAreNotKnown[] =
    "It is not known whether chunks wait for one another, for a lock or a server. If they do, more of them at once "
    "take longer than this. {} ";
constexpr char kNoTwoAtOnce[] =
    "The run never had two chunks at once: whether several would wait for one another, for a lock or a server, cannot "
    "be seen in it. Run it with two. ";
constexpr char kFasterIsNotKnown[] =
    "Of the section's time, {} to {} was blocked, and faster code does not shorten that: the range of --faster allows "
    "for both. {} ";
constexpr char kCpusWereShort[] =
    "For {} of the time in which chunks were ready to compute, they had no CPU: others used the CPUs, or more threads "
    "ran than there were cores. Nobody knows how much CPU the next run gets: the ranges begin at no such wait. ";
constexpr size_t kMostReplayedWhole = 20'000;  // chunks

std::string WhyRefused(const ObservedRun& run, double replayed) {
  const double missed = std::abs(replayed - run.wall_time);
  if (missed <= kMostMissedSeconds || missed <= kMostMissed * run.wall_time) return "";
  return fmt::format(
      "the unchanged run takes {} in the replay, which gives each chunk to the first free lane, but took {}: perhaps "
      "each thread had a part of its own, or threads waited for something that is not in the records",
      HumanDuration(replayed), HumanDuration(run.wall_time));
}

// One replay's figures, without ranges.
PredictedRow FiguresOf(const ChangedRun& changed, const ReplayResult& result) {
  PredictedRow row;
  row.wall_time.value = result.wall_time;
  row.core_seconds.value = changed.CoreSeconds(result.wall_time);
  row.cpu_known = changed.cpu_known;
  row.cpu.value = changed.cpu_known ? std::min(changed.lane_cpu_seconds, result.busy) : result.busy;
  row.waiting.value = result.busy - row.cpu.value;
  row.free.value = std::max(0.0, result.lane_seconds - result.busy);
  if (changed.cpu_known) row.efficiency.value = std::min(1.0, changed.cpu_seconds / row.core_seconds.value);
  return row;
}

constexpr PredictedValue PredictedRow::*kValues[] = {&PredictedRow::wall_time, &PredictedRow::core_seconds,
                                                     &PredictedRow::cpu,       &PredictedRow::waiting,
                                                     &PredictedRow::free,      &PredictedRow::efficiency};

// From the draws, and `more` to either side.
void SetRanges(const std::vector<PredictedRow>& draws, double more, PredictedRow* row) {
  for (const auto value_of : kValues) {
    std::vector<double> values =
        Mapped<double>(draws, [&](const PredictedRow& draw) { return (draw.*value_of).value; });
    absl::c_sort(values);
    const auto at = [&values](double p) {
      return values[static_cast<size_t>(std::lround(p * static_cast<double>(values.size() - 1)))];
    };
    PredictedValue& value = row->*value_of;
    value.low = std::min(value.value, at(0.05)) / more;
    value.high = std::max(value.value, at(0.95)) * more;
  }
}

PredictedRow RowOf(const ObservedRun& run, const RunChange& change, double missed) {
  PredictedRow none;
  none.change = change.Text();
  absl::StatusOr<ChangedRun> changed = Apply(run, change, 0);
  if (!changed.ok()) {
    none.why_not = std::string(changed.status().message());
    return none;
  }
  const ReplayResult result = Replay(changed->setup, 1);
  if (!result.finished) {
    none.why_not = "all workers had left before the work was done";
    return none;
  }
  PredictedRow row = FiguresOf(*changed, result);
  row.change = none.change;
  row.lanes = Number(changed->setup.lanes.size());
  std::vector<PredictedRow> draws;
  const size_t chunks = changed->setup.chunks.size();
  if (chunks > kMostReplayedWhole) {
    for (const ReplayResult& late : ReplayLateDraws(run, change, kReplayedChunks, &*changed)) {
      if (!late.finished) continue;
      draws.push_back(FiguresOf(*changed, late));
      // The chunks' CPU time was not drawn: it varies as they do.
      PredictedRow& draw = draws.back();
      const double scale = row.waiting.value + row.cpu.value > 0 ? late.busy / (row.waiting.value + row.cpu.value) : 1;
      draw.cpu.value = row.cpu.value * scale;
      draw.waiting.value = row.waiting.value * scale;
      draw.efficiency.value = row.efficiency.value * scale * row.core_seconds.value / draw.core_seconds.value;
    }
  }
  const bool are_late = !draws.empty();
  const auto replays = static_cast<uint64_t>(
      std::clamp<double>(kReplayedChunks / static_cast<double>(chunks), kFewestReplays, kMostReplays));
  for (uint64_t seed = 2; !are_late && seed < replays + 2; ++seed) {
    const absl::StatusOr<ChangedRun> drawn = Apply(run, change, seed);
    if (!drawn.ok()) continue;
    const ReplayResult replayed = Replay(drawn->setup, seed);
    if (replayed.finished) draws.push_back(FiguresOf(*drawn, replayed));
  }
  SetRanges(draws, 1 + kBetweenRuns + missed, &row);
  return row;
}

std::string NotKnownOf(const ObservedRun& run, bool has_more_lanes, bool is_faster) {
  std::string text = run.broke_off;
  if (has_more_lanes && run.lanes() == 1) {
    text += kNoTwoAtOnce;
  } else if (has_more_lanes && !run.common_waits.is_known && !(run.blocked_by_lanes.value > 0)) {
    text += fmt::format(kWaitsAreNotKnown, run.common_waits.how_to_know);
  }
  const auto [share, low, high] = BlockedShareOfSection(run);
  if (is_faster && high - low > kNotableShare)
    text += fmt::format(kFasterIsNotKnown, HumanPercent(low), HumanPercent(high), run.common_waits.how_to_know);
  if (run.is_short_of_cpu) text += fmt::format(kCpusWereShort, HumanPercent(run.without_cpu));
  return text.substr(0, text.find_last_not_of(' ') + 1);
}

// How much chunks vary is seen in those that have others of their dataset beside them.
size_t ChunksThatVary(const ObservedRun& run) {
  std::vector<size_t> of_dataset(run.datasets.size());
  for (const ObservedChunk& chunk : run.chunks) ++of_dataset[chunk.dataset];
  return SumOf<size_t>(of_dataset, [](const size_t chunks) { return chunks > 1 ? chunks : 0; });
}

// What changes would bring to a run of events that go from task to task (docs/predict_events.md).

constexpr double kMostStreams = 10'000;
constexpr char kTooManyStreams[] = "more than 10,000 events at once are not predicted";
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

/// The bounds, and what is between them.
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
  if (change.kind == ChangeKind::kCores) {
    setup->lanes *= change.number / setup->cores;
    setup->cores = change.number;
  } else if (change.kind == ChangeKind::kLanes) {
    setup->lanes = change.number;
  } else if (change.kind == ChangeKind::kStreams) {
    setup->streams = change.number;
    if (change.number > kMostStreams) return kTooManyStreams;
  } else if (change.kind != ChangeKind::kNone) {
    return fmt::format("crema predicts only --cores, --lanes and --streams for a run with events ({} events)",
                       HumanCount(events.count));
  }
  return "";
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

std::string NotKnownOf(const ObservedRun& run, bool has_chance) {
  const ObservedEvents& events = run.events;
  std::string text = run.broke_off;
  if (events.rest > kNotableShare * events.latency) text += events.why_queue_is_not_known;
  if (events.external > kNotableShare * events.latency) {
    text += "crema assumes that servers stay as fast with more requests at once. ";
  }
  if (has_chance) {
    text += "Modules whose calls never overlapped may be serial, or it was chance: the range covers both. ";
  }
  if (!text.empty()) text.pop_back();
  return text;
}

/// For a run with events. The most events a second that its cores, its serial modules and the events that are open at
/// once let through is an upper bound. A closed queueing network with the same demands (mean value analysis,
/// Reiser and Lavenberg 1980, J. ACM 27, 313; several cores by Seidmann's approximation) is a lower one. What was
/// measured says where between the two the run was; it is taken to be there after the change, too. `low` and `high`
/// are the bounds, and 2 % to either side.
Prediction PredictEvents(const ObservedRun& run, const std::vector<RunChange>& changes) {
  const ObservedEvents& events = run.events;
  Prediction prediction = {run.wall_time, 0, {}, 0, "", "", run.why_not};
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
  prediction.not_known = NotKnownOf(run, has_chance);
  return prediction;
}

}  // namespace

Prediction Predict(const ObservedRun& run, const std::vector<RunChange>& changes) {
  if (run.events.count > 0) return PredictEvents(run, changes);
  Prediction prediction = {run.wall_time, 0, {}, run.blocked_by_lanes.value, "", "", run.why_not};
  if (prediction.refused.empty() && run.coverage < kFullCoverage) {
    prediction.refused = fmt::format("only {} of its chunks have a record of their own", HumanPercent(run.coverage));
  }
  if (prediction.refused.empty() && ChunksThatVary(run) < kChunksOfPrediction) {
    prediction.refused =
        fmt::format("it has only {}, and at least {} of a dataset are needed to show how much chunks vary",
                    Counted(run.chunks.size(), "chunk", "chunks"), kChunksOfPrediction);
  }
  if (!prediction.refused.empty()) return prediction;
  const absl::StatusOr<ChangedRun> same = Apply(run, {}, 0);
  prediction.replayed = Replay(same->setup, 1).wall_time;
  prediction.refused = WhyRefused(run, prediction.replayed);
  if (!prediction.refused.empty()) return prediction;
  const double missed = run.wall_time > 0 ? std::abs(prediction.replayed / run.wall_time - 1) : 0;
  bool has_more_lanes = false, is_faster = false;
  for (const RunChange& change : changes) {
    PredictedRow& row = prediction.rows.emplace_back(RowOf(run, change, missed));
    if (change.kind == ChangeKind::kWithoutWaiting && row.why_not.empty() &&
        row.wall_time.value > prediction.replayed * (1 + kBetweenRuns)) {
      row.why_not = "how its lanes shared the cores is not known well enough";
    }
    has_more_lanes = has_more_lanes || (row.has_answer() && HasMoreLanes(run, change));
    is_faster = is_faster || (row.has_answer() && change.kind == ChangeKind::kFaster);
  }
  if (absl::c_any_of(prediction.rows, std::mem_fn(&PredictedRow::has_answer)))
    prediction.not_known = NotKnownOf(run, has_more_lanes, is_faster);
  return prediction;
}

Json PredictionJson(const Prediction& prediction) {
  Json rows = Json::array();
  for (const PredictedRow& row : prediction.rows) {
    const bool reported = row.has_answer();
    const auto number = [reported](double value) { return reported ? Json(value) : Json(); };
    Json ranges = Json::object(), budget = Json::array();
    const auto range = [&ranges](const char* key, const PredictedValue& value) {
      ranges[key] = {{"low", value.low}, {"high", value.high}};
    };
    const auto part = [&budget](const char* name, const PredictedValue& value) {
      budget.push_back({{"part", name}, {"seconds", value.value}, {"low", value.low}, {"high", value.high}});
    };
    if (reported) {
      range("core_seconds", row.core_seconds);
      if (row.cpu_known) range("efficiency", row.efficiency);
      part(row.cpu_known ? "cpu" : "chunks", row.cpu);
      if (row.cpu_known) part("waiting", row.waiting);
      part("free", row.free);
    }
    rows.push_back({{"change", row.change},
                    {"wall_time", number(row.wall_time.value)},
                    {"low", number(row.wall_time.low)},
                    {"high", number(row.wall_time.high)},
                    {"lanes", JsonOf(row.lanes)},
                    {"core_seconds", number(row.core_seconds.value)},
                    {"core_hours", number(row.core_seconds.value / kSecondsOfAnHour)},
                    {"busy_share", number(row.BusyShare())},
                    {"efficiency", row.cpu_known ? number(row.efficiency.value) : Json()},
                    {"budget", std::move(budget)},
                    {"ranges", std::move(ranges)},
                    {"limited_by", TextOrNull(row.limited_by)},
                    {"not_told", reported ? Json() : Json(row.why_not)}});
  }
  return {{"measured", {{"wall_time", prediction.measured}}},
          {"replayed", {{"wall_time", prediction.replayed > 0 ? Json(prediction.replayed) : Json()}}},
          {"predicted", std::move(rows)},
          {"blocked_slope", prediction.blocked_slope > 0 ? Json(prediction.blocked_slope) : Json()},
          {"basis", TextOrNull(prediction.basis)},
          {"not_known", TextOrNull(prediction.not_known)},
          {"refused", TextOrNull(prediction.refused)}};
}

std::string CoresWithLanes(double cores, const Number& lanes) {
  const std::string chunks = lanes.has_value() ? " with " + Counted(*lanes, "chunk", "chunks") + " at once" : "";
  return Counted(cores, "core", "cores") + chunks;
}

std::string LargestSection(const Measurement& measurement) {
  const auto of_owners = [](const SectionRow& row) {
    return row.path == "(other)" || row.helper.value_or(false) ? 0 : row.self.value_or(0);
  };
  const SectionRow* largest = LargestBy(measurement.sections, of_owners).first;
  return largest == nullptr ? "" : largest->path.str();
}

std::vector<RunChange> UsualChanges(const ObservedRun& run, const std::string& section) {
  std::vector<RunChange> changes;
  const double cores = run.cores();
  if (cores >= 2) changes.push_back({ChangeKind::kCores, cores / 2, ""});
  changes.push_back({ChangeKind::kCores, 2 * cores, ""});
  changes.push_back({ChangeKind::kCores, 4 * cores, ""});
  if (run.events.count > 0) {
    changes.push_back({ChangeKind::kStreams, std::ceil(2 * run.events.streams), ""});
    return changes;
  }
  const bool waits = kMostOfIt.Holds(run.section_on_gpu.waiting);
  if (!section.empty()) changes.push_back({waits ? ChangeKind::kFasterGpu : ChangeKind::kFaster, 2, section});
  changes.push_back({ChangeKind::kWithoutWaiting, 0, ""});
  changes.push_back({ChangeKind::kLongestFirst, 0, ""});
  if (run.workers.size() > 1) changes.push_back({ChangeKind::kAllFromStart, 0, ""});
  return changes;
}

void SortBestFirst(Prediction* prediction) {
  SortBy(&prediction->rows, [](const PredictedRow& row) { return row.has_answer() ? row.wall_time.value : kForever; });
}

ObservedEvents EventsOf(const Measurement& measurement) {
  ObservedEvents events;
  const auto* lines = measurement.timelines.Find("event_latency");
  if (lines == nullptr || lines->empty() || lines->front().second.empty()) return events;
  events.seconds = lines->front().second.back().seconds - lines->front().second.front().seconds;
  events.cores = measurement.Metric("peak_cores").value_or(measurement.Metric("total_cores").value_or(0));
  const TaskTotals all = TotalsOf(measurement);
  if (!(events.seconds > 0) || !(all.events > 0)) return events;
  events.count = all.events;
  events.streams = all.latency / events.seconds;
  events.latency = all.latency / all.events;
  events.queued = all.queued / all.events;
  events.external = all.external / all.events;
  events.rest = all.rest / all.events;
  events.work = all.own / all.events;
  events.cpu = std::min(all.cpu, all.own) / all.events;  // the kernel's clock and ours differ a little
  if (all.not_divided > kNotableShare * all.events) {
    events.why_queue_is_not_known = kNotDivided;
  } else if (!(all.calls > 0 && kMostAreMarked.Holds(all.marked_calls / all.calls))) {
    events.why_queue_is_not_known = kNotMarked;
  }
  // Tasks beside the call itself. A module is never twice at work if each process has one thread.
  const double workers = std::max(1.0, measurement.Metric("peak_workers").value_or(1));
  const double at_once = std::clamp(all.own / events.seconds / workers - 1, 0.0, 1.0);
  for (const ModuleRow& row : measurement.modules) {
    if (row.at_once.value_or(0) != 1 || !(row.ceiling.value_or(0) > 0)) continue;
    const double needed = row.calls.value_or(0) / row.ceiling.value_or(0);
    const double overlaps = row.calls.value_or(0) * std::min(1.0, needed / events.seconds) * at_once;
    events.modules.push_back({row.module.str(), needed / all.events, overlaps >= kFewestOverlaps});
  }
  return events;
}

}  // namespace crema

#include "collector/diagnosis/chunk_size_advice.h"

#include "collector/diagnosis/evidence.h"
#include "collector/diagnosis/key_figures.h"
#include "collector/diagnosis/verdict_table.h"
#include "collector/format/human_numbers.h"
#include "collector/metrics/statistics/bounded_names.h"
#include "collector/metrics/statistics/quantiles.h"

namespace crema {
namespace {

/// What memory leaves for the events of one chunk.
struct MemoryRoom {
  std::optional<double> events;
  std::string reason;
};

MemoryRoom RoomInMemory(const Measurement& measurement) {
  std::optional<double> limit;  // the least of a worker
  for (const WorkerRow& worker : measurement.workers) {
    const double own = worker.memory_limit_bytes.value_or(0);
    if (own > 0) limit = std::min(limit.value_or(own), own);
  }
  const std::optional<double> usual = measurement.Metric("avg_memory_per_worker_bytes");
  const std::optional<double> per_event = measurement.Metric("chunk_rss_delta_per_event_p95");
  if (!limit.has_value()) return {std::nullopt, "memory is not considered: no worker's limit is known"};
  if (measurement.Metric("max_open_chunks").value_or(0) > 1) {
    return {std::nullopt, "memory is not considered: chunks open at once share their process's memory"};
  }
  if (!usual.has_value() || !per_event.has_value()) {
    return {std::nullopt, "memory is not considered: it was not sampled"};
  }
  const double room = kMostMemory * *limit - *usual;
  if (*per_event <= 0 || room <= 0) return {};
  return {room / *per_event, ""};
}

/// The duration of chunks whose tail is expected to cost kMostTail; nullopt: there is no tail on one core.
std::optional<double> LongestChunk(const Measurement& measurement) {
  const std::optional<double> busy = TimeOfThreads(measurement);
  const std::optional<double> cores = measurement.Metric("total_cores");
  if (!busy.has_value() || !cores.has_value() || !kSeveralCores.Holds(*cores)) return std::nullopt;
  return 2 * kMostTail * *busy / *cores;
}

/// A dataset's fit with its 95 % intervals; older documents have none, and their figures count as exact.
struct Fit {
  double fixed = 0;
  double fixed_low = 0;
  double fixed_high = 0;
  double slope = 0;
  double slope_high = 0;
};

std::optional<Fit> FitOf(const ChunkFitRow& row) {
  if (!row.fixed_seconds.has_value() || !row.seconds_per_event.has_value()) return std::nullopt;
  const double fixed = *row.fixed_seconds, slope = *row.seconds_per_event;
  return Fit{std::max(0.0, fixed), std::max(0.0, row.fixed_seconds_low.value_or(fixed)),
             std::max(0.0, row.fixed_seconds_high.value_or(fixed)), slope, row.seconds_per_event_high.value_or(slope)};
}

/// Chunks of one size, or whose time does not grow: nearly all of it is fixed, if the fit is sure that events take
/// little of it. Then the upper end of the slope stands for the slope.
bool TakeAsFixed(const Fit& fit, double events, double seconds, ChunkSizeAdvice& advice) {
  const double most_of_events = std::max(0.0, fit.slope_high) * events;
  if (fit.slope_high <= 0 || !kSizeHardlyMatters.Holds(most_of_events / seconds)) return false;
  advice.seconds_per_event = fit.slope_high;
  advice.fixed_seconds = advice.fixed_seconds_low = seconds - most_of_events;
  advice.fixed_seconds_high = seconds;
  return true;
}

/// Why the fit says nothing about how to cut; else its figures are taken over.
std::string TakeFit(const ChunkFitRow& row, ChunkSizeAdvice& advice) {
  const double least = row.events_min.value_or(0);
  const double most = row.events_max.value_or(0);
  if (!kChunksOfFit.Holds(advice.attempts)) return fmt::format("a fit needs at least {} chunks", kChunksOfFit.value);
  if (!advice.events_p50.has_value()) return "no chunk said how many events it had (SetEvents)";
  constexpr std::string_view kOneSize =
      "the chunks are of one size, so their fixed cost cannot be separated from the cost of their events";
  const std::optional<Fit> fit = FitOf(row);
  if (!fit.has_value()) return std::string(kOneSize);
  const double seconds = fit->fixed + std::max(0.0, fit->slope) * *advice.events_p50;
  const bool is_of_one_size = !kSpreadOfFit.Holds(most / least);
  if (is_of_one_size || fit->slope <= 0) {
    if (seconds > 0 && TakeAsFixed(*fit, *advice.events_p50, seconds, advice)) return "";
    return is_of_one_size ? std::string(kOneSize) : "the duration of chunks does not grow with their events";
  }
  if (!kClearFixedCost.Holds((fit->fixed_high - fit->fixed_low) / seconds)) {
    return fmt::format("the fit is too vague: a chunk's fixed cost is between {} and {}", HumanDuration(fit->fixed_low),
                       HumanDuration(fit->fixed_high));
  }
  advice.fixed_seconds = fit->fixed;
  advice.fixed_seconds_low = fit->fixed_low;
  advice.fixed_seconds_high = fit->fixed_high;
  advice.seconds_per_event = fit->slope;
  return "";
}

/// What the run itself has shown: an upper bound that did harm in it is none.
std::string HeedTheRun(const ChunkFitRow& row, double tail, ChunkSizeAdvice& advice) {
  if (!advice.events_most_for_tail.has_value()) return "";
  if (row.oversized.value_or(0) > 0) {
    advice.events_most_for_tail = std::min(*advice.events_most_for_tail, kOversizedMedians * *advice.events_p50);
  }
  const double largest = row.events_max.value_or(0);
  if (!RuleOf("long-tail").threshold.Holds(tail) || largest > *advice.events_most_for_tail) return "";
  advice.events_most_for_tail.reset();
  return fmt::format("no upper bound: chunks of at most {} events left a tail of {}", HumanCount(largest),
                     HumanPercent(tail));
}

/// What the dataset has; of several passes over it what all have read, so at least what one can. nullopt where its
/// chunks did not record that.
std::optional<double> EventsOf(const Measurement& measurement, const ChunkFitRow& fit) {
  const BreakdownRow* row = FindBy(measurement.datasets, &BreakdownRow::name, fit.dataset);
  return row == nullptr ? measurement.Metric("total_events") : std::optional<double>(row->events);
}

/// No chunk can have more events than there are.
std::string HeedTheInput(const std::optional<double>& events, ChunkSizeAdvice& advice) {
  if (!events.has_value()) return "";
  for (std::optional<double>* most : {&advice.events_most_for_tail, &advice.events_most_for_memory}) {
    if (most->has_value()) *most = std::min(**most, *events);
  }
  if (*advice.events_least <= *events) return "";
  advice.events_least.reset();
  return fmt::format("even one chunk of all {} events would have a fixed cost above {}", HumanCount(*events),
                     HumanPercent(kMostFixedCost, 0));
}

ChunkSizeAdvice AdviceOf(const ChunkFitRow& row, const std::optional<double>& longest, double tail,
                         const MemoryRoom& memory, const std::optional<double>& events) {
  ChunkSizeAdvice advice;
  advice.dataset = row.dataset.str();
  advice.pass = row.pass.str();
  advice.attempts = row.attempts.value_or(0);
  advice.events_p50 = row.events_p50;
  advice.reason = TakeFit(row, advice);
  if (!advice.reason.empty()) return advice;
  const double slope = *advice.seconds_per_event;
  advice.events_least = std::ceil(*advice.fixed_seconds * (1 / kMostFixedCost - 1) / slope);
  if (longest.has_value()) {
    advice.events_most_for_tail = std::max(0.0, std::floor((*longest - *advice.fixed_seconds) / slope));
  }
  advice.events_most_for_memory = memory.events;
  advice.reason = HeedTheRun(row, tail, advice);
  if (const std::string too_few = HeedTheInput(events, advice); !too_few.empty()) advice.reason = too_few;
  if (advice.reason.empty()) advice.reason = memory.reason;
  return advice;
}

Number Whole(const std::optional<double>& number) {
  return number.has_value() ? Number(std::llround(std::min(*number, 9e15))) : Number();
}

/// Two significant digits: nobody sets a chunk size to the event.
double Rounded(double events) {
  if (events < 10) return std::max(1.0, std::round(events));
  const double step = std::pow(10, std::floor(std::log10(events)) - 1);
  return std::round(events / step) * step;
}

/// Ranks, from 1 on, of the values that bound the quantile.
struct Ranks {
  size_t low = 1;
  std::optional<size_t> high;
};

/// How many of n values lie below the quantile is binomial: the ranks that leave 2.5 % outside at either end.
Ranks RanksOf(size_t n) {
  constexpr double kOutside = 0.025;
  const auto count = static_cast<double>(n);
  const double log_below = std::log(kRequestQuantile), log_above = std::log1p(-kRequestQuantile);
  const auto chance_of = [&](double k) {
    const double ways = std::lgamma(count + 1) - std::lgamma(k + 1) - std::lgamma(count - k + 1);
    return std::exp(ways + k * log_below + (count - k) * log_above);
  };
  Ranks ranks;
  double below = 0;  // chance that at most k values lie below: that of rank k + 1 is then above the quantile
  for (size_t k = 0; k < n; ++k) {
    below += chance_of(static_cast<double>(k));
    if (below <= kOutside) ranks.low = k + 1;
  }
  double above = 0;  // chance that at least k values lie below: that of rank k is then below the quantile
  for (size_t k = n; k >= 1; --k) {
    above += chance_of(static_cast<double>(k));
    if (above > kOutside) break;
    ranks.high = k;
  }
  return ranks;
}

ResourceAdviceRow Describe(const char* resource, bool is_cut, std::vector<double> used, std::vector<double> requested) {
  ResourceAdviceRow row;
  row.resource = resource;
  if (is_cut) {
    row.reason = "some jobs share one row of the workers, (other): what each of them used is not known";
    return row;
  }
  row.jobs = used.size();
  if (!requested.empty()) row.requested = ExactQuantile(requested, 0.5);
  if (!kJobsOfRequest.Holds(*row.jobs)) {
    row.reason = fmt::format("fewer than {:g} jobs reported what they used: their {:g} % quantile is just the largest",
                             kJobsOfRequest.value, kRequestQuantile * 100);
    return row;
  }
  std::sort(used.begin(), used.end());
  const auto rank = static_cast<size_t>(std::ceil(kRequestQuantile * *row.jobs));
  const Ranks ranks = RanksOf(used.size());
  row.used = used[rank - 1];
  row.used_low = used[ranks.low - 1];
  if (ranks.high.has_value()) {
    row.used_high = used[*ranks.high - 1];
  } else {
    row.reason = "there are too few jobs for an upper end: even the largest may be below the quantile";
  }
  return row;
}

}  // namespace

std::optional<double> ChunkSizeAdvice::EventsMost() const {
  if (!events_most_for_tail.has_value()) return events_most_for_memory;
  if (!events_most_for_memory.has_value()) return events_most_for_tail;
  return std::min(*events_most_for_tail, *events_most_for_memory);
}

std::optional<double> ChunkSizeAdvice::SecondsOf(const std::optional<double>& events) const {
  if (!events.has_value() || !fixed_seconds.has_value() || !seconds_per_event.has_value()) return std::nullopt;
  return *fixed_seconds + *seconds_per_event * *events;
}

std::vector<ChunkSizeAdvice> AdviseChunkSizes(const Measurement& measurement) {
  const std::optional<double> longest = LongestChunk(measurement);
  const MemoryRoom memory = RoomInMemory(measurement);
  std::vector<ChunkSizeAdvice> advice;
  const std::optional<BudgetRows> budget = ReadBudget(measurement);
  const double tail = budget.has_value() ? budget->Share("tail") : 0;
  for (const ChunkFitRow& fit : measurement.chunk_fits) {
    advice.push_back(AdviceOf(fit, longest, tail, memory, EventsOf(measurement, fit)));
  }
  return advice;
}

std::vector<ChunkSizeAdviceRow> ChunkSizeAdviceRows(const std::vector<ChunkSizeAdvice>& advice) {
  std::vector<ChunkSizeAdviceRow> rows;
  for (const ChunkSizeAdvice& each : advice) {
    const std::optional<double> most = each.EventsMost();
    ChunkSizeAdviceRow& row = rows.emplace_back();
    row.dataset = Text::OrNull(each.dataset);
    row.pass = Text::OrNull(each.pass);
    row.events_p50 = Whole(each.events_p50);
    row.events_least = Whole(each.events_least);
    row.events_most = Whole(most);
    row.seconds_least = each.SecondsOf(each.events_least);
    row.seconds_most = each.SecondsOf(most);
    if (most.has_value()) row.limited_by = most == each.events_most_for_tail ? "tail" : "memory";
    row.reason = Text::OrNull(each.reason);
  }
  return rows;
}

std::string AdviceInWords(const ChunkSizeAdvice& advice) {
  const std::optional<double> most = advice.EventsMost();
  if (!advice.events_least.has_value()) return "";
  const double least = std::max(1.0, Rounded(*advice.events_least));
  if (!most.has_value() && advice.events_p50.value_or(0) >= least) return "";  // as they are
  if (!most.has_value()) return fmt::format("use at least {} events a chunk", HumanCount(least));
  if (*most < 1) return "even a chunk of one event takes too long for so short a run on so many cores";
  if (*most < least) {
    return fmt::format(
        "a low tail and low memory need at most {} events a chunk, a low fixed cost needs at least {}: this work on "
        "these cores cannot have both",
        HumanCount(Rounded(*most)), HumanCount(least));
  }
  return fmt::format("use {} to {} events a chunk", HumanCount(least), HumanCount(Rounded(*most)));
}

std::vector<ResourceAdviceRow> AdviseResources(const Measurement& measurement) {
  std::vector<double> peaks, memory, used_cores, cores;
  bool has_jobs = false;
  for (const WorkerRow& worker : measurement.workers) {
    const Number &cpu = worker.engine_cpu, &engine_peak = worker.engine_peak_memory_bytes;
    if (!cpu.has_value() && !engine_peak.has_value() && !worker.time_limit.has_value()) continue;
    has_jobs = true;
    // One that was ended early would have used more.
    const bool is_over = worker.state.str() == "ended";
    const Number& peak = std::max(engine_peak, worker.peak_memory_bytes);
    if (peak.has_value() && is_over) peaks.push_back(*peak);
    if (worker.memory_limit_bytes.has_value()) memory.push_back(*worker.memory_limit_bytes);
    const double seconds = worker.stop.value_or(0) - worker.start.value_or(0);
    if (cpu.has_value() && is_over && kSecondsOfJob.Holds(seconds)) used_cores.push_back(*cpu / seconds);
    if (worker.cores.has_value()) cores.push_back(*worker.cores);
  }
  if (!has_jobs) return {};
  const bool is_cut = FindBy(measurement.workers, &WorkerRow::name, kOtherName) != nullptr;
  return {Describe("memory", is_cut, std::move(peaks), std::move(memory)),
          Describe("cores", is_cut, std::move(used_cores), std::move(cores))};
}

}  // namespace crema

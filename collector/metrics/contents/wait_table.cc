#include "collector/metrics/contents/wait_table.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "collector/metrics/attempts/attempt_interval.h"
#include "collector/metrics/attempts/attempt_quantities.h"
#include "collector/metrics/statistics/known_sum.h"

namespace crema {
namespace {

constexpr std::string_view kRunning = "running";
constexpr std::string_view kChild = "child process";
constexpr std::string_view kLock = "lock or condition";
constexpr int64_t kLeastSamples = 10;  // of fewer, a share may be off by more than it is
constexpr double kCoarseWait = 0.2;    // docs/waits.md: saturated CPUs, where short waits are seen too rarely
constexpr double kTwoSided95 = 1.959964;

/// Nanoseconds of the owners and helpers of a dataset's ended attempts.
struct BlockedTimes {
  KnownSum whole;  ///< wall time of owners, and scopes of helpers
  KnownSum cpu_wait;
  KnownSum joined;
  KnownSum children;
  KnownSum blocked;
};

void Add(const AttemptRow& row, const std::vector<HelperTimes>& helpers, BlockedTimes* times) {
  const std::optional<int64_t> blocked_ns = ChunkBlocked(row, helpers), of_helpers = HelperBlocked(row, helpers);
  if (!blocked_ns.has_value() || !of_helpers.has_value()) return;
  const HelperTimes helper = row.helpers == AttemptRow::kNone ? HelperTimes() : helpers[row.helpers];
  times->whole.Add(row.duration_ns);
  times->whole.Add(helper.scope_ns);
  times->cpu_wait.Add(row.cpu_wait_ns);
  times->cpu_wait.Add(HelperCpuWait(row, helpers));
  times->joined.Add(SplitOwnerTime(row, helpers)->joined_ns);
  times->children.Add(helper.children_ns);
  times->blocked.Add(*blocked_ns);
  times->blocked.Add(*of_helpers);
}

struct Wait {
  std::string section;
  std::string kind;
  std::string object;
  friend bool operator<(const Wait& a, const Wait& b) {
    return std::tie(a.kind, a.section, a.object) < std::tie(b.kind, b.section, b.object);
  }
};
using Samples = std::map<Wait, int64_t>;

/// Puts rows of too few samples together in what `rest` makes of them.
template <class Rest>
Samples WithoutFew(const Samples& samples, const Rest& rest) {
  Samples kept;
  for (const auto& [wait, count] : samples) kept[count < kLeastSamples ? rest(wait) : wait] += count;
  return kept;
}

Samples Readable(Samples samples) {
  samples = WithoutFew(samples, [](const Wait& wait) { return Wait{wait.section, wait.kind, ""}; });
  samples = WithoutFew(samples, [](const Wait& wait) { return Wait{"", wait.kind, ""}; });
  return WithoutFew(samples, [](const Wait&) { return Wait{"", "other", ""}; });
}

/// Wilson's interval of a share: low and high.
std::pair<double, double> WilsonRange(double share, double samples) {
  const double z2 = kTwoSided95 * kTwoSided95 / samples;
  const double middle = (share + z2 / 2) / (1 + z2);
  const double half = kTwoSided95 * std::sqrt(share * (1 - share) / samples + z2 / (4 * samples)) / (1 + z2);
  return {middle - half, middle + half};
}

/// The samples are of all time without a CPU, and owners that wait for helpers have a part of it that is not blocked:
/// for child processes it comes off the waits for these, for threads off the waits at locks, and what is left off all.
void TakeOffJoined(double joined, double children, std::map<Wait, double>* seconds) {
  const auto take = [&](double wanted, const auto& is_it) {
    double there = 0;
    for (const auto& [wait, value] : *seconds) there += is_it(wait) ? value : 0;
    const double taken = std::min(wanted, there);
    for (auto& [wait, value] : *seconds) value -= is_it(wait) && there > 0 ? value * taken / there : 0;
    return taken;
  };
  joined -= take(std::min(children, joined), [](const Wait& wait) { return wait.kind == kChild; });
  joined -= take(joined, [](const Wait& wait) { return wait.kind == kLock; });
  take(joined, [](const Wait&) { return true; });
}

void AddRows(const std::string& dataset, const Samples& all, const BlockedTimes& times, std::vector<WaitSumRow>* rows) {
  const double whole = times.whole.Seconds().value_or(0);
  const double blocked = times.blocked.Seconds().value_or(0);
  const double joined = times.joined.Seconds().value_or(0);
  if (blocked <= 0) return;
  int64_t running = 0;
  int64_t seen = 0;
  Samples waits;
  for (const auto& [wait, count] : all) {
    (wait.kind == kRunning ? running : seen) += count;
    if (wait.kind != kRunning) waits[wait] += count;
  }
  WaitSumRow row;
  row.dataset = Text::OrNull(dataset);
  row.coarse = whole > 0 && times.cpu_wait.Seconds().value_or(0) > kCoarseWait * whole;
  if (seen < kLeastSamples) {
    row.section = "";
    row.kind = "not known";
    row.seconds = blocked;
    row.share = 1.0;
    row.samples = seen;
    rows->push_back(row);
    return;
  }
  const auto count = static_cast<double>(seen);
  // How far the samples are from the clocks, where both say how much was blocked.
  const double exact = (blocked + joined) / whole;
  const double bias = std::abs(count / static_cast<double>(seen + running) - exact) / exact;
  waits = Readable(std::move(waits));
  std::map<Wait, double> seconds;
  for (const auto& [wait, samples] : waits) {
    seconds[wait] = (blocked + joined) * static_cast<double>(samples) / count;
  }
  TakeOffJoined(joined, times.children.Seconds().value_or(0), &seconds);
  for (const auto& [wait, value] : seconds) {
    const double samples = static_cast<double>(waits[wait]);
    const double sampled = samples / count;
    const auto [low, high] = WilsonRange(sampled, count);
    row.section = wait.section;
    row.kind = wait.kind;
    row.object = Text::OrNull(wait.object);
    row.seconds = value;
    row.share = value / blocked;
    row.low = std::max(0.0, *row.share - (sampled - low) - bias);
    row.high = std::min(1.0, *row.share + (high - sampled) + bias);
    row.samples = waits[wait];
    rows->push_back(row);
  }
}

}  // namespace

void WaitTable::Sum::Add(const Sum& other) { samples = AddCounts(samples, other.samples); }

void WaitTable::Add(std::string_view dataset, const std::vector<WaitFact>& waits) {
  for (const WaitFact& wait : waits) sums_.Add(KeyOf({dataset, wait.path, wait.kind, wait.object}), {wait.samples});
}

std::vector<WaitCount> WaitTable::Finalize() const {
  std::vector<WaitCount> counts;
  sums_.Finalize([&](std::string_view key, const Sum& sum) {
    WaitCount count;
    for (std::string* text : {&count.dataset, &count.section, &count.kind, &count.object}) *text = TakeText(&key);
    count.samples = sum.samples;
    counts.push_back(std::move(count));
  });
  return counts;
}

std::vector<WaitSumRow> DivideBlocked(const std::vector<WaitCount>& counts, const AttemptFindings& attempts) {
  if (counts.empty()) return {};
  std::vector<BlockedTimes> times(attempts.datasets.size());
  const auto times_of = [&](const AttemptRow& row) { return &times[attempts.dataset_of_input[row.input]]; };
  for (const AttemptRow& row : attempts.rows) {
    if (HasEnded(row)) Add(row, attempts.helpers, times_of(row));
  }
  for (const SummedAttempts& summed : attempts.summed) Add(summed.row, attempts.helpers, times_of(summed.row));
  std::map<std::string, Samples> samples;
  for (const WaitCount& count : counts) {
    samples[count.dataset][{count.section, count.kind, count.object}] += count.samples;
  }
  std::vector<WaitSumRow> rows;
  for (size_t i = 0; i < times.size(); ++i)
    AddRows(attempts.datasets[i], samples[attempts.datasets[i]], times[i], &rows);
  std::stable_sort(rows.begin(), rows.end(), [](const WaitSumRow& a, const WaitSumRow& b) {
    return a.seconds.value_or(0) > b.seconds.value_or(0);
  });
  return rows;
}

}  // namespace crema

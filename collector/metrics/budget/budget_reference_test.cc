// The budget against a second implementation that is slow and plain: it looks at every millisecond of small random
// runs, whose begins and stops all fall on whole milliseconds.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "collector/metrics/budget/budget.h"

namespace crema {
namespace {

constexpr int64_t kTick = 1'000'000;

struct RandomRun {
  std::vector<AttemptRow> attempts;
  std::vector<ProcessRow> processes;
  std::vector<HelperTimes> helpers;
  std::vector<WorkerLife> workers;
  RunWindow run;
};

struct ReferenceBudget {
  std::map<std::string, double> parts;  // core seconds
  double core_seconds = 0;
  double oversubscribed = 0;
  std::optional<double> tail_time;
  std::optional<double> balance;
};

class Dice {
 public:
  explicit Dice(uint32_t seed) : engine_(seed) {}
  int64_t Between(int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(engine_); }
  bool Chance(double probability) { return std::bernoulli_distribution(probability)(engine_); }
  template <class T>
  void Shuffle(std::vector<T>& values) {
    std::shuffle(values.begin(), values.end(), engine_);
  }

 private:
  std::mt19937 engine_;
};

AttemptRow RandomAttempt(Dice& dice, uint32_t process, int64_t start, int64_t stop, bool know_wait, RandomRun& random) {
  AttemptRow attempt;
  attempt.process = process;
  attempt.start_ns = start * kTick;
  if (dice.Chance(0.1)) {
    attempt.status = dice.Chance(0.7) ? AttemptState::kLost : AttemptState::kRunning;
    return attempt;
  }
  attempt.duration_ns = (stop - start) * kTick;
  attempt.status = dice.Chance(0.15) ? AttemptState::kFailed : AttemptState::kOk;
  attempt.is_result = attempt.status == AttemptState::kOk && dice.Chance(0.85);
  attempt.cpu_ns = dice.Chance(0.05) ? AttemptRow::kUnknown : dice.Between(0, attempt.duration_ns * 5 / 4);
  if (know_wait) attempt.cpu_wait_ns = dice.Between(0, attempt.duration_ns / 2);
  if (dice.Chance(0.4)) {
    HelperTimes helper;
    helper.scope_ns = dice.Between(0, 3 * attempt.duration_ns);
    helper.union_ns = dice.Between(0, attempt.duration_ns * 5 / 4);
    helper.cpu_ns = dice.Between(0, helper.scope_ns * 5 / 4);
    helper.cpu_wait_ns = dice.Between(0, helper.scope_ns / 2);
    attempt.helpers = static_cast<uint32_t>(random.helpers.size());
    random.helpers.push_back(helper);
  }
  return attempt;
}

RandomRun MakeRandomRun(uint32_t seed) {
  Dice dice(seed);
  RandomRun random;
  const bool know_wait = dice.Chance(0.7);
  const bool crowded = dice.Chance(0.3);
  const int64_t base = 1'700'000'000'000;  // ticks since 1970
  const int64_t length = dice.Between(5, 200);
  random.run = {base * kTick, (base + length) * kTick};
  const int64_t count = dice.Between(1, 4);
  for (int64_t p = 0; p < count; ++p) {
    ProcessRow process;
    const int64_t start = base + dice.Between(-20, length / 2);
    const int64_t stop = start + dice.Between(1, length);
    process.start_ns = start * kTick;
    process.last_ns = stop * kTick;
    process.declared_threads = dice.Between(1, 4);
    random.processes.push_back(process);
    const int64_t lanes = crowded ? *process.declared_threads + 1 : dice.Between(1, *process.declared_threads);
    for (int64_t lane = 0; lane < lanes; ++lane) {
      int64_t now = start + dice.Between(0, 10);
      const int64_t last_begin = stop - (dice.Chance(0.6) ? dice.Between(1, 40) : 0);
      while (now < last_begin) {
        const int64_t end = std::min(stop, now + dice.Between(0, 30));
        random.attempts.push_back(RandomAttempt(dice, static_cast<uint32_t>(p), now, end, know_wait, random));
        now = end + (dice.Chance(0.6) ? 0 : dice.Between(1, 8)) + (end == now ? 1 : 0);
      }
    }
  }
  dice.Shuffle(random.attempts);
  random.workers = FindWorkerLives(random.attempts, random.processes, random.helpers, random.run);
  return random;
}

// One attempt as docs/metrics.md words it, in nanoseconds of its whole duration.
struct ReferenceAttempt {
  int64_t start = 0;
  int64_t stop = 0;
  double lanes = 1;
  std::map<std::string, double> parts;
  double joined = 0;

  bool OpenAt(int64_t time) const { return start <= time && time < stop; }
};

ReferenceAttempt Describe(const AttemptRow& row, const RandomRun& random) {
  ReferenceAttempt attempt;
  attempt.start = row.start_ns;
  if (row.status == AttemptState::kLost || row.status == AttemptState::kRunning) {
    attempt.stop = std::max(row.start_ns, random.processes[row.process].last_ns);
    attempt.parts[row.status == AttemptState::kLost ? "failed" : "unmeasured"] =
        static_cast<double>(attempt.stop - attempt.start);
    return attempt;
  }
  attempt.stop = row.start_ns + row.duration_ns;
  const double duration = static_cast<double>(row.duration_ns);
  if (duration == 0) return attempt;
  const HelperTimes helper = row.helpers == AttemptRow::kNone ? HelperTimes() : random.helpers[row.helpers];
  const double scope = static_cast<double>(helper.scope_ns);
  const double cpu = std::min(static_cast<double>(row.cpu_ns), duration);
  const double wait = row.cpu_wait_ns < 0 ? 0 : std::min(static_cast<double>(row.cpu_wait_ns), duration - cpu);
  const double rest = duration - cpu - wait;
  if (row.cpu_ns >= 0) attempt.joined = std::min(rest, static_cast<double>(helper.union_ns));
  attempt.lanes = (duration + scope - attempt.joined) / duration;
  if (!row.is_result) {
    const double all = duration + scope - attempt.joined;
    const bool is_known = row.cpu_ns >= 0 && helper.cpu_ns >= 0;
    const double helper_cpu = std::min(static_cast<double>(helper.cpu_ns), scope);
    attempt.parts["failed_wait"] = is_known ? std::max(0.0, all - cpu - helper_cpu) : 0;
    attempt.parts["failed"] = all - attempt.parts["failed_wait"];
    return attempt;
  }
  if (row.cpu_ns < 0) {
    attempt.parts["unmeasured"] += duration;
  } else {
    attempt.parts["compute"] += cpu;
    attempt.parts["cpu_wait"] += wait;
    attempt.parts["blocked"] += rest - attempt.joined;
  }
  const double helper_cpu = std::min(static_cast<double>(helper.cpu_ns), scope);
  const double helper_wait = std::min(static_cast<double>(helper.cpu_wait_ns), scope - helper_cpu);
  attempt.parts["compute"] += helper_cpu;
  attempt.parts["cpu_wait"] += helper_wait;
  attempt.parts["blocked"] += scope - helper_cpu - helper_wait;
  return attempt;
}

ReferenceBudget ComputeSlowly(const RandomRun& random) {
  ReferenceBudget budget;
  std::vector<ReferenceAttempt> attempts;
  for (const AttemptRow& row : random.attempts) attempts.push_back(Describe(row, random));
  const auto& run = random.run;
  const auto alive = [&](const WorkerLife& worker, int64_t time) {
    return worker.start_ns <= time && time < worker.stop_ns;
  };
  const auto occupied = [&](uint32_t process, int64_t time) {
    double lanes = 0;
    for (size_t i = 0; i < attempts.size(); ++i) {
      if (random.attempts[i].process == process && attempts[i].OpenAt(time)) lanes += attempts[i].lanes;
    }
    return lanes;
  };

  std::optional<int64_t> last_stop;
  std::optional<int64_t> first_begin;
  std::map<uint32_t, int64_t> first_begin_of;
  for (size_t i = 0; i < attempts.size(); ++i) {
    const AttemptRow& row = random.attempts[i];
    const int64_t begin = std::clamp(row.start_ns, run.start_ns, run.stop_ns);
    first_begin = std::min(first_begin.value_or(begin), begin);
    const auto entry = first_begin_of.emplace(row.process, row.start_ns).first;
    entry->second = std::min(entry->second, row.start_ns);
    if (row.status != AttemptState::kOk && row.status != AttemptState::kFailed) continue;
    const int64_t stop = std::clamp(attempts[i].stop, run.start_ns, run.stop_ns);
    last_stop = std::max(last_stop.value_or(stop), stop);
  }
  std::optional<int64_t> tail_start;
  for (int64_t time = run.start_ns; last_stop.has_value() && time < *last_stop; time += kTick) {
    double lanes = 0;
    double cores = 0;
    for (const WorkerLife& worker : random.workers) {
      lanes += occupied(worker.process, time);
      if (alive(worker, time)) cores += static_cast<double>(worker.cores);
    }
    if (cores > 0 && lanes >= 0.9 * cores - 1e-9) tail_start = time + kTick;
  }
  if (tail_start.has_value()) budget.tail_time = static_cast<double>(*last_stop - *tail_start) / 1e9;

  double busy = 0;
  double available = 0;
  struct OfWorker {
    double idle = 0;
    double tail = 0;
    double joined = 0;
    double beyond = 0;                    // lanes for which there was no core
    double spread = 0;                    // lanes that are spread evenly
    std::map<std::string, double> parts;  // of attempts
  };
  std::map<uint32_t, OfWorker> of_worker;  // by process
  const int64_t balance_end = tail_start.value_or(last_stop.value_or(run.start_ns));
  for (int64_t time = run.start_ns; time < run.stop_ns; time += kTick) {
    const double tick_seconds = static_cast<double>(kTick) / 1e9;
    const bool in_balance = first_begin.has_value() && time >= *first_begin && time < balance_end;
    for (size_t i = 0; i < attempts.size(); ++i) {
      if (!attempts[i].OpenAt(time)) continue;
      const double share = static_cast<double>(kTick) / static_cast<double>(attempts[i].stop - attempts[i].start);
      OfWorker& worker = of_worker[random.attempts[i].process];
      for (const auto& [part, nanoseconds] : attempts[i].parts) worker.parts[part] += nanoseconds * share / 1e9;
      worker.joined += attempts[i].joined * share / 1e9;
      if (std::abs(attempts[i].lanes - 1) > 1e-12) worker.spread += attempts[i].lanes * tick_seconds;
    }
    for (const WorkerLife& worker : random.workers) {
      const double cores = alive(worker, time) ? static_cast<double>(worker.cores) : 0;
      const double lanes = occupied(worker.process, time);
      budget.core_seconds += cores * tick_seconds;
      if (in_balance) available += cores * tick_seconds;
      if (in_balance) busy += std::min(lanes, cores) * tick_seconds;
      of_worker[worker.process].beyond += std::max(0.0, lanes - cores) * tick_seconds;
      const double free = std::max(0.0, cores - lanes) * tick_seconds;
      if (time < first_begin_of[worker.process]) {
        budget.parts["startup"] += free;
      } else if (last_stop.has_value() && time >= *last_stop) {
        budget.parts["shutdown"] += free;
      } else if (tail_start.has_value() && time >= *tail_start) {
        of_worker[worker.process].tail += free;
      } else {
        of_worker[worker.process].idle += free;
      }
    }
  }
  for (auto& [process, worker] : of_worker) {
    const double idle_filled = std::min({worker.idle, worker.spread, worker.beyond});
    const double tail_filled = std::min({worker.tail, worker.spread - idle_filled, worker.beyond - idle_filled});
    worker.idle -= idle_filled;
    worker.tail -= tail_filled;
    worker.beyond -= idle_filled + tail_filled;
    busy += idle_filled;
    budget.oversubscribed += worker.beyond;
    using Group = std::vector<std::string>;
    for (const Group& group :
         {Group{"cpu_wait", "blocked", "failed_wait"}, Group{"failed", "unmeasured"}, Group{"compute"}}) {
      double whole = 0;
      for (const std::string& part : group) whole += worker.parts[part];
      const double taken = std::min(whole, worker.beyond);
      worker.beyond -= taken;
      for (const std::string& part : group) worker.parts[part] *= whole > 0 ? 1 - taken / whole : 1;
    }
    for (const auto& [part, core_seconds] : worker.parts) {
      budget.parts[part == "failed_wait" ? "failed" : part] += core_seconds;
    }
    const double of_idle = std::min(worker.idle, worker.joined);
    const double of_tail = std::min(worker.tail, worker.joined - of_idle);
    budget.parts["idle"] += worker.idle - of_idle;
    budget.parts["tail"] += worker.tail - of_tail;
    budget.parts["joined"] += of_idle + of_tail;
  }
  if (last_stop.has_value() && available > 0) budget.balance = busy / available;
  return budget;
}

void ExpectSameFigure(const std::optional<double>& fast, const std::optional<double>& slow) {
  ASSERT_EQ(fast.has_value(), slow.has_value());
  EXPECT_NEAR(fast.value_or(0), slow.value_or(0), 1e-9);
}

class BudgetAgainstReference : public testing::TestWithParam<uint32_t> {};

TEST_P(BudgetAgainstReference, AgreesInEveryPartAndAddsUp) {
  const uint32_t block = GetParam();
  for (uint32_t seed = block * 100; seed < (block + 1) * 100; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const RandomRun random = MakeRandomRun(seed);
    const Budget fast = ComputeBudget(random.attempts, random.processes, random.helpers, random.workers, random.run);
    ReferenceBudget slow = ComputeSlowly(random);
    // An attempt that the run cuts is rounded down to whole nanoseconds in each part.
    const double tolerance = 1e-8 + 4e-9 * static_cast<double>(random.attempts.size());
    double sum = 0;
    for (const BudgetRow& row : fast.rows) {
      sum += *row.core_seconds;
      const double wanted =
          row.part == "waiting" ? slow.parts["cpu_wait"] + slow.parts["blocked"] : slow.parts[row.part];
      EXPECT_NEAR(*row.core_seconds, wanted, tolerance) << row.part;
    }
    EXPECT_NEAR(fast.core_seconds, slow.core_seconds, 1e-9);
    EXPECT_NEAR(fast.oversubscribed_core_seconds, slow.oversubscribed, 1e-8);
    EXPECT_NEAR(sum, fast.core_seconds, tolerance);
    ExpectSameFigure(fast.tail_time, slow.tail_time);
    ExpectSameFigure(fast.balance, slow.balance);
  }
}

INSTANTIATE_TEST_SUITE_P(RandomRuns, BudgetAgainstReference, testing::Range(0u, 10u));

TEST(BudgetOfRandomRuns, DoesNotDependOnTheOrderOfAttempts) {
  for (uint32_t seed = 0; seed < 100; ++seed) {
    RandomRun random = MakeRandomRun(seed);
    const Budget first = ComputeBudget(random.attempts, random.processes, random.helpers, random.workers, random.run);
    Dice(seed).Shuffle(random.attempts);
    const Budget again = ComputeBudget(random.attempts, random.processes, random.helpers, random.workers, random.run);
    ASSERT_EQ(first.rows.size(), again.rows.size());
    for (size_t i = 0; i < first.rows.size(); ++i) EXPECT_EQ(first.rows[i].core_seconds, again.rows[i].core_seconds);
    EXPECT_EQ(first.tail_time, again.tail_time);
    EXPECT_EQ(first.balance, again.balance);
  }
}

TEST(BudgetOfRandomRuns, CoversEveryPart) {
  std::map<std::string, double> seen;
  int with_tail = 0;
  int oversubscribed = 0;
  for (uint32_t seed = 0; seed < 1000; ++seed) {
    const RandomRun random = MakeRandomRun(seed);
    const Budget budget = ComputeBudget(random.attempts, random.processes, random.helpers, random.workers, random.run);
    for (const BudgetRow& row : budget.rows) seen[row.part] += *row.core_seconds;
    with_tail += budget.tail_time.value_or(0) > 0;
    oversubscribed += budget.oversubscribed_core_seconds > 0;
  }
  for (const char* part : {"compute", "cpu_wait", "blocked", "waiting", "failed", "joined", "startup", "idle", "tail",
                           "shutdown", "unmeasured"}) {
    EXPECT_GT(seen[part], 1) << part;
  }
  EXPECT_GT(with_tail, 100);
  EXPECT_GT(oversubscribed, 100);
}

}  // namespace
}  // namespace crema

// Every bound that a verdict prints is applied: what it judges is set to just inside and just outside of it.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "collector/diagnosis/judged_document_fixture.h"
#include "collector/diagnosis/key_figures.h"
#include "collector/diagnosis/synthetic_run_fixture.h"
#include "collector/diagnosis/verdict_bounds_fixture.h"
#include "collector/diagnosis/verdicts.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace crema {
namespace {

class VerdictBound : public testing::TestWithParam<BoundCase> {};
class VerdictThreshold : public VerdictBound {};     // bound 0
class VerdictThatTurnsBad : public VerdictBound {};  // thresholds beyond which a verdict is bad
class VerdictOfShares : public VerdictBound {};      // of what needs shares of the core-seconds

template <class Takes>
std::vector<BoundCase> CasesThat(const Takes& takes) {
  std::vector<BoundCase> cases;
  std::copy_if(std::begin(kBoundCases), std::end(kBoundCases), std::back_inserter(cases), takes);
  return cases;
}

bool IsThreshold(const BoundCase& bound_case) { return bound_case.bound == 0; }
bool TurnsBad(const BoundCase& bound_case) {
  return IsThreshold(bound_case) && !std::isinf(RuleOf(bound_case.id).threshold.bad);
}
bool NeedsShares(const BoundCase& bound_case) {
  return bound_case.id != "incomplete-measurement" && bound_case.id != "worker-loss" && bound_case.id != "failed-run" &&
         bound_case.id != "failing-chunks" && bound_case.id != "failing-tasks";
}

std::optional<Verdict> VerdictOf(const std::string& id, const Json& document) {
  for (Verdict& verdict : Judge(document)) {
    if (verdict.id == id) return std::move(verdict);
  }
  return std::nullopt;
}

/// The verdict with this value, where it fires.
std::optional<Verdict> Judged(const BoundCase& bound_case, double value) {
  Json document = HealthyRun();
  bound_case.set(&document, value);
  return VerdictOf(bound_case.id, document);
}

/// Whether the bound holds for what is less.
bool IsBelow(const Bound& bound) { return bound.side == Side::kUpTo || bound.side == Side::kBelow; }

TEST_P(VerdictBound, IsAppliedAsItIsPrinted) {
  const BoundCase& bound_case = GetParam();
  const Bound& bound = BoundOf(bound_case);
  const bool is_below = IsBelow(bound);
  const double step = bound_case.step > 0 ? bound_case.step : 1e-6 * bound.value;
  const double more = bound.value + step, less = bound.value - step;
  // "nearly all workers" ends the wait, and so the verdict
  const bool is_reversed = bound_case.step < 0;
  EXPECT_EQ(Judged(bound_case, is_below ? less : more).has_value(), !is_reversed) << ToString(bound);
  EXPECT_EQ(Judged(bound_case, is_below ? more : less).has_value(), is_reversed) << ToString(bound);
  if (bound_case.step > 0) {
    EXPECT_EQ(Judged(bound_case, bound.value).has_value(), bound.Holds(bound.value)) << ToString(bound);
  }
}

TEST_P(VerdictThatTurnsBad, TurnsBadWhereItIsPrinted) {
  const BoundCase& bound_case = GetParam();
  const VerdictRule& rule = RuleOf(bound_case.id);
  EXPECT_EQ(Judged(bound_case, rule.threshold.bad * (1 + 1e-6))->severity, Severity::kBad) << rule.threshold.bad;
  EXPECT_EQ(Judged(bound_case, rule.threshold.bad * (1 - 1e-6))->severity, rule.threshold.severity)
      << rule.threshold.bad;
}

TEST_P(VerdictThreshold, FiresWithEvidenceWordsAndWhatToDo) {
  const BoundCase& bound_case = GetParam();
  const Bound& bound = BoundOf(bound_case);
  const std::optional<Verdict> verdict =
      Judged(bound_case, bound.value + (IsBelow(bound) ? -0.01 : 0.01) * bound.value);
  ASSERT_TRUE(verdict.has_value());
  EXPECT_FALSE(verdict->evidence.empty());
  EXPECT_EQ(verdict->suggestion.empty(), RuleOf(bound_case.id).suggestion.empty());
  EXPECT_THAT(verdict->sentence, testing::EndsWith("."));
  EXPECT_GE(verdict->saving.value_or(0), 0);
  EXPECT_LE(verdict->saving.value_or(1), 1);
}

TEST_P(VerdictOfShares, IsNoAlarmWhereTooLittleWasMeasured) {
  const BoundCase& bound_case = GetParam();
  Json document = HealthyRun();
  bound_case.set(&document, BoundOf(bound_case).value);
  SetBudget(&document, {{"compute", 0.5}});
  EXPECT_FALSE(VerdictOf(bound_case.id, document).has_value());
}

INSTANTIATE_TEST_SUITE_P(Each, VerdictBound, testing::ValuesIn(kBoundCases));
INSTANTIATE_TEST_SUITE_P(Each, VerdictThreshold, testing::ValuesIn(CasesThat(IsThreshold)));
INSTANTIATE_TEST_SUITE_P(Each, VerdictThatTurnsBad, testing::ValuesIn(CasesThat(TurnsBad)));
INSTANTIATE_TEST_SUITE_P(Each, VerdictOfShares, testing::ValuesIn(CasesThat(NeedsShares)));

TEST(VerdictBounds, DaskWorkersAreBadWhereDaskPausesThem) {
  Json document = HealthyRun();
  document["run"]["engine"] = "Dask 2025.11.0";
  const double pauses = MemoryBand("Dask").bad;
  const auto severity = [&document](double used) {
    document["metrics"]["memory_utilization_max"] = used;
    return Judge(document).front().severity;
  };
  EXPECT_EQ(severity(pauses - 1e-6), Severity::kWarning);
  EXPECT_EQ(severity(pauses), Severity::kBad);
  const auto is_judged = [&document](double used) {
    document["metrics"]["memory_utilization_max"] = used;
    const std::vector<Verdict> verdicts = Judge(document);
    return std::any_of(verdicts.begin(), verdicts.end(), [](const Verdict& v) { return v.id == "memory-pressure"; });
  };
  EXPECT_TRUE(is_judged(MemoryBand("Dask").good + 1e-6));
  EXPECT_FALSE(is_judged(MemoryBand("Dask").good - 1e-6));
}

TEST(VerdictBounds, SharesOfLessThanACoreSecondAreNotJudged) {
  Json document = HealthyRun();
  const auto is_judged = [&document](double core_seconds) {
    SetBudget(&document, {{"compute", core_seconds}});
    const std::vector<Verdict> verdicts = Judge(document);
    return std::any_of(verdicts.begin(), verdicts.end(), [](const Verdict& v) { return v.id == "compute-bound"; });
  };
  EXPECT_TRUE(is_judged(kEnoughCoreSeconds.value));
  EXPECT_FALSE(is_judged(kEnoughCoreSeconds.value - 1e-6));
}

TEST(VerdictBounds, AreAllTested) {
  const std::vector<std::pair<std::string, size_t>> elsewhere = {{"memory-pressure", 2}, {"incomplete-measurement", 3}};
  for (const VerdictRule& rule : VerdictTable()) {
    for (size_t bound = 0; bound <= rule.also.size(); ++bound) {
      const std::pair<std::string, size_t> key = {std::string(rule.id), bound};
      const auto is_of = [&key](const BoundCase& bound_case) {
        return bound_case.id == key.first && bound_case.bound == key.second;
      };
      EXPECT_TRUE(std::any_of(std::begin(kBoundCases), std::end(kBoundCases), is_of) ||
                  std::count(elsewhere.begin(), elsewhere.end(), key) == 1)
          << rule.id << " " << bound;
    }
  }
}

TEST(Bound, HoldsOnItsSide) {
  EXPECT_TRUE(From(2).Holds(2) && From(2).Holds(3) && !From(2).Holds(1));
  EXPECT_TRUE(!Above(2).Holds(2) && Above(2).Holds(3) && !Above(2).Holds(1));
  EXPECT_TRUE(UpTo(2).Holds(2) && !UpTo(2).Holds(3) && UpTo(2).Holds(1));
  EXPECT_TRUE(!Below(2).Holds(2) && !Below(2).Holds(3) && Below(2).Holds(1));
  EXPECT_EQ(ToString(From(0.25)), ">= 0.25");
  EXPECT_EQ(ToString(Above(4)), "> 4");
  EXPECT_EQ(ToString(UpTo(1.2)), "<= 1.2");
  EXPECT_EQ(ToString(Below(1e8)), "< 100000000");
}

}  // namespace
}  // namespace crema

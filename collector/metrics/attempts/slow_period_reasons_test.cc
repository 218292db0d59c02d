#include <gtest/gtest.h>

#include <vector>

#include "collector/idioms/units.h"
#include "collector/metrics/attempts/stragglers.h"

namespace crema {
namespace {

/// Two workers, each 20 chunks of 10 s, half of it CPU; those of the first that begin from 50 s to 100 s take 10 s
/// more.
class SlowPeriodReasons : public testing::Test {
 protected:
  SlowPeriodReasons() {
    for (uint32_t worker = 0; worker < 2; ++worker) {
      int64_t now = 0;
      for (int i = 0; i < 20; ++i) {
        AttemptRow attempt;
        attempt.process = worker;
        attempt.status = AttemptState::kOk;
        attempt.start_ns = now;
        attempt.events = 1000;
        attempt.cpu_ns = 5 * kSecondNs;
        attempt.cpu_wait_ns = kSecondNs;
        const bool is_slow = worker == 0 && now >= 50 * kSecondNs && now < 100 * kSecondNs;
        attempt.duration_ns = (is_slow ? 20 : 10) * kSecondNs;
        slow_.push_back(is_slow);
        attempts_.push_back(attempt);
        now += attempt.duration_ns;
      }
    }
  }
  std::vector<SlowPeriod> Explained(PeriodOf of) {
    const StragglerFindings findings = FindStragglers(attempts_, {}, dataset_of_input_);
    SlowPeriod period;
    period.of = of;
    period.start_ns = 50 * kSecondNs;
    period.stop_ns = 110 * kSecondNs;
    std::vector<SlowPeriod> periods = {period};
    ExplainPeriods(attempts_, {}, {dataset_of_input_, file_of_input_, host_of_process_}, findings.datasets, &periods);
    return periods;
  }
  StragglerReason Reason() { return Explained(PeriodOf::kWorker).at(0).reason; }
  template <class Change>
  void ChangeSlowOnes(Change change) {
    for (size_t i = 0; i < attempts_.size(); ++i) {
      if (slow_[i]) change(attempts_[i]);
    }
  }

  std::vector<AttemptRow> attempts_;
  std::vector<bool> slow_;
  std::vector<uint32_t> dataset_of_input_ = {0};
  std::vector<uint32_t> file_of_input_ = {0};
  std::vector<uint32_t> host_of_process_ = {0, 0};
};

TEST_F(SlowPeriodReasons, AreBlockedWhereNeitherCpuNorItsLackExplainsTheTime) {
  EXPECT_EQ(Reason(), StragglerReason::kBlocked);
}

TEST_F(SlowPeriodReasons, AreComputingOrTheLackOfACpu) {
  ChangeSlowOnes([](AttemptRow& attempt) { attempt.cpu_ns = 15 * kSecondNs; });
  EXPECT_EQ(Reason(), StragglerReason::kCpu);
  ChangeSlowOnes([](AttemptRow& attempt) {
    attempt.cpu_ns = 5 * kSecondNs;
    attempt.cpu_wait_ns = 11 * kSecondNs;
  });
  EXPECT_EQ(Reason(), StragglerReason::kCpuWait);
}

TEST_F(SlowPeriodReasons, AreUnknownWhereNobodyMeasuredThem) {
  ChangeSlowOnes([](AttemptRow& attempt) { attempt.cpu_wait_ns = AttemptRow::kUnknown; });
  EXPECT_EQ(Reason(), StragglerReason::kUnknown) << "it may as well be a lack of CPUs";
  ChangeSlowOnes([](AttemptRow& attempt) { attempt.cpu_ns = AttemptRow::kUnknown; });
  EXPECT_EQ(Reason(), StragglerReason::kUnknown);
}

TEST_F(SlowPeriodReasons, AreOfARunOnlyIfSeveralProcessesWereSlow) {
  for (const PeriodOf of : {PeriodOf::kHost, PeriodOf::kDataset, PeriodOf::kRun}) {
    EXPECT_TRUE(Explained(of).empty()) << ToString(of);
  }
  EXPECT_EQ(Explained(PeriodOf::kFile).size(), 1u) << "a file may have one reader";
  for (AttemptRow& attempt : attempts_) {
    if (attempt.process == 1 && attempt.start_ns == 60 * kSecondNs) attempt.duration_ns = 20 * kSecondNs;
  }
  EXPECT_EQ(Explained(PeriodOf::kRun).size(), 1u);
}

}  // namespace
}  // namespace crema

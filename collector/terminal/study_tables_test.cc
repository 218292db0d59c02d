// What `crema predict`, `crema scaling` and `crema history` print for people.
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/match.h"
#include "collector/prediction/prediction.h"
#include "collector/terminal/terminal.h"

namespace crema {
namespace {

constexpr TerminalStyle kWide = {140, false, false};

Prediction MadePrediction() {
  Prediction prediction;
  prediction.measured = 10;
  prediction.replayed = 9.9;
  prediction.rows.resize(4);
  prediction.rows[0].change = "--cores 8";
  prediction.rows[0].wall_time = {5, 4, 6};
  prediction.rows[0].core_seconds.value = 40;
  prediction.rows[0].cpu.value = 30;
  prediction.rows[0].free.value = 10;
  prediction.rows[0].efficiency.value = 0.5;
  prediction.rows[1].change = "--workers 2";
  prediction.rows[1].why_not = "it has one worker";
  prediction.rows[2].change = "--workers 4";
  prediction.rows[2].why_not = "it has one worker";
  prediction.rows[3] = prediction.rows[0];
  prediction.rows[3].change = "--cores 2";
  prediction.rows[3].cpu_known = false;
  return prediction;
}

TEST(PredictionTable, HasARowForEachAnswerAndASentenceForEachReason) {
  const std::string text = RenderPrediction(MadePrediction(), kWide);
  EXPECT_EQ(text,
            "The run took 10.0 s. Its chunks, replayed on its own lanes, take 9.90 s.\n"
            "with       wall time  change   90 % of runs      core time  CPU efficiency  chunks open\n"
            "--cores 8     5.00 s  -50.0 %  4.00 s to 6.00 s     40.0 s          50.0 %       75.0 %\n"
            "--cores 2     5.00 s  -50.0 %  4.00 s to 6.00 s     40.0 s               –       75.0 %\n"
            "not predicted for --workers 2, --workers 4: it has one worker\n");
}

TEST(PredictionTable, OfEventsSaysWhatLimitsThem) {
  Prediction prediction = MadePrediction();
  prediction.basis = "Events came.";
  prediction.rows[0].limited_by = "module fit";
  const std::string text = RenderPrediction(prediction, kWide);
  EXPECT_TRUE(absl::StrContains(text, "The run took 10.0 s. Events came.\n")) << text;
  EXPECT_TRUE(absl::StrContains(text, "  range             limited by  core time")) << text;
  EXPECT_TRUE(absl::StrContains(text, "  4.00 s to 6.00 s  module fit")) << text;
  EXPECT_TRUE(absl::StrContains(text, "tasks at work")) << text;
}

}  // namespace
}  // namespace crema

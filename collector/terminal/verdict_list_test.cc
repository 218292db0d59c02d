#include "collector/measurement/measurement.h"
#include "collector/terminal/terminal.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace crema {
namespace {

std::vector<VerdictRow> Rows() {
  std::vector<VerdictRow> rows;
  ReadValue(
      nlohmann::ordered_json{
          {{"id", "long-tail"},
           {"severity", "bad"},
           {"sentence", "22 % of the core-seconds went to free cores while the last chunks ran."},
           {"evidence", {{{"key", "budget.tail.share"}, {"value", 0.22}}, {{"key", "tail_time"}, {"value", 30}}}},
           {"suggestion", "Use smaller chunks."},
           {"saving", 0.22}},
          {{"id", "compute-bound"},
           {"severity", "info"},
           {"sentence", "CPU in your code took 78 %."},
           {"evidence", nlohmann::ordered_json::array()},
           {"suggestion", ""},
           {"saving", nullptr}}},
      &rows);
  return rows;
}

TEST(VerdictList, GivesEachVerdictWithEvidenceAndSuggestion) {
  TerminalStyle style;
  style.width = 80;
  EXPECT_EQ(RenderVerdicts("Compute-bound: all well.", Rows(), style),
            "Compute-bound: all well.\n"
            "\n"
            "✕ bad  long-tail  ≈ 22 % to win\n"
            "    22 % of the core-seconds went to free cores while the last chunks ran.\n"
            "    evidence: budget.tail.share 0.22, tail_time 30\n"
            "    Use smaller chunks.\n"
            "\n"
            "· info  compute-bound\n"
            "    CPU in your code took 78 %.\n");
}

TEST(VerdictList, IsPlainAsciiWhereAsked) {
  TerminalStyle style;
  style.width = 30;
  style.ascii = true;
  const std::string text = RenderVerdicts("Too little.", Rows(), style);
  for (const char c : text) EXPECT_TRUE(c == '\n' || (c >= ' ' && c <= '~')) << text;
}

TEST(VerdictList, NeedsNoVerdict) { EXPECT_EQ(RenderVerdicts("Fine.", {}, TerminalStyle()), "Fine.\n"); }

}  // namespace
}  // namespace crema

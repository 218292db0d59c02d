#include "collector/idioms/units.h"
#include "collector/metrics/measure_fixture.h"
#include "collector/metrics/read_records.h"

namespace crema {
namespace {

/// Two workers, each 20 chunks of 10 s, of which sections `read` and `select` take 2 s and 7 s. Those of the first that
/// begin from 50 s to 200 s take 10 s more.
class ChunkSearchTest : public MeasureTest {
 protected:
  static std::vector<Line> Worker(int64_t pid, double more_read, double more_select) {
    std::vector<Line> lines = {ProcessLine(pid)};
    double now = 0;
    for (int64_t i = 0; i < 20; ++i) {
      const bool is_slow = pid == 1 && now >= 50 && now < 200;
      const double read = is_slow ? 2 + more_read : 2;
      const double select = is_slow ? 7 + more_select : 7;
      const double stop = now + read + select + 1;
      lines.push_back(BeginLine(20 * pid + i, now));
      lines.push_back(ChunkLine(20 * pid + i, now, stop));
      lines.back()["sections"] = {Section("read", read), Section("select", select)};
      now = stop;
    }
    lines.push_back(EndLine(now));
    return lines;
  }
  static Line Section(const std::string& path, double seconds) {
    const int64_t ns = At(seconds) - At(0);
    return SectionRowLine(path, ns, ns);
  }
  Document Period(double more_read, double more_select) {
    Write("a.jsonl", Worker(1, more_read, more_select));
    Write("b.jsonl", Worker(2, 0, 0));
    const Document periods = Take()["slow_spells"];
    EXPECT_EQ(periods.size(), 1u);
    return periods.empty() ? Document() : periods[0];
  }
};

TEST_F(ChunkSearchTest, ASlowPeriodNamesTheSectionThatWasSlow) { EXPECT_EQ(Period(10, 0)["section"], "read"); }

TEST_F(ChunkSearchTest, NoSectionIsNamedWhereNoOneWasSlow) { EXPECT_TRUE(Period(5, 5)["section"].is_null()); }

TEST_F(ChunkSearchTest, ChunksOfAHostWhoseClockIsBehindAreFound) {
  std::vector<Line> lines = {ProcessLine(1)};
  lines.push_back({{"type", "clock"},
                   {"time_ns", At(0)},
                   {"reference", "tcp://s:1"},
                   {"offset_ns", 100 * kSecondNs},
                   {"uncertainty_ns", 1000}});
  for (int i = 0; i < 20; ++i) lines.push_back(ChunkLine(i, 100 * i, 100 * i + (i == 13 ? 90 : 10 + 0.01 * i)));
  lines.push_back(EndLine(3000));
  Write("a.jsonl", lines);
  const Document stragglers = Take()["stragglers"];
  ASSERT_EQ(stragglers.size(), 1u);
  EXPECT_EQ(stragglers[0]["entry_start"], 1300);
}

}  // namespace
}  // namespace crema

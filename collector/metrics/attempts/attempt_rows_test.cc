#include "collector/metrics/attempts/attempt_rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <random>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

namespace crema {
namespace {

auto Fields(const AttemptRow& row) {
  return std::tuple(row.chunk_id, row.start_ns, row.duration_ns, row.suspended_ns, row.events, row.cpu_ns,
                    row.cpu_wait_ns, row.rss_start_bytes, row.rss_stop_bytes, row.number, row.helpers, row.process,
                    row.input, row.thread, row.recorder, row.lanes_peak, row.status, row.is_result);
}

void ExpectSame(const AttemptRows& rows, const std::vector<AttemptRow>& expected) {
  ASSERT_EQ(rows.size(), expected.size());
  size_t i = 0;
  for (const AttemptRow& row : rows) {
    ASSERT_EQ(Fields(row), Fields(expected[i])) << i;
    ASSERT_EQ(Fields(rows[i]), Fields(expected[i])) << i;
    ++i;
  }
  EXPECT_EQ(i, expected.size());
}

class Random {
 public:
  /// With so many bits, the sign among them where there are 64.
  uint64_t Bits(int bits) { return bits == 0 ? 0 : engine_() >> (64 - bits); }
  uint64_t Below(uint64_t limit) { return engine_() % limit; }

  AttemptRow Row(int bits) {
    AttemptRow row;
    row.chunk_id = engine_();
    for (int64_t* value : {&row.start_ns, &row.duration_ns, &row.suspended_ns, &row.events, &row.cpu_ns,
                           &row.cpu_wait_ns, &row.rss_start_bytes, &row.rss_stop_bytes, &row.number}) {
      *value = Below(5) == 0 ? AttemptRow::kUnknown : static_cast<int64_t>(Bits(bits));
    }
    for (uint32_t* value : {&row.process, &row.recorder, &row.helpers, &row.input, &row.thread}) {
      *value = Below(5) == 0 ? AttemptRow::kNone : static_cast<uint32_t>(Bits(std::min(bits, 32)));
    }
    row.lanes_peak = static_cast<uint16_t>(Bits(std::min(bits, 16)));
    row.status = static_cast<AttemptState>(Below(5));
    row.is_result = Below(2) == 0;
    return row;
  }

 private:
  std::mt19937_64 engine_{7};
};

TEST(AttemptRows, AreWhatWasAddedWhateverTheirBits) {
  Random random;
  for (int bits = 0; bits <= 64; ++bits) {
    for (const size_t count : {size_t{1}, size_t{1023}, size_t{2500}}) {
      std::vector<AttemptRow> expected;
      for (size_t i = 0; i < count; ++i) expected.push_back(random.Row(bits));
      ExpectSame(expected, expected);
    }
  }
}

TEST(AttemptRows, KeepExtremes) {
  std::vector<AttemptRow> expected(3);
  expected[0].start_ns = expected[0].events = std::numeric_limits<int64_t>::min();
  expected[1].start_ns = expected[1].events = std::numeric_limits<int64_t>::max();
  expected[1].chunk_id = std::numeric_limits<uint64_t>::max();
  expected[2].helpers = AttemptRow::kNone - 1;
  expected[2].lanes_peak = std::numeric_limits<uint16_t>::max();
  ExpectSame(expected, expected);
}

TEST(AttemptRows, OfAMillionChunksTakeFortyOneBytesEach) {
  // As a record log of a program on four threads has them: numbers from a counter, times in nanoseconds, memory in
  // pages, hundreds of inputs.
  Random random;
  RowSpill counted("/nowhere", std::numeric_limits<size_t>::max());
  AttemptRows rows;
  rows.SpillTo(&counted);
  constexpr size_t kRows = 1'000'000;
  for (size_t i = 0; i < kRows; ++i) {
    AttemptRow row;
    row.chunk_id = random.Bits(64);
    row.number = static_cast<int64_t>(i);
    row.start_ns = 1'795'000'000'000'000'000 + static_cast<int64_t>(i * 25'000'000 + random.Below(100'000'000));
    row.duration_ns = static_cast<int64_t>(50'000'000 + random.Below(100'000'000));
    row.cpu_ns = row.duration_ns - static_cast<int64_t>(random.Below(30'000'000));
    row.cpu_wait_ns = static_cast<int64_t>(random.Below(1'000'000));
    row.events = static_cast<int64_t>(90'000 + random.Below(20'000));
    row.rss_start_bytes = static_cast<int64_t>(4096 * (250'000 + random.Below(50'000)));
    row.rss_stop_bytes = static_cast<int64_t>(4096 * (250'000 + random.Below(50'000)));
    row.input = static_cast<uint32_t>(i / 1000);
    row.thread = static_cast<uint32_t>(random.Below(4));
    rows.Add(row);
  }
  rows.Seal();
  EXPECT_LE(counted.in_memory_bytes(), 41 * kRows);
  EXPECT_GE(counted.in_memory_bytes(), 20 * kRows) << "less than the random bits in it";
}

TEST(AttemptRows, AreRenumberedWherePackedAndWhereNot) {
  Random random;
  AttemptRows rows;
  std::vector<AttemptRow> expected;
  for (size_t i = 0; i < 1500; ++i) {
    AttemptRow row = random.Row(20);
    row.process = static_cast<uint32_t>(random.Below(3));
    row.recorder = AttemptRow::kNone;
    row.input = static_cast<uint32_t>(random.Below(50));
    row.thread = static_cast<uint32_t>(random.Below(50));
    row.helpers = random.Below(2) == 0 ? AttemptRow::kNone : static_cast<uint32_t>(random.Below(1000));
    rows.Add(row);
    row.input += 7;
    row.thread = 49 - row.thread;
    row.process += 1;
    if (row.helpers != AttemptRow::kNone) row.helpers += 1000;
    row.start_ns += int64_t{1000} * row.process;
    if (row.process == 2) std::tie(row.process, row.recorder) = std::tuple(9, 2);
    expected.push_back(row);
  }
  rows.Renumber<&AttemptRow::input>([](uint32_t input) { return input + 7; });
  rows.Renumber<&AttemptRow::thread>([](uint32_t thread) { return 49 - thread; });
  rows.Renumber<&AttemptRow::process>([](uint32_t process) { return process + 1; });
  rows.ShiftHelpers(1000);
  rows.ShiftStarts({0, 1000, 2000, 3000});
  rows.MoveToWorkers({0, 1, 9, 3});
  ExpectSame(rows, expected);
  for (size_t i = 0; i < expected.size(); i += 7) {
    expected[i].is_result = !expected[i].is_result;
    rows.SetResult(i, expected[i].is_result);
  }
  ExpectSame(rows, expected);
}

TEST(AttemptRows, ThatWereCopiedAreTheirOwn) {
  Random random;
  std::vector<AttemptRow> expected;
  for (size_t i = 0; i < 1100; ++i) expected.push_back(random.Row(30));
  AttemptRows rows;
  for (const AttemptRow& row : expected) rows.Add(row);
  AttemptRows copy = rows;
  const AttemptRow other = random.Row(64);
  for (size_t i = 0; i < 3000; ++i) copy.Add(other);
  std::vector<AttemptRow> more = expected;
  more.push_back(random.Row(30));
  rows.Add(more.back());
  rows.Seal();
  copy.Seal();
  copy.Renumber<&AttemptRow::input>([](uint32_t) { return 1; });
  ExpectSame(rows, more);
}

/// How far from its place a row may be.
std::vector<AttemptRow> Shuffled(size_t count, size_t processes, size_t reach, Random* random) {
  std::vector<std::pair<size_t, AttemptRow>> rows;
  for (size_t i = 0; i < count; ++i) {
    AttemptRow row = random->Row(40);
    row.process = static_cast<uint32_t>(i * processes / count);
    row.number = static_cast<int64_t>(i / 2);  // two have the same
    row.start_ns = static_cast<int64_t>(random->Below(3));
    rows.emplace_back(i + random->Below(reach + 1), row);
  }
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<AttemptRow> shuffled;
  for (const auto& [place, row] : rows) shuffled.push_back(row);
  return shuffled;
}

TEST(AttemptRows, ComeIntoOrderFromNearAndFar) {
  Random random;
  for (const size_t processes : {size_t{1}, size_t{3}, size_t{400}}) {
    for (const size_t reach : {size_t{0}, size_t{5}, size_t{3000}, size_t{30'000}}) {
      std::vector<AttemptRow> expected = Shuffled(30'000, processes, reach, &random);
      AttemptRows some, others;
      for (size_t i = 0; i < expected.size(); ++i) (i % 20'000 < 7000 ? some : others).Add(expected[i]);
      some.Take(std::move(others));
      std::vector<uint32_t> group_of_process;
      for (uint32_t i = 0; i < processes; ++i) group_of_process.push_back((i * 7 + 3) % processes / 2);
      std::stable_sort(expected.begin(), expected.end(), [&](const AttemptRow& a, const AttemptRow& b) {
        const auto place = [&](const AttemptRow& row) {
          return std::tuple(group_of_process[row.process], row.number, row.start_ns, row.duration_ns, row.chunk_id,
                            row.status);
        };
        return place(a) < place(b);
      });
      ExpectSame(std::move(some).Ordered(group_of_process), expected);
    }
  }
}

TEST(AttemptRows, ComeIntoTheSameOrderOnAnyNumberOfThreads) {
  Random random;
  for (const size_t processes : {size_t{1}, size_t{7}, size_t{500}}) {
    const std::vector<AttemptRow> shuffled = Shuffled(300'000, processes, 20'000, &random);
    std::vector<uint32_t> group_of_process;
    for (uint32_t i = 0; i < processes; ++i) group_of_process.push_back(i / 2);
    const AttemptRows one = AttemptRows(shuffled).Ordered(group_of_process);
    std::vector<AttemptRow> expected;
    for (const AttemptRow& row : one) expected.push_back(row);
    for (const size_t threads : {2, 3, 16})
      ExpectSame(AttemptRows(shuffled).Ordered(group_of_process, {threads}), expected);
  }
}

TEST(AttemptRows, OfPartsComeIntoOrderWhateverTheirSizes) {
  Random random;
  for (const size_t first_part : {size_t{0}, size_t{1}, size_t{4}}) {  // in order, and with two parts exchanged
    std::vector<std::vector<AttemptRow>> parts;
    int64_t number = 0;
    for (const size_t size : {100, 1024, 2055, 3000, 1, 255, 3272, 1024, 300}) {
      std::vector<AttemptRow>& part = parts.emplace_back();
      for (size_t i = 0; i < size; ++i) {
        part.push_back(random.Row(30));
        part.back().number = number++;
        part.back().process = 2;
      }
    }
    std::vector<AttemptRow> expected;
    for (const std::vector<AttemptRow>& part : parts) expected.insert(expected.end(), part.begin(), part.end());
    if (first_part > 0) std::swap(parts[first_part], parts[first_part + 1]);
    AttemptRows rows;
    for (const std::vector<AttemptRow>& part : parts) rows.Take(part);
    ExpectSame(std::move(rows).Ordered({0, 0, 0}), expected);
  }
}

TEST(AttemptRows, ComeIntoOrderInsideABlock) {
  Random random;
  std::vector<AttemptRow> expected;
  for (int64_t number = 0; number < 20'000; ++number) {  // more than may be moved
    expected.push_back(random.Row(30));
    expected.back().number = number;
    expected.back().process = 0;
  }
  std::vector<AttemptRow> exchanged = expected;
  std::swap(exchanged[1500], exchanged[1600]);
  ExpectSame(AttemptRows(exchanged).Ordered({0}), expected);
}

TEST(AttemptRows, StayWhereTheyAreBehindAShortBlock) {
  for (const size_t short_part : {size_t{1}, size_t{100}, size_t{101}, size_t{255}}) {
    RowSpill counted("/nowhere", std::numeric_limits<size_t>::max());
    Random random;
    AttemptRows rows, others;
    rows.SpillTo(&counted);
    others.SpillTo(&counted);
    int64_t number = 0;
    const auto add = [&](size_t count, AttemptRows* to) {
      for (size_t i = 0; i < count; ++i) {
        AttemptRow row = random.Row(30);
        row.number = number++;
        row.process = 0;
        to->Add(row);
      }
      to->Seal();
    };
    add(short_part, &rows);
    add(200 * PackedBlock::kMostRows, &others);
    rows.Take(std::move(others));
    const size_t before = counted.in_memory_bytes();
    const AttemptRows copy = rows;  // so that none is freed
    const AttemptRows ordered = std::move(rows).Ordered({0});
    EXPECT_EQ(ordered.size(), copy.size());
    EXPECT_LT(counted.in_memory_bytes() - before, before / 2) << short_part;
  }
}

TEST(AttemptRows, AreCountedByProcess) {
  Random random;
  AttemptRows rows;
  std::vector<size_t> expected(3);
  for (size_t i = 0; i < 5000; ++i) {
    AttemptRow row = random.Row(10);
    row.process = i < 3000 ? 1 : static_cast<uint32_t>(random.Below(3));
    ++expected[row.process];
    rows.Add(row);
  }
  rows.Seal();
  EXPECT_EQ(rows.CountByProcess(), expected);
  expected.resize(5);
  EXPECT_EQ(rows.CountByProcess(5), expected);
}

TEST(AttemptRows, MayBeNone) {
  ExpectSame(AttemptRows().Ordered({}), {});
  ExpectSame(AttemptRows(), {});
}

using Visited = std::vector<std::pair<size_t, int64_t>>;  // index, start

TEST(AttemptRows, AreVisitedByProcessAndThenByStart) {
  Random random;
  for (const uint64_t disorder : {1, 50, 1'000'000}) {  // in order, nearly, not at all
    std::vector<AttemptRow> list(5000);
    for (size_t i = 0; i < list.size(); ++i) {
      list[i].process = static_cast<uint32_t>(i < 3000 ? i / 1500 : random.Below(3));
      list[i].start_ns = static_cast<int64_t>(10 * i + random.Below(disorder));
      list[i].duration_ns = static_cast<int64_t>(random.Below(3));
      list[i].number = static_cast<int64_t>(i);
    }
    const AttemptRows rows(list);
    const std::vector<AttemptRows::Ranges> by_process = rows.RangesByProcess(5);
    ASSERT_EQ(by_process.size(), 5u);
    EXPECT_TRUE(by_process[4].empty());
    for (uint32_t process = 0; process < 3; ++process) {
      Visited expected, visited, visited_by_start;
      for (size_t i = 0; i < list.size(); ++i) {
        if (list[i].process == process) expected.emplace_back(i, list[i].start_ns);
      }
      rows.ForEachOf(by_process[process],
                     [&](size_t i, const AttemptRow& row) { visited.emplace_back(i, row.start_ns); });
      EXPECT_EQ(visited, expected);
      EXPECT_EQ(AttemptRows::Count(by_process[process]), expected.size());
      std::sort(expected.begin(), expected.end(), [&](const auto& a, const auto& b) {
        return std::tuple(a.second, list[a.first].duration_ns, a.first) <
               std::tuple(b.second, list[b.first].duration_ns, b.first);
      });
      rows.ForEachByStart(by_process[process],
                          [&](size_t i, const AttemptRow& row) { visited_by_start.emplace_back(i, row.start_ns); });
      EXPECT_EQ(visited_by_start, expected) << disorder;
    }
  }
}

TEST(AttemptRows, AreVisitedUnlessTheyHaveEnded) {
  constexpr size_t kRows = 100'000;
  std::vector<AttemptRow> list(kRows);
  for (size_t i = 0; i < kRows; ++i) {
    list[i].start_ns = static_cast<int64_t>(1000 * i);
    list[i].duration_ns = i % 20'000 == 7 ? int64_t{1} << 40 : 500;
    list[i].suspended_ns = i == 11 ? int64_t{1} << 50 : 0;
    if (i == 50'000) list[i].status = AttemptState::kRunning, list[i].duration_ns = AttemptRow::kUnknown;
  }
  const AttemptRows rows(list);
  constexpr int64_t kThenNs = 90'000'000;
  std::set<int64_t> visited;
  rows.ForEachOpenAfter(kThenNs, [&](const AttemptRow& row) { visited.insert(row.start_ns); });
  for (const AttemptRow& row : list) {
    if (HasEnded(row) && row.stop_ns() <= kThenNs) continue;
    EXPECT_EQ(visited.count(row.start_ns), 1u) << row.start_ns;
  }
  EXPECT_LT(visited.size(), kRows / 2);
}

TEST(SortNearlySorted, SortsWhateverTheOrderWas) {
  Random random;
  for (const uint64_t disorder : {1, 30, 1'000'000}) {
    std::vector<uint64_t> values;
    for (uint64_t i = 0; i < 3000; ++i) values.push_back(5 * i + random.Below(disorder));
    std::vector<uint64_t> backwards(values.rbegin(), values.rend());
    for (std::vector<uint64_t>* list : {&values, &backwards}) {
      std::vector<uint64_t> sorted = *list;
      std::sort(sorted.begin(), sorted.end());
      SortNearlySorted(*list, std::less<>());
      EXPECT_EQ(*list, sorted) << disorder;
    }
  }
}

}  // namespace
}  // namespace crema

// What blocked time was spent on, and whose CPU time nobody announced, from the chunks' lines.
#include <map>
#include <set>
#include <string>
#include <vector>

#include "collector/idioms/units.h"
#include "collector/metrics/measure_fixture.h"
#include "collector/metrics/record_lines_fixture.h"
#include "collector/metrics/recorded/sampled_tables.h"
#include "gtest/gtest.h"

namespace crema {
namespace {

using MeasureWaitsTest = MeasureTest;

Line Wait(const char* path, const char* kind, const Line& object, int64_t samples) {
  return {{"path", path}, {"kind", kind}, {"object", object}, {"samples", samples}};
}

/// A chunk of ten seconds: four of CPU, six blocked.
Line ChunkWithWaits(const std::vector<Line>& waits, double start = 0) {
  Line chunk = ChunkLine(static_cast<int64_t>(start), start, start + 10);
  chunk["cpu_ns"] = 4 * kSecondNs;
  chunk["cpu_wait_ns"] = 0;
  if (!waits.empty()) chunk["waits"] = waits;
  return chunk;
}

double BudgetPart(const Document& document, const std::string& part) {
  for (const Document& row : document["budget"]) {
    if (row["part"] == part) return row["core_seconds"].get<double>();
  }
  return 0;
}

TEST_F(MeasureWaitsTest, SamplesDivideTheExactBlockedTime) {
  Write("a.jsonl", {ProcessLine(1, 0),
                    ChunkWithWaits({Wait("io", "read", "/data/a", 30), Wait("", "lock or condition", nullptr, 20),
                                    Wait("io", "sync", "/data/b", 10), Wait("", "running", nullptr, 40)}),
                    EndLine(10)});
  const Document waits = Take()["waits"];
  ASSERT_EQ(waits.size(), 3u);
  EXPECT_EQ(waits[0]["kind"], "read");
  EXPECT_EQ(waits[0]["section"], "io");
  EXPECT_EQ(waits[0]["object"], "/data/a");
  EXPECT_DOUBLE_EQ(waits[0]["seconds"].get<double>(), 3);
  EXPECT_DOUBLE_EQ(waits[1]["seconds"].get<double>(), 2);
  EXPECT_DOUBLE_EQ(waits[2]["seconds"].get<double>(), 1);
  EXPECT_DOUBLE_EQ(waits[0]["share"].get<double>(), 0.5);
  EXPECT_LT(waits[0]["low"].get<double>(), 0.4);
  EXPECT_GT(waits[0]["high"].get<double>(), 0.6);
  EXPECT_FALSE(waits[0]["coarse"].get<bool>());
}

/// Sums are kept until the whole log was read: their texts must not lie in lines that are gone by then.
TEST_F(MeasureWaitsTest, OfChunksWithoutLinesKeepTheirNames) {
  const std::string path = "/data/of/one/" + std::string(60, 'a') + ".root";
  Line sums = {
      {"type", "sums"},         {"time_ns", At(10)},       {"reason", "log_size"},   {"dataset", "ttbar"},
      {"file", "a.root"},       {"pass", nullptr},         {"status", "ok"},         {"chunks", 1},
      {"begun", Line::array()}, {"first_start_ns", At(0)}, {"last_stop_ns", At(10)}, {"duration_ns", 10 * kSecondNs}};
  for (const char* field : {"min_duration_ns", "max_duration_ns"}) sums[field] = 10 * kSecondNs;
  for (const char* field :
       {"chunks_with_events", "events", "bytes_read", "bytes_uncompressed", "helper_cpu_ns", "cpu_wait_ns",
        "helper_wait_ns", "helper_scope_ns", "helper_union_ns", "helper_joined_ns"}) {
    sums[field] = 0;
  }
  sums["cpu_ns"] = 4 * kSecondNs;
  sums["lanes_peak"] = 1;
  for (const char* field : {"sections", "memory_sections", "metrics", "cuts", "activities"}) {
    sums[field] = Line::array();
  }
  sums["waits"] = {Wait("io", "read", path.c_str(), 60), Wait("", "sleep", nullptr, 40)};
  std::vector<Line> lines = {ProcessLine(1, 0), sums};
  for (int i = 0; i < 200; ++i) {  // other lines come to lie where this one did
    lines.push_back(ChunkWithWaits({Wait("select", "write", "/data/other", 1)}, 20 + 10 * i));
  }
  lines.push_back(EndLine(3000));
  Write("a.jsonl", lines);
  std::map<std::string, std::string> objects;
  const Document document = Take();
  for (const Document& row : document["waits"]) objects[row["section"]] = row["object"].is_null() ? "" : row["object"];
  EXPECT_EQ(objects["io"], path) << document["waits"];
  EXPECT_EQ(objects["select"], "/data/other");
}

TEST_F(MeasureWaitsTest, RowsOfFewSamplesArePutTogether) {
  std::vector<Line> waits = {Wait("io", "read", "/data/whole", 50), Wait("", "sleep", nullptr, 2)};
  for (int i = 0; i < 12; ++i) waits.push_back(Wait("io", "read", "/data/" + std::to_string(i), 1));
  Write("a.jsonl", {ProcessLine(1, 0), ChunkWithWaits(waits), EndLine(10)});
  const Document rows = Take()["waits"];
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0]["object"], "/data/whole");
  EXPECT_EQ(rows[1]["kind"], "read");
  EXPECT_TRUE(rows[1]["object"].is_null());
  EXPECT_EQ(rows[1]["samples"], 12);
  EXPECT_EQ(rows[2]["kind"], "not known");
}

TEST_F(MeasureWaitsTest, WhatWasHardlySeenIsNotKnown) {
  Write("a.jsonl", {ProcessLine(1, 0), ChunkWithWaits({Wait("io", "read", "/data/a", 3)}), EndLine(10)});
  const Document rows = Take()["waits"];
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0]["kind"], "not known");
  EXPECT_DOUBLE_EQ(rows[0]["seconds"].get<double>(), 6);
  EXPECT_TRUE(rows[0]["low"].is_null());
}

Line WaitIn(const char* kind, const Line& object, const char* stack, int64_t samples) {
  Line wait = Wait("io", kind, object, samples);
  wait["stack"] = stack;
  return wait;
}

TEST_F(MeasureWaitsTest, StacksShowWhatTheKernelDoesNot) {
  Write("a.jsonl",
        {ProcessLine(1, 0),
         ChunkWithWaits(
             {WaitIn("lock or condition", nullptr,
                     "a1+0x10 /lib/libc.so.6\nb2+0x20 /opt/libgomp.so.1\n+0x8\n"
                     "c3+0x30 /home/ana/fit\n",
                     40),
              WaitIn("poll", nullptr, "a1+0x50 /lib/libc.so.6\nd4+0x60 /lib/libcuda.so.1\nc3+0x70 /home/ana/fit\n", 30),
              WaitIn("read", "pipe", "a1+0x50 /lib/libc.so.6\n(generated code)\n", 25),
              WaitIn("read", "pipe", "a1+0x50 /lib/libc.so.6\nc3+0x80 /home/ana/fit\n", 5),
              WaitIn("interpreter lock", nullptr, "c3+0x30 /usr/bin/python3\n", 15),
              WaitIn("lock or condition", "held by section write", "a1+0x10 /lib/libc.so.6\n", 20)}),
         EndLine(10)});
  const Document waits = Take()["waits"];
  std::set<std::vector<std::string>> rows;
  for (const Document& row : waits) {
    const auto text = [&row](const char* key) { return row[key].is_null() ? "" : row[key].get<std::string>(); };
    rows.insert({text("kind"), text("object"), text("function"), row["samples"].dump()});
  }
  const std::set<std::vector<std::string>> expected = {
      {"interpreter lock", "", "", "15"},
      {"condition or queue", "", "fit+0x30", "40"},
      {"device", "libcuda.so.1+0x60", "fit+0x70", "30"},
      {"read", "pipe", "(generated code)", "25"},
      {"read", "", "", "5"},                // of a function that was seen too seldom
      {"lock or condition", "", "", "20"},  // without a function of mutexes, what was there was no holder
  };
  EXPECT_EQ(rows, expected);
}

TEST_F(MeasureWaitsTest, PlainNamesHaveNoTypes) {
  EXPECT_EQ(PlainName("bool TFile::ReadBuffer(char*, int) const"), "TFile::ReadBuffer");
  EXPECT_EQ(PlainName("std::cv_status std::condition_variable::wait_for<long, std::ratio<1l, 1000l> >(int)"),
            "std::condition_variable::wait_for");
  EXPECT_EQ(PlainName("main::{lambda()#1}::operator()() const"), "main::{lambda#1}::operator()");
  EXPECT_EQ(PlainName("(anonymous namespace)::Fit(double)"), "(anonymous namespace)::Fit");
  EXPECT_EQ(PlainName("Fit(int)::{lambda(int)#2}::operator()(int) const"), "Fit::{lambda#2}::operator()");
  EXPECT_EQ(PlainName("pthread_mutex_lock"), "pthread_mutex_lock");
}

TEST_F(MeasureWaitsTest, OwnersThatWaitForHelpersAreNotBlocked) {
  Line chunk = ChunkWithWaits({Wait("", "lock or condition", nullptr, 60), Wait("", "read", "/data/a", 30)});
  chunk["helper_cpu_ns"] = 4 * kSecondNs;
  chunk["helper_wait_ns"] = 0;
  chunk["helper_scope_ns"] = 4 * kSecondNs;
  chunk["helper_union_ns"] = 4 * kSecondNs;
  Write("a.jsonl", {ProcessLine(1, 0), chunk, EndLine(10)});
  const Document rows = Take()["waits"];
  ASSERT_EQ(rows.size(), 2u);  // two seconds are left, both of reading: the waits at locks were for the helper
  EXPECT_EQ(rows[0]["kind"], "read");
  EXPECT_DOUBLE_EQ(rows[0]["seconds"].get<double>(), 2);
  EXPECT_DOUBLE_EQ(rows[1]["seconds"].get<double>(), 0);
}

TEST_F(MeasureWaitsTest, ManyWaitsForCpusMakeThemCoarse) {
  Line chunk = ChunkWithWaits({Wait("", "read", "/data/a", 100)});
  chunk["cpu_wait_ns"] = 3 * kSecondNs;
  Write("a.jsonl", {ProcessLine(1, 0), chunk, EndLine(10)});
  EXPECT_TRUE(Take()["waits"][0]["coarse"].get<bool>());
}

TEST_F(MeasureWaitsTest, ThreadsWithoutGuardsAndChildrenComputeForTheChunk) {
  Line chunk = ChunkWithWaits({});
  chunk["unannounced_cpu_ns"] = 4 * kSecondNs;
  chunk["children_cpu_ns"] = 1 * kSecondNs;
  Write("a.jsonl", {ProcessLine(1, 0), chunk, EndLine(10)});
  const Document document = Take();
  EXPECT_DOUBLE_EQ(Metric(document, "chunk_cpu_time"), 9);
  EXPECT_DOUBLE_EQ(Metric(document, "unannounced_cpu_time"), 4);
  EXPECT_DOUBLE_EQ(Metric(document, "children_cpu_time"), 1);
  EXPECT_DOUBLE_EQ(Metric(document, "helper_cpu_time"), 0);
  EXPECT_DOUBLE_EQ(Metric(document, "chunk_joined"), 5);
  EXPECT_DOUBLE_EQ(Metric(document, "chunk_blocked"), 1);
  EXPECT_DOUBLE_EQ(Metric(document, "lane_time"), 10);
  EXPECT_DOUBLE_EQ(BudgetPart(document, "compute"), 9);
}

TEST_F(MeasureWaitsTest, ThreadsAndChildrenThatNobodyLooksAtMakeNoRangeWider) {
  Line chunk = ChunkWithWaits({Wait("", "running", nullptr, 40), Wait("", "read", "pipe", 60)});
  chunk["unannounced_cpu_ns"] = 1 * kSecondNs;
  chunk["children_cpu_ns"] = 2 * kSecondNs;
  Write("a.jsonl", {ProcessLine(1, 0), chunk, EndLine(10)});
  const Document row = Take()["waits"][0];
  EXPECT_DOUBLE_EQ(row["seconds"].get<double>(), 3);
  EXPECT_GT(row["low"].get<double>(), 0.9);  // 60 samples, all of this wait
}

TEST_F(MeasureWaitsTest, ThreadsWithoutGuardsHaveAsManyCoresAsTheyUsed) {
  const auto cores = [this](int64_t owner_ns, int64_t others_ns) {
    Line chunk = ChunkWithWaits({});
    chunk["cpu_ns"] = owner_ns;
    chunk["unannounced_cpu_ns"] = others_ns;
    Line process = ProcessLine(1, 0);
    process["threads"] = nullptr;  // nobody declared them
    Write("a.jsonl", {process, chunk, EndLine(10)});
    const Document document = Take();
    EXPECT_LT(Metric(document, "oversubscribed_core_seconds"), 1) << others_ns;
    return Metric(document, "peak_cores");
  };
  EXPECT_EQ(cores(kSecondNs / 10, 20 * kSecondNs), 2) << "two threads, for which the owner waits";
  EXPECT_EQ(cores(kSecondNs / 10, 30 * kSecondNs), 3);
  EXPECT_EQ(cores(10 * kSecondNs, 20 * kSecondNs), 3) << "the owner computes beside them";
  EXPECT_EQ(cores(5 * kSecondNs, 5 * kSecondNs), 1) << "in turns";
  EXPECT_EQ(cores(8 * kSecondNs, 5 * kSecondNs / 2), 1) << "mostly in turns";
}

TEST_F(MeasureWaitsTest, WhyTheyAreNotKnownIsSaidUnlessTheyWereSwitchedOff) {
  const auto warnings = [this](const Line& sampled, const Line& at_end) {
    Line end = EndLine(10);
    end["waits_reason"] = at_end;
    Write("a.jsonl", {ProcessLine(1, 0),
                      ChunkWithWaits({}),
                      {{"type", "sample"}, {"time_ns", At(5)}, {"waits_reason", sampled}},
                      end});
    std::string text;
    const Document document = Take();
    const bool is_refused = sampled == "the kernel refuses";
    EXPECT_EQ(document["quality"]["processes_without_waits"], is_refused ? Document(1) : Document(nullptr));
    for (const Document& warning : document["quality"]["warnings"]) text += warning.get<std::string>() + "\n";
    return text;
  };
  const std::string known = warnings(nullptr, nullptr);
  EXPECT_EQ(known.find("waited for"), std::string::npos) << known;
  EXPECT_EQ(warnings("switched off", "switched off"), known);
  const std::string expected = known + "it is not known what threads waited for: the kernel refuses (processes: 1)\n";
  EXPECT_EQ(warnings("the kernel refuses", "the kernel refuses"), expected);
  EXPECT_EQ(warnings("the kernel refuses", nullptr), expected) << "a process that was killed has no last line";
}

TEST_F(MeasureWaitsTest, WhatClocksDifferByIsNoThread) {
  Line chunk = ChunkWithWaits({});
  chunk["unannounced_cpu_ns"] = 1000;
  chunk["children_cpu_ns"] = 0;
  Write("a.jsonl", {ProcessLine(1, 0), chunk, EndLine(10)});
  EXPECT_DOUBLE_EQ(Metric(Take(), "unannounced_cpu_time"), 0);
}

}  // namespace
}  // namespace crema

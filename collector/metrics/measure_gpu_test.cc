// What GPUs did, from lines `gpu`.
#include <string>
#include <vector>

#include "collector/metrics/measure_fixture.h"
#include "collector/metrics/record_lines_fixture.h"
#include "gtest/gtest.h"

namespace crema {
namespace {

using MeasureGpuTest = MeasureTest;

constexpr int64_t kMillisecond = 1'000'000;

/// A kernel of so many milliseconds, for which the thread waited as long, of which it spun for so many.
Line Work(const Line& chunk, const char* section, int64_t milliseconds, int64_t spun) {
  return {{"chunk", chunk},
          {"dataset", chunk.is_null() ? Line() : Line("zjets")},
          {"section", section},
          {"launches", 1},
          {"kernel_ns", milliseconds * kMillisecond},
          {"copies", 2},
          {"copy_ns", kMillisecond},
          {"to_device_bytes", 1000},
          {"from_device_bytes", 10},
          {"on_device_bytes", 1},
          {"wait_ns", milliseconds * kMillisecond},
          {"wait_cpu_ns", spun * kMillisecond}};
}

Line Gpu(double seconds, bool last, const std::vector<Line>& work, const Line& reason = nullptr) {
  return {{"type", "gpu"},
          {"time_ns", At(seconds)},
          {"reason", reason},
          {"until_ns", nullptr},
          {"cupti_version", 130001},
          {"busy_ns", 100 * kMillisecond},
          {"lost", 0},
          {"work", work},
          {"kernels", Line::array()},
          {"last", last}};
}

Line ChunkWithGpu(int64_t number, double start, double stop, double cpu) {
  Line chunk = ChunkLine(number, start, stop);
  chunk["dataset"] = "zjets";
  chunk["cpu_ns"] = static_cast<int64_t>(cpu * 1e9);
  chunk["cpu_wait_ns"] = 0;
  chunk["sections"] = {SectionRowLine("infer", 600'000'000, 600'000'000)};
  return chunk;
}

double PartOf(const Document& document, const std::string& part) {
  for (const Document& row : document["budget"]) {
    if (row["part"] == part) return row["core_seconds"].get<double>();
  }
  return -1;
}

TEST_F(MeasureGpuTest, RowsAddUpOverLinesAndProcesses) {
  for (const int64_t pid : {1, 2}) {
    Write(std::to_string(pid) + ".jsonl",
          {ProcessLine(pid, 0), Gpu(0.5, false, {Work(0, "infer", 100, 0), Work(nullptr, "", 3, 0)}),
           ChunkWithGpu(0, 0, 1, 0.4), Gpu(2, true, {Work(0, "infer", 200, 0)}), EndLine(10)});
  }
  const Document document = Take();
  EXPECT_DOUBLE_EQ(document["metrics"]["gpu_seconds"].get<double>(), 0.606);
  EXPECT_EQ(document["metrics"]["gpu_launches"], 6);
  EXPECT_DOUBLE_EQ(document["metrics"]["gpu_busy_seconds"].get<double>(), 0.2);
  EXPECT_DOUBLE_EQ(document["sections"][0]["gpu_seconds"].get<double>(), 0.6);
  EXPECT_EQ(document["datasets"][0]["gpu_to_device_bytes"], 4000);
}

TEST_F(MeasureGpuTest, WaitingComesOutOfComputingAsFarAsTheThreadSpun) {
  Write("a.jsonl",
        {ProcessLine(1, 0), ChunkWithGpu(0, 0, 1, 0.4), Gpu(2, true, {Work(0, "infer", 500, 300)}), EndLine(10)});
  const Document document = Take();
  EXPECT_NEAR(PartOf(document, "compute"), 0.1, 1e-9);  // 0.4 s of CPU, 0.3 s of which it spun
  EXPECT_NEAR(PartOf(document, "blocked"), 0.4, 1e-9);  // 0.6 s off the CPU, 0.2 s of which for the GPU
  EXPECT_NEAR(PartOf(document, "gpu_wait"), 0.5, 1e-9);
}

TEST_F(MeasureGpuTest, AFailedAttemptWaitsInItsOwnPart) {
  Line failed = ChunkWithGpu(0, 0, 1, 0.4);
  failed["status"] = "failed";
  Write("a.jsonl", {ProcessLine(1, 0), failed, Gpu(2, true, {Work(0, "infer", 500, 300)}), EndLine(10)});
  const Document document = Take();
  EXPECT_NEAR(PartOf(document, "gpu_wait"), 0, 1e-9);
  EXPECT_NEAR(PartOf(document, "failed"), 1, 1e-9);
}

TEST_F(MeasureGpuTest, WhatWasNotAllCountedIsNullWithTheReason) {
  Write("a.jsonl", {ProcessLine(1, 0), ChunkWithGpu(0, 0, 1, 0.4),
                    Gpu(2, true, {Work(0, "infer", 500, 300)}, "a profiler"), EndLine(10)});
  Document document = Take();
  EXPECT_TRUE(document["metrics"]["gpu_seconds"].is_null());
  EXPECT_EQ(document["quality"]["not_measured"]["gpu_seconds"], "a profiler");
  EXPECT_TRUE(document["sections"][0]["gpu_seconds"].is_null());
  EXPECT_EQ(PartOf(document, "gpu_wait"), -1);
}

TEST_F(MeasureGpuTest, AKilledProcessHasNoTotal) {
  Write("a.jsonl", {ProcessLine(1, 0), ChunkWithGpu(0, 0, 1, 0.4), Gpu(2, false, {Work(0, "infer", 500, 300)})});
  EXPECT_TRUE(Take()["metrics"]["gpu_seconds"].is_null());
}

}  // namespace
}  // namespace crema

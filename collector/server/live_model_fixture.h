// A live run whose time is told, and lines for it: for the tests of what judges and shows it.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "collector/idioms/units.h"
#include "collector/server/live_model.h"

namespace crema {

inline constexpr int64_t kStart = 1'790'000'000 * kSecondNs;

inline int64_t At(double seconds) { return kStart + static_cast<int64_t>(seconds * 1e9); }

/// A model whose time is told, and lines for it.
class LiveModelTest : public ::testing::Test {
 protected:
  explicit LiveModelTest(LiveOptions options = {}) : model_(std::move(options)) { model_.Tick(At(0), 0); }

  LiveModel::WorkerId Worker(int64_t pid, int64_t cores = 1) {
    ProcessFact fact;
    fact.run_id = "run";
    fact.host = "node";
    fact.pid = pid;
    fact.start_ns = At(0);
    if (cores > 0) fact.threads = cores;
    fact.memory_limit_bytes = 1'000'000'000;
    return Worker(fact);
  }
  LiveModel::WorkerId Worker(const ProcessFact& fact) {
    LiveLog* const log = model_.AddProcess(fact);
    EXPECT_NE(log, nullptr);
    logs_[log->worker] = log;
    model_.SetLife(log->worker, true);
    return log->worker;
  }
  void Add(LiveModel::WorkerId worker, const Record& record) { model_.Add(*logs_.at(worker), record); }
  void Begin(LiveModel::WorkerId worker, int64_t number, double start) {
    Begin(worker, number, start, InputOf(number));
  }
  void Begin(LiveModel::WorkerId worker, int64_t number, double start, const ChunkInput& input) {
    Record record;
    record.type = RecordType::kBegin;
    record.begin.number = number;
    record.begin.tid = number + 1;
    record.begin.time_ns = At(start);
    record.begin.input = input;
    Add(worker, record);
  }
  Record ChunkRecord(int64_t number, double start, double stop) {
    Record record;
    record.type = RecordType::kChunk;
    record.chunk.number = number;
    record.chunk.start_ns = At(start);
    record.chunk.stop_ns = At(stop);
    record.chunk.events = 100;
    record.chunk.bytes_read = 1000;
    record.chunk.cpu_ns = static_cast<int64_t>((stop - start) * 0.75e9);
    record.chunk.cpu_wait_ns = 0;
    record.chunk.input = InputOf(number);
    return record;
  }
  void AddSums(LiveModel::WorkerId worker, const SumsFact& sums) {
    Record record;
    record.type = RecordType::kSums;
    record.sums = sums;
    Add(worker, record);
  }
  static ChunkInput InputOf(int64_t number) {
    ChunkInput input;
    input.dataset = "ttbar";
    input.file = "root://far//ttbar.root";
    input.entry_start = number * 100;
    input.entry_stop = number * 100 + 100;
    return input;
  }
  /// A second after the other, to `until`.
  void PassTo(int until) {
    while (now_ < until) model_.Tick(At(++now_), kSecondNs);
  }
  /// Resident memory at that second, which passes.
  void Sample(LiveModel::WorkerId worker, int second, int64_t rss_bytes) {
    Record sample;
    sample.type = RecordType::kSample;
    sample.sample.time_ns = At(second);
    sample.sample.rss_bytes = rss_bytes;
    Add(worker, sample);
    PassTo(second);
  }

  std::vector<std::string> Texts() const {
    std::vector<std::string> texts;
    for (const LiveEvent& event : model_.events().all()) texts.push_back(event.text);
    return texts;
  }

  LiveModel model_;
  std::map<LiveModel::WorkerId, LiveLog*> logs_;
  int now_ = 0;
};

}  // namespace crema

// The C API as a C program uses it: recorded_in_c.c is compiled as C11 and bound to libcrema.so.1; here its logs are
// read.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "sdk/c_api/recorded_in_c_fixture.h"
#include "sdk/tests/record_log_reader.h"
#include "sdk/tests/recorded.h"

namespace crema {
namespace testing {
namespace {

TEST(CApi, AChunkCarriesEverythingThatWasTold) {
  const RecordLog log = Recorded(record_full_chunk);
  ASSERT_EQ(log.chunks.size(), 1u);
  const ChunkLine& chunk = log.chunks[0];
  EXPECT_EQ(chunk.status, "ok");
  EXPECT_EQ(chunk.dataset, "ttbar");
  EXPECT_EQ(chunk.file, "/data/events.root");
  EXPECT_EQ(chunk.tree, "Events");
  EXPECT_EQ(chunk.pass, "second pass");
  EXPECT_EQ(chunk.entry_start, 1000);
  EXPECT_EQ(chunk.entry_stop, 2000);
  EXPECT_EQ(chunk.events, 1000);
  EXPECT_EQ(chunk.bytes_read, 111);
  EXPECT_EQ(chunk.bytes_uncompressed, 322);
  EXPECT_EQ(chunk.columns, (std::vector<std::string>{"Muon_pt", "Muon_eta"}));
  EXPECT_EQ(chunk.attributes, (std::map<std::string, std::string>{{"generator", "madgraph"}, {"site", "here"}}));
  ASSERT_EQ(chunk.cuts.size(), 3u);
  EXPECT_EQ(chunk.cuts[2].path, "two leptons/MET");
  EXPECT_EQ(chunk.cuts[2].seen, 240);
  EXPECT_EQ(chunk.cuts[2].weights, 99.5);
  EXPECT_EQ(chunk.cuts[0].events, 1000);
  EXPECT_EQ(chunk.cuts[0].weights, std::nullopt);
  EXPECT_EQ(chunk.cuts[1].weights, 249.5);
  EXPECT_EQ(Metric(chunk, "jets", "count").sum, 10);
  EXPECT_EQ(Metric(chunk, "no unit").sum, 0.5);
  EXPECT_EQ(Activity(chunk, "basket cache", "count").value, 12);
  EXPECT_GT(Activity(chunk, "decompress").value, 0);
  EXPECT_EQ(Memory(chunk, "fill/histograms").count, 1);
  ASSERT_EQ(log.files.size(), 1u);
  EXPECT_EQ(log.files[0].branches, 312);
  EXPECT_EQ(log.files[0].bytes, 91234567);
  EXPECT_EQ(log.files[0].compressed_bytes, std::nullopt);
  EXPECT_EQ(log.end->dropped, 0);
}

TEST(CApi, SectionsNestAndOneMeasuresCpuTime) {
  const ChunkLine chunk = RecordedChunk(record_full_chunk);
  EXPECT_EQ(Paths(chunk.sections), (std::vector<std::string>{"select", "select/jets", "fill"}));
  EXPECT_EQ(Section(chunk.sections, "select").count, 3);
  EXPECT_EQ(Section(chunk.sections, "select/jets").count, 3);
  EXPECT_EQ(Section(chunk.sections, "select").self_ns,
            Section(chunk.sections, "select").total_ns - Section(chunk.sections, "select/jets").total_ns);
  EXPECT_EQ(Section(chunk.sections, "select").cpu_ns, std::nullopt);
  EXPECT_TRUE(Section(chunk.sections, "fill").cpu_ns.has_value());
}

TEST(CApi, ALineOfStacksIsOneLineAndCostsWhatItIsSaidTo) {
  const RecordLog log = Recorded([] {
    if (record_stacks() != 1) std::abort();
  });
  std::vector<std::string> stacks;
  for (const std::string& line : log.lines) {
    if (line.find("\"stacks\"") != std::string::npos) stacks.push_back(line);
  }
  ASSERT_EQ(stacks.size(), 1u);
  EXPECT_EQ(stacks[0].rfind("{\"type\":\"stacks\",\"time_ns\":", 0), 0u) << stacks[0];
  EXPECT_NE(stacks[0].find(",\"section\":\"select\",\"stacks\":[[3,3,0]]}"), std::string::npos) << stacks[0];
  ASSERT_TRUE(log.end.has_value());
  EXPECT_EQ(log.end->dropped, 1);
  EXPECT_GE(log.end->overhead_ns, 70005);
}

TEST(CApi, CostsAreAddedUpToTheCpuTimeOfTheProcess) {
  const auto log_with = [](std::int64_t cost_ns) {
    return Recorded([cost_ns] {
      record_cost(0);
      record_failure("opens the log");
      record_cost(-1);
      record_cost(cost_ns);
      crema_flush();
    });
  };
  EXPECT_GE(log_with(70000).end->overhead_ns, 70000);
  const RecordLog log = log_with(std::int64_t{1} << 60);
  EXPECT_EQ(log.samples.at(0).overhead_ns, log.samples.at(0).cpu_ns);
  EXPECT_EQ(log.end->overhead_ns, log.end->cpu_ns);
}

TEST(CApi, AFailureHasItsReason) {
  const RecordLog log = Recorded([] { record_failure("no such branch"); });
  EXPECT_EQ(ChunkOf(log, "good").status, "ok");
  EXPECT_EQ(ChunkOf(log, "bad").status, "failed");
  EXPECT_EQ(ChunkOf(log, "bad").error, "no such branch");
  EXPECT_EQ(ChunkOf(log, "bad").file, std::nullopt);
  EXPECT_EQ(ChunkOf(log, "bad").entry_start, std::nullopt);
  EXPECT_EQ(log.end->failed, 1);
}

TEST(CApi, AChunkThatIsSuspendedGoesOnElsewhereWithItsSections) {
  const RecordLog log = Recorded(record_suspended);
  ASSERT_EQ(log.chunks.size(), 2u);
  EXPECT_EQ(ChunkOf(log, "between").status, "ok");
  const ChunkLine chunk = ChunkOf(log, "moves");
  EXPECT_EQ(chunk.status, "ok");
  EXPECT_EQ(Paths(chunk.sections), (std::vector<std::string>{"select", "select/jets", "select/jets/elsewhere"}));
  for (const char* const path : {"select", "select/jets", "select/jets/elsewhere"}) {
    EXPECT_EQ(Section(chunk.sections, path).count, 1) << path;
  }
  EXPECT_EQ(Metric(chunk, "known again").count, 1);
  EXPECT_GT(chunk.suspended_ns.value_or(0), 0);
  EXPECT_EQ(log.end->misused, 0);
  EXPECT_EQ(log.end->open, 0);
}

TEST(CApi, AnEventGoesFromThreadToThread) {
  const RecordLog log = Recorded(record_event);
  const ChunkLine event = ChunkOf(log, "raw");
  EXPECT_EQ(event.events, 3);
  EXPECT_EQ(event.error, "no tracks");
  ASSERT_EQ(event.requests.size(), 1u);
  EXPECT_EQ(event.requests[0].bytes, 1000);
  const std::string sums = FirstLineOfType(log, "task_sums");
  EXPECT_NE(sums.find("{\"name\":\"source\",\"count\":1"), std::string::npos) << sums;
  EXPECT_NE(sums.find("{\"name\":\"tracks\",\"count\":1"), std::string::npos) << sums;
  EXPECT_NE(sums.find("\"queued\":1"), std::string::npos) << sums;
  EXPECT_EQ(log.end->dropped, 0);
}

TEST(CApi, AHelperWorksForTheChunkWhoseHandleItHas) {
  const ChunkLine chunk = RecordedChunk(record_helper);
  EXPECT_EQ(Section(chunk.sections, "cluster/anti-kt", true).count, 1);
  EXPECT_GT(*chunk.helper_scope_ns, 0);
  EXPECT_EQ(chunk.lanes_peak, 2);
  EXPECT_EQ(Metric(chunk, "jets", "count").sum, 5);
}

TEST(CApi, ASectionMayBeANumber) {
  const RecordLog log = Recorded(record_numbered_sections);
  const ChunkLine& chunk = log.chunks.at(0);
  EXPECT_EQ(Paths(chunk.sections), (std::vector<std::string>{"select", "select/jets", "fill", "foreign"}));
  EXPECT_EQ(Section(chunk.sections, "select").count, 1);
  EXPECT_EQ(Section(chunk.sections, "select/jets").count, 3);
  EXPECT_EQ(Section(chunk.sections, "select/jets").failed, 1);
  EXPECT_EQ(Section(chunk.sections, "select").cpu_ns, std::nullopt);
  EXPECT_TRUE(Section(chunk.sections, "fill").cpu_ns.has_value());
  EXPECT_EQ(Section(chunk.sections, "foreign").count, 1);
}

TEST(CApi, ANumberThatIsNotOpenClosesNothingAndIsCounted) {
  const std::string directory = NewDirectory();
  const ChildResult child = RunInChild({{"CREMA_DIR", directory}, {"CREMA_INTERVAL", "0"}}, close_a_section_twice);
  EXPECT_EQ(child.exit_status, 0) << "signal " << child.signal;
  EXPECT_NE(child.errors.find("it is not recorded"), std::string::npos) << child.errors;
  const RecordLog log = ReadRecordLogs(directory).at(0);
  EXPECT_EQ(Section(log.chunks.at(0).sections, "select").count, 1);
  EXPECT_EQ(log.end->dropped, 1);
}

/// Fault [guards]: C or Python ends a chunk or a scope twice, ends it on two threads at once, or uses it after its end
/// Program: one warning
/// Recorded: everything; each end that came too late is counted
TEST(CApi, WhatIsEndedTwiceEndsOnceAndHarmsNobody) {
  const std::string directory = NewDirectory();
  const ChildResult child = RunInChild({{"CREMA_DIR", directory}, {"CREMA_INTERVAL", "0"}}, end_everything_twice);
  EXPECT_EQ(child.exit_status, 0) << "signal " << child.signal;
  EXPECT_NE(child.errors.find("ended"), std::string::npos) << child.errors;
  const RecordLog log = ReadRecordLogs(directory).at(0);
  const ChunkLine first = ChunkOf(log, "first");
  const ChunkLine second = ChunkOf(log, "second");
  EXPECT_EQ(first.status, "ok");
  EXPECT_EQ(first.events, std::nullopt);
  EXPECT_EQ(second.status, "ok");
  EXPECT_EQ(second.events, 2);
  EXPECT_EQ(Section(second.sections, "cpu").count, 1);
  EXPECT_EQ(Memory(second, "cpu/memory").count, 1);
  EXPECT_EQ(log.spans.size(), 2u);
  EXPECT_EQ(log.chunks.size(), 202u);
}

/// Fault [guards]: two threads end each request of an event at once, through the C API
/// Program: one warning
/// Recorded: each request once; each end that came too late is counted
TEST(CApi, ARequestThatTwoThreadsEndEndsOnce) {
  constexpr int kRequests = 20000;
  const std::string directory = NewDirectory();
  const ChildResult child = RunInChild({{"CREMA_DIR", directory}, {"CREMA_INTERVAL", "0"}}, [] {
    crema_chunk_info info{};
    info.size = sizeof info;
    info.dataset = "raw";
    crema_event* const event = crema_event_begin(&info, 0);
    const crema_event_handle handle = crema_event_get_handle(event);
    std::atomic<crema_request*> request{nullptr};
    std::atomic<int> ended{0};
    const auto end_all = [&](bool begins) {
      for (int i = 0; i < kRequests; ++i) {
        if (begins) request = crema_request_begin(handle, "root://one", "read");
        ++ended;
        while (ended < 4 * i + 2) std::this_thread::yield();
        crema_request_end(request, 1, 0);
        ++ended;
        while (ended < 4 * i + 4) std::this_thread::yield();
      }
    };
    std::thread other(end_all, false);
    end_all(true);
    other.join();
    crema_event_end(event);
  });
  EXPECT_EQ(child.exit_status, 0) << "signal " << child.signal;
  EXPECT_NE(child.errors.find("ended again"), std::string::npos) << child.errors;
  const RecordLog log = ReadRecordLogs(directory).at(0);
  const ChunkLine event = ChunkOf(log, "raw");
  ASSERT_EQ(event.requests.size(), 1u);
  EXPECT_EQ(event.requests[0].count, kRequests);
  EXPECT_EQ(event.requests[0].bytes, kRequests);
  EXPECT_EQ(log.end->misused, kRequests);
}

TEST(CApi, GuardsByTheThousandAreToldApart) {
  const RecordLog log = Recorded(begin_thousands);
  ASSERT_EQ(log.chunks.size(), 3000u);
  EXPECT_EQ(log.end->dropped, 0);
}

TEST(CApi, WhatWasBegunLastCanBeTakenBack) {
  const RecordLog log = Recorded(take_back_what_was_begun);
  const ChunkLine taken_back = ChunkOf(log, "taken back");
  EXPECT_EQ(taken_back.status, "failed");
  EXPECT_EQ(taken_back.error, "interrupted as it began");
  const ChunkLine chunk = ChunkOf(log, "ttbar");
  EXPECT_EQ(chunk.status, "ok");
  EXPECT_EQ(Paths(chunk.sections), (std::vector<std::string>{"outer", "outer/inner", "outer/after"}));
  EXPECT_EQ(Section(chunk.sections, "outer/inner").failed, 1);
  EXPECT_EQ(Section(chunk.sections, "outer").failed, 0);
  EXPECT_EQ(log.end->dropped, 0);
}

TEST(CApi, TellsWhatIsOpen) {
  const std::string directory = NewDirectory();
  const ChildResult child = RunInChild({{"CREMA_DIR", directory}, {"CREMA_INTERVAL", "0"}}, [] {
    if (knows_what_is_open() == 0) std::abort();
  });
  EXPECT_EQ(child.exit_status, 0) << "signal " << child.signal;
  EXPECT_EQ(child.errors, "");
}

TEST(CApi, ManyColumnsInOneCall) {
  EXPECT_EQ(RecordedChunk(record_many_columns).columns, (std::vector<std::string>{"Muon_pt", "", "Muon_eta"}));
}

TEST(CApi, AProcessThatLeavesByUnderscoreExitCanEndItsLog) {
  const RecordLog log = Recorded(record_and_end);
  EXPECT_EQ(log.chunks.size(), 1u);
  ASSERT_TRUE(log.end.has_value());
  EXPECT_EQ(log.end->chunks, 1);
}

TEST(CApi, SpansAndSectionsOutsideChunksAreTheProcesss) {
  const RecordLog log = Recorded(record_span);
  ASSERT_EQ(log.spans.size(), 1u);
  EXPECT_EQ(log.spans[0].path, "preprocess");
  EXPECT_EQ(Section(log.end->sections, "set up").count, 1);
  EXPECT_EQ(log.samples.size(), 1u);  // crema_flush
}

TEST(CApi, HandsOutTheSectionsOfAFinishedChunkOnce) {
  const RecordLog log = Recorded(record_visited_sections);
  const ChunkLine chunk = ChunkOf(log, "ttbar");
  std::map<std::pair<std::string, std::string>, double> reported;
  for (const auto& metric : ChunkOf(log, "around").metrics)
    reported[{metric.unit, metric.name}] = metric.sum.value_or(-1);
  std::map<std::pair<std::string, std::string>, double> recorded;
  std::int64_t inside_ns = 0;
  for (const auto& section : chunk.sections) {
    recorded[{section.helper ? "helper" : "owner", section.path}] = static_cast<double>(section.self_ns);
    if (!section.helper) inside_ns += section.self_ns;
  }
  EXPECT_EQ(recorded.size(), 3u);
  recorded[{"owner", "(chunk)"}] = static_cast<double>(chunk.stop_ns - chunk.start_ns - inside_ns);
  EXPECT_EQ(reported, recorded);
}

TEST(CApi, HandsOutSectionsAsTextsToo) {
  const RecordLog log = Recorded(record_visited_texts);
  const ChunkLine chunk = ChunkOf(log, "ttbar");
  const SectionRow section = Section(chunk.sections, "jets%2Fb jets");
  std::vector<std::string> reported;
  for (const auto& metric : ChunkOf(log, "around").metrics) reported.push_back(metric.unit + ": " + metric.name);
  const std::int64_t rest_ns = chunk.stop_ns - chunk.start_ns - section.self_ns;
  EXPECT_EQ(reported, (std::vector<std::string>{"first: " + std::to_string(rest_ns) + " 0 ",
                                                "first: " + std::to_string(section.self_ns) + " 0 jets%2Fb jets"}));
}

TEST(CApi, HandsOutNoSectionsOfAnotherThreadsChunk) {
  const ChildResult child = RunInChild({{"CREMA_DIR", NewDirectory()}, {"CREMA_INTERVAL", "0"}}, [] {
    crema_chunk_info info{};
    info.size = sizeof info;
    crema_chunk* const suspended = crema_chunk_begin(&info);
    crema_chunk_suspend(suspended);
    crema_chunk_end(crema_chunk_begin(&info));
    crema_chunk_resume(suspended);
    std::atomic<bool> is_begun{false}, is_visited{false};
    std::thread other([&] {  // in the place where the chunk that ended was
      crema_chunk* const chunk = crema_chunk_begin(&info);
      crema_section_close(crema_section_open("of the other thread"));
      is_begun = true;
      while (!is_visited) std::this_thread::yield();
      crema_chunk_end(chunk);
    });
    while (!is_begun) std::this_thread::yield();
    const std::size_t visited = crema_visit_sections([](void*, const crema_section_total*) {}, nullptr);
    is_visited = true;
    other.join();
    crema_chunk_end(suspended);
    if (visited != 0) std::abort();
  });
  EXPECT_EQ(child.exit_status, 0) << "signal " << child.signal << child.errors;
}

TEST(CApi, TakesNullsEverywhere) {
  const RecordLog log = Recorded(use_everything_with_nulls);
  ASSERT_EQ(log.chunks.size(), 2u);
  EXPECT_EQ(log.chunks[0].status, "ok");
  EXPECT_EQ(log.chunks[0].dataset, std::nullopt);
  EXPECT_EQ(log.chunks[1].status, "failed");
  EXPECT_EQ(log.spans.size(), 1u);
}

TEST(CApi, OffItReturnsNullsAndWritesNothing) {
  const ChildResult child = RunInChild({}, [] {
    if (!is_off_and_returns_nulls()) std::abort();
    use_everything_with_nulls();
    record_full_chunk();
  });
  EXPECT_EQ(child.exit_status, 0) << "signal " << child.signal;
  EXPECT_EQ(child.errors, "");
}

TEST(CApi, EnableSaysWhatTheEnvironmentVariablesSay) {
  const std::string directory = NewDirectory();
  const ChildResult child = RunInChild({}, [&] {
    if (enable_into(directory.c_str()) == 0) std::abort();
    record_full_chunk();
    crema_disable();
    if (!is_off_and_returns_nulls()) std::abort();
  });
  EXPECT_EQ(child.exit_status, 0) << "signal " << child.signal;
  const RecordLog log = ReadRecordLogs(directory).at(0);
  EXPECT_EQ(log.process->run_id, "run 7");
  EXPECT_EQ(log.process->threads, 3);
  EXPECT_EQ(log.process->total_events, 5000);
  EXPECT_EQ(log.process->arguments, std::nullopt);
  EXPECT_EQ(log.chunks.size(), 1u);
}

TEST(CApi, KnowsTheOptionsOfOlderProgramsByTheirSize) {
  const std::string directory = NewDirectory();
  const ChildResult child = RunInChild({{"CREMA_INTERVAL", "0"}}, [&] {
    if (enable_with_older_options(directory.c_str()) == 0) std::abort();
    record_full_chunk();
  });
  EXPECT_EQ(child.exit_status, 0) << "signal " << child.signal;
  const RecordLog log = ReadRecordLogs(directory).at(0);
  EXPECT_EQ(log.process->run_id, std::nullopt);
  EXPECT_EQ(log.process->threads, std::nullopt);
  EXPECT_TRUE(log.process->arguments.has_value());
}

TEST(CApi, EnableOfADirectoryThatCannotBeMadeSaysNo) {
  const ChildResult child = RunInChild({}, [] {
    if (enable_into("/dev/null/records") != 0 || !is_off_and_returns_nulls()) std::abort();
  });
  EXPECT_EQ(child.exit_status, 0) << "signal " << child.signal;
  EXPECT_EQ(child.errors.substr(0, 34), "crema: cannot write record logs to");
}

}  // namespace
}  // namespace testing
}  // namespace crema

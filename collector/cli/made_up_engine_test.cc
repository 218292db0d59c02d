// A whole engine in one file: what collector/engines/engines.h asks of it is enough for every page.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "collector/cli/measured_source.h"
#include "collector/engines/engines.h"
#include "collector/exports/export_format.h"
#include "collector/metrics/record_lines_fixture.h"
#include "collector/report/report_page.h"
#include "collector/server/live_figures.h"
#include "collector/server/live_sources.h"

namespace crema {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

// A line of its log: a second, what happened, the worker, and of a task its kind and when it began.
struct Happening {
  int64_t time_ns = 0, start_ns = 0;
  std::string what, worker, kind;
};

std::optional<Happening> ParseHappening(const std::string& line) {
  std::istringstream words(line);
  double second = 0, start = 0;
  Happening happening;
  if (!(words >> second >> happening.what >> happening.worker)) return std::nullopt;
  words >> happening.kind >> start;
  happening.time_ns = At(second);
  happening.start_ns = At(start);
  return happening;
}

bool IsTask(const Happening& happening) { return happening.what == "DONE" || happening.what == "FAILED"; }

absl::StatusOr<EngineReading> ReadLog(const std::string& path) {
  EngineReading reading;
  ClusterFact& cluster = reading.clusters.emplace_back();
  cluster.version = "3";
  ClusterSessionFact& session = cluster.sessions.emplace_back();
  std::ifstream file(path);
  for (std::string line; std::getline(file, line); ++reading.lines) {
    const std::optional<Happening> happening = ParseHappening(line);
    if (!happening.has_value()) {
      ++reading.malformed;
      continue;
    }
    cluster.last_ns = happening->time_ns;
    if (happening->what == "BEGIN") session.begin_ns = happening->time_ns;
    if (happening->what == "END") session.end_ns = session.flushed_ns = happening->time_ns;
    if (happening->what == "JOIN") {
      ClusterWorkerFact& worker = cluster.workers.emplace_back();
      worker.address = happening->worker;
      worker.hostname = "node";
      worker.pid = worker.address.back() - '0';
      worker.process_start_ns = worker.joined_ns = happening->time_ns;
      worker.threads = 1;
    }
    for (ClusterWorkerFact& worker : cluster.workers) {
      if (happening->what == "LOST" && worker.address == happening->worker) {
        worker.left_ns = happening->time_ns;
        worker.is_lost = true;
      }
    }
    if (IsTask(*happening)) {
      ClusterTaskFact& task = cluster.tasks.emplace_back();
      task.worker = happening->worker;
      task.prefix = happening->kind;
      task.start_ns = happening->start_ns;
      task.stop_ns = happening->time_ns;
      task.failed = happening->what == "FAILED";
    }
  }
  return reading;
}

class Feed : public EngineFeed {
 public:
  Feed(std::string source, LiveObserver* run) : run_(run) { reported_.address = std::move(source); }
  void Add(std::string_view bytes) override { lines_ << bytes; }
  void Tick() override {
    run_->SetVersion("3");
    for (std::string line; std::getline(lines_, line);) {
      const std::optional<Happening> happening = ParseHappening(line);
      if (!happening.has_value()) continue;
      reported_.counts["workers"] += (happening->what == "JOIN") - (happening->what == "LOST");
      if (happening->what == "LOST") run_->Note(EventKind::kBad, happening->worker + " was lost");
      if (happening->what == "DONE") reported_.finished.push_back({happening->kind, 1, 0});
      reported_.counts["erred"] += happening->what == "FAILED";
    }
    lines_.clear();
    run_->AddScheduler(reported_);
    reported_.finished.clear();
  }

 private:
  LiveObserver* run_;
  SchedulerFact reported_;
  std::stringstream lines_;
};

std::optional<std::string> FindLog(const std::string& path) {
  const fs::path log = fs::path(path) / "happenings.txt";
  return fs::exists(log) ? std::optional(log.string()) : std::nullopt;
}

const Engine kMadeUp = {{"Made-up", "foreman", "errand"},
                        "",
                        ".made-up.log",
                        FindLog,
                        ReadLog,
                        nullptr,
                        nullptr,
                        nullptr,
                        [](const std::string& source, LiveObserver* run) -> std::unique_ptr<EngineFeed> {
                          return std::make_unique<Feed>(source, run);
                        }};

TEST(MadeUpEngine, IsInTheBudgetTheVerdictsTheReportAndTheLivePage) {
  const AddedEngine added(kMadeUp);  // the one line
  const fs::path directory = fs::path(::testing::TempDir()) / "made_up_engine";
  fs::remove_all(directory);
  fs::create_directories(directory / "run");
  fs::create_directories(directory / "logs");
  std::ofstream(directory / "run/happenings.txt") << "0 BEGIN -\n0 JOIN w1\n0 JOIN w2\n5 DONE w1 process 1\n"
                                                     "6 DONE w2 reduce 2\n8 FAILED w2 reduce 6\n8 LOST w2\n10 END -\n";
  std::ofstream log(directory / "logs/a.jsonl");
  for (const Line& line : {ProcessLine(1), BeginLine(0, 2), ChunkLine(0, 2, 4), EndLine(10)})
    log << line.dump() << "\n";
  log.close();

  MeasureOptions options;
  options.sources = {(directory / "run").string(), (directory / "logs").string()};
  const absl::StatusOr<MeasuredSource> opened = MeasuredSource::Open(options, /*quiet=*/true);
  ASSERT_TRUE(opened.ok()) << opened.status();
  const Line document = opened->Document();
  EXPECT_EQ(document["metrics"]["core_seconds"], 10 + 8);
  std::map<std::string, double> parts;
  for (const Line& row : document["budget"]) parts[row["part"]] = row["core_seconds"];
  EXPECT_EQ(parts["outside_chunk"], 2) << "of the task around the chunk";
  EXPECT_EQ(parts["framework"], 4 + 2) << "the tasks of the worker that recorded nothing";
  EXPECT_THAT(document["verdicts"].dump(), HasSubstr("worker-loss"));
  EXPECT_THAT(document["quality"]["warnings"].dump(), HasSubstr("1 of the foreman's workers sent no records"));

  const ExportSource source = {opened->measurement(), [&](const OnAttempt& on) { return opened->ForEachAttempt(on); },
                               nullptr, [&] { return opened->FindLogs(); }};
  std::string page;
  TextSink sink(&page);
  ASSERT_TRUE(ReportFormat().write_file(source, "", &sink).ok());
  for (const char* text : {"Made-up 3", "w2", "vanished without an end"}) EXPECT_THAT(page, HasSubstr(text));

  LiveModel model(LiveOptions{});
  LiveSources sources(options.sources, &model);
  model.Tick(At(12), 0);
  sources.Look();
  while (sources.ReadSome(1 << 20)) {
  }
  const Line live = LiveDocument(model, ComputeLiveFigures(model));
  EXPECT_EQ(live["run"]["engine"], "Made-up 3");
  EXPECT_EQ(live["metrics"]["num_chunks"], 1);
  EXPECT_EQ(live["schedulers"][0]["workers"], 1);
  EXPECT_EQ(live["schedulers"][0]["erred"], 1);
  EXPECT_EQ(live["schedulers"][0]["finished"], 2);
  EXPECT_EQ(model.events().all().back().text, "w2 was lost");
  fs::remove_all(directory);
}

}  // namespace
}  // namespace crema

#include "tests/record_log/written_log.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <thread>

#include "crema/crema.h"

namespace crema {
namespace testing {
namespace {

void RecordFullChunk() {
  Chunk where("zjets", "/data/events.lhe.gz", 0, 1000);
  where.tree = "Events";
  where.AddAttribute("generator", "madgraph");
  TrackMetrics chunk(where);
  chunk.SetFileInfo(312, 91234567, 40123456);
  chunk.AddColumns({"Muon_pt", "Muon_eta"});
  chunk.AddBytesRead(1000, 4000);
  {
    const TrackSection read("read", kCpuTime);
    const ChunkHandle handle = chunk.handle();
    std::thread([handle] {
      const TrackHelper helper(handle);
      const TrackSection decompress("decompress");
    }).join();
  }
  try {
    const TrackSection select("select");
    throw std::runtime_error("no such branch");
  } catch (const std::runtime_error&) {  // the section counts as failed, the chunk does not
  }
  { const TrackMemory memory("jets"); }
  RecordMetric("jets", 41, "count");
  RecordMetric("jets", NAN, "count");
  RecordMetric("weight", 0.25);
  RecordMetric("weight", 0.5);
  for (int i = -300; i < 300; ++i) RecordMetric("mass", std::ldexp(1.0, i), "GeV");  // too many for the finest buckets
  RecordCut("all", 1000, 998.5);
  RecordCut("two leptons", 17);
  RecordCut("on the Z peak", 5, {"two leptons", 17, "signal region"});
  RecordActivity("basket cache", 12, "count");
  RecordRequest("root://eos.example.org", "readv", 40000, 250000);
  RecordRequest("root://eos.example.org", "readv", 0, 900000, true);
  chunk.SetEvents(1000);
}

void RecordEvents() {
  TrackEvent event({"raw", "raw.root", 0, 1});
  const TrackEvent other("raw", kSummed);
  TrackRequest request;
  std::thread([&] {
    Ready ready;
    {
      const TrackTask task(event.handle(), "tracks");
      request = TrackRequest(event.handle(), "triton://t4", "infer");
      ready = MarkReady(event.handle(), "tracks");
      const TrackTask inside(other.handle(), "stolen");
    }
    request.Fail();
    request.End();
    const TrackTask queued(event.handle(), "tracks", ready);
  }).join();
  const TrackTask conditions({}, "geometry");
}

void RecordEverything() {
  const TrackSection outside("set up");
  const Span span("process");
  RecordProcessMetric("bytes_written", 4096, "B");
  RecordFullChunk();
  RecordEvents();
  {
    TrackMetrics bare("bare");
    bare.Suspend();
    { const TrackMetrics meanwhile("meanwhile"); }
    bare.Resume();
    { const TrackMetrics inside({"inside", "inside.root", 0, 1}); }
    bare.Fail("not today");
  }
  Flush();
}

}  // namespace

std::vector<std::string> WriteLog(const std::string& directory, const WrittenAs& as) {
  const pid_t child = fork();
  if (child == 0) {
    Options options;
    options.directory = directory;
    options.run_id = "run-1";
    options.threads = 2;
    options.total_events = 1000;
    options.interval_seconds = 0;
    options.trace = as.trace;
    if (as.sums) options.max_log_bytes = 1;
    if (!Enable(options)) _exit(1);
    RecordEverything();
    exit(0);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child || status != 0) return {};
  std::vector<std::string> lines;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    std::ifstream log(entry.path());
    for (std::string line; std::getline(log, line);) lines.push_back(line);
  }
  return lines;
}

}  // namespace testing
}  // namespace crema

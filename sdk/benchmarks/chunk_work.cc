#include "sdk/benchmarks/chunk_work.h"

#include <sys/resource.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "crema/crema.h"

namespace crema_benchmarks {
namespace {

// The sizes with which sdk/src/kernel/kernel_readings.cc reads these files.
constexpr std::size_t kStatmBytes = 127;
constexpr std::size_t kSchedstatBytes = 127;

constexpr std::int64_t kEventsPerChunk = 10000;

}  // namespace

void RecordChunk(std::int64_t number) {
  crema::Chunk where("ttbar", "/data/ttbar/nanoaod_0017.root", number * kEventsPerChunk,
                     (number + 1) * kEventsPerChunk);
  where.tree = "Events";
  crema::TrackMetrics chunk(where);
  {
    const crema::TrackSection read("read");
    { const crema::TrackSection decompress("decompress"); }
    chunk.AddBytesRead(1234567, 4567890);
  }
  { const crema::TrackSection section("calibrate"); }
  { const crema::TrackSection section("select"); }
  {
    const crema::TrackSection cluster("cluster");
    { const crema::TrackSection jets("jets"); }
    const crema::TrackMemory memory("jets");
  }
  { const crema::TrackSection section("systematics"); }
  { const crema::TrackSection section("weights"); }
  { const crema::TrackSection section("fill"); }
  { const crema::TrackSection section("write"); }
  crema::RecordMetric("jets", 41237, "count");
  crema::RecordMetric(crema::metric::kReadCalls, 17, "count");
  crema::RecordMetric(crema::metric::kReadWall, 0.0123, "s");
  crema::RecordCut("all", kEventsPerChunk, 9876.5);
  crema::RecordCut("two leptons", 812, 799.25);
  crema::RecordCut("mass window", 764, 751.125);
  chunk.SetEvents(kEventsPerChunk);
}

LineSizes SizesOfLastChunk(const std::string& log_path) {
  LineSizes sizes;
  std::ifstream log(log_path);
  for (std::string line; std::getline(log, line);) {
    if (line.rfind("{\"type\":\"begin\"", 0) == 0) sizes.begin = line.size() + 1;
    if (line.rfind("{\"type\":\"chunk\"", 0) == 0) sizes.chunk = line.size() + 1;
  }
  return sizes;
}

std::string FindLog(const std::string& directory) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
    if (entry.path().extension() == ".jsonl") return entry.path().string();
  }
  return {};
}

RawChunk::RawChunk(int log_descriptor, LineSizes sizes)
    : log_(log_descriptor), begin_(sizes.begin, 'x'), chunk_(sizes.chunk, 'x') {}

bool RawChunk::Run() {
  struct stat status {};
  rlimit limit{};
  rusage usage{};
  // Begin: RSS, I/O, run delay, CPU time; whether the log is still crema's, and how long it may be; the line.
  bool good = statm_.Read(kStatmBytes) && getrusage(RUSAGE_THREAD, &usage) == 0 && schedstat_.Read(kSchedstatBytes);
  good = ReadClock(CLOCK_THREAD_CPUTIME_ID) >= 0 && good;
  good = fstat(log_, &status) == 0 && getrlimit(RLIMIT_FSIZE, &limit) == 0 && good;
  good = write(log_, begin_.data(), begin_.size()) == static_cast<ssize_t>(begin_.size()) && good;
  // The memory guard.
  good = statm_.Read(kStatmBytes) && statm_.Read(kStatmBytes) && good;
  // End: the same in the order of what may move least.
  good = ReadClock(CLOCK_THREAD_CPUTIME_ID) >= 0 && good;
  good = schedstat_.Read(kSchedstatBytes) && statm_.Read(kStatmBytes) && good;
  good = getrusage(RUSAGE_THREAD, &usage) == 0 && good;
  // CPU time of children, of threads without guards, and of the sampler.
  good = getrusage(RUSAGE_CHILDREN, &usage) == 0 && ReadClock(CLOCK_THREAD_CPUTIME_ID) >= 0 && good;
  good = ReadClock(CLOCK_PROCESS_CPUTIME_ID) >= 0 && good;
  good = fstat(log_, &status) == 0 && getrlimit(RLIMIT_FSIZE, &limit) == 0 && good;
  return write(log_, chunk_.data(), chunk_.size()) == static_cast<ssize_t>(chunk_.size()) && good;
}

int OpenRawLog(const std::string& path) {
  return open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
}

}  // namespace crema_benchmarks

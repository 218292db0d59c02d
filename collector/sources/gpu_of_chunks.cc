#include "collector/sources/gpu_of_chunks.h"

#include <string_view>

#include "collector/compression/decompressed_file.h"
#include "collector/records/record_parser.h"
#include "collector/sources/record_log_lines.h"

namespace crema {
namespace {

/// What a device did last has not reached its process yet, in ns: where that was killed, it is lost.
constexpr int64_t kUndelivered = 1'000'000'000;

bool BeginsWith(std::string_view text, std::string_view begin) { return text.substr(0, begin.size()) == begin; }

void Add(const GpuRowFact& row, GpuRowFact* sums) {
  for (const auto member : {&GpuRowFact::launches, &GpuRowFact::kernel_ns, &GpuRowFact::copies, &GpuRowFact::copy_ns,
                            &GpuRowFact::to_device_bytes, &GpuRowFact::from_device_bytes, &GpuRowFact::on_device_bytes,
                            &GpuRowFact::wait_ns}) {
    sums->*member += row.*member;
  }
  if (!row.wait_cpu_ns.has_value()) sums->wait_cpu_ns.reset();
  if (sums->wait_cpu_ns.has_value()) *sums->wait_cpu_ns += *row.wait_cpu_ns;
}

GpuRowFact None() {
  GpuRowFact none;
  none.wait_cpu_ns = 0;
  return none;
}

}  // namespace

GpuOfChunks::GpuOfChunks(const RecordLog& log) {
  if (log.is_stream) return;
  DecompressedFile file(log.path);
  RecordParser parser;
  std::tuple<int64_t, int64_t, int64_t> process = {log.pid, log.start_ns, log.recorder};
  ForEachLine(file, {}, [&](const LogLine& line) {
    if (!BeginsWith(line.text, "{\"type\":\"gpu\"") && !BeginsWith(line.text, "{\"type\":\"process\"")) return true;
    if (parser.Parse(line.text) != ParseOutcome::kRecord) return true;
    const Record& record = parser.record();
    if (record.type == RecordType::kProcess) {
      process = {record.process.pid, record.process.start_ns, record.process.recorder.value_or(0)};
      return true;
    }
    Process& found = processes_[process];
    found.until_ns = record.gpu.until_ns;
    if (!found.until_ns.has_value() && (!record.gpu.is_last || !record.gpu.reason.empty())) {
      found.until_ns = record.gpu.reason.empty() ? record.gpu.time_ns - kUndelivered : 0;
    }
    for (const GpuRowFact& row : record.gpu.rows) {
      if (row.chunk.has_value()) Add(row, &found.chunks.try_emplace(*row.chunk, None()).first->second);
    }
    return true;
  }).IgnoreError();  // who reads the records says what is wrong with the file
}

std::optional<GpuRowFact> GpuOfChunks::Of(int64_t pid, int64_t start_ns, int64_t recorder,
                                          const ChunkFact& chunk) const {
  const auto process = processes_.find({pid, start_ns, recorder});
  if (process == processes_.end() || chunk.stop_ns > process->second.until_ns.value_or(chunk.stop_ns)) {
    return std::nullopt;
  }
  const auto found = process->second.chunks.find(chunk.number);
  return found == process->second.chunks.end() ? None() : found->second;
}

}  // namespace crema

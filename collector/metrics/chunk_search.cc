#include "collector/metrics/chunk_search.h"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "collector/compression/decompressed_file.h"

namespace crema {
namespace {

using Process = std::tuple<std::string, std::string, int64_t, int64_t>;  // run, host, pid, start
using Chunk = std::pair<int64_t, int64_t>;                               // start, number
using WantedChunks = std::map<Chunk, size_t>;                            // index in the list

template <class P>
Process ProcessOf(const P& process) {
  return Process(process.run_id, process.host, process.pid, process.start_ns);
}

class ChunkSearch {
 public:
  ChunkSearch(const RecordFindings& findings, const std::vector<size_t>& attempts,
              const std::function<void(size_t, const ChunkFact&)>& visit)
      : visit_(visit) {
    for (size_t i = 0; i < attempts.size(); ++i) {
      const AttemptRow& attempt = findings.attempts.rows[attempts[i]];
      const ProcessRow& process = findings.processes.processes[attempt.recording_process()];
      // The record has the time of its own clock.
      const int64_t start_ns = attempt.start_ns - process.clock_offset_ns.value_or(0);
      wanted_[ProcessOf(process)][Chunk(start_ns, attempt.number)] = i;
    }
  }

  /// Looks for chunks of the log's first process.
  void Read(const RecordLog& log, const std::vector<ChunkStretch>& stretches) {
    if (log.is_stream) return;
    const auto chunks = wanted_.find(ProcessOf(log));
    if (chunks == wanted_.end()) return;
    std::vector<LogPart> parts;
    for (size_t k = 0; k < stretches.size(); ++k) {
      const ChunkStretch& stretch = stretches[k];
      const auto first = chunks->second.lower_bound(Chunk(stretch.first_start_ns, 0));
      if (first == chunks->second.end() || first->first.first > stretch.last_start_ns) continue;
      LogPart part{stretch.offset};
      if (k + 1 < stretches.size()) part.end = stretches[k + 1].offset;
      parts.push_back(part);
    }
    // To come to a part of a compressed log, all before it is read.
    if (parts.size() > 1 && IsCompressed(log.path)) parts = {LogPart{parts.front().begin, parts.back().end}};
    for (const LogPart& part : parts) {
      ReadLogPart(log, part, false, [&](const Record& record) { Take(record, chunks->second); });
    }
  }

  /// Looks for chunks of the processes that follow in the log.
  void ReadWhole(const RecordLog& log) {
    if (log.is_stream) return;
    const WantedChunks none;
    const WantedChunks* chunks = &none;
    ReadLogPart(log, LogPart{}, false, [&](const Record& record) {
      if (record.type == RecordType::kProcess) {
        const auto found = wanted_.find(ProcessOf(record.process));
        chunks = found == wanted_.end() ? &none : &found->second;
      }
      Take(record, *chunks);
    });
  }

  /// Whether a wanted process is the first one of no log.
  bool HasLaterProcesses(const std::vector<RecordLog>& logs) const {
    std::set<Process> first;
    for (const RecordLog& log : logs) {
      Process process = ProcessOf(log);
      if (wanted_.count(process) > 0) first.insert(std::move(process));
    }
    return first.size() < wanted_.size();
  }

 private:
  void Take(const Record& record, const WantedChunks& chunks) {
    if (record.type != RecordType::kChunk) return;
    const auto found = chunks.find(Chunk(record.chunk.start_ns, record.chunk.number));
    if (found != chunks.end()) visit_(found->second, record.chunk);
  }

  std::map<Process, WantedChunks> wanted_;
  const std::function<void(size_t, const ChunkFact&)>& visit_;
};

}  // namespace

void FindChunks(const RecordFindings& findings, const std::vector<size_t>& attempts, const SearchedLogs& where,
                const std::function<void(size_t, const ChunkFact&)>& visit) {
  if (attempts.empty()) return;
  ChunkSearch search(findings, attempts, visit);
  // Logs put together by hand hold several processes; nothing says which log the later ones stand in.
  const bool everywhere = search.HasLaterProcesses(where.logs);
  for (size_t i = 0; i < where.logs.size(); ++i) {
    if (everywhere) {
      search.ReadWhole(where.logs[i]);
    } else {
      search.Read(where.logs[i], where.stretches[i]);
    }
  }
}

}  // namespace crema

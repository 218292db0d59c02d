#include "collector/sources/process_tree/tree_log_reader.h"

#include <limits>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "collector/compression/decompressed_stream.h"
#include "collector/sources/log_life.h"
#include "fmt/format.h"
#include "simdjson.h"

namespace crema {
namespace {

using simdjson::dom::element;

constexpr size_t kProblemsNamed = 10;

int64_t Integer(const element& line, std::string_view key) {
  int64_t value = 0;
  return line[key].get(value) == simdjson::SUCCESS ? value : 0;
}

std::optional<int64_t> MaybeInteger(const element& line, std::string_view key) {
  int64_t value = 0;
  if (line[key].get(value) != simdjson::SUCCESS) return std::nullopt;
  return value;
}

std::optional<double> MaybeNumber(const element& line, std::string_view key) {
  double value = 0;
  if (line[key].get(value) != simdjson::SUCCESS) return std::nullopt;
  return value;
}

std::string Text(const element& line, std::string_view key) {
  std::string_view value;
  return line[key].get(value) == simdjson::SUCCESS ? std::string(value) : std::string();
}

std::optional<TreeIo> Io(const element& line) {
  const std::optional<int64_t> read = MaybeInteger(line, "read_bytes");
  if (!read.has_value()) return std::nullopt;
  TreeIo io;
  io.read_bytes = *read;
  io.write_bytes = Integer(line, "write_bytes");
  io.rchar_bytes = Integer(line, "rchar_bytes");
  io.wchar_bytes = Integer(line, "wchar_bytes");
  return io;
}

std::optional<TreeNet> Net(const element& line) {
  const std::optional<int64_t> received = MaybeInteger(line, "net_rx_bytes");
  if (!received.has_value()) return std::nullopt;
  return TreeNet{*received, Integer(line, "net_tx_bytes")};
}

std::vector<TreeGpu> Gpus(const element& line) {
  std::vector<TreeGpu> gpus;
  simdjson::dom::array rows;
  if (line["gpus"].get(rows) != simdjson::SUCCESS) return gpus;
  for (element row : rows) {
    TreeGpu gpu;
    gpu.index = Integer(row, "index");
    gpu.name = Text(row, "name");
    for (const auto& [key, member] : kTreeGpuFields) gpu.*member = MaybeInteger(row, key);
    gpus.push_back(std::move(gpu));
  }
  return gpus;
}

bool ReadRun(const element& line, TreeRunFact* run) {
  if (Text(line, "schema") != kTreeLogSchema) return false;
  run->run_id = Text(line, "run_id");
  run->name = Text(line, "name");
  simdjson::dom::array words;
  if (line["command"].get(words) == simdjson::SUCCESS) {
    for (element word : words) {
      std::string_view text;
      if (word.get(text) == simdjson::SUCCESS) run->command.emplace_back(text);
    }
  }
  run->host = Text(line, "host");
  run->pid = Integer(line, "pid");
  run->start_ns = Integer(line, "start_ns");
  run->interval_seconds = MaybeNumber(line, "interval_seconds").value_or(0);
  run->allocated_cores = MaybeNumber(line, "allocated_cores");
  run->allocated_cores_source = Text(line, "allocated_cores_source");
  run->memory_limit_bytes = MaybeInteger(line, "memory_limit_bytes");
  bool host_wide = true;
  if (line["net_host_wide"].get(host_wide) == simdjson::SUCCESS) run->net_host_wide = host_wide;
  run->commit = Text(line, "commit");
  run->commit_source = Text(line, "commit_source");
  bool watched = false;
  if (line["watched"].get(watched) == simdjson::SUCCESS && watched) run->origin = TreeOrigin::kWatched;
  return true;
}

TreeSampleFact ReadSample(const element& line) {
  TreeSampleFact sample;
  sample.time_ns = Integer(line, "time_ns");
  sample.rss_bytes = Integer(line, "rss_bytes");
  sample.pss_bytes = MaybeInteger(line, "pss_bytes");
  sample.swap_bytes = MaybeInteger(line, "swap_bytes");
  sample.cpu_user_ns = Integer(line, "cpu_user_ns");
  sample.cpu_system_ns = Integer(line, "cpu_system_ns");
  sample.processes = Integer(line, "processes");
  sample.threads = Integer(line, "threads");
  sample.io = Io(line);
  sample.net = Net(line);
  sample.gpus = Gpus(line);
  simdjson::dom::array rows;
  if (line["process_rows"].get(rows) != simdjson::SUCCESS) return sample;
  for (element row : rows) {
    TreeProcessFact& process = sample.process_rows.emplace_back();
    process = {Integer(row, "pid"),    Integer(row, "start_ns"), Integer(row, "rss_bytes"),
               Integer(row, "cpu_ns"), Integer(row, "threads"),  Text(row, "name")};
    for (const auto& [key, member] : kProcessCounts) process.counts.*member = MaybeInteger(row, key);
  }
  return sample;
}

TreeReapFact ReadReap(const element& line) {
  TreeReapFact reaped;
  reaped.time_ns = Integer(line, "time_ns");
  reaped.pid = Integer(line, "pid");
  reaped.user_ns = Integer(line, "user_ns");
  reaped.system_ns = Integer(line, "system_ns");
  reaped.max_rss_bytes = Integer(line, "max_rss_bytes");
  reaped.major_faults = Integer(line, "major_faults");
  reaped.context_switches_involuntary = Integer(line, "context_switches_involuntary");
  reaped.exit_status = static_cast<int>(Integer(line, "exit_status"));
  return reaped;
}

TreeEndFact ReadEnd(const element& line) {
  TreeEndFact end;
  end.time_ns = Integer(line, "time_ns");
  if (const std::optional<int64_t> status = MaybeInteger(line, "exit_status"); status.has_value()) {
    end.exit_status = static_cast<int>(*status);
  }
  end.totals.cpu_user_ns = MaybeInteger(line, "tree_cpu_user_ns");
  end.totals.cpu_system_ns = MaybeInteger(line, "tree_cpu_system_ns");
  end.totals.process_peak_rss_bytes = MaybeInteger(line, "process_peak_rss_bytes");
  end.totals.tree_peak_rss_bytes = MaybeInteger(line, "tree_peak_rss_bytes");
  end.totals.tree_peak_pss_bytes = MaybeInteger(line, "tree_peak_pss_bytes");
  end.totals.tree_peak_swap_bytes = MaybeInteger(line, "tree_peak_swap_bytes");
  if (const std::optional<int64_t> read = MaybeInteger(line, "tree_read_bytes"); read.has_value()) {
    end.totals.io = TreeIo{*read, Integer(line, "tree_write_bytes"), Integer(line, "tree_rchar_bytes"),
                           Integer(line, "tree_wchar_bytes")};
  }
  end.totals.net = Net(line);
  end.totals.max_processes = MaybeInteger(line, "max_processes");
  end.totals.max_threads = MaybeInteger(line, "max_threads");
  end.totals.major_faults = MaybeInteger(line, "major_faults");
  end.totals.context_switches_involuntary = MaybeInteger(line, "context_switches_involuntary");
  end.totals.tree_cpu_sampled = MaybeInteger(line, "tree_cpu_sampled");
  end.totals.processes_left_running = MaybeInteger(line, "processes_left_running");
  end.totals.oom_kills = MaybeInteger(line, "oom_kills");
  end.gpus = Gpus(line);
  end.samples = Integer(line, "samples");
  end.sampler_cpu_ns = MaybeInteger(line, "sampler_cpu_ns");
  end.sampler_peak_rss_bytes = MaybeInteger(line, "sampler_peak_rss_bytes");
  return end;
}

void AddProblem(const std::string& path, const std::string& what, TreeLogReading* reading) {
  if (reading->problems.size() < kProblemsNamed) {
    reading->problems.push_back(fmt::format("{}:{}: {}", path, reading->lines, what));
  }
}

void AddLine(const std::string& path, const element& line, const OnTreeSample& on_sample, TreeLogReading* reading) {
  const std::string type = Text(line, "type");
  if (type == "tree_sample") {
    const TreeSampleFact sample = ReadSample(line);
    reading->run.Add(sample);
    if (on_sample) on_sample(sample);
  } else if (type == "reaped") {
    reading->run.Add(ReadReap(line));
  } else if (type == "run_end") {
    reading->run.Add(ReadEnd(line));
  } else if (type.empty()) {
    ++reading->malformed;
    AddProblem(path, "a line without `type`; it was left out", reading);
  } else {
    ++reading->unknown;
  }
}

}  // namespace

absl::StatusOr<TreeLogReading> ReadTreeLog(const std::string& path, const OnTreeSample& on_sample) {
  TreeLogReading reading;
  // Before the first byte is read: a writer that ends meanwhile is then still called running, never lost.
  reading.run.running = MayLackItsEnd(path);
  DecompressedStream file(path);
  if (!file) {
    return absl::NotFoundError(
        fmt::format("{}: cannot be opened; check that it exists and that you may read it", path));
  }
  simdjson::dom::parser parser;
  std::string text;
  while (std::getline(file, text)) {
    const bool whole = !file.eof();  // getline stops at the end of the file only where a newline is missing
    if (text.empty()) continue;
    ++reading.lines;
    element line;
    const simdjson::error_code error = parser.parse(text).get(line);
    if (reading.lines == 1) {
      if (error != simdjson::SUCCESS || Text(line, "type") != "run" || !ReadRun(line, &reading.run.run)) {
        return absl::InvalidArgumentError(fmt::format(
            "{}:1: not a `run` line of {}; was this file written by `crema run`?", path, std::string(kTreeLogSchema)));
      }
      reading.run.last_ns = reading.run.run.start_ns;
      continue;
    }
    if (error == simdjson::SUCCESS && line.is_object()) {
      AddLine(path, line, on_sample, &reading);
    } else if (!whole) {
      ++reading.torn;
    } else {
      ++reading.malformed;
      AddProblem(path, std::string("not JSON (") + simdjson::error_message(error) + "); it was left out", &reading);
    }
  }
  if (!file.status().ok() && reading.lines > 0) {
    ++reading.torn;
    AddProblem(path, std::string(file.status().message()) + "; what was read so far is used", &reading);
  }
  if (reading.lines == 0) {
    return absl::InvalidArgumentError(
        fmt::format("{}:1: empty; `crema run` was killed before its first line, remove the file", path));
  }
  return reading;
}

}  // namespace crema

#include "collector/sources/process_tree/tree_log.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>

#include "absl/strings/str_cat.h"
#include "collector/compression/decompressed_file.h"
#include "collector/records/json_fields.h"
#include "collector/sources/record_log.h"
#include "nlohmann/json.hpp"

namespace crema {
namespace {

constexpr size_t kMostPoints = 4096;

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

std::optional<TreeIo> Io(const element& line, const std::string& prefix) {
  if (!MaybeInteger(line, prefix + "read_bytes").has_value()) return std::nullopt;
  TreeIo io;
  for (const auto& [key, member] : kTreeIoFields) io.*member = Integer(line, prefix + std::string(key));
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

TreeRunFact ReadRun(const element& line) {
  TreeRunFact run;
  run.run_id = Text(line, "run_id");
  run.name = Text(line, "name");
  simdjson::dom::array words;
  if (line["command"].get(words) == simdjson::SUCCESS) {
    for (element word : words) {
      std::string_view text;
      if (word.get(text) == simdjson::SUCCESS) run.command.emplace_back(text);
    }
  }
  run.host = Text(line, "host");
  run.pid = Integer(line, "pid");
  run.start_ns = Integer(line, "start_ns");
  run.interval_seconds = MaybeNumber(line, "interval_seconds").value_or(0);
  run.allocated_cores = MaybeNumber(line, "allocated_cores");
  run.allocated_cores_source = Text(line, "allocated_cores_source");
  run.memory_limit_bytes = MaybeInteger(line, "memory_limit_bytes");
  if (bool host_wide = true; line["net_host_wide"].get(host_wide) == simdjson::SUCCESS) run.net_host_wide = host_wide;
  run.commit = Text(line, "commit");
  run.commit_source = Text(line, "commit_source");
  bool watched = false;
  if (line["watched"].get(watched) == simdjson::SUCCESS && watched) run.origin = TreeOrigin::kWatched;
  return run;
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
  sample.io = Io(line, "");
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

constexpr std::pair<std::string_view, int64_t TreeReapFact::*> kReapFields[] = {
    {"time_ns", &TreeReapFact::time_ns},
    {"pid", &TreeReapFact::pid},
    {"user_ns", &TreeReapFact::user_ns},
    {"system_ns", &TreeReapFact::system_ns},
    {"max_rss_bytes", &TreeReapFact::max_rss_bytes},
    {"major_faults", &TreeReapFact::major_faults},
    {"context_switches_involuntary", &TreeReapFact::context_switches_involuntary}};

TreeReapFact ReadReap(const element& line) {
  TreeReapFact reaped;
  for (const auto& [key, member] : kReapFields) reaped.*member = Integer(line, key);
  reaped.exit_status = static_cast<int>(Integer(line, "exit_status"));
  return reaped;
}

TreeEndFact ReadEnd(const element& line) {
  TreeEndFact end;
  end.time_ns = Integer(line, "time_ns");
  if (const std::optional<int64_t> status = MaybeInteger(line, "exit_status"); status.has_value()) {
    end.exit_status = static_cast<int>(*status);
  }
  for (const auto& [key, member, adds_up] : kTreeTotalFields) end.totals.*member = MaybeInteger(line, key);
  end.totals.io = Io(line, "tree_");
  end.totals.net = Net(line);
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

/// Writes a flat object without building one first: samples are written while the job runs.
class ObjectWriter {
 public:
  explicit ObjectWriter(std::string* out) : out_(out) { out_->push_back('{'); }

  void Add(std::string_view name, int64_t value) {
    Name(name);
    char digits[24];
    const auto [end, error] = std::to_chars(digits, digits + sizeof digits, value);
    out_->append(digits, end);
  }
  void Add(std::string_view name, const std::optional<int64_t>& value) {
    if (value.has_value()) return Add(name, *value);
    Name(name);
    out_->append("null");
  }
  /// `word` needs no escapes.
  void Add(std::string_view name, std::string_view word) {
    Name(name);
    out_->append("\"").append(word).append("\"");
  }
  void AddText(std::string_view name, const std::string& text) {
    Name(name);
    out_->append(nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  }
  void Name(std::string_view name) {
    if (out_->back() != '{') out_->push_back(',');
    out_->append("\"").append(name).append("\":");
  }
  void End() { out_->push_back('}'); }

 private:
  std::string* out_;
};

void AddIo(const std::string& prefix, const std::optional<TreeIo>& io, ObjectWriter* line) {
  for (const auto& [key, member] : kTreeIoFields) line->Add(prefix + std::string(key), Field(io, member));
}

void AddNet(const std::optional<TreeNet>& net, ObjectWriter* line) {
  line->Add("net_rx_bytes", Field(net, &TreeNet::rx_bytes));
  line->Add("net_tx_bytes", Field(net, &TreeNet::tx_bytes));
}

void AddGpus(const std::vector<TreeGpu>& gpus, std::string* out, ObjectWriter* line) {
  if (gpus.empty()) return;
  line->Name("gpus");
  out->push_back('[');
  for (const TreeGpu& gpu : gpus) {
    if (out->back() != '[') out->push_back(',');
    ObjectWriter row(out);
    row.Add("index", gpu.index);
    row.AddText("name", gpu.name);
    for (const auto& [key, member] : kTreeGpuFields) row.Add(key, gpu.*member);
    row.End();
  }
  out->push_back(']');
}

constexpr int64_t kAllRowsBytes = int64_t{32} << 20;
constexpr int64_t kSamplesBetweenRows = 10;

}  // namespace

void TreeGpuUse::Add(const TreeGpu& gpu) {
  name = gpu.name;
  if (gpu.energy_mj.has_value()) energy_mj = gpu.energy_mj;
  if (gpu.tree_memory_bytes == 0) return;
  // If nobody knows whose processes keep it busy, they may be the tree's.
  if (gpu.tree_memory_bytes.has_value() || gpu.utilization_percent.value_or(0) > 0) ++samples;
  peak_memory_bytes = Larger(peak_memory_bytes, gpu.tree_memory_bytes);
  if (gpu.utilization_percent.has_value()) {
    utilization_sum += *gpu.utilization_percent;
    ++utilization_samples;
  }
  if (gpu.other_percent.has_value()) {
    other_percent_sum += *gpu.other_percent;
    ++other_percent_samples;
  }
}

ProcessCounts TreeRun::CountsOf(const std::pair<int64_t, int64_t>& pid_and_start) const {
  const auto found = counts.find(pid_and_start);
  return found == counts.end() ? ProcessCounts() : found->second;
}

void TreeRun::Add(const TreeSampleFact& sample) {
  if (samples > 0) largest_gap_ns = std::max(largest_gap_ns, sample.time_ns - last_sample_ns_);
  ++samples;
  last_sample_ns_ = sample.time_ns;
  last_ns = std::max(last_ns, sample.time_ns);
  totals.cpu_user_ns = Larger(totals.cpu_user_ns, sample.cpu_user_ns);
  totals.cpu_system_ns = Larger(totals.cpu_system_ns, sample.cpu_system_ns);
  totals.tree_peak_rss_bytes = Larger(totals.tree_peak_rss_bytes, sample.rss_bytes);
  totals.tree_peak_pss_bytes = Larger(totals.tree_peak_pss_bytes, sample.pss_bytes);
  if (sample.pss_bytes.has_value()) largest_rss_with_pss = std::max(largest_rss_with_pss, sample.rss_bytes);
  totals.tree_peak_swap_bytes = Larger(totals.tree_peak_swap_bytes, sample.swap_bytes);
  if (sample.io.has_value()) totals.io = sample.io;
  if (sample.net.has_value()) totals.net = sample.net;
  totals.max_processes = Larger(totals.max_processes, sample.processes);
  totals.max_threads = Larger(totals.max_threads, sample.threads);
  for (const TreeGpu& gpu : sample.gpus) gpus[gpu.index].Add(gpu);
  if (sample.pss_bytes.has_value()) pss_since_point_ = sample.pss_bytes;
  if (samples % points_every_ == 0) {
    points.push_back({sample.time_ns, sample.cpu_user_ns + sample.cpu_system_ns, sample.rss_bytes, sample.processes,
                      sample.threads, sample.io, sample.cpu_system_ns, std::exchange(pss_since_point_, {}), sample.net,
                      sample.gpus});
  }
  if (points.size() >= kMostPoints) {
    for (size_t i = 0; 2 * i + 1 < points.size(); ++i) {
      const std::optional<int64_t> before = points[2 * i].pss_bytes;
      points[i] = points[2 * i + 1];
      if (!points[i].pss_bytes.has_value()) points[i].pss_bytes = before;
    }
    points.resize(points.size() / 2);
    points_every_ *= 2;
  }
  for (const TreeProcessFact& row : sample.process_rows) {
    if (!row.name.empty()) names[{row.pid, row.start_ns}] = row.name;
    totals.process_peak_rss_bytes =
        std::max({totals.process_peak_rss_bytes, std::optional<int64_t>(row.rss_bytes), row.counts.rss_peak_bytes});
    ProcessSample reading;
    reading.time_ns = sample.time_ns;
    reading.rss_bytes = row.rss_bytes;
    reading.cpu_ns = row.cpu_ns;
    reading.threads = row.threads;
    reading.anonymous_bytes = row.counts.anonymous_bytes;
    reading.run_delay_ns = row.counts.run_delay_ns;
    counts[{row.pid, row.start_ns}].Raise(row.counts);
    processes[{row.pid, row.start_ns}].push_back(reading);
  }
}

void TreeRun::Add(const TreeReapFact& fact) {
  last_ns = std::max(last_ns, fact.time_ns);
  reaped[fact.pid] = fact;
  reaped_user_ns_ += fact.user_ns;
  reaped_system_ns_ += fact.system_ns;
  // A sample's counters hold what was reaped before it, so only a lower bound moves here.
  totals.cpu_user_ns = Larger(totals.cpu_user_ns, reaped_user_ns_);
  totals.cpu_system_ns = Larger(totals.cpu_system_ns, reaped_system_ns_);
  totals.process_peak_rss_bytes = Larger(totals.process_peak_rss_bytes, fact.max_rss_bytes);
  totals.tree_peak_rss_bytes = Larger(totals.tree_peak_rss_bytes, fact.max_rss_bytes);
}

void TreeRun::Add(const TreeEndFact& fact) {
  last_ns = std::max(last_ns, fact.time_ns);
  totals = fact.totals;
  for (const TreeGpu& gpu : fact.gpus) gpus[gpu.index].energy_mj = gpu.energy_mj;
  end = fact;
}

absl::StatusOr<TreeLine> ParseTreeLine(const std::string& text) {
  static thread_local simdjson::dom::parser parser;
  element line;
  const simdjson::error_code error = parser.parse(text).get(line);
  if (error != simdjson::SUCCESS || !line.is_object()) {
    return absl::DataLossError(absl::StrCat("not JSON (", simdjson::error_message(error), ")"));
  }
  const std::string type = Text(line, "type");
  if (type == "tree_sample") return ReadSample(line);
  if (type == "reaped") return ReadReap(line);
  if (type == "run_end") return ReadEnd(line);
  if (type == "run" && Text(line, "schema") == kTreeLogSchema) return ReadRun(line);
  if (type.empty()) return absl::InvalidArgumentError("a line without `type`");
  return std::monostate();
}

absl::StatusOr<TreeLogReading> ReadTreeLog(const std::string& path, const OnTreeSample& on_sample) {
  TreeLogReading reading;
  // Before the first byte is read: a writer that ends meanwhile is then still called running, never lost.
  reading.run.running = MayLackItsEnd(path);
  DecompressedStream file(path);
  if (!file) {
    return absl::NotFoundError(
        fmt::format("{}: cannot be opened; check that it exists and that you may read it", path));
  }
  std::string text;
  while (std::getline(file, text)) {
    const bool whole = !file.eof();  // getline stops at the end of the file only where a newline is missing
    if (text.empty()) continue;
    ++reading.lines;
    absl::StatusOr<TreeLine> line = ParseTreeLine(text);
    if (reading.lines == 1) {
      if (!line.ok() || !std::holds_alternative<TreeRunFact>(*line)) {
        return absl::InvalidArgumentError(fmt::format(
            "{}:1: not a `run` line of {}; was this file written by `crema run`?", path, std::string(kTreeLogSchema)));
      }
      reading.run.run = std::get<TreeRunFact>(*std::move(line));
      reading.run.last_ns = reading.run.run.start_ns;
    } else if (absl::IsDataLoss(line.status()) && !whole) {
      ++reading.torn;
    } else if (!line.ok()) {
      ++reading.malformed;
      AddProblem(path, std::string(line.status().message()) + "; it was left out", &reading);
    } else if (const auto* sample = std::get_if<TreeSampleFact>(&*line)) {
      reading.run.Add(*sample);
      if (on_sample) on_sample(*sample);
    } else if (const auto* reaped = std::get_if<TreeReapFact>(&*line)) {
      reading.run.Add(*reaped);
    } else if (const auto* end = std::get_if<TreeEndFact>(&*line)) {
      reading.run.Add(*end);
    } else {
      ++reading.unknown;
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

void AppendLine(const TreeRunFact& run, std::string* out) {
  nlohmann::ordered_json line = {
      {"type", "run"},
      {"schema", std::string(kTreeLogSchema)},
      {"schema_minor", kTreeLogSchemaMinor},
      {"run_id", run.run_id},
      {"name", run.name},
      {"command", nullptr},
      {"host", run.host},
      {"pid", run.pid},
      {"start_ns", run.start_ns},
      {"interval_seconds", run.interval_seconds},
      {"allocated_cores", nullptr},
      {"allocated_cores_source", run.allocated_cores_source},
      {"memory_limit_bytes", nullptr},
      {"net_host_wide", run.net_host_wide},
      {"watched", run.origin == TreeOrigin::kWatched},
      {"commit", nullptr},
      {"commit_source", nullptr},
  };
  if (!run.command.empty()) line["command"] = run.command;
  if (run.allocated_cores.has_value()) line["allocated_cores"] = *run.allocated_cores;
  if (run.memory_limit_bytes.has_value()) line["memory_limit_bytes"] = *run.memory_limit_bytes;
  if (!run.commit.empty()) {
    line["commit"] = run.commit;
    line["commit_source"] = run.commit_source;
  }
  out->append(JsonText(line)).push_back('\n');
}

void AppendLine(const TreeSampleFact& sample, bool with_rows, std::string* out) {
  ObjectWriter line(out);
  line.Add("type", "tree_sample");
  line.Add("time_ns", sample.time_ns);
  line.Add("rss_bytes", sample.rss_bytes);
  line.Add("pss_bytes", sample.pss_bytes);
  line.Add("swap_bytes", sample.swap_bytes);
  line.Add("cpu_user_ns", sample.cpu_user_ns);
  line.Add("cpu_system_ns", sample.cpu_system_ns);
  line.Add("processes", sample.processes);
  line.Add("threads", sample.threads);
  AddIo("", sample.io, &line);
  AddNet(sample.net, &line);
  AddGpus(sample.gpus, out, &line);
  if (with_rows) {
    line.Name("process_rows");
    out->push_back('[');
    for (const TreeProcessFact& process : sample.process_rows) {
      if (out->back() != '[') out->push_back(',');
      ObjectWriter row(out);
      row.Add("pid", process.pid);
      row.Add("start_ns", process.start_ns);
      row.Add("rss_bytes", process.rss_bytes);
      row.Add("cpu_ns", process.cpu_ns);
      row.Add("threads", process.threads);
      if (!process.name.empty()) row.AddText("name", process.name);
      for (const auto& [key, member] : kProcessCounts) {
        if ((process.counts.*member).has_value()) row.Add(key, process.counts.*member);
      }
      row.End();
    }
    out->push_back(']');
  }
  line.End();
  out->push_back('\n');
}

void AppendLine(const TreeReapFact& reaped, std::string* out) {
  ObjectWriter line(out);
  line.Add("type", "reaped");
  for (const auto& [key, member] : kReapFields) line.Add(key, reaped.*member);
  line.Add("exit_status", reaped.exit_status);
  line.End();
  out->push_back('\n');
}

void AppendLine(const TreeEndFact& end, std::string* out) {
  ObjectWriter line(out);
  line.Add("type", "run_end");
  line.Add("time_ns", end.time_ns);
  line.Add("exit_status", end.exit_status.has_value() ? std::optional<int64_t>(*end.exit_status) : std::nullopt);
  for (const auto& [key, member, adds_up] : kTreeTotalFields) {
    if (member == &TreeTotals::max_processes) AddIo("tree_", end.totals.io, &line);
    if (member == &TreeTotals::tree_cpu_sampled) AddNet(end.totals.net, &line);
    line.Add(key, end.totals.*member);
  }
  AddGpus(end.gpus, out, &line);
  line.Add("samples", end.samples);
  line.Add("sampler_cpu_ns", end.sampler_cpu_ns);
  line.Add("sampler_peak_rss_bytes", end.sampler_peak_rss_bytes);
  line.End();
  out->push_back('\n');
}

absl::StatusOr<TreeLogWriter> TreeLogWriter::Create(const std::string& directory, const std::string& host, int64_t pid,
                                                    int64_t start_ns) {
  std::string path = absl::StrCat(directory, "/", host, "-", pid, "-", start_ns);
  path.append(kTreeLogSuffix);
  const int descriptor = open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (descriptor < 0) {
    return absl::UnavailableError(
        fmt::format("{}: cannot be created ({}); choose another directory with -o", path, strerror(errno)));
  }
  flock(descriptor, LOCK_EX | LOCK_NB);  // some network file systems have no locks: then the log never looks running
  return TreeLogWriter(std::move(path), descriptor);
}

TreeLogWriter::TreeLogWriter(TreeLogWriter&& other) noexcept
    : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)) {}

TreeLogWriter::~TreeLogWriter() {
  if (descriptor_ >= 0) close(descriptor_);
}

void TreeLogWriter::Write(const TreeSampleFact& sample) {
  const bool with_rows = written_bytes_ < kAllRowsBytes || samples_ % kSamplesBetweenRows == 0;
  ++samples_;
  AppendLine(sample, with_rows, &line_);
  WriteLine();
}

void TreeLogWriter::WriteLine() {
  if (torn_) line_.insert(line_.begin(), '\n');  // so that the torn line ends where it is
  ssize_t written = 0;
  do {
    written = write(descriptor_, line_.data(), line_.size());
  } while (written < 0 && errno == EINTR);
  if (written > 0) written_bytes_ += written;
  if (written == static_cast<ssize_t>(line_.size())) {
    torn_ = false;
  } else {
    ++dropped_;
    torn_ = torn_ || written > 0;
  }
  line_.clear();
}

}  // namespace crema

#include "collector/sources/process_tree/tree_log.h"

#include <sys/file.h>

#include <cerrno>

#include "absl/strings/str_cat.h"
#include "collector/idioms/sequences.h"
#include "collector/records/json_fields.h"
#include "collector/sources/record_log.h"
#include "nlohmann/json.hpp"

namespace crema {
namespace {

constexpr size_t kMostPoints = 4096;

using simdjson::dom::element;

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
  /// A list with an object for each item, to which `add_fields(item, &row)` adds its fields.
  template <class List, class AddFields>
  void AddRows(std::string_view name, const List& list, const AddFields& add_fields) {
    Name(name);
    out_->push_back('[');
    for (const auto& item : list) {
      if (out_->back() != '[') out_->push_back(',');
      ObjectWriter row(out_);
      add_fields(item, &row);
      row.End();
    }
    out_->push_back(']');
  }
  void End() { out_->push_back('}'); }
  void EndLine() { out_->append("}\n"); }

 private:
  void Name(std::string_view name) {
    if (out_->back() != '{') out_->push_back(',');
    out_->append("\"").append(name).append("\":");
  }

  std::string* out_;
};

/// Fields that are called as the members are that they are read into and written from.
template <auto... kMembers>
struct FieldsOf {
  template <auto kMember>
  static constexpr std::string_view kKey = NameOfMember<kMember>();

  template <class Fact>
  static void Take(const element& line, Fact* fact) {
    (TakeField(line, kKey<kMembers>, &(fact->*kMembers)), ...);
  }
  template <class Fact>
  static void Add(const Fact& fact, ObjectWriter* line) {
    (line->Add(kKey<kMembers>, fact.*kMembers), ...);
  }
};

using RunFields = FieldsOf<&TreeRunFact::run_id, &TreeRunFact::name, &TreeRunFact::host, &TreeRunFact::pid,
                           &TreeRunFact::start_ns, &TreeRunFact::interval_seconds, &TreeRunFact::allocated_cores,
                           &TreeRunFact::allocated_cores_source, &TreeRunFact::memory_limit_bytes,
                           &TreeRunFact::net_host_wide, &TreeRunFact::commit, &TreeRunFact::commit_source>;
using SampleFields = FieldsOf<&TreeSampleFact::time_ns, &TreeSampleFact::rss_bytes, &TreeSampleFact::pss_bytes,
                              &TreeSampleFact::swap_bytes, &TreeSampleFact::cpu_user_ns, &TreeSampleFact::cpu_system_ns,
                              &TreeSampleFact::processes, &TreeSampleFact::threads>;
using ProcessFields = FieldsOf<&TreeProcessFact::pid, &TreeProcessFact::start_ns, &TreeProcessFact::rss_bytes,
                               &TreeProcessFact::cpu_ns, &TreeProcessFact::threads>;
using ReapFields = FieldsOf<&TreeReapFact::time_ns, &TreeReapFact::pid, &TreeReapFact::user_ns,
                            &TreeReapFact::system_ns, &TreeReapFact::max_rss_bytes, &TreeReapFact::major_faults,
                            &TreeReapFact::context_switches_involuntary, &TreeReapFact::exit_status>;
using FirstFieldsOfEnd = FieldsOf<&TreeEndFact::time_ns, &TreeEndFact::exit_status>;
using LastFieldsOfEnd =
    FieldsOf<&TreeEndFact::samples, &TreeEndFact::sampler_cpu_ns, &TreeEndFact::sampler_peak_rss_bytes>;

std::optional<TreeIo> Io(const element& line, const std::string& prefix) {
  TreeIo io;
  if (!TakeField(line, prefix + "read_bytes", &io.read_bytes)) return std::nullopt;
  for (const auto& [key, member] : kTreeIoFields) TakeField(line, prefix + std::string(key), &(io.*member));
  return io;
}

std::optional<TreeNet> Net(const element& line) {
  TreeNet net;
  if (!TakeField(line, "net_rx_bytes", &net.rx_bytes)) return std::nullopt;
  TakeField(line, "net_tx_bytes", &net.tx_bytes);
  return net;
}

std::vector<TreeGpu> Gpus(const element& line) {
  std::vector<TreeGpu> gpus;
  simdjson::dom::array rows;
  if (!TakeField(line, "gpus", &rows)) return gpus;
  for (element row : rows) {
    TreeGpu& gpu = gpus.emplace_back();
    FieldsOf<&TreeGpu::index, &TreeGpu::name>::Take(row, &gpu);
    for (const auto& [key, member] : kTreeGpuFields) TakeField(row, key, &(gpu.*member));
  }
  return gpus;
}

TreeRunFact ReadRun(const element& line) {
  TreeRunFact run;
  RunFields::Take(line, &run);
  simdjson::dom::array words;
  if (TakeField(line, "command", &words)) {
    for (element word : words) {
      std::string_view text;
      if (word.get(text) == simdjson::SUCCESS) run.command.emplace_back(text);
    }
  }
  if (bool watched = false; TakeField(line, "watched", &watched) && watched) run.origin = TreeOrigin::kWatched;
  return run;
}

TreeSampleFact ReadSample(const element& line) {
  TreeSampleFact sample;
  SampleFields::Take(line, &sample);
  sample.io = Io(line, "");
  sample.net = Net(line);
  sample.gpus = Gpus(line);
  simdjson::dom::array rows;
  if (!TakeField(line, "process_rows", &rows)) return sample;
  for (element row : rows) {
    TreeProcessFact& process = sample.process_rows.emplace_back();
    ProcessFields::Take(row, &process);
    TakeField(row, "name", &process.name);
    for (const auto& [key, member] : kProcessCounts) TakeField(row, key, &(process.counts.*member));
  }
  return sample;
}

TreeReapFact ReadReap(const element& line) {
  TreeReapFact reaped;
  ReapFields::Take(line, &reaped);
  return reaped;
}

TreeEndFact ReadEnd(const element& line) {
  TreeEndFact end;
  FirstFieldsOfEnd::Take(line, &end);
  for (const auto& [key, member, adds_up] : kTreeTotalFields) TakeField(line, key, &(end.totals.*member));
  end.totals.io = Io(line, "tree_");
  end.totals.net = Net(line);
  end.gpus = Gpus(line);
  LastFieldsOfEnd::Take(line, &end);
  return end;
}

void AddIoFields(const std::string& prefix, const std::optional<TreeIo>& io, ObjectWriter* line) {
  for (const auto& [key, member] : kTreeIoFields) line->Add(prefix + std::string(key), Field(io, member));
}

void AddNet(const std::optional<TreeNet>& net, ObjectWriter* line) {
  line->Add("net_rx_bytes", Field(net, &TreeNet::rx_bytes));
  line->Add("net_tx_bytes", Field(net, &TreeNet::tx_bytes));
}

void AddGpus(const std::vector<TreeGpu>& gpus, ObjectWriter* line) {
  if (gpus.empty()) return;
  line->AddRows("gpus", gpus, [](const TreeGpu& gpu, ObjectWriter* row) {
    row->Add("index", gpu.index);
    row->AddText("name", gpu.name);
    for (const auto& [key, member] : kTreeGpuFields) row->Add(key, gpu.*member);
  });
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
  return ValueOr(counts, pid_and_start, ProcessCounts());
}

void TreeRun::AddCpuWait(const TreeSampleFact& sample) {
  std::optional<int64_t> waited_ns;
  for (const TreeProcessFact& row : sample.process_rows) {
    if (!row.counts.run_delay_ns.has_value()) continue;
    const std::vector<ProcessSample>& before = processes[{row.pid, row.start_ns}];
    const int64_t known_ns = before.empty() ? 0 : before.back().run_delay_ns.value_or(0);
    waited_ns = waited_ns.value_or(0) + std::max<int64_t>(0, *row.counts.run_delay_ns - known_ns);
  }
  if (!waited_ns.has_value() || !run.allocated_cores.has_value()) return;
  const int64_t cpu_ns =
      sample.cpu_user_ns + sample.cpu_system_ns - totals.cpu_user_ns.value_or(0) - totals.cpu_system_ns.value_or(0);
  const int64_t since_ns = sample.time_ns - (samples > 0 ? last_sample_ns_ : run.start_ns);
  const auto core_ns = static_cast<int64_t>(*run.allocated_cores * static_cast<double>(since_ns));
  cpu_wait_ns = cpu_wait_ns.value_or(0) + std::clamp<int64_t>(core_ns - cpu_ns, 0, *waited_ns);
}

void TreeRun::Add(const TreeSampleFact& sample) {
  AddCpuWait(sample);
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
    points.push_back({sample.time_ns, sample.rss_bytes, std::exchange(pss_since_point_, std::nullopt),
                      sample.swap_bytes, sample.cpu_user_ns, sample.cpu_system_ns, sample.processes, sample.threads,
                      sample.io, sample.net, sample.gpus});
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
    counts[{row.pid, row.start_ns}].Raise(row.counts);
    processes[{row.pid, row.start_ns}].push_back({sample.time_ns, row.rss_bytes, row.cpu_ns, row.threads,
                                                  /*open_chunks=*/{}, /*memory_limit_bytes=*/{},
                                                  row.counts.anonymous_bytes, row.counts.run_delay_ns});
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

void TreeLogReading::AddProblem(const std::string& path, std::string_view what) {
  constexpr size_t kProblemsNamed = 10;
  if (problems.size() < kProblemsNamed) problems.push_back(fmt::format("{}:{}: {}", path, lines, what));
}

absl::StatusOr<TreeLine> ParseTreeLine(const std::string& text) {
  static thread_local simdjson::dom::parser parser;
  element line;
  const simdjson::error_code error = parser.parse(text).get(line);
  if (error != simdjson::SUCCESS || !line.is_object()) {
    return absl::DataLossError(absl::StrCat("not JSON (", simdjson::error_message(error), ")"));
  }
  std::string type, schema;
  TakeField(line, "type", &type);
  if (type == "tree_sample") return ReadSample(line);
  if (type == "reaped") return ReadReap(line);
  if (type == "run_end") return ReadEnd(line);
  if (type == "run" && TakeField(line, "schema", &schema) && schema == kTreeLogSchema) return ReadRun(line);
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
      reading.AddProblem(path, std::string(line.status().message()) + "; it was left out");
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
    reading.AddProblem(path, std::string(file.status().message()) + "; what was read so far is used");
  }
  if (reading.lines == 0) {
    return absl::InvalidArgumentError(fmt::format(
        "{}:1: empty; `crema run` was killed before its first line, or its disk was full; remove the file", path));
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
  SampleFields::Add(sample, &line);
  AddIoFields("", sample.io, &line);
  AddNet(sample.net, &line);
  AddGpus(sample.gpus, &line);
  if (with_rows) {
    line.AddRows("process_rows", sample.process_rows, [](const TreeProcessFact& process, ObjectWriter* row) {
      ProcessFields::Add(process, row);
      if (!process.name.empty()) row->AddText("name", process.name);
      for (const auto& [key, member] : kProcessCounts) {
        if ((process.counts.*member).has_value()) row->Add(key, process.counts.*member);
      }
    });
  }
  line.EndLine();
}

void AppendLine(const TreeReapFact& reaped, std::string* out) {
  ObjectWriter line(out);
  line.Add("type", "reaped");
  ReapFields::Add(reaped, &line);
  line.EndLine();
}

void AppendLine(const TreeEndFact& end, std::string* out) {
  ObjectWriter line(out);
  line.Add("type", "run_end");
  FirstFieldsOfEnd::Add(end, &line);
  for (const auto& [key, member, adds_up] : kTreeTotalFields) {
    if (member == &TreeTotals::max_processes) AddIoFields("tree_", end.totals.io, &line);
    if (member == &TreeTotals::tree_cpu_sampled) AddNet(end.totals.net, &line);
    line.Add(key, end.totals.*member);
  }
  AddGpus(end.gpus, &line);
  LastFieldsOfEnd::Add(end, &line);
  line.EndLine();
}

absl::StatusOr<TreeLogWriter> TreeLogWriter::Create(const std::string& directory, const std::string& host, int64_t pid,
                                                    int64_t start_ns) {
  std::string path = absl::StrCat(directory, "/", host, "-", pid, "-", start_ns);
  path.append(kTreeLogSuffix);
  Descriptor file(path, O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_NOFOLLOW);
  if (file < 0) {
    return absl::UnavailableError(
        fmt::format("{}: cannot be created ({}); choose another directory with -o", path, strerror(errno)));
  }
  flock(file, LOCK_EX | LOCK_NB);  // some network file systems have no locks: then the log never looks running
  return TreeLogWriter(std::move(path), std::move(file));
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
    written = write(file_, line_.data(), line_.size());
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

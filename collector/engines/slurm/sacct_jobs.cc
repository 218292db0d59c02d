#include "collector/engines/slurm/sacct_jobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "collector/engines/slurm/sacct_values.h"

namespace crema {
namespace {

/// Beyond it a job's nodes are one worker.
constexpr size_t kMostNodes = 4096;
constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();
constexpr int64_t kMostCount = 1'000'000'000;
constexpr int64_t kMostBytes = int64_t{1} << 60;
constexpr int64_t kSignalOfShell = 128;  // a shell adds it to the signal that ended its command

int64_t CountOf(std::string_view text, int64_t otherwise) {
  int64_t count = 0;
  const bool is_count = absl::SimpleAtoi(absl::string_view(text.data(), text.size()), &count);
  return is_count && count > 0 && count < kMostCount ? count : otherwise;
}

/// `CANCELLED by 1000` is the state CANCELLED.
std::string_view Bare(std::string_view state) { return state.substr(0, state.find_first_of(" +")); }

/// Slurm, a node or a user ended it.
bool IsEndedByOthers(std::string_view state) {
  constexpr std::string_view kStates[] = {"TIMEOUT",  "OUT_OF_MEMORY", "NODE_FAIL", "PREEMPTED", "CANCELLED",
                                          "DEADLINE", "BOOT_FAIL",     "REQUEUED",  "REVOKED",   "LAUNCH_FAILED"};
  return std::find(std::begin(kStates), std::end(kStates), Bare(state)) != std::end(kStates);
}

/// The signal that ended it, as its own exit or as a shell's; 0: none.
int64_t SignalOf(std::string_view exit_text) {
  const SacctExit exit = ParseSacctExit(exit_text).value_or(SacctExit());
  if (exit.signal > 0) return exit.signal;
  return exit.code > kSignalOfShell && exit.code < 2 * kSignalOfShell ? exit.code - kSignalOfShell : 0;
}

bool IsLost(std::string_view state, std::string_view exit) {
  return IsEndedByOthers(state) || (Bare(state) == "FAILED" && SignalOf(exit) > 0);
}

/// `TIMEOUT`, `FAILED, signal 9`, `FAILED, exit code 3`.
std::string WhyOf(std::string_view state, std::string_view exit) {
  std::string text(state);
  if (Bare(state) != "FAILED") return text;
  const int64_t code = ParseSacctExit(exit).value_or(SacctExit()).code;
  if (const int64_t signal = SignalOf(exit); signal > 0) return text + fmt::format(", signal {}", signal);
  return code > 0 ? text + fmt::format(", exit code {}", code) : text;
}

/// What a process says of itself (docs/record_log.md, "`engine`").
std::string JobOfProcess(std::string_view id, std::string_view step) {
  if (id.empty()) return "";
  const bool has_number = !step.empty() && step.find_first_not_of("0123456789") == step.npos;
  return has_number ? fmt::format("slurm {}.{}", id, step) : fmt::format("slurm {}", id);
}

}  // namespace

std::vector<std::string_view> SplitSacctLine(std::string_view line) {
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  std::vector<std::string_view> cells;
  for (size_t at = 0;;) {
    const size_t end = line.find('|', at);
    cells.push_back(line.substr(at, end - at));
    if (end == line.npos) return cells;
    at = end + 1;
  }
}

SacctHeader::SacctHeader(std::string_view line) {
  const std::vector<std::string_view> names = SplitSacctLine(line);
  columns_ = names.size();
  for (size_t i = 0; i < names.size(); ++i) column_of_.emplace(names[i], i);
}

bool SacctHeader::is_sacct() const {
  const bool names_jobs = Has("JobID") || Has("JobIDRaw");
  return columns_ > 1 && names_jobs && (Has("State") || Has("Start") || Has("End") || Has("Elapsed"));
}

bool SacctJobs::Step::IsOn(const std::string& node) const {
  return node.empty() || nodes.empty() || std::find(nodes.begin(), nodes.end(), node) != nodes.end();
}

std::string_view SacctHeader::Of(const std::vector<std::string_view>& row, std::string_view name) const {
  const auto column = column_of_.find(std::string(name));
  return column == column_of_.end() || column->second >= row.size() ? std::string_view() : row[column->second];
}

SacctJobs::Run SacctJobs::ReadRun(const Row& row) const {
  Run run;
  run.state = std::string(Cell(row, "State"));
  run.exit = std::string(Cell(row, "ExitCode"));
  run.nodes = SacctNodes(Cell(row, "NodeList"), kMostNodes);
  run.nodes_count = CountOf(Cell(row, "AllocNodes"), std::max<int64_t>(1, static_cast<int64_t>(run.nodes.size())));
  const std::string_view allocated = Cell(row, "AllocTRES");
  run.cores = CountOf(Cell(row, "AllocCPUS"), CountOf(SacctResource(allocated, "cpu"), 0));
  if (run.cores == 0) run.cores = CountOf(Cell(row, "NCPUS"), CountOf(Cell(row, "ReqCPUS"), 0));
  const std::optional<int64_t> elapsed = SacctDurationNs(Cell(row, "Elapsed"));
  run.end_ns = SacctTimeNs(Cell(row, "End"));
  const std::optional<int64_t> start = SacctTimeNs(Cell(row, "Start"));
  if (start.has_value()) run.start_ns = *start;
  if (!start.has_value() && run.end_ns.has_value() && elapsed.has_value()) run.start_ns = *run.end_ns - *elapsed;
  if (run.start_ns > 0 && !run.end_ns.has_value() && elapsed.has_value() && !header_.Has("End") &&
      Bare(run.state) != "RUNNING") {
    run.end_ns = run.start_ns + *elapsed;
  }
  run.last_ns = run.end_ns.value_or(run.start_ns + elapsed.value_or(0));
  run.submit_ns = SacctTimeNs(Cell(row, "Submit"));
  run.time_limit_ns = SacctDurationNs(Cell(row, "Timelimit"));
  run.cpu_ns = SacctDurationNs(Cell(row, "TotalCPU"));
  std::optional<SacctMemory> memory = ParseSacctMemory(Cell(row, "ReqMem"));
  if (!memory.has_value()) memory = ParseSacctMemory(SacctResource(allocated, "mem"));
  if (!memory.has_value()) memory = ParseSacctMemory(SacctResource(Cell(row, "ReqTRES"), "mem"));
  if (memory.has_value() && memory->bytes > 0) {
    const int64_t nodes = run.nodes_count;
    const int64_t cores = std::max<int64_t>(1, run.cores / nodes);  // of one node
    run.memory_bytes = memory->of == SacctMemory::Of::kNode ? memory->bytes : memory->bytes / nodes;
    if (memory->of == SacctMemory::Of::kCore) {
      run.memory_bytes = cores < kMostBytes / memory->bytes ? std::optional(memory->bytes * cores) : std::nullopt;
    }
  }
  return run;
}

SacctJobs::Step SacctJobs::ReadStep(const Row& row, std::string_view name) const {
  const Run run = ReadRun(row);
  Step step;
  step.name = std::string(name);
  step.label = std::string(Cell(row, "JobName"));
  step.state = run.state;
  step.exit = run.exit;
  step.nodes = run.nodes;
  step.start_ns = run.start_ns;
  step.end_ns = run.end_ns;
  // MaxRSS is of the largest of a step's tasks, the total of all tasks together.
  const bool is_one_task = name == "batch" || Cell(row, "NTasks") == "1";
  std::optional<SacctMemory> peak;
  if (is_one_task) peak = ParseSacctMemory(Cell(row, "MaxRSS"));
  const bool is_on_one_node = run.nodes_count == 1;
  if (!peak.has_value() && is_on_one_node) peak = ParseSacctMemory(SacctResource(Cell(row, "TRESUsageInTot"), "mem"));
  if (peak.has_value() && peak->bytes > 0) step.peak_bytes = peak->bytes;
  step.used_more = !step.peak_bytes.has_value() && !Cell(row, "MaxRSS").empty();
  return step;
}

SacctLine SacctJobs::Add(std::string_view line) {
  const Row row = SplitSacctLine(line);
  if (row.size() != header_.columns()) return SacctLine::kMalformed;
  std::string_view name = Cell(row, "JobID");
  std::string_view raw = Cell(row, "JobIDRaw");
  if (name.empty()) name = raw;
  const size_t dot = name.find('.');
  const std::string_view step = dot == name.npos ? std::string_view() : name.substr(dot + 1);
  name = name.substr(0, dot);
  if (name.empty() || name.find_first_of("0123456789") != 0) return SacctLine::kMalformed;
  raw = raw.substr(0, raw.find('.'));
  if (raw.empty() && name.find_first_not_of("0123456789") == name.npos) raw = name;
  const std::string cluster(Cell(row, "Cluster"));
  const auto [entry, is_new] = job_of_.try_emplace(fmt::format("{} {}", cluster, name), jobs_.size());
  if (is_new) jobs_.push_back({cluster, std::string(raw), std::string(name), {}, {}});
  Job& job = jobs_[entry->second];
  if (dot == line.npos || step.empty()) {
    job.label = std::string(Cell(row, "JobName"));
    job.runs.push_back(ReadRun(row));
    return SacctLine::kTaken;
  }
  if (step == "extern") return SacctLine::kTaken;          // what Slurm itself adopts
  if (job.runs.empty()) job.runs.push_back(ReadRun(row));  // the job's own row is missing
  Step read = ReadStep(row, step);
  // Of several runs it is of the last that had begun.
  auto run = job.runs.end() - 1;
  while (run != job.runs.begin() && run->start_ns > read.start_ns) --run;
  run->steps.push_back(std::move(read));
  return SacctLine::kTaken;
}

// Steps that are there at once add up; their sum is largest at the start of one.
std::optional<int64_t> SacctJobs::PeakOn(const std::string& node, const std::vector<Step>& steps) {
  std::vector<std::pair<int64_t, int64_t>> changes;  // at an end first
  for (const Step& step : steps) {
    if (!step.IsOn(node)) continue;
    if (step.used_more) return std::nullopt;
    if (!step.peak_bytes.has_value()) continue;
    changes.emplace_back(step.start_ns, *step.peak_bytes);
    if (step.end_ns.has_value()) changes.emplace_back(std::max(*step.end_ns, step.start_ns + 1), -*step.peak_bytes);
  }
  std::sort(changes.begin(), changes.end());
  std::optional<int64_t> peak;
  int64_t sum = 0;
  for (const auto& [time_ns, bytes] : changes) {
    if (bytes > kMostBytes - sum) return std::nullopt;
    sum += bytes;
    if (bytes > 0) peak = std::max(peak.value_or(0), sum);
  }
  return peak;
}

void SacctJobs::AddRun(const Job& job, size_t number, ClusterFact* cluster) {
  const Run& run = job.runs[number];
  // Steps that were ended by others had processes that vanished, whatever the script made of it.
  std::string why = WhyOf(run.state, run.exit);
  bool is_lost = IsLost(run.state, run.exit);
  for (const Step& step : run.steps) {
    if (step.state == run.state || !IsLost(step.state, step.exit)) continue;
    const bool knows_more =
        Bare(run.state) == "FAILED" && Bare(step.state) != "CANCELLED" && IsEndedByOthers(step.state);
    if (!is_lost || knows_more) why = fmt::format("step {} {}", step.name, WhyOf(step.state, step.exit));
    is_lost = true;
  }
  const bool has_numbers = std::any_of(run.steps.begin(), run.steps.end(), [](const Step& step) {
    return step.name != "batch" && step.name != "interactive";
  });
  std::vector<std::string> nodes = run.nodes;
  if (nodes.empty() || static_cast<int64_t>(nodes.size()) != run.nodes_count) nodes.assign(1, "");
  const auto count = static_cast<int64_t>(nodes.size());
  const std::string repeat = number == 0 ? "" : fmt::format(", run {}", number + 1);
  const auto address_on = [&](const std::string& node) {
    return count == 1 ? fmt::format("job {}{}", job.name, repeat)
                      : fmt::format("job {}{} on {}", job.name, repeat, node);
  };
  for (const std::string& node : nodes) {
    ClusterWorkerFact& worker = cluster->workers.emplace_back();
    worker.address = address_on(node);
    worker.host = node;
    worker.threads = run.cores / count;
    worker.memory_limit_bytes = run.memory_bytes;
    worker.joined_ns = run.start_ns;
    worker.left_ns = run.end_ns;
    worker.is_lost = is_lost && run.end_ns.has_value();
    worker.time_limit_ns = run.time_limit_ns;
    if (count == 1) worker.cpu_ns = run.cpu_ns;
    worker.peak_memory_bytes = PeakOn(node, run.steps);
    if (!run.end_ns.has_value()) continue;
    worker.left_reason = why;
    // Without control groups Slurm only sends a signal, and does not say for what.
    const bool is_beyond = worker.peak_memory_bytes.value_or(0) > run.memory_bytes.value_or(kNoLimit);
    if (is_lost && is_beyond && !absl::StrContains(why, "OUT_OF_MEMORY")) {
      worker.left_reason += ", beyond its memory limit";
    }
  }
  const auto add_task = [&](const Step& step) {
    for (const std::string& node : nodes) {
      if (!step.IsOn(node)) continue;
      ClusterTaskFact& task = cluster->tasks.emplace_back();
      task.worker = address_on(node);
      task.prefix = step.label.empty() ? step.name : step.label;
      task.start_ns = std::max(step.start_ns, run.start_ns);
      task.stop_ns = std::max(task.start_ns, step.end_ns.value_or(run.last_ns));
      if (run.submit_ns.has_value()) task.queue_ns = std::max<int64_t>(0, run.start_ns - *run.submit_ns);
      const SacctExit exit = ParseSacctExit(step.exit).value_or(SacctExit());
      task.failed = (Bare(step.state) != "COMPLETED" && Bare(step.state) != "RUNNING") || exit.code + exit.signal > 0;
      task.job = JobOfProcess(job.id, step.name);
      // Beside steps it mostly starts them, and its cores are theirs.
      task.is_script = step.name == "batch" && has_numbers;
      task.is_repeat = number > 0;
      const bool has_ended = run.end_ns.has_value() || step.end_ns.has_value();
      task.is_last = number + 1 == job.runs.size() && has_ended && Bare(run.state) != "CANCELLED";
    }
  };
  for (const Step& step : run.steps) add_task(step);
  if (!run.steps.empty()) return;
  Step whole;
  whole.name = "batch";
  whole.label = job.label;
  whole.state = run.state;
  whole.exit = run.exit;
  whole.start_ns = run.start_ns;
  whole.end_ns = run.end_ns;
  add_task(whole);
}

ClusterFact SacctJobs::FactOf(const Job& job) {
  ClusterFact cluster;
  cluster.address = fmt::format("job {}", job.name);
  cluster.epoch = fmt::format("{} {} {}", job.cluster, job.name, job.runs.front().submit_ns.value_or(0));
  cluster.closed = true;
  ClusterSessionFact session;
  for (size_t i = 0; i < job.runs.size(); ++i) {
    const Run& run = job.runs[i];
    if (run.start_ns <= 0) continue;  // it never began
    session.begin_ns = std::min(session.begin_ns.value_or(run.start_ns), run.start_ns);
    cluster.last_ns = std::max(cluster.last_ns, run.last_ns);
    cluster.closed = cluster.closed && run.end_ns.has_value();
    AddRun(job, i, &cluster);
  }
  cluster.first_ns = session.begin_ns.value_or(0);
  if (cluster.closed) session.end_ns = session.flushed_ns = cluster.last_ns;
  if (job.id.empty() && !cluster.workers.empty()) {
    cluster.complaints.push_back(fmt::format(
        "job {} is part of an array: crema knows its processes only if you also ask sacct for JobIDRaw", job.name));
  }
  cluster.sessions.push_back(session);
  return cluster;
}

std::vector<ClusterFact> SacctJobs::Finish() && {
  std::vector<ClusterFact> clusters;
  for (const Job& job : jobs_) {
    ClusterFact cluster = FactOf(job);
    if (!cluster.workers.empty()) clusters.push_back(std::move(cluster));
  }
  return clusters;
}

}  // namespace crema

// Slurm, from what sacct says of its jobs.

#include <set>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "collector/engines/log_lines.h"
#include "collector/engines/slurm/sacct_table.h"
#include "collector/idioms/units.h"
#include "collector/records/cluster_facts.h"
#include "collector/records/facts.h"

namespace crema {
namespace {

/// Beyond it a job's nodes are one worker.
constexpr size_t kMostNodes = 4096;
constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();
constexpr int64_t kMostCount = 1'000'000'000;
constexpr int64_t kMostRunBytes = int64_t{1} << 60;

int64_t CountOf(std::string_view text, int64_t otherwise) {
  const int64_t count = Parsed<int64_t>(text).value_or(0);
  return count > 0 && count < kMostCount ? count : otherwise;
}

/// The whole state where the column cut it. Only CANCELLED grows too wide: it names who cancelled the job.
std::string WholeState(std::string_view cell) {
  if (cell.empty() || cell.back() != '+') return std::string(cell);
  const std::string_view state = SacctState(cell);
  return state == "CANCELLED" ? "CANCELLED by its user" : std::string(state);
}

bool IsOneOf(std::initializer_list<std::string_view> states, std::string_view state) {
  return absl::c_linear_search(states, SacctState(state));
}

/// Slurm, a node or a user ended it.
bool IsEndedByOthers(std::string_view state) {
  return IsOneOf({"TIMEOUT", "OUT_OF_MEMORY", "NODE_FAIL", "PREEMPTED", "CANCELLED", "DEADLINE", "BOOT_FAIL",
                  "REQUEUED", "REVOKED", "LAUNCH_FAILED"},
                 state);
}

/// The signal that ended it, as its own exit or as a shell's; 0: none.
int64_t SignalOf(std::string_view exit_text) {
  const SacctExit exit = ParseSacctExit(exit_text).value_or(SacctExit());
  return exit.signal > 0 ? exit.signal : SignalOfExit(exit.code);
}

bool IsLost(std::string_view state, std::string_view exit) {
  return IsEndedByOthers(state) || (SacctState(state) == "FAILED" && SignalOf(exit) > 0);
}

/// `TIMEOUT`, `FAILED, signal 9`, `FAILED, exit code 3`.
std::string WhyOf(std::string_view state, std::string_view exit) {
  std::string text(state);
  if (SacctState(state) != "FAILED") return text;
  const int64_t code = ParseSacctExit(exit).value_or(SacctExit()).code;
  if (const int64_t signal = SignalOf(exit); signal > 0) return text + fmt::format(", signal {}", signal);
  return code > 0 ? text + fmt::format(", exit code {}", code) : text;
}

/// It has not come to an end.
bool IsGoingOn(std::string_view state) {
  return IsOneOf(
      {"RUNNING", "COMPLETING", "CONFIGURING", "SUSPENDED", "STOPPED", "SIGNALING", "RESIZING", "STAGE_OUT", "PENDING"},
      state);
}

/// Who cancelled it, by `CANCELLED by 1000`; empty: nobody did, or it is not known. The system and its administrators
/// are 0.
std::string_view CancelledBy(std::string_view state) {
  constexpr std::string_view kBy = "CANCELLED by ";
  return state.substr(0, kBy.size()) == kBy ? state.substr(kBy.size()) : std::string_view();
}
bool IsEndedBySystem(std::string_view state) { return CancelledBy(state) == "0" || CancelledBy(state) == "root"; }
bool IsEndedByUser(std::string_view state) { return !CancelledBy(state).empty() && !IsEndedBySystem(state); }

/// What a process says of itself (docs/record_log.md, "`engine`").
std::string JobOfProcess(std::string_view id, std::string_view step) {
  if (id.empty()) return "";
  const bool has_number = !step.empty() && step.find_first_not_of("0123456789") == step.npos;
  return has_number ? fmt::format("slurm {}.{}", id, step) : fmt::format("slurm {}", id);
}

/// Start and end, where the log has them. A local time in the hour that comes twice, when clocks are set back, is the
/// one that fits the elapsed time.
template <class Run>
void SetTimes(std::string_view start_text, std::string_view end_text, std::string_view elapsed_text, Run* run) {
  const std::optional<LogTime> start = ParseSacctTime(start_text), end = ParseSacctTime(end_text);
  const std::optional<int64_t> elapsed = SacctDurationNs(elapsed_text);
  if (start.has_value()) run->start_ns = start->time_ns;
  if (end.has_value()) run->end_ns = end->time_ns;
  if (start.has_value() && end.has_value()) {
    const auto fits = [&elapsed](int64_t start_ns, int64_t end_ns) {
      return elapsed.has_value() ? std::abs(end_ns - start_ns - *elapsed) <= kSecondNs : end_ns >= start_ns;
    };
    const int64_t late_start_ns = start->later_ns.value_or(start->time_ns);
    const int64_t late_end_ns = end->later_ns.value_or(end->time_ns);
    if (!fits(start->time_ns, end->time_ns)) {
      if (fits(start->time_ns, late_end_ns)) {
        run->end_ns = late_end_ns;
      } else if (fits(late_start_ns, late_end_ns)) {
        run->start_ns = late_start_ns;
        run->end_ns = late_end_ns;
      } else if (elapsed.has_value() && *run->end_ns - run->start_ns < *elapsed - kSecondNs) {
        run->end_ns = run->start_ns + *elapsed;  // of another zone's clock; a suspended job elapses less than it lasts
      }
    }
  }
  if (!start.has_value() && end.has_value() && elapsed.has_value()) run->start_ns = *run->end_ns - *elapsed;
  if (start.has_value() && !end.has_value() && end_text.empty() && elapsed.has_value() && !IsGoingOn(run->state)) {
    run->end_ns = run->start_ns + *elapsed;
  }
  run->last_ns = run->end_ns.value_or(run->start_ns + elapsed.value_or(0));
}

/// The rows of sacct as facts: a job on a node is a worker, a step on a node is a task. A job that was put into the
/// queue again has several rows with `--duplicates`: each is a run of it.
class SacctJobs {
 public:
  /// A run has several rows if queries overlap; the last one counts. False: the cells are not a row of sacct.
  bool Add(const SacctHeader& header, const SacctCells& cells) {
    const Row row = {header, cells};
    std::string_view name = row["JobID"];
    std::string_view raw = row["JobIDRaw"];
    if (name.empty()) name = raw;
    const size_t dot = name.find('.', name.find(']') + 1);  // `40_[3-10,12,...]` is cut, and has no step
    const std::string_view step = dot == name.npos ? std::string_view() : name.substr(dot + 1);
    name = name.substr(0, dot);
    const bool is_state = row["State"].empty() || !SacctState(row["State"]).empty();
    if (name.empty() || name.find_first_of("0123456789") != 0 || !is_state) return false;
    raw = raw.substr(0, raw.find('.'));
    if (raw.empty() && name.find_first_not_of("0123456789") == name.npos) raw = name;
    const std::string cluster(row["Cluster"]);
    const auto [entry, is_new] = job_of_.try_emplace(fmt::format("{} {}", cluster, name), jobs_.size());
    if (is_new) jobs_.push_back({cluster, std::string(raw), std::string(name), {}, {}, {}, {}, 1});
    Job& job = jobs_[entry->second];
    if (step.empty()) {
      job.label = std::string(row["JobName"]);
      Run run = ReadRun(row);
      const auto same = absl::c_find_if(
          job.runs, [&run](const Run& other) { return other.start_ns == run.start_ns || other.start_ns == 0; });
      Keep(std::move(run), same, &job.runs);
      return true;
    }
    if (step == "extern") return true;  // what Slurm itself adopts
    Step read = ReadStep(row, step);
    if (read.start_ns == 0 && !read.end_ns.has_value()) return true;  // it never began
    if (job.steps.empty()) job.stand_in = ReadRun(row);
    const size_t at = job.step_at.try_emplace({read.name, read.start_ns}, job.steps.size()).first->second;
    Keep(std::move(read), job.steps.begin() + static_cast<ptrdiff_t>(at), &job.steps);
    return true;
  }
  /// One for each job.
  std::vector<ClusterFact> Finish() && {
    std::vector<ClusterFact> clusters;
    CountPlaces();
    for (Job& job : jobs_) {
      GiveStepsToRuns(&job);
      if (job.stands_for > 0) clusters.push_back(FactOf(job));
    }
    return clusters;
  }

 private:
  /// One run, or one of its steps.
  struct Spell {
    std::string state;
    std::string exit;
    std::vector<std::string> nodes;
    int64_t start_ns = 0;
    std::optional<int64_t> end_ns;
  };
  struct Step : Spell {
    std::string name;                   ///< `batch`, `0`
    std::string label;                  ///< what it ran
    std::optional<int64_t> peak_bytes;  ///< of all its processes on a node
    bool used_more = false;             ///< only that of one of its processes is known

    bool IsOn(const std::string& node) const {
      return node.empty() || nodes.empty() || absl::c_linear_search(nodes, node);
    }
  };
  struct Run : Spell {
    int64_t nodes_count = 1;
    int64_t cores = 0;
    int64_t last_ns = 0;
    std::optional<int64_t> submit_ns;
    std::optional<int64_t> memory_bytes;  ///< of one node
    std::optional<int64_t> time_limit_ns;
    std::optional<int64_t> cpu_ns;
    std::string reason;  ///< why it waits
    std::vector<Step> steps;
  };
  struct Job {
    std::string cluster;
    std::string id;    ///< as processes know it; empty: only its place in an array is known
    std::string name;  ///< as people know it: `81420_1`
    std::string label;
    std::vector<Run> runs;
    std::vector<Step> steps;  ///< before they are given to runs
    Run stand_in;             ///< of the first step, where the job's own row is missing
    int64_t stands_for = 1;   ///< jobs: the rest of an array is one row
    std::map<std::pair<std::string, int64_t>, size_t> step_at = {};  ///< place of a step, by name and start
  };

  /// A row with the names of its cells.
  struct Row {
    const SacctHeader& header;
    const SacctCells& cells;
    std::string_view operator[](std::string_view name) const { return header.Of(cells, name); }
  };
  static Run ReadRun(const Row& row) {
    Run run;
    run.state = WholeState(row["State"]);
    run.exit = std::string(row["ExitCode"]);
    run.nodes = SacctNodes(row["NodeList"], kMostNodes);
    run.nodes_count = CountOf(row["AllocNodes"], std::max<int64_t>(1, static_cast<int64_t>(run.nodes.size())));
    const std::string_view allocated = row["AllocTRES"];
    run.cores = CountOf(row["AllocCPUS"], CountOf(SacctResource(allocated, "cpu"), 0));
    if (run.cores == 0) run.cores = CountOf(row["NCPUS"], CountOf(row["ReqCPUS"], 0));
    SetTimes(row["Start"], row["End"], row["Elapsed"], &run);
    // Older versions give a job that was cancelled while it waited the time of this as its start.
    const bool got_no_node = SacctState(run.state) == "CANCELLED" && row["NodeList"] == "None assigned";
    if (got_no_node && run.end_ns == run.start_ns) run.start_ns = 0;
    if (const auto submitted = ParseSacctTime(row["Submit"])) run.submit_ns = submitted->time_ns;
    run.reason = std::string(row["Reason"]);
    run.time_limit_ns = SacctDurationNs(row["Timelimit"]);
    // Slurm writes 0 for a step that still runs, or whose node went away: it gathered nothing.
    run.cpu_ns = SacctDurationNs(row["TotalCPU"]);
    if (run.cpu_ns == 0 || !run.end_ns.has_value()) run.cpu_ns.reset();
    std::optional<SacctMemory> memory = ParseSacctMemory(row["ReqMem"]);
    if (!memory.has_value()) memory = ParseSacctMemory(SacctResource(allocated, "mem"));
    if (!memory.has_value()) memory = ParseSacctMemory(SacctResource(row["ReqTRES"], "mem"));
    if (memory.has_value() && memory->bytes > 0) {
      const int64_t nodes = run.nodes_count;
      const int64_t cores = std::max<int64_t>(1, run.cores / nodes);  // of one node
      run.memory_bytes = memory->of == SacctMemory::Of::kNode ? memory->bytes : memory->bytes / nodes;
      if (memory->of == SacctMemory::Of::kCore) {
        run.memory_bytes = cores < kMostRunBytes / memory->bytes ? std::optional(memory->bytes * cores) : std::nullopt;
      }
    }
    return run;
  }
  static Step ReadStep(const Row& row, std::string_view name) {
    const Run run = ReadRun(row);
    Step step = {run, std::string(name), std::string(row["JobName"]), {}, false};
    // MaxRSS is of the largest of a step's tasks, the total of all tasks together.
    const bool is_one_task = name == "batch" || row["NTasks"] == "1";
    std::optional<SacctMemory> peak;
    if (is_one_task) peak = ParseSacctMemory(row["MaxRSS"]);
    if (!peak.has_value() && run.nodes_count == 1) peak = ParseSacctMemory(SacctResource(row["TRESUsageInTot"], "mem"));
    if (peak.has_value() && peak->bytes > 0) step.peak_bytes = peak->bytes;
    step.used_more = !step.peak_bytes.has_value() && !row["MaxRSS"].empty();
    return step;
  }
  /// Adds what was read, or puts it in the place of an earlier row of the same.
  template <class Read>
  static void Keep(Read read, typename std::vector<Read>::iterator same, std::vector<Read>* rows) {
    if (same == rows->end()) {
      rows->push_back(std::move(read));
    } else if (!same->end_ns.has_value() || read.end_ns.has_value()) {  // else an older row, behind the newer one
      *same = std::move(read);
    }
  }
  // Gives each step to the last run that had begun by then.
  static void GiveStepsToRuns(Job* job) {
    if (job->runs.empty()) job->runs.push_back(std::move(job->stand_in));
    absl::c_stable_sort(job->runs, [](const Run& a, const Run& b) {
      return a.start_ns > 0 && (b.start_ns == 0 || a.start_ns < b.start_ns);  // one that waits is the last
    });
    for (Step& step : job->steps) {
      auto run = job->runs.end() - 1;
      while (run != job->runs.begin() && (run->start_ns == 0 || run->start_ns > step.start_ns)) --run;
      run->steps.push_back(std::move(step));
    }
  }
  /// `900_[6-8%2]` stands for places that have no rows of their own by now.
  void CountPlaces() {
    constexpr size_t kMost = 4'000'000;
    std::set<std::string> counted;
    for (auto job = jobs_.rbegin(); job != jobs_.rend(); ++job) {  // the last row holds
      const size_t open = job->name.find('['), close = job->name.find_first_of("%].", open);
      if (open == job->name.npos || close == job->name.npos) continue;
      const std::vector<std::string> names = SacctNodes(job->name.substr(0, close) + "]", kMost);
      job->stands_for = absl::c_count_if(names, [&](const std::string& name) {
        const std::string place = fmt::format("{} {}", job->cluster, name);
        return job_of_.count(place) == 0 && counted.insert(place).second;
      });
    }
  }
  static ClusterFact FactOf(const Job& job) {
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
    const Run& last = job.runs.back();
    cluster.is_removed = IsEndedByUser(last.state);
    if (!session.begin_ns.has_value()) {
      cluster.closed = !IsGoingOn(last.state);
      cluster.never_began_jobs = job.stands_for;
      cluster.never_began =
          last.reason.empty() || last.reason == "None" ? last.state : fmt::format("{}: {}", last.state, last.reason);
      if (job.name.find("...") != job.name.npos) {
        cluster.complaints.push_back(cluster.address +
                                     ": sacct cut the list of its places, so some jobs are not "
                                     "counted; `sacct --array` has them all");
      }
      return cluster;
    }
    cluster.first_ns = *session.begin_ns;
    if (last.start_ns <= 0 && IsGoingOn(last.state)) cluster.closed = false;  // it waits to be run again
    if (cluster.closed) session.end_ns = session.flushed_ns = cluster.last_ns;
    if (job.id.empty() && !cluster.workers.empty()) {
      cluster.complaints.push_back(
          fmt::format("job {} is part of {}: crema knows its processes only if you also ask sacct for JobIDRaw",
                      job.name, job.name.find('+') == job.name.npos ? "an array" : "a heterogeneous job"));
    }
    cluster.sessions.push_back(session);
    return cluster;
  }
  // Steps that are there at once add up; their sum is largest at the start of one.
  static std::optional<int64_t> PeakOn(const std::string& node, const std::vector<Step>& steps) {
    std::vector<std::pair<int64_t, int64_t>> changes;  // at an end first
    for (const Step& step : steps) {
      if (!step.IsOn(node)) continue;
      if (step.used_more) return std::nullopt;
      if (!step.peak_bytes.has_value()) continue;
      changes.emplace_back(step.start_ns, *step.peak_bytes);
      if (step.end_ns.has_value()) changes.emplace_back(std::max(*step.end_ns, step.start_ns + 1), -*step.peak_bytes);
    }
    absl::c_sort(changes);
    std::optional<int64_t> peak;
    int64_t sum = 0;
    for (const auto& [time_ns, bytes] : changes) {
      if (bytes > kMostRunBytes - sum) return std::nullopt;
      sum += bytes;
      if (bytes > 0) peak = std::max(peak.value_or(0), sum);
    }
    return peak;
  }
  static void AddRun(const Job& job, size_t number, ClusterFact* cluster) {
    const Run& run = job.runs[number];
    // Steps that were ended by others had processes that vanished, whatever the script made of it.
    std::string why = WhyOf(run.state, run.exit);
    const bool is_by_user = IsEndedByUser(run.state);
    bool is_lost = IsLost(run.state, run.exit) && !is_by_user;
    for (const Step& step : run.steps) {
      if (is_by_user || step.state == run.state || !IsLost(step.state, step.exit)) continue;
      const bool knows_more =
          SacctState(run.state) == "FAILED" && SacctState(step.state) != "CANCELLED" && IsEndedByOthers(step.state);
      if (!is_lost || knows_more) why = fmt::format("step {} {}", step.name, WhyOf(step.state, step.exit));
      is_lost = true;
    }
    const bool has_numbers =
        absl::c_any_of(run.steps, [](const Step& step) { return step.name != "batch" && step.name != "interactive"; });
    std::vector<std::string> nodes = run.nodes;
    if (nodes.empty() || static_cast<int64_t>(nodes.size()) != run.nodes_count) nodes.assign(1, "");
    const auto count = static_cast<int64_t>(nodes.size());
    const std::string name = cluster->address + (number == 0 ? "" : fmt::format(", run {}", number + 1));
    const auto address_on = [&](const std::string& node) { return count == 1 ? name : name + " on " + node; };
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
        task.failed = (SacctState(step.state) != "COMPLETED" && !IsGoingOn(step.state)) || exit.code + exit.signal > 0;
        // By a place in an array no process names itself.
        task.job = JobOfProcess(job.id.empty() ? job.name : job.id, step.name);
        // Beside steps it mostly starts them, and its cores are theirs.
        task.is_script = step.name == "batch" && has_numbers;
        task.is_repeat = number > 0;
        const bool has_ended = run.end_ns.has_value() || step.end_ns.has_value();
        const bool is_cancelled = SacctState(run.state) == "CANCELLED" && !IsEndedBySystem(run.state);
        task.is_last = number + 1 == job.runs.size() && has_ended && !is_cancelled;
      }
    };
    for (const Step& step : run.steps) add_task(step);
    if (run.steps.empty()) add_task({run, "batch", job.label, {}, false});
  }

  std::vector<Job> jobs_;
  std::map<std::string, size_t> job_of_;  // by cluster and name
};

constexpr EngineTraits kSlurmTraits = {"Slurm", "scheduler", "step", "what `sacct --parsable2` or `sacct --json` wrote",
                                       {},      {},          {},     /*numbers_jobs=*/true};
constexpr size_t kHeadBytes = 8192;
constexpr size_t kRowsBytes = 262'144;  // so much of a file without a header shows its columns
constexpr std::string_view kAsk =
    "sacct did not say when jobs ran: ask it for the columns JobID, JobIDRaw, State, Start and End, with --parsable2";

bool IsJson(const std::string& head) {
  const auto has = [&head](const char* text) { return absl::StrContains(head, text); };
  return head.compare(0, 1, "{") == 0 && has("\"jobs\"") &&
         (has("\"job_id\"") || has("sacct") || has("\"Slurm\"") || has("\"slurm\""));
}

/// For a file that has no header.
std::optional<SacctHeader> ReadColumns(const std::string& path) {
  const std::string head = ReadBeginning(path, kRowsBytes);
  const bool is_other = SacctHeader(std::string_view(head).substr(0, head.find('\n'))).is_sacct() || head[0] == '{';
  return is_other ? std::nullopt : RecogniseSacctColumns(head);
}

std::optional<std::string> FindSacct(const std::string& path) {
  const std::string head = ReadBeginning(path, kHeadBytes);
  if (IsJson(head)) return path;
  const size_t end = head.find('\n');
  if (end == head.npos || head.find('\0') < end) return std::nullopt;
  const bool is_sacct = SacctHeader(std::string_view(head).substr(0, end)).is_sacct() || ReadColumns(path).has_value();
  return is_sacct ? std::optional(path) : std::nullopt;
}

absl::StatusOr<EngineReading> ReadSacct(const std::string& log) {
  EngineReading reading;
  LogLines lines(log, &reading);
  if (absl::Status opened = lines.opened(); !opened.ok()) return opened;
  SacctJobs jobs;
  SacctHeader header;
  if (IsJson(ReadBeginning(log, kHeadBytes))) {
    std::string text;
    for (std::string line; lines.Next(&line);) text += line + "\n";
    const absl::StatusOr<std::vector<SacctCells>> rows = ReadSacctJson(text, &header);
    if (!rows.ok()) return absl::InvalidArgumentError(fmt::format("{}: {}", log, std::string(rows.status().message())));
    reading.lines = static_cast<int64_t>(rows->size());
    for (const SacctCells& row : *rows) reading.malformed += !jobs.Add(header, row);
  } else if (std::optional<SacctHeader> columns = ReadColumns(log)) {
    header = *std::move(columns);
    reading.problems.push_back(
        fmt::format("{}: sacct wrote no header; crema took jobs, states and times, which nothing else can be, and left "
                    "all other columns; run sacct without --noheader for cores, CPU time and memory",
                    log));
  }
  for (std::string line; lines.Next(&line);) {
    if (line.empty()) continue;
    // Files of several queries, one behind the other, name their columns again.
    if (SacctHeader next(line.find("JobID") == line.npos ? "" : line); next.is_sacct()) {
      if (!next.has_times()) return absl::InvalidArgumentError(fmt::format("{}:{}: {}", log, lines.number(), kAsk));
      header = std::move(next);
      continue;
    }
    if (header.is_table() && header.TakeWidths(line)) continue;
    ++reading.lines;
    const std::optional<SacctCells> row = header.Split(line);
    if (row.has_value() && jobs.Add(header, *row)) continue;
    ++(lines.is_whole() ? reading.malformed : reading.torn);
    lines.Complain(lines.is_whole() ? "the line is not from sacct, or has other columns than the first line; if a cell "
                                      "holds the delimiter, choose another one (sacct --delimiter)"
                                    : "the line is cut");
  }
  if (reading.lines == 0) reading.problems.push_back(log + ": sacct listed no job; see its options -j and -S");
  reading.clusters = std::move(jobs).Finish();
  for (ClusterFact& cluster : reading.clusters) cluster.seen_ns = header.Has("Elapsed") ? 0 : WrittenNs(log);
  return reading;
}

}  // namespace

const Engine kSlurm = {kSlurmTraits, "", ".sacct.txt", FindSacct, ReadSacct};

}  // namespace crema

// Verdicts on what the kernel did for chunks (system calls, page faults), and for a command without chunks.
#include <algorithm>
#include <string>

#include "collector/appearance/human_numbers.h"
#include "collector/insight/tree_figures.h"
#include "collector/insight/verdict_families.h"
#include "fmt/format.h"

namespace crema {
namespace {

/// CPU time of the owner threads of chunks.
double OwnersCpu(const Measurement& measurement) {
  double seconds = measurement.Metric("chunk_cpu_time").value_or(0);
  for (const char* others : {"helper_cpu_time", "unannounced_cpu_time", "children_cpu_time"}) {
    seconds -= measurement.Metric(others).value_or(0);
  }
  return seconds;
}

/// Figures of the owner threads of chunks, and of the processes around them.
struct KernelWork {
  explicit KernelWork(const Measurement& measurement)
      : system_seconds(measurement.Metric("system_cpu_time").value_or(0)),
        cpu_seconds(OwnersCpu(measurement)),
        busy_seconds(measurement.Metric("busy_time").value_or(0)),
        minor_faults(measurement.Metric("minor_faults").value_or(0)),
        major_faults(measurement.Metric("chunk_major_faults").value_or(0)),
        calls(ReadCalls(measurement)) {}

  double system_share() const { return cpu_seconds > 0 ? std::min(1.0, system_seconds / cpu_seconds) : 0; }
  double minor_rate() const { return cpu_seconds > 0 ? minor_faults / cpu_seconds : 0; }
  double major_rate() const { return busy_seconds > 0 ? major_faults / busy_seconds : 0; }

  double system_seconds, cpu_seconds, busy_seconds, minor_faults, major_faults;
  SmallReadCalls calls;
};

void JudgeKernelTime(const JudgedRun& run, const KernelWork& work) {
  const VerdictRule& rule = RuleOf("kernel-time");
  const double of_all = run.ShareOf(work.system_seconds);
  if (!rule.threshold.Holds(work.system_share()) || !kMuchKernelTime.Holds(of_all)) return;
  std::string reason;
  if (kManyMinorFaults.Holds(work.minor_rate())) {
    reason =
        fmt::format("; it answered {} minor page faults meanwhile: pages of new memory", HumanCount(work.minor_faults));
  } else if (work.calls.are_many_and_small()) {
    reason = fmt::format("; it answered {} read calls of {} each meanwhile", HumanCount(work.calls.calls),
                         HumanData(work.calls.mean_bytes()));
  }
  run.Add(rule, work.system_share(),
          fmt::format("{} of the CPU time of your chunks was spent in the kernel, {} of the core-seconds{}.",
                      HumanPercent(work.system_share()), HumanPercent(of_all), reason),
          {{"system_cpu_time", work.system_seconds}, {"chunk_cpu_time", work.cpu_seconds}});
}

void JudgePageFaults(const JudgedRun& run, const KernelWork& work) {
  const VerdictRule& rule = RuleOf("page-faults");
  const double core_seconds = run.budget().core_seconds;
  const double stopped = run.Share("blocked") + run.Share("waiting") + work.system_seconds / core_seconds;
  const bool has_major = rule.threshold.Holds(work.major_rate()) && kMuchRequestTime.Holds(stopped);
  const bool has_minor =
      kManyMinorFaults.Holds(work.minor_rate()) && kMuchRequestTime.Holds(work.system_seconds / core_seconds);
  if (has_major) {
    run.Add(rule, 0,
            fmt::format("{} major page faults stopped your chunks, {} in each second of them: pages of mapped files, "
                        "or of swapped memory, came from storage.",
                        HumanCount(work.major_faults), HumanCount(work.major_rate())),
            {{"chunk_major_faults", work.major_faults}, {"busy_time", work.busy_seconds}});
  } else if (has_minor) {
    run.Add(rule, 0,
            fmt::format("{} minor page faults in your chunks, {} in each second of their CPU time: the kernel filled "
                        "in pages of new memory, or of files that it had.",
                        HumanCount(work.minor_faults), HumanCount(work.minor_rate())),
            {{"minor_faults", work.minor_faults}, {"system_cpu_time", work.system_seconds}});
    run.verdicts->back().suggestion =
        "Use memory again instead of taking new memory for each chunk or event: keep buffers, or keep what is freed "
        "(MALLOC_TRIM_THRESHOLD_, MALLOC_MMAP_THRESHOLD_, another allocator).";
  }
}

}  // namespace

void JudgeCommand(const JudgedRun& run) {
  const Measurement& measurement = run.measurement;
  const std::optional<TreeBudget> budget = ReadTreeBudget(measurement);
  if (!IsProcessTreeOnly(measurement) || !budget.has_value()) return;
  const VerdictRule& contention = RuleOf("cpu-contention");
  const double waited = budget->Share(kTreeWait);
  if (contention.threshold.Holds(waited)) {
    run.Add(contention, waited,
            fmt::format("Threads of the command were runnable but got no CPU for {} of the core-seconds.",
                        HumanPercent(waited)),
            {{"processes.cpu_wait", TreeCpuWait(measurement)}}, waited);
  }
  const VerdictRule& kernel = RuleOf("kernel-time");
  const double system = budget->Share(kTreeKernel);
  const double of_cpu = system > 0 ? system / (system + budget->Share(kTreeProgram)) : 0;
  if (kernel.threshold.Holds(of_cpu) && kMuchKernelTime.Holds(system)) {
    run.Add(kernel, of_cpu,
            fmt::format("{} of the command's CPU time was spent in the kernel, {} of the core-seconds.",
                        HumanPercent(of_cpu), HumanPercent(system)),
            {{"tree_cpu_system", run.Metric("tree_cpu_system")}, {"tree_cpu_user", run.Metric("tree_cpu_user")}});
  }
}

void JudgeKernel(const JudgedRun& run) {
  const KernelWork work(run.measurement);
  JudgeKernelTime(run, work);
  JudgePageFaults(run, work);
}

}  // namespace crema

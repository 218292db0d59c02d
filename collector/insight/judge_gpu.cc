// Verdicts on GPUs, as `crema run --gpu` counted what they did.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collector/appearance/human_numbers.h"
#include "collector/insight/short_name.h"
#include "collector/insight/verdict_families.h"
#include "collector/measurement/catalog.h"
#include "fmt/format.h"

namespace crema {
namespace {

// For the run, as far as processes recorded it: nullopt if several of them or several devices worked at once, so that
// the sum says nothing.
std::optional<double> ShareAtWork(const JudgedRun& run) {
  const std::optional<double> busy = run.measurement.Metric("gpu_busy_seconds");
  const double wall = run.Metric("wall_time");
  if (!busy.has_value() || wall <= 0 || *busy > wall) return std::nullopt;
  return *busy / wall;
}

// " (most of it the kernel X in section Y)": by the time on the devices.
std::string LongestKernel(const JudgedRun& run, double all_seconds) {
  const std::vector<GpuKernelRow>& rows = run.measurement.gpu_kernels;
  if (rows.empty() || !kMostOfIt.Holds(rows.front().seconds.value_or(0) / all_seconds)) return "";
  const std::string section = rows.front().section.str();
  return fmt::format(" (most of it in the kernel {}{})", ShortName(rows.front().kernel.str()),
                     section.empty() ? "" : " of section " + ShortName(section));
}

void JudgeBound(const JudgedRun& run, double kernels, double copies) {
  const VerdictRule& rule = RuleOf("gpu-bound");
  const double waiting = run.Share("gpu_wait");
  if (!rule.threshold.Holds(waiting) || copies > kernels) return;
  if (!kGpuMatters.Holds(run.ShareOf(kernels))) return;  // it waited for something else
  const std::optional<double> at_work = ShareAtWork(run);
  run.Add(
      rule, waiting,
      fmt::format("Your code waited for the GPU for {} of the core-seconds. Kernels ran for {}{}{}.",
                  HumanPercent(waiting), HumanDuration(kernels), LongestKernel(run, kernels),
                  at_work.has_value() ? ", and the GPU was at work for " + HumanPercent(*at_work) + " of the run" : ""),
      {{"budget.gpu_wait.share", waiting}, {"gpu_seconds", kernels}});
}

void JudgeCopies(const JudgedRun& run, double kernels, double copies) {
  const VerdictRule& rule = RuleOf("gpu-copies");
  const double waiting = run.Share("gpu_wait");
  const double to_device = run.Metric("gpu_to_device_bytes");
  const double from_device = run.Metric("gpu_from_device_bytes");
  if (!rule.threshold.Holds(waiting) || copies <= kernels || to_device + from_device <= 0) return;
  run.Add(rule, waiting,
          fmt::format("Your code waited for the GPU for {} of the core-seconds, and copies ({} to it, {} from it) took "
                      "longer than kernels: {} and {}.",
                      HumanPercent(waiting), HumanData(to_device), HumanData(from_device), HumanDuration(copies),
                      HumanDuration(kernels)),
          {{"budget.gpu_wait.share", waiting}, {"gpu_copy_seconds", copies}, {"gpu_seconds", kernels}}, waiting);
}

void JudgeStarved(const JudgedRun& run, double kernels) {
  const VerdictRule& rule = RuleOf("gpu-starved");
  const std::optional<double> share = ShareAtWork(run);
  // Kernels of programs that do not record, or of others, leave no room either.
  const std::optional<double> of_anybody = run.measurement.Metric("gpu_utilization");
  if (!share.has_value() || !kGpuMatters.Holds(run.ShareOf(kernels))) return;
  if (!rule.threshold.Holds(*share) || !rule.threshold.Holds(of_anybody.value_or(0))) return;
  if (RuleOf("gpu-bound").threshold.Holds(run.Share("gpu_wait"))) return;
  run.Add(
      rule, *share,
      fmt::format("Kernels and copies of the processes that record ran for {} of the run only{}.", HumanPercent(*share),
                  of_anybody.has_value()
                      ? "; while they used the GPU, some kernel ran for " + HumanPercent(*of_anybody) + " of the time"
                      : ""),
      {{"gpu_busy_seconds", *run.measurement.Metric("gpu_busy_seconds")},
       {"wall_time", *run.measurement.Metric("wall_time")}});
}

}  // namespace

bool UsesUncountedGpu(const Measurement& measurement) {
  if (measurement.Metric("gpu_wait_cpu_seconds").has_value()) return false;
  const std::string_view why = measurement.metrics.Reason("gpu_wait_cpu_seconds");
  const bool was_counted_in_part = !why.empty() && why != FindMetric("gpu_wait_cpu_seconds")->why_null;
  return was_counted_in_part || measurement.Metric("gpu_utilization").has_value() ||  // which MIG does not have
         measurement.Metric("gpu_peak_memory_bytes").value_or(0) > 0;
}

void JudgeGpu(const JudgedRun& run) {
  const double kernels = run.Metric("gpu_seconds");
  const double copies = run.Metric("gpu_copy_seconds");
  if (kernels + copies > 0) {
    JudgeBound(run, kernels, copies);
    JudgeCopies(run, kernels, copies);
    JudgeStarved(run, kernels);
  }
  const VerdictRule& shared = RuleOf("gpu-shared");
  const std::optional<double> others = run.measurement.Metric("gpu_utilization_of_others");
  if (!others.has_value() || !shared.threshold.Holds(*others)) return;
  run.Add(shared, *others,
          fmt::format("While your program used the GPU, other processes used {} of its processors on average.",
                      HumanPercent(*others)),
          {{"gpu_utilization_of_others", *others}});
}

}  // namespace crema

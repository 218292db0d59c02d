// Verdicts on GPUs, as `crema run --gpu` counted what they did.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collector/appearance/human_numbers.h"
#include "collector/insight/short_name.h"
#include "collector/insight/verdict_families.h"
#include "fmt/format.h"

namespace crema {
namespace {

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
  const double waiting = run.budget().Share("gpu_wait");
  if (!rule.threshold.Holds(waiting) || copies > kernels) return;
  run.Add(rule, waiting,
          fmt::format("Your code waited for the GPU for {} of the core-seconds. Kernels ran for {}{}.",
                      HumanPercent(waiting), HumanDuration(kernels), LongestKernel(run, kernels)),
          {{"budget.gpu_wait.share", waiting}, {"gpu_seconds", kernels}}, std::nullopt);
}

void JudgeCopies(const JudgedRun& run, double kernels, double copies) {
  const VerdictRule& rule = RuleOf("gpu-copies");
  const double waiting = run.budget().Share("gpu_wait");
  if (!rule.threshold.Holds(waiting) || copies <= kernels) return;
  run.Add(
      rule, waiting,
      fmt::format("Your code waited for the GPU for {} of the core-seconds, and copies took longer than kernels: {} "
                  "and {}.",
                  HumanPercent(waiting), HumanDuration(copies), HumanDuration(kernels)),
      {{"budget.gpu_wait.share", waiting}, {"gpu_copy_seconds", copies}, {"gpu_seconds", kernels}}, waiting);
}

void JudgeStarved(const JudgedRun& run, double kernels) {
  const VerdictRule& rule = RuleOf("gpu-starved");
  const std::optional<double> busy = run.measurement.Metric("gpu_busy_seconds");
  const std::optional<double> wall = run.measurement.Metric("wall_time");
  const double of_host = kernels / run.budget().core_seconds;
  if (!busy.has_value() || wall.value_or(0) <= 0 || !kGpuMatters.Holds(of_host)) return;
  const double share = *busy / *wall;
  if (!rule.threshold.Holds(share) || RuleOf("gpu-bound").threshold.Holds(run.budget().Share("gpu_wait"))) return;
  run.Add(rule, share, fmt::format("Kernels and copies ran on a GPU for {} of the run only.", HumanPercent(share)),
          {{"gpu_busy_seconds", *busy}, {"wall_time", *wall}}, std::nullopt);
}

}  // namespace

bool UsesUncountedGpu(const Measurement& measurement) {
  return measurement.Metric("gpu_utilization").has_value() && !measurement.Metric("gpu_wait_cpu_seconds").has_value();
}

void JudgeGpu(const JudgedRun& run) {
  const double kernels = run.measurement.Metric("gpu_seconds").value_or(0);
  const double copies = run.measurement.Metric("gpu_copy_seconds").value_or(0);
  if (kernels + copies > 0) {
    JudgeBound(run, kernels, copies);
    JudgeCopies(run, kernels, copies);
    JudgeStarved(run, kernels);
  }
  const VerdictRule& shared = RuleOf("gpu-shared");
  const std::optional<double> others = run.measurement.Metric("gpu_utilization_of_others");
  if (!others.has_value() || !shared.threshold.Holds(*others)) return;
  run.Add(shared, *others,
          fmt::format("Other processes used {} of the GPU's processors on average.", HumanPercent(*others)),
          {{"gpu_utilization_of_others", *others}}, std::nullopt);
}

}  // namespace crema

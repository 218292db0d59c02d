// Verdicts on what was asked of storage.
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/strip.h"
#include "collector/appearance/human_numbers.h"
#include "collector/insight/short_name.h"
#include "collector/insight/verdict_families.h"
#include "collector/metrics/statistics/bounded_names.h"
#include "fmt/format.h"

namespace crema {
namespace {

struct Asked {
  double calls = 0;
  double bytes = 0;
  double seconds = 0;

  static Asked Of(const RequestSumRow& row) {
    return {row.calls.value_or(0), row.bytes.value_or(0), row.seconds.value_or(0)};
  }
};

/// What the others would have taken for the same: by bytes or by calls, whichever is more, so that neither a server of
/// large requests nor one of small ones looks slow for that alone.
double ExpectedSeconds(const Asked& one, const Asked& others) {
  const double by_calls = one.calls * others.seconds / others.calls;
  const double by_bytes = others.bytes > 0 ? one.bytes * others.seconds / others.bytes : 0;
  return by_calls > by_bytes ? by_calls : by_bytes;
}

/// What can be compared: an operation, at servers of one scheme or at mounts. A mount answers from memory in
/// microseconds, so beside one every server would be slow.
std::pair<std::string, std::string> ComparableTo(const RequestSumRow& row) {
  const std::string server = row.server.str();
  const std::size_t scheme = server.find("://");
  const char* const place = !server.empty() && server.front() == '/' ? "/" : "";
  return {row.operation.str(), scheme == std::string::npos ? place : server.substr(0, scheme)};
}

void JudgeSlowServer(const JudgedRun& run) {
  const VerdictRule& rule = RuleOf("slow-server");
  std::map<std::pair<std::string, std::string>, Asked> all;
  for (const RequestSumRow& row : run.measurement.requests) {
    if (row.server.str() == kOtherName) continue;
    const Asked asked = Asked::Of(row);
    Asked& sum = all[ComparableTo(row)];
    sum.calls += asked.calls;
    sum.bytes += asked.bytes;
    sum.seconds += asked.seconds;
  }
  const RequestSumRow* worst = nullptr;
  double worst_excess = 0;
  double worst_factor = 0;
  for (const RequestSumRow& row : run.measurement.requests) {
    if (row.server.str() == kOtherName) continue;
    const Asked asked = Asked::Of(row);
    const Asked& sum = all[ComparableTo(row)];
    const Asked others = {sum.calls - asked.calls, sum.bytes - asked.bytes, sum.seconds - asked.seconds};
    if (!kCallsOfSlowServer.Holds(asked.calls) || !kCallsOfSlowServer.Holds(others.calls)) continue;
    const double expected = ExpectedSeconds(asked, others);
    if (expected <= 0 || !rule.threshold.Holds(asked.seconds / expected)) continue;
    const double excess = asked.seconds - expected;
    if (!kMuchExcess.Holds(run.ShareOf(excess)) || excess <= worst_excess) continue;
    worst = &row;
    worst_excess = excess;
    worst_factor = asked.seconds / expected;
  }
  if (worst == nullptr) return;
  // Requests may overlap, so it is not known what of this the run waited for.
  run.Add(rule, worst_factor,
          fmt::format("Server {} took {} times as long for {} as the others of its kind, {} longer in all.",
                      ShortName(worst->server.str()), HumanNumber(worst_factor), ShortName(worst->operation.str()),
                      HumanDuration(worst_excess)),
          {{"requests.calls", worst->calls.value_or(0)},
           {"requests.seconds", worst->seconds.value_or(0)},
           {"requests.max_seconds", worst->max_seconds.value_or(0)},
           {"requests.excess_seconds", worst_excess}});
}

/// Nothing where the metric is in another unit.
double ReadMetric(const Measurement& measurement, std::string_view name, std::string_view unit) {
  return SumOfMetric(measurement, name, unit).value_or(0);
}

/// In sections of this name, without those around another one of it.
double SecondsIn(const Measurement& measurement, const std::string& name) {
  std::map<std::string, double> seconds;
  for (const SectionRow& section : measurement.sections) {
    const std::string path = "/" + section.path.str();
    if (absl::EndsWith(path, "/" + name)) seconds[path] += section.total.value_or(0);
  }
  double sum = 0;
  for (const auto& [path, total] : seconds) {
    if (seconds.count(path + "/" + name) == 0) sum += total;
  }
  return sum;
}

/// What one `TrackIo` counted, and the time inside it: calls that only copy from memory are quick, so many of them in a
/// second are what this time went for.
bool JudgeTrackedCalls(const JudgedRun& run) {
  constexpr char kSuffix[] = ".read_calls";
  const CustomMetricRow* worst = nullptr;
  Asked most;
  for (const CustomMetricRow& row : run.measurement.custom_metrics) {
    const std::string& metric = row.name.str();
    if (metric == kSuffix || !absl::EndsWith(metric, kSuffix) || row.unit != "count") continue;
    const std::string name(absl::StripSuffix(metric, kSuffix));
    Asked asked = {ReadMetric(run.measurement, metric, "count"),
                   ReadMetric(run.measurement, name + ".rchar_bytes", "B")};
    asked.seconds = SecondsIn(run.measurement, name);
    if (asked.bytes <= 0 || asked.seconds <= most.seconds || !kSmallCall.Holds(asked.bytes / asked.calls)) continue;
    if (!kManyCalls.Holds(asked.calls / asked.seconds)) continue;
    if (!kMuchRequestTime.Holds(run.ShareOf(asked.seconds))) continue;
    worst = &row;
    most = asked;
  }
  if (worst == nullptr) return false;
  const std::string name(absl::StripSuffix(worst->name.str(), kSuffix));
  run.Add(RuleOf("many-small-reads"), 0,
          fmt::format("{} read calls in section {} returned {} each, and the section took {}.", HumanCount(most.calls),
                      ShortName(name), HumanData(most.bytes / most.calls), HumanDuration(most.seconds)),
          {{"custom_metrics." + worst->name.str(), most.calls}, {"sections.total", most.seconds}});
  return true;
}

/// Where no request says who was asked.
void JudgeSmallReadCalls(const JudgedRun& run) {
  const VerdictRule& rule = RuleOf("many-small-reads");
  const Asked tracked = {// as ROOT's event loops do, and those who record these metrics themselves
                         ReadMetric(run.measurement, "read_calls", "count"),
                         ReadMetric(run.measurement, "bytes_read", "B"), ReadMetric(run.measurement, "read_wall", "s")};
  if (tracked.bytes > 0 && kManyReads.Holds(tracked.calls) && rule.threshold.Holds(tracked.bytes / tracked.calls) &&
      kMuchRequestTime.Holds(run.ShareOf(tracked.seconds))) {
    run.Add(rule, 0,
            fmt::format("{} reads moved {} each, and took {}.", HumanCount(tracked.calls),
                        HumanData(tracked.bytes / tracked.calls), HumanDuration(tracked.seconds)),
            {{"custom_metrics.read_calls", tracked.calls},
             {"custom_metrics.bytes_read", tracked.bytes},
             {"custom_metrics.read_wall", tracked.seconds}});
    return;
  }
  if (JudgeTrackedCalls(run)) return;
  const SmallReadCalls calls = ReadCalls(run.measurement);
  const double in_kernel = run.ShareOf(run.Metric("system_cpu_time"));
  if (!calls.are_many_and_small() || !kMuchRequestTime.Holds(in_kernel)) return;
  run.Add(rule, 0,
          fmt::format("{} read calls returned {} each: {} in each second of CPU time of your chunks.",
                      HumanCount(calls.calls), HumanData(calls.mean_bytes()),
                      HumanCount(calls.calls / calls.chunk_cpu_seconds)),
          {{"process_read_calls", calls.calls}, {"process_read_call_bytes", calls.bytes}});
}

void JudgeSmallReads(const JudgedRun& run) {
  const VerdictRule& rule = RuleOf("many-small-reads");
  const RequestSumRow* worst = nullptr;
  double longest = 0;
  for (const RequestSumRow& row : run.measurement.requests) {
    const Asked asked = Asked::Of(row);
    if (row.server.str() == kOtherName || asked.bytes <= 0 || !kManyReads.Holds(asked.calls)) continue;
    if (!rule.threshold.Holds(asked.bytes / asked.calls)) continue;
    if (!kMuchRequestTime.Holds(run.ShareOf(asked.seconds)) || asked.seconds <= longest) continue;
    worst = &row;
    longest = asked.seconds;
  }
  if (worst == nullptr) return JudgeSmallReadCalls(run);
  const Asked asked = Asked::Of(*worst);
  run.Add(rule, 0,
          fmt::format("{} requests ({}) moved {} each from {}, and took {}.", HumanCount(asked.calls),
                      ShortName(worst->operation.str()), HumanData(asked.bytes / asked.calls),
                      ShortName(worst->server.str()), HumanDuration(asked.seconds)),
          {{"requests.calls", asked.calls}, {"requests.bytes", asked.bytes}, {"requests.seconds", asked.seconds}});
}

}  // namespace

std::optional<double> SumOfMetric(const Measurement& measurement, std::string_view name, std::string_view unit) {
  for (const CustomMetricRow& row : measurement.custom_metrics) {
    if (row.name == name && row.unit == unit) return row.sum.value_or(0) + row.failed_sum.value_or(0);
  }
  return std::nullopt;
}

SmallReadCalls ReadCalls(const Measurement& measurement) {
  return {measurement.Metric("process_read_calls").value_or(0),
          measurement.Metric("process_read_call_bytes").value_or(0), measurement.Metric("chunk_cpu_time").value_or(0)};
}

void JudgeRequests(const JudgedRun& run) {
  JudgeSlowServer(run);
  JudgeSmallReads(run);
}

}  // namespace crema

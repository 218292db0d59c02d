// Verdicts on what was asked of storage.
#include <map>
#include <string>
#include <string_view>
#include <utility>

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
    if (!kMuchExcess.Holds(excess / run.budget().core_seconds) || excess <= worst_excess) continue;
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
           {"requests.excess_seconds", worst_excess}},
          std::nullopt);
}

void JudgeSmallReads(const JudgedRun& run) {
  const VerdictRule& rule = RuleOf("many-small-reads");
  const RequestSumRow* worst = nullptr;
  double longest = 0;
  for (const RequestSumRow& row : run.measurement.requests) {
    const Asked asked = Asked::Of(row);
    if (row.server.str() == kOtherName || asked.bytes <= 0 || !kManyReads.Holds(asked.calls)) continue;
    if (!rule.threshold.Holds(asked.bytes / asked.calls)) continue;
    if (!kMuchRequestTime.Holds(asked.seconds / run.budget().core_seconds) || asked.seconds <= longest) continue;
    worst = &row;
    longest = asked.seconds;
  }
  if (worst == nullptr) return;
  const Asked asked = Asked::Of(*worst);
  run.Add(rule, 0,
          fmt::format("{} requests ({}) moved {} each from {}, and took {}.", HumanCount(asked.calls),
                      ShortName(worst->operation.str()), HumanData(asked.bytes / asked.calls),
                      ShortName(worst->server.str()), HumanDuration(asked.seconds)),
          {{"requests.calls", asked.calls}, {"requests.bytes", asked.bytes}, {"requests.seconds", asked.seconds}},
          std::nullopt);
}

}  // namespace

void JudgeRequests(const JudgedRun& run) {
  JudgeSlowServer(run);
  JudgeSmallReads(run);
}

}  // namespace crema

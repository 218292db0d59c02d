#include "collector/metrics/attempts/nested_attempts.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <tuple>
#include <utility>

#include "absl/types/span.h"

namespace crema {
namespace {

struct Nested {
  size_t index;
  uint32_t thread;
  uint32_t log;
  int64_t start_ns;
  int64_t stop_ns;
  // Less than in the row as soon as something lies inside.
  int64_t duration_ns;
  int64_t cpu_ns;
  int64_t cpu_wait_ns;
  int64_t system_cpu_ns;
  int64_t minor_faults;
  int64_t major_faults;
  bool is_changed = false;
};

void TakeOff(int64_t inner_ns, int64_t& outer_ns) {
  const bool is_known = inner_ns != AttemptRow::kUnknown && outer_ns != AttemptRow::kUnknown;
  outer_ns = is_known ? std::max<int64_t>(0, outer_ns - inner_ns) : AttemptRow::kUnknown;
}

/// `inner` is complete: all that lies inside it was taken off. A record leaves out what its own log has inside it. So
/// `inner` comes off the innermost chunk around it of each other log. `before`: those that were open when it began.
void TakeOffOuter(const Nested& inner, absl::Span<Nested* const> before) {
  std::vector<uint32_t> logs = {inner.log};
  for (auto outer = before.rbegin(); outer != before.rend(); ++outer) {
    // One that `inner` outlasts is not around it: the clocks of two logs may differ.
    if ((*outer)->stop_ns < inner.stop_ns) continue;
    if (std::find(logs.begin(), logs.end(), (*outer)->log) != logs.end()) continue;
    logs.push_back((*outer)->log);
    TakeOff(inner.duration_ns, (*outer)->duration_ns);
    for (const auto part : {&Nested::cpu_ns, &Nested::cpu_wait_ns, &Nested::system_cpu_ns, &Nested::minor_faults,
                            &Nested::major_faults}) {
      TakeOff(inner.*part, (*outer)->*part);
    }
    (*outer)->is_changed = true;
  }
}

/// `attempts`: of one thread, by start; of two that start at once, the one around the other first.
void TakeOffInThread(absl::Span<Nested> attempts) {
  std::vector<Nested*> open;
  const auto close_until = [&open](int64_t start_ns) {
    for (size_t i = open.size(); i > 0; --i) {
      Nested* const inner = open[i - 1];
      if (inner->stop_ns > start_ns) continue;
      TakeOffOuter(*inner, absl::MakeConstSpan(open).first(i - 1));
      open.erase(open.begin() + static_cast<std::ptrdiff_t>(i - 1));
    }
  };
  for (Nested& attempt : attempts) {
    close_until(attempt.start_ns);
    open.push_back(&attempt);
  }
  close_until(std::numeric_limits<int64_t>::max());
}

/// By process: whether more than one log has attempts of it.
std::vector<bool> HaveSeveralLogs(const AttemptRows& rows, const std::vector<uint32_t>& process_of_log) {
  std::vector<bool> has_one, has_several;
  const std::vector<size_t> rows_of_log = rows.CountByProcess(process_of_log.size());
  for (size_t log = 0; log < process_of_log.size(); ++log) {
    const size_t process = process_of_log[log];
    if (process >= has_one.size()) {
      has_one.resize(process + 1);
      has_several.resize(process + 1);
    }
    if (rows_of_log[log] == 0) continue;
    has_several[process] = has_one[process];
    has_one[process] = true;
  }
  return has_several;
}

}  // namespace

int64_t TakeNestedTimeOff(const std::vector<uint32_t>& process_of_log,
                          absl::FunctionRef<bool(const AttemptRow&)> has_thread, AttemptRows& rows) {
  const std::vector<bool> has_several_logs = HaveSeveralLogs(rows, process_of_log);
  if (std::find(has_several_logs.begin(), has_several_logs.end(), true) == has_several_logs.end()) return 0;
  std::vector<Nested> attempts;
  size_t index = 0;
  for (const AttemptRow& row : rows) {
    if (has_several_logs[process_of_log[row.process]] && row.duration_ns >= 0 && has_thread(row)) {
      attempts.push_back({index, row.thread, row.process, row.start_ns, row.stop_ns(), row.duration_ns, row.cpu_ns,
                          row.cpu_wait_ns, row.system_cpu_ns, row.minor_faults, row.major_faults});
    }
    ++index;
  }
  std::sort(attempts.begin(), attempts.end(), [](const Nested& a, const Nested& b) {
    return std::tie(a.thread, a.start_ns, b.stop_ns, a.log, a.index) <
           std::tie(b.thread, b.start_ns, a.stop_ns, b.log, b.index);
  });
  for (auto first = attempts.begin(); first != attempts.end();) {
    const auto last =
        std::find_if(first, attempts.end(), [&](const Nested& one) { return one.thread != first->thread; });
    TakeOffInThread(absl::MakeSpan(&*first, static_cast<size_t>(last - first)));
    first = last;
  }
  attempts.erase(std::remove_if(attempts.begin(), attempts.end(), [](const Nested& one) { return !one.is_changed; }),
                 attempts.end());
  std::sort(attempts.begin(), attempts.end(), [](const Nested& a, const Nested& b) { return a.index < b.index; });
  int64_t taken_ns = 0;
  std::vector<std::pair<size_t, AttemptRow>> changed;
  for (const Nested& attempt : attempts) {
    AttemptRow row = rows[attempt.index];
    taken_ns += row.duration_ns - attempt.duration_ns;
    row.suspended_ns += row.duration_ns - attempt.duration_ns;  // it stops when it did
    row.duration_ns = attempt.duration_ns;
    row.cpu_ns = attempt.cpu_ns;
    row.cpu_wait_ns = attempt.cpu_wait_ns;
    row.system_cpu_ns = attempt.system_cpu_ns;
    row.minor_faults = attempt.minor_faults;
    row.major_faults = attempt.major_faults;
    changed.emplace_back(attempt.index, row);
  }
  rows.Replace(changed);
  return taken_ns;
}

}  // namespace crema

#include "collector/insight/run_head.h"

#include "absl/time/time.h"
#include "collector/appearance/human_numbers.h"
#include "collector/insight/run_trouble.h"
#include "fmt/format.h"

namespace crema {
namespace {

std::string UtcTime(double unix_ns, const char* format) {
  return absl::FormatTime(format, absl::UnixEpoch() + absl::Nanoseconds(unix_ns), absl::UTCTimeZone());
}

}  // namespace

std::string RunName(const Measurement& measurement) {
  const RunFacts& run = measurement.run;
  const std::string name = run.name.str();
  const std::string id = run.id.str();
  return !name.empty() ? name : !id.empty() ? id : "unnamed run";
}

std::string OnWhat(const Measurement& measurement) {
  const std::optional<double> workers = measurement.Metric("peak_workers");
  const std::optional<double> cores = measurement.Metric("cores_per_worker");
  if (!workers.has_value()) return "";
  std::string text = Counted(*workers, "worker", "workers");
  if (cores.has_value()) text += " × " + Counted(*cores, "core", "cores");
  const size_t hosts = measurement.hosts.size();
  if (hosts > 0) text += " on " + Counted(static_cast<double>(hosts), "host", "hosts");
  return text;
}

std::optional<RunTimes> TimesOf(const RunFacts& run, const DayStyle& style) {
  const std::optional<double> start = run.start_ns;
  const std::optional<double> stop = run.stop_ns;
  if (!start.has_value()) return std::nullopt;
  const std::string day = UtcTime(*start, style.day);
  RunTimes times = {day + style.before_time + UtcTime(*start, "%H:%M:%S"), "", UtcTime(*start, "%Y-%m-%dT%H:%M:%SZ")};
  if (stop.has_value() && run.state.str() != "running") {
    const std::string last_day = UtcTime(*stop, style.day);
    times.stop = (last_day == day ? "" : last_day + style.before_time) + UtcTime(*stop, "%H:%M:%S");
  }
  return times;
}

std::string EndNotRecorded(const RunFacts& run) {
  if (run.state.has_value() || !run.stop_ns.has_value()) return "";
  return UtcTime(*run.stop_ns, "%Y-%m-%d %H:%M UTC");
}

StateInWords StateOf(const Measurement& measurement) {
  const RunFacts& run = measurement.run;
  const std::string state = run.state.str();
  const double exit_status = run.exit_status.value_or(0);
  if (state == "killed") return {RunEnding::kKilled, "killed", Mark::kBad};
  if (state == "running") return {RunEnding::kRunning, "running", std::nullopt};
  if (state == "failed") return {RunEnding::kFailed, "failed", Mark::kBad};
  if (exit_status != 0) return {RunEnding::kFailed, fmt::format("exit status {:.0f}", exit_status), Mark::kBad};
  if (!EndNotRecorded(run).empty()) return {RunEnding::kUnknown, "without an end", Mark::kWatch};
  const RunTrouble trouble = FindRunTrouble(measurement);
  if (state != "finished") {
    return trouble.any() ? StateInWords{RunEnding::kUnknown, trouble.brief, trouble.mark} : StateInWords();
  }
  return {RunEnding::kFinished, trouble.any() ? "finished, " + trouble.brief : "finished", trouble.mark};
}

}  // namespace crema

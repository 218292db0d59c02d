#include "collector/engines/dask/bare_follower.h"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <utility>

#include "absl/time/clock.h"
#include "collector/engines/dask/bare_lines.h"
#include "collector/engines/dask/dask_client.h"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::chrono::seconds kSecondsEvery(5);    // of /metrics, which is long on a busy scheduler
constexpr std::chrono::seconds kReconnectPause(5);  // to the stream
constexpr std::chrono::milliseconds kGlance(1);     // takes in what the stream told before an answer came
/// The workers that are there are told as the stream begins, in one go.
constexpr std::chrono::seconds kRollCall(1);

double Now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

}  // namespace

BareFollower::BareFollower(const std::string& address) : address_(address), stream_(HostAndPort(address)) {}

absl::StatusOr<std::string> BareFollower::Ask(HttpConnection* scheduler) {
  const absl::StatusOr<HttpAnswer> counts = scheduler->Get("/json/counts.json");
  if (!counts.ok()) return counts.status();
  if (counts->status != 200) return NoSchedulerAt(address_);
  const std::optional<std::map<std::string, int64_t>> numbers = ParseCounts(counts->body);
  if (!numbers.has_value()) return NoSchedulerAt(address_);
  const int64_t now_ns = absl::GetCurrentTimeNanos();
  std::string lines;
  if (!has_begun_) lines += BareClusterLine(address_, now_ns);
  has_begun_ = true;
  const auto processing = numbers->find("processing");
  Listen(kGlance);
  watch_.Look(Now(), sums_.messages(), processing == numbers->end() || processing->second > 0);
  std::string seconds;
  if (Clock::now() >= seconds_at_) seconds = AskForSeconds(scheduler, now_ns);
  const std::string problem = StreamProblem();
  Json more = sums_.TakeFinished();
  more["stream_problem"] = problem.empty() ? Json() : Json(problem);
  return lines + BareLine(now_ns, *numbers, more) + seconds + sums_.TakeWorkers(now_ns);
}

std::string BareFollower::AskForSeconds(HttpConnection* scheduler, int64_t time_ns) {
  seconds_at_ = Clock::now() + kSecondsEvery;
  const absl::StatusOr<HttpAnswer> metrics = scheduler->Get("/metrics");
  if (!metrics.ok() || metrics->status != 200) return "";
  const std::map<std::string, double> seconds = ParseComputeSeconds(metrics->body);
  if (seconds.empty()) return "";
  double sum = 0;
  for (const auto& [prefix, of_prefix] : seconds) sum += of_prefix;
  if (Listen(kGlance)) watch_.LookAtSeconds(Now(), sums_.messages(), sum);
  std::string told = ComputeSecondsLine(0, seconds);
  if (told == seconds_told_) return "";
  seconds_told_ = std::move(told);
  return ComputeSecondsLine(time_ns, seconds);
}

bool BareFollower::Listen(std::chrono::milliseconds limit) {
  const Clock::time_point now = Clock::now();
  if (!stream_.is_open()) {
    if (now < connect_at_) return false;
    connect_at_ = now + kReconnectPause;
    if (const absl::Status status = stream_.Connect(); !status.ok()) {
      stream_failure_ = std::string(status.message());
      return false;
    }
    stream_failure_.clear();
    watch_.Begin(Now());
    sums_.BeginRollCall();
    roll_call_until_ = Clock::now() + kRollCall;
  }
  const absl::Status status = stream_.ReadFor(limit, on_message_);
  if (!status.ok()) {
    stream_failure_ = std::string(status.message());
    connect_at_ = Clock::now() + kReconnectPause;
    sums_.BreakOffRollCall();
    return false;
  }
  if (Clock::now() >= roll_call_until_) sums_.EndRollCall();
  return true;
}

void BareFollower::Disconnect() {
  if (!stream_.is_open()) return;
  stream_.Close();
  sums_.BreakOffRollCall();
  stream_failure_ = "the scheduler did not answer";
}

std::string BareFollower::StreamProblem() const {
  if (!stream_.is_open()) {
    return stream_failure_.empty() ? "the scheduler's /eventstream is not connected yet"
                                   : fmt::format("no /eventstream from the scheduler ({})", stream_failure_);
  }
  if (watch_.is_taken()) return "another program reads the scheduler's /eventstream; start crema again to read it";
  if (!watch_.is_doubtful(Now())) return "";
  return fmt::format(
      "the scheduler's /eventstream has been silent for {:.0f} s: tasks take long or fail, or another program reads it",
      watch_.silent_seconds(Now()));
}

std::string BareFollower::Problem() const {
  const std::string stream = StreamProblem();
  return fmt::format(
      "{}: the scheduler has no crema plug-in; attach it with crema_hep.attach(client). "
      "Not known without it: chunks and events, CPU time, memory, which tasks failed{}",
      address_, stream.empty() ? "" : "; nor which finish: " + stream);
}

}  // namespace crema

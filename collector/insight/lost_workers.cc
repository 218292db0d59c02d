#include "collector/insight/lost_workers.h"

#include <algorithm>
#include <utility>

#include "collector/appearance/human_numbers.h"
#include "collector/insight/budget_rows.h"
#include "collector/insight/short_name.h"
#include "fmt/format.h"

namespace crema {
namespace {

struct AliveStep {
  double time = 0;
  int alive = 0;
  int lost = 0;
};

/// Worker-seconds that lost workers are missing from, until `end`: at each moment no more than there are fewer than at
/// most.
void AddAbsence(std::vector<AliveStep> steps, double end, LostWorkers& lost) {
  std::stable_sort(steps.begin(), steps.end(), [](const AliveStep& a, const AliveStep& b) { return a.time < b.time; });
  int most = 0;
  int alive = 0;
  for (const AliveStep& step : steps) most = std::max(most, alive += step.alive);
  int gone = 0;
  double before = 0;
  for (const AliveStep& step : steps) {
    lost.absent_seconds += std::min(gone, most - alive) * (step.time - before);
    before = step.time;
    alive += step.alive;
    gone += step.lost;
  }
  lost.whole_seconds = most * end;
}

}  // namespace

std::string LostWorkers::Names() const {
  constexpr size_t kMostNames = 2;
  std::string text;
  for (size_t i = 0; i < std::min(names.size(), kMostNames); ++i) {
    text += (i == 0 ? "" : ", ") + ShortName(names[i]);
  }
  if (names.size() > kMostNames) text += fmt::format(" and {} more", names.size() - kMostNames);
  return text;
}

std::string LostWorkers::Why() const {
  if (reasons.empty()) return "killed, crashed, or out of memory";
  const std::string teller = has_engine ? "the engine says " : "";
  std::string text = teller;
  auto unreported = static_cast<int>(names.size());
  for (const auto& [reason, count] : reasons) {
    if (text != teller) text += ", ";
    text += reasons.size() == 1 ? reason : fmt::format("{} of {}", reason, count);
    unreported -= count;
  }
  if (unreported > 0) text += fmt::format(", and nothing of {}", unreported);
  return text;
}

std::string RangeOfResults(const LostWorkers& lost, double events) {
  if (lost.uncertain_chunks <= 0 || lost.uncertain_events <= 0 || events < lost.uncertain_events) return "";
  return fmt::format("{} to {} events", HumanCount(events - lost.uncertain_events), HumanCount(events));
}

LostWorkers FindLostWorkers(const Measurement& measurement) {
  LostWorkers lost;
  if (ReadRunEvidence(measurement).state == RunState::kKilled) return lost;
  const bool has_engine = !measurement.run.engine.str().empty();
  lost.has_engine = has_engine;
  std::vector<std::pair<double, std::string>> vanished;
  std::vector<AliveStep> steps;
  double end = 0;
  for (const WorkerRow& worker : measurement.workers) {
    end = std::max(end, worker.stop.value_or(0));
  }
  for (const WorkerRow& worker : measurement.workers) {
    ++lost.workers;
    const double start = worker.start.value_or(0);
    const double stop = std::max(start, worker.stop.value_or(start));
    const std::string reason = worker.left_reason.str();
    const bool is_lost = worker.state == "lost";
    steps.push_back({start, 1, 0});
    steps.push_back({stop, -1, is_lost ? 1 : 0});
    if (!is_lost) continue;
    vanished.emplace_back(stop, worker.name.str());
    if (!reason.empty()) ++lost.reasons[reason];
    if (has_engine) continue;
    lost.uncertain_chunks += worker.chunks.value_or(0);
    lost.uncertain_events += worker.events.value_or(0);
  }
  if (vanished.empty()) return lost;
  std::stable_sort(vanished.begin(), vanished.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (auto& [stop, name] : vanished) lost.names.push_back(std::move(name));
  // A batch system's job is not there to take over another one's work.
  if (!measurement.Metric("num_jobs").has_value()) AddAbsence(std::move(steps), end, lost);
  return lost;
}

}  // namespace crema

#include "collector/diagnosis/evidence.h"

#include "absl/time/time.h"
#include "collector/diagnosis/words.h"
#include "collector/format/human_numbers.h"
#include "collector/measurement/budget_parts.h"

namespace crema {

std::string CoreTime(double core_seconds) {
  if (kShortInSeconds.Holds(core_seconds)) return HumanCount(core_seconds) + " core-seconds";
  return HumanDuration(core_seconds) + " of core time";
}

std::string BudgetPart::name() const {
  const BudgetPartKind* known = FindBudgetPart(part);
  return std::string(known == nullptr ? part : known->name);
}

double BudgetRows::Share(std::string_view part) const {
  const BudgetPart* row = FindBy(parts, &BudgetPart::part, part);
  return row == nullptr ? 0 : row->share;
}

std::vector<OutsideSection> LongestOutsideChunks(const Measurement& measurement) {
  constexpr size_t kMost = 3;
  std::vector<OutsideSection> sections;
  for (const auto& row : measurement.process_sections) {
    if (const double self = row.self_in_workers.value_or(0); self > 0) sections.push_back({row.path.str(), self});
  }
  SortLargestFirst(&sections, &OutsideSection::self);
  if (sections.size() > kMost) sections.resize(kMost);
  return sections;
}

std::string SectionThatFills(const Measurement& measurement, double core_seconds) {
  const std::vector<OutsideSection> longest = LongestOutsideChunks(measurement);
  const double share = longest.empty() ? 0 : longest.front().self / core_seconds;
  if (!kMostOfIt.Holds(share) || !kFitsIn.Holds(share)) return "";
  return fmt::format(", where section {} took {}", ShortName(longest.front().path),
                     HumanDuration(longest.front().self));
}

namespace {

/// Whether a process of `crema run` has records.
bool HasRecords(const Measurement& measurement, const ProcessUseRow& row) {
  const std::string process = fmt::format("{}:{:.0f}", row.host.str(), row.pid.value_or(0));
  return absl::c_any_of(measurement.workers, [&](const WorkerRow& worker) { return worker.process == process; });
}

/// Bytes a second by least squares over the samples from `from` on; nullopt where they are all of one moment.
std::optional<double> GrowthSince(const std::vector<MemoryPoint>& memory, size_t from) {
  const MemoryPoint& first = memory[from];
  double n = 0, sum_t = 0, sum_m = 0, sum_tt = 0, sum_tm = 0;
  for (size_t i = from; i < memory.size(); ++i) {
    const MemoryPoint& point = memory[i];
    const double t = static_cast<double>(point.time_ns - first.time_ns) / 1e9;
    const auto m = static_cast<double>(point.rss_bytes);
    n += 1;
    sum_t += t;
    sum_m += m;
    sum_tt += t * t;
    sum_tm += t * m;
  }
  const double spread = n * sum_tt - sum_t * sum_t;
  return spread <= 0 ? std::nullopt : std::optional<double>((n * sum_tm - sum_t * sum_m) / spread);
}

/// At most a time to which a step of memory can be added.
int64_t Nanoseconds(double seconds) {
  return std::min(absl::ToInt64Nanoseconds(absl::Seconds(seconds)),
                  std::numeric_limits<int64_t>::max() - kMemoryStepNs);
}

struct AliveStep {
  double time = 0;
  int alive = 0;
  int lost = 0;
};

/// Worker-seconds that lost workers are missing from, until `end`: at each moment no more than there are fewer than at
/// most.
void AddAbsence(std::vector<AliveStep> steps, double end, LostWorkers& lost) {
  SortBy(&steps, &AliveStep::time);
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

bool HasUnannouncedThreads(const Measurement& measurement) {
  const double joined = measurement.Metric("chunk_joined").value_or(0);
  return joined > 0 && kThreadsMatter.Holds(measurement.Metric("unannounced_cpu_time").value_or(0) / joined);
}

std::string ProcessWithoutGuards(const Measurement& measurement, double waited) {
  // An engine's workers have the chunks of processes below them, which have no rows of their own then.
  if (measurement.run.engine.has_value()) return "";
  const auto [most, cpu] = LargestBy(measurement.processes, [&](const ProcessUseRow& row) {
    return HasRecords(measurement, row) ? 0 : row.cpu.value_or(0);
  });
  // What ended while a chunk waited for it is that chunk's.
  const double known = measurement.Metric("children_cpu_time").value_or(0);
  if (most == nullptr || waited <= 0 || !kThreadsMatter.Holds((cpu - known) / waited)) return "";
  return fmt::format("process {} ({:.0f}), which has no chunk in these records, computed for {} in this run",
                     ShortName(most->name.str()), most->pid.value_or(0), HumanDuration(cpu));
}

std::vector<WorkerGap> GapsOfWorkers(const Measurement& measurement, double from) {
  const double end = std::max(from, measurement.Metric("wall_time").value_or(0));
  std::vector<WorkerGap> gaps;
  bool is_open = false;
  for (const TimelinePoint& point : measurement.timelines.worker_counts) {
    const double seconds = std::clamp(point.seconds, from, end);
    if (is_open && point.value != 0) gaps.back().until = seconds;
    if (!is_open && point.value == 0) gaps.push_back({seconds, end});
    is_open = point.value == 0;
  }
  return gaps;
}

std::string OthersBusy(const Measurement& measurement, double from, double until, double gap) {
  std::map<std::string, double> by_name;
  double sum = 0, waited = 0;
  for (const ProcessUseRow& row : measurement.processes) {
    if (HasRecords(measurement, row)) continue;
    const bool is_inside = row.start.value_or(0) >= from && row.stop.value_or(until + 1) <= until;
    if (!is_inside) continue;  // when it was busy is not known
    const double busy = row.cpu.value_or(0) + row.cpu_wait.value_or(0);
    by_name[row.name.str()] += busy;
    sum += busy;
    waited += row.cpu_wait.value_or(0);
  }
  if (!kMostOfIt.Holds(sum / gap)) return "";
  std::string names;
  while (!by_name.empty()) {  // the largest, and the next one where it matters
    const auto largest = absl::c_max_element(by_name, [](const auto& a, const auto& b) { return a.second < b.second; });
    names += (names.empty() ? "" : ", ") + ShortName(largest->first);
    if (kMostOfIt.Holds(largest->second / sum) || names.size() > ShortName(largest->first).size()) break;
    by_name.erase(largest);
  }
  const std::string without = waited > 0 ? fmt::format(" and waited for a CPU for {}", HumanDuration(waited)) : "";
  return fmt::format("; other processes of the run computed for {}{} ({})", HumanDuration(sum - waited), without,
                     names);
}

double ShareWithoutCpu(const Measurement& measurement) {
  const std::optional<BudgetRows> budget = ReadBudget(measurement);
  const double lost = budget.has_value() ? budget->Share("cpu_wait") : 0;
  return lost > 0 ? lost / (budget->Share("compute") + lost) : 0;
}

bool OthersMayBeBusy(const Measurement& measurement, double from, double until, double gap) {
  double sum = 0;
  for (const ProcessUseRow& row : measurement.processes) {
    const bool is_there = row.start.value_or(0) < until && row.stop.value_or(until) > from;
    if (is_there && !HasRecords(measurement, row)) sum += row.cpu.value_or(0) + row.cpu_wait.value_or(0);
  }
  return kMostOfIt.Holds(sum / gap);
}

std::vector<BudgetRow> KnownBudget(const Measurement& measurement) {
  std::vector<BudgetRow> rows = measurement.budget;
  double sum = 0, unmeasured = 0;
  for (const BudgetRow& row : rows) {
    sum += row.core_seconds.value_or(0);
    if (row.group == FindBudgetPart("unmeasured")->group) unmeasured += row.core_seconds.value_or(0);
  }
  if (!(sum > 0)) return {};
  if (unmeasured == 0 || measurement.Metric("chunk_cpu_time").has_value()) return rows;
  for (BudgetRow& row : rows) {
    if (row.core_seconds == Number(0)) row.core_seconds = row.share = std::nullopt;
  }
  return rows;
}

std::optional<BudgetRows> ReadBudget(const Measurement& measurement) {
  BudgetRows budget;
  for (const BudgetRow& row : KnownBudget(measurement)) {
    const std::string group = row.group.str();
    auto found = absl::c_find_if(budget.groups, [&](const BudgetGroup& other) { return other.group == group; });
    if (found == budget.groups.end()) found = budget.groups.insert(found, BudgetGroup{group, std::nullopt, 0});
    if (!row.core_seconds.has_value()) continue;
    found->core_seconds = found->core_seconds.value_or(0) + *row.core_seconds;
    budget.core_seconds += *row.core_seconds;
    budget.parts.push_back({row.part.str(), group, *row.core_seconds, 0});
  }
  if (!(budget.core_seconds > 0)) return std::nullopt;
  for (BudgetPart& part : budget.parts) part.share = part.core_seconds / budget.core_seconds;
  for (BudgetGroup& group : budget.groups) group.share = group.core_seconds.value_or(0) / budget.core_seconds;
  return budget;
}

RunEvidence ReadRunEvidence(const Measurement& measurement) {
  RunEvidence evidence;
  const std::string state = measurement.run.state.str();
  if (state == "running") evidence.state = RunState::kRunning;
  if (state == "killed") evidence.state = RunState::kKilled;
  evidence.attempts = measurement.Metric("num_attempts").value_or(0);
  evidence.lost = measurement.Metric("num_lost_attempts").value_or(0);
  const double failed = measurement.Metric("num_failed_attempts").value_or(0);
  // A chunk has one result but may have several ok attempts: only whether any ended matters here. Without attempts the
  // number of chunks is what an engine reports of itself.
  if (evidence.attempts > 0) evidence.ended = std::max(measurement.Metric("num_chunks").value_or(0) + failed, 0.0);
  evidence.budget = ReadBudget(measurement);
  return evidence;
}

bool RunEvidence::LacksCpuTime(const Measurement& measurement) const {
  const bool knows_cores = measurement.Metric("core_seconds").has_value();
  return ended > 0 && !budget.has_value() && knows_cores && !measurement.Metric("chunk_cpu_time").has_value();
}

std::optional<double> GrowthOf(const std::vector<MemoryPoint>& memory, int64_t limit_bytes) {
  if (memory.size() < kLeastMemoryPoints) return std::nullopt;
  const auto limit = static_cast<double>(limit_bytes);
  const auto now = static_cast<double>(memory.back().rss_bytes);
  const std::optional<double> overall = GrowthSince(memory, 0);
  const std::optional<double> lately = GrowthSince(memory, memory.size() - memory.size() / kPartsOfMemory);
  if (!overall.has_value() || !lately.has_value()) return std::nullopt;
  const double slope = std::min(*overall, *lately);  // what grew and has come to rest does not reach the limit
  const double span = static_cast<double>(memory.back().time_ns - memory.front().time_ns) / 1e9;
  if (slope * span < kLeastGrowth * limit || now < kLeastMemory * limit || now >= limit) return std::nullopt;
  return slope;
}

std::optional<double> SecondsToLimit(const std::vector<MemoryPoint>& memory, int64_t limit_bytes) {
  const std::optional<double> growth = GrowthOf(memory, limit_bytes);
  if (!growth.has_value()) return std::nullopt;
  return static_cast<double>(limit_bytes - memory.back().rss_bytes) / *growth;
}

std::vector<MemoryPoint> LastMemoryOf(const Measurement& measurement, std::string_view worker) {
  std::vector<MemoryPoint> changes;
  for (const char* key : {"worker_anonymous_memory", "worker_memory"}) {
    const auto* by_worker = measurement.timelines.Find(key);
    if (by_worker == nullptr || !changes.empty()) continue;
    for (const auto& [name, timeline] : *by_worker) {
      if (name != worker) continue;
      for (const TimelinePoint& point : timeline) {
        if (!std::isnan(point.value)) changes.push_back({Nanoseconds(point.seconds), std::llround(point.value)});
      }
    }
  }
  std::vector<MemoryPoint> memory;
  if (changes.empty()) return memory;
  int64_t end_ns = changes.back().time_ns;
  for (const WorkerRow& row : measurement.workers) {
    if (row.name == worker) end_ns = std::max(end_ns, Nanoseconds(row.stop.value_or(0)));
  }
  size_t next = 0;
  for (int64_t time_ns = std::max(changes.front().time_ns, end_ns - kMemorySpanNs); time_ns <= end_ns;
       time_ns += kMemoryStepNs) {
    while (next < changes.size() && changes[next].time_ns <= time_ns) ++next;
    // 0 means no memory: the worker is gone
    if (changes[next - 1].rss_bytes > 0) memory.push_back({time_ns, changes[next - 1].rss_bytes});
  }
  return memory;
}

std::string LostWorkers::Names() const {
  constexpr size_t kMostNames = 2;
  std::string text;
  for (size_t i = 0; i < std::min(names.size(), kMostNames); ++i) text += (i == 0 ? "" : ", ") + ShortName(names[i]);
  if (names.size() > kMostNames) text += fmt::format(" and {} more", names.size() - kMostNames);
  return text;
}

std::string LostWorkers::Why() const {
  if (reasons.empty()) return "killed, crashed, out of memory, or ended by _exit";
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
  lost.has_engine = !measurement.run.engine.empty();
  std::vector<std::pair<double, std::string>> vanished;
  std::vector<AliveStep> steps;
  double end = 0;
  for (const WorkerRow& worker : measurement.workers) end = std::max(end, worker.stop.value_or(0));
  for (const WorkerRow& worker : measurement.workers) {
    ++lost.workers;
    const double start = worker.start.value_or(0);
    const double stop = std::max(start, worker.stop.value_or(start));
    const bool is_lost = worker.state == "lost";
    steps.push_back({start, 1, 0});
    steps.push_back({stop, -1, is_lost ? 1 : 0});
    if (!is_lost) continue;
    vanished.emplace_back(stop, worker.name.str());
    if (!worker.left_reason.empty()) ++lost.reasons[worker.left_reason.str()];
    if (lost.has_engine) continue;
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

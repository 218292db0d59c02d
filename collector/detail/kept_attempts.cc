#include "collector/detail/kept_attempts.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "collector/metrics/attempts/attempt_interval.h"
#include "collector/metrics/attempts/attempt_quantities.h"
#include "collector/metrics/attempts/stragglers.h"

namespace crema {
namespace {

/// Which attempt of how many at its chunk.
struct Turn {
  int32_t attempt = 1;
  int32_t attempts = 1;
};

/// Of chunks that were attempted once, nothing is in the map.
absl::flat_hash_map<size_t, Turn> FindTurns(const AttemptRows& rows) {
  absl::flat_hash_map<uint64_t, int32_t> counts;
  counts.reserve(rows.size());
  for (const AttemptRow& row : rows) ++counts[row.chunk_id];
  absl::flat_hash_map<uint64_t, std::vector<size_t>> repeated;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (counts[rows[i].chunk_id] > 1) repeated[rows[i].chunk_id].push_back(i);
  }
  absl::flat_hash_map<size_t, Turn> turns;
  for (auto& [chunk, attempts] : repeated) {
    std::stable_sort(attempts.begin(), attempts.end(),
                     [&rows](size_t a, size_t b) { return rows[a].start_ns < rows[b].start_ns; });
    for (size_t at = 0; at < attempts.size(); ++at) {
      turns[attempts[at]] = {static_cast<int32_t>(at + 1), static_cast<int32_t>(attempts.size())};
    }
  }
  return turns;
}

/// By the list's dataset: above these many events a chunk is oversized.
std::vector<std::optional<double>> SizeLimits(const AttemptList& list) {
  std::vector<std::vector<int64_t>> sizes(list.datasets.names.size());
  for (const AttemptRow& row : list.rows) {
    if (row.is_result && row.events != AttemptRow::kUnknown) sizes[list.DatasetOf(row)].push_back(row.events);
  }
  std::vector<std::optional<double>> limits(sizes.size());
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i].empty()) continue;
    const auto middle = sizes[i].begin() + static_cast<std::ptrdiff_t>((sizes[i].size() - 1) / 2);
    std::nth_element(sizes[i].begin(), middle, sizes[i].end());
    limits[i] = kOversizedMedians * static_cast<double>(*middle);
  }
  return limits;
}

class Keeper {
 public:
  Keeper(const AttemptList& list, const DetailOptions& options, RunDetail* detail)
      : list_(list), options_(options), detail_(detail), kept_for_(list.rows.size(), 0) {
    std::vector<uint32_t> dataset_of_input;
    for (const ListedInput& input : list.inputs) dataset_of_input.push_back(input.dataset);
    findings_ = FindStragglers(list.rows, list.helpers, dataset_of_input);
    for (const DatasetFit& fit : findings_.datasets) fits_[fit.dataset] = fit.fit;
    turns_ = FindTurns(list.rows);
  }

  std::optional<double> Expected(const AttemptRow& row) const {
    const auto fit = fits_.find(list_.DatasetOf(row));
    if (fit == fits_.end() || (fit->second.slope_known && row.events == AttemptRow::kUnknown)) return std::nullopt;
    return fit->second.Predict(static_cast<double>(std::max<int64_t>(0, row.events)));
  }

  void Choose() {
    if (detail_->is_exact) {
      std::fill(kept_for_.begin(), kept_for_.end(), kKeptAsAll);
    }
    ChooseFailed();
    ChooseLargest(options_.slowest, kKeptAsSlow, [this](size_t i) {
      return std::optional<double>(static_cast<double>(list_.rows[i].duration_ns) / 1e9);
    });
    ChooseLargest(options_.unexpected, kKeptAsUnexpected, [this](size_t i) -> std::optional<double> {
      const std::optional<double> expected = Expected(list_.rows[i]);
      if (!expected.has_value()) return std::nullopt;
      return static_cast<double>(list_.rows[i].duration_ns) / 1e9 - *expected;
    });
    ChooseTail();
  }

  DetailAttempt Describe(size_t i, const TimelinePlaces& places, const std::vector<uint32_t>& dataset_of) const {
    const AttemptRow& row = list_.rows[i];
    DetailAttempt attempt;
    attempt.worker = places.worker_of_process[row.process];
    attempt.row = places.row_of_attempt[i];
    attempt.lane = detail_->rows_are_threads ? detail_->rows[attempt.row].lane : list_.lanes[i];
    attempt.dataset = dataset_of[list_.DatasetOf(row)];
    attempt.file = list_.FileOf(row);
    attempt.state = row.status;
    attempt.kept_for = kept_for_[i];
    attempt.is_result = row.is_result;
    attempt.number = row.number;
    attempt.start_ns = row.start_ns - detail_->start_ns;
    if (const auto turn = turns_.find(i); turn != turns_.end()) {
      attempt.attempt = turn->second.attempt;
      attempt.attempts = turn->second.attempts;
    }
    if (!HasEnded(row)) return attempt;
    attempt.duration_ns = row.duration_ns;
    attempt.suspended_ns = row.suspended_ns;
    attempt.events = Known(row.events);
    attempt.bytes_read = Known(list_.bytes[i].read);
    attempt.cpu_ns = ChunkCpu(row, list_.helpers);
    attempt.cpu_wait_ns = Known(row.cpu_wait_ns);
    attempt.blocked_ns = ChunkBlocked(row, list_.helpers);
    attempt.rss_delta_bytes = RssDelta(row);
    attempt.expected_seconds = Expected(row);
    return attempt;
  }

  const StragglerFindings& findings() const { return findings_; }
  const std::vector<uint8_t>& kept_for() const { return kept_for_; }

 private:
  void ChooseFailed() {
    size_t chosen = 0;
    for (size_t i = 0; i < list_.rows.size(); ++i) {
      const AttemptState status = list_.rows[i].status;
      const bool wanted = status == AttemptState::kFailed || status == AttemptState::kLost || turns_.contains(i);
      if (!wanted) continue;
      if (++chosen <= options_.failed || detail_->is_exact) {
        kept_for_[i] |= kKeptAsFailed;
      } else {
        ++detail_->failed_left_out;
      }
    }
  }

  /// Marks the `ok` attempts with the largest values.
  template <class Value>
  void ChooseLargest(size_t count, uint8_t reason, const Value& value) {
    std::vector<std::pair<double, size_t>> values;
    for (size_t i = 0; i < list_.rows.size(); ++i) {
      if (list_.rows[i].status != AttemptState::kOk) continue;
      if (const std::optional<double> of = value(i); of.has_value()) values.emplace_back(-*of, i);
    }
    const auto last = values.begin() + static_cast<std::ptrdiff_t>(std::min(count, values.size()));
    std::partial_sort(values.begin(), last, values.end());
    for (auto at = values.begin(); at != last; ++at) kept_for_[at->second] |= reason;
  }

  void ChooseTail() {
    if (!detail_->tail_start_seconds.has_value()) return;
    const double from_ns = static_cast<double>(detail_->start_ns) + *detail_->tail_start_seconds * 1e9;
    std::vector<std::pair<int64_t, size_t>> stops;
    for (size_t i = 0; i < list_.rows.size(); ++i) {
      const AttemptRow& row = list_.rows[i];
      if (HasEnded(row) && static_cast<double>(row.stop_ns()) > from_ns) stops.emplace_back(-row.stop_ns(), i);
    }
    std::sort(stops.begin(), stops.end());
    if (stops.size() > options_.tail) stops.resize(options_.tail);
    for (const auto& [stop, i] : stops) kept_for_[i] |= kKeptInTail;
  }

  const AttemptList& list_;
  const DetailOptions& options_;
  RunDetail* detail_;
  std::vector<uint8_t> kept_for_;
  StragglerFindings findings_;
  std::map<uint32_t, RobustFit> fits_;
  absl::flat_hash_map<size_t, Turn> turns_;
};

/// Reads again what only the record has: error, entries, sections.
void AddRecorded(const AttemptReader& for_each_attempt, const std::map<ListedAttempt, size_t>& places,
                 RunDetail* detail) {
  NameNumbers sections;
  NameNumbers errors;
  errors.Number("");
  absl::flat_hash_set<int64_t> begins;  // most attempts are not kept, and a key of each takes longer than its line
  for (const auto& [key, place] : places) begins.insert(std::get<3>(key));
  const absl::Status read = for_each_attempt([&](const Attempt& attempt) {
    if (!begins.contains(attempt.chunk.start_ns)) return;
    const auto found = places.find(KeyOf(attempt));
    if (found == places.end()) return;
    DetailAttempt& kept = detail->attempts[found->second];
    const ChunkFact& chunk = attempt.chunk;
    kept.entry_start = chunk.input.entry_start;
    kept.entry_stop = chunk.input.entry_stop;
    kept.error = errors.Number(chunk.error);
    kept.sections.clear();
    for (const SectionFact& section : chunk.sections) {
      if (section.helper || section.path.find('/') != std::string_view::npos) continue;
      kept.sections.emplace_back(sections.Number(section.path), section.total_ns);
    }
  });
  if (!read.ok()) return;  // the logs went between the two readings: what the first one found still stands
  detail->sections = std::move(sections.names);
  detail->errors = std::move(errors.names);
}

}  // namespace

void KeepAttempts(const AttemptList& list, const TimelinePlaces& places, const std::vector<uint32_t>& dataset_of,
                  const AttemptReader& for_each_attempt, const DetailOptions& options, RunDetail* detail) {
  Keeper keeper(list, options, detail);
  keeper.Choose();
  for (const DatasetFit& fit : keeper.findings().datasets) {
    detail->fits.push_back({dataset_of[fit.dataset], fit.fit.fixed_seconds, fit.fit.seconds_per_event,
                            fit.fit.slope_known, fit.fit.points, fit.events_min, fit.events_max});
  }
  const std::vector<std::optional<double>> limits = SizeLimits(list);
  std::map<size_t, std::string_view> reasons;
  for (const Straggler& straggler : keeper.findings().stragglers) {
    reasons[straggler.attempt] = ToString(straggler.reason);
  }
  std::vector<size_t> order;
  for (size_t i = 0; i < list.rows.size(); ++i) {
    if (keeper.kept_for()[i] != 0) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&list](size_t a, size_t b) { return list.rows[a].start_ns < list.rows[b].start_ns; });
  std::map<ListedAttempt, size_t> keys;
  for (const size_t i : order) {
    const AttemptRow& row = list.rows[i];
    DetailAttempt attempt = keeper.Describe(i, places, dataset_of);
    const std::optional<double>& limit = limits[list.DatasetOf(row)];
    attempt.is_oversized = row.is_result && limit.has_value() && static_cast<double>(row.events) > *limit;
    if (const auto reason = reasons.find(i); reason != reasons.end()) attempt.straggler_reason = reason->second;
    keys[{list.processes[row.process].worker, list.processes[row.process].start_ns, row.number, row.start_ns}] =
        detail->attempts.size();
    detail->attempts.push_back(std::move(attempt));
  }
  detail->errors = {""};
  AddRecorded(for_each_attempt, keys, detail);
}

}  // namespace crema

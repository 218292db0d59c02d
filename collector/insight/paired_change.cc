#include "collector/insight/paired_change.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <random>

#include "collector/insight/between_runs.h"
#include "collector/insight/between_sides.h"
#include "collector/insight/change_judgement.h"
#include "collector/insight/piece_match.h"
#include "collector/insight/student_distribution.h"
#include "collector/insight/thresholds.h"
#include "nlohmann/json.hpp"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;
using Times = std::vector<double>;  // by part

constexpr int kDraws = 1000;
constexpr uint64_t kSeed = 20'261'124;  // the same records give the same range
constexpr size_t kMostClusters = 1000;  // of more, some are taken together
constexpr size_t kFewestFiles = 10;     // below it pairs are drawn, not files

/// What is drawn: sums over its pairs, or over its chunks of one run.
struct Cluster {
  double weight = 0;
  Times before, after;
};

void AddTo(Times* sums, const Times& times, double scale = 1) {
  sums->resize(times.size());
  for (size_t i = 0; i < times.size(); ++i) (*sums)[i] += scale * times[i];
}

std::vector<Cluster> ClustersOf(const std::vector<PiecePair>& pairs, PairedChange* change) {
  std::map<std::string, size_t> files;
  for (const PiecePair& pair : pairs) files.try_emplace(pair.file, files.size());
  const bool by_file = files.size() >= kFewestFiles && files.size() < pairs.size();
  change->drawn_by = by_file ? "file" : "pair";
  const size_t count = std::min(by_file ? files.size() : pairs.size(), kMostClusters);
  std::vector<Cluster> clusters(count);
  for (size_t i = 0; i < pairs.size(); ++i) {
    Cluster& cluster = clusters[(by_file ? files[pairs[i].file] : i) % count];
    AddTo(&cluster.before, pairs[i].before);
    AddTo(&cluster.after, pairs[i].after);
  }
  return clusters;
}

std::vector<Cluster> ClustersOf(const std::vector<WeighedPiece>& chunks) {
  std::vector<Cluster> clusters(std::min(chunks.size(), kMostClusters));
  for (size_t i = 0; i < chunks.size(); ++i) {
    Cluster& cluster = clusters[i % clusters.size()];
    cluster.weight += chunks[i].weight;
    AddTo(&cluster.before, chunks[i].seconds);
  }
  return clusters;
}

/// The sum of all clusters, or, with `random`, of as many drawn from them.
Cluster SumOf(const std::vector<Cluster>& clusters, std::mt19937_64* random) {
  Cluster sum;
  for (size_t i = 0; i < clusters.size(); ++i) {
    const Cluster& cluster = clusters[random != nullptr ? (*random)() % clusters.size() : i];
    sum.weight += cluster.weight;
    AddTo(&sum.before, cluster.before);
    AddTo(&sum.after, cluster.after);
  }
  return sum;
}

/// Both runs' time on the same input, as it was measured and as it may have been.
class Compared {
 public:
  Compared(const PieceMatch& match, PairedChange* change) {
    if (match.paired_by != "none") {
      pairs_ = ClustersOf(match.pairs, change);
      change->pairs = match.pairs.size();
      fewest_ = pairs_.size();
      return;
    }
    change->drawn_by = "chunk";
    size_t before = 0, after = 0;
    for (const UnpairedPieces& dataset : match.unpaired) {
      unpaired_.emplace_back(ClustersOf(dataset.before), ClustersOf(dataset.after));
      weights_.push_back(SumOf(unpaired_.back().first, nullptr).weight);
      before += dataset.before.size();
      after += dataset.after.size();
      fewest_ = std::min({fewest_, dataset.before.size(), dataset.after.size()});
    }
    change->pairs = std::min(before, after);
  }

  /// Times by part; with `random` of a draw.
  Cluster Sum(std::mt19937_64* random) const {
    if (!pairs_.empty()) return SumOf(pairs_, random);
    Cluster sum;
    for (size_t i = 0; i < unpaired_.size(); ++i) {
      const Cluster before = SumOf(unpaired_[i].first, random), after = SumOf(unpaired_[i].second, random);
      AddTo(&sum.before, before.before, weights_[i] / before.weight);
      AddTo(&sum.after, after.before, weights_[i] / after.weight);
    }
    return sum;
  }

  /// By so much the spread of draws is too narrow, because what is drawn from is a sample itself, and not large.
  double Widening() const {
    const auto count = static_cast<double>(fewest_);
    return std::sqrt(count / (count - 1)) * StudentQuantile(kRangeTail, fewest_ - 1) / kSigmasTo95;
  }

 private:
  std::vector<Cluster> pairs_;
  std::vector<std::pair<std::vector<Cluster>, std::vector<Cluster>>> unpaired_;
  std::vector<double> weights_;  // of the datasets in the first run
  size_t fewest_ = kMostClusters;
};

double Total(const Times& times) {
  double sum = 0;
  for (const double time : times) sum += time;
  return sum;
}

/// By part, and of all at the end.
Times ChangesIn(const Cluster& sum) {
  const double before = Total(sum.before);
  Times changes;
  double all = 0;
  for (size_t i = 0; i < sum.before.size(); ++i) {
    changes.push_back((sum.after[i] - sum.before[i]) / before);
    all += changes.back();
  }
  changes.push_back(all);
  return changes;
}

MeasuredChange FromDraws(double change, Times draws, double widening) {
  std::sort(draws.begin(), draws.end());
  const auto at = [&draws](double share) {
    return draws[static_cast<size_t>(std::lround(share * static_cast<double>(draws.size() - 1)))];
  };
  MeasuredChange measured{change, std::max(0.0, widening * (change - at(kRangeTail))),
                          std::max(0.0, widening * (at(1 - kRangeTail) - change)), 1};
  // By the normal distribution of the draws' width: the draws themselves cannot tell small probabilities apart.
  const double sigma = (measured.below + measured.above) / 2 / kSigmasTo95;
  measured.probability_of_none =
      sigma > 0 ? std::erfc(std::fabs(change) / sigma / std::sqrt(2)) : (change == 0 ? 1.0 : 0.0);
  return measured;
}

}  // namespace

std::string_view ToString(ChangeConclusion conclusion) {
  switch (conclusion) {
    case ChangeConclusion::kSlower:
      return "slower";
    case ChangeConclusion::kFaster:
      return "faster";
    case ChangeConclusion::kSame:
      return "same";
    case ChangeConclusion::kUnclear:
      return "unclear";
    case ChangeConclusion::kNotKnown:
      break;
  }
  return "not known";
}

namespace {

/// Where a chunk waited for a CPU is not known, and each part is given a share of it. What a part seems to have changed
/// by then has to be seen in its time, too: in half of its pairs.
bool IsSeenInPairs(const PieceMatch& match, const ChangeEffect& effect) {
  const auto part =
      static_cast<size_t>(std::find(match.parts.begin(), match.parts.end(), effect.what) - match.parts.begin());
  std::vector<double> ratios;
  for (const PiecePair& pair : match.pairs) {
    if (pair.ratio[part] >= 0) ratios.push_back(pair.ratio[part]);
  }
  if (effect.share <= 0) return true;  // there was no such section before
  if (ratios.empty()) return false;
  const auto middle = ratios.begin() + static_cast<std::ptrdiff_t>(ratios.size() / 2);
  std::nth_element(ratios.begin(), middle, ratios.end());
  return kSeenInPairs.Holds((*middle - 1) / (effect.change / effect.share));
}

/// A thread that waits for a CPU may hold what all others of its process are blocked for. So of the blocked time, as
/// much may be due to that, and the change with it.
void AllowForHoldersWithoutCpu(const PieceMatch::Seconds& before, size_t threads_before,
                               const PieceMatch::Seconds& after, size_t threads_after, PairedChange* change) {
  const auto due = [](const PieceMatch::Seconds& of, size_t threads) {
    const double blocked = std::max(0.0, of.all - of.waiting - of.cpu);
    return std::min(blocked, static_cast<double>(threads - 1) * of.waiting);
  };
  const double due_before = due(before, std::max<size_t>(1, threads_before));
  const double due_after = due(after, std::max<size_t>(1, threads_after));
  if (due_before + due_after <= 0) return;
  const double work_before = before.all - before.waiting, work_after = after.all - after.waiting;
  change->is_short_of_cpu = true;
  const double below = change->change - change->low, above = change->high - change->change;
  change->low = std::max(-1.0, std::min(change->low, (work_after - due_after) / work_before - 1 - below));
  change->high = std::max(change->high, work_after / std::max(1e-9, work_before - due_before) - 1 + above);
  const bool is_sure =
      change->conclusion == ChangeConclusion::kSlower || change->conclusion == ChangeConclusion::kFaster;
  if (!is_sure || change->low > 0 || change->high < 0) return;
  change->conclusion = ChangeConclusion::kUnclear;
  for (ChangeEffect& effect : change->effects) effect.is_sure = false;
}

PairedChange ComparePieces(const RunPieces& before, const RunPieces& after, ComparedTime time) {
  PairedChange change;
  const PieceMatch match = MatchPieces(before, after, time);
  change.why_not = match.why_not;
  if (!match.why_not.empty()) return change;
  change.paired_by = match.paired_by;
  change.before_share = match.before_share;
  change.after_share = match.after_share;
  change.is_of_work = time == ComparedTime::kWork;
  change.before_waiting = change.is_of_work ? match.before_seconds.waiting : 0;
  change.after_waiting = change.is_of_work ? match.after_seconds.waiting : 0;
  const Compared compared(match, &change);
  const Cluster sum = compared.Sum(nullptr);
  const Times changes = ChangesIn(sum);
  std::vector<Times> draws(changes.size());
  std::mt19937_64 random(kSeed);
  for (int draw = 0; draw < kDraws; ++draw) {
    const Times drawn = ChangesIn(compared.Sum(&random));
    for (size_t i = 0; i < drawn.size(); ++i) draws[i].push_back(drawn[i]);
  }
  const double widening = compared.Widening(), all = Total(sum.before);
  std::vector<MeasuredPart> parts;
  for (size_t i = 0; i + 1 < changes.size(); ++i) {
    parts.push_back({match.parts[i], FromDraws(changes[i], std::move(draws[i]), widening), sum.before[i] / all});
  }
  JudgeChange(FromDraws(changes.back(), std::move(draws.back()), widening), parts, kBetweenRuns, &change);
  const auto is_short = [](const PieceMatch::Seconds& of) { return kShortOfCpu.Holds(of.waiting / of.all); };
  if (change.is_of_work && (is_short(match.before_seconds) || is_short(match.after_seconds))) {
    for (ChangeEffect& effect : change.effects) effect.is_sure = effect.is_sure && IsSeenInPairs(match, effect);
    AllowForHoldersWithoutCpu(match.before_seconds, before.threads_of_process(), match.after_seconds,
                              after.threads_of_process(), &change);
  }
  return change;
}

}  // namespace

PairedChange ComparePieces(const RunPieces& before, const RunPieces& after) {
  const bool knows_waiting = before.knows_waiting() && after.knows_waiting();
  return ComparePieces(before, after, knows_waiting ? ComparedTime::kWork : ComparedTime::kAll);
}

PairedChange CompareSides(const std::vector<RunPieces>& before, const std::vector<RunPieces>& after) {
  if (before.size() == 1 && after.size() == 1) return ComparePieces(before.front(), after.front());
  PairedChange change;
  change.runs_before = before.size();
  change.runs_after = after.size();
  change.drawn_by = "run";
  change.is_of_work = true;
  for (const auto* side : {&before, &after}) {
    for (const RunPieces& run : *side) change.is_of_work = change.is_of_work && run.knows_waiting();
  }
  std::map<std::string, size_t> index;
  std::vector<std::string> names;
  std::vector<double> shares;
  // Each run's time on the first one's input, by part, less that of the first one.
  std::vector<std::map<size_t, double>> sides[2];
  for (const std::vector<RunPieces>* side : {&before, &after}) {
    for (const RunPieces& run : *side) {
      std::map<size_t, double>& parts = sides[side == &before ? 0 : 1].emplace_back();
      if (&run == &before.front()) continue;
      const PairedChange against_first =
          ComparePieces(before.front(), run, change.is_of_work ? ComparedTime::kWork : ComparedTime::kAll);
      if (against_first.conclusion == ChangeConclusion::kNotKnown) {
        change.why_not = against_first.why_not;
        return change;
      }
      if (change.pairs == 0) change.before_waiting = against_first.before_waiting / static_cast<double>(before.size());
      (side == &before ? change.before_waiting : change.after_waiting) +=
          against_first.after_waiting / static_cast<double>(side->size());
      change.paired_by = against_first.paired_by;
      change.pairs = change.pairs == 0 ? against_first.pairs : std::min(change.pairs, against_first.pairs);
      change.before_share = std::min(change.before_share, against_first.before_share);
      change.after_share = std::min(change.after_share, against_first.after_share);
      for (const ChangeEffect& effect : against_first.effects) {
        const auto [at, is_new] = index.try_emplace(effect.what, names.size());
        if (is_new) names.push_back(effect.what), shares.push_back(0);
        shares[at->second] = std::max(shares[at->second], effect.share);
        parts[at->second] += effect.change;
      }
    }
  }
  const auto total = [](const std::map<size_t, double>& run) {
    double sum = 0;
    for (const auto& [part, value] : run) sum += value;
    return sum;
  };
  double base = 1;  // what the runs before took, on average, over what the first took
  for (const auto& run : sides[0]) base += total(run) / static_cast<double>(sides[0].size());
  const auto values_of = [base](const std::vector<std::map<size_t, double>>& runs, const auto& value_of) {
    std::vector<double> values;
    for (const auto& run : runs) values.push_back(value_of(run) / base);
    return values;
  };
  std::vector<MeasuredPart> parts;
  double deviation = 0;
  for (size_t i = 0; i < names.size(); ++i) {
    const auto of_part = [i](const std::map<size_t, double>& run) {
      const auto found = run.find(i);
      return found == run.end() ? 0.0 : found->second;
    };
    parts.push_back(
        {names[i], BetweenSides(values_of(sides[0], of_part), values_of(sides[1], of_part), &deviation), shares[i]});
  }
  const MeasuredChange all = BetweenSides(values_of(sides[0], total), values_of(sides[1], total), &deviation);
  change.between_runs = deviation;
  JudgeChange(all, parts, 0, &change);
  return change;
}

size_t RunsNeeded(double effect, double between_runs) {
  constexpr size_t kMostRuns = 1000;
  constexpr double kMissed = 0.2;
  for (size_t runs = 2; runs <= kMostRuns; ++runs) {
    const double error = between_runs * std::sqrt(2 / static_cast<double>(runs));
    const size_t freedom = 2 * (runs - 1);
    if ((StudentQuantile(kRangeTail, freedom) + StudentQuantile(kMissed, freedom)) * error <= effect) return runs;
  }
  return 0;
}

Json PairedChangeAsJson(const PairedChange& change) {
  const bool is_known = change.conclusion != ChangeConclusion::kNotKnown;
  Json effects = Json::array(), needed = Json::array();
  for (const ChangeEffect& effect : change.effects) {
    effects.push_back({{"what", effect.what},
                       {"change", effect.change},
                       {"low", effect.low},
                       {"high", effect.high},
                       {"share", effect.share},
                       {"is_sure", effect.is_sure}});
  }
  for (const double effect : kEffectsOfRuns) {
    if (!change.between_runs.has_value()) break;
    const size_t runs = RunsNeeded(effect, *change.between_runs);
    needed.push_back({{"effect", effect}, {"runs", runs > 0 ? Json(runs) : Json()}});
  }
  return {{"conclusion", is_known ? Json(ToString(change.conclusion)) : Json()},
          {"change", is_known ? Json(change.change) : Json()},
          {"low", is_known ? Json(change.low) : Json()},
          {"high", is_known ? Json(change.high) : Json()},
          {"effects", std::move(effects)},
          {"compared", is_known ? Json(change.is_of_work ? "work" : "time") : Json()},
          {"short_of_cpu", is_known && change.is_of_work ? Json(change.is_short_of_cpu) : Json()},
          {"waiting", is_known && change.is_of_work ? Json({change.before_waiting, change.after_waiting}) : Json()},
          {"paired_by", is_known ? Json(change.paired_by) : Json()},
          {"pairs", change.pairs},
          {"paired_shares", is_known ? Json({change.before_share, change.after_share}) : Json()},
          {"runs_a_side", {change.runs_before, change.runs_after}},
          {"between_runs", change.between_runs.has_value() ? Json(*change.between_runs) : Json()},
          {"runs_needed", std::move(needed)},
          {"reason", is_known ? Json() : Json(change.why_not)}};
}

}  // namespace crema

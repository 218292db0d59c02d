#include "collector/comparison/paired_change.h"

#include <random>

#include "collector/format/human_numbers.h"
#include "collector/idioms/normal_distribution.h"
#include "collector/idioms/sequences.h"
#include "collector/measurement/thresholds.h"
#include "nlohmann/json.hpp"

namespace crema {
namespace {

std::string Text(const std::optional<int64_t>& number) { return number.has_value() ? std::to_string(*number) : "-"; }

std::string KeyOf(const ChunkInput& input) {
  return fmt::format("{}\n{}\n{}\n{}-{}\n{}", input.dataset, input.file, input.tree, Text(input.entry_start),
                     Text(input.entry_stop), input.pass);
}

// Which pieces of two runs hold the same input: pairs of them, or whole datasets where chunks do not say what they had.

/// The same input in both runs. Seconds by part: the indices are those of `PieceMatch::parts`.
struct PiecePair {
  std::string file;
  std::vector<double> before;
  std::vector<double> after;  ///< for as many events
  std::vector<double> ratio;  ///< of all time, after over before; negative: there was none before
};

struct WeighedPiece {
  double weight = 0;  ///< events; where a chunk does not know them, 1
  std::vector<double> seconds;
};

/// Chunks of one dataset, of which nobody knows which belong together.
struct UnpairedPieces {
  std::vector<WeighedPiece> before;
  std::vector<WeighedPiece> after;
};

struct PieceMatch {
  std::string why_not;                   ///< not empty: there is nothing to compare
  std::string_view paired_by;            ///< `chunk`; `file`: ranges differ, and events are the measure; `none`
  bool is_by_event = false;              ///< the two processed other numbers of events of the same input
  std::vector<std::string> parts;        ///< top-level sections; the last one is `(other)`
  std::vector<PiecePair> pairs;          ///< empty where `paired_by` is `none`
  std::vector<UnpairedPieces> unpaired;  ///< empty else
  double before_share = 0;               ///< of the run's time in chunks, what takes part
  double after_share = 0;
  struct Seconds {
    double all = 0, waiting = 0, cpu = 0;
    double blocked() const { return std::max(0.0, all - waiting - cpu); }
  };
  Seconds before_seconds;  ///< of what takes part; `waiting` is without a CPU
  Seconds after_seconds;   ///< for as many events

  bool speaks_for_the_run() const { return kSpeaksForTheRun.Holds(least_share()); }
  double least_share() const { return std::min(before_share, after_share); }
};

/// Whether times are compared without the time in which threads waited for a CPU: it is known of all runs.
enum class ComparedTime { kWork, kAll };

using Pieces = std::map<std::string, RunPiece>;

/// Names of all parts of both runs, and where each run's own index leads.
struct Parts {
  std::vector<std::string> names;
  std::vector<size_t> of_before, of_after;
  ComparedTime time;
};

Parts JoinParts(const RunPieces& before, const RunPieces& after, ComparedTime time) {
  Parts parts;
  parts.time = time;
  std::map<std::string, size_t> index;
  const auto add = [&](const std::vector<std::string>& names, std::vector<size_t>* of) {
    for (const std::string& name : names) {
      const auto [at, is_new] = index.try_emplace(name, parts.names.size());
      if (is_new) parts.names.push_back(name);
      of->push_back(at->second);
    }
  };
  add(before.parts(), &parts.of_before);
  add(after.parts(), &parts.of_after);
  parts.names.emplace_back("(other)");
  return parts;
}

/// Seconds by part, times `scale`; the last one is what no section covers. Where in a piece its thread waited for a CPU
/// is not known: each part waited in proportion to its time.
std::vector<double> SplitPiece(const RunPiece& piece, const std::vector<size_t>& index, const Parts& parts,
                               double scale = 1) {
  std::vector<double> seconds(parts.names.size());
  if (parts.time == ComparedTime::kWork && piece.seconds > 0) scale *= 1 - piece.waiting / piece.seconds;
  double named = 0;
  for (size_t i = 0; i < piece.of_part.size(); ++i) {
    seconds[index[i]] += scale * piece.of_part[i];
    named += piece.of_part[i];
  }
  seconds.back() = scale * (piece.seconds - named);
  return seconds;
}

using Times = std::vector<double>;  // by part

void AddTo(Times* sums, const Times& times, double scale = 1) {
  if (sums->size() < times.size()) sums->resize(times.size());
  for (size_t i = 0; i < times.size(); ++i) (*sums)[i] += scale * times[i];
}

/// The pieces of each file together.
Pieces ByFile(const RunPieces& run) {
  Pieces files;
  run.ForEach([&files](const RunPiece& piece) {
    if (piece.file.empty()) return;
    RunPiece& file =
        files.try_emplace(piece.dataset + "\n" + piece.file, RunPiece{piece.dataset, piece.file, 0, 0, 0, 0, {}, 0})
            .first->second;
    file.events = piece.events < 0 || file.events < 0 ? -1 : file.events + piece.events;
    file.seconds += piece.seconds;
    file.waiting += piece.waiting;
    file.cpu += piece.cpu;
    ++file.chunks;
    AddTo(&file.of_part, piece.of_part);
  });
  return files;
}

/// How much of the second run's piece is the work of the first one's; 0: that is not known.
double ScaleOf(const RunPiece& before, const RunPiece& after, bool by_event) {
  if (before.events > 0 && after.events > 0) {
    if (by_event) return before.events / after.events;
    return before.events == after.events ? 1 : 0;  // a range that holds other events now is other work
  }
  return !by_event || before.chunks == after.chunks ? 1 : 0;
}

std::vector<double> RatiosOf(const RunPiece& before, const RunPiece& after, double scale, const Parts& parts) {
  Parts all = parts;
  all.time = ComparedTime::kAll;
  const std::vector<double> first = SplitPiece(before, all.of_before, all);
  std::vector<double> ratios = SplitPiece(after, all.of_after, all, scale);
  for (size_t i = 0; i < ratios.size(); ++i) ratios[i] = first[i] > 0 ? ratios[i] / first[i] : -1;
  return ratios;
}

void Add(const RunPiece& piece, double scale, PieceMatch::Seconds* sum) {
  sum->all += scale * piece.seconds;
  sum->waiting += scale * piece.waiting;
  sum->cpu += scale * piece.cpu;
}

PieceMatch PairUp(const Pieces& before, const Pieces& after, bool by_event, const Parts& parts, double all_before,
                  double all_after) {
  PieceMatch matched;
  matched.paired_by = by_event ? "file" : "chunk";
  matched.parts = parts.names;
  for (const auto& [key, piece] : before) {
    const auto found = after.find(key);
    if (found == after.end()) continue;
    const double scale = ScaleOf(piece, found->second, by_event);
    if (scale == 0) continue;
    matched.is_by_event |= scale != 1;
    matched.pairs.push_back({piece.dataset + "\n" + piece.file, SplitPiece(piece, parts.of_before, parts),
                             SplitPiece(found->second, parts.of_after, parts, scale),
                             RatiosOf(piece, found->second, scale, parts)});
    matched.before_share += piece.seconds / all_before;
    matched.after_share += found->second.seconds / all_after;
    Add(piece, 1, &matched.before_seconds);
    Add(found->second, scale, &matched.after_seconds);
  }
  return matched;
}

struct ChunksOfDataset {
  std::vector<const RunPiece*> chunks;
  double seconds = 0;
  double events = 0;
  bool has_events = true;
};

std::map<std::string, ChunksOfDataset> ByDataset(const RunPieces& run) {
  std::map<std::string, ChunksOfDataset> datasets;
  run.ForEach([&datasets](const RunPiece& piece) {
    ChunksOfDataset& of = datasets[piece.dataset];
    of.chunks.push_back(&piece);
    of.seconds += piece.seconds;
    of.events += piece.events;
    of.has_events = of.has_events && piece.events > 0;
  });
  return datasets;
}

std::vector<WeighedPiece> Weigh(const ChunksOfDataset& of, bool by_event, const std::vector<size_t>& index,
                                const Parts& parts) {
  return Mapped<WeighedPiece>(of.chunks, [&](const RunPiece* chunk) {
    return WeighedPiece{by_event ? chunk->events : 1, SplitPiece(*chunk, index, parts)};
  });
}

/// Datasets as a whole, of as many events where chunks have ranges. Their chunks may be compared by events, or, where
/// as many without ranges did not record them, one by one.
PieceMatch MatchDatasets(const RunPieces& before, const RunPieces& after, const Parts& parts, size_t fewest) {
  PieceMatch match;
  match.paired_by = "none";
  match.parts = parts.names;
  const bool have_ranges = before.unranged().empty() || after.unranged().empty();
  const std::map<std::string, ChunksOfDataset> first = ByDataset(before), second = ByDataset(after);
  const double all_before = before.seconds(), all_after = after.seconds();
  for (const auto& [name, of_before] : first) {
    const auto found = second.find(name);
    if (found == second.end()) continue;
    const ChunksOfDataset& of_after = found->second;
    const bool by_event = of_before.has_events && of_after.has_events;
    const bool is_same_work = have_ranges ? by_event && of_before.events == of_after.events
                                          : by_event || of_before.chunks.size() == of_after.chunks.size();
    if (!is_same_work || std::min(of_before.chunks.size(), of_after.chunks.size()) < fewest) continue;
    match.unpaired.push_back(
        {Weigh(of_before, by_event, parts.of_before, parts), Weigh(of_after, by_event, parts.of_after, parts)});
    match.before_share += of_before.seconds / all_before;
    match.after_share += of_after.seconds / all_after;
    for (const RunPiece* chunk : of_before.chunks) Add(*chunk, 1, &match.before_seconds);
    const double scale = by_event ? of_before.events / of_after.events : 1;
    match.is_by_event |= scale != 1;
    for (const RunPiece* chunk : of_after.chunks) Add(*chunk, scale, &match.after_seconds);
  }
  return match;
}

/// By chunk where chunks have their ranges, else by file, else not paired at all. What takes part is the input that
/// both runs have; a way that leaves out more than 10 % of either run's time is taken only where no other leaves out
/// less. `fewest`: pairs, or chunks of a side, that an answer needs.
PieceMatch MatchPieces(const RunPieces& before, const RunPieces& after, ComparedTime time, size_t fewest) {
  const auto because = [](std::string reason) {
    PieceMatch none;
    none.why_not = std::move(reason);
    return none;
  };
  for (const RunPieces* run : {&before, &after}) {
    if (!run->why_not.empty()) return because(run->why_not);
  }
  if (before.empty() || after.empty()) return because("a run has no chunk with a result");
  if (before.is_cut() || after.is_cut()) {
    return because(fmt::format("a run has more than {} chunks", ExactCount(RunPieces::kMostPieces)));
  }
  const Parts parts = JoinParts(before, after, time);
  const double all_before = before.seconds(), all_after = after.seconds();
  if (all_before <= 0 || all_after <= 0) return because("a run's chunks took no time");

  PieceMatch best = PairUp(before.pieces(), after.pieces(), false, parts, all_before, all_after);
  if (!best.speaks_for_the_run()) {
    PieceMatch by_file = PairUp(ByFile(before), ByFile(after), true, parts, all_before, all_after);
    const bool is_better = by_file.speaks_for_the_run() || by_file.least_share() > best.least_share();
    if (is_better && by_file.pairs.size() >= std::min(fewest, best.pairs.size())) best = std::move(by_file);
  }
  const bool is_enough = best.pairs.size() >= (best.speaks_for_the_run() ? fewest : kFewestPairs);
  if (!is_enough || !best.speaks_for_the_run()) {
    if (PieceMatch whole = MatchDatasets(before, after, parts, fewest); whole.speaks_for_the_run()) return whole;
    if (!is_enough && !before.unranged().empty() && !after.unranged().empty()) {
      return because(
          fmt::format("the chunks have no ranges, and datasets cannot be compared as a whole: each run needs {} "
                      "chunks, and their events or as many chunks as the other run",
                      fewest));
    }
  }
  if (best.pairs.empty()) return because("the two have no file of a dataset in common");
  if (is_enough) return best;
  return because("the two have only " +
                 Counted(static_cast<double>(best.pairs.size()), best.paired_by, fmt::format("{}s", best.paired_by)) +
                 " in common" + (best.speaks_for_the_run() ? "; with several runs a side that is enough" : ""));
}

constexpr int kDraws = 1000;
constexpr uint64_t kSeed = 20'261'124;  // the same records give the same range
constexpr size_t kMostClusters = 1000;  // of more, some are taken together
constexpr size_t kFewestFiles = 10;     // below it pairs are drawn, not files

/// What is drawn: sums over its pairs, or over its chunks of one run.
struct Cluster {
  double weight = 0;
  Times before, after;
};

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
    if (fewest_ < 2) return 1;  // of several runs a side: what they scatter by is the range
    return std::sqrt(count / (count - 1)) * StudentQuantile(kRangeTail, fewest_ - 1) / kSigmasTo95;
  }

 private:
  std::vector<Cluster> pairs_;
  std::vector<std::pair<std::vector<Cluster>, std::vector<Cluster>>> unpaired_;
  std::vector<double> weights_;  // of the datasets in the first run
  size_t fewest_ = kMostClusters;
};

double Total(const Times& times) { return absl::c_accumulate(times, 0.0); }

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
  absl::c_sort(draws);
  const auto at = [&draws](double share) {
    return draws[static_cast<size_t>(std::lround(share * static_cast<double>(draws.size() - 1)))];
  };
  MeasuredChange measured{change, std::max(0.0, widening * (change - at(kRangeTail))),
                          std::max(0.0, widening * (at(1 - kRangeTail) - change)), 1};
  // By the normal distribution of the draws' width: the draws themselves cannot resolve small probabilities.
  const double sigma = (measured.below + measured.above) / 2 / kSigmasTo95;
  measured.probability_of_none =
      sigma > 0 ? std::erfc(std::fabs(change) / sigma / std::sqrt(2)) : (change == 0 ? 1.0 : 0.0);
  return measured;
}

/// Where a chunk waited for a CPU is not known, and each part is given a share of it. What a part seems to have changed
/// by then has to be seen in its time, too: in half of its pairs.
bool IsSeenInPairs(const PieceMatch& match, const ChangeEffect& effect) {
  const auto part = static_cast<size_t>(absl::c_find(match.parts, effect.what) - match.parts.begin());
  std::vector<double> ratios;
  for (const PiecePair& pair : match.pairs) {
    if (pair.ratio[part] >= 0) ratios.push_back(pair.ratio[part]);
  }
  if (effect.share <= 0) return true;  // there was no such section before
  return !ratios.empty() && kSeenInPairs.Holds((UpperMedian(ratios) - 1) / (effect.change / effect.share));
}

/// Threads wait for a CPU where they compute. So no more waiting can be given to a wrong part than blocked time got.
bool IsBeyondMisplacedWaiting(const PieceMatch& match, const ChangeEffect& effect) {
  const auto misplaced = [](const PieceMatch::Seconds& of) { return of.waiting * of.blocked() / of.all; };
  const PieceMatch::Seconds &before = match.before_seconds, &after = match.after_seconds;
  const double nearest = effect.change > 0 ? effect.low : -effect.high;
  return nearest > (misplaced(before) + misplaced(after)) / (before.all - before.waiting);
}

/// A thread that waits for a CPU may hold what all others of its process are blocked for. So of the blocked time, as
/// much may be due to that, and the change with it. In runs that seem equal it would have to
/// be just as long as the change.
void AllowForHoldersWithoutCpu(const PieceMatch::Seconds& before, size_t threads_before,
                               const PieceMatch::Seconds& after, size_t threads_after, PairedChange* change) {
  if (change->conclusion == ChangeConclusion::kSame) return;
  const auto due = [](const PieceMatch::Seconds& of, size_t threads) {
    return std::min(of.blocked(), static_cast<double>(threads - 1) * of.waiting);
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

PairedChange ComparePieces(const RunPieces& before, const RunPieces& after, ComparedTime time, size_t fewest) {
  PairedChange change;
  const PieceMatch match = MatchPieces(before, after, time, fewest);
  change.why_not = match.why_not;
  if (!match.why_not.empty()) return change;
  change.paired_by = match.paired_by;
  change.is_by_event = match.is_by_event;
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
  const auto is_short = [](const PieceMatch::Seconds& of) {
    return kShortOfCpu.Holds(of.waiting / std::max(1e-9, of.waiting + of.cpu));
  };
  change.is_beside_others = change.is_of_work && (is_short(match.before_seconds) || is_short(match.after_seconds));
  change.assumed = change.is_beside_others ? kBetweenBusyRuns : kBetweenRuns;
  change.assumed += kSecondsBetweenRuns / std::max(1e-9, all);
  JudgeChange(FromDraws(changes.back(), std::move(draws.back()), widening), parts, change.assumed, &change);
  if (change.is_beside_others) {
    for (ChangeEffect& effect : change.effects) {
      effect.is_sure = effect.is_sure && (IsBeyondMisplacedWaiting(match, effect) || IsSeenInPairs(match, effect));
    }
    AllowForHoldersWithoutCpu(match.before_seconds, before.threads_of_process(), match.after_seconds,
                              after.threads_of_process(), &change);
  }
  return change;
}

double SquareSum(double a, double b) { return std::sqrt(a * a + b * b); }  // std::hypot would ask for glibc 2.35

/// The probability of none once equal runs differ by `assumed`, too.
double Weakened(const MeasuredChange& measured, double assumed) {
  if (assumed <= 0) return measured.probability_of_none;
  const double sigma = assumed / kSigmasTo95;
  // as if the measurement were normal: what it says of its own width is in its probability
  const double own = (measured.below + measured.above) / 2 / kSigmasTo95;
  const double beyond = std::erfc(std::fabs(measured.change) / SquareSum(sigma, own) / std::sqrt(2));
  return std::max(measured.probability_of_none, beyond);
}

/// Holm's procedure: from the surest on, until one is not sure enough for how many are left.
void MarkSure(std::vector<std::pair<double, ChangeEffect*>> effects) {
  absl::c_sort(effects, [](const auto& a, const auto& b) { return a.first < b.first; });
  for (size_t i = 0; i < effects.size(); ++i) {
    if (effects[i].first > kSectionSignificance / static_cast<double>(effects.size() - i)) return;
    effects[i].second->is_sure = true;
  }
}

}  // namespace

void RunPieces::Add(const Attempt& attempt) {
  if (attempt.state != AttemptState::kOk) return;
  const ChunkFact& chunk = attempt.chunk;
  const bool has_range = chunk.input.entry_start.has_value() || chunk.input.entry_stop.has_value();
  std::string key = has_range ? KeyOf(chunk.input) : "";
  if (pieces_.size() + unranged_.size() >= kMostPieces && pieces_.count(key) == 0) {
    is_cut_ = true;
    return;
  }
  RunPiece piece;
  piece.dataset = chunk.input.dataset;
  piece.file = chunk.input.file;
  if (chunk.events.has_value()) piece.events = static_cast<double>(*chunk.events);
  piece.seconds = static_cast<double>(chunk.duration_ns()) / 1e9;
  piece.waiting = std::clamp(static_cast<double>(chunk.cpu_wait_ns.value_or(0)) / 1e9, 0.0, piece.seconds);
  threads_[attempt.process.worker].insert(chunk.tid.value_or(0));
  piece.cpu = std::clamp(static_cast<double>(chunk.cpu_ns.value_or(0)) / 1e9, 0.0, piece.seconds);
  knows_waiting_ = knows_waiting_ && chunk.cpu_wait_ns.has_value();
  for (const SectionFact& section : chunk.sections) {
    if (section.helper || section.path.find('/') != std::string_view::npos) continue;
    auto found = part_index_.find(section.path);
    if (found == part_index_.end()) {
      if (parts_.size() >= kMostParts) continue;
      found = part_index_.emplace(std::string(section.path), parts_.size()).first;
      parts_.emplace_back(section.path);
    }
    GrownAt(&piece.of_part, found->second) += static_cast<double>(section.total_ns) / 1e9;
  }
  if (has_range) {
    passes_.emplace(chunk.input.pass);
    pieces_.insert_or_assign(std::move(key), std::move(piece));
  } else {
    unranged_.push_back(std::move(piece));
  }
}

size_t RunPieces::threads_of_process() const {
  size_t most = 0;
  for (const auto& [worker, threads] : threads_) most = std::max(most, threads.size());
  return most;
}

void RunPieces::ForgetSinglePass() {
  if (passes_.size() != 1) return;
  for (auto& [key, piece] : std::exchange(pieces_, {})) {
    pieces_.insert_or_assign(key.substr(0, key.size() - passes_.begin()->size()), std::move(piece));
  }
}

double RunPieces::seconds() const {
  double sum = 0;
  ForEach([&sum](const RunPiece& piece) { sum += piece.seconds; });
  return sum;
}

std::string_view ToString(ChangeConclusion conclusion) {
  constexpr std::string_view kNames[] = {"slower", "faster", "same", "unclear", "not known"};
  return kNames[static_cast<size_t>(conclusion)];
}

PairedChange ComparePieces(const RunPieces& before, const RunPieces& after) {
  const bool knows_waiting = before.knows_waiting() && after.knows_waiting();
  return ComparePieces(before, after, knows_waiting ? ComparedTime::kWork : ComparedTime::kAll, kFewestPairs);
}

PairedChange CompareSides(const std::vector<RunPieces>& before, const std::vector<RunPieces>& after) {
  if (before.size() == 1 && after.size() == 1) return ComparePieces(before.front(), after.front());
  PairedChange change;
  change.runs_before = before.size();
  change.runs_after = after.size();
  change.drawn_by = "run";
  const auto knows_waiting = [](const RunPieces& run) { return run.knows_waiting(); };
  change.is_of_work = absl::c_all_of(before, knows_waiting) && absl::c_all_of(after, knows_waiting);
  std::map<std::string, double> shares;
  // Each run's time on the first one's input, by part, less that of the first one.
  using Differences = std::map<std::string, double>;
  std::vector<Differences> sides[2];
  for (const std::vector<RunPieces>* side : {&before, &after}) {
    for (const RunPieces& run : *side) {
      Differences& parts = sides[side == &before ? 0 : 1].emplace_back();
      if (&run == &before.front()) continue;
      const PairedChange against_first =
          ComparePieces(before.front(), run, change.is_of_work ? ComparedTime::kWork : ComparedTime::kAll, 1);
      if (against_first.conclusion == ChangeConclusion::kNotKnown) {
        change.why_not = against_first.why_not;
        return change;
      }
      if (change.pairs == 0) change.before_waiting = against_first.before_waiting / static_cast<double>(before.size());
      (side == &before ? change.before_waiting : change.after_waiting) +=
          against_first.after_waiting / static_cast<double>(side->size());
      change.paired_by = against_first.paired_by;
      change.is_by_event |= against_first.is_by_event;
      change.pairs = change.pairs == 0 ? against_first.pairs : std::min(change.pairs, against_first.pairs);
      change.before_share = std::min(change.before_share, against_first.before_share);
      change.after_share = std::min(change.after_share, against_first.after_share);
      for (const ChangeEffect& effect : against_first.effects) {
        double& share = shares[effect.what];
        share = std::max(share, effect.share);
        parts[effect.what] += effect.change;
      }
    }
  }
  const auto total = [](const Differences& run) {
    return SumOf<double>(run, [](const auto& part) { return part.second; });
  };
  double base = 1;  // what the runs before took, on average, over what the first took
  for (const auto& run : sides[0]) base += total(run) / static_cast<double>(sides[0].size());
  const auto values_of = [base](const std::vector<Differences>& runs, const auto& value_of) {
    return Mapped<double>(runs, [&](const auto& run) { return value_of(run) / base; });
  };
  std::vector<MeasuredPart> parts;
  double deviation = 0;
  for (const auto& item : shares) {
    const auto of_part = [&item](const Differences& run) { return ValueOr(run, item.first, 0.0); };
    parts.push_back({item.first, BetweenSides(values_of(sides[0], of_part), values_of(sides[1], of_part), &deviation),
                     item.second});
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
  Json needed = Json::array();
  Json effects = Mapped<Json>(change.effects, [](const ChangeEffect& effect) {
    return Json{{"what", effect.what}, {"change", effect.change}, {"low", effect.low},
                {"high", effect.high}, {"share", effect.share},   {"is_sure", effect.is_sure}};
  });
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

void JudgeChange(const MeasuredChange& all, const std::vector<MeasuredPart>& parts, double assumed,
                 PairedChange* change) {
  std::vector<std::pair<double, ChangeEffect*>> order;
  change->effects.resize(parts.size());
  for (size_t i = 0; i < parts.size(); ++i) {
    const MeasuredChange& measured = parts[i].measured;
    // What makes whole runs differ is in proportion to what they do.
    const double of_part = assumed * parts[i].share;
    change->effects[i] = {parts[i].what, measured.change, measured.change - SquareSum(measured.below, of_part),
                          measured.change + SquareSum(measured.above, of_part), parts[i].share};
    order.emplace_back(Weakened(measured, of_part), &change->effects[i]);
  }
  MarkSure(order);
  SortLargestFirst(&change->effects, [](const ChangeEffect& a) { return std::fabs(a.change); });
  change->change = all.change;
  change->low = std::max(-1.0, all.change - SquareSum(all.below, assumed));  // no time is below 0
  change->high = all.change + SquareSum(all.above, assumed);
  const double farthest = std::max(all.above + all.change, all.below - all.change);
  const bool is_same = change->is_beside_others ? farthest < 1e-6 : kAboutTheSame.Holds(farthest);
  change->conclusion = is_same            ? ChangeConclusion::kSame
                       : change->low > 0  ? ChangeConclusion::kSlower
                       : change->high < 0 ? ChangeConclusion::kFaster
                                          : ChangeConclusion::kUnclear;
}

}  // namespace crema

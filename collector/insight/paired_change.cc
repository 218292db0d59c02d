#include "collector/insight/paired_change.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <numeric>
#include <random>
#include <utility>

#include "collector/appearance/human_numbers.h"
#include "collector/insight/thresholds.h"
#include "fmt/format.h"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kDraws = 1000;
constexpr uint64_t kSeed = 20'261'124;  // the same records give the same range
constexpr size_t kMostClusters = 1000;  // of more, some are taken together
constexpr size_t kFewestFiles = 10;     // below it pairs are drawn, not files
constexpr size_t kFewestPairs = 5;      // a range of fewer means nothing
constexpr double kTail = 0.05;          // on each side of a range
constexpr double kSignificance = 0.05;  // of all sections together
constexpr double kLeastPaired = 0.9;    // of the first run's time, so that the pairs speak for the run
constexpr size_t kNamedEffects = 3;

/// A piece in both runs; the last part is `(other)`.
struct Pair {
  std::string file;
  double before = 0;
  std::vector<double> differences;  // by part: after - before
};

/// What is drawn: sums over its pairs.
struct Cluster {
  double before = 0;
  std::vector<double> differences;
};

/// Names of all parts of both runs, and where each run's own index leads.
struct Parts {
  std::vector<std::string> names;
  std::vector<size_t> of_before, of_after;
  size_t other() const { return names.size() - 1; }
};

Parts JoinParts(const RunPieces& before, const RunPieces& after) {
  Parts parts;
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

/// Seconds by part, the last one what no section covers.
std::vector<double> SplitPiece(const RunPiece& piece, const std::vector<size_t>& index, const Parts& parts) {
  std::vector<double> seconds(parts.names.size());
  double named = 0;
  for (size_t i = 0; i < piece.of_part.size(); ++i) {
    seconds[index[i]] += piece.of_part[i];
    named += piece.of_part[i];
  }
  seconds[parts.other()] = piece.seconds - named;
  return seconds;
}

Pair MakePair(const RunPiece& before, const RunPiece& after, double scale, const Parts& parts) {
  Pair pair;
  pair.file = before.dataset + "\n" + before.file;
  pair.before = before.seconds;
  pair.differences = SplitPiece(after, parts.of_after, parts);
  const std::vector<double> was = SplitPiece(before, parts.of_before, parts);
  for (size_t i = 0; i < was.size(); ++i) pair.differences[i] = pair.differences[i] * scale - was[i];
  return pair;
}

double SecondsOf(const std::vector<Pair>& pairs) {
  return std::accumulate(pairs.begin(), pairs.end(), 0.0,
                         [](double sum, const Pair& pair) { return sum + pair.before; });
}

double SecondsOf(const std::map<std::string, RunPiece>& pieces) {
  double sum = 0;
  for (const auto& [key, piece] : pieces) sum += piece.seconds;
  return sum;
}

std::vector<Pair> PairUp(const std::map<std::string, RunPiece>& before, const std::map<std::string, RunPiece>& after,
                         bool by_event, const Parts& parts) {
  std::vector<Pair> pairs;
  for (const auto& [key, piece] : before) {
    const auto found = after.find(key);
    if (found == after.end()) continue;
    const bool has_events = piece.events > 0 && found->second.events > 0;
    if (by_event && !has_events) continue;
    // a range that holds other events now is other work
    if (!by_event && has_events && piece.events != found->second.events) continue;
    pairs.push_back(MakePair(piece, found->second, by_event ? piece.events / found->second.events : 1, parts));
  }
  return pairs;
}

/// The pieces of each file together.
std::map<std::string, RunPiece> ByFile(const RunPieces& run) {
  std::map<std::string, RunPiece> files;
  for (const auto& [key, piece] : run.pieces()) {
    RunPiece& file = files.try_emplace(piece.dataset + "\n" + piece.file, RunPiece{piece.dataset, piece.file, 0, 0, {}})
                         .first->second;
    file.events = piece.events < 0 || file.events < 0 ? -1 : file.events + piece.events;
    file.seconds += piece.seconds;
    if (file.of_part.size() < piece.of_part.size()) file.of_part.resize(piece.of_part.size());
    for (size_t i = 0; i < piece.of_part.size(); ++i) file.of_part[i] += piece.of_part[i];
  }
  return files;
}

void AddTo(Cluster* cluster, const Pair& pair) {
  cluster->before += pair.before;
  cluster->differences.resize(pair.differences.size());
  for (size_t i = 0; i < pair.differences.size(); ++i) cluster->differences[i] += pair.differences[i];
}

std::vector<Cluster> MakeClusters(const std::vector<Pair>& pairs, PairedChange* change) {
  std::map<std::string, size_t> files;
  for (const Pair& pair : pairs) files.try_emplace(pair.file, files.size());
  const bool by_file = files.size() >= kFewestFiles && files.size() < pairs.size();
  change->drawn_by = by_file ? "file" : "pair";
  const size_t count = std::min(by_file ? files.size() : pairs.size(), kMostClusters);
  std::vector<Cluster> clusters(count);
  for (size_t i = 0; i < pairs.size(); ++i) {
    AddTo(&clusters[(by_file ? files[pairs[i].file] : i) % count], pairs[i]);
  }
  return clusters;
}

/// The change and that of each part, in each draw.
std::vector<std::vector<double>> Draw(const std::vector<Cluster>& clusters, size_t parts) {
  std::mt19937_64 random(kSeed);
  std::vector<std::vector<double>> draws(parts + 1, std::vector<double>(kDraws));
  std::vector<double> sums(parts);
  for (int draw = 0; draw < kDraws; ++draw) {
    double before = 0;
    std::fill(sums.begin(), sums.end(), 0);
    for (size_t i = 0; i < clusters.size(); ++i) {
      const Cluster& cluster = clusters[random() % clusters.size()];
      before += cluster.before;
      for (size_t part = 0; part < parts; ++part) sums[part] += cluster.differences[part];
    }
    double total = 0;
    for (size_t part = 0; part < parts; ++part) {
      draws[part][static_cast<size_t>(draw)] = sums[part] / before;
      total += sums[part];
    }
    draws[parts][static_cast<size_t>(draw)] = total / before;
  }
  for (std::vector<double>& of_part : draws) std::sort(of_part.begin(), of_part.end());
  return draws;
}

double Quantile(const std::vector<double>& sorted, double share) {
  return sorted[static_cast<size_t>(std::lround(share * static_cast<double>(sorted.size() - 1)))];
}

/// Two-sided, by the normal distribution of the draws' width: the draws themselves cannot tell small ones apart.
double ProbabilityOfNone(double change, const std::vector<double>& sorted) {
  constexpr double kWidthInSigmas = 2 * 1.6448536269514722;  // from 5 % to 95 %
  const double sigma = (Quantile(sorted, 1 - kTail) - Quantile(sorted, kTail)) / kWidthInSigmas;
  if (sigma <= 0) return change == 0 ? 1 : 0;
  return std::erfc(std::fabs(change) / sigma / std::sqrt(2));
}

/// Holm's procedure: from the surest on, until one is not sure enough for how many are left.
void MarkSure(std::vector<std::pair<double, ChangeEffect*>> effects) {
  std::sort(effects.begin(), effects.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (size_t i = 0; i < effects.size(); ++i) {
    if (effects[i].first > kSignificance / static_cast<double>(effects.size() - i)) return;
    effects[i].second->is_sure = true;
  }
}

ChangeConclusion ConclusionOf(const PairedChange& change) {
  if (kAboutTheSame.Holds(std::max(std::fabs(change.low), std::fabs(change.high)))) return ChangeConclusion::kSame;
  if (change.low > 0) return ChangeConclusion::kSlower;
  return change.high < 0 ? ChangeConclusion::kFaster : ChangeConclusion::kUnclear;
}

void Judge(const std::vector<Pair>& pairs, const Parts& parts, PairedChange* change) {
  const std::vector<Cluster> clusters = MakeClusters(pairs, change);
  const std::vector<std::vector<double>> draws = Draw(clusters, parts.names.size());
  Cluster all;
  for (const Pair& pair : pairs) AddTo(&all, pair);
  std::vector<double> before(parts.names.size());
  std::vector<std::pair<double, ChangeEffect*>> order;
  change->effects.resize(parts.names.size());
  for (size_t part = 0; part < parts.names.size(); ++part) {
    ChangeEffect& effect = change->effects[part];
    effect.what = parts.names[part];
    effect.change = all.differences[part] / all.before;
    effect.low = Quantile(draws[part], kTail);
    effect.high = Quantile(draws[part], 1 - kTail);
    change->change += effect.change;
    order.emplace_back(ProbabilityOfNone(effect.change, draws[part]), &effect);
  }
  MarkSure(order);
  change->low = Quantile(draws.back(), kTail);
  change->high = Quantile(draws.back(), 1 - kTail);
  change->conclusion = ConclusionOf(*change);
}

/// Of the first run's time in pairs, what each part took.
void SetShares(const std::map<std::string, RunPiece>& before, const Parts& parts, PairedChange* change) {
  std::vector<double> seconds(parts.names.size());
  double all = 0;
  for (const auto& [key, piece] : before) {
    const std::vector<double> of_piece = SplitPiece(piece, parts.of_before, parts);
    for (size_t i = 0; i < seconds.size(); ++i) seconds[i] += of_piece[i];
    all += piece.seconds;
  }
  for (size_t i = 0; i < seconds.size() && all > 0; ++i) change->effects[i].share = seconds[i] / all;
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

PairedChange ComparePieces(const RunPieces& before, const RunPieces& after) {
  PairedChange change;
  const auto not_known = [&change](std::string reason) {
    change.why_not = std::move(reason);
    return change;
  };
  if (before.pieces().empty() || after.pieces().empty()) return not_known("a run has no chunk with a result");
  if (before.is_cut() || after.is_cut()) {
    return not_known(fmt::format("a run has more than {} chunks", ExactCount(RunPieces::kMostPieces)));
  }
  const Parts parts = JoinParts(before, after);
  std::map<std::string, RunPiece> first = before.pieces();
  const double all = SecondsOf(first);
  std::vector<Pair> pairs = PairUp(first, after.pieces(), false, parts);
  change.paired_by = "chunk";
  if (SecondsOf(pairs) < kLeastPaired * all) {
    first = ByFile(before);
    pairs = PairUp(first, ByFile(after), true, parts);
    change.paired_by = "file";
    if (SecondsOf(pairs) < kLeastPaired * all) return not_known("the two did not process the same input");
  }
  change.pairs = pairs.size();
  if (pairs.size() < kFewestPairs) {
    return not_known(fmt::format("the two have only {} in common",
                                 Counted(static_cast<double>(pairs.size()), fmt::format("{}", change.paired_by),
                                         fmt::format("{}s", change.paired_by))));
  }
  Judge(pairs, parts, &change);
  SetShares(first, parts, &change);
  std::stable_sort(change.effects.begin(), change.effects.end(), [](const ChangeEffect& a, const ChangeEffect& b) {
    return std::fabs(a.change) > std::fabs(b.change);
  });
  return change;
}

std::string PairedSentence(const PairedChange& change, const std::string& name) {
  if (change.conclusion == ChangeConclusion::kNotKnown) return "";
  const auto percent = [](double share) { return HumanChange(share); };
  const std::string range = fmt::format("{} to {}", percent(change.low), percent(change.high));
  const std::string pairs =
      fmt::format("Paired by {} ({})", change.paired_by, Counted(static_cast<double>(change.pairs), "pair", "pairs"));
  std::string text;
  switch (change.conclusion) {
    case ChangeConclusion::kSlower:
    case ChangeConclusion::kFaster:
      text = fmt::format("{}, {} took {} ({})", pairs, name, percent(change.change), range);
      break;
    case ChangeConclusion::kSame:
      text = fmt::format("{}, {} took about the same time in chunks ({})", pairs, name, range);
      break;
    default:
      text = fmt::format("{}, it cannot be told whether {} took longer in chunks ({})", pairs, name, range);
  }
  size_t named = 0;
  double rest = 0;
  for (const ChangeEffect& effect : change.effects) {
    if (effect.is_sure && named < kNamedEffects && kWorthNaming.Holds(std::fabs(effect.change))) {
      text += fmt::format("{} {} {}", named++ == 0 ? ":" : ",", effect.what, percent(effect.change));
    } else {
      rest = std::max({rest, std::fabs(effect.low), std::fabs(effect.high)});
    }
  }
  if (named > 0 && named < change.effects.size()) text += fmt::format("; all else within ±{}", HumanPercent(rest));
  return text + ". How much equal runs differ is not in this range: two runs do not tell it.";
}

Json PairedChangeAsJson(const PairedChange& change) {
  const bool is_known = change.conclusion != ChangeConclusion::kNotKnown;
  Json effects = Json::array();
  for (const ChangeEffect& effect : change.effects) {
    effects.push_back({{"what", effect.what},
                       {"change", effect.change},
                       {"low", effect.low},
                       {"high", effect.high},
                       {"share", effect.share},
                       {"is_sure", effect.is_sure}});
  }
  return {{"conclusion", is_known ? Json(ToString(change.conclusion)) : Json()},
          {"change", is_known ? Json(change.change) : Json()},
          {"low", is_known ? Json(change.low) : Json()},
          {"high", is_known ? Json(change.high) : Json()},
          {"effects", std::move(effects)},
          {"paired_by", is_known ? Json(change.paired_by) : Json()},
          {"pairs", change.pairs},
          {"reason", is_known ? Json() : Json(change.why_not)}};
}

}  // namespace crema

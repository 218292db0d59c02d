#include "collector/insight/piece_match.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "collector/appearance/human_numbers.h"
#include "collector/insight/thresholds.h"
#include "fmt/format.h"

namespace crema {
namespace {

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

/// The pieces of each file together.
Pieces ByFile(const RunPieces& run) {
  Pieces files;
  const auto add = [&files](const RunPiece& piece) {
    if (piece.file.empty()) return;
    RunPiece& file =
        files.try_emplace(piece.dataset + "\n" + piece.file, RunPiece{piece.dataset, piece.file, 0, 0, 0, 0, {}, 0})
            .first->second;
    file.events = piece.events < 0 || file.events < 0 ? -1 : file.events + piece.events;
    file.seconds += piece.seconds;
    file.waiting += piece.waiting;
    file.cpu += piece.cpu;
    ++file.chunks;
    if (file.of_part.size() < piece.of_part.size()) file.of_part.resize(piece.of_part.size());
    for (size_t i = 0; i < piece.of_part.size(); ++i) file.of_part[i] += piece.of_part[i];
  };
  for (const auto& [key, piece] : run.pieces()) add(piece);
  for (const RunPiece& piece : run.unranged()) add(piece);
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

struct Matched {
  std::vector<PiecePair> pairs;
  double before_share = 0, after_share = 0;
  PieceMatch::Seconds before_seconds, after_seconds;
  double least_share() const { return std::min(before_share, after_share); }
};

Matched PairUp(const Pieces& before, const Pieces& after, bool by_event, const Parts& parts, double all_before,
               double all_after) {
  Matched matched;
  for (const auto& [key, piece] : before) {
    const auto found = after.find(key);
    if (found == after.end()) continue;
    const double scale = ScaleOf(piece, found->second, by_event);
    if (scale == 0) continue;
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
  const auto add = [&datasets](const RunPiece& piece) {
    ChunksOfDataset& of = datasets[piece.dataset];
    of.chunks.push_back(&piece);
    of.seconds += piece.seconds;
    of.events += piece.events;
    of.has_events = of.has_events && piece.events > 0;
  };
  for (const auto& [key, piece] : run.pieces()) add(piece);
  for (const RunPiece& piece : run.unranged()) add(piece);
  return datasets;
}

std::vector<WeighedPiece> Weigh(const ChunksOfDataset& of, bool by_event, const std::vector<size_t>& index,
                                const Parts& parts) {
  std::vector<WeighedPiece> weighed;
  for (const RunPiece* chunk : of.chunks) {
    weighed.push_back({by_event ? chunk->events : 1, SplitPiece(*chunk, index, parts)});
  }
  return weighed;
}

/// Datasets as a whole. Their chunks may be compared by events, or, where as many did not tell them, one by one.
void MatchDatasets(const RunPieces& before, const RunPieces& after, const Parts& parts, PieceMatch* match) {
  const std::map<std::string, ChunksOfDataset> first = ByDataset(before), second = ByDataset(after);
  const double all_before = before.seconds(), all_after = after.seconds();
  for (const auto& [name, of_before] : first) {
    const auto found = second.find(name);
    if (found == second.end()) continue;
    const ChunksOfDataset& of_after = found->second;
    const bool by_event = of_before.has_events && of_after.has_events;
    if (!by_event && of_before.chunks.size() != of_after.chunks.size()) continue;
    if (std::min(of_before.chunks.size(), of_after.chunks.size()) < kFewestPairs) continue;
    match->unpaired.push_back(
        {Weigh(of_before, by_event, parts.of_before, parts), Weigh(of_after, by_event, parts.of_after, parts)});
    match->before_share += of_before.seconds / all_before;
    match->after_share += of_after.seconds / all_after;
    for (const RunPiece* chunk : of_before.chunks) Add(*chunk, 1, &match->before_seconds);
    const double scale = by_event ? of_before.events / of_after.events : 1;
    for (const RunPiece* chunk : of_after.chunks) Add(*chunk, scale, &match->after_seconds);
  }
}

std::string FewInCommon(size_t count, std::string_view what) {
  return fmt::format("the two have only {} in common",
                     Counted(static_cast<double>(count), fmt::format("{}", what), fmt::format("{}s", what)));
}

}  // namespace

PieceMatch MatchPieces(const RunPieces& before, const RunPieces& after, ComparedTime time) {
  PieceMatch match;
  const auto because = [&match](std::string reason) {
    match.why_not = std::move(reason);
    return match;
  };
  if (before.empty() || after.empty()) return because("a run has no chunk with a result");
  if (before.is_cut() || after.is_cut()) {
    return because(fmt::format("a run has more than {} chunks", ExactCount(RunPieces::kMostPieces)));
  }
  const Parts parts = JoinParts(before, after, time);
  match.parts = parts.names;
  const double all_before = before.seconds(), all_after = after.seconds();
  if (all_before <= 0 || all_after <= 0) return because("a run's chunks took no time");

  Matched best = PairUp(before.pieces(), after.pieces(), false, parts, all_before, all_after);
  match.paired_by = "chunk";
  if (!kSpeaksForTheRun.Holds(best.least_share())) {
    Matched by_file = PairUp(ByFile(before), ByFile(after), true, parts, all_before, all_after);
    if (kSpeaksForTheRun.Holds(by_file.least_share()) || by_file.least_share() > best.least_share()) {
      best = std::move(by_file);
      match.paired_by = "file";
    }
  }
  const bool is_enough = best.pairs.size() >= kFewestPairs;
  const bool some_tell_no_range = !before.unranged().empty() && !after.unranged().empty();
  if (some_tell_no_range && (!is_enough || !kSpeaksForTheRun.Holds(best.least_share()))) {
    MatchDatasets(before, after, parts, &match);
    if (kSpeaksForTheRun.Holds(std::min(match.before_share, match.after_share))) {
      match.paired_by = "none";
      return match;
    }
    match.unpaired.clear();
    match.before_seconds = match.after_seconds = {};
    if (!is_enough) {
      return because(
          fmt::format("the chunks have no ranges, and datasets cannot be compared as a whole: they need {} "
                      "chunks in each run, with their events or as many in both",
                      kFewestPairs));
    }
  }
  if (best.pairs.empty()) return because("the two did not process the same input");
  if (!is_enough) return because(FewInCommon(best.pairs.size(), match.paired_by));
  match.pairs = std::move(best.pairs);
  match.before_share = best.before_share;
  match.after_share = best.after_share;
  match.before_seconds = best.before_seconds;
  match.after_seconds = best.after_seconds;
  return match;
}

}  // namespace crema

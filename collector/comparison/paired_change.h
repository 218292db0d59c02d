// What each piece of a run's input cost, so that two runs over the same input can be compared piece by piece.
#pragma once

#include <set>

#include "collector/diagnosis/between_runs.h"
#include "collector/sources/record_log.h"

namespace crema {

/// A chunk's input: dataset, file and range. Seconds are of `ok` attempts; of several at one range, of the last one.
struct RunPiece {
  std::string dataset;
  std::string file;
  double events = -1;           ///< negative: not known
  double seconds = 0;           ///< wall time of its thread
  double waiting = 0;           ///< of it, time in which the thread was ready to run and had no CPU
  double cpu = 0;               ///< of it, on a CPU
  std::vector<double> of_part;  ///< in each top-level section: indices are those of `RunPieces::parts`; may be shorter
  size_t chunks = 1;
};

class RunPieces {
 public:
  static constexpr size_t kMostPieces = 200'000;  ///< of more, the others are left out
  static constexpr size_t kMostParts = 100;       ///< sections by name; what further ones took is `(other)`
  std::string why_not;                            ///< not empty: what the run's chunks did is not known

  void Add(const Attempt& attempt);
  /// Call it after the last attempt. In a run with one pass its name identifies nothing: it may be a function's, which
  /// changes from version to version.
  void ForgetSinglePass();

  const std::map<std::string, RunPiece>& pieces() const { return pieces_; }  ///< by what identifies the input
  /// Chunks without a range: which of them have the same input in two runs is not known.
  const std::vector<RunPiece>& unranged() const { return unranged_; }
  const std::vector<std::string>& parts() const { return parts_; }
  bool is_cut() const { return is_cut_; }
  /// Whether the time without a CPU is known of all chunks.
  bool knows_waiting() const { return knows_waiting_; }
  bool empty() const { return pieces_.empty() && unranged_.empty(); }
  template <class Visit>
  void ForEach(const Visit& visit) const {
    for (const auto& [key, piece] : pieces_) visit(piece);
    for (const RunPiece& piece : unranged_) visit(piece);
  }
  double seconds() const;
  /// The most threads that had chunks in one process: they may have waited for one another.
  size_t threads_of_process() const;

 private:
  std::map<std::string, RunPiece> pieces_;
  std::set<std::string> passes_;
  std::map<std::string, std::set<int64_t>> threads_;  // by worker
  std::vector<RunPiece> unranged_;
  std::vector<std::string> parts_;
  std::map<std::string, size_t, std::less<>> part_index_;
  bool is_cut_ = false;
  bool knows_waiting_ = true;
};

// How much longer the same input took in other runs, with the range in which the truth lies.
//
// What both sides processed is compared piece by piece (MatchPieces), so that what differs between files cancels. The
// change is the ratio of sums of the time in chunks; where records have it, without the time in which a thread was
// ready to run and had no CPU, which other programs on the machine decide. Of one run a side, its range comes from
// drawing files, pairs or chunks again and again (a bootstrap), and from what equal runs are known to differ by
// (between_runs.h). Several runs a side measure that.

/// A part of the change: of the first run's time in the pairs. `low` to `high` hold it with 90 % probability.
struct ChangeEffect {
  std::string what;  ///< a top-level section, or `(other)`
  double change = 0;
  double low = 0;
  double high = 0;
  double share = 0;      ///< of the first run's time
  bool is_sure = false;  ///< it differs from 0, judged together with all others (Holm)
};

enum class ChangeConclusion { kSlower, kFaster, kSame, kUnclear, kNotKnown };

std::string_view ToString(ChangeConclusion conclusion);

struct PairedChange {
  ChangeConclusion conclusion = ChangeConclusion::kNotKnown;
  std::string why_not;  ///< of `kNotKnown`
  double change = 0;
  double low = 0;
  double high = 0;
  std::vector<ChangeEffect> effects;  ///< largest first; their changes add up to `change`
  std::string_view paired_by;         ///< `chunk`; `file`: ranges differ, and events are the measure; `none`
  size_t pairs = 0;                   ///< where `paired_by` is `none`, chunks of the side that has fewer
  std::string_view drawn_by;          ///< what was drawn: `file`, `pair`, `chunk`; of several runs a side `run`
  double before_share = 1;            ///< of the time in chunks, what takes part; of several runs the least
  double after_share = 1;
  bool is_by_event = false;  ///< they processed other numbers of events of the same input: of times an event
  /// Whether times are without the time in which threads waited for a CPU.
  bool is_of_work = false;
  /// Threads waited for CPUs for so long that others, which waited for them, may have been blocked for that alone; the
  /// range holds it.
  bool is_short_of_cpu = false;
  bool is_beside_others = false;  ///< one run a side, and threads waited much for CPUs: equal runs differ by more
  double before_waiting = 0;      ///< that time, where `is_of_work`; of several runs a side the mean
  double after_waiting = 0;       ///< the same, for as many events
  size_t runs_before = 1;
  size_t runs_after = 1;
  std::optional<double> between_runs;  ///< standard deviation of equal runs, measured: a part of their time
  double assumed = 0;                  ///< where it was not: by so much of their time equal runs may differ
};

PairedChange ComparePieces(const RunPieces& before, const RunPieces& after);

/// The same of several runs a side, in the order in which they ran; at least one a side. As many on each: the first of
/// the one is taken with the first of the other, and so on, so that what changed slowly cancels. Both ranges come from
/// how the runs scatter (Student's t).
PairedChange CompareSides(const std::vector<RunPieces>& before, const std::vector<RunPieces>& after);

/// How many runs a side see a change of `effect` (above 0) with 90 % ranges in four of five cases, where equal runs
/// have this standard deviation; 0: more than 1,000.
size_t RunsNeeded(double effect, double between_runs);

/// Effects for which the answer says how many runs are needed.
inline constexpr double kEffectsOfRuns[] = {0.01, 0.02, 0.05, 0.10};

/// `conclusion`, `change`, `low`, `high`, `effects`, `compared`, `waiting`, `paired_by`, `pairs`, `paired_shares`,
/// `runs_a_side`, `between_runs`, `runs_needed`, `reason`.
Json PairedChangeAsJson(const PairedChange& change);

// From how parts of a run's time changed, and how sure that is, to what is said of it.

struct MeasuredPart {
  std::string what;
  MeasuredChange measured;
  double share = 0;
};

/// Sets conclusion, range and effects. `assumed`: by so much of their time equal runs are taken to differ, in 90 % of
/// cases, beyond what was measured; 0: that is in the measurement. "About the same" is what was measured, alone, within
/// ±2 %; beside other programs (`is_beside_others`) only what does not differ at all.
void JudgeChange(const MeasuredChange& all, const std::vector<MeasuredPart>& parts, double assumed,
                 PairedChange* change);

}  // namespace crema

// What terminal, page and notebook say in the same words: names, figures, waits, quotas, and events of task frameworks.
#pragma once

#include "collector/measurement/measurement.h"

namespace crema {

/// The name, or `…` and its last 60 bytes where it is longer: the end of a path distinguishes files. Never cuts a UTF-8
/// character. `(none)` for an empty one.
std::string ShortName(std::string_view name);

/// Whether a sentence names it, as `ShortName` has it: whole, not as a part of another name (`node:1` in `node:11`).
bool NamesIt(std::string_view sentence, std::string_view name);

/// Begins the sentences on it, which the headline takes up.
inline constexpr char kDecompressing[] = "Decompressing the input";

/// The section in which crema compiles its guards for PyROOT (python/crema_hep/root.py), and what to know of it.
inline constexpr char kCompileGuards[] = "compile guards";
inline constexpr std::string_view kGuardsAreCompiledOnce =
    "crema compiles its guards for PyROOT once on a machine, and later runs load them. If each run compiles them, "
    "install c++, and see that ~/.cache/crema (CREMA_CACHE) belongs to you, and nobody else can write to it.";

// A value of the document in the words around it, as terminal, page and notebook write it.

struct FigureText {
  std::string before;
  std::string figure;  ///< `value` in words; empty where the words say it all
  std::string after;
  std::string key = "";  ///< of the document: `quality.event_coverage`; empty: `value` does not come from the document
  double value = 0;
  std::string name = "";  ///< from the records; it is last

  std::string text() const { return before + figure + after + name; }
};

/// A note without a value of the document.
inline FigureText NoteOf(std::string words) { return {std::move(words), "", ""}; }

// What the blocked time was spent on, in words: as far as samples show it.

/// A kind of wait, over all datasets and sections.
struct WaitShare {
  std::string kind;
  std::string object;       ///< where most of it was of one; empty: none
  double object_share = 0;  ///< of this kind, that the object has
  std::string function;     ///< likewise
  double function_share = 0;
  double share = 0;       ///< of the blocked time
  double error = 0;       ///< half of the 95 % range
  bool is_least = false;  ///< some of the blocked time is not known, or coarse: it may be of this kind, too
};

/// Whether it is a kind that samples show; else the row holds what they do not show.
bool IsKnownWait(std::string_view kind);

/// The largest first; none where samples do not show it: too few, or CPUs so full that they are coarse.
std::vector<WaitShare> WaitShares(const Measurement& measurement);

/// "63 ± 4 % of the blocked time reading /data/a.root in TFile::ReadBuffer, 9 ± 2 % at locks or conditions"; empty
/// where it is not known.
std::string WaitWords(const Measurement& measurement);

/// Waits that may grow where more chunks run side by side: for locks, for one server, at one pipe.
struct CommonWaits {
  std::string words;             ///< "at locks or conditions"; empty: there are none that matter
  double share = 0;              ///< of the chunks' time, that they took
  bool is_known = false;         ///< what they waited for is known of all but a time that does not matter
  std::string_view how_to_know;  ///< else: a sentence
};
CommonWaits WaitsInCommon(const Measurement& measurement);

/// What helps against the kind that took most, or says why no kind is known; empty where crema run --waits may help.
std::string WaitAdvice(const Measurement& measurement);

// A CPU quota that held the run back: what it is called in sentences.

/// `the quota of 0.3 cores held them back for 7.00 s`; without its size where only affinity may be known. Empty where
/// no quota explains most of the time in which threads waited for a CPU.
std::string QuotaThatHeldBack(const Measurement& measurement);

// Where most of the waiting was: the section, dataset and worker that hold more than half of it.

enum class Waiting : uint8_t {
  kBlocked,
  kAll,  ///< for a CPU, too
};

/// ` (most of it in section read, of dataset ttbar, on node1:411)`, behind a share; what nothing holds most of is left
/// out, and all of it where nothing is left. A section counts where its guard measured CPU time.
std::string WhereMostWaiting(const Measurement& measurement, Waiting waiting);
/// The same inside brackets that hold more: `most of it in section read`.
std::string MostWaiting(const Measurement& measurement, Waiting waiting);

// What terminal and page say first of events that go from thread to thread.

/// Two lines for each of the first datasets: how many events a second, and in flight; and where their latency went.
/// Empty where no event was recorded.
std::vector<std::string> EventLines(const Measurement& measurement);

}  // namespace crema

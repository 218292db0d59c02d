// The key figures of a run, and when each is good, worth a look, or bad: the one table that the terminal, the report,
// the live page, the list of what can be trusted, the headline and the verdicts share.
#pragma once

#include "collector/diagnosis/between_runs.h"
#include "collector/diagnosis/words.h"
#include "collector/measurement/measurement.h"

namespace crema {

enum class Mark { kGood, kWatch, kBad };

/// Shares are of the core-seconds where nothing else is said.
enum class KeyFigure {
  kCpuEfficiency,
  kWaiting,  ///< of chunk time
  kMemory,   ///< of the limit; engines may have bounds of their own (`MemoryBand`)
  kBalance,
  kFailedAttempts,  ///< of all attempts
  kEventCoverage,   ///< of the events that were processed
  kFineCoverage,    ///< of the engine's compute time
  kDroppedRecords,  ///< of all records
  kMeasuringCost,   ///< of chunk time
  kClockOffset,     ///< seconds
};

/// Bounds are shares (0 to 1) unless the figure says otherwise.
struct KeyFigureBand {
  KeyFigure figure;
  bool more_is_better;
  double good;  ///< from here on (or down to here) the figure is good
  double bad;   ///< beyond this it is bad; in between it is worth a look
  std::string_view name;
  std::string_view reason;
};

/// All of them, in the order of `KeyFigure`; engines' own follow those that they stand for.
std::vector<KeyFigureBand> KeyFigureBands();

const KeyFigureBand& BandOf(KeyFigure figure);
/// That of `kMemory` in a run of this engine (`run.engine`; empty: of none).
KeyFigureBand MemoryBand(std::string_view engine);

Mark MarkOf(const KeyFigureBand& band, double value);
inline Mark MarkOf(KeyFigure figure, double value) { return MarkOf(BandOf(figure), value); }

/// `good`, `watch`, `bad`.
std::string_view ToString(Mark mark);
/// `✓`, `▲`, `✕`.
std::string_view SignOf(Mark mark);

/// `good ≥ 70 %`, in the figure's unit.
std::string GoodHint(const KeyFigureBand& band);
inline std::string GoodHint(KeyFigure figure) { return GoodHint(BandOf(figure)); }

// The figures that say how a run went, and by which rule each is judged: the one list that terminal, report and
// notebook show, each in its way.

/// A share that has a band of its own.
struct ShareFigure {
  std::string_view key;  ///< of the metric
  KeyFigure band;
  double scale = 1;  ///< from the metric to a share
};

inline constexpr ShareFigure kCpuEfficiencyShare = {"cpu_efficiency", KeyFigure::kCpuEfficiency};
inline constexpr ShareFigure kBlockedShare = {"io_overhead_pct", KeyFigure::kWaiting, 0.01};
inline constexpr ShareFigure kBalanceShare = {"balance", KeyFigure::kBalance};

/// nullopt where it was not measured.
std::optional<double> ShareOf(const Measurement& measurement, const ShareFigure& figure);

/// Seconds in which threads worked for chunks; nullopt where nothing is known of chunks.
std::optional<double> TimeOfThreads(const Measurement& measurement);

/// The part of the chunks' time in which they waited for a CPU. The budget's group "Waiting in your code" holds it too,
/// so it is beside `kBlockedShare`, that they agree.
std::optional<double> CpuWaitShare(const Measurement& measurement);

/// The worker that came closest to its limit.
struct TightestWorker {
  std::string name;
  double peak_bytes = 0;
  double limit_bytes = 0;
  double share() const { return peak_bytes / limit_bytes; }
};

struct PeakMemory {
  std::string_view key;  ///< of the metric: a worker's, else that of the largest process
  double bytes = 0;
  bool is_of_worker = false;
  std::optional<TightestWorker> tightest;           ///< where it is a worker's, and limits are known
  KeyFigureBand band = BandOf(KeyFigure::kMemory);  ///< of the tightest worker's share
};

std::optional<PeakMemory> FindPeakMemory(const Measurement& measurement);

struct FailedAttempts {
  double attempts = 0;
  double failed = 0;
  double lost = 0;                ///< with their process
  double without_result = 0;      ///< chunks that no attempt did, of a run that is over
  bool is_all_recovered = false;  ///< some failed or were lost, and every chunk has its result
  double lost_workers = 0;        ///< that vanished, whether or not a chunk was open there
  std::optional<Mark> mark;       ///< none without attempts; not good where workers vanished
  double gone() const { return failed + lost; }
};

std::optional<FailedAttempts> FindFailedAttempts(const Measurement& measurement);

struct KeyFigureRow {
  std::string_view label;
  ChangedFigure figure;                    ///< key of the metric, and how it is compared
  std::string (*words)(double) = nullptr;  ///< of a value of the metric times `figure.scale`
  std::string_view meaning = "";           ///< a few words, for where there is room

  std::optional<double> value = std::nullopt;  ///< nullopt: not measured
  std::string text = "–";                      ///< the value as people read it
  std::string why_not = "";                    ///< why it was not measured

  std::optional<KeyFigureBand> band = std::nullopt;  ///< what judges `share`
  std::optional<double> share = std::nullopt;        ///< 0 to 1: how far a bar is filled
  std::optional<Mark> mark = std::nullopt;           ///< none where too little was measured to judge
  std::vector<FigureText> notes = {};                ///< most important first
};

/// The same eight for every document with chunks, in this order: elapsed time, event rate, data rate, CPU efficiency,
/// blocked, peak memory, balance, failed attempts. A command without chunks has those of its processes.
std::vector<KeyFigureRow> KeyFigureRows(const Measurement& measurement);

// What is known of a command that recorded no chunk: the figures of its processes, and what its cores did.

/// Whether all that is known is a process tree: no chunk, no worker, no engine.
bool IsProcessTreeOnly(const Measurement& measurement);

/// Names of the parts of its budget.
inline constexpr std::string_view kTreeProgram = "CPU in the program", kTreeKernel = "CPU in the kernel",
                                  kTreeWait = "Waiting for a CPU";

/// A use of the cores that a command was given.
struct TreeBudgetPart {
  std::string_view name;
  std::string_view colour;  ///< of the table of colours
  double core_seconds = 0;
  double share = 0;  ///< the parts' add up to 1
};

struct TreeBudget {
  double cores = 0;
  double core_seconds = 0;  ///< cores x wall time; of a command that used more, what it used
  std::vector<TreeBudgetPart> parts;

  /// Share of one part; 0 where there is none.
  double Share(std::string_view part) const;
};

/// nullopt where CPU time, cores or wall time are not known.
std::optional<TreeBudget> ReadTreeBudget(const Measurement& measurement);

/// The guard for a chunk in the language of the command: `crema::TrackMetrics`, or `@crema_hep.track_metrics`.
std::string_view GuardOfChunks(const Measurement& measurement);

/// What a command without chunks does not record; it follows the name of the guard.
inline constexpr std::string_view kWhatGuardsAdd =
    "around a chunk of work adds a timeline of all threads, where time goes, sections, event rates, datasets, cuts and "
    "failures.";

}  // namespace crema

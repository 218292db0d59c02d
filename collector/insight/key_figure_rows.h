// The eight figures that say how a run went: the one list that terminal, report and notebook show, each in its way.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collector/insight/figure_change.h"
#include "collector/insight/figure_text.h"
#include "collector/insight/key_figure_bands.h"
#include "collector/measurement/measurement.h"

namespace crema {

// The figures that say how a run went, and by which rule each is judged: the same in the terminal and in the report,
// which differ in how they show them.

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
/// so it stands beside `kBlockedShare`, that they agree.
std::optional<double> CpuWaitShare(const Measurement& measurement);

/// `compressed 3.05×`; empty where it is not known.
std::string CompressionNote(const Measurement& measurement);

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
/// blocked, peak memory, balance, failed attempts. Of a command without chunks those of its processes.
std::vector<KeyFigureRow> KeyFigureRows(const Measurement& measurement);

}  // namespace crema

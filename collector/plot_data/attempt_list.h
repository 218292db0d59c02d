// Every attempt of a run in a few numbers each, and memory, CPU and reading over time: what pictures are reduced from.
#pragma once

#include "collector/measurement/measurement.h"
#include "collector/metrics/attempts/attempt_rows.h"
#include "collector/plot_data/run_detail.h"

namespace crema {

// Memory, CPU and reading of the whole run over time: what is below the timeline, on its axis.

/// The points of `timelines[key]` whose value is known, by time: each value holds until the next one. A rate is
/// recorded at the end of the time over which it was measured (docs/metrics.md, "`timelines`"), so its step begins at
/// the sample before.
class SampledSteps {
 public:
  SampledSteps(const Measurement& measurement, std::string_view key);

  /// `points`: that series of `worker`.
  Timeline Of(const std::string& worker, const Timeline& points) const;

 private:
  std::map<std::string_view, const Timeline*> samples_;  ///< of workers, where the values are rates
};

struct BinAxis {
  double start = 0;
  double width = 1;  ///< of a bin
  int bins = 1;

  /// The bin of a moment; moments outside fall into the first or last.
  int At(double moment) const {
    const double bin = (moment - start) / width;
    return bin <= 0 ? 0 : bin >= bins ? bins - 1 : static_cast<int>(bin);
  }

  /// Calls `add(bin, share)` for the bins that [from, to) touches; shares add up to 1. What lies outside the axis goes
  /// into its first or last bin.
  template <class Add>
  void Spread(double from, double to, const Add& add) const {
    const int first = At(from);
    const int last = std::max(first, At(to));
    if (first == last || !(to > from)) {
      add(first, 1.0);
      return;
    }
    double left = 1;
    for (int bin = first; bin < last; ++bin) {
      const double begin = bin == first ? from : start + width * bin;
      const double clipped = std::clamp((start + width * (bin + 1) - begin) / (to - from), 0.0, left);
      add(bin, clipped);
      left -= clipped;
    }
    add(last, left);
  }
};

/// The mean of a sum of step functions in each bin: `timelines[key]` has one function a worker, on change, which holds
/// until its worker stops. Empty: there is none.
std::vector<double> MeanSteps(const Measurement& measurement, std::string_view key, const BinAxis& axis);

/// Each quantity once, by the best source that the run has: samples of the workers, else records of chunks.
std::vector<TimeTrack> TracksOf(const Measurement& measurement, const TimeBins& over_time);

/// Numbers for names, in the order of their coming.
class NameNumbers {
 public:
  /// A new name that does not fit into `most_bytes` gets the number of the first name.
  uint32_t Number(std::string_view name, size_t most_bytes = std::numeric_limits<size_t>::max());
  std::vector<std::string> names;

 private:
  std::map<std::string, uint32_t, std::less<>> numbers_;
  uint32_t recent_ = 0;  // chunks of one input come together
  size_t bytes_ = 0;     // of all names
};

struct ListedInput {
  uint32_t dataset = 0;
  uint32_t file = 0;
  uint32_t kind = 0;  ///< the dataset in one pass
};

struct ListedProcess {
  std::string worker;  ///< as the document names it
  std::string host;
  int64_t start_ns = 0;  ///< Unix time
};

struct ListedThread {
  uint32_t process = 0;
  uint64_t id = 0;       ///< the kernel's where it was recorded, else the library's
  uint64_t library = 0;  ///< the thread library's; 0: not known
};

/// What `AttemptRow` has no room for.
struct AttemptBytes {
  int64_t read = AttemptRow::kUnknown;
  int64_t uncompressed = AttemptRow::kUnknown;
};

/// What an attempt without an end recorded at its begin: no record of its end is read for it later.
struct AtBegin {
  std::optional<int64_t> entry_start;
  std::optional<int64_t> entry_stop;
  uint32_t attributes = 0;  ///< in `AttemptList::attributes`
};

struct AttemptList {
  AttemptRows rows;  ///< `process` and `input` are indices into the tables below
  std::vector<AttemptBytes> bytes;
  std::vector<HelperTimes> helpers;
  std::vector<size_t> repeated;  ///< rows at chunks that were attempted more than once, in order
  std::vector<uint32_t> lanes;   ///< of its process; of an attempt that did not end that of its thread before it
  std::vector<ListedProcess> processes;
  std::vector<ListedThread> threads;
  std::vector<ListedInput> inputs;
  NameNumbers datasets;
  NameNumbers files;
  NameNumbers attributes;  ///< of `unended`, as recorded; the first is empty, also for those without room
  std::vector<uint32_t> dataset_of_kind;
  std::map<size_t, AtBegin> unended;  ///< by row
  ChunkPlaces places;                 ///< of the others, in their logs

  uint32_t DatasetOf(const AttemptRow& row) const { return inputs[row.input].dataset; }
  uint32_t FileOf(const AttemptRow& row) const { return inputs[row.input].file; }
};

/// Reads all attempts, marks results and finds lanes. Errors: those of the reader.
absl::Status ListAttempts(const AttemptReader& for_each_attempt, AttemptList* list);

/// Over `ok` attempts (docs/metrics.md), of one of the quantities; nullopt: none of them has it. `slots`: by attempt.
constexpr size_t kShapedQuantities = 3;
std::optional<ValueShape> ShapeDistribution(const AttemptList& list, size_t quantity,
                                            const std::vector<uint32_t>& slots, uint32_t slot_count);

/// Over `ok` attempts that have both quantities.
std::vector<CountGrid> ShapeGrids(const AttemptList& list);

}  // namespace crema

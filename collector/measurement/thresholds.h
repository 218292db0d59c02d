// The numbers by which a run is judged: each decides a sentence, a mark or whether something is said at all. They stand
// here once, by subject, with the reason beside each; docs/verdicts.md prints what the judges ask here. Two tables have
// numbers of their own, beside the words that docs/verdicts.md is made of: the verdicts' thresholds (verdict_table.cc)
// and the bands of the key figures (key_figures.cc). What an algorithm needs (bins, draws, quantiles of distributions)
// is beside it, and so is how much of a list is shown; collector/idioms has the quantiles that several use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace crema {

enum class Side { kFrom, kAbove, kUpTo, kBelow };

/// A number, and on which side of it something is so.
struct Bound {
  Side side = Side::kFrom;
  double value = 0;
  std::string_view reason = "";

  constexpr bool Holds(double measured) const {
    if (side == Side::kFrom) return measured >= value;
    if (side == Side::kAbove) return measured > value;
    return side == Side::kUpTo ? measured <= value : measured < value;
  }
};

constexpr Bound From(double value, std::string_view reason = "") { return {Side::kFrom, value, reason}; }
constexpr Bound Above(double value, std::string_view reason = "") { return {Side::kAbove, value, reason}; }
constexpr Bound UpTo(double value, std::string_view reason = "") { return {Side::kUpTo, value, reason}; }
constexpr Bound Below(double value, std::string_view reason = "") { return {Side::kBelow, value, reason}; }

// Numbers that several bounds, or a bound and a band, are made of.
inline constexpr double kMostWaiting = 0.15;    ///< share up to which a run may wait and be good
inline constexpr double kMostMemory = 0.80;     ///< share of its limit that a worker may come to: good up to there
inline constexpr double kMostFixedCost = 0.05;  ///< of a chunk's time, that its fixed cost may take
inline constexpr double kMostTail = 0.05;       ///< of the core-seconds, that the tail may take
inline constexpr double kLeastExcess = 0.01;    ///< of the core-seconds: below it nobody should look for what is slow

// The measurement itself.
inline constexpr double kFullCoverage = 0.99;     ///< share of events, or of an engine's seconds, that must be recorded
inline constexpr double kClockStepSeconds = 0.1;  ///< a wall clock that moved further makes times of processes doubtful
inline constexpr double kReadingTolerance = 0.01;  ///< clocks are read one after the other, and count in other steps
inline constexpr double kLargeDifference = 0.01;   ///< of two sources of one figure: docs/metrics.md, "Rules"

// Whether there is anything to judge.
inline constexpr Bound kEnoughCoreSeconds =
    From(1, "in less work, the start of processes, first page faults and the sampler's first second weigh too much");
inline constexpr Bound kIncompleteCoverage = Below(kFullCoverage, "sums and rates are too low by what is missing");
inline constexpr Bound kMuchUnmeasured =
    From(0.10, "of the core-seconds: if so much is unknown, the budget says little");

// How the work was cut.
inline constexpr Bound kSeveralCores = Above(1.5, "an average over the run: 2 cores that came late are a little less");
inline constexpr Bound kIdleOfFewChunks =
    From(0.10, "every run loses a little to its last chunks; below this share, few chunks did no harm");
inline constexpr Bound kMemoryOfLargeChunks = Above(kMostMemory, "where the key figure is no longer good");
inline constexpr Bound kDearFixedCost = Above(kMostFixedCost, "of a median chunk's time: the advice allows as much");
inline constexpr double kOversizedMedians = 3;  ///< times the events of its dataset's median chunk is oversized
inline constexpr Bound kAnyOversized = From(1, "such a chunk");
inline constexpr int64_t kLeastFittedAttempts = 8;  ///< `ok` ones of a dataset: fewer have no quartiles worth the name
inline constexpr Bound kChunksOfFit = From(kLeastFittedAttempts, "chunks of a dataset: a fit needs as many points");
inline constexpr Bound kSpreadOfFit =
    From(1.5, "largest chunk over smallest: chunks of nearly one size do not show which part of their time is fixed");

inline constexpr Bound kClearFixedCost =
    UpTo(0.25, "of a median chunk's time: a wider interval is too vague for advice");
inline constexpr Bound kSizeHardlyMatters =
    UpTo(0.25, "of a median chunk's time: events take no more, so the rest is a cost of every chunk");

// Outliers: workers, files and chunks slower than comparable ones.
inline constexpr double kStragglerRanges = 3;    ///< interquartile ranges above the third quartile: Tukey's "far out"
inline constexpr double kStragglerFactor = 2;    ///< times the prediction: a small spread alone makes nobody wait
inline constexpr double kLeastLaneSpread = 1.5;  ///< most over least lanes: fewer do not show whether chunks contend
inline constexpr Bound kAnyStraggler = From(1, "one is enough if it cost that much");
inline constexpr Bound kMuchExcess =
    From(kLeastExcess, "of the core-seconds: less than a hundredth is not worth a search");
inline constexpr Bound kChunksOfSlowWorker = From(8, "chunks: the mean of fewer says nothing about the worker");
inline constexpr Bound kChunksOfSlowFile = From(3, "chunks: the mean of fewer says nothing about the file");
inline constexpr Bound kSeveral = From(2, "one alone cannot be compared");
inline constexpr Bound kOthersToo =
    From(1.25, "times the chunks of the other: so there are chunks that are not the other's, and they were not slow");
inline constexpr Bound kAttemptsOfSpread = From(20, "the 95 % quantile of fewer chunks is the longest chunk");
inline constexpr Bound kBusyTimeOfSpread = From(0.10, "of the busy time: a smaller dataset does not matter");
inline constexpr Bound kFailedOfSpread =
    UpTo(0.02, "of the attempts: failed ones are cut off, and do not show how long chunks take");

// A slow period: docs/metrics.md, `slow_spells`.
inline constexpr double kSlowPeriodFactor = 1.5;  ///< in it, chunks take so many times what their fits give
inline constexpr double kSlowByItself = 1.25;     ///< times the prediction: noise of single chunks rarely reaches it
inline constexpr double kMostOfOneChunk = 3;  ///< times the prediction: one straggler makes no bridge to a later one
inline constexpr int64_t kLeastAttemptsOfPeriod = 5;  ///< the mean of fewer may be one slow chunk
inline constexpr double kSlowShareOfPeriod = 0.7;     ///< of its attempts: fewer are single slow chunks
inline constexpr double kPeriodShareOfGroup = 0.8;  ///< of the predicted time: beyond it the group is slow all the time
inline constexpr double kNotSlowOutside = 1.2;      ///< times the prediction, of the group outside the period
inline constexpr double kNearlyAsMuch = 0.9;        ///< of the largest excess: the narrower group explains it as well
inline constexpr double kLeastExcessOfPeriods = 0.005;  ///< of all durations: below it no period is worth a look

inline constexpr Bound kMuchOfTheTime = From(0.40, "of the chunks' time: as for a hot section");
inline constexpr Bound kFarAboveMedian = From(1.5, "times the median: nearly all chunks of one size are below it");
inline constexpr Bound kMostlyWaits = Below(0.5, "a section with less CPU is painted as waiting");

// Workers.
inline constexpr Bound kNearlyAllWorkers =
    From(0.90, "of the largest number of workers: a few more or less do not matter");
inline constexpr Bound kLongLag = From(10, "seconds: nobody notices a shorter wait");
inline constexpr Bound kLongEnough = From(0.1, "of the run: more workers for a shorter time are two pools that meet");
inline constexpr double kOwnersWait = 0.9;  ///< of its helpers' time: an owner that waits so long has no core meanwhile
inline constexpr double kHardlyOne = 0.1;   ///< of a lane: clocks are not read at one moment
inline constexpr Bound kLongAbsence = From(1, "seconds: an interpreter takes as long to start");

inline constexpr Bound kChunksOfLeak = From(10, "chunks: fewer do not show what is kept from chunk to chunk");
inline constexpr Bound kMuchKept = From(1e6, "bytes: less is not worth a look");

// Memory that grows towards its limit. docs/live.md, "What is measured how", says the same to users.
inline constexpr size_t kLeastMemoryPoints = 15;  ///< samples: a line through fewer follows single chunks
inline constexpr double kLeastGrowth = 0.02;      ///< of the limit, within two minutes: caches move by less
inline constexpr double kLeastMemory = 0.5;       ///< of the limit: below it growth is the start of a job
inline constexpr double kSoonSeconds = 600;       ///< to the limit: time enough to do something about it

// A worker that is slow in the last minute of a running job: `kSlowPeriodFactor`, with more tolerance where it had few
// chunks.
inline constexpr int64_t kLeastChunksOfMinute = 5;  ///< the mean of fewer may be one slow chunk
inline constexpr int64_t kManyChunksOfMinute = 20;  ///< one slow chunk hardly moves the mean of so many
inline constexpr double kSlowFactor = 2;      ///< of few: times what chunks of this dataset and size take elsewhere
inline constexpr double kNormalFactor = 1.3;  ///< well below both, so that it does not go to and fro
inline constexpr Bound kQuiet = From(60, "seconds without a record: few chunks take longer");

// What a job should ask for.
inline constexpr double kRequestQuantile = 0.99;  ///< of the jobs, whose needs a request should cover
inline constexpr Bound kJobsOfRequest = From(100, "jobs: a 99 % quantile of fewer is the largest");
inline constexpr Bound kSecondsOfJob =
    From(10, "seconds that a job took: batch systems cut times to whole seconds, a tenth of it");

// Python.
inline constexpr Bound kLockIsTaken =
    From(0.70, "of the time: threads that also do other things leave the lock free more often");

// Bytes.
inline constexpr Bound kWaitsToo = Above(kMostWaiting, "where waiting is no longer good");
inline constexpr Bound kWaitsForData = From(kMostWaiting, "reading matters to a run that waits so much");
inline constexpr Bound kMuchDecompression =
    From(0.30, "of the core-seconds: the codecs in use take up to a quarter of an ordinary analysis");
inline constexpr Bound kMuchInput = From(1e8, "bytes: a disk delivers as much in a second");

inline constexpr Bound kMuchInKernel =
    From(0.30, "of a command's CPU time: programs that compute spend a few per cent there");

// Requests to storage.
inline constexpr Bound kCallsOfSlowServer =
    From(20, "requests of an operation, to it and to the others: the mean of fewer says nothing about a server");
inline constexpr Bound kManyReads = From(1000, "requests: fewer cannot take long, unless their server is slow");
inline constexpr Bound kMuchRequestTime = From(0.05, "of the core-seconds: what reading may take in any run");

inline constexpr Bound kManyCalls = From(50'000,
                                         "read calls in a second (of CPU time, or of the section): each takes half a "
                                         "microsecond or more, so a fortieth of it");
inline constexpr double kOwnReadCalls = 4;  ///< of statm and schedstat, that recording a chunk makes
inline constexpr Bound kSmallCall = Below(4096, "bytes, a page: below it, the call costs more than the copy");

// Events that go from thread to thread.
inline constexpr Bound kEventsQueueBehind =
    From(0.05, "of the latency of events: a module that they hardly wait for limits nothing");
inline constexpr Bound kFreeForEvents =
    From(0.10, "of the cores ran no task: if all of them are at work, more events only wait");
inline constexpr Bound kMostAreMarked =
    From(0.50, "of the calls were marked as ready: where that is not known, events that are queued look like these");

// What the kernel does for chunks.
inline constexpr Bound kMuchKernelTime = From(0.05, "of the core-seconds: less is not worth a search");
inline constexpr Bound kManyMinorFaults =
    From(100'000, "in a second of the chunks' CPU time: one takes half a microsecond or more, so a twentieth of it");

// The headline, where the verdict of that name has no bound for it.
inline constexpr Bound kGpuMatters =
    From(0.05, "of the core-seconds, that kernels take: a GPU that is used less than that hardly matters");
inline constexpr Bound kStarved = From(0.25, "every fourth core had nothing to do");
inline constexpr Bound kOverheadBound = From(0.15, "opening may take as much");
inline constexpr Bound kMostOfIt = Above(0.5, "more than half is most of it");
inline constexpr Bound kShortOfCpu = From(0.20,
                                          "of the time in which chunks were ready, without a CPU: who waits for a lock "
                                          "then waits for a holder that has none");
inline constexpr Bound kSeenInPairs =
    From(0.5, "of what a section seems to have changed by: half of its pairs must have changed by as much");
inline constexpr Bound kWaitForOthersMatters = From(
    0.05, "of the chunks' time: as for a GPU, a prediction for more of them would be wrong by more than its range");
inline constexpr Bound kWaitWorthNaming = From(0.05, "of the blocked time: smaller kinds of wait change no plan");
inline constexpr Bound kThreadsMatter = From(
    0.2,
    "of the time for which threads waited, CPU of threads or of a process without guards: they may have waited for it");
inline constexpr int64_t kLeastSamplesOfWait = 10;  ///< of fewer, a share may be off by more than it is
inline constexpr double kCoarseWait = 0.2;          ///< of the time, waiting for a CPU: docs/waits.md, "How sure it is"
inline constexpr Bound kNearlyAllOfIt = From(0.9, "of a kind of wait: the rest is within what its range allows");
inline constexpr Bound kWaitIsSure = Below(0.25, "of the blocked time, on each side: a wider range names no cause");
inline constexpr Bound kFitsIn =
    UpTo(1.1, "of the time that it may fill: clocks and what is around it differ a little");
inline constexpr Bound kMoreThanItsShare =
    From(1.25, "times its share of the chunks' time: two equal workers differ by a tenth or so");

// Comparison of runs, of the first run's time.

/// 90 % of equal runs on a machine that nobody else uses are within this part of their time of each other: clocks,
/// caches and where memory lies. It stands for what is not known where there is one run; several runs measure it.
inline constexpr double kBetweenRuns = 0.02;
/// The same where threads waited for CPUs (`kShortOfCpu`). Of 28 pairs of equal runs of three programs, whose threads
/// waited for 70 to 90 % of the time, 90 % were within 6.4 %, the farthest at 7.6 %; other programs may differ by more.
inline constexpr double kBetweenBusyRuns = 0.10;
inline constexpr double kSecondsBetweenRuns = 0.005;  ///< beside it: page faults and clock rates of a short run
inline constexpr double kNotableChange = 0.05;        ///< of the baseline's value, or 5 points of a share
inline constexpr size_t kFewestPairs = 5;             ///< a range of fewer pairs, or chunks of a side, means nothing
inline constexpr double kSameWork = 1.01;             ///< most events over least: a few failed chunks
inline constexpr Bound kAboutTheSame = UpTo(0.02, "equal runs differ by as much, because of machines and caches");
inline constexpr Bound kWorthNaming = From(0.01, "what changed by less explains nothing");
inline constexpr Bound kSpeaksForTheRun = From(0.90, "of a run's time: what takes part is nearly all of it");
inline constexpr Bound kAllOfTheInput = From(0.995, "which is written as 100 %");
inline constexpr double kRangeTail = 0.05;            // on each side of a range: ranges are of 90 %
inline constexpr double kSectionSignificance = 0.05;  // of all sections together
inline constexpr double kPairsByChance = 0.05;        // runs in turns that have nothing in common look so alike

// Runs on different numbers of cores.
inline constexpr double kSameWorkPerCore = 1.1;     ///< most over least
inline constexpr double kCoresStayed = 0.9;         ///< of the most, on average: workers need some time to start
inline constexpr double kMuchOversubscribed = 0.1;  ///< of the core-seconds
inline constexpr double kSameStreams = 1.5;         ///< most over least for each core: more say as much as the cores

// Whether a run can be predicted, and what the answer has to say.
inline constexpr size_t kChunksOfPrediction = 8;   ///< a run with fewer is not predicted
inline constexpr double kMostMissed = 0.03;        ///< of the run's time, by the replay of the unchanged run
inline constexpr double kMostMissedSeconds = 0.2;  ///< by which it may differ in any case
inline constexpr double kMostSlopeError = 0.25;    ///< of a chunk's time: then what is beside its events is not known
inline constexpr double kGapsOfABarrier = 20;      ///< if no lane was busy for more usual gaps than this, ...
inline constexpr double kShareOfABarrier = 0.01;   ///< ... and for more of the run, all waited for something
inline constexpr double kFewestOverlaps = 10;      ///< expected by chance: to see none of so many is hardly chance
inline constexpr double kUnexplained = 0.8;        ///< of the lower bound: a run below it waits for something else, too
inline constexpr double kAboveBound = 1.05;        ///< of the upper bound: its figures are not of one kind of event
inline constexpr double kNotableShare = 0.05;      ///< of the latency, or of the events

// What is shown, and what measuring costs.
inline constexpr double kRoundsToZero = 0.0005;  ///< of a whole: 0.0 %
inline constexpr Bound kPaleWaiting = Above(0.32, "of a chunk: with shorter waits, most bars would be striped");
inline constexpr Bound kWaitShown = From(0.005, "of the core-seconds: a smaller kind of wait has no row in the budget");
inline constexpr Bound kCpuWaitShown = From(0.01, "of the threads' time: less changes no section's time visibly");
inline constexpr Bound kCpuOfOthersShown = From(0.01, "of the chunks' CPU time: less explains nothing");
inline constexpr Bound kShortInSeconds = Below(600, "core-seconds: people read more than that as hours and minutes");
inline constexpr Bound kManyGuards = From(1000, "guards: fewer cost some 20 ms at most");
inline constexpr Bound kShortChunk = Below(0.002, "s: recording a chunk costs a hundredth of it");
inline constexpr Bound kMuchMeasuring = From(0.005, "chunks may be a small part of the run, and what measures them");
inline constexpr Bound kSavingShown = From(0.001, "less is shown as next to nothing, and wins nothing");
inline constexpr Bound kWorthASentence = From(0.03, "the sizes of chunks alone cost as much");

}  // namespace crema

#include "collector/insight/verdict_table.h"

#include <cstdlib>
#include <limits>

#include "collector/engines/engines.h"
#include "collector/insight/key_figure_bands.h"
#include "collector/metrics/attempts/slow_spells.h"
#include "fmt/args.h"
#include "fmt/format.h"

namespace crema {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

}  // namespace

std::string_view ToString(Severity severity) {
  switch (severity) {
    case Severity::kGood:
      return "good";
    case Severity::kInfo:
      return "info";
    case Severity::kWarning:
      return "warning";
    case Severity::kBad:
      break;
  }
  return "bad";
}

std::string ToString(const Bound& bound) {
  constexpr std::string_view kSigns[] = {">=", ">", "<=", "<"};
  return fmt::format("{} {}", kSigns[static_cast<size_t>(bound.side)],
                     bound.value < 1e6 ? fmt::format("{}", bound.value) : fmt::format("{:.0f}", bound.value));
}

const std::vector<VerdictRule>& VerdictTable() {
  static const auto& table = *new std::vector<VerdictRule>{
      {"compute-bound", "time", From(0.60), kNever, Severity::kInfo, "budget: compute {0} of the core-seconds",
       "the other uses together are then at most 0.40: more cores or faster code is what helps",
       "Faster code in the largest section, or more cores, shortens the run."},
      {"waiting-bound",
       "time",
       From(BandOf(KeyFigure::kWaiting).bad),
       0.50,
       Severity::kWarning,
       "budget: blocked (or waiting) {0} of the core-seconds, or {2} and more than compute; bad from {1}",
       "above 0.30 the key figure is bad too; at half of all core-seconds the cores mostly wait",
       "Look at the sections with little CPU; read fewer columns, from closer by, or run more threads than cores.",
       {&kWaitsToo}},
      {"cpu-contention", "time", From(0.05), 0.20, Severity::kWarning,
       "budget: cpu_wait {0} of the core-seconds; bad from {1}",
       "on cores of one's own run delay stays below 0.01; 0.05 means more runnable threads than cores, 0.20 that a "
       "fifth of the cores is somebody else's",
       "Something else runs on these cores, or more threads than cores: run alone, or run fewer threads."},
      {"shared-bottleneck", "time", From(0.05), 0.30, Severity::kWarning,
       "what chunks were blocked for longer because others were open (contention.excess_low) {0} of the core-seconds, "
       "and the interval of the slope does not hold 0; bad from {1}",
       "the interval's lower end counts, so chance reaches a twentieth hardly ever; less would hardly shorten the run",
       "More lanes wait for the same thing: fewer lanes finish as early. Spread what they share (storage, network, a "
       "lock), or read less from it."},
      {"gil-contention",
       "time",
       From(0.10),
       kNever,
       Severity::kWarning,
       "gil_contention {2}, and gil_contention x what chunks were blocked (budget: blocked) {0} of the core-seconds. "
       "Needs gilknocker in the workers",
       "nobody tells how long a thread waited for this lock, so this is the most that it may be: a tenth is worth a "
       "look",
       "Use more processes with fewer threads each, or code that releases the lock.",
       {&kLockIsTaken}},
      {"opening-bound", "time", From(kMostWaiting), 0.30, Severity::kWarning,
       "budget: outside_chunk {0} of the core-seconds; bad from {1}. Needs an engine's tasks",
       "opening a file and building its arrays takes a few per cent; at 0.15 it is as much as waiting may be",
       "Use larger chunks, so that a file is opened less often; keep files open; read metadata once."},
      {"chunks-too-small",
       "chunks",
       From(kMostFixedCost),
       0.20,
       Severity::kWarning,
       "the fixed cost of chunks (chunk_fits.fixed_seconds_low x attempts, of datasets whose fixed cost is {2} of the "
       "time of a median chunk) {0} of the core-seconds; bad from {1}. Needs a fit: chunks of a dataset {3}, events of "
       "the largest over those of the smallest {4}, the interval of the fixed cost {5} of a median chunk's time; or of "
       "such time {6} for its events, by the upper end of the slope's interval, whatever the sizes",
       "0.05 is what the chunk-size advice allows; chunks of one size tell their fixed cost only where their events "
       "take little",
       "Use larger chunks.",
       {&kDearFixedCost, &kChunksOfFit, &kSpreadOfFit, &kClearFixedCost, &kSizeHardlyMatters}},
      {"chunks-too-large",
       "chunks",
       From(kMostTail),
       kNever,
       Severity::kWarning,
       "the run is over, the median chunk of a dataset has more events than the chunk-size advice allows, and that has "
       "hurt: budget: tail {0} of the core-seconds (unless there are so few chunks a core that too-few-chunks speaks), "
       "or memory_utilization_max {2}",
       "what the chunk-size advice allows the tail, and where memory is no longer good",
       "Use smaller chunks.",
       {&kMemoryOfLargeChunks}},
      {"too-few-chunks",
       "timeline",
       Below(4),
       kNever,
       Severity::kWarning,
       "the run is over, total_cores {2}, num_chunks / total_cores {0}, and budget: idle + tail {3} of the "
       "core-seconds",
       "with n chunks a core the last ones leave 1 / 2n of the cores idle: an eighth at 4",
       "Cut the work into more chunks, or use fewer cores.",
       {&kSeveralCores, &kIdleOfFewChunks}},
      {"too-few-clusters",
       "timeline",
       Below(4),
       kNever,
       Severity::kWarning,
       "the run is over, total_cores {2}, the metric tree_clusters (clusters of ROOT's trees that were read) / "
       "total_cores {0}, and budget: idle + tail {3} of the core-seconds",
       "as for chunks: ROOT gives a cluster to one thread, so a file has no more tasks than clusters",
       "Write the input with smaller clusters (TTree::SetAutoFlush), or use fewer threads.",
       {&kSeveralCores, &kIdleOfFewChunks}},
      {"slow-batch",
       "timeline",
       From(0.05),
       kNever,
       Severity::kWarning,
       "the process section `wait for next files` (threads of ROOT's RDataFrame between two files of RNTuple) {0} of "
       "the core-seconds",
       "RDataFrame reads a file of RNTuple on each thread, and begins the next ones when all of these are read: files "
       "that take equally long cost less",
       "Give RDataFrame files that take equally long, or merge them: it reads the clusters of a file on several "
       "threads "
       "where it has fewer files than threads.",
       {}},
      {"oversized-chunks",
       "chunks",
       From(0.02),
       0.15,
       Severity::kWarning,
       "the run is over, oversized_chunks {2}, and budget: tail {0} of the core-seconds; bad from {1}",
       "a chunk over 3 times the median does no harm where it does not end the run: a tail below 0.02 is none",
       "Cut large files into chunks of the same size as the others, or start the largest first.",
       {&kAnyOversized}},
      {"stragglers",
       "chunks",
       From(kLeastExcess),
       kNever,
       Severity::kWarning,
       "straggler_chunks {2}, and what they took beyond their prediction is {0} of the core-seconds",
       "every run has a slow chunk; below a hundredth of the cost nobody should look for it",
       "See which file or worker they share: crema show --table chunks.",
       {&kAnyStraggler}},
      {"skewed-dataset",
       "inputs",
       Above(4),
       kNever,
       Severity::kWarning,
       "a dataset with attempts {2} and a share {3} of the busy time has duration_p95 / duration_p50 {0}",
       "chunks of one size differ by less than 2; from 4 on a few chunks decide when the run ends",
       "Cut chunks by events instead of by files, or start the large ones first.",
       {&kAttemptsOfSpread, &kBusyTimeOfSpread}},
      {"slow-file",
       "inputs",
       From(2),
       kNever,
       Severity::kWarning,
       "the chunks of a file ({2}, of files {3}) took {0} times what the robust fits of their datasets give, together "
       "{4} of the core-seconds, and no worker is slow",
       "factor 2 is what makes a straggler; a slow worker would explain its files",
       "See where the file is stored, and whether another copy is closer by.",
       {&kChunksOfSlowFile, &kSeveral, &kMuchExcess}},
      {"slow-worker",
       "workers",
       From(1.5),
       kNever,
       Severity::kWarning,
       "the chunks of a worker ({2}, of workers {3}) took {0} times what the robust fits of their datasets give, "
       "together {4} of the core-seconds",
       "the mean of 8 chunks scatters by far less than 1.5; clock rates of one cluster's hosts differ by less too",
       "See what else runs on its host, and from where it reads; leave it out if it stays slow.",
       {&kChunksOfSlowWorker, &kSeveral, &kMuchExcess}},
      {"slow-spell",
       "timeline",
       From(kSpellFactor),
       kNever,
       Severity::kWarning,
       "for a while the chunks of a worker, a host, a file, a dataset or the whole run took {0} times what the robust "
       "fits of their datasets give (slow_spells), together {2} of the core-seconds",
       "chunks of one size scatter less in sum; a spell as short as a few chunks is worth a look only where it cost "
       "much",
       "See what else ran there at that time, and from where it read.",
       {&kMuchExcess}},
      {"slow-server",
       "inputs",
       From(2),
       kNever,
       Severity::kWarning,
       "requests of an operation to a server ({2}, and as many to the others) took {0} times what the same operation "
       "takes at the others of its kind (servers of one scheme, or mounts), by its calls or by its bytes, whichever is "
       "more; the difference {3} of the core-seconds",
       "factor 2 is what makes a straggler; distances to the servers of one site differ by less",
       "See whether another copy is closer by, and tell who runs the server.",
       {&kCallsOfSlowServer, &kMuchExcess}},
      {"many-small-reads",
       "inputs",
       Below(100'000),
       kNever,
       Severity::kWarning,
       "requests of an operation to a server ({2}) moved bytes {0} each, and took {3} of the core-seconds",
       "a round trip takes 1 ms and more: below 100 kB it sets the pace, and a link of 1 Gbit/s is not used",
       "Read several columns or baskets at once (TTreeCache, readv), or larger blocks.",
       {&kManyReads, &kMuchRequestTime}},
      {"long-tail", "timeline", From(kMostTail), 0.20, Severity::kWarning,
       "budget: tail {0} of the core-seconds; bad from {1}", "chunks of a fitting size keep the tail below 0.05",
       "Use smaller chunks, or start the largest first."},
      {"idle-workers", "timeline", From(0.10), 0.40, Severity::kWarning,
       "budget: idle {0} of the core-seconds; bad from {1}",
       "handing out chunks costs a few per cent; a tenth is a queue that ran dry or cores without threads",
       "Keep more chunks queued for each worker, or use fewer cores."},
      {"scaling-lag",
       "timeline",
       From(0.10),
       kNever,
       Severity::kWarning,
       "until {2} of the most workers were there ({3} s, of workers {4}), {0} of the worker-seconds that the most "
       "workers would have given the run are missing",
       "absent workers cost no core-seconds, but a tenth of what they could have done is a tenth of the elapsed time",
       "Start when the workers are there, ask for them earlier, or scale in larger steps.",
       {&kNearlyAllWorkers, &kLongLag, &kSeveral}},
      {"startup-dominated", "timeline", From(0.10), 0.40, Severity::kWarning,
       "budget: startup {0} of the core-seconds; bad from {1}",
       "a run should be long against its own start; a tenth pays for fewer, longer workers",
       "Keep workers for longer, give them more chunks, or shorten the set-up."},
      {"memory-pressure",
       "workers",
       From(BandOf(KeyFigure::kMemory).good),
       BandOf(KeyFigure::kMemory).bad,
       Severity::kWarning,
       "memory_utilization_max {0}, bad from {1}{engines}. Needs a memory limit",
       "the bands of the key figure: one chunk in twenty is larger than the others, and what passes the limit is ended",
       "Use smaller chunks or fewer threads for each worker, or ask for more memory.",
       {}},
      {"memory-growth", "workers", From(0.10), kNever, Severity::kWarning,
       "rss_slope_low > 0, and over the events of the busiest worker it comes to {0} of the memory limit (without one: "
       "of the worker's peak)",
       "the lower end of the 95 % interval: noise does not fire; growth below a tenth does no harm in a run as long as "
       "this one",
       "Look for what is kept from chunk to chunk: histograms by event, caches, open files."},
      {"leaking-section",
       "time",
       From(0.10),
       kNever,
       Severity::kWarning,
       "of what a section of chunks ({2}) allocated, more was live at the end than when a quarter to half of the "
       "chunks "
       "had ended: by bytes {3}, and by {0} of peak_live_bytes. Needs crema run --allocations",
       "a cache that is filled early does not grow any more, what is kept of each chunk does; growth below a tenth "
       "does "
       "no harm in a run as long as this one",
       "Look for what this section keeps from chunk to chunk: lists that grow, results by event, caches without a "
       "limit.",
       {&kChunksOfLeak, &kMuchKept}},
      {"spilling", "fine", From(0.01), 0.10, Severity::kWarning,
       "disk_write_time_seconds + disk_read_time_seconds {0} of the core-seconds; bad from {1}. Needs fine metrics",
       "a worker that spills now and then is not slower for it; at 0.01 the disk is part of the run",
       "Keep results small, use smaller chunks or fewer threads for each worker, or ask for more memory."},
      {"serialization-heavy", "fine", From(0.05), 0.20, Severity::kWarning,
       "total_serialization_overhead_seconds {0} of the core-seconds; bad from {1}. Needs fine metrics",
       "histograms and task graphs take below 0.01; 0.05 are large results or data in the graph",
       "Return histograms instead of arrays, and keep data out of the task graph."},
      {"compression-heavy",
       "fine",
       From(0.05),
       0.20,
       Severity::kWarning,
       "total_compression_overhead_seconds {0} of the core-seconds, bad from {1} (needs fine metrics); or the metric "
       "unzip_wall {2} of the core-seconds and above read_wall",
       "spill and transfers should not cost CPU; codecs of input take up to a quarter of an ordinary analysis",
       "Move less data between workers, or turn its compression off (distributed.comm.compression).",
       {&kMuchDecompression}},
      {"framework-overhead", "time", From(0.05), 0.15, Severity::kWarning,
       "budget: framework {0} of the core-seconds; bad from {1}. Needs an engine's tasks",
       "an engine needs a few per cent, 0.15 costs a worker in seven",
       "Use fewer, larger tasks, and fuse those that only hand data on."},
      {"failing-chunks", "failures", From(BandOf(KeyFigure::kFailedAttempts).good),
       BandOf(KeyFigure::kFailedAttempts).bad, Severity::kWarning,
       "failed and lost attempts {0} of all attempts, or a chunk without a result once the run is over; bad from {1} "
       "and whenever a chunk has no result",
       "hiccups of storage stay below 0.01 and are cured by a retry; a chunk without a result is missing from the "
       "physics",
       "See the errors: crema show --table chunks --failed."},
      {"retry-waste", "failures", From(0.02), 0.10, Severity::kWarning,
       "budget: failed {0} of the core-seconds (attempts that failed, were lost or repeated); bad from {1}",
       "with 0.01 of failing attempts, each as long as its repetition, the waste stays below 0.02",
       "Find out why they fail; fail early, and do not compute results twice. Passes of their own over the same events "
       "need names: Chunk::pass, CREMA_PASS."},
      {"worker-loss",
       "workers",
       From(1),
       kNever,
       Severity::kWarning,
       "workers {0} vanished without an end line in a run that was not killed as a whole; one without an open chunk "
       "counts where it did so {2} s before the last worker's stop",
       "no worker vanishes in an ordinary run: the batch system, the kernel (out of memory) or a crash ended it",
       "See the batch system's log and the worker's memory; crema show --table workers.",
       {&kBeforeTheEnd}},
      {"low-compression",
       "inputs",
       UpTo(1.2),
       kNever,
       Severity::kInfo,
       "compression_ratio {0}, bytes_read_compressed {2}, and blocked (or waiting) + outside_chunk {3} of the "
       "core-seconds",
       "ROOT files of ordinary events shrink to a half or less; it only matters where the run waits for data",
       "Store the input compressed (ZSTD), or with fewer digits.",
       {&kMuchInput, &kWaitsForData}},
      {"hot-section",
       "time",
       From(0.40),
       kNever,
       Severity::kInfo,
       "the self time of one section {0} of the busy time, and there are sections {2}",
       "halving it would save a fifth of the run: the first place to look; one section around everything tells nothing",
       "Look there first: crema export --to folded draws a flame graph.",
       {&kSeveral}},
      {"instrumentation-heavy", "environment", From(BandOf(KeyFigure::kMeasuringCost).good),
       BandOf(KeyFigure::kMeasuringCost).bad, Severity::kWarning, "instrumentation_overhead {0}; bad from {1}",
       "the bands of the key figure: 0.01 is ten times what a guard should cost in a chunk of ordinary length",
       "Put guards around more work at a time: not inside the event loop."},
      {"oversubscribed", "time", From(kMostOversubscribed), 0.10, Severity::kWarning,
       "the parts of the budget exceed core_seconds by {0} of them; bad from {1}",
       "open chunks and helpers beyond the declared cores are 0 in ordinary runs; 0.01 is beyond rounding and clocks",
       "Run fewer threads, or tell how many cores there are (CREMA_THREADS): the finding says which, by "
       "run.cores_source."},
      {"incomplete-measurement",
       "overview",
       From(1),
       kNever,
       Severity::kWarning,
       "records, sections, processes or workers {0} that should be there were malformed, torn, dropped, lost or "
       "unseen; event or fine coverage {2}; budget: unmeasured {3}; or too little was measured to judge (no ended "
       "chunk, or core-seconds not {4}; then only an info while the run goes on, or where it was killed). What a "
       "running job has not done or written yet is no gap",
       "sums over records are lower bounds when records are missing",
       "See what is missing: crema show --table quality.",
       {&kIncompleteCoverage, &kMuchUnmeasured, &kEnoughCoreSeconds}},
      {"healthy", "time", From(BandOf(KeyFigure::kCpuEfficiency).good), kNever, Severity::kGood,
       "cpu_efficiency {0}, enough was measured to judge, and no other verdict is a warning or bad",
       "from there on the key figure is good too: sites ask for no more", ""},
  };
  return table;
}

const VerdictRule* FindRule(std::string_view id) {
  for (const VerdictRule& rule : VerdictTable()) {
    if (rule.id == id) return &rule;
  }
  return nullptr;
}

const VerdictRule& RuleOf(std::string_view id) {
  if (const VerdictRule* rule = FindRule(id)) return *rule;
  std::abort();  // an id that is not in the table is a mistake in a judge, which every test of it would meet
}

std::string ConditionText(const VerdictRule& rule) {
  fmt::dynamic_format_arg_store<fmt::format_context> bounds;
  bounds.push_back(ToString(rule.threshold));
  bounds.push_back(rule.bad);
  for (const Bound* bound : rule.also) bounds.push_back(ToString(*bound));
  std::string of_engines;
  for (const Engine* engine : Engines()) {
    const EngineTraits& traits = engine->traits;
    if (!traits.memory.has_value()) continue;
    of_engines += fmt::format("; under {}, which {}, from {:.2f} and {:.2f}", traits.name, traits.memory->does,
                              traits.memory->good, traits.memory->bad);
  }
  bounds.push_back(fmt::arg("engines", of_engines));
  return fmt::vformat(rule.condition, bounds);
}

}  // namespace crema

#include "collector/diagnosis/verdict_table.h"

#include <cstdlib>

#include "collector/diagnosis/key_figures.h"
#include "collector/engines/engines.h"
#include "collector/metrics/attempts/stragglers.h"
#include "fmt/args.h"

namespace crema {
namespace {

/// The other bounds of a rule.
using Also = std::vector<const Bound*>;

}  // namespace

std::string_view ToString(Severity severity) {
  constexpr std::string_view kNames[] = {"good", "info", "warning", "bad"};
  return kNames[static_cast<size_t>(severity)];
}

std::string ToString(const Bound& bound) {
  constexpr std::string_view kSigns[] = {">=", ">", "<=", "<"};
  return fmt::format("{} {}", kSigns[static_cast<size_t>(bound.side)],
                     bound.value < 1e6 ? fmt::format("{}", bound.value) : fmt::format("{:.0f}", bound.value));
}

const std::vector<VerdictRule>& VerdictTable() {
  static const auto& table = *new std::vector<VerdictRule>{
      {"compute-bound", "time", Threshold(From(0.60), kNeverBad, Severity::kInfo),
       "budget: compute {0} of the core-seconds",
       "all other uses take at most 0.40 then: only faster code or more cores help",
       "Faster code in the largest section, or more cores, shortens the run."},
      {"waiting-bound", "time", Threshold(From(BandOf(KeyFigure::kWaiting).bad), 0.50),
       "budget: blocked (or waiting) {0} of the core-seconds, or {2} and more than compute; bad from {1}",
       "above 0.30 the key figure is bad too; from 0.50 on the cores wait for more than half of the time",
       "crema run --waits shows what threads wait for: a server, a file, a lock. Sections show where.",
       Also{&kWaitsToo}},
      {"gpu-bound", "time", Threshold(From(0.30), kNeverBad, Severity::kInfo),
       "budget: gpu_wait {0} of the core-seconds, kernels took {2} of them, and longer than copies. Needs crema run "
       "--gpu",
       "cores that wait for nearly a third of the time are limited by the device",
       "Faster kernels, smaller models, lower precision, or more GPUs shorten the run. table gpu_kernels names the "
       "longest.",
       Also{&kGpuMatters}},
      {"gpu-copies", "time", From(0.10),
       "budget: gpu_wait {0} of the core-seconds, gpu_copy_seconds are more than gpu_seconds, and bytes were copied to "
       "or from a GPU. Needs crema run --gpu",
       "copies should be a small part of what a GPU does; below a tenth, waiting for them hardly matters",
       "Copy less, and only once: keep data on the device, use pinned memory and asynchronous copies, convert to "
       "smaller types first."},
      {"gpu-starved", "time", Below(0.30),
       "gpu_busy_seconds / wall_time and, if it is known, gpu_utilization {0}, kernels took {2} of the core-seconds, "
       "and gpu-bound does not fire. Needs crema run --gpu",
       "a device that is idle for more than two thirds of the time waits for the host",
       "Use larger batches, prepare the next one while the device works (streams, threads), or let several processes "
       "share the GPU.",
       Also{&kGpuMatters}},
      {"gpu-shared", "environment", From(0.10),
       "gpu_utilization_of_others {0}. Needs crema run, and a driver that reports the utilisation of processes",
       "a tenth is more than a desktop or a monitor takes",
       "Other processes use this GPU: times of kernels depend on them. Run alone, or ask for a GPU of your own."},
      {"cpu-contention", "time", Threshold(From(0.05), 0.20),
       "budget: cpu_wait and process_cpu_wait are {0} of the core-seconds; bad from {1}",
       "on cores that nobody else uses, the run delay stays below 0.01; at 0.05 there are more runnable threads than "
       "cores, at 0.20 others use a fifth of the cores",
       "Other programs use these cores, or there are more threads than cores. Run alone, or run fewer threads."},
      {"shared-bottleneck", "time", Threshold(From(0.05), 0.30),
       "the extra time for which chunks were blocked because others were open (contention.excess_low) is {0} of the "
       "core-seconds, and the interval of the slope does not contain 0; bad from {1}",
       "this is the lower end of the interval, so chance alone rarely reaches 0.05; less would hardly shorten the run",
       "The lanes wait for something that they share: storage, the network or a lock. Spread the load, or read less "
       "from it."},
      {"gil-contention", "time", From(0.10),
       "gil_contention {2}, and the product of gil_contention and budget: blocked is {0} of the core-seconds. Needs "
       "gilknocker in the workers",
       "Python does not measure how long a thread waited for this lock. The product is the most that it can be; a "
       "tenth deserves a look",
       "Use more processes with fewer threads each, or code that releases the lock.", Also{&kLockIsTaken}},
      {"opening-bound", "time", Threshold(From(kMostWaiting), BandOf(KeyFigure::kWaiting).bad),
       "budget: outside_chunk {0} of the core-seconds; bad from {1}. Needs an engine's tasks. If most of it was before "
       "the first chunk of each thread of a worker (first_before_chunk_time), the verdict speaks of imports and set-up",
       "opening a file and building its arrays takes a few per cent; in a good run waiting takes up to 0.15, too",
       "Tasks open files, build arrays and hand back results there: larger chunks do that less often. Code without "
       "guards counts too: a guard around it shows how long it takes."},
      {"chunks-too-small", "chunks", Threshold(From(kMostFixedCost), 0.20),
       "the fixed cost of chunks is {0} of the core-seconds; bad from {1}. It is the sum of "
       "chunk_fits.fixed_seconds_low x attempts over the datasets whose fixed cost is {2} of a median chunk's time. A "
       "dataset needs a fit: it has {3} chunks, and either its largest chunk has {4} times the events of its smallest "
       "and the interval of the fixed cost is {5} of a median chunk's time, or events take {6} of that time at most "
       "(by the upper end of the slope's interval)",
       "the chunk-size advice allows 0.05; chunks of one size show their fixed cost only if their events take little "
       "time",
       "Use larger chunks.",
       Also{&kDearFixedCost, &kChunksOfFit, &kSpreadOfFit, &kClearFixedCost, &kSizeHardlyMatters}},
      {"chunks-too-large", "chunks", From(kMostTail),
       "the run is over, and the median chunk of a dataset has more events than the chunk-size advice allows. This did "
       "harm: budget: tail {0} of the core-seconds (and num_chunks / total_cores is not so low that too-few-chunks "
       "fires), or memory_utilization_max {2}",
       "the chunk-size advice allows the tail as much; beyond this share of the limit, memory is no longer good",
       "Use smaller chunks.", Also{&kMemoryOfLargeChunks}},
      {"too-few-chunks", "timeline", Below(4),
       "the run is over, total_cores {2}, num_chunks / total_cores {0}, and budget: idle + tail {3} of the "
       "core-seconds; if the cores divide the number of chunks, tail alone is as much. One worker with one chunk open "
       "at a time (max_open_chunks), and a chunk for each core, does not count",
       "with n chunks per core, the last chunks leave 1 / 2n of the core-seconds idle: an eighth if n is 4",
       "Cut the work into more chunks, or use fewer cores.", Also{&kSeveralCores, &kIdleOfFewChunks}},
      {"too-few-clusters", "timeline", Below(4),
       "the run is over, total_cores {2}, tree_clusters / total_cores {0}, and budget: idle + tail {3} of the "
       "core-seconds. The metric tree_clusters counts the clusters of ROOT's trees that were read",
       "ROOT gives each cluster to one thread, so a file has no more tasks than clusters; few clusters do the same "
       "harm as few chunks",
       "Write the input with smaller clusters (TTree::SetAutoFlush), or use fewer threads.",
       Also{&kSeveralCores, &kIdleOfFewChunks}},
      {"slow-batch", "timeline", From(0.05),
       "the process section `wait for next files` takes {0} of the core-seconds. In it, threads of ROOT's RDataFrame "
       "wait between two RNTuple files",
       "RDataFrame reads one RNTuple file on each thread, and begins the next files only when all of these are read; "
       "files that take equally long cost less than 0.05",
       "Give RDataFrame files that take equally long to read, or merge them. If there are fewer files than threads, "
       "RDataFrame reads one file on several threads."},
      {"oversized-chunks", "chunks", Threshold(From(0.02), 0.15),
       "the run is over, oversized_chunks is {2}, and budget: tail {0} of the core-seconds; bad from {1}",
       "a chunk with over 3 times the events of the median does no harm if the run does not wait for it at its end; a "
       "tail below 0.02 does no harm",
       "Cut large files into chunks of the same size as the others, or start the largest first.", Also{&kAnyOversized}},
      {"stragglers", "chunks", From(kLeastExcess),
       "straggler_chunks is {2}, and the time that they took beyond their prediction is {0} of the core-seconds",
       "every run has a slow chunk; if it cost less than a hundredth, it is not worth a search",
       "See which file or worker they share: crema show --table chunks.", Also{&kAnyStraggler}},
      {"skewed-dataset", "inputs", Above(4),
       "a dataset of one pass with {2} attempts, a share {3} of the busy time and a share {4} of failed attempts has "
       "duration_p95 / duration_p50 {0}",
       "for chunks of one size the ratio is below 2; above 4, a few chunks decide when the run ends",
       "Cut chunks by events instead of by files, or start the large ones first.",
       Also{&kAttemptsOfSpread, &kBusyTimeOfSpread, &kFailedOfSpread}},
      {"costly-dataset", "inputs", Threshold(From(3), kNeverBad, Severity::kInfo),
       "an event of a dataset takes {0} times as long as one of the others together, and the dataset takes {2} of the "
       "chunks' time. The numbers of events are known",
       "kinds of events differ by a factor of two or so; a dataset that costs more is where to look first",
       "Compare it with the others in crema show --table datasets. Run this dataset alone to see its sections and "
       "files.",
       Also{&kMuchOfTheTime}},
      {"slow-file", "inputs", From(2),
       "the chunks of a file took {0} times what the robust fits of their datasets predict, and no slow worker "
       "explains it. The file has {2} chunks, the run has {3} files, and such files took {4} of the core-seconds "
       "beyond their prediction",
       "a straggler also takes twice its prediction; if a worker is slow, its files look slow too",
       "See where the file is stored, and whether there is a copy nearer to the workers.",
       Also{&kChunksOfSlowFile, &kSeveral, &kMuchExcess}},
      {"slow-worker", "workers", From(1.5),
       "the chunks of a worker took {0} times what the robust fits of their datasets predict, and {0} times that of "
       "the workers that are not slow. The worker has {2} chunks, the run has {3} workers, and such workers took {4} "
       "of the core-seconds beyond their prediction",
       "the mean of 8 chunks scatters far less than this; the clock rates of a cluster's hosts differ by less, too",
       "See what else runs on its host, and from where it reads; leave it out if it stays slow.",
       Also{&kChunksOfSlowWorker, &kSeveral, &kMuchExcess}},
      {"slow-spell", "timeline", From(kSlowPeriodFactor),
       "for a while (slow_spells) the chunks of a worker, a host, a file, a dataset or the whole run took {0} times "
       "what the robust fits of their datasets predict. Such spells took {2} of the core-seconds beyond their "
       "prediction",
       "the sum over several chunks scatters less than this; a short spell deserves a look only if it cost much",
       "See what else ran there at that time, and from where it read.", Also{&kMuchExcess}},
      {"slow-server", "inputs", From(2),
       "the requests of an operation to a server took {0} times what they would take at the other servers of its kind "
       "(servers of one scheme, or mounts). crema computes this time from the number of requests and from the bytes, "
       "and takes the larger one. {2} requests went to this server and as many to the others, and the difference is "
       "{3} of the core-seconds",
       "a straggler also takes twice its prediction; the distances to the servers of one site differ by less",
       "See whether there is a copy nearer to the workers, and ask the people who run the server.",
       Also{&kCallsOfSlowServer, &kMuchExcess}},
      {"many-small-reads", "inputs", Below(100'000),
       "one of three holds. (1) {2} requests of an operation to a server, or reads that the metrics bytes_read, "
       "read_calls and read_wall count, moved {0} bytes each on average, and took {3} of the core-seconds. (2) Read "
       "calls of a TrackIo returned {5} bytes each on average, {4} of them in each second of its section, which took "
       "{3} of the core-seconds. (3) {2} read calls of the processes were as small on average, {4} of them in each "
       "second of the chunks' CPU time, and system_cpu_time is {3} of the core-seconds",
       "a round trip takes 1 ms or more, as long as 100 kB on a link of 1 Gbit/s; smaller requests mostly wait for "
       "round trips",
       "Read several columns or baskets at once (TTreeCache, readv), or larger blocks.",
       Also{&kManyReads, &kMuchRequestTime, &kManyCalls, &kSmallCall}},
      {"serial-module", "timeline", From(0.80),
       "calls of a module that runs one at a time (at_once is 1) came at a rate of {0} times its ceiling, and events "
       "were queued behind it for {2} of their latency. Needs MarkReady",
       "a module that runs for four fifths of the time is close to its limit, and waits for it grow fast from there",
       "Let several calls of it run at once, make it faster, or take it out of the path of most events.",
       Also{&kEventsQueueBehind}},
      {"external-work", "timeline", From(0.20),
       "events waited for requests of their own for {0} of their latency while they had no task at work or ready, and "
       "{2} of the cores ran no task",
       "if a fifth of the latency is outside, a fourth more events could be open at once",
       "Let more events be open at once (streams, slots), so that others compute meanwhile.", Also{&kFreeForEvents}},
      {"stolen-work", "timeline", From(0.10),
       "while tasks waited, their threads ran other tasks inside them, for {0} of the time of all tasks",
       "at a tenth, the latency of a module says little about its own work",
       "Isolate the parallel loops inside modules (tbb::this_task_arena::isolate), so that a thread that waits for its "
       "own loop takes no other module."},
      {"nothing-ready", "timeline", From(0.30),
       "events had no task at work or ready and no request open for {0} of their latency. {2} of the cores ran no "
       "task, and {3} of the calls were marked as ready. Needs MarkReady",
       "the scheduler itself and joins take a few per cent; at 0.30 events wait for something that is not recorded",
       "See what events wait for: conditions, a luminosity section, or a queue that is not marked. More events at once "
       "hide such times.",
       Also{&kFreeForEvents, &kMostAreMarked}},
      {"kernel-time", "time", From(0.30),
       "system_cpu_time is {0} of the CPU time of the chunks' owners (chunk_cpu_time - helper_cpu_time - "
       "unannounced_cpu_time - children_cpu_time), and {2} of the core-seconds",
       "reading and unpacking columns in blocks of 100 kB and more leaves a tenth to the kernel; at 0.30 it does a "
       "large part of the work",
       "See which calls these are (strace -c, perf trace). Read and write larger blocks, and reuse memory.",
       Also{&kMuchKernelTime}},
      {"spinning", "time", From(0.10),
       "the part of the CPU time of chunks in which stacks saw libgomp, libomp, oneTBB or a progress loop of MPI "
       "itself is {0} of the core-seconds, also at the lower end of its range. Needs crema run --stacks",
       "handing out work takes a few per cent of the time; beyond a tenth, threads spin at barriers",
       "Give all threads as much to do, or use fewer. OMP_WAIT_POLICY=passive lets threads sleep while they wait."},
      {"page-faults", "time", From(100),
       "the owners of chunks had {0} major page faults in each second of busy_time, and blocked (or waiting) with "
       "system_cpu_time is {3} of the core-seconds. Or they had {2} minor page faults in each second of their CPU "
       "time, and system_cpu_time is {3} of the core-seconds. The verdict says which kind",
       "a page from an SSD takes 0.1 ms and more, from a disk 5 ms: 100 a second take from a hundredth to half of the "
       "time",
       "Read the input in large blocks instead of mapping it (or ask for it early: MAP_POPULATE, MADV_WILLNEED), and "
       "ask for more memory if pages were swapped.",
       Also{&kManyMinorFaults, &kMuchRequestTime}},
      {"long-tail", "timeline", Threshold(From(kMostTail), 0.20), "budget: tail {0} of the core-seconds; bad from {1}",
       "chunks of the advised size keep the tail below 0.05", "Use smaller chunks, or start the largest first."},
      {"idle-workers", "timeline", Threshold(From(0.10), 0.40), "budget: idle {0} of the core-seconds; bad from {1}",
       "handing out chunks costs a few per cent; at a tenth, a queue was empty or cores had no thread",
       "Keep more chunks queued for each worker, or use fewer cores."},
      {"unused-cores", "timeline", Threshold(From(0.10), 0.40),
       "budget: unused_by_tasks {0} of the core-seconds; bad from {1}. Needs an engine that reports the cores of its "
       "tasks",
       "as for idle-workers: no other task can have these cores",
       "Ask for as many cores for each task as its threads keep busy, or run as many threads."},
      {"scaling-lag", "timeline", From(0.10),
       "the largest number of workers that were there for {5} of the run is {4}. They would have given more "
       "worker-seconds over the whole run: {0} of these are missing, because it took {3} s until {2} of them were "
       "there",
       "absent workers cost no core-seconds; but if a tenth of their time is missing, the run takes a tenth longer",
       "Start when the workers are there, ask for them earlier, or scale in larger steps.",
       Also{&kNearlyAllWorkers, &kLongLag, &kSeveral, &kLongEnough}},
      {"no-workers", "timeline", Threshold(From(0.10), 0.40),
       "no worker lived for {0} of the elapsed time (bad from {1}), and for {2} s. The time that scaling-lag names "
       "does not count",
       "the core-seconds do not include this time, so their shares look as good as without it",
       "See what came before the first worker, between workers and after the last one: a queue, a program without "
       "guards, a merge.",
       Also{&kLongAbsence}},
      {"startup-dominated", "timeline", Threshold(From(0.10), 0.40),
       "budget: startup {0} of the core-seconds; bad from {1}",
       "a run should take much longer than its own start; from a tenth on, fewer workers that live longer are better",
       "Shorten the set-up: sections around its parts, outside chunks, show which takes long. Or keep workers for "
       "longer, and give them more chunks."},
      {"shutdown-dominated", "timeline", Threshold(From(0.10), 0.40),
       "budget: shutdown {0} of the core-seconds; bad from {1}",
       "what comes after the last chunk usually runs on one core: from a tenth on, the others wait for it",
       "Merge while chunks still run, merge on several cores, or give the cores back."},
      {"last-worker", "timeline", Threshold(From(0.10), 0.40),
       "the run is over, {2} workers had chunks at once, and the run would have been {0} shorter (bad from {1}) if the "
       "workers had shared their remaining chunks from the last moment at which {3} of them had some. Lost workers do "
       "not count",
       "with four chunks or more for each worker, chance leaves less than a tenth",
       "Let workers take chunks from one queue, largest first, instead of giving each its part beforehand.",
       Also{&kSeveral, &kNearlyAllWorkers}},
      {"memory-pressure", "workers", Threshold(From(BandOf(KeyFigure::kMemory).good), BandOf(KeyFigure::kMemory).bad),
       "memory_utilization_max {0}, bad from {1}{engines}. Needs a memory limit",
       "the bands of the key figure: one chunk in twenty is larger than the others, and a worker that passes its limit "
       "is killed",
       "Use smaller chunks or fewer threads for each worker, or ask for more memory."},
      {"memory-growth", "workers", From(0.10),
       "rss_slope_low > 0, and for the events of the busiest worker it gives {0} of the memory limit (without a limit: "
       "of the worker's peak)",
       "this is the lower end of the 95 % interval, so noise does not make it fire; growth below a tenth does no harm "
       "in a run of this length",
       "Look for what is kept from chunk to chunk: histograms by event, caches, open files."},
      {"leaking-section", "time", From(0.10),
       "the live memory of a section of {2} chunks grew from when a quarter to half of them had ended until the end: "
       "by {3} bytes, and by {0} of peak_live_bytes. Needs crema run --allocations",
       "a cache that is filled early does not grow any more, what is kept of each chunk does; growth below a tenth "
       "does no harm in a run as long as this one",
       "Look for what this section keeps from chunk to chunk: lists that grow, results by event, caches without a "
       "limit.",
       Also{&kChunksOfLeak, &kMuchKept}},
      {"spilling", "fine", Threshold(From(0.01), 0.10),
       "disk_write_time_seconds + disk_read_time_seconds {0} of the core-seconds; bad from {1}. Needs fine metrics",
       "a worker that rarely spills is not slower; from 0.01 on, the disk slows the run",
       "Keep results small, use smaller chunks or fewer threads for each worker, or ask for more memory."},
      {"serialization-heavy", "fine", Threshold(From(0.05), 0.20),
       "total_serialization_overhead_seconds {0} of the core-seconds; bad from {1}. Needs fine metrics",
       "histograms and task graphs take less than 0.01; at 0.05 results are large, or there is data in the graph",
       "Return histograms instead of arrays, and keep data out of the task graph."},
      {"compression-heavy", "fine", Threshold(From(0.05), 0.20),
       "total_compression_overhead_seconds {0} of the core-seconds, bad from {1} (needs fine metrics); or the metric "
       "unzip_wall is above read_wall, and {2} of the core-seconds or {3} of the chunks' time (decompression_share; "
       "this alone is info). Without this metric: the part of the CPU time of chunks in which stacks saw functions of "
       "liblzma, zstd, LZ4 or zlib that decompress is {2} of the core-seconds, also at the lower end of its range",
       "compressing spilled data and transfers should cost little CPU; decompressing the input takes up to a quarter "
       "of an ordinary analysis",
       "Move less data between workers, or turn its compression off (distributed.comm.compression).",
       Also{&kMuchDecompression, &kMostOfIt}},
      {"framework-overhead", "time", Threshold(From(0.05), 0.15),
       "budget: framework {0} of the core-seconds; bad from {1}. Needs an engine's tasks",
       "an engine needs a few per cent; 0.15 is the work of one worker in seven",
       "Use fewer, larger tasks, and fuse those that only hand data on."},
      {"failed-run", "overview", Threshold(From(1), kNeverBad, Severity::kBad),
       "the run is over, and run.exit_status is {0} (128 + N, as after signal N), or run.state is failed",
       "programs end with 0 if they did what they should; results of others may be missing or wrong",
       "Look at its last messages, and see whether its results are complete."},
      {"failing-chunks", "failures",
       Threshold(From(BandOf(KeyFigure::kFailedAttempts).good), BandOf(KeyFigure::kFailedAttempts).bad),
       "failed and lost attempts are {0} of all attempts (bad from {1}), or the run is over and a chunk has no result "
       "(always bad)",
       "short failures of storage stay below 0.01, and a second attempt cures them; the events of a chunk without a "
       "result are missing from the physics result",
       "See the errors: crema show --table chunks --failed."},
      {"failing-tasks", "failures", From(1),
       "the engine's own log shows that the last try of {0} tasks failed (num_failed_tasks). It is bad if no chunk was "
       "recorded in one of them. The run is over",
       "an engine retries a failed task as often as it may; what such a task should have read or written is missing, "
       "unless the program resubmitted it under another name",
       "See the engine's log for the reason. crema export RUN --to chunks --without-result --expected FILESET -o "
       "again.txt lists the work to run again."},
      {"retry-waste", "failures", Threshold(From(0.02), 0.10),
       "budget: failed {0} of the core-seconds (attempts that failed, were lost or repeated); bad from {1}",
       "if 0.01 of the attempts fail, and each takes as long as its repetition, the waste stays below 0.02",
       "Find out why attempts fail. Let them fail early, and do not compute a result twice. If several passes over the "
       "same events are intended, give each pass a name: Chunk::pass, CREMA_PASS."},
      {"worker-loss", "workers", From(1),
       "{0} workers are lost, in a run that was not killed as a whole: they vanished in a chunk, or the engine, the "
       "kernel or an exit status reports a failure. A process that ended between chunks without a report is not lost",
       "no worker vanishes in an ordinary run: the batch system, the kernel (out of memory) or a crash ended it",
       "See the log of the worker or of its batch system, and the worker's memory; crema show --table workers."},
      {"low-compression", "inputs", Threshold(UpTo(1.2), kNeverBad, Severity::kInfo),
       "compression_ratio {0}, bytes_read_compressed {2}, and blocked (or waiting) + outside_chunk {3} of the "
       "core-seconds",
       "compression makes ROOT files of ordinary events half as large, or smaller; it matters only if the run waits "
       "for data",
       "Store the input compressed (ZSTD), or less precisely.", Also{&kMuchInput, &kWaitsForData}},
      {"repeated-loops", "inputs", Threshold(From(2), kNeverBad, Severity::kInfo),
       "{0} event loops read a dataset (their passes are in chunk_fits; the second loop of ROOT is loop 2)",
       "each loop reads and decompresses its input once more, and one loop can make many results",
       "Book all results of an RDataFrame before you ask for the first one (GetValue, Draw, Snapshot): one loop then "
       "makes them all. ROOT::RDF::RunGraphs does this for several frames at once."},
      {"hot-section", "time", Threshold(From(0.40), kNeverBad, Severity::kInfo),
       "the self time of one section is {0} of the time of all threads in chunks, and the run has {2} sections",
       "if this section took half as long, the run would save a fifth of its time; one section around everything says "
       "nothing",
       "Run again with crema run --stacks: it shows the functions of the section.", Also{&kSeveral}},
      {"largest-loss", "time", Threshold(kWorthASentence, kNeverBad, Severity::kInfo),
       "a part of the budget is {0} of the core-seconds; the headline names it, and no other verdict cites it",
       "every loss in the headline has a verdict, even below the threshold of its own verdict",
       "Put sections around what runs there (TrackSection): they show where the time goes, also outside chunks."},
      {"instrumentation-heavy", "environment",
       Threshold(From(BandOf(KeyFigure::kMeasuringCost).good), BandOf(KeyFigure::kMeasuringCost).bad),
       "instrumentation_overhead {0}, or null because recording took longer than the chunks; and {2} of the "
       "core-seconds; bad from {1}",
       "the bands of the key figure: 0.01 is ten times what a guard should cost in a chunk of ordinary length",
       "Put guards around larger pieces of work, not inside the event loop.", Also{&kMuchMeasuring}},
      {"oversubscribed", "time", Threshold(From(0.05), 0.20),
       "chunk_cpu_time and lane_cpu_wait exceed the core-seconds that chunks occupied (core_efficiency). The excess, "
       "at most oversubscribed_core_seconds, is {0} of core_seconds; bad from {1}",
       "threads that only wait may be more than the cores; the bounds are those of cpu-contention",
       "Run fewer threads, or declare how many cores there are (CREMA_THREADS). The finding says which of the two "
       "(run.cores_source)."},
      {"incomplete-measurement", "overview", From(1),
       "{0} logs, records, sections, processes or workers were missing, left out, damaged, malformed, torn, dropped, "
       "lost or unseen; or event or fine coverage is {2}; or budget: unmeasured is {3}; or too little was measured to "
       "judge: no chunk ended, or core-seconds are not {4} (only an info while the run goes on, or if it was killed). "
       "Work that a running job has yet to do or to write counts as none of these",
       "sums over records are lower bounds when records are missing",
       "See what is missing: crema show --table quality.",
       Also{&kIncompleteCoverage, &kMuchUnmeasured, &kEnoughCoreSeconds}},
      {"healthy", "time", Threshold(From(BandOf(KeyFigure::kCpuEfficiency).good), kNeverBad, Severity::kGood),
       "cpu_efficiency {0}, enough was measured to judge, and no other verdict is a warning or bad",
       "from there on the key figure is good, too, and computing centres ask for as much", ""},
  };
  return table;
}

const VerdictRule* FindRule(std::string_view id) { return FindBy(VerdictTable(), &VerdictRule::id, id); }

const VerdictRule& RuleOf(std::string_view id) {
  if (const VerdictRule* rule = FindRule(id)) return *rule;
  std::abort();  // an id that is not in the table is a mistake in a judge, which every test of it would meet
}

std::string ConditionText(const VerdictRule& rule) {
  fmt::dynamic_format_arg_store<fmt::format_context> bounds;
  bounds.push_back(ToString(rule.threshold));
  bounds.push_back(rule.threshold.bad);
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

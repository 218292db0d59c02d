// docs/metrics.md, "Workers and the process tree".
#include "collector/measurement/catalog.h"

namespace crema {
namespace {

constexpr std::string_view kNoWorkers = "no process recorded a chunk";
constexpr std::string_view kNoSamples =
    "no worker's memory was sampled (the sampler is off, or the run was shorter than its interval)";
constexpr std::string_view kNoLimit = "no worker with a memory limit was sampled";
constexpr std::string_view kNoCounts = "no process recorded what the kernel counted of it";
constexpr std::string_view kNoTree = "no process tree was sampled: the command was not run under `crema run`";

constexpr std::string_view kNoGpu =
    "no process of a tree that `crema run` sampled used a GPU, as far as NVIDIA's driver (NVML) reports it";

constexpr MetricEntry kEntries[] = {
    {"avg_workers", "time_avg_workers", "count", "Workers", "Exact time average of live workers over the run.",
     kNoWorkers},
    {"peak_workers", "", "count", "Most workers", "Most workers alive at once.", kNoWorkers},
    {"mean_sampled_workers", "", "count", "Workers per sample", "Plain mean of the workers seen at each sample.",
     "no worker was sampled"},
    {"core_seconds", "", "core s", "Core seconds", "Integral of live workers' cores over the run.", kNoWorkers},
    {"total_cores", "", "cores", "Cores", "core_seconds / wall_time.", kNoWorkers},
    {"peak_cores", "", "cores", "Most cores", "Most cores of live workers at once.", kNoWorkers},
    {"cores_per_worker", "", "cores", "Cores per worker", "core_seconds / worker seconds.", kNoWorkers},
    {"allocated_cores", "", "cores", "Allocated cores",
     "CPUs that the run was granted: by the batch system, else by the cgroup's quota, else by affinity. Each host "
     "counts once. run.allocated_cores_source says which.",
     "no process said how many CPUs it was granted"},
    {"peak_memory_bytes", "", "B", "Peak memory of a worker",
     "Largest resident memory of one worker: the kernel's peak where that is known, at least the largest sample; "
     "without both, the largest peak that a batch system counted for a job.",
     kNoSamples},
    {"peak_total_memory_bytes", "", "B", "Peak memory of all workers",
     "Largest sum over live workers at one instant, at least the peak of one. Under `crema run` it is at most "
     "tree_peak_memory_bytes, which "
     "counts a shared page once.",
     kNoSamples},
    {"avg_memory_per_worker_bytes", "", "B", "Memory per worker",
     "Integral of the workers' memory over time, divided by the worker seconds since the first sample of each. A "
     "sample holds until the next one.",
     kNoSamples},
    {"memory_utilization_avg", "", "ratio", "Memory used of its limit",
     "Integral of the memory divided by the integral of the limit, of workers with a limit.", kNoLimit},
    {"memory_utilization_min", "", "ratio", "Memory used of its limit, least", "Least sample of memory over limit.",
     kNoLimit},
    {"memory_utilization_max", "", "ratio", "Memory used of its limit, most",
     "Largest memory over limit, of all samples and of the kernel's peaks.", kNoLimit},
    {"worker_cpu_utilization_avg", "", "ratio", "CPU of workers",
     "CPU time of the workers' processes divided by the time of their cores, between the first and the last sample of "
     "each.",
     "no worker's CPU time was sampled twice"},
    {"process_read_calls", "", "count", "Read calls",
     "Read calls (read, pread, readv) of processes that recorded chunks, without reads through mapped files.",
     kNoCounts},
    {"process_read_call_bytes", "", "B", "Read by calls", "What these calls returned, also from the page cache.",
     kNoCounts},
    {"throttled_time", "", "s", "Throttled",
     "Time in which the CPU quota of a cgroup held back the threads of processes that recorded, added up over threads; "
     "of processes on one host the largest.",
     "no process had a CPU quota, or nobody read what it cost"},
    {"task_slot_utilization_avg", "", "ratio", "Task slots used",
     "Cores that executing tasks were given (one each where the engine does not tell), divided by the workers' "
     "threads.",
     "no engine's tasks were observed"},
    {"gil_contention", "", "ratio", "GIL contention",
     "Share of the time in which Python's global interpreter lock was not free, as gilknocker reports in Dask's "
     "workers. "
     "It is the mean over times in which a worker executed two tasks or more, weighted by the number of tasks.",
     "no worker reported it while it executed two tasks (gilknocker is not installed there, or Dask was not asked)"},
    {"tree_cpu_user", "", "s", "CPU of the process tree, user", "User CPU time of all processes of the command.",
     kNoTree},
    {"tree_cpu_system", "", "s", "CPU of the process tree, system", "System CPU time of all processes of the command.",
     kNoTree},
    {"job_cpu_efficiency", "", "ratio", "Job CPU efficiency",
     "(tree_cpu_user + tree_cpu_system) / (wall_time x allocated_cores): what a batch system reports. Without a "
     "process tree: the CPU time that the batch system counted, over the core-seconds of the jobs for which it did.",
     kNoTree},
    {"cpu_outside_chunks_share", "", "ratio", "CPU outside chunks",
     "1 - chunk_cpu_time / (CPU time of the process tree).", kNoTree},
    {"process_peak_rss_bytes", "", "B", "Peak memory of a process",
     "Largest resident memory of one process. The kernel keeps it, so no short peak is missed.", kNoTree},
    {"tree_peak_rss_bytes", "", "B", "Peak memory of the process tree",
     "Largest sum of resident memory over the tree at one instant.", kNoTree},
    {"tree_peak_pss_bytes", "", "B", "Peak proportional memory of the tree",
     "Largest sum of proportional memory at one instant: a shared page is divided among the processes that share it.",
     kNoTree},
    {"tree_peak_memory_bytes", "", "B", "Peak memory of the whole tree",
     "The larger one of tree_peak_pss_bytes, in which shared pages count once, and process_peak_rss_bytes; "
     "tree_peak_rss_bytes where the proportional memory is not known.",
     kNoTree},
    {"tree_peak_swap_bytes", "", "B", "Peak swap of the tree", "Largest sum of swapped memory at one instant.",
     kNoTree},
    {"tree_read_bytes", "", "B", "Read from devices", "Bytes that block devices delivered to the tree.", kNoTree},
    {"tree_write_bytes", "", "B", "Written to devices", "Bytes that the tree sent to block devices.", kNoTree},
    {"tree_rchar_bytes", "", "B", "Read by system calls", "Bytes that read calls of the tree returned.", kNoTree},
    {"tree_wchar_bytes", "", "B", "Written by system calls", "Bytes that write calls of the tree took.", kNoTree},
    {"max_processes", "", "count", "Most processes", "Most processes of the tree at once.", kNoTree},
    {"max_threads", "", "count", "Most threads", "Most threads of the tree at once.", kNoTree},
    {"major_faults", "", "count", "Major page faults", "Page faults of the tree that needed I/O.", kNoTree},
    {"context_switches_involuntary", "", "count", "Involuntary context switches",
     "Times a thread of the tree lost its CPU to another.", kNoTree},
    {"net_rx_bytes", "", "B", "Network received",
     "Bytes received in the network namespace (host-wide where run.net_host_wide says so).", kNoTree},
    {"net_tx_bytes", "", "B", "Network sent",
     "Bytes sent from the network namespace (host-wide where run.net_host_wide says so).", kNoTree},
    {"gpu_utilization", "", "ratio", "GPU utilisation",
     "Share of the time in which some kernel ran, anybody's: mean over samples in which the tree used the GPU, and "
     "over such GPUs (NVML).",
     kNoGpu},
    {"gpu_utilization_of_others", "", "ratio", "GPU used by others",
     "Utilisation of the processors of these GPUs by processes that are not of the tree, on average (NVML, every 10 "
     "s).",
     "the run was shorter than 10 s, used no GPU, or the driver does not report the utilisation of processes"},
    {"gpu_peak_memory_bytes", "", "B", "Peak GPU memory", "Most memory of the tree on each GPU, added up (NVML).",
     kNoGpu},
    {"gpu_energy", "", "J", "GPU energy",
     "Energy that these GPUs used during the run, for whomever they worked (NVML).", kNoGpu},
};

}  // namespace

absl::Span<const MetricEntry> WorkerMetrics() { return kEntries; }

}  // namespace crema

#include "collector/measurement/breakdowns.h"

namespace crema {
namespace {

constexpr Column kPhaseColumns[] = {
    ColumnOf<&PhaseRow::phase>(Kind::kText, 0, "preprocess, process, reduce or postprocess"),
    ColumnOf<&PhaseRow::wall_time>("wall time", Kind::kDuration, 0, "length of the union of its spans, or tasks"),
    ColumnOf<&PhaseRow::task_seconds>("task time", Kind::kDuration, 1,
                                      "of the engine's tasks in it; null where no engine was observed"),
    ColumnOf<&PhaseRow::start>("from", Kind::kDuration, 2, "first begin, since the run's start"),
    ColumnOf<&PhaseRow::stop>("until", Kind::kDuration, 2, "last end, since the run's start"),
};

constexpr Column kBreakdownName[] = {
    ColumnOf<&BreakdownRow::name>(Kind::kText, 0, "the dataset, file, host or thread"),
};

/// For a row that is a breakdown, and may have more.
template <class Row>
constexpr Column kBreakdownSums[] = {
    ColumnOf<&Row::chunks, Row>(Kind::kCount, 0, "chunks whose result is in the row").Compared(),
    ColumnOf<&Row::attempts, Row>(Kind::kCount, 7, "attempts with any status").Compared(),
    ColumnOf<&Row::failed, Row>(Kind::kCount, 3, "attempts that failed").Compared(),
    ColumnOf<&Row::lost, Row>(Kind::kCount, 3, "attempts that began and whose process ended or vanished").Compared(),
    ColumnOf<&Row::events, Row>(Kind::kCount, 1, "of results").Compared(1),
    ColumnOf<&Row::bytes_read, Row>("read", Kind::kData, 4, "of ended attempts, as stored").Compared(),
    ColumnOf<&Row::bytes_uncompressed, Row>("uncompressed", Kind::kData, 9, "of ended attempts, after decompression"),
    ColumnOf<&Row::duration_sum, Row>("busy", Kind::kDuration, 0, "wall time of ended attempts").Compared(),
    ColumnOf<&Row::duration_mean, Row>("mean", Kind::kDuration, 8, "of ended attempts, as the next three"),
    ColumnOf<&Row::duration_p50, Row>(
        "p50", Kind::kDuration, 5,
        "median: the value of rank ceil(p n); of attempts that have a line (`quality.summed_chunks`)")
        .Compared(),
    ColumnOf<&Row::duration_p95, Row>("p95", Kind::kDuration, 5, "95 % quantile").Compared(),
    ColumnOf<&Row::duration_max, Row>("max", Kind::kDuration, 8, "longest").Compared(),
    ColumnOf<&Row::cpu_sum, Row>("cpu", Kind::kDuration, 2, "its part of `chunk_cpu_time`").Compared(),
    ColumnOf<&Row::cpu_wait_sum, Row>("cpu wait", Kind::kDuration, 4, "run delay of their owners").Compared(),
    ColumnOf<&Row::blocked_sum, Row>("blocked", Kind::kDuration, 4, "time in which their owners were blocked")
        .Compared(),
    ColumnOf<&Row::system_cpu_sum, Row>("kernel CPU", Kind::kDuration, 6,
                                        "of their owners, the CPU time in the kernel; null where no attempt recorded "
                                        "it, as the next two")
        .OptIn(),
    FieldOf<&Row::minor_faults, Row>(Kind::kCount,
                                     "page faults of their owners that needed no I/O: new memory, mostly"),
    ColumnOf<&Row::major_faults, Row>("major faults", Kind::kCount, 9,
                                      "page faults of their owners that waited for storage")
        .OptIn(),
    ColumnOf<&Row::event_rate, Row>("rate", Kind::kRate, 3, "events / duration_sum").Compared(),
    ColumnOf<&Row::events_per_cpu_second, Row>("per cpu s", Kind::kRate, 9, "events / cpu_sum").Compared(),
    ColumnOf<&Row::rss_delta_mean, Row>("RSS delta", Kind::kMemory, 10,
                                        "mean change of resident memory over an ended attempt"),
};

constexpr Column kGpuSums[] = {
    ColumnOf<&BreakdownRow::gpu_seconds>(
        "GPU", Kind::kDuration, 5,
        "of datasets: times of kernels that its chunks launched, on the devices, added up; null where they were not "
        "counted (`crema run --gpu`) and in other tables, as the next four")
        .OptIn(),
    ColumnOf<&BreakdownRow::gpu_launches>("kernels", Kind::kCount, 8, "these kernels").OptIn(),
    FieldOf<&BreakdownRow::gpu_copy_seconds>(Kind::kDuration, "copies and fills on the devices"),
    FieldOf<&BreakdownRow::gpu_to_device_bytes>(Kind::kData, "copied from the host to the devices"),
    FieldOf<&BreakdownRow::gpu_from_device_bytes>(Kind::kData, "copied from the devices to the host"),
};

constexpr Column kWorkerName[] = {
    ColumnOf<&WorkerRow::name, WorkerRow>("worker", Kind::kText, 0, "the engine's name for it, else its process")
        .At(-3),
};

constexpr Column kLifeColumns[] = {
    FieldOf<&WorkerRow::process>(Kind::kText, "`<host>:<pid>`").CsvLast(),
    ColumnOf<&WorkerRow::start>("from", Kind::kDuration, 6, "since the run's start").At(-1),
    ColumnOf<&WorkerRow::stop>("until", Kind::kDuration, 6, "since the run's start").At(-1),
    FieldOf<&WorkerRow::first_chunk>(Kind::kDuration, "begin of its first chunk, since the run's start"),
    FieldOf<&WorkerRow::last_chunk>(Kind::kDuration, "end of the last chunk that ended, since the run's start"),
    ColumnOf<&WorkerRow::cores>(Kind::kNumber, 2,
                                "declared cores; else the most lanes that it had at once, but no more than it was "
                                "allowed or its batch system gave it; `run.cores_source` says which")
        .In("cores")
        .At(-2),
    ColumnOf<&WorkerRow::state>(
        Kind::kText, 5,
        "ended, running, lost, or unreported: nothing says how its process ended, and no chunk of it was open")
        .At(-2),
    ColumnOf<&WorkerRow::peak_memory_bytes>("peak memory", Kind::kMemory, 2,
                                            "the kernel's peak of its resident memory, where that is known; at least "
                                            "the largest sample")
        .At(-1),
    ColumnOf<&WorkerRow::anonymous_memory_bytes>(
        "allocated", Kind::kMemory, 7,
        "largest sample of its anonymous memory: what the program allocated; null where nobody read it, as the next")
        .OptIn()
        .At(-1),
    ColumnOf<&WorkerRow::file_memory_bytes>(
        "mapped", Kind::kMemory, 8,
        "largest sample of its resident pages of files and shared memory: others may use them, too")
        .OptIn()
        .At(-1),
    ColumnOf<&WorkerRow::memory_limit_bytes>("limit", Kind::kMemory, 6, "the limit in force").At(-1),
    FieldOf<&WorkerRow::allowed_cores>(Kind::kNumber,
                                       "what its affinity and the CPU quota of its cgroup allowed it, the smaller")
        .In("cores"),
    ColumnOf<&WorkerRow::throttled>(Kind::kDuration, 7,
                                    "time in which this quota held back threads of its cgroup, added up; null: there "
                                    "is no quota, or nobody read it")
        .OptIn(),
    FieldOf<&WorkerRow::disk_bytes>(Kind::kMemory,
                                    "disk space that an engine's worker offers to its tasks; null: not reported"),
    ColumnOf<&WorkerRow::left_reason>(
        "left because", Kind::kText, 4,
        "why an engine's worker left, in the engine's words, or what the kernel said of a process that vanished under "
        "`crema run`; null: it did not leave, or nothing reported why")
        .OptIn(),
    ColumnOf<&WorkerRow::engine_cpu>(
        "engine cpu", Kind::kDuration, 4,
        "CPU time that its batch system counted; null: it did not count it, as the next two")
        .OptIn(),
    ColumnOf<&WorkerRow::engine_peak_memory_bytes>("engine memory", Kind::kMemory, 2,
                                                   "the most memory that its batch system saw it use")
        .OptIn(),
    FieldOf<&WorkerRow::time_limit>(Kind::kDuration, "for how long its batch system let it run"),
};

constexpr Column kBudgetColumns[] = {
    ColumnOf<&BudgetRow::part>(Kind::kText, 0, "see the parts below"),
    ColumnOf<&BudgetRow::group>(Kind::kText, 1, "the heading under which it is shown"),
    ColumnOf<&BudgetRow::core_seconds>("core-seconds", Kind::kDuration, 0, "the rows add up to the metric core_seconds")
        .In("core s"),
    ColumnOf<&BudgetRow::share>(Kind::kShare, 0, "of the sum of the rows"),
};

constexpr Column kProcessUseColumns[] = {
    ColumnOf<&ProcessUseRow::name>("process", Kind::kText, 0, "the kernel's name of it, at most 15 bytes").At(1),
    ColumnOf<&ProcessUseRow::host>(Kind::kText, 5, "where it ran").At(2),
    ColumnOf<&ProcessUseRow::pid>(Kind::kText, 1, "its id there").At(3),
    ColumnOf<&ProcessUseRow::start>("from", Kind::kDuration, 3, "since the run's start").At(7),
    ColumnOf<&ProcessUseRow::stop>("until", Kind::kDuration, 3, "since the run's start: its last sample").At(8),
    ColumnOf<&ProcessUseRow::cpu>("CPU time", Kind::kDuration, 0, "CPU time, user and system, until its last sample")
        .At(4),
    ColumnOf<&ProcessUseRow::peak_memory_bytes>("peak memory", Kind::kMemory, 0,
                                                "the kernel's peak of its resident memory until its last sample")
        .At(5),
    ColumnOf<&ProcessUseRow::anonymous_memory_bytes>(
        "allocated", Kind::kMemory, 4,
        "largest sample of its anonymous memory: what the program allocated; null where nobody read it, as the next")
        .OptIn()
        .At(5),
    ColumnOf<&ProcessUseRow::file_memory_bytes>(
        "mapped", Kind::kMemory, 5,
        "largest sample of its resident pages of files and shared memory: other processes may use them, too")
        .OptIn()
        .At(5),
    ColumnOf<&ProcessUseRow::cpu_wait>("cpu wait", Kind::kDuration, 4,
                                       "time its threads were ready without a CPU, until its last sample")
        .OptIn()
        .At(4),
    ColumnOf<&ProcessUseRow::threads>(Kind::kCount, 2, "most threads in a sample").At(6),
};

}  // namespace

absl::Span<const Column> PhaseRow::Columns() { return kPhaseColumns; }
absl::Span<const Column> BreakdownRow::Columns() {
  static constexpr auto kColumns = Joined<Column>(kBreakdownName, kBreakdownSums<BreakdownRow>, kGpuSums);
  return kColumns;
}
absl::Span<const Column> WorkerRow::Columns() {
  static constexpr auto kColumns = Joined<Column>(kWorkerName, kBreakdownSums<WorkerRow>, kLifeColumns);
  return kColumns;
}
absl::Span<const Column> BudgetRow::Columns() { return kBudgetColumns; }
absl::Span<const Column> ProcessUseRow::Columns() { return kProcessUseColumns; }

}  // namespace crema

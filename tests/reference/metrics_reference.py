"""A second implementation of the metrics, slow and obvious: the definitions of docs/metrics.md, from record logs alone.

It shares no code with the collector. Times are exact integers of ns and sums exact fractions up to the last division,
so a difference comes from the program, or from another reading of the definition. Where the definition leaves a choice,
a comment that begins with "Reading:" says which.
"""

import itertools
from fractions import Fraction

import reference_budget
import reference_tables
from reference_chunks import (
    blocked_ns,
    chunk_cpu_ns,
    cpu_wait_ns,
    event_rate,
    helper_cpu_ns,
    joined_ns,
    known,
    lane_blocked_ns,
    lane_cpu_wait_ns,
    lane_time_ns,
    per_event,
    ratio,
    rss_delta,
    seconds,
    sum_of,
    total,
)
from reference_nested import take_inner_off
from reference_records import attempts_by_chunk, judged_by_ends
from reference_statistics import (
    distribution,
    load_imbalance,
    most_at_once,
    rss_slope,
    straggler_count,
    straggler_rows,
    value_at,
)
from reference_workers import worker_metrics


def run_bounds(recorded):
    """First process's start to the last one's end; no engine's workers and no command are in record logs alone."""
    return min(process.start for process in recorded.processes), max(process.stop for process in recorded.processes)


def is_retried(tries):
    """Attempted again after a failed or lost attempt: by the order in which the attempts began."""
    last = max(attempt.start for attempt in tries)
    return any(attempt.status in ("failed", "lost") and attempt.start < last for attempt in tries)


def count_metrics(recorded):
    chunks = list(attempts_by_chunk(recorded.attempts).values())
    statuses = [attempt.status for attempt in recorded.attempts + recorded.sums for _ in range(attempt.weight)]
    # It is not known which summed attempts are at the same chunk.
    if recorded.sums:
        in_vain = any(status != "ok" for status in statuses)
        of_chunks = {"num_retried_chunks": None if in_vain else 0, "num_unfinished_chunks": None if in_vain else 0}
        of_chunks["num_recomputed_chunks"] = None
    else:
        of_chunks = {
            "num_retried_chunks": sum(is_retried(tries) for tries in chunks),
            "num_recomputed_chunks": sum([attempt.status for attempt in tries].count("ok") > 1 for tries in chunks),
            "num_unfinished_chunks": sum(
                all(attempt.status not in ("ok", "unrecorded") for attempt in tries) for tries in chunks
            ),
        }
    return {
        "num_chunks": count(recorded.all_results),
        "num_attempts": len(statuses),
        "num_failed_attempts": statuses.count("failed"),
        "num_lost_attempts": statuses.count("lost"),
        **of_chunks,
    }


def count(attempts):
    return sum(attempt.weight for attempt in attempts)


def compression_ratio(recorded):
    both = [a for a in recorded.all_ended if None not in (a.get("bytes_read"), a.get("bytes_uncompressed"))]
    return ratio(total(both, "bytes_uncompressed"), total(both, "bytes_read"))


def run_metrics(recorded):
    start, stop = run_bounds(recorded)
    wall = seconds(stop - start)
    busy = seconds(sum(attempt.duration for attempt in recorded.all_ended))
    lanes = seconds(sum(map(lane_time_ns, recorded.all_ended)))
    cpu = seconds(sum_of(chunk_cpu_ns, recorded.all_ended))
    with_cpu = [attempt for attempt in recorded.all_ended if chunk_cpu_ns(attempt) is not None]
    events = total(recorded.all_results, "events")
    read = total(recorded.all_ended, "bytes_read")
    return {
        "wall_time": wall,
        "busy_time": busy,
        "lane_time": lanes,
        "chunk_cpu_time": cpu,
        "helper_cpu_time": seconds(sum_of(helper_cpu_ns, with_cpu)),
        **count_metrics(recorded),
        "busy_time_per_chunk": ratio(busy, count(recorded.all_results)),
        "busy_time_per_attempt": ratio(busy, count(recorded.all_ended)),
        "total_events": events,
        "bytes_read_chunks": read,
        "total_bytes_read_coffea": None,
        "bytes_read_compressed": read,
        "bytes_read_uncompressed": total(recorded.all_ended, "bytes_uncompressed"),
        "compression_ratio": compression_ratio(recorded),
        "overall_rate_gbps": ratio(read, wall, Fraction(8, 10**9)),
        "overall_rate_mbs": ratio(read, wall, Fraction(1, 10**6)),
        "event_rate_wall_khz": ratio(events, wall, Fraction(1, 1000)),
        "event_rate_agg_khz": ratio(events, busy, Fraction(1, 1000)),
        "event_rate_cpu_khz": ratio(events, cpu, Fraction(1, 1000)),
        "speedup_factor": ratio(lanes, wall),
        "cpu_speedup": ratio(cpu, wall),
        **column_metrics(recorded),
    }


def columns_of(attempts):
    return sorted({column for attempt in attempts for column in attempt.get("columns") or []})


def column_metrics(recorded):
    columns = columns_of(recorded.ended)
    by_file = {}
    for line in recorded.lines("file"):
        by_file.setdefault(line["file"], []).append(line)
    branch_shares, byte_shares = [], []
    for name, lines in by_file.items():
        attempts = [attempt for attempt in recorded.all_ended if attempt.get("file") == name]
        branches = max(known(line.get("branches") for line in lines), default=None)
        stored = max(known(line.get("compressed_bytes") for line in lines), default=None)
        branch_shares.append(ratio(len(columns_of(attempts)) or None, branches))
        byte_shares.append(ratio(total(attempts, "bytes_read"), stored))
    return {
        "columns": columns or None,
        "num_columns_read": len(columns) or None,
        "branches_read_share": mean(known(branch_shares)),
        "bytes_read_share": mean(known(byte_shares)),
    }


def mean(values):
    return ratio(sum(values), len(values))


DISTRIBUTIONS = {
    "chunk_duration": lambda attempt: seconds(attempt.duration),
    "chunk_cpu": lambda attempt: seconds(chunk_cpu_ns(attempt)),
    "chunk_cpu_wait": lambda attempt: seconds(cpu_wait_ns(attempt)),
    "chunk_blocked": lambda attempt: seconds(blocked_ns(attempt)),
    "chunk_events": lambda attempt: attempt.get("events"),
    "chunk_time_per_event": lambda attempt: per_event(seconds(attempt.duration), attempt),
    "chunk_rss_delta": rss_delta,
    "chunk_rss_delta_per_event": lambda attempt: per_event(rss_delta(attempt), attempt),
    "chunk_event_rate": event_rate,
}


def distribution_metrics(recorded):
    metrics = {}
    for name, value_of in DISTRIBUTIONS.items():
        values = known(value_of(attempt) for attempt in recorded.ok)
        metrics.update({f"{name}_{part}": value for part, value in distribution(values).items()})
    return metrics


def missing_values(recorded):
    missing = {name: sum(value_of(a) is None for a in recorded.ok) for name, value_of in DISTRIBUTIONS.items()}
    return {name: count for name, count in missing.items() if count}


def oversized_chunks(recorded):
    """Results with over 3 times the median events of their dataset and pass."""
    by_pass = {}
    for attempt in recorded.results:
        if attempt.get("events") is not None:
            by_pass.setdefault((attempt.get("dataset"), attempt.get("pass")), []).append(attempt.get("events"))
    if not by_pass:
        return None
    return sum(value > 3 * value_at(50, sizes) for sizes in by_pass.values() for value in sizes)


def chunk_metrics(recorded):
    slope = rss_slope(recorded) or (None, None, None)
    return {
        "chunk_cpu_wait": seconds(sum_of(cpu_wait_ns, recorded.all_ended)),
        "lane_cpu_wait": seconds(sum_of(lane_cpu_wait_ns, recorded.all_ended)),
        "system_cpu_time": seconds(total(recorded.all_ended, "system_cpu_ns")),
        "minor_faults": total(recorded.all_ended, "minor_faults"),
        "chunk_major_faults": total(recorded.all_ended, "major_faults"),
        "chunk_joined": seconds(sum_of(joined_ns, recorded.all_ended)),
        "chunk_blocked": seconds(sum_of(blocked_ns, recorded.all_ended)),
        "straggler_chunks": straggler_count(recorded),
        "oversized_chunks": oversized_chunks(recorded),
        "rss_slope": slope[0],
        "rss_slope_low": slope[1],
        "rss_slope_high": slope[2],
        "load_imbalance": None if recorded.sums else load_imbalance(recorded),
        "max_open_chunks": None
        if recorded.sums
        else max(most_at_once([(a.start, a.last_moment) for a in process.attempts]) for process in recorded.workers),
    }


def well_known(recorded, name, unit):
    """Sum of a metric of crema's own names (docs/metrics.md, "Chunks, sections and reading")."""
    rows = [row for attempt in recorded.all_ended for row in attempt.get("metrics") or []]
    sums = known(row.get("sum") for row in rows if row["name"] == name and (row.get("unit") or "") == unit)
    return sum(map(Fraction, sums)) if sums else None


def reading_metrics(recorded, lanes):
    read = well_known(recorded, "bytes_read", "B")
    unzip_wall = well_known(recorded, "unzip_wall", "s")
    return {
        "read_rate_mbs": ratio(read, well_known(recorded, "read_wall", "s"), Fraction(1, 10**6)),
        "bytes_per_read": ratio(read, well_known(recorded, "read_calls", "count")),
        "read_overhead_share": ratio(well_known(recorded, "read_overhead_bytes", "B"), read),
        "decompression_rate_mbs": ratio(well_known(recorded, "unzip_bytes", "B"), unzip_wall, Fraction(1, 10**6)),
        "decompression_share": ratio(unzip_wall, lanes),
    }


def last_overhead_ns(log):
    return ([line["overhead_ns"] for line in log.lines if line.get("overhead_ns") is not None] or [None])[-1]


def seconds_with_workers(recorded):
    times = sorted({time for worker in recorded.workers for time in (worker.start, worker.stop)})
    return seconds(
        sum(
            after - before
            for before, after in itertools.pairwise(times)
            if any(worker.start <= before < worker.stop for worker in recorded.workers)
        )
    )


def efficiency_metrics(recorded, metrics, budget):
    core_seconds = metrics["core_seconds"]
    lanes, cpu = metrics["lane_time"], metrics["chunk_cpu_time"]
    blocked = seconds(sum_of(lane_blocked_ns, recorded.all_ended))
    occupied = seconds(budget.occupied_ns)
    overheads = known(last_overhead_ns(log) for log in recorded.logs)
    return {
        "cpu_efficiency": ratio(cpu, core_seconds),
        "core_efficiency": ratio(occupied, core_seconds),
        "ideal_wall_time": ratio(occupied, core_seconds, seconds_with_workers(recorded)),
        "event_rate_core_hz": ratio(metrics["total_events"], core_seconds),
        "event_rate_core_khz": ratio(metrics["total_events"], core_seconds, Fraction(1, 1000)),
        "io_overhead_pct": ratio(blocked, lanes, 100),
        "io_overhead": ratio(blocked, lanes),
        "balance": budget.balance,
        "instrumentation_overhead": ratio(seconds(sum(overheads)) if overheads else None, lanes),
        "tail_time": seconds(budget.tail_ns),
        "oversubscribed_core_seconds": seconds(budget.oversubscribed_ns),
    }


def refuse_impossible(metrics):
    """A contradiction that clocks do not explain makes a figure null; one that they explain is moved to its limit
    (docs/metrics.md, "Rules")."""
    shares = (
        *("cpu_efficiency", "core_efficiency", "balance", "io_overhead", "section_coverage"),
        *("decompression_share", "instrumentation_overhead"),
    )
    limits = dict.fromkeys(shares, 1)
    limits |= {"io_overhead_pct": 100, "ideal_wall_time": metrics["wall_time"], "tail_time": metrics["wall_time"]}
    for key, most in limits.items():
        if metrics[key] is not None and most is not None and not 0 <= metrics[key] <= most:
            metrics[key] = most if 0 <= metrics[key] <= most * Fraction(101, 100) else None


ALIASES = {
    "wall_time": "elapsed_time_seconds",
    "busy_time": "total_cpu_time",
    "busy_time_per_chunk": "avg_cpu_time_per_chunk",
    "total_bytes_read_coffea": "total_bytes_read",
    "bytes_read_uncompressed": "total_bytes_uncompressed",
    "overall_rate_gbps": "data_rate_gbps",
    "event_rate_wall_khz": "event_rate_elapsed_khz",
    "event_rate_agg_khz": "event_rate_cpu_total_khz",
    "avg_workers": "time_avg_workers",
}


def all_metrics(recorded):
    budget = reference_budget.Budget(recorded, run_bounds(recorded))
    metrics = {
        **run_metrics(recorded),
        **worker_metrics(recorded, run_bounds(recorded)),
        **distribution_metrics(recorded),
        **chunk_metrics(recorded),
    }
    metrics["section_coverage"] = reference_tables.section_coverage(recorded)
    metrics.update(reading_metrics(recorded, metrics["lane_time"]))
    metrics.update(efficiency_metrics(recorded, metrics, budget))
    refuse_impossible(metrics)
    metrics.update({alias: metrics[key] for key, alias in ALIASES.items()})
    return metrics


def quality(recorded):
    states = [process.state for process in recorded.processes]
    offsets = known(line.get("realtime_offset_ns") for line in recorded.lines("sample") + recorded.lines("end"))
    return {
        "records_read": sum(len(log.lines) for log in recorded.logs),
        "records_malformed": sum(log.malformed for log in recorded.logs),
        "records_torn": sum(log.torn for log in recorded.logs),
        "records_unknown": sum(log.unknown for log in recorded.logs),
        "records_dropped": sum(line.get("dropped") or 0 for line in recorded.lines("end")),
        "records_lost": sum(map(records_lost, recorded.logs)),
        "guards_misused": sum(line.get("misused") or 0 for line in recorded.lines("end")),
        **dropped_by_cause(recorded),
        "tasks_left_out": sum(line.get("tasks_left_out") or 0 for line in recorded.lines("end")),
        "summed_chunks": count(recorded.sums),
        "sections_dropped": total(recorded.all_ended, "sections_dropped") or 0,
        "tasks_read": 0,
        "chunks_without_events": sum(without_events(attempt) for attempt in recorded.all_results),
        "processes_ended": states.count("ended"),
        "processes_running": states.count("running"),
        "processes_lost": states.count("lost"),
        "processes_unreported": states.count("unreported"),
        # Reading: if no chunk has a result, none of the announced events are in the records.
        "event_coverage": ratio(
            total(recorded.all_results, "events") if recorded.all_results else 0, expected_events(recorded)
        ),
        "clock_step_max_s": seconds(max(map(abs, offsets), default=None)),
        "sampling_gap_max_s": seconds(max(sampling_gaps(recorded), default=None)),
        "missing_values": missing_values(recorded),
    }


def dropped_by_cause(recorded):
    """Null if a log dropped something for other reasons than misuse, and does not distinguish these reasons."""
    ends = recorded.lines("end")
    causes = ("unwritten", "outside_chunks")
    without_causes = [line for line in ends if any(line.get(cause) is None for cause in causes)]
    is_known = all((line.get("dropped") or 0) <= (line.get("misused") or 0) for line in without_causes)
    unwritten, outside = (sum(line.get(cause) or 0 for line in ends) if is_known else None for cause in causes)
    return {"records_unwritten": unwritten, "values_outside_chunks": outside}


def records_lost(log):
    """Chunks that ended and have no line. Their thread or the log's `end` shows that they ended."""
    chunks = [line for line in log.lines if line["type"] == "chunk"]
    begins = {line["chunk"]: line for line in log.lines if line["type"] == "begin"}
    ended = {line["chunk"] for line in chunks}
    ended |= {number for line in log.lines if line["type"] == "sums" for number in line.get("begun") or []}
    unended = [line for number, line in begins.items() if number not in ended]
    unrecorded = sum(has_ended for _, has_ended in judged_by_ends(unended, chunks + list(begins.values()), log))
    ends = [line for line in log.lines if line["type"] == "end" and line.get("chunks") is not None]
    ended = [line["chunks"] - (line.get("summed_chunks") or 0) for line in ends]
    return max(unrecorded, max(ended, default=0) - len(chunks))


def without_events(attempt):
    with_events = attempt.get("chunks_with_events")
    return attempt.get("events") is None if with_events is None else attempt.weight - with_events


def expected_events(recorded):
    """The events that all runs together will process."""
    runs = {}
    for process in recorded.processes:
        expected = (process.line.get("attributes") or {}).get("total_events")
        if expected is not None:
            runs[process.run] = max(runs.get(process.run, 0), expected)
    return sum(runs.values()) if runs else None


def sampling_gaps(recorded):
    gaps = []
    for process in recorded.processes:
        times = sorted(line["time_ns"] for line in process.of_type("sample"))
        gaps += [later - earlier for earlier, later in zip(times, times[1:])]
    return gaps


def measure(recorded):
    """The expected output of `crema collect`: the parts of measurement.json that come from record logs."""
    take_inner_off(recorded.processes)
    bounds = run_bounds(recorded)
    return {
        "metrics": all_metrics(recorded),
        "phases": reference_tables.phases(recorded, bounds),
        **reference_tables.breakdowns(recorded, bounds),
        "sections": reference_tables.sections(recorded),
        "process_sections": reference_tables.process_sections(recorded),
        "memory_sections": reference_tables.memory_sections(recorded),
        "custom_metrics": reference_tables.custom_metrics(recorded),
        "cuts": reference_tables.cuts(recorded),
        "fine": reference_tables.fine(recorded),
        "budget": reference_budget.Budget(recorded, bounds).rows(),
        "stragglers": straggler_rows(recorded),
        "quality": quality(recorded),
    }

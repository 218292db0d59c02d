"""The tables of docs/metrics.md that record logs give, row by row."""

import itertools
from fractions import Fraction

from reference_chunks import (
    blocked_ns,
    chunk_cpu_ns,
    cpu_wait_ns,
    known,
    ratio,
    rss_delta,
    seconds,
    sum_of,
    total,
)
from reference_records import grouped
from reference_statistics import value_at
from reference_workers import cores_of, limit_at, peak_memory

PHASES = ("preprocess", "process", "reduce", "postprocess")
# The row of attempts that did not say their dataset or file.
NO_NAME = "(none)"


def quantile(percent, values):
    return value_at(percent, values) if values else None


def union_length(intervals):
    length, reached = 0, None
    for start, stop in sorted(intervals):
        begin = start if reached is None else max(start, reached)
        length += max(0, stop - begin)
        reached = stop if reached is None else max(reached, stop)
    return length


def phases(recorded, bounds):
    rows = []
    for name in PHASES:
        spans = [(span["start_ns"], span["stop_ns"]) for span in recorded.lines("span") if span["name"] == name]
        if spans:
            rows.append(
                {
                    "phase": name,
                    "wall_time": seconds(union_length(spans)),
                    "task_seconds": None,
                    "start": seconds(min(start for start, _ in spans) - bounds[0]),
                    "stop": seconds(max(stop for _, stop in spans) - bounds[0]),
                }
            )
    return rows


def is_summed(attempt):
    return attempt.get("type") == "sums"


def breakdown_row(name, attempts):
    ended = [attempt for attempt in attempts if attempt.ended]
    results = [attempt for attempt in attempts if attempt.is_result]
    statuses = [attempt.status for attempt in attempts for _ in range(attempt.weight)]
    durations = [attempt.duration for attempt in ended]
    weights = sum(attempt.weight for attempt in ended)
    single = [attempt.duration for attempt in ended if not is_summed(attempt)]
    longest = [attempt.get("max_duration_ns") for attempt in ended if is_summed(attempt)]
    deltas = known(map(rss_delta, ended))
    events, cpu = total(results, "events"), sum_of(chunk_cpu_ns, ended)
    return {
        "name": name,
        "chunks": sum(attempt.weight for attempt in results),
        "attempts": len(statuses),
        "failed": statuses.count("failed"),
        "lost": statuses.count("lost"),
        "events": events,
        "bytes_read": total(ended, "bytes_read"),
        "bytes_uncompressed": total(ended, "bytes_uncompressed"),
        "duration_sum": seconds(sum(durations)),
        "duration_mean": ratio(seconds(sum(durations)), weights),
        "duration_p50": seconds(quantile(50, single)),
        "duration_p95": seconds(quantile(95, single)),
        "duration_max": seconds(max(single + longest, default=None)),
        "cpu_sum": seconds(cpu),
        "cpu_wait_sum": seconds(sum_of(cpu_wait_ns, ended)),
        "blocked_sum": seconds(sum_of(blocked_ns, ended)),
        "system_cpu_sum": seconds(total(ended, "system_cpu_ns")),
        "minor_faults": total(ended, "minor_faults"),
        "major_faults": total(ended, "major_faults"),
        "event_rate": ratio(events, seconds(sum(durations))),
        "events_per_cpu_second": ratio(events, seconds(cpu)),
        "rss_delta_mean": ratio(sum(deltas), len(deltas)),
    }


def first_moment(process, bounds):
    begins = [attempt.start for attempt in process.attempts + process.sums]
    return seconds(min(begins) - bounds[0]) if begins else None


def last_moment(process, bounds):
    ends = [attempt.stop for attempt in process.attempts + process.sums if attempt.ended]
    return seconds(max(ends) - bounds[0]) if ends else None


def worker_fields(process, bounds):
    return {
        "start": seconds(process.start - bounds[0]),
        "stop": seconds(process.stop - bounds[0]),
        "first_chunk": first_moment(process, bounds),
        "last_chunk": last_moment(process, bounds),
        "cores": cores_of(process),
        "state": process.state,
        "peak_memory_bytes": peak_memory(process),
        "memory_limit_bytes": limit_at(process, process.stop),
        "disk_bytes": None,  # these five come from an engine
        "left_reason": None,
        "engine_cpu": None,
        "engine_peak_memory_bytes": None,
        "time_limit": None,
    }


def recorded_breakdown(attempts, field):
    """Reading: a table with only the row `(none)` is left out."""
    rows = breakdown(attempts, lambda attempt: attempt.get(field) or NO_NAME)
    return [] if [row["name"] for row in rows] == [NO_NAME] else rows


def breakdown(attempts, name_of):
    return [breakdown_row(name_of(group[0]), group) for group in grouped(attempts, name_of)]


def breakdowns(recorded, bounds):
    attempts = recorded.attempts + recorded.sums
    workers = [
        {**breakdown_row(process.name, process.attempts + process.sums), **worker_fields(process, bounds)}
        for process in recorded.workers
    ]
    return {
        "datasets": recorded_breakdown(attempts, "dataset"),
        "files": recorded_breakdown(attempts, "file"),
        "workers": workers,
        "hosts": breakdown(attempts, lambda attempt: attempt.process.host),
        "threads": breakdown(attempts, thread_name),
    }


def thread_name(attempt):
    return "(other)" if is_summed(attempt) else f"{attempt.process.name}/{attempt.get('tid')}"


def owner_sections(attempt):
    return [row for row in attempt.get("sections") or [] if not row.get("helper")]


def other_ns(attempt):
    """The owner's time outside every section, as its recorder has it: with chunks of others inside."""
    return attempt.recorded_duration - sum(row["self_ns"] for row in owner_sections(attempt))


def all_other_ns(recorded):
    """Sections include chunks of other recorders inside them (docs/limits.md), so nothing may be left."""
    other = sum(map(other_ns, recorded.all_ended)) - nested_ns(recorded)
    return max(0, other) if nested_ns(recorded) else other


def nested_ns(recorded):
    return sum(attempt.nested for attempt in recorded.ended)


def time_of_sections(recorded):
    """Time of owners and helpers; 0: sections include more of other recorders' chunks than they may."""
    nested = nested_ns(recorded)
    if nested and sum(map(other_ns, recorded.all_ended)) < nested:
        return 0
    return sum(attempt.recorded_duration + helper_time(attempt) for attempt in recorded.all_ended) - nested


def section_coverage(recorded):
    busy = sum(attempt.duration for attempt in recorded.all_ended)
    share = ratio(all_other_ns(recorded), busy)
    return None if share is None else 1 - share


def helper_time(attempt):
    """The helpers' scopes, or their sections if these are more. Without an owner, only what passes its duration."""
    of_sections = sum(row["self_ns"] for row in attempt.get("sections") or [] if row.get("helper"))
    helpers = max(of_sections, attempt.get("helper_scope_ns") or 0)
    is_held = attempt.line.get("cpu_ns") != 0 or attempt.line.get("helper_union_ns") != attempt.recorded_duration
    return helpers if is_held else max(0, helpers - attempt.recorded_duration)


def other_section(attempt):
    other = other_ns(attempt)
    row = {"path": "(other)", "count": attempt.weight, "total_ns": other, "self_ns": other}
    return row if is_summed(attempt) else {**row, "min_ns": other, "max_ns": other}


def section_key(row):
    return row["path"], bool(row.get("helper"))


def section_sums(rows):
    count = sum(row["count"] for row in rows)
    return {
        "path": rows[0]["path"],
        "helper": bool(rows[0].get("helper")),
        "count": count,
        "total": seconds(sum(row["total_ns"] for row in rows)),
        "self": seconds(sum(row["self_ns"] for row in rows)),
        "min": seconds(min(known(row.get("min_ns") for row in rows), default=None)),
        "max": seconds(max(known(row.get("max_ns") for row in rows), default=None)),
        "mean": ratio(seconds(sum(row["total_ns"] for row in rows)), count),
        "cpu": sum_of_field(rows, "cpu_ns"),
        "failed": sum(row.get("failed") or 0 for row in rows),
    }


def sum_of_field(rows, field):
    values = known(row.get(field) for row in rows)
    return seconds(sum(values)) if values else None


def sections(recorded):
    entries = [(a, row) for a in recorded.all_ended for row in [*(a.get("sections") or []), other_section(a)]]
    busy = time_of_sections(recorded)
    ended = sum(attempt.weight for attempt in recorded.all_ended)
    groups = grouped(entries, lambda entry: section_key(entry[1]))
    return [chunk_section(group, ended, busy, all_other_ns(recorded)) for group in groups]


def chunk_section(entries, ended, busy, all_other):
    rows = [row for _, row in entries]
    is_other = rows[0]["path"] == "(other)"
    whole = all_other if is_other else sum(row["total_ns"] for row in rows)
    own = all_other if is_other else sum(row["self_ns"] for row in rows)
    # It is not known in how many summed attempts a section ran. Only the time outside all sections is in each.
    totals = [row["total_ns"] for attempt, row in entries if not is_summed(attempt)]
    is_known = is_other or len(totals) == len(rows)
    chunks = sum(attempt.weight for attempt, _ in entries) if is_known else None
    sums = section_sums(rows)
    return {
        **sums,
        "total": seconds(whole),
        "self": seconds(own),
        "mean": ratio(seconds(whole), sums["count"]),
        "chunks": chunks,
        "p50": seconds(quantile(50, totals)),
        "p95": seconds(quantile(95, totals)),
        "p99": seconds(quantile(99, totals)),
        "mean_per_chunk": ratio(seconds(whole), ended),
        "mean_when_run": ratio(seconds(whole), chunks),
        "share": ratio(own, busy),
    }


def process_sections(recorded):
    """Sections outside chunks: the last line of a log that has them counts, because it has the sums since the process
    began."""
    rows = []  # (is a worker's, row)
    for process in recorded.processes:
        for log in process.logs:
            last = ([line["sections"] for line in log.lines if is_process_line(line)] or [[]])[-1]
            rows += [(bool(process.attempts or process.sums), row) for row in last]
    return [outside_section(group) for group in grouped(rows, lambda entry: section_key(entry[1]))]


def outside_section(entries):
    of_workers = sum(row["self_ns"] for is_worker, row in entries if is_worker)
    return {**section_sums([row for _, row in entries]), "self_in_workers": seconds(of_workers)}


def is_process_line(line):
    return line["type"] in ("sample", "end") and line.get("sections") is not None


def memory_sections(recorded):
    rows = [row for attempt in recorded.all_ended for row in attempt.get("memory_sections") or []]
    return [memory_section(group) for group in grouped(rows, lambda row: row["path"])]


def memory_section(rows):
    # Reading: if several are equally large, the one that ended with most.
    largest = max(rows, key=lambda row: (row["max_bytes"], row["rss_stop_bytes"], row["rss_start_bytes"]))
    return {
        "path": rows[0]["path"],
        "count": sum(row["count"] for row in rows),
        "delta_bytes": sum(row["delta_bytes"] for row in rows),
        "min_bytes": min(row["min_bytes"] for row in rows),
        "max_bytes": largest["max_bytes"],
        "rss_start_bytes": largest["rss_start_bytes"],
        "rss_stop_bytes": largest["rss_stop_bytes"],
        "peak_bytes": max(row["peak_bytes"] for row in rows),
    }


def metric_key(row):
    return row["name"], row.get("unit") or ""


def custom_metrics(recorded):
    entries = [(attempt, row) for attempt in recorded.all_ended for row in attempt.get("metrics") or []]
    result = []
    for group in grouped(entries, lambda entry: metric_key(entry[1])):
        name, unit = metric_key(group[0][1])
        by_dataset = grouped(
            [entry for entry in group if entry[0].get("dataset") is not None], lambda entry: entry[0].get("dataset")
        )
        result.append(
            {
                "name": name,
                "unit": unit,
                **metric_values(group),
                "by_dataset": {entries[0][0].get("dataset"): metric_values(entries) for entries in by_dataset},
            }
        )
    return result


def tells_its_mean_only(row):
    return row["count"] > 1 and row.get("sketch") is None and (row.get("min") is None or row["min"] != row["max"])


def middle_of(bucket, shift):
    """The value of a bucket of the sketch: there are 64 equal buckets between powers of two, and 2^shift of them are
    one."""
    magnitude = (abs(bucket) << shift) + Fraction(1 << shift, 2)
    octave, within = divmod(magnitude, 64)
    value = (1 + within / 64) * Fraction(2) ** (octave - 1023)
    return value if bucket > 0 else -value if bucket < 0 else Fraction(0)


def values_of(row):
    """If a chunk has several values and no sketch, their mean replaces each of them."""
    sketch = row.get("sketch")
    if sketch is None:
        return [Fraction(row["sum"]) / row["count"]] * row["count"]
    low, high = Fraction(row["min"]), Fraction(row["max"])
    return [
        min(max(middle_of(bucket, row.get("sketch_shift") or 0), low), high)
        for bucket, count in zip(sketch[::2], sketch[1::2], strict=True)
        for _ in range(count)
    ]


def metric_values(entries):
    """For `ok` attempts; the values of failed ones have their own fields."""
    failed = [row for attempt, row in entries if attempt.status == "failed"]
    entries = [(attempt, row) for attempt, row in entries if attempt.status != "failed"]
    rows = [row for _, row in entries]
    failed_sums = [Fraction(row["sum"]) for row in failed if row["count"] and row.get("sum") is not None]
    count = sum(row["count"] for row in rows)
    sums = known(row.get("sum") for row in rows)
    whole = sum(map(Fraction, sums)) if sums and count else None
    listed = [row for attempt, row in entries if row["count"] and row.get("sum") is not None and not is_summed(attempt)]
    values = [value for row in listed for value in values_of(row)]
    return {
        "count": count,
        "sum": whole,
        "mean": ratio(whole, count),
        "min": min(known(row.get("min") for row in rows), default=None),
        "max": max(known(row.get("max") for row in rows), default=None),
        "p50": quantile(50, values),
        "p95": quantile(95, values),
        "quantiles_of": "chunk means" if any(tells_its_mean_only(row) for row in listed) else "values",
        "invalid": sum(row.get("invalid") or 0 for row in rows + failed),
        "failed_count": sum(row["count"] for row in failed if row.get("sum") is not None),
        "failed_sum": sum(failed_sums) if failed_sums else None,
    }


def cuts(recorded):
    """The cuts of results, in the order in which cuts were recorded: the list, then each flow."""
    rows = [row for attempt in recorded.all_results for row in attempt.get("cuts") or []]
    found = []
    for group in grouped(rows, lambda row: (row["name"], row.get("path"), row.get("flow"))):
        weights = [row.get("weights") for row in group]
        seen = [row.get("seen") for row in group]
        found.append(
            {
                "name": group[0]["name"],
                "events": sum(row["events"] for row in group),
                "weights": None if None in weights else sum(map(Fraction, weights)),
                "seen": None if None in seen else sum(seen),
                "path": group[0].get("path"),
                "flow": group[0].get("flow"),
            }
        )
    listed = [row for row in found if row["path"] is None]
    are_steps = all(row["events"] <= before["events"] for before, row in itertools.pairwise(listed))
    for before, row in zip([*listed[:1], *listed], listed):
        row["step_efficiency"] = ratio(row["events"], before["events"]) if are_steps else None
        row["total_efficiency"] = ratio(row["events"], listed[0]["events"]) if are_steps else None
    in_flows = {(row["flow"], row["path"]): row for row in found if row["path"] is not None}
    for (flow, path), row in in_flows.items():
        before = in_flows.get((flow, path.rpartition("/")[0]), row)
        first = in_flows[flow, path.split("/")[0]]
        given = before["events"] if row["seen"] is None else row["seen"]
        is_part = row["events"] <= min(given, first["events"])
        row["step_efficiency"] = ratio(row["events"], given) if is_part else None
        row["total_efficiency"] = ratio(row["events"], first["events"]) if is_part else None
    return found


def fine(recorded):
    """Activities of the SDK."""
    entries = [(attempt, row) for attempt in recorded.all_ended for row in attempt.get("activities") or []]

    def key(entry):
        attempt, row = entry
        return attempt.get("span"), attempt.process.name, row["label"], row.get("unit")

    rows = []
    for group in grouped(entries, key):
        span, worker, activity, unit = key(group[0])
        values = known(row.get("value") for _, row in group)
        rows.append(
            {
                "context": "native",
                "span": span,
                "worker": worker,
                "function": None,
                "activity": activity,
                "unit": unit,
                "value": sum(map(Fraction, values)) if values else None,
            }
        )
    return rows

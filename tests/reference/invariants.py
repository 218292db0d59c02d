"""Invariants of every measurement, however its run went (docs/metrics.md, "Rules")."""

import math

SHARES = (
    *("cpu_efficiency", "core_efficiency", "balance", "io_overhead", "section_coverage", "decompression_share"),
    *("instrumentation_overhead", "event_coverage", "fine_metrics_coverage", "gil_contention"),
)
TOLERANCE = 1e-6


class Broken(list):
    """Collects a sentence for each invariant that does not hold."""

    def at_most(self, what, value, most):
        if value is not None and most is not None and value > most + TOLERANCE * max(1, abs(most)):
            self.append(f"{what} is {value}, above {most}")

    def within(self, what, value, low, high):
        self.at_most(what, value, high)
        if value is not None and value < low - TOLERANCE:
            self.append(f"{what} is {value}, below {low}")


def broken(document):
    """A sentence for each invariant that a measurement breaks; usually none."""
    found = Broken()
    metrics = document["metrics"]
    figures = {**metrics, **document["quality"]}
    for key in SHARES:
        found.within(key, figures.get(key), 0, 1)
    found.within("io_overhead_pct", metrics["io_overhead_pct"], 0, 100)
    found.within("ideal_wall_time", metrics["ideal_wall_time"], 0, metrics["wall_time"])
    found.within("tail_time", metrics["tail_time"], 0, metrics["wall_time"])
    if metrics["cpu_efficiency"] is not None:
        found.at_most("chunk_cpu_time", metrics["chunk_cpu_time"], metrics["core_seconds"] * 1.01)
    for part, whole in [
        ("num_failed_attempts", "num_attempts"),
        ("num_lost_attempts", "num_attempts"),
        ("num_chunks", "num_attempts"),
        ("peak_memory_bytes", "peak_total_memory_bytes"),
        ("total_cores", "peak_cores"),
        ("avg_workers", "peak_workers"),
        ("rss_slope_low", "rss_slope"),
        ("rss_slope", "rss_slope_high"),
        ("memory_utilization_min", "memory_utilization_max"),
    ]:
        if document["run"].get(f"{whole}_source") in (None, "records"):
            found.at_most(part, metrics.get(part), metrics.get(whole))
    check_budget(found, document)
    check_rows(found, document)
    return list(found)


def check_budget(found, document):
    rows = [row["core_seconds"] for row in document["budget"]]
    core_seconds = document["metrics"]["core_seconds"]
    if rows and core_seconds is not None and not math.isclose(sum(rows), core_seconds, rel_tol=1e-6, abs_tol=1e-6):
        found.append(f"the budget's rows add up to {sum(rows)}, not to {core_seconds}")
    for row in document["budget"]:
        found.within(f"budget {row['part']}", row["share"], 0, 1)
        found.at_most(f"budget {row['part']}, less than nothing", 0, row["core_seconds"])


def check_rows(found, document):
    sections = [row["share"] for row in document["sections"] if row["share"] is not None]
    found.at_most("sum of the sections' shares", sum(sections), 1)
    for worker in document["workers"]:
        found.at_most(f"begin of {worker['name']}", worker["start"], worker["stop"])
        found.at_most(f"end of {worker['name']}", worker["stop"], document["metrics"]["wall_time"])
    peaks = {worker["name"]: worker["peak_memory_bytes"] for worker in document["workers"]}
    for name, line in (document["timelines"].get("worker_memory") or {}).items():
        found.at_most(f"memory of {name}", max((point[1] or 0 for point in line), default=0), peaks.get(name))
    for spell in document["slow_spells"]:
        if not spell["start"] < spell["stop"]:
            found.append(f"a spell from {spell['start']} to {spell['stop']} has no length")
    longest = document["metrics"]["chunk_duration_max"]
    for fit in document["chunk_fits"]:
        for low, high in [("fixed_seconds_low", "fixed_seconds"), ("fixed_seconds", "fixed_seconds_high")]:
            found.at_most(f"{low} of {fit['dataset']}", fit[low], fit[high])
        if len(document["chunk_fits"]) == 1:
            found.at_most(f"fixed cost of {fit['dataset']}", fit["fixed_seconds"], longest)
    events = document["metrics"]["total_events"]
    for advice in document.get("chunk_size_advice") or []:
        found.at_most(f"least advised chunk of {advice['dataset']}", advice["events_least"], events)
        found.at_most(f"largest advised chunk of {advice['dataset']}", advice["events_most"], events)

"""Workers as step functions (docs/metrics.md). A worker is a process that recorded chunks, from its start to its
end."""

from fractions import Fraction

from reference_chunks import joined_ns, known, ratio, rest_ns, seconds
from reference_statistics import most_at_once


def cores_of(process):
    """The declared number, or else the most lanes that it had at once, at most the allowed number."""
    declared = process.line.get("threads")
    if declared:
        return declared
    peak = max(known(attempt.get("lanes_peak") for attempt in process.attempts + process.sums), default=0)
    cores = peak or most_open(process)
    if peak and owners_wait(process):
        cores = max(1, most_at_once(spans(filter(is_at_work, process.attempts))), peak - most_waiting(process))
    allowed = process.line.get("cores")
    return min(cores, Fraction(allowed)) if allowed else cores


def most_open(process):
    return max(1, most_at_once([(a.start, a.last_moment) for a in process.attempts]))


def spans(attempts):
    return [(attempt.start, attempt.last_moment) for attempt in attempts]


def is_much(attempt, own_ns):
    """Reading: a tenth is rounded down to nanoseconds."""
    return (attempt.last_moment - attempt.start) // 10 <= own_ns


def is_at_work(attempt):
    """One that did not end, or whose times are not known, is."""
    rest = rest_ns(attempt) if attempt.ended else None
    return rest is None or is_much(attempt, attempt.duration - (joined_ns(attempt) or 0))


def has_owner(attempt):
    return attempt.get("cpu_ns") != 0 or joined_ns(attempt) != attempt.duration


def may_wait(attempt):
    return attempt.ended and (attempt.get("helper_union_ns") or 0) > 0 and has_owner(attempt)


def most_waiting(process):
    waiting = [a for a in process.attempts if may_wait(a) and is_much(a, a.duration)]
    of_sums = [s for s in process.sums if may_wait(s) and (s.get("suspended_ns") or 0) <= 9 * s.duration]
    return max(most_at_once(spans(waiting)), 1 if of_sums else 0)


def owners_wait(process):
    """For nine tenths of the time in which helpers were at work."""
    held = [attempt for attempt in process.attempts + process.sums if attempt.ended and has_owner(attempt)]
    helpers = sum(min(attempt.get("helper_union_ns") or 0, attempt.duration) for attempt in held)
    joined = sum(joined_ns(attempt) or 0 for attempt in held)
    return helpers > 0 and 10 * joined >= 9 * helpers


def lifetime(process):
    return process.stop - process.start


def is_alive(process, moment):
    return process.start <= moment < process.stop


def memory_samples(process):
    """(time, RSS) of each sample, in the order of their times."""
    samples = [line for line in process.of_type("sample") if line.get("rss_bytes") is not None]
    return sorted((line["time_ns"], line["rss_bytes"]) for line in samples)


def peak_memory(process):
    """The most that a sample or a chunk knew."""
    of_chunks = known(attempt.get("rss_peak_bytes") for attempt in process.attempts + process.sums)
    return max([value for _, value in memory_samples(process)] + of_chunks, default=None)


def limit_at(process, moment):
    """The limit in force: that of the latest sample, or else the one at the start of the process."""
    limits = sorted(
        (line["time_ns"], line["memory_limit_bytes"])
        for line in process.of_type("sample")
        if line.get("memory_limit_bytes") is not None and line["time_ns"] <= moment
    )
    return limits[-1][1] if limits else process.line.get("memory_limit_bytes")


def held(samples, stop):
    """(from, to, value) of each sample: a value holds until the next one, the last one until `stop`."""
    times = [time for time, _ in samples[1:]] + [stop]
    return [(time, until, value) for (time, value), until in zip(samples, times)]


def memory_at(process, moment):
    values = [value for time, value in memory_samples(process) if time <= moment]
    return values[-1] if values else 0


def peak_total_memory(workers):
    moments = [time for worker in workers for time, _ in memory_samples(worker)]
    sums = [sum(memory_at(w, moment) for w in workers if w.start <= moment <= w.stop) for moment in moments]
    return max(sums + known(map(peak_memory, workers))) if sums else None


def memory_metrics(workers):
    memory_time = sampled_time = limit_time = limited_memory_time = 0
    shares, peak_shares = [], []
    for worker in workers:
        peak, limit = peak_memory(worker), limit_at(worker, worker.stop)
        if limit and peak is not None:
            peak_shares.append(Fraction(peak, limit))
        for start, stop, value in held(memory_samples(worker), worker.stop):
            memory_time += value * (stop - start)
            sampled_time += stop - start
            limit = limit_at(worker, start)
            if limit:
                limited_memory_time += value * (stop - start)
                limit_time += limit * (stop - start)
                shares.append(Fraction(value, limit))
    return {
        "peak_memory_bytes": max(known(map(peak_memory, workers)), default=None),
        "peak_total_memory_bytes": peak_total_memory(workers),
        # Reading: worker seconds with known memory, that is, since each worker's first sample.
        "avg_memory_per_worker_bytes": ratio(memory_time, sampled_time),
        "memory_utilization_avg": ratio(limited_memory_time, limit_time),
        "memory_utilization_min": min(shares, default=None),
        "memory_utilization_max": max(shares + peak_shares, default=None),
    }


def cpu_utilization(workers):
    """CPU of the processes divided by their cores, between the first and the last sample of each."""
    cpu = core_time = 0
    for worker in workers:
        samples = sorted(
            (line["time_ns"], line["cpu_ns"]) for line in worker.of_type("sample") if line.get("cpu_ns") is not None
        )
        if samples:
            cpu += samples[-1][1] - samples[0][1]
            core_time += (samples[-1][0] - samples[0][0]) * cores_of(worker)
    return ratio(cpu, core_time)


def allocated_cores(processes):
    """CPUs allowed; each host once.

    Readings: a host has the largest number that its processes were allowed. If the number of one host is unknown, the
    sum is.
    """
    hosts = {process.host: [] for process in processes}
    for process in processes:
        hosts[process.host] += known([process.line.get("cores")])
    return sum(max(map(Fraction, cores)) for cores in hosts.values()) if all(hosts.values()) else None


def mean_sampled_workers(workers):
    moments = {line["time_ns"] for worker in workers for line in worker.of_type("sample")}
    counts = [sum(worker.start <= moment <= worker.stop for worker in workers) for moment in moments]
    return ratio(sum(counts), len(counts))


def worker_metrics(recorded, bounds):
    workers = recorded.workers
    wall = bounds[1] - bounds[0]
    worker_time = sum(map(lifetime, workers))
    core_time = sum(cores_of(worker) * lifetime(worker) for worker in workers)
    peak_workers = max((sum(is_alive(w, m.start) for w in workers) for m in workers), default=None)
    peak_cores = max((sum(cores_of(w) for w in workers if is_alive(w, m.start)) for m in workers), default=None)
    return {
        "avg_workers": ratio(worker_time, wall),
        "peak_workers": peak_workers,
        "mean_sampled_workers": mean_sampled_workers(workers),
        "core_seconds": seconds(core_time),
        "total_cores": ratio(core_time, wall),
        "peak_cores": peak_cores,
        "cores_per_worker": ratio(core_time, worker_time),
        "allocated_cores": allocated_cores(recorded.processes),
        **memory_metrics(workers),
        "worker_cpu_utilization_avg": cpu_utilization(workers),
    }

"""CPU of a process outside its chunks, between readings of its CPU time at which none of its chunks was open."""


def readings(process):
    """(time, CPU so far), from the process's begin on."""
    start = process.line["start_ns"]
    found = [(start, 0)] if start > 0 else []
    stamps = [(line["time_ns"], line.get("cpu_ns")) for line in process.of_type("sample") + process.of_type("end")]
    stamps += [(line["time_ns"], line.get("process_cpu_ns")) for line in process.of_type("begin")]
    for time, cpu in sorted(reading for reading in stamps if reading[1] is not None):
        if not found or time > found[-1][0]:
            found.append((time, max(cpu, found[-1][1] if found else 0)))
    return found


def last_moment(attempt):
    return getattr(attempt, "last_moment", attempt.stop)


def known_cpu(attempt):
    """CPU of an attempt, helpers included; None if nothing is known.

    Reading: helpers with unknown CPU time may have computed all the time.
    """
    if not attempt.ended:
        return None
    helper = attempt.get("helper_cpu_ns")
    helper = (attempt.get("helper_scope_ns") or 0) if helper is None else helper
    cpu = attempt.get("cpu_ns")
    return None if cpu is None and not helper else (cpu or 0) + helper


def may_have_computed(attempt):
    return not attempt.ended or attempt.get("cpu_ns") is None


def stretches(process):
    """(CPU that belongs to no chunk, places). A place is (from, to, rise) of two readings between which the CPU of the
    process rose by that: so much of it may be there."""
    attempts = process.attempts + process.sums
    known = [attempt for attempt in attempts if known_cpu(attempt) is not None]
    unknown = [attempt for attempt in attempts if may_have_computed(attempt)]
    every = readings(process)
    clean = [(time, cpu) for time, cpu in every if not any(attempt.start < time < attempt.stop for attempt in known)]
    found = []
    for (start, before), (stop, after) in zip(clean, clean[1:]):
        chunks = sum(known_cpu(attempt) for attempt in known if start <= attempt.start < stop)
        hidden = sum(max(0, min(stop, last_moment(a)) - max(start, a.start)) for a in unknown)
        inside = [reading for reading in every if start <= reading[0] <= stop]
        rises = [(since, to, more - less) for (since, less), (to, more) in zip(inside, inside[1:]) if more > less]
        if after - before - chunks - hidden > 0:
            found.append((after - before - chunks - hidden, rises))
    return found


def is_known(process):
    return len(readings(process)) > 1

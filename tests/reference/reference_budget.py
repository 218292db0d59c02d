"""The core-second budget (docs/metrics.md), from exact step functions of occupied lanes and live cores."""

from fractions import Fraction

import reference_process_cpu
from reference_chunks import helper_cpu_ns, joined_ns, lane_time_ns, ratio, seconds
from reference_workers import cores_of

GROUPS = {
    "compute": "CPU in your code",
    "cpu_wait": "Waiting in your code",
    "blocked": "Waiting in your code",
    "waiting": "Waiting in your code",
    "outside_chunk": "Opening and reading around your code",
    "process_cpu": "CPU outside chunks",
    "framework": "Framework and repeats",
    "failed": "Framework and repeats",
    "joined": "Idle",
    "startup": "Idle",
    "idle": "Idle",
    "tail": "Idle",
    "shutdown": "Idle",
    "unmeasured": "Not measured",
}


def lanes(attempt):
    """Lanes that an attempt occupies, spread evenly."""
    if not attempt.ended or attempt.stop == attempt.start:
        return Fraction(1)
    return Fraction(lane_time_ns(attempt), attempt.stop - attempt.start)


def overlap(one, other):
    return max(0, min(one[1], other[1]) - max(one[0], other[0]))


def occupied(process, moment):
    """Lanes in use from `moment` to the next change, without summed attempts."""
    return sum(lanes(a) for a in process.attempts if a.start <= moment < a.last_moment)


class SummedLanes:
    """Spreads summed attempts over a worker's lanes: evenly over those that were free meanwhile, and the rest on
    top."""

    def __init__(self, worker, moments):
        self.worker = worker
        self.start = min(summed.start for summed in worker.sums)
        self.stop = max(summed.stop for summed in worker.sums)
        self.time = sum(map(lane_time_ns, worker.sums))
        inside = [moment for moment in moments if self.start <= moment <= self.stop]
        self.free_time = sum(self.free(start) * (stop - start) for start, stop in zip(inside, inside[1:]))

    def free(self, moment):
        live = cores_of(self.worker) if self.worker.start <= moment < self.worker.stop else 0
        return max(0, live - occupied(self.worker, moment))

    def at(self, moment):
        if not self.start <= moment < self.stop:
            return 0
        if self.time <= self.free_time:
            return self.free(moment) * Fraction(self.time) / self.free_time if self.free_time else 0
        return self.free(moment) + Fraction(self.time - self.free_time) / (self.stop - self.start)

    def most_at(self, moment):
        return max(self.free(moment), self.at(moment)) if self.time and self.start <= moment < self.stop else 0


def failed_wait_ns(attempt):
    """What of an ended attempt without a result was no CPU; 0 where its CPU time is not known."""
    if attempt.get("cpu_ns") is None or helper_cpu_ns(attempt) is None:
        return 0
    helper_cpu = min(helper_cpu_ns(attempt), attempt.get("helper_scope_ns") or 0)
    return max(0, lane_time_ns(attempt) - min(attempt.get("cpu_ns"), attempt.duration) - helper_cpu)


def split_owner(attempt):
    """ns of a result's own thread by part.

    Reading: one that was open, but had no time of its own, may lack a run delay all the same.
    """
    cpu = attempt.get("cpu_ns")
    if attempt.stop == attempt.start:
        return {}
    if cpu is None:
        return {"unmeasured": attempt.duration}
    cpu = min(cpu, attempt.duration)
    joined = joined_ns(attempt) or 0
    rest = attempt.duration - cpu - joined
    if attempt.get("cpu_wait_ns") is None:
        return {"compute": cpu, "waiting": rest}
    wait = min(attempt.get("cpu_wait_ns"), attempt.duration - cpu)
    return {"compute": cpu, "cpu_wait": wait, "blocked": rest - wait}


def split_helpers(attempt):
    scope = attempt.get("helper_scope_ns") or 0
    if not scope:
        return {}
    cpu = helper_cpu_ns(attempt)
    if cpu is None:
        return {"unmeasured": scope}
    cpu = min(cpu, scope)
    if attempt.get("helper_wait_ns") is None:
        return {"compute": cpu, "waiting": scope - cpu}
    wait = min(attempt.get("helper_wait_ns"), scope - cpu)
    return {"compute": cpu, "cpu_wait": wait, "blocked": scope - cpu - wait}


def lacks_run_delay(attempt):
    return "waiting" in split_owner(attempt) or "waiting" in split_helpers(attempt)


class Budget:
    """The parts in ns, and the values beside them: `tail_ns`, `oversubscribed_ns`, `occupied_ns`, `balance`."""

    def __init__(self, recorded, bounds):
        self.recorded = recorded
        self.parts = dict.fromkeys(GROUPS, Fraction(0))
        self.oversubscribed_ns = Fraction(0)
        self.moments = sorted(self.changes() | set(bounds))
        self.summed = [SummedLanes(worker, self.moments) if worker.sums else None for worker in recorded.workers]
        self.last_stop = max((attempt.stop for attempt in recorded.all_ended), default=None)
        self.tail_start = self.find_tail()
        if self.tail_start is not None and any(s and s.start < self.tail_start <= s.stop for s in self.summed):
            self.tail_start = None  # nobody knows when summed attempts were open
        self.tail_ns = None if self.tail_start is None else self.last_stop - self.tail_start
        self.occupied_ns = self.filled_ns = Fraction(0)
        for index, worker in enumerate(recorded.workers):
            self.add_lanes(worker, self.add_free(index, worker))
        self.balance = self.find_balance()

    def changes(self):
        """The times at which a step function may change."""
        times = {time for process in self.recorded.workers for time in (process.start, process.stop)}
        times |= {time for a in self.recorded.attempts for time in (a.start, a.last_moment)}
        times |= {summed.start for summed in self.recorded.sums}
        for worker in self.recorded.workers:
            for _, rises in reference_process_cpu.stretches(worker):
                times |= {time for rise in rises for time in rise[:2]}
        return times | {attempt.stop for attempt in self.recorded.all_ended}

    def steps(self):
        return zip(self.moments, self.moments[1:])

    def live_cores(self, moment):
        return sum(cores_of(w) for w in self.recorded.workers if w.start <= moment < w.stop)

    def used(self, index, moment):
        """Lanes of a worker that are in use."""
        summed = self.summed[index]
        return occupied(self.recorded.workers[index], moment) + (summed.at(moment) if summed else 0)

    def most_used(self, index, moment):
        """Lanes that may have been in use: summed attempts in all that were free."""
        summed, others = self.summed[index], occupied(self.recorded.workers[index], moment)
        return others + (summed.most_at(moment) if summed else 0)

    def all_occupied(self, moment):
        return sum(self.most_used(index, moment) for index in range(len(self.recorded.workers)))

    def find_tail(self):
        """The last moment, not after the last stop, at which 90 % of the live cores were occupied."""
        busy = [
            stop
            for start, stop in self.steps()
            if self.last_stop is not None
            and start < self.last_stop
            and self.live_cores(start) > 0
            and 10 * self.all_occupied(start) >= 9 * self.live_cores(start)
        ]
        return max(busy, default=None)

    def add_lanes(self, worker, beyond):
        """`beyond`: ns of lanes for which there was no core; they are in no part."""
        parts = dict.fromkeys([*GROUPS, "failed_wait"], Fraction(0))
        for attempt in worker.attempts + worker.sums:
            if attempt.is_result:
                for split in (split_owner(attempt), split_helpers(attempt)):
                    for part, ns in split.items():
                        parts[part] += ns
            elif attempt.ended:
                parts["failed_wait"] += failed_wait_ns(attempt)
                parts["failed"] += lane_time_ns(attempt) - failed_wait_ns(attempt)
            else:
                part = "failed" if attempt.status == "lost" else "unmeasured"
                parts[part] += attempt.last_moment - attempt.start
        for group in (("cpu_wait", "blocked", "waiting", "failed_wait"), ("failed", "unmeasured"), ("compute",)):
            whole = sum(parts[part] for part in group)
            taken = min(whole, beyond)
            beyond -= taken
            for part in group:
                parts[part] -= parts[part] * taken / whole if whole else 0
        parts["failed"] += parts.pop("failed_wait")
        for part, ns in parts.items():
            self.parts[part] += ns
        self.occupied_ns += sum(parts.values())

    def add_free(self, index, worker):
        """ns of the worker's lanes for which there was no core."""
        cores = cores_of(worker)
        first = min(attempt.start for attempt in worker.attempts + worker.sums)
        beyond = Fraction(0)
        free = []  # (when it begins, part, ns)
        for start, stop in self.steps():
            live = cores if worker.start <= start < worker.stop else 0
            used = self.used(index, start)
            beyond += max(0, used - live) * (stop - start)
            free.append((start, self.free_part(start, first), max(0, live - used) * (stop - start)))
        left = self.fill_with_cpu(worker, free)
        beyond = self.fill_with_spread(worker, left, beyond)
        self.fill_with_joined(worker, left)
        for part, ns in left.items():
            self.parts[part] += ns
        self.oversubscribed_ns += beyond
        return beyond

    def fill_with_cpu(self, worker, free):
        """CPU outside chunks takes the same share of what was free between two readings, at most what the process's CPU
        rose by there, and of each part of it. Returns what is left, by part."""
        left = dict.fromkeys(("startup", "idle", "tail", "shutdown"), Fraction(0))
        for _, part, ns in free:
            left[part] += ns
        for cpu, rises in reference_process_cpu.stretches(worker):
            places = []  # (free parts, all of them, at most so much)
            used = Fraction(0)
            for start, stop, rise in rises:
                inside = [(part, ns) for moment, part, ns in free if start <= moment < stop]
                whole = sum(ns for _, ns in inside)
                most = Fraction(rise * overlap((start, stop), (worker.start, worker.stop)), stop - start)
                used += most
                places.append((inside, whole, min(whole, most)))
            fits = sum(most for _, _, most in places)
            taken = min(fits, cpu * used / sum(rise for _, _, rise in rises))
            self.parts["process_cpu"] += taken
            for inside, whole, most in places:
                for part, ns in inside:
                    left[part] -= ns * most * taken / (whole * fits) if whole and fits else 0
        return left

    def fill_with_spread(self, worker, left, beyond):
        """Takes lane time beyond the cores from free time, as far as evenly spread attempts occupy it. Returns what is
        left beyond."""
        spread = sum(lanes(a) * (a.last_moment - a.start) for a in worker.attempts if lanes(a) != 1)
        for part in ("idle", "tail"):
            taken = min(left[part], spread, beyond)
            left[part] -= taken
            spread -= taken
            beyond -= taken
            self.filled_ns += taken if part == "idle" else 0
        return beyond

    def fill_with_joined(self, worker, left):
        """Cores were free while owners waited for their helpers."""
        joined = sum(joined_ns(attempt) or 0 for attempt in worker.attempts + worker.sums if attempt.ended)
        for part in ("idle", "tail"):
            taken = min(left[part], joined)
            left[part] -= taken
            joined -= taken
            self.parts["joined"] += taken

    def free_part(self, moment, first):
        if moment < first:
            return "startup"
        if self.last_stop is not None and moment >= self.last_stop:
            return "shutdown"
        if self.tail_start is not None and moment >= self.tail_start:
            return "tail"
        return "idle"

    def find_balance(self):
        """Cores that lanes had, divided by the live cores, from the first chunk's begin to the tail.

        Reading: if there is no tail, to the last stop.
        """
        if self.last_stop is None:
            return None
        first = min(attempt.start for attempt in self.recorded.attempts + self.recorded.sums)
        until = self.last_stop if self.tail_start is None else self.tail_start
        busy = available = Fraction(0)
        for index, worker in enumerate(self.recorded.workers):
            for start, stop in self.steps():
                if first <= start and stop <= until and worker.start <= start < worker.stop:
                    busy += min(self.used(index, start), cores_of(worker)) * (stop - start)
                    available += cores_of(worker) * (stop - start)
        return ratio(busy + self.filled_ns, available)

    def rows(self):
        waits = ("cpu_wait", "blocked")
        parts = dict(self.parts)
        if any(lacks_run_delay(attempt) for attempt in self.recorded.all_results):
            parts["waiting"] += sum(parts.pop(part) for part in waits)
        else:
            del parts["waiting"]
        if not any(map(reference_process_cpu.is_known, self.recorded.workers)):
            del parts["process_cpu"]
        if not parts["unmeasured"]:
            del parts["unmeasured"]
        whole = sum(parts.values())
        return [
            {"part": part, "group": GROUPS[part], "core_seconds": seconds(ns), "share": ratio(ns, whole)}
            for part, ns in parts.items()
        ]

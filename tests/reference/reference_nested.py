"""Chunks of one recorder inside those of another one of their process (docs/limits.md, "Measured, and easily misread").

Each record leaves out the time that its own recorder had open inside (`inner_ns`), and includes that of others.
"""

from reference_records import grouped, suspends, thread_of

SPENT = ("duration", "cpu_ns", "cpu_wait_ns", "system_cpu_ns", "minor_faults", "major_faults")


def take_inner_off(processes):
    """Afterwards each moment of a thread counts once."""
    for process in processes:
        # Reading: an attempt counts here if it has a line of its own, which says when it stopped.
        attempts = [a for a in process.attempts if a.ended and thread_of(a.line) and was_on_thread(a)]
        for of_thread in grouped(attempts, lambda attempt: thread_of(attempt.line)):
            Thread(of_thread).take_inner_off()


def was_on_thread(attempt):
    """Whether it is known that a chunk, or one inside it, was on its thread whenever it was open."""
    lines = [line for line in attempt.log.lines if line["type"] in ("begin", "chunk")]
    return not suspends(lines) or not (attempt.suspended or attempt.get("inner_ns"))


def lies_inside(inner, outer):
    """Readings: a chunk begins before the one around it stops. If two are open at the same times, the one of the first
    recorder is around the other."""
    if not (outer.start <= inner.start < outer.stop and inner.stop <= outer.stop):
        return False
    return outer.stop - outer.start > inner.stop - inner.start or outer.log.recorder < inner.log.recorder


class Thread:
    """The ended attempts of one thread, of all recorders."""

    def __init__(self, attempts):
        self.attempts = attempts
        recorders = {attempt.log.recorder for attempt in attempts}
        self.inner = {id(attempt): [] for attempt in attempts}
        for attempt in attempts:
            for recorder in recorders - {attempt.log.recorder}:
                outer = self.innermost_around(attempt, recorder)
                if outer is not None:
                    self.inner[id(outer)].append(attempt)

    def innermost_around(self, attempt, recorder):
        """Chunks that this recorder had open around it include the time in their records; the others have it as
        `inner_ns`."""
        around = [a for a in self.attempts if a.log.recorder == recorder and lies_inside(attempt, a)]
        return max(around, key=lambda outer: (outer.start, -outer.stop), default=None)

    def own(self, attempt, name):
        """The time that an attempt spent on itself.

        Readings: unknown if that of an attempt inside is unknown; never negative.
        """
        parts = [attempt.recorded(name), *(self.own(inner, name) for inner in self.inner[id(attempt)])]
        return max(0, parts[0] - sum(parts[1:])) if None not in parts else None

    def take_inner_off(self):
        own = {id(a): {name: self.own(a, name) for name in SPENT} for a in self.attempts if self.inner[id(a)]}
        for attempt in self.attempts:
            attempt.without_inner = own.get(id(attempt), {})

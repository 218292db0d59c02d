"""The times of one attempt (docs/metrics.md, "Chunks and attempts"). None: not measured."""

from fractions import Fraction


def known(values):
    return [value for value in values if value is not None]


def seconds(ns):
    return None if ns is None else Fraction(ns) / 10**9


def ratio(numerator, denominator, factor=1):
    """Null if a part is unknown, or the denominator is not positive (docs/metrics.md, "Rules")."""
    if numerator is None or denominator is None or denominator <= 0:
        return None
    return Fraction(numerator) * factor / Fraction(denominator)


def sum_of(value_of, attempts):
    """Null if no attempt has the value."""
    values = known(value_of(attempt) for attempt in attempts)
    return sum(values) if values else None


def total(attempts, field):
    return sum_of(lambda attempt: attempt.get(field), attempts)


def cpu_wait_ns(attempt):
    return attempt.get("cpu_wait_ns")


def helper_cpu_ns(attempt):
    """Reading: if no helper had a scope, their CPU time is 0, although the record does not say so."""
    return attempt.get("helper_cpu_ns") if attempt.get("helper_scope_ns") else attempt.get("helper_cpu_ns") or 0


def chunk_cpu_ns(attempt):
    """Owner and helpers."""
    parts = (attempt.get("cpu_ns"), helper_cpu_ns(attempt))
    return None if None in parts else sum(parts)


def rest_ns(attempt):
    """The duration without CPU time and run delay.

    Reading: if the run delay is not known, the duration without CPU time; so `joined` is known then, and `blocked` is
    not.
    """
    if attempt.get("cpu_ns") is None:
        return None
    return max(0, attempt.duration - attempt.get("cpu_ns") - (attempt.get("cpu_wait_ns") or 0))


def joined_ns(attempt):
    """The owner waits for its own helpers."""
    rest, union = rest_ns(attempt), attempt.get("helper_union_ns")
    return None if None in (rest, union) else min(rest, union)


def blocked_ns(attempt):
    if attempt.get("cpu_wait_ns") is None or joined_ns(attempt) is None:
        return None
    return rest_ns(attempt) - joined_ns(attempt)


def helper_cpu_wait_ns(attempt):
    """Reading: 0 without helpers, as their CPU time is."""
    return attempt.get("helper_wait_ns") if attempt.get("helper_scope_ns") else attempt.get("helper_wait_ns") or 0


def lane_time_ns(attempt):
    """An ended attempt's own time while it was not suspended and did not wait for helpers, and its helpers' scopes."""
    return attempt.duration + (attempt.get("helper_scope_ns") or 0) - (joined_ns(attempt) or 0)


def lane_cpu_wait_ns(attempt):
    parts = (cpu_wait_ns(attempt), helper_cpu_wait_ns(attempt))
    return None if None in parts else sum(parts)


def lane_blocked_ns(attempt):
    """Blocked time of owner and helpers."""
    helpers = (helper_cpu_ns(attempt), helper_cpu_wait_ns(attempt))
    if blocked_ns(attempt) is None or None in helpers:
        return None
    scope = attempt.get("helper_scope_ns") or 0
    return blocked_ns(attempt) + max(0, max(0, scope - helpers[0]) - helpers[1])


def per_event(value, attempt):
    return ratio(value, attempt.get("events"))


def event_rate(attempt):
    return ratio(attempt.get("events"), seconds(attempt.duration))


def rss_delta(attempt):
    start, stop = attempt.get("rss_start_bytes"), attempt.get("rss_stop_bytes")
    return None if None in (start, stop) else stop - start

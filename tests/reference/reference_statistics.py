"""Quantiles, robust fits and lanes, straight from their definitions and in quadratic time."""

import math
from fractions import Fraction

from reference_chunks import blocked_ns, chunk_cpu_ns, cpu_wait_ns, ratio, seconds
from reference_records import grouped


def value_at(percent, values):
    """Quantile: the value of rank ceil(p n) (docs/metrics.md, "Rules")."""
    rank = -(-percent * len(values) // 100)
    return sorted(values)[max(rank, 1) - 1]


def median(values):
    """The middle value, or the mean of the two in the middle."""
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else Fraction(ordered[middle - 1] + ordered[middle]) / 2


def standard_deviation(values):
    """The standard deviation of a sample (n - 1)."""
    if len(values) < 2:
        return None
    mean = Fraction(sum(map(Fraction, values))) / len(values)
    return math.sqrt(sum((value - mean) ** 2 for value in map(Fraction, values)) / (len(values) - 1))


def distribution(values):
    if not values:
        return dict.fromkeys(("mean", "min", "max", "std", "p50", "p90", "p95", "p99"))
    return {
        "mean": ratio(sum(map(Fraction, values)), len(values)),
        "min": min(values),
        "max": max(values),
        "std": standard_deviation(values),
        **{f"p{percent}": value_at(percent, values) for percent in (50, 90, 95, 99)},
    }


def is_open(interval, moment):
    """Intervals begin with their start and end before their stop."""
    start, stop = interval
    return start <= moment < stop


def most_at_once(intervals):
    """Reading: if another interval ends or begins at the moment of an empty one, the empty one counts alone."""
    return max((max(1, sum(is_open(other, start) for other in intervals)) for start, _ in intervals), default=0)


def lanes_of(process):
    """Interval colouring: puts each ended attempt, in the order of their begins, on the first free lane.

    Reading: lost attempts have no duration, so they hold no lane.
    """
    lanes = []
    ended = [attempt for attempt in process.attempts if attempt.ended]
    for attempt in sorted(ended, key=lambda attempt: (attempt.start, attempt.stop)):
        free = [lane for lane in lanes if lane[-1].stop <= attempt.start]
        if free:
            free[0].append(attempt)
        else:
            lanes.append([attempt])
    return lanes


def load_imbalance(recorded):
    if any(attempt.duration < attempt.stop - attempt.start for attempt in recorded.ended):
        return None  # it is not known on which lane they ran
    lanes = [lane for process in recorded.workers for lane in lanes_of(process)]
    busy = [sum(attempt.duration for attempt in lane) for lane in lanes]
    mean = ratio(sum(busy), len(busy))
    largest = ratio(max(busy, default=None), mean)
    return None if largest is None else largest - 1


def slopes_between(points):
    return [
        Fraction(y2 - y1) / (x2 - x1)
        for index, (x1, y1) in enumerate(points)
        for x2, y2 in points[index + 1 :]
        if x1 != x2
    ]


def weighted_median(values):
    """The weighted median of (value, weight): the value at half the weight, or the mean of the two that meet there."""
    half, reached = Fraction(sum(weight for _, weight in values)) / 2, 0
    ordered = sorted(values)
    for index, (value, weight) in enumerate(ordered):
        reached += weight
        if reached == half:
            return (value + ordered[index + 1][0]) / 2
        if reached > half:
            return value
    return None


def robust_fit(points):
    """Fixed cost and slope of (events, duration).

    Reading: Theil-Sen on the median durations of chunks of equal size, each pair of sizes with the weight of the pairs
    of chunks that it stands for; the fixed cost is the median of what the slope leaves. Medians of times are values of
    rank ceil(n / 2). The program puts sizes together where a dataset has hundreds; the logs here do not.
    """
    sizes = [
        (group[0][0], value_at(50, [y for _, y in group]), len(group)) for group in grouped(points, lambda p: p[0])
    ]
    slopes = [
        (Fraction(y2 - y1) / (x2 - x1), count1 * count2)
        for index, (x1, y1, count1) in enumerate(sizes)
        for x2, y2, count2 in sizes[index + 1 :]
    ]
    slope = weighted_median(slopes) or Fraction(0)
    return value_at(50, [y - slope * x for x, y in points]), slope


def fitted_groups(recorded):
    """`ok` attempts by dataset and pass, of those with enough of them for a fit.

    Reading: attempts with unknown events are left out, unless no events of the dataset are known: then all have one
    size.
    """
    groups = []
    for group in grouped(recorded.ok, lambda attempt: (attempt.get("dataset"), attempt.get("pass"))):
        known = [attempt for attempt in group if attempt.get("events") is not None]
        if len(known or group) >= 8:
            groups.append(known or group)
    return groups


def straggler_count(recorded):
    return len(straggler_rows(recorded)) if fitted_groups(recorded) else None


def straggler_rows(recorded):
    return [row for attempts in fitted_groups(recorded) for row in stragglers_of(attempts)]


def stragglers_of(attempts):
    sizes = [attempt.get("events") or 0 for attempt in attempts]
    fixed, slope = robust_fit([(size, attempt.duration) for size, attempt in zip(sizes, attempts)])
    predicted = [fixed + slope * size for size in sizes]
    residuals = [attempt.duration - value for attempt, value in zip(attempts, predicted)]
    low, high = value_at(25, residuals), value_at(75, residuals)
    fence = high + 3 * (high - low)
    return [
        straggler_row(attempt, value)
        for attempt, value, residual in zip(attempts, predicted, residuals)
        if residual > fence and attempt.duration > 2 * max(0, value)
    ]


def straggler_row(attempt, predicted):
    return {
        "chunk": attempt.number,
        **{name: attempt.get(name) for name in ("dataset", "file", "entry_start", "entry_stop", "events")},
        "worker": attempt.process.name,
        "duration": seconds(attempt.duration),
        # Reading: no predicted time is negative.
        "predicted": seconds(max(0, predicted)),
        "cpu": seconds(chunk_cpu_ns(attempt)),
        "cpu_wait": seconds(cpu_wait_ns(attempt)),
        "blocked": seconds(blocked_ns(attempt)),
    }


def rss_slope(recorded):
    """Slope and its 95 % interval of the process whose memory grows fastest, in B per 1,000 events."""
    slopes = [rss_slope_of(process) for process in recorded.workers]
    return max((slope for slope in slopes if slope is not None), default=None)


def rss_slope_of(process):
    """Theil-Sen slope over chunk numbers.

    Readings: of RSS at the end of ended attempts; a chunk has the mean events of those that are looked at.
    """
    attempts = [attempt for attempt in process.attempts if attempt.ended and attempt.get("rss_stop_bytes") is not None]
    if len(attempts) < 20:
        return None
    attempts = sorted(attempts, key=lambda attempt: attempt.number)[len(attempts) // 10 :]
    events = [attempt.get("events") for attempt in attempts if attempt.get("events") is not None]
    thousands = ratio(sum(events), len(events), Fraction(1, 1000))
    bins = equal_bins([(attempt.number, attempt.get("rss_stop_bytes")) for attempt in attempts])
    points = [(value_at(50, [x for x, _ in points]), value_at(50, [y for _, y in points])) for points in bins]
    slopes = sorted(slopes_between(points))
    if not thousands or not slopes:
        return None
    low, high = interval_of(slopes, len(points))
    return tuple(slope / thousands for slope in (median(slopes), min(low, kept_per_chunk(points)), high))


def kept_per_chunk(points):
    """The least memory of the last tenth of the points, less that of the first one."""
    tenth = (len(points) + 9) // 10
    first, last = (min(part, key=lambda point: point[1]) for part in (points[:tenth], points[-tenth:]))
    return Fraction(last[1] - first[1]) / max(1, last[0] - first[0])


def equal_bins(points):
    """At most 200 groups of about equally many points, in their order."""
    count = min(200, len(points))
    return [points[index * len(points) // count : (index + 1) * len(points) // count] for index in range(count)]


def interval_of(slopes, count):
    """Sen's 95 % interval: ranks from the variance of Kendall's S (Sen 1968)."""
    spread = 1.959964 * math.sqrt(count * (count - 1) * (2 * count + 5) / 18)
    low, high = round((len(slopes) - spread) / 2), round((len(slopes) + spread) / 2) + 1
    return slopes[max(low, 1) - 1], slopes[min(high, len(slopes)) - 1]

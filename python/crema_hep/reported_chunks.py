"""Chunks as other tools report them: sums of roastcoffea's records, for `crema collect` if there are no records of
crema's, and Coffea's plan of the chunks to come."""

import math
import numbers

_PLANS = "a plan is the list of chunks of Runner.preprocess, or a number of events by dataset"


def _known(chunks, name) -> list:
    values = (chunk.get(name) for chunk in chunks)
    return [value for value in values if isinstance(value, (int, float)) and math.isfinite(value)]


def _total(chunks, name, whole=False):
    """The sum, if every chunk has the value; else None, because a partial sum would look like the whole one."""
    values = _known(chunks, name)
    if not values or len(values) < len(chunks):
        return None
    return int(sum(values)) if whole else math.fsum(values)


def _without_unknown(fields) -> dict:
    return {name: value for name, value in fields.items() if value is not None}


def planned_events(plan) -> dict[str, int]:
    """Events by dataset, from such a mapping or from Coffea's chunks. Raises TypeError or ValueError for anything
    else."""
    if hasattr(plan, "items"):
        rows = list(plan.items())
    elif not hasattr(plan, "__iter__"):
        raise TypeError(f"{_PLANS}; this {type(plan).__name__} is neither")
    elif iter(plan) is plan:
        raise TypeError("the plan must be a list: reading this one would use up the chunks that the run needs")
    else:
        try:
            rows = [(chunk.dataset, int(chunk.entrystop) - int(chunk.entrystart)) for chunk in plan]
        except (AttributeError, TypeError, ValueError) as error:
            raise TypeError(f"{_PLANS}; this {type(plan).__name__} is neither") from error
    events: dict[str, int] = {}
    for dataset, count in rows:
        if not isinstance(count, numbers.Real) or not 0 <= count < 1 << 63:  # also false for NaN
            raise ValueError(f"the plan of {dataset} is {count!r}, which is not a number of events")
        events[str(dataset)] = events.get(str(dataset), 0) + int(count)
    return events


def results_of(chunks) -> list:
    """The chunks that did not fail."""
    return [chunk for chunk in chunks if isinstance(chunk, dict) and "error" not in chunk]


def report_of(chunks) -> dict:
    """The sums under the names of Coffea's report."""
    results = results_of(chunks)
    return _without_unknown(
        {
            "chunks": len(results),
            "entries": _total(results, "num_events", whole=True),
            "processtime": _total(results, "duration"),
        }
    )


def by_dataset(chunks) -> dict:
    """The sums of each dataset, as `crema collect --metrics-by-dataset` takes them."""
    results = {}
    for chunk in results_of(chunks):
        if chunk.get("dataset") is not None:
            results.setdefault(str(chunk["dataset"]), []).append(chunk)
    rows = {}
    for dataset, of_dataset in results.items():
        row = _without_unknown(
            {"entries": _total(of_dataset, "num_events", whole=True), "duration": _total(of_dataset, "duration")}
        )
        stored = _total(of_dataset, "bytes_read", whole=True)
        if stored is not None:
            row["performance_counters"] = {"num_requested_bytes": stored}
        if row:
            rows[dataset] = row
    return rows

"""Fine metrics (activities) in the shapes that users of Dask's spans and of roastcoffea know."""

import ast
import math


def span_metrics(fine_rows) -> dict:
    """{(context, function, activity, unit): value}, of all workers and spans, from a measurement's `fine` rows."""
    parts = {}
    for row in fine_rows:
        if row.get("value") is not None:
            key = (row.get("context"), row.get("function"), row.get("activity"), row.get("unit"))
            parts.setdefault(key, []).append(row["value"])
    return {key: math.fsum(values) for key, values in parts.items()}


def _as_tuple(key):
    """Parses a key as Dask has it, or as roastcoffea saves it (the text of a tuple). None if it is neither."""
    if isinstance(key, str):
        try:
            key = ast.literal_eval(key)
        except (ValueError, SyntaxError):
            return None
    return key if isinstance(key, tuple) and len(key) >= 3 else None


def extract_per_task_metrics(span_metrics) -> dict:
    """{task prefix: {activity: value}} of the context `execute`.

    Seconds are under the activity's name, as in roastcoffea; other units have keys such as `disk-read (bytes)`.
    """
    if not hasattr(span_metrics, "items"):
        raise TypeError(f"crema: this takes span metrics (get_span_metrics), not this {type(span_metrics).__name__}")
    per_task = {}
    for key, value in span_metrics.items():
        key = _as_tuple(key)
        if key is None or key[0] != "execute":
            continue
        unit = key[3] if len(key) > 3 else "seconds"
        activity = key[2] if unit == "seconds" else f"{key[2]} ({unit})"
        per_task.setdefault(key[1], {})[activity] = value
    return per_task

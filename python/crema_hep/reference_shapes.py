"""Chunks and time series in roastcoffea's shape: docs/from_roastcoffea.md, "Fields of a chunk"."""

from datetime import datetime, timedelta, timezone

_GB = 1e9


def _gigabytes(count):
    return None if count is None else count / _GB


def _section(row) -> dict:
    return {**row, "section_name": row["path"], "time_delta": row["total_ns"] / 1e9}


def _memory_section(row) -> dict:
    return {
        **row,
        "section_name": row["path"],
        "memory_start_gb": row["rss_start_bytes"] / _GB,
        "memory_end_gb": row["rss_stop_bytes"] / _GB,
        "memory_delta_gb": row["delta_bytes"] / _GB,
    }


def _custom_metrics(rows) -> dict:
    """{name: sum}. A name with several units has an entry for each, `name (unit)`."""
    names = [row["name"] for row in rows]
    return {
        row["name"] if names.count(row["name"]) == 1 else f"{row['name']} ({row['unit']})": row["sum"] for row in rows
    }


def chunk_metrics(row) -> dict:
    """An attempt as `crema export --to chunks` gives it, with roastcoffea's names as well."""
    start_ns, stop_ns = row.get("start_ns"), row.get("stop_ns")
    return {
        **row,
        "chunk_id": row.get("chunk"),
        "num_events": row.get("events"),
        "filename": row.get("file"),
        "t_start": None if start_ns is None else start_ns / 1e9,
        "t_end": None if stop_ns is None else stop_ns / 1e9,
        "processing_time": None if start_ns is None or stop_ns is None else (stop_ns - start_ns) / 1e9,
        "memory_start_gb": _gigabytes(row.get("rss_start_bytes")),
        "memory_end_gb": _gigabytes(row.get("rss_stop_bytes")),
        "memory_delta_gb": _gigabytes(row.get("rss_delta_bytes")),
        "sections": [_section(section) for section in row.get("sections") or ()],
        "memory_sections": [_memory_section(section) for section in row.get("memory_sections") or ()],
        "custom_metrics": _custom_metrics(row.get("metrics") or ()),
    }


def tracking_data(timelines, start_ns) -> dict:
    """{series: points}. The points of `worker_counts` are {time: value}, those of the others {worker: [(time, value),
    ...]}.

    Times are in UTC. A series that was not measured is empty.
    """
    start = datetime.fromtimestamp(0, timezone.utc) + timedelta(microseconds=start_ns // 1000)

    def at(seconds):
        return start + timedelta(seconds=seconds)

    series = {}
    for name, values in timelines.items():
        if isinstance(values, dict):
            series[name] = {
                worker: [(at(seconds), value) for seconds, value in points or ()] for worker, points in values.items()
            }
        else:
            series[name] = {at(seconds): value for seconds, value in values or ()}
    return series

#!/usr/bin/env python3
"""What Python needs for the chunks of record logs: reading them with `json`, and sums as roastcoffea makes them.

    python_peer.py DIRECTORY

Prints one JSON object: bytes, chunks, events, and the CPU seconds of both. The sums are our own, of the same kind as
those of roastcoffea's `aggregate_chunk_metrics` and `aggregate_workflow_metrics` over the list of chunk records:
totals, rates, distributions, per-dataset sums, sections.
"""

import json
import pathlib
import statistics
import sys
import time


def read_chunks(directory):
    """The chunk records of all logs, and the bytes read."""
    chunks = []
    size = 0
    for path in sorted(pathlib.Path(directory).glob("*.jsonl")):
        with path.open("rb") as log:
            for line in log:
                size += len(line)
                record = json.loads(line)
                if record["type"] == "chunk":
                    chunks.append(record)
    return chunks, size


def aggregate(chunks):
    """Run totals, distributions of time and memory, and sums by dataset and section."""
    durations = [(chunk["stop_ns"] - chunk["start_ns"]) / 1e9 for chunk in chunks]
    events = [chunk["events"] or 0 for chunk in chunks]
    memory = [(chunk["rss_stop_bytes"] - chunk["rss_start_bytes"]) / 1e9 for chunk in chunks]
    busy = sum(durations)
    result = {
        "num_chunks": len(chunks),
        "total_events": sum(events),
        "total_bytes_read": sum(chunk["bytes_read"] or 0 for chunk in chunks),
        "total_cpu_time": busy,
        "event_rate_cpu_total_khz": sum(events) / busy / 1000,
        "chunk_duration_mean": statistics.fmean(durations),
        "chunk_duration_std": statistics.stdev(durations) if len(durations) > 1 else None,
        "chunk_duration_min": min(durations),
        "chunk_duration_max": max(durations),
        "chunk_memory_delta_mean": statistics.fmean(memory),
        "chunk_events_mean": statistics.fmean(events),
        "by_dataset": {},
        "sections": {},
    }
    for chunk, duration in zip(chunks, durations, strict=True):
        row = result["by_dataset"].setdefault(chunk["dataset"], {"chunks": 0, "events": 0, "duration": 0.0})
        row["chunks"] += 1
        row["events"] += chunk["events"] or 0
        row["duration"] += duration
        for section in chunk.get("sections") or ():
            row = result["sections"].setdefault(section["path"], {"count": 0, "total": 0.0})
            row["count"] += section["count"]
            row["total"] += section["total_ns"] / 1e9
    return result


def main():
    """Measures both steps."""
    start = time.process_time()
    chunks, size = read_chunks(sys.argv[1])
    read = time.process_time()
    result = aggregate(chunks)
    done = time.process_time()
    print(
        json.dumps(
            {
                "bytes": size,
                "chunks": result["num_chunks"],
                "events": result["total_events"],
                "json_seconds": read - start,
                "aggregated_seconds": done - start,
            }
        )
    )


if __name__ == "__main__":
    main()

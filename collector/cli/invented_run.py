"""Record logs of a run that never was, for tests of what is done with them."""

import json
import os

SECOND = 1_000_000_000
EPOCH = 1_790_000_000 * SECOND


def at(seconds):
    return EPOCH + round(seconds * SECOND)


def process_line(pid, run_id="run", host="node", start=0.0):
    return {
        "type": "process",
        "schema": "crema.records/1",
        "schema_minor": 0,
        "run_id": run_id,
        "host": host,
        "pid": pid,
        "parent_pid": 1,
        "start_ns": at(start),
        "recorder": 0,
        "executable": "/bin/analysis",
        "arguments": ["analysis"],
        "cores": 4,
        "threads": 1,
        "memory_limit_bytes": 4 << 30,
        "clock": "tsc",
        "sdk": "crema-cpp",
        "attributes": {},
    }


def place(number, dataset):
    """Where a chunk's data is; the fields that begin and chunk share."""
    return {
        "thread": 7,
        "tid": 8,
        "dataset": dataset,
        "file": f"data/{dataset}.root",
        "tree": "Events",
        "entry_start": number * 100,
        "entry_stop": (number + 1) * 100,
        "pass": None,
        "span": None,
    }


def begin_line(number, start, dataset="ttbar"):
    return {"type": "begin", "chunk": number, "time_ns": at(start), **place(number, dataset), "attributes": {}}


def chunk_line(number, start, stop, **changes):
    """100 events, half the time on CPU; `select` with `jets` inside it takes 40 %, a helper works in `jets`."""
    duration = at(stop) - at(start)
    section = {"count": 1, "min_ns": duration // 10, "max_ns": duration // 10}
    line = {
        "type": "chunk",
        "chunk": number,
        "start_ns": at(start),
        "stop_ns": at(stop),
        "status": "ok",
        "events": 100,
        "bytes_read": 1000,
        "bytes_uncompressed": 3000,
        "cpu_ns": duration // 2,
        "helper_cpu_ns": duration // 10,
        "cpu_wait_ns": duration // 10,
        "helper_wait_ns": 0,
        "helper_scope_ns": duration // 5,
        "helper_union_ns": duration // 5,
        "rss_start_bytes": 100 << 20,
        "rss_stop_bytes": (100 << 20) + 4096 * number,
        "rss_peak_bytes": 200 << 20,
        "io_read_bytes": 0,
        "open_chunks": 1,
        "lanes_peak": 1,
        **place(number, "ttbar"),
        "error": None,
        "columns": ["Jet_pt", "Jet_eta"],
        "sections": [
            {"path": "read", "total_ns": duration // 4, "self_ns": duration // 4, "cpu_ns": duration // 8, **section},
            {"path": "select", "total_ns": 2 * duration // 5, "self_ns": duration // 5, **section},
            {"path": "select/jets", "total_ns": duration // 5, "self_ns": duration // 5, **section},
            {"path": "select/jets", "helper": True, "total_ns": duration // 5, "self_ns": duration // 5, **section},
        ],
        "memory_sections": [
            {
                "path": "select/jets",
                "count": 1,
                "delta_bytes": 4096,
                "min_bytes": 4096,
                "max_bytes": 4096,
                "rss_start_bytes": 100 << 20,
                "rss_stop_bytes": (100 << 20) + 4096,
                "peak_bytes": 200 << 20,
            }
        ],
        "metrics": [{"name": "jets", "unit": "count", "count": 1, "sum": 5, "min": 5, "max": 5}],
        "cuts": [{"name": "all", "events": 100, "weights": 99.5}, {"name": "two jets", "events": 40, "weights": 39.5}],
        "activities": [],
        "sections_dropped": 0,
        "attributes": {},
    }
    line.update(changes)
    return line


def sample_line(seconds, rss_bytes):
    return {
        "type": "sample",
        "time_ns": at(seconds),
        "realtime_offset_ns": 0,
        "rss_bytes": rss_bytes,
        "cpu_ns": round(seconds * SECOND / 2),
        "threads": 2,
        "open_chunks": 1,
        "read_bytes": 0,
        "write_bytes": 0,
        "memory_limit_bytes": 4 << 30,
        "sections": [],
    }


def end_line(seconds, chunks, failed=0):
    sections = [{"path": "set up", "count": 1, "total_ns": SECOND // 10, "self_ns": SECOND // 10}]
    return {
        "type": "end",
        "time_ns": at(seconds),
        "realtime_offset_ns": 0,
        "chunks": chunks,
        "failed": failed,
        "open": 0,
        "dropped": 0,
        "overhead_ns": 1000,
        "sections": sections,
    }


def write_log(directory, lines):
    """One log; its first line is a process line."""
    os.makedirs(directory, exist_ok=True)
    first = lines[0]
    path = os.path.join(directory, f"{first['host']}-{first['pid']}-{first['start_ns']}-0.jsonl")
    with open(path, "w", encoding="utf-8") as log:
        for line in lines:
            log.write(json.dumps(line, separators=(",", ":")) + "\n")
    return path


def write_run(directory, run_id="run", slower=1.0, first_pid=100, events=100):
    """Two workers of ten chunks: twelve of ttbar, eight of zjets.

    Chunk 3 of the first worker fails and is repeated as its chunk 10; the second worker is killed in its chunk 10.
    """
    for worker in range(2):
        lines = [process_line(first_pid + worker, run_id=run_id)]
        now = 0.1
        for number in range(10):
            dataset = "ttbar" if number < 6 else "zjets"
            stop = now + slower * (0.1 + 0.01 * number)
            changes = {"events": events, **place(number + 100 * worker, dataset)}
            if worker == 0 and number == 3:
                changes.update(status="failed", events=None, error='bad basket, "Jet_pt"\nin line 2')
            begin = begin_line(number, now, dataset)
            begin.update(place(number + 100 * worker, dataset))
            lines += [begin, chunk_line(number, now, stop, **changes)]
            lines.append(sample_line(stop, (100 + number) << 20))
            now = stop
        if worker == 0:
            again = {"events": events, **place(3, "ttbar")}
            begin = begin_line(10, now)
            begin.update(place(3, "ttbar"))
            lines += [begin, chunk_line(10, now, now + 0.2, **again), end_line(now + 0.3, 11, failed=1)]
        else:
            lines.append(begin_line(10, now, "zjets"))
        write_log(directory, lines)
    return directory

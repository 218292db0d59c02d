"""Record logs of a whole invented cluster, about which every truth is known.

    python3 tests/simulated/simulated_run.py mock|wide|spell|killed|small|healthy DIRECTORY

`mock` has every trouble of a bad day: a worker whose reads are slow for a while, one whose memory grows, two that join
late, a few chunks with six times the usual events at the end, failures that are repeated. `spell` has only the slow
reads, `wide` long names and more chunks. In `killed`, half of the workers die in the middle. `small` has 12,000 chunks
of nearly one size, and each takes 30 ms whatever its size. `healthy` has no trouble.
"""

import dataclasses
import heapq
import json
import math
import os
import random
import sys

SECOND = 1_000_000_000
EPOCH = 1_790_000_000 * SECOND
LIMIT = 4 << 30  # bytes, of a worker's memory


@dataclasses.dataclass(frozen=True)
class Dataset:
    name: str
    chunks: int
    events: int  # of a chunk, in the mean
    us_per_event: float  # of CPU
    spread: float = 0.3  # of the events of its chunks, to either side


DATASETS = (
    Dataset("data2018", 620, 90_000, 34),
    Dataset("ttbar", 560, 82_000, 38),
    Dataset("wjets", 540, 98_000, 33),
    Dataset("zjets", 380, 105_000, 40),
    Dataset("single_top", 152, 73_000, 36),
)


@dataclasses.dataclass(frozen=True)
class Trouble:
    """What is wrong with a run, and should be found."""

    slow_reads: tuple = ()  # worker, from, to, factor
    late_workers: dict = dataclasses.field(default_factory=dict)  # seconds by worker
    large_chunks: int = 0  # of the last dataset, at its end
    failures: int = 0
    memory_growth: dict = dataclasses.field(default_factory=dict)  # bytes per second by worker
    deaths: dict = dataclasses.field(default_factory=dict)  # seconds by worker


BAD_DAY = Trouble(
    slow_reads=(5, 128.0, 222.0, 4.2),
    late_workers={6: 39.0, 7: 39.0},
    large_chunks=8,
    failures=3,
    memory_growth={3: 4.6e6},
)
SPELL = Trouble(slow_reads=(5, 100.0, 194.0, 4.0))
KILLED = Trouble(deaths={4: 150.0, 5: 151.0, 6: 152.0, 7: 153.0})


@dataclasses.dataclass
class Chunk:
    dataset: Dataset
    number: int  # in its dataset
    events: int
    fails: bool = False
    is_repeat: bool = False

    @property
    def file(self):
        return f"{self.dataset.name}_{self.number // 8:03}.root"

    def place(self):
        first = (self.number % 8) * 200_000
        return {
            "dataset": self.dataset.name,
            "file": f"root://storage.example//store/{self.file}",
            "tree": "Events",
            "entry_start": first,
            "entry_stop": first + self.events,
            "pass": None,
            "span": None,
        }


class SimulatedRun:
    """Threads take the next chunk as soon as they are free."""

    task_margins = (0.015, 0.005)  # seconds of a task before and after its chunk

    def __init__(self, trouble, seed=1, workers=8, threads=4, datasets=DATASETS, host="w{}"):
        self.random = random.Random(seed)
        self.trouble = trouble
        self.workers = workers
        self.threads = threads
        self.host = host
        self.lines = [[] for _ in range(workers)]
        self.numbers = [0] * workers
        self.failed = [0] * workers
        self.last_stop = 0.0
        self.chunks = self.list_chunks(datasets)
        self.schedule()

    def list_chunks(self, datasets):
        chunks = []
        for dataset in datasets:
            for number in range(dataset.chunks):
                chunks.append(Chunk(dataset, number, self.events_of_chunk(dataset)))
        for chunk in chunks[len(chunks) - self.trouble.large_chunks :]:
            chunk.events *= 6
        for chunk in self.random.sample(chunks[: len(chunks) // 2], self.trouble.failures):
            chunk.fails = True
        return chunks

    def events_of_chunk(self, dataset):
        return round(dataset.events * self.random.uniform(1 - dataset.spread, 1 + dataset.spread))

    def schedule(self):
        free = [
            (self.trouble.late_workers.get(worker, 1.0) + 0.05 * thread, worker, thread)
            for worker in range(self.workers)
            for thread in range(self.threads)
        ]
        heapq.heapify(free)
        waiting = list(reversed(self.chunks))
        while waiting:
            now, worker, thread = heapq.heappop(free)
            death = self.trouble.deaths.get(worker, math.inf)
            if now >= death:
                continue
            chunk = waiting.pop()
            stop = self.run(chunk, now, worker, thread)
            if stop > death:  # another worker does it, at the end
                waiting.insert(0, Chunk(chunk.dataset, chunk.number, chunk.events, is_repeat=True))
                continue
            if chunk.fails:
                waiting.append(Chunk(chunk.dataset, chunk.number, chunk.events, is_repeat=True))
            heapq.heappush(free, (stop + self.seconds_between(), worker, thread))

    def seconds_between(self):
        return self.random.uniform(0.02, 0.08)

    def cpu_seconds(self, chunk):
        return (0.12 + chunk.events * chunk.dataset.us_per_event * 1e-6) * self.random.uniform(0.96, 1.04)

    def read_seconds(self, chunk, now, worker):
        seconds = (0.1 + chunk.events * 9e-6) * self.random.uniform(0.85, 1.15)
        if self.trouble.slow_reads:
            slow, begin, end, factor = self.trouble.slow_reads
            if worker == slow and begin <= now < end:
                seconds *= factor
        return seconds

    def run(self, chunk, now, worker, thread):
        read = self.read_seconds(chunk, now, worker)
        cpu = self.cpu_seconds(chunk)
        stop = now + read + cpu
        number = self.numbers[worker]
        self.numbers[worker] += 1
        where = {"thread": 7000 + thread, "tid": 70 + thread, **chunk.place()}
        begin = {"type": "begin", "chunk": number, "time_ns": at(now), **where, "attributes": {}}
        self.lines[worker].append((now, 0, begin))
        self.lines[worker].append((stop, 1, self.chunk_line(chunk, number, now, read, cpu, where)))
        before, after = self.task_margins
        task = {
            "type": "task",
            "key": f"process-{worker}-{number}",
            "prefix": "process",
            "group": "process",
            "span": None,
            "thread": 7000 + thread,
            "start_ns": at(now - before),
            "stop_ns": at(stop + after),
            "outcome": "error" if chunk.fails else "memory",
            "attempt": 0,
            "worker": self.host.format(worker),
            "engine": "dask",
        }
        self.lines[worker].append((stop + after, 2, task))
        self.failed[worker] += chunk.fails
        if stop <= self.trouble.deaths.get(worker, math.inf):
            self.last_stop = max(self.last_stop, stop)
        return stop

    def chunk_line(self, chunk, number, start, read, cpu, where):
        read_ns, cpu_ns = round(read * SECOND), round(cpu * SECOND)
        shares = (("decompress", 0.16), ("calibrate", 0.2), ("select", 0.25), ("systematics", 0.24), ("fill", 0.1))
        sections = [section("read", read_ns, round(0.02 * read_ns))]
        sections += [section(name, round(share * cpu_ns), round(0.98 * share * cpu_ns)) for name, share in shares]
        return {
            "type": "chunk",
            "chunk": number,
            "start_ns": at(start),
            "stop_ns": at(start) + read_ns + cpu_ns,
            "status": "failed" if chunk.fails else "ok",
            "error": "XRootD: operation expired" if chunk.fails else None,
            "events": None if chunk.fails else chunk.events,
            "bytes_read": chunk.events * 1360,
            "bytes_uncompressed": chunk.events * 5000,
            "cpu_ns": cpu_ns + round(0.02 * read_ns),
            "helper_cpu_ns": 0,
            "cpu_wait_ns": round(0.004 * cpu_ns),
            "helper_wait_ns": 0,
            "helper_scope_ns": 0,
            "helper_union_ns": 0,
            "rss_start_bytes": 2 << 30,
            "rss_stop_bytes": 2 << 30,
            "rss_peak_bytes": 2 << 30,
            "io_read_bytes": 0,
            "open_chunks": self.threads,
            "lanes_peak": self.threads,
            **where,
            "columns": ["Jet_pt", "Jet_eta", "Muon_pt"],
            "sections": sections,
            "memory_sections": [],
            "metrics": [],
            "cuts": [] if chunk.fails else cuts(chunk.events),
            "activities": [],
            "sections_dropped": 0,
            "attributes": {},
        }

    def sample(self, worker, now, since):
        memory = 1.6e9 + 0.55e9 * min(1, since / 60) + self.trouble.memory_growth.get(worker, 0) * since
        return {
            "type": "sample",
            "time_ns": at(now),
            "realtime_offset_ns": 0,
            "rss_bytes": round(memory + 2e7 * self.random.random()),
            "cpu_ns": round(since * self.threads * 0.72 * SECOND),
            "threads": self.threads + 3,
            "open_chunks": self.threads,
            "read_bytes": 0,
            "write_bytes": 0,
            "memory_limit_bytes": LIMIT,
            "sections": [],
        }

    def write(self, directory):
        os.makedirs(directory, exist_ok=True)
        for worker in range(self.workers):
            self.write_worker(directory, worker)
        return directory

    def write_worker(self, directory, worker):
        start, host, pid = self.trouble.late_workers.get(worker, 1.0) - 0.9, self.host.format(worker), 4000 + worker
        lines = self.lines[worker]
        ticks = range(int(self.last_stop - start))
        lines += [(start + tick, 3, self.sample(worker, start + tick, tick)) for tick in ticks]
        death = self.trouble.deaths.get(worker, math.inf)
        lines = [line for line in lines if line[0] <= death]
        end = self.last_stop + 0.5
        with open(os.path.join(directory, f"{host}-{pid}-{at(start)}-0.jsonl"), "w", encoding="utf-8") as log:
            log.write(text(process_line(host, pid, start, self.threads)))
            for _, _, line in sorted(lines, key=lambda entry: entry[:2]):
                log.write(text(line))
            if death == math.inf:
                log.write(text(end_line(end, self.numbers[worker], self.failed[worker])))


class SmallChunks(SimulatedRun):
    """Chunks of nearly one size that take 30 ms: whatever their size, or in proportion to it."""

    task_margins = (0.0003, 0.0001)
    DATASETS = (Dataset("ttbar", 7_000, 2_000, 0, spread=0.02), Dataset("wjets", 5_000, 3_000, 0, spread=0.02))

    def __init__(self, seed, in_proportion=False):
        self.in_proportion = in_proportion
        super().__init__(Trouble(), seed, datasets=self.DATASETS)

    def seconds_between(self):
        return self.random.uniform(0.0005, 0.002)

    def read_seconds(self, chunk, now, worker):
        return 0.003 * self.size(chunk) * self.random.uniform(0.85, 1.15)

    def cpu_seconds(self, chunk):
        return 0.027 * self.size(chunk) * self.random.uniform(0.96, 1.04)

    def size(self, chunk):
        return chunk.events / chunk.dataset.events if self.in_proportion else 1


def at(seconds):
    return EPOCH + round(seconds * SECOND)


def text(line):
    return json.dumps(line, separators=(",", ":")) + "\n"


def section(path, total_ns, cpu_ns):
    extremes = {"min_ns": total_ns, "max_ns": total_ns}
    return {"path": path, "count": 1, "total_ns": total_ns, "self_ns": total_ns, "cpu_ns": cpu_ns, **extremes}


def cuts(events):
    shares = (("all events", 1.0), ("trigger", 0.29), ("1 lepton", 0.19), ("4 jets", 0.06))
    return [{"name": name, "events": round(events * share), "weights": None} for name, share in shares]


def process_line(host, pid, start, threads):
    return {
        "type": "process",
        "schema": "crema.records/1",
        "schema_minor": 1,
        "run_id": "simulated",
        "host": host,
        "pid": pid,
        "parent_pid": 1,
        "start_ns": at(start),
        "recorder": 0,
        "executable": "/bin/analysis",
        "arguments": ["analysis", "--config", "2018.yaml"],
        "cores": threads,
        "threads": threads,
        "memory_limit_bytes": LIMIT,
        "clock": "tsc",
        "sdk": "crema-cpp",
        "attributes": {},
    }


def end_line(seconds, chunks, failed):
    return {
        "type": "end",
        "time_ns": at(seconds),
        "realtime_offset_ns": 0,
        "chunks": chunks,
        "failed": failed,
        "open": 0,
        "dropped": 0,
        "overhead_ns": 1000,
        "sections": [],
    }


def healthy(seed):
    return SimulatedRun(Trouble(), seed)


def wide(seed):
    datasets = tuple(dataclasses.replace(one, chunks=round(one.chunks * 1.33)) for one in DATASETS)
    return SimulatedRun(SPELL, seed, datasets=datasets, host="lxbatch-analysis-{:04}.cern.example")


RUNS = {
    "mock": lambda seed: SimulatedRun(BAD_DAY, seed),
    "wide": wide,
    "spell": lambda seed: SimulatedRun(SPELL, seed),
    "killed": lambda seed: SimulatedRun(KILLED, seed),
    "small": SmallChunks,
    "healthy": healthy,
}

if __name__ == "__main__":
    RUNS[sys.argv[1]](1).write(sys.argv[2])

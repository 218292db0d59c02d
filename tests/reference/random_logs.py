"""Makes directories of record logs from a seed: everything that docs/record_log.md allows, and some things that it does
not."""

import collections
import dataclasses
import json
import os
import random
import struct

SECOND = 10**9
EPOCH = 1_790_000_000 * SECOND
PAGE = 4096
# More than a double holds exactly; a thousand of them are still less than 2^63.
HUGE = 2**53 // 5
CUTS = ("all", "trigger", 'two "leptons"', "z window")
NULLABLE = (
    "events",
    "bytes_read",
    "bytes_uncompressed",
    "cpu_ns",
    "helper_cpu_ns",
    "cpu_wait_ns",
    "helper_wait_ns",
    "rss_start_bytes",
    "rss_stop_bytes",
    "rss_peak_bytes",
    "system_cpu_ns",
    "minor_faults",
    "major_faults",
    "io_read_bytes",
    "lanes_peak",
    "open_chunks",
    "dataset",
    "file",
    "tree",
    "entry_start",
    "entry_stop",
    "columns",
    "sections",
    "memory_sections",
    "metrics",
    "cuts",
    "activities",
)


class Traits:
    """The kind of run that a seed makes. Only some seeds have each fault and feature, so that many seeds stay clean."""

    def __init__(self, dice):
        def sometimes(chance):
            return dice.random() < chance

        self.processes = dice.choice([1, 1, 2, 3, 5])
        self.threads = dice.choice([1, 1, 2, 3])
        self.chunks = dice.choice([1, 4, 8, 12, 24])
        self.declared = sometimes(0.6)
        self.helpers = sometimes(0.4)
        self.overlapping = sometimes(0.2)
        self.failures = dice.choice([0, 0, 0.1, 0.3])
        self.losses = dice.choice([0, 0, 0.1])
        self.recomputed = dice.choice([0, 0, 0.1])
        self.outliers = dice.choice([0, 0.05, 0.1])
        self.empty_chunks = dice.choice([0, 0, 0.1])
        self.nulls = dice.choice([0, 0, 0.03, 0.2])
        self.never_known = set(dice.sample(NULLABLE, dice.choice([0, 0, 1, 3])))
        self.growth_bytes = dice.choice([0, 10 * PAGE, 200 * PAGE])
        self.samples = sometimes(0.7)
        self.missing_end = dice.choice([0, 0, 0.5, 1])
        self.running = sometimes(0.15)
        self.huge = sometimes(0.05)
        self.malformed = dice.choice([0, 0, 0.05])
        self.unknown = dice.choice([0, 0, 0.05])
        self.blank = dice.choice([0, 0, 0.05])
        self.torn = sometimes(0.25)
        self.copies = sometimes(0.15)
        self.reordered = sometimes(0.3)
        self.spaced = sometimes(0.2)
        self.runs = dice.choice([1, 1, 1, 2])
        self.passes = dice.choice([1, 1, 2])
        self.second_recorder = sometimes(0.25)
        self.weights = sometimes(0.6)
        self.total_events = sometimes(0.3)
        self.summed = dice.choice([0, 0, 0, 0.3, 0.7, 1])
        self.suspends = sometimes(0.15)
        self.process_cpu = sometimes(0.5)
        self.nests = sometimes(0.5)
        self.clock_skew_ns = dice.choice([0, 0, 1000])


def work_items(dice, traits):
    """Ranges of entries of files; a range is one chunk."""
    items = []
    for dataset in ("ttbar", "zjets", "données"):
        for number in range(dice.randint(1, 2)):
            entry, size = 0, dice.choice([1, 100, 5000])
            for _ in range(traits.chunks):
                stop = entry + max(1, round(size * dice.choice([0.5, 1, 1, 1, 1, 1.25, 3.7])))
                items.append(
                    {
                        "dataset": dataset,
                        "file": f"/data/{dataset}/{number}.root",
                        "tree": dice.choice(["Events", "Events", None]),
                        "entry_start": entry,
                        "entry_stop": stop,
                        "pass": f"pass {dice.randrange(traits.passes)}" if traits.passes > 1 else None,
                    }
                )
                entry = stop
    dice.shuffle(items)
    return items


def process_line(dice, traits, run, number, start):
    return {
        "type": "process",
        "schema": "crema.records/1",
        "schema_minor": 0,
        "run_id": run,
        "host": f"node{dice.randrange(3)}",
        "pid": 100 + number,
        "parent_pid": 1,
        "pid_namespace": dice.choice([4026531836, None]),
        "start_ns": start,
        "boot_id": dice.choice(["898e31df-ea84-414d-b00d-743fbb391096", None]),
        "recorder": 0,
        "executable": "/bin/analysis",
        "arguments": ["analysis", '--cut="pt > 25"'],
        "cores": dice.choice([4, 2.5, 1, None]),
        "threads": traits.threads + dice.choice([0, 0, 1]) if traits.declared else None,
        "memory_limit_bytes": dice.choice([4 << 30, 1 << 30, None]),
        "clock": "tsc",
        "sdk": "crema-cpp 0.1.0",
        "attributes": {"total_events": 10**6} if traits.total_events else {},
    }


def section_row(dice, path, total, self_ns, **more):
    count = dice.randint(1, 4)
    return {
        "path": path,
        **({"helper": True} if more.get("helper") else {}),
        "count": count,
        "total_ns": total,
        "self_ns": self_ns,
        "min_ns": total // (2 * count),
        "max_ns": total // count,
        **({"cpu_ns": dice.randint(0, total)} if dice.random() < 0.3 else {}),
        **({"failed": dice.randint(1, count)} if more.get("failed") else {}),
    }


def section_rows(dice, duration, scope, failed):
    """Sections whose self times fit into the duration."""
    rows = []
    select, jets, read = (duration * share // 100 for share in dice.choices(range(30), k=3))
    if dice.random() < 0.9:
        rows.append(section_row(dice, "read", read, read))
    if dice.random() < 0.8:
        rows.append(section_row(dice, "select", select + jets, select, failed=failed))
        rows.append(section_row(dice, "select/jets", jets, jets, failed=failed and dice.random() < 0.5))
    if dice.random() < 0.3:
        rows.append(section_row(dice, "a%2Fb", duration // 10, duration // 10))
    if scope:
        rows.append(section_row(dice, "select/jets", scope // 2, scope // 3, helper=True))
    return rows


def memory_row(dice, path):
    start = dice.randint(10, 10**5) * PAGE
    low, high = sorted((dice.randint(-(10**4), 10**4) * PAGE, dice.randint(-(10**4), 10**4) * PAGE))
    return {
        "path": path,
        "count": 2,
        "delta_bytes": low + high,
        "min_bytes": low,
        "max_bytes": high,
        "rss_start_bytes": start,
        "rss_stop_bytes": max(0, start + high),
        "peak_bytes": start + abs(high),
    }


def metric_row(dice, name, unit, values):
    row = {
        "name": name,
        "unit": unit,
        "count": len(values),
        "sum": sum(values),
        "min": min(values, default=None),
        "max": max(values, default=None),
    }
    if dice.random() < 0.1:
        row["invalid"] = dice.randint(1, 3)
    if len(set(values)) > 1 and dice.random() < 0.7:
        shift = dice.choice([0, 0, 0, 1, 4])
        row["sketch"] = sketch_of(values, shift)
        if shift:
            row["sketch_shift"] = shift
    return row


def sketch_of(values, shift):
    """As docs/record_log.md says: bucket, count, ... by growing bucket."""
    counts = collections.Counter()
    for value in values:
        bucket = struct.unpack("<Q", struct.pack("<d", abs(value)))[0] >> 46 >> shift
        counts[bucket if value > 0 else -bucket] += 1
    return [number for pair in sorted(counts.items()) for number in pair]


def metric_rows(dice, duration):
    rows = [metric_row(dice, "jets", "count", [dice.randint(0, 9) for _ in range(dice.choice([0, 1, 1, 3]))])]
    if dice.random() < 0.5:
        rows.append(metric_row(dice, "mass", "GeV", [dice.uniform(-10, 200) for _ in range(dice.choice([0, 1, 4]))]))
    if dice.random() < 0.5:
        rows.append(metric_row(dice, "mass", "", [dice.gauss(0, 1e6)]))
    if dice.random() < 0.6:
        rows.append(metric_row(dice, "bytes_read", "B", [dice.randint(1, 10**8)]))
        rows.append(metric_row(dice, "read_wall", "s", [duration / 1e9 * dice.random()]))
        rows.append(metric_row(dice, "read_calls", "count", [dice.randint(1, 100)]))
        rows.append(metric_row(dice, "read_overhead_bytes", "B", [dice.randint(0, 10**6)]))
    if dice.random() < 0.6:
        rows.append(metric_row(dice, "unzip_bytes", "B", [dice.randint(1, 10**8)]))
        rows.append(metric_row(dice, "unzip_wall", "s", [duration / 1e9 * dice.random()]))
    return rows


def cut_rows(dice, events, weights):
    if events % 3 == 0:
        return flow_rows(dice, events)
    rows, left = [], events
    for name in CUTS:
        rows.append({"name": name, "events": left, "weights": left * dice.uniform(0.9, 1.1) if weights else None})
        left = round(left * dice.random())
    return rows


def flow_rows(dice, events):
    """Two branches below all events, of which one may not know its input."""
    flow = dice.choice(["ttbar", "ttbar, loop 2", "ttbar, loop 10"])
    rows = [{"name": "all", "events": events, "weights": None, "seen": events, "path": "all", "flow": flow}]
    for name in ("jets", "leptons"):
        seen = dice.randint(0, events)
        left = dice.randint(0, seen)
        branch = {"name": name, "events": left, "weights": None, "path": f"all/{name}", "flow": flow}
        rows.append({**branch, "seen": seen} if name == "jets" else branch)
        rows.append({"name": "MET", "events": dice.randint(0, left), "weights": None, "path": f"all/{name}/MET"})
        rows[-1]["flow"] = flow
    return rows


def activity_rows(dice):
    rows = [{"label": "basket cache", "unit": "count", "value": dice.randint(0, 50)}]
    if dice.random() < 0.5:
        rows.append({"label": "open file", "unit": "seconds", "value": dice.random()})
    return rows[: dice.randint(0, 2)]


def own_times(dice, traits, own):
    """What a chunk spends on itself."""
    suspended = 0
    if traits.suspends and dice.random() < 0.5:
        # Not a tenth: the tail ends where exactly 90 % of the cores are occupied.
        suspended = round(own * dice.choice([0.15, 0.6, 1]))
    own -= suspended
    busy = dice.random()
    cpu = round(own * busy * dice.choice([1, 1, 1, 1.3]))
    wait = round(own * (1 - busy) * dice.choice([0, 0.1, 0.5, 1.2]))
    return OwnTimes(suspended, cpu, wait)


def chunk_line(dice, traits, begin, events, stop, status, times):
    duration = stop - begin["time_ns"] - times.suspended - times.inner
    scope = round(duration * dice.uniform(0, 1.5)) if traits.helpers and dice.random() < 0.7 else 0
    rss = (200_000 + dice.randint(-3000, 3000)) * PAGE + traits.growth_bytes * begin["chunk"]
    stored = dice.randint(HUGE // 2, HUGE) if traits.huge else dice.randint(0, 10**6)
    place = {name: begin[name] for name in ("thread", "tid", *PLACE)}
    line = {
        "type": "chunk",
        "chunk": begin["chunk"],
        "start_ns": begin["time_ns"],
        "stop_ns": stop,
        "status": status,
        "events": events,
        "bytes_read": stored,
        "bytes_uncompressed": stored * dice.randint(1, 5),
        "cpu_ns": times.cpu,
        "helper_cpu_ns": round(scope * dice.uniform(0, 1.05)),
        "cpu_wait_ns": times.wait,
        "helper_wait_ns": round(scope * dice.uniform(0, 0.2)),
        "helper_scope_ns": scope,
        "helper_union_ns": min(duration, round(scope * dice.uniform(0.5, 1))),
        "rss_start_bytes": rss,
        "rss_stop_bytes": rss + dice.randint(-2000, 3000) * PAGE,
        "rss_peak_bytes": rss + 4000 * PAGE,
        "io_read_bytes": dice.randint(0, 10**6),
        "system_cpu_ns": round(times.cpu * dice.random()),
        "minor_faults": dice.randint(0, 10**5),
        "major_faults": dice.choice([0, 0, 17]),
        "open_chunks": traits.threads,
        "lanes_peak": traits.threads + (2 if scope else 0),
        **place,
        "span": dice.choice([None, "process"]),
        "error": "bad basket,\nline 2" if status == "failed" else None,
        "columns": dice.sample(["Jet_pt", "Jet_eta", "Muon_pt", "nMuon"], dice.randint(0, 4)),
        "sections": section_rows(dice, duration, scope, status == "failed"),
        "memory_sections": [memory_row(dice, path) for path in ("select/jets", "fill")[: dice.randint(0, 2)]],
        "metrics": metric_rows(dice, duration),
        "cuts": cut_rows(dice, events, traits.weights and dice.random() < 0.95),
        "activities": activity_rows(dice),
        "sections_dropped": dice.choice([0, 0, 0, 2]),
        **({"suspended_ns": times.suspended} if times.suspended else {}),
        **({"inner_ns": times.inner} if times.inner else {}),
        "attributes": {"generator": "madgraph"},
    }
    for name in NULLABLE:
        if name in traits.never_known or dice.random() < traits.nulls:
            line[name] = None
            if dice.random() < 0.5:
                del line[name]
    return line


PLACE = ("dataset", "file", "tree", "entry_start", "entry_stop", "pass", "span")


def added(rows, more, names):
    """Rows as in `sums`: rows of the same names are added up."""
    for row in more or []:
        known = next((have for have in rows if all(have.get(name) == row.get(name) for name in names)), None)
        if known is None:
            rows.append(dict(row))
        else:
            for field, value in row.items():
                if field not in names and field != "helper":
                    known[field] = combined(field, known.get(field), value)
            rows_of_largest(known, row)


def combined(field, one, other):
    if None in (one, other):
        return other if one is None and field != "weights" else one if field != "weights" else None
    if field.startswith("min"):
        return min(one, other)
    if field.startswith(("max", "peak", "rss")):
        return max(one, other)
    return one + other


def rows_of_largest(known, row):
    """A memory section's readings are those around its largest difference."""
    if "rss_stop_bytes" in row and row["max_bytes"] == known["max_bytes"]:
        known.update({field: row[field] for field in ("rss_start_bytes", "rss_stop_bytes")})


ROWS = {
    "sections": ("path", "helper"),
    "memory_sections": ("path",),
    "metrics": ("name", "unit"),
    "cuts": ("name", "path", "flow"),
    "activities": ("label", "unit"),
}
# These sums are known if one chunk has the value; the others, if all chunks have it.
KNOWN_IF_SOME_HAVE = ("events", "bytes_read", "bytes_uncompressed")
KNOWN_IF_ALL_HAVE = (
    *("cpu_ns", "helper_cpu_ns", "cpu_wait_ns", "helper_wait_ns", "helper_scope_ns", "helper_union_ns"),
    *("system_cpu_ns", "minor_faults", "major_faults"),
)


def duration_of(chunk):
    return chunk["stop_ns"] - chunk["start_ns"] - chunk.get("suspended_ns", 0) - chunk.get("inner_ns", 0)


def joined_ns(chunk):
    if None in (chunk.get("cpu_ns"), chunk.get("cpu_wait_ns")):
        return None
    duration = duration_of(chunk)
    return min(chunk["helper_union_ns"], max(0, duration - chunk["cpu_ns"] - chunk["cpu_wait_ns"]))


def total_of(values, of_all):
    known = [value for value in values if value is not None]
    return None if not known or (of_all and len(known) < len(values)) else sum(known)


def sums_line(chunks, begun, lanes):
    """The totals of chunks of one dataset, file, pass and status."""
    first = chunks[0]
    durations = [duration_of(chunk) for chunk in chunks]
    rows = {name: [] for name in ROWS}
    for chunk in chunks:
        for name, names in ROWS.items():
            added(rows[name], chunk.get(name), names)
    return {
        "type": "sums",
        "time_ns": max(chunk["stop_ns"] for chunk in chunks),
        "reason": "log_share",
        **{name: first.get(name) for name in ("dataset", "file", "pass", "status")},
        "chunks": len(chunks),
        "begun": begun,
        "first_start_ns": min(chunk["start_ns"] for chunk in chunks),
        "last_stop_ns": max(chunk["stop_ns"] for chunk in chunks),
        "duration_ns": sum(durations),
        "min_duration_ns": min(durations),
        "max_duration_ns": max(durations),
        "chunks_with_events": sum(chunk.get("events") is not None for chunk in chunks),
        **{name: total_of([chunk.get(name) for chunk in chunks], False) for name in KNOWN_IF_SOME_HAVE},
        **{name: total_of([chunk.get(name) for chunk in chunks], True) for name in KNOWN_IF_ALL_HAVE},
        "helper_cpu_ns": sum(chunk.get("helper_cpu_ns") or 0 for chunk in chunks),
        "helper_joined_ns": total_of([joined_ns(chunk) for chunk in chunks], True),
        "rss_peak_bytes": None,
        "io_read_bytes": None,
        "lanes_peak": lanes,
        **rows,
        "sections_dropped": sum(chunk["sections_dropped"] for chunk in chunks),
    }


@dataclasses.dataclass
class OwnTimes:
    """The final record of a chunk, with the time of other recorders' chunks inside it."""

    suspended: int
    cpu: int
    wait: int
    inner: int = 0


@dataclasses.dataclass
class Seen:
    """What a recorder knows about a chunk inside its own chunk: the time of its own chunks, and the CPU time of the
    others."""

    inner: int = 0
    cpu: int = 0
    wait: int = 0


class Work:
    """A process at work: its threads take items, one after another or one inside another."""

    def __init__(self, dice, traits, process, recorders):
        self.dice = dice
        self.traits = traits
        self.writers = [Writer(dice, traits, {**process, "recorder": recorder}) for recorder in range(recorders)]
        self.start = process["start_ns"]
        self.items = []
        self.again = []

    def attempts(self, items):
        """Processes `items`. Returns those that have to be tried again."""
        self.items = items[::-1]
        # Recorders whose chunks do not nest have threads of their own.
        threads = self.traits.threads * (1 if self.traits.nests else len(self.writers))
        now = [self.start + self.dice.randint(0, 2 * SECOND) for _ in range(threads)]
        while self.items:
            thread = min(range(threads), key=lambda index: now[index])
            start = now[thread] + self.dice.choice([0, 0, self.dice.randint(0, SECOND // 2)])
            writer = self.dice.choice(self.writers) if self.traits.nests else self.writers[thread % len(self.writers)]
            stop, _ = self.attempt(writer, thread, start, 3 if self.traits.nests else 0)
            now[thread] = start if self.traits.overlapping and self.dice.random() < 0.2 else stop
        return self.again

    def attempt(self, writer, thread, start, deepest, around=None):
        """Processes an item, and others inside it. Returns when it stops, and what each recorder sees of it.

        `around`: for each recorder, the innermost chunk that the thread has open.
        """
        item = self.items.pop()
        around = around or {}
        begin = writer.begin(item, thread, start, around.get(writer))
        around = {**around, writer: begin["chunk"]}
        own = self.duration(item)
        stop, before, inside = start, 0, []
        for after in self.cuts(own, deepest):
            if not self.items:
                break
            inner = self.dice.choice(self.writers)
            stop, seen = self.attempt(inner, thread, stop + after - before, deepest - 1, around)
            inside.append(seen)
            before = after
        stop += own - before
        return stop, self.end(writer, begin, item, stop, own, inside)

    def cuts(self, own, deepest):
        """The times, in a chunk's own time, at which other chunks begin inside it."""
        number = self.dice.choice([0, 0, 1, 2, 3]) if deepest and own else 0
        return sorted(self.dice.choice([self.dice.randint(1, own), own]) for _ in range(number))

    def end(self, writer, begin, item, stop, own, inside):
        times = own_times(self.dice, self.traits, own)
        seen = [
            Seen(
                sum(of[recorder].inner for of in inside),
                times.cpu + sum(of[recorder].cpu for of in inside),
                times.wait + sum(of[recorder].wait for of in inside),
            )
            for recorder in range(len(self.writers))
        ]
        mine = seen[writer.recorder]
        recorded = OwnTimes(times.suspended, mine.cpu, mine.wait, mine.inner)
        status = "failed" if self.dice.random() < self.traits.failures else "ok"
        lost = self.dice.random() < self.traits.losses
        if not lost:
            writer.end(begin, item["entry_stop"] - item["entry_start"], stop, status, recorded)
        if lost or status == "failed" or self.dice.random() < self.traits.recomputed:
            self.again.append(item)
        seen[writer.recorder] = Seen(inner=stop + writer.clock_ns - begin["time_ns"] - times.suspended)
        return seen

    def duration(self, item):
        if self.dice.random() < self.traits.empty_chunks:
            return 0
        events = item["entry_stop"] - item["entry_start"]
        fixed = 20_000_000 + events * 50_000
        outlier = 10 if self.dice.random() < self.traits.outliers else 1
        return round(fixed * self.dice.uniform(0.9, 1.1) * outlier)


class Writer:
    """The log of one recorder."""

    def __init__(self, dice, traits, process):
        self.dice = dice
        self.traits = traits
        self.process = process
        self.recorder = process["recorder"]
        # Each recorder reads the wall clock once, at another time.
        self.clock_ns = self.recorder * dice.choice([-1, 1]) * traits.clock_skew_ns
        # The numbers of two recorders of a process may be consecutive, but need not be.
        self.next_number = 1000 * process["recorder"]
        self.timed = []
        self.summed = self.summed_failed = 0

    def process_cpu(self):
        """The CPU time of the set-up in the first chunk's `begin`, if the writer knows minor 6."""
        if self.next_number != 0 or not self.traits.process_cpu:
            return {}
        return {"process_cpu_ns": self.dice.randint(0, SECOND)}

    def begin(self, item, thread, start, around):
        """Writes the line and returns it."""
        knows_minor_17 = self.process["pid"] % 2 == 0
        begin = {
            "type": "begin",
            "chunk": self.next_number,
            "time_ns": start + self.clock_ns,
            "thread": 2**63 + 4096 * thread,
            "tid": self.process["pid"] + thread,
            **item,
            "span": None,
            **({} if around is None or not knows_minor_17 else {"inside": around}),
            **self.process_cpu(),
            "attributes": {},
        }
        for name in ("dataset", "file", "tree", "entry_start", "entry_stop"):
            if name in self.traits.never_known:
                begin[name] = None
        self.next_number += 1
        if self.traits.suspends and self.dice.random() < 0.3:
            begin["suspended"] = self.dice.randint(1, 3)
        self.timed.append((begin["time_ns"], 0, begin))
        return begin

    def end(self, begin, events, stop, status, times):
        stop += self.clock_ns
        line = chunk_line(self.dice, self.traits, begin, events, stop, status, times)
        self.timed.append((stop, 1, line))

    def sum_up(self):
        """Removes the lines of the last chunks, and writes their sums, some of them twice."""
        ended = sorted(
            (time, number) for number, (time, kind, line) in enumerate(self.timed) if line["type"] == "chunk"
        )
        last = ended[round(len(ended) * (1 - self.traits.summed)) :]
        if not last:
            return
        lines = {number: self.timed[number][2] for _, number in last}
        numbers = {line["chunk"] for line in lines.values()}
        # Chunks that were open when lines stopped have a begin line.
        begun = [number for number in sorted(numbers) if self.dice.random() < 0.3]
        self.timed = [
            entry
            for number, entry in enumerate(self.timed)
            if number not in lines and (entry[2]["type"] != "begin" or entry[2]["chunk"] not in numbers - set(begun))
        ]
        rows = {}
        for line in lines.values():
            key = tuple(line.get(name) for name in ("dataset", "file", "pass", "status"))
            rows.setdefault(key, []).append(line)
        for chunks in rows.values():
            for some in (chunks[: 1 + len(chunks) // 2], chunks):
                own = [chunk["chunk"] for chunk in some if chunk["chunk"] in begun]
                line = sums_line(some, own, self.traits.threads + 2)
                self.timed.append((line["time_ns"], 2, line))
        self.summed = len(lines)
        self.summed_failed = sum(line["status"] == "failed" for line in lines.values())

    def latest(self):
        return max((time for time, _, _ in self.timed), default=self.process["start_ns"])

    def sections_outside(self):
        total = self.dice.randint(1, SECOND)
        return [{"path": "set up", "count": 1, "total_ns": total, "self_ns": total, "min_ns": total, "max_ns": total}]

    def add_samples(self):
        start, stop = self.process["start_ns"], self.latest()
        cpu, time = self.dice.randint(0, SECOND), start + self.dice.randint(1, SECOND)
        overhead = 0
        while time < stop:
            overhead += self.dice.randint(0, 10_000)
            cpu += self.dice.randint(0, SECOND)
            sample = {
                "type": "sample",
                "time_ns": time,
                "realtime_offset_ns": self.dice.choice([0, 0, 0, -5_000_000, 2_000]),
                "rss_bytes": self.dice.choice([self.dice.randint(1, 10**6) * PAGE] * 9 + [None]),
                "cpu_ns": cpu,
                "threads": 2,
                "open_chunks": 1,
                "read_bytes": 0,
                "write_bytes": 0,
                "memory_limit_bytes": self.process["memory_limit_bytes"],
                "sections": self.sections_outside(),
                "cpu_pressure_percent": 12.36,
                "overhead_ns": overhead,
            }
            self.timed.append((time, 2, sample))
            time += max(SECOND // 3, (stop - start) // self.dice.randint(3, 12))

    def add_spans_and_files(self):
        for name in self.dice.sample(["preprocess", "process", "reduce", "merge"], self.dice.randint(0, 3)):
            start = self.process["start_ns"] + self.dice.randint(0, SECOND)
            stop = start + self.dice.randint(0, SECOND)
            span = {"type": "span", "name": name, "path": name, "start_ns": start, "stop_ns": stop, "thread": 1}
            self.timed.append((stop, 3, span))
        files = sorted({line["file"] for _, _, line in self.timed if line.get("file")})
        for file in self.dice.sample(files, min(len(files), self.dice.randint(0, 2))):
            # The contents of a file do not depend on the reader.
            size = 10**7 + 1000 * len(file)
            line = {"type": "file", "file": file, "branches": 312, "bytes": 4 * size, "compressed_bytes": size}
            self.timed.append((self.process["start_ns"], 3, line))

    def end_line(self):
        chunks = [line for _, _, line in self.timed if line["type"] == "chunk"]
        dropped = self.dice.choice([0, 0, 3])
        causes = {"unwritten": dropped // 2, "outside_chunks": dropped - dropped // 2}
        return {
            "type": "end",
            "time_ns": self.latest() + self.dice.randint(0, SECOND),
            "realtime_offset_ns": self.dice.choice([0, 0, 7_000_000]),
            "chunks": len(chunks) + self.summed,
            "failed": sum(line["status"] == "failed" for line in chunks) + self.summed_failed,
            "open": 0,
            "dropped": dropped,
            "summed_chunks": self.summed,
            **(causes if self.dice.random() < 0.8 else {}),
            "overhead_ns": self.dice.randint(10**6, 10**7),
            **({"cpu_ns": self.dice.randint(SECOND, 20 * SECOND)} if self.traits.process_cpu else {}),
            **({"sections": self.sections_outside()} if self.dice.random() < 0.8 else {}),
        }

    def lines(self):
        if self.traits.samples and not self.process["recorder"]:
            self.add_samples()
        self.add_spans_and_files()
        if self.traits.summed:
            self.sum_up()
        ordered = sorted(self.timed, key=lambda entry: entry[:2])
        lines = [self.process, *(line for _, _, line in ordered)]
        if self.dice.random() >= self.traits.missing_end:
            lines.append(self.end_line())
        return lines


def text_of(dice, traits, line):
    if traits.reordered:
        names = [name for name in line if name != "type"]
        dice.shuffle(names)
        line = {"type": line["type"], **{name: line[name] for name in names}}
        if dice.random() < 0.3:
            line = {name: line[name] for name in reversed(line)}
    line = {**line, **({"later": [1, {"minor": None}]} if dice.random() < 0.02 else {})}
    separators = None if traits.spaced else (",", ":")
    return json.dumps(line, separators=separators, ensure_ascii=dice.random() < 0.5).encode()


def broken(dice, text):
    """A line that is not a record."""
    return dice.choice(
        [
            b"hello",
            b"[1,2]",
            b'{"type":"chunk"}',
            b'{"type":7}',
            text.replace(b'_ns":', b'_ns":-'),
            b'{"type":"chunk","chunk":0,"start_ns":1,"stop_ns":2,"status":"fine"}',
            b'{"type":"chunk","chunk":0,"start_ns":2,"stop_ns":1,"status":"ok"}',
            b'{"type":"sample","time_ns":"now"}',
            b"\xff\xfe" + text,
        ]
    )


def texts_of(dice, traits, lines):
    """The lines of a log, faults included; the first one stays whole."""
    texts = [text_of(dice, traits, lines[0])]
    for line in lines[1:]:
        text = text_of(dice, traits, line)
        if dice.random() < traits.blank:
            texts.append(dice.choice([b"", b"  "]))
        if dice.random() < traits.unknown:
            texts.append(b'{"type":"newer","time_ns":17}')
        if dice.random() < traits.malformed:
            texts.append(broken(dice, text))
        if traits.torn and dice.random() < 0.05:
            text = text[: dice.randint(1, len(text) - 1)]
        texts.append(text)
    return texts


def log_bytes(dice, traits, lines, running):
    texts = texts_of(dice, traits, lines)
    if running:
        return b"\n".join(texts) + b'\n{"type":"sam'
    if traits.torn and len(texts) > 1 and dice.random() < 0.5:
        return b"\n".join([*texts[:-1], texts[-1][: dice.randint(1, max(1, len(texts[-1]) - 1))]])
    return b"\n".join(texts) + b"\n"


class Logs:
    """A directory of logs, and the facts that the caller needs."""

    def __init__(self, directory):
        self.directory = directory
        self.run = "all"
        self.running = []

    def write(self, process, recorder, content, suffix=""):
        name = f"{process['host']}-{process['pid']}-{process['start_ns']}-{recorder}{suffix}.jsonl"
        with open(os.path.join(self.directory, name), "wb") as log:
            log.write(content)
        return name


def write_process(dice, traits, logs, process, items):
    """Writes the log of a process, or several logs if it has several recorders. Returns the items to be tried again."""
    recorders = dice.choice([2, 2, 3]) if traits.second_recorder and traits.declared else 1
    work = Work(dice, traits, process, recorders)
    again = work.attempts(items)
    for writer in work.writers:
        line, recorder = writer.process, writer.recorder
        lines = writer.lines()
        running = traits.running and lines[-1]["type"] != "end" and recorders == 1
        content = log_bytes(dice, traits, lines, running)
        name = logs.write(line, recorder, content)
        if running:
            logs.running.append(name)
        elif traits.copies:
            logs.write(line, recorder, content if dice.random() < 0.5 else half_of(content), ".live")
    return again


def half_of(content):
    """A copy from when the log was being written."""
    lines = content.splitlines(keepends=True)
    return b"".join(lines[: 1 + len(lines) // 2])


def write_logs(directory, seed):
    """Writes the logs of `seed` into the empty `directory`."""
    dice = random.Random(seed)
    traits = Traits(dice)
    logs = Logs(directory)
    number = 0
    for run in range(traits.runs):
        items = work_items(dice, traits)
        share = -(-len(items) // traits.processes)
        start = EPOCH + dice.randint(0, SECOND)
        again = []
        for index in range(traits.processes):
            process = process_line(dice, traits, f"run {run}", number, start + dice.randint(0, 3 * SECOND))
            number += 1
            mine = again + items[index * share : (index + 1) * share]
            again = write_process(dice, traits, logs, process, mine)
            start += dice.choice([0, 0, 5 * SECOND])
    if traits.runs > 1 and dice.random() < 0.5:
        logs.run = "run 0"
    return logs

"""Record logs as docs/record_log.md defines them, read line by line: processes, and their attempts at chunks."""

import json
import os

LARGEST_SIGNED = 2**63 - 1
LARGEST_UNSIGNED = 2**64 - 1
LONGEST_LINE = 1 << 20


def is_integer(value):
    return isinstance(value, int) and not isinstance(value, bool)


def is_text(value):
    return isinstance(value, str)


def is_count(value):
    """A number, a size or a time: never negative."""
    return is_integer(value) and 0 <= value <= LARGEST_SIGNED


def is_signed(value):
    return is_integer(value) and -LARGEST_SIGNED - 1 <= value <= LARGEST_SIGNED


def is_thread(value):
    return is_integer(value) and 0 <= value <= LARGEST_UNSIGNED


def is_number(value):
    return is_integer(value) or isinstance(value, float)


def is_amount(value):
    return is_number(value) and value >= 0


def is_flag(value):
    return isinstance(value, bool)


def is_status(value):
    return value in ("ok", "failed")


def is_list(value):
    return isinstance(value, list)


def is_object(value):
    return isinstance(value, dict)


def is_texts(value):
    return is_list(value) and all(is_text(item) for item in value)


def is_numbers(value):
    return is_list(value) and all(is_count(item) for item in value)


def fields(required, **optional):
    """The type of each field; `required` fields may not be missing or null."""
    return required, optional


def is_rows_of(layout):
    return lambda value: is_list(value) and all(is_object(row) and fits(row, layout) for row in value)


def fits(line, layout):
    required, optional = layout
    for field, allowed in required.items():
        if line.get(field) is None or not allowed(line[field]):
            return False
    return all(line.get(field) is None or allowed(line[field]) for field, allowed in optional.items())


SECTIONS = fields(
    {"path": is_text, "count": is_count, "total_ns": is_count, "self_ns": is_count},
    helper=is_flag,
    min_ns=is_count,
    max_ns=is_count,
    cpu_ns=is_count,
    failed=is_count,
)
MEMORY_SECTIONS = fields(
    {
        "path": is_text,
        "count": is_count,
        "delta_bytes": is_signed,
    },
    min_bytes=is_signed,
    max_bytes=is_signed,
    rss_start_bytes=is_count,
    rss_stop_bytes=is_count,
    peak_bytes=is_count,
)
METRICS = fields(
    {"name": is_text, "count": is_count}, unit=is_text, sum=is_number, min=is_number, max=is_number, invalid=is_count
)
CUTS = fields({"name": is_text, "events": is_count}, weights=is_number, seen=is_count, path=is_text, flow=is_text)
ACTIVITIES = fields({"label": is_text}, unit=is_text, value=is_number)
PLACE = {
    "thread": is_thread,
    "tid": is_count,
    "dataset": is_text,
    "file": is_text,
    "tree": is_text,
    "entry_start": is_signed,
    "entry_stop": is_signed,
    "pass": is_text,
}
LAYOUTS = {
    "process": fields(
        {"schema": is_text, "host": is_text, "pid": is_count, "start_ns": is_count},
        run_id=is_text,
        boot_id=is_text,
        pid_namespace=is_count,
        recorder=is_count,
        cores=is_amount,
        threads=is_count,
        memory_limit_bytes=is_count,
        attributes=is_object,
    ),
    "begin": fields({"chunk": is_count, "time_ns": is_count}, suspended=is_count, process_cpu_ns=is_count, **PLACE),
    "chunk": fields(
        {"chunk": is_count, "start_ns": is_count, "stop_ns": is_count, "status": is_status},
        events=is_count,
        bytes_read=is_count,
        bytes_uncompressed=is_count,
        cpu_ns=is_count,
        helper_cpu_ns=is_count,
        cpu_wait_ns=is_count,
        helper_wait_ns=is_count,
        helper_scope_ns=is_count,
        helper_union_ns=is_count,
        rss_start_bytes=is_count,
        rss_stop_bytes=is_count,
        rss_peak_bytes=is_count,
        system_cpu_ns=is_count,
        minor_faults=is_count,
        major_faults=is_count,
        lanes_peak=is_count,
        span=is_text,
        error=is_text,
        columns=is_texts,
        sections=is_rows_of(SECTIONS),
        memory_sections=is_rows_of(MEMORY_SECTIONS),
        metrics=is_rows_of(METRICS),
        cuts=is_rows_of(CUTS),
        activities=is_rows_of(ACTIVITIES),
        sections_dropped=is_count,
        suspended_ns=is_count,
        inner_ns=is_count,
        **PLACE,
    ),
    "sums": fields(
        {
            "time_ns": is_count,
            "status": is_status,
            "chunks": is_count,
            "first_start_ns": is_count,
            "last_stop_ns": is_count,
            "duration_ns": is_count,
        },
        reason=is_text,
        dataset=is_text,
        file=is_text,
        begun=is_numbers,
        min_duration_ns=is_count,
        max_duration_ns=is_count,
        chunks_with_events=is_count,
        events=is_count,
        bytes_read=is_count,
        bytes_uncompressed=is_count,
        cpu_ns=is_count,
        helper_cpu_ns=is_count,
        cpu_wait_ns=is_count,
        helper_wait_ns=is_count,
        helper_scope_ns=is_count,
        helper_union_ns=is_count,
        helper_joined_ns=is_count,
        rss_peak_bytes=is_count,
        system_cpu_ns=is_count,
        minor_faults=is_count,
        major_faults=is_count,
        lanes_peak=is_count,
        sections=is_rows_of(SECTIONS),
        memory_sections=is_rows_of(MEMORY_SECTIONS),
        metrics=is_rows_of(METRICS),
        cuts=is_rows_of(CUTS),
        activities=is_rows_of(ACTIVITIES),
        sections_dropped=is_count,
        **{"pass": is_text},
    ),
    "sample": fields(
        {"time_ns": is_count},
        realtime_offset_ns=is_signed,
        rss_bytes=is_count,
        cpu_ns=is_count,
        open_chunks=is_count,
        memory_limit_bytes=is_count,
        sections=is_rows_of(SECTIONS),
        overhead_ns=is_count,
    ),
    "file": fields({"file": is_text}, branches=is_count, bytes=is_count, compressed_bytes=is_count),
    "span": fields({"name": is_text, "start_ns": is_count, "stop_ns": is_count}, path=is_text),
    "end": fields(
        {"time_ns": is_count},
        realtime_offset_ns=is_signed,
        chunks=is_count,
        failed=is_count,
        open=is_count,
        dropped=is_count,
        summed_chunks=is_count,
        misused=is_count,
        unwritten=is_count,
        outside_chunks=is_count,
        tasks_left_out=is_count,
        overhead_ns=is_count,
        cpu_ns=is_count,
        sections=is_rows_of(SECTIONS),
    ),
}


def identity(line, *names):
    return tuple(line.get(name) for name in names)


class Log:
    """The usable lines of one log, and the number of the others (docs/metrics.md, `quality`)."""

    def __init__(self, running):
        self.running = running
        self.lines = []
        self.malformed = 0
        self.torn = 0
        self.unknown = 0

    @property
    def recorder(self):
        return self.lines[0].get("recorder") or 0

    def end_ns(self):
        """When it says that the process ended, or None."""
        return max((line["time_ns"] for line in self.lines if line["type"] == "end"), default=None)

    def stop_ns(self):
        """docs/metrics.md, "Runs and workers": the `end` line, else the latest time stamp on any line."""
        end = self.end_ns()
        return max(time for line in self.lines for time in times_in(line)) if end is None else end


class Process:
    """What one process wrote into its logs, and how it ended: `ended`, `running`, `lost` or `unreported`."""

    def __init__(self, logs, running):
        first = logs[0].lines[0]
        self.line = first
        self.run = first.get("run_id")
        self.host = first["host"]
        self.pid = first["pid"]
        self.name = f"{self.host}:{self.pid}"
        self.start = first["start_ns"]
        self.logs = logs
        self.lines = [line for log in logs for line in log.lines]
        # Reading: a process with two recorders has ended when both say so.
        ended = all(log.end_ns() is not None for log in logs)
        self.state = "ended" if ended else "running" if running else "lost"
        self.stop = max(log.stop_ns() for log in logs)
        self.attempts = [attempt for log in logs for attempt in attempts_in(self, log)]
        # Reading: only an open chunk is evidence of a loss.
        if self.state == "lost" and all(attempt.status != "lost" for attempt in self.attempts):
            self.state = "unreported"
        self.sums = [Summed(self, line) for log in logs for line in last_sums(log)]

    def of_type(self, kind):
        return [line for line in self.lines if line["type"] == kind]


class Attempt:
    """An attempt at a chunk. Times are in ns since 1970; `stop` is None if the attempt did not end by itself."""

    weight = 1

    def __init__(self, process, log, line, start, stop, status):
        self.process = process
        self.log = log
        self.line = line
        self.number = line["chunk"]
        self.start = start
        self.stop = stop
        self.status = status
        self.chunk = chunk_identity(process, log.recorder, line)
        self.is_result = False
        # Its times without chunks of other recorders inside it, if there are any.
        self.without_inner = {}
        # Lost and open attempts last as long as their process.
        self.last_moment = max(start, process.stop) if stop is None else stop

    @property
    def ended(self):
        return self.status in ("ok", "failed")

    @property
    def suspended(self):
        return min(self.get("suspended_ns") or 0, self.stop - self.start)

    @property
    def recorded_duration(self):
        on_thread = self.stop - self.start - self.suspended
        return on_thread - min(self.get("inner_ns") or 0, on_thread)

    @property
    def duration(self):
        return self.without_inner.get("duration", self.recorded_duration)

    @property
    def nested(self):
        return self.recorded_duration - self.duration

    def recorded(self, name):
        return self.recorded_duration if name == "duration" else self.line.get(name)

    def get(self, field):
        return self.without_inner.get(field, self.line.get(field))


class Summed:
    """Attempts without a line, as one attempt that took as long as all of them together (docs/record_log.md,
    `sums`)."""

    ended = True

    def __init__(self, process, line):
        self.process = process
        self.line = line
        self.weight = line["chunks"]
        self.status = line["status"]
        self.is_result = self.status == "ok"
        self.start = line["first_start_ns"]
        self.stop = line["last_stop_ns"]
        self.duration = self.recorded_duration = line["duration_ns"]

    def get(self, field):
        if field == "helper_union_ns" and self.line.get("helper_joined_ns") is not None:
            return self.line["helper_joined_ns"]
        return self.line.get(field)


def last_sums(log):
    """For each row, the line with the largest sums, because sums only grow."""
    lines = [line for line in log.lines if line["type"] == "sums"]
    rows = grouped(lines, lambda line: identity(line, "dataset", "file", "pass", "status"))
    return [max(row, key=lambda line: (line["chunks"], line["time_ns"], line["duration_ns"])) for row in rows]


def chunk_identity(process, recorder, line):
    """docs/metrics.md, "Chunks and attempts": the place of the data; without a file or a range, the attempt itself."""
    place = identity(line, "file", "entry_start", "entry_stop")
    if None in place:
        return (process.run, process.host, process.pid, process.start, recorder, line["chunk"])
    return (process.run, *identity(line, "pass", "dataset", "tree"), *place)


def no_constant(text):
    raise ValueError(f"{text} is not JSON")


def parsed(text):
    """The object in a line; None for what is no JSON object of a type."""
    try:
        line = json.loads(text.decode("utf-8"), parse_constant=no_constant)
    except (ValueError, RecursionError):
        return None
    return line if is_object(line) and is_text(line.get("type")) else None


def is_unfinished(text):
    """Whether a line is the beginning of an object whose rest was never written."""
    depth, in_text, escaped = 0, False, False
    for byte in text.strip():
        character = chr(byte)
        if escaped:
            escaped = False
        elif in_text:
            escaped = character == "\\"
            in_text = character != '"'
        elif character == '"':
            in_text = True
        else:
            depth += (character in "{[") - (character in "}]")
    return text.lstrip().startswith(b"{") and (in_text or depth > 0)


def is_sound(line):
    """Whether a line of a known type holds what the format allows."""
    if not fits(line, LAYOUTS[line["type"]]):
        return False
    if line["type"] == "sums":
        span = line["last_stop_ns"] - line["first_start_ns"]
        return span >= 0 and line["duration_ns"] <= line["chunks"] * span
    if line["type"] in ("chunk", "span"):
        return line["stop_ns"] >= line["start_ns"]
    return True


def read_log(path, running):
    """Reads the log at `path`. The unfinished last line of a running process is one that is being written."""
    with open(path, "rb") as file:
        texts = file.read().split(b"\n")
    log = Log(running)
    for position, text in enumerate(texts):
        if not text.strip():
            continue
        line = parsed(text)
        if line is None and is_unfinished(text):
            log.torn += not (running and position == len(texts) - 1)
        elif line is None:
            log.malformed += 1
        elif line["type"] not in LAYOUTS:
            log.unknown += 1
        elif len(text) >= LONGEST_LINE or not is_sound(line):
            log.malformed += 1
        else:
            log.lines.append(line)
    return log


def times_in(line):
    return [line[field] for field in ("time_ns", "start_ns", "stop_ns") if line.get(field) is not None]


def attempts_in(process, log):
    """Joins each `begin` to its `chunk`. A `begin` without one is lost, or open if its process runs."""
    chunks = [line for line in log.lines if line["type"] == "chunk"]
    begins = {line["chunk"]: line for line in log.lines if line["type"] == "begin"}
    attempts = [Attempt(process, log, line, line["start_ns"], line["stop_ns"], line["status"]) for line in chunks]
    ended = {line["chunk"] for line in chunks}
    ended |= {number for line in last_sums(log) for number in line.get("begun") or []}
    status = "open" if process.state == "running" else "lost"
    unended = [line for number, line in begins.items() if number not in ended]
    for line, has_ended in judged_by_ends(unended, chunks + list(begins.values()), log):
        if has_ended:
            stop = next_of_thread(line, chunks + list(begins.values())) or process.stop
            attempts.append(Attempt(process, log, line, line["time_ns"], max(stop, line["time_ns"]), "unrecorded"))
        else:
            attempts.append(Attempt(process, log, line, line["time_ns"], None, status))
    return attempts


def began(line):
    return line["time_ns"] if line["type"] == "begin" else line["start_ns"]


def thread_of(line):
    return line.get("tid") if line.get("tid") is not None else line.get("thread")


def next_of_thread(begin, lines):
    """When the thread of an attempt began its next one; None if it did not, or if the thread is not known."""
    thread, place = thread_of(begin), (began(begin), begin["chunk"])
    later = [began(line) for line in lines if thread_of(line) == thread and (began(line), line["chunk"]) > place]
    return min(later) if later and thread else None


def suspends(lines):
    return any(line.get("suspended") or line.get("suspended_ns") for line in lines)


def nests(lines):
    return any(line.get("inside") is not None or line.get("inner_ns") for line in lines)


def judged_by_ends(unended, lines, log):
    """Whether each attempt without its line has ended nevertheless: its thread went on, or the log's `end` says so.

    Threads of a process that suspends chunks, or has chunks inside others, go on while these are open.
    """
    open_at_end = [line["open"] for line in log.lines if line["type"] == "end" and line.get("open") is not None]
    if not open_at_end:
        goes_on = suspends(lines) or nests(lines)
        return [(line, not goes_on and next_of_thread(line, lines) is not None) for line in unended]
    order = sorted(
        unended,
        key=lambda line: (next_of_thread(line, lines) is not None, -line["time_ns"], -line["chunk"]),
    )
    return [(line, place >= max(open_at_end)) for place, line in enumerate(order)]


def attempts_by_chunk(attempts):
    chunks = {}
    for attempt in attempts:
        chunks.setdefault(attempt.chunk, []).append(attempt)
    return chunks


def find_results(attempts):
    """The result of a chunk: its `ok` attempt that stopped last (docs/metrics.md, "Chunks and attempts")."""
    for tries in attempts_by_chunk(attempts).values():
        ok = [attempt for attempt in tries if attempt.status == "ok"]
        if ok:
            max(ok, key=lambda attempt: attempt.stop).is_result = True


def fullest(logs):
    """Keeps one of several copies of a log: the one with the most lines."""
    return max(logs, key=lambda log: len(log.lines))


def grouped(things, key):
    groups = {}
    for thing in things:
        groups.setdefault(key(thing), []).append(thing)
    return list(groups.values())


def log_identity(log):
    """docs/record_log.md, "What a reader does"."""
    return identity(log.lines[0], "host", "boot_id", "pid_namespace", "pid", "start_ns", "recorder")


def process_identity(log):
    return log_identity(log)[:-1]


class Recorded:
    """Everything that the logs of a directory say about one run, or about all runs if `run` is None."""

    def __init__(self, directory, run=None, running=()):
        names = sorted(os.listdir(directory))
        logs = [read_log(os.path.join(directory, name), name in running) for name in names]
        logs = [log for log in logs if run is None or log.lines[0].get("run_id") == run]
        self.logs = [fullest(copies) for copies in grouped(logs, log_identity)]
        self.processes = [
            Process(group, any(log.running for log in group)) for group in grouped(self.logs, process_identity)
        ]
        self.workers = [process for process in self.processes if process.attempts or process.sums]
        self.sums = [summed for process in self.processes for summed in process.sums]
        self.attempts = [attempt for process in self.processes for attempt in process.attempts]
        find_results(self.attempts)
        self.ended = [attempt for attempt in self.attempts if attempt.ended]
        self.ok = [attempt for attempt in self.attempts if attempt.status == "ok"]
        self.results = [attempt for attempt in self.attempts if attempt.is_result]
        # With attempts that have no line: figures that need no single attempts are of all.
        self.all_ended = self.ended + self.sums
        self.all_results = self.results + [summed for summed in self.sums if summed.is_result]

    def lines(self, kind):
        return [line for process in self.processes for line in process.of_type(kind)]

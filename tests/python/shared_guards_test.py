"""Guards that are shared, entered again, left twice, suspended, copied and interrupted, in real processes.

Run by tools/test, outside Bazel, with each Python from 3.10 to 3.13 that the machine has.
"""

import sys
import unittest
import unittest.mock

import installed
from installed import of_type, paths

# (in the text of a program) each guard by name; `make()` gives a new one.
GUARDS = """
import threading
import crema_hep as crema

class Mine(crema.BaseInstrumentationContext):
    def __exit__(self, kind, error, trace):
        super().__exit__(kind, error, trace)

GUARDS = {
    "chunk": lambda: crema.TrackMetrics("g", "f.root", 0, 1),
    "section": lambda: crema.track_section("s"),
    "cpu": lambda: crema.track_cpu_section("c"),
    "memory": lambda: crema.track_memory("m"),
    "meter": lambda: crema.meter("a"),
    "counted": lambda: crema.meter("calls", unit="count", func=lambda: 1),
    "span": lambda: crema.span("p"),
    "bytes": lambda: crema.track_bytes(None, "b"),
    "request": lambda: crema.track_request("root://s", "read"),
    "context": lambda: Mine("x"),
}
"""

INTERRUPTED = """
import signal, sys
import crema_hep as crema

class Timeout(Exception):
    pass

def work():
    with crema.TrackMetrics("ttbar", "f.root", 0, 1, events=1) as chunk, crema.track_section("a"):
        with crema.meter("m"), crema.track_memory("r"), crema.track_cpu_section("c"), crema.track_bytes(None, "b"):
            with crema.track_request("root://s", "read") as request:
                request.add_bytes(1)
            crema.record_metric("n", 1.0)
            crema.record_cut("all", 5)
        chunk.set_attribute("x", "y")
        chunk.add_columns(["Muon_pt"])
"""


class SharedGuardsTest(installed.RecordedTest):
    python = sys.executable

    def record(self, text, *arguments, **named):
        named.setdefault("python", self.python)
        return super().record(text, *arguments, **named)

    # Fault [guards]: a guard object is left twice, and left without having been entered
    # Program: nothing
    # Recorded: each block once; nothing is counted as lost
    def test_a_second_exit_does_nothing(self):
        lines = self.record(
            GUARDS
            + """
with crema.TrackMetrics("ttbar") as chunk:
    for name, make in GUARDS.items():
        guard = make()
        guard.__exit__(None, None, None)
        guard.__enter__()
        guard.__exit__(None, None, None)
        guard.__exit__(None, None, None)
        guard.__exit__(ValueError, ValueError("twice"), None)
    with crema.track_section("after"):
        pass
chunk.__exit__(None, None, None)
chunk.set_events(5)
"""
        )
        (end,) = of_type(lines, "end")
        self.assertEqual(end["dropped"], 0)
        chunks = {chunk["dataset"]: chunk for chunk in of_type(lines, "chunk")}
        self.assertEqual({name: chunk["status"] for name, chunk in chunks.items()}, {"g": "ok", "ttbar": "ok"})
        self.assertEqual(paths(chunks["ttbar"]), ["s", "c", "x", "after"])
        self.assertEqual([row["count"] for row in chunks["ttbar"]["sections"]], [1, 1, 1, 1])
        self.assertEqual([row.get("failed", 0) for row in chunks["ttbar"]["sections"]], [0, 0, 0, 0])
        self.assertEqual(chunks["ttbar"]["events"], None)

    # Fault [guards]: a guard object is entered again while it is open
    # Program: nothing
    # Recorded: each block, nested as they ran
    def test_a_guard_that_is_entered_again_nests(self):
        lines = self.record(
            GUARDS
            + """
def nest(guard, depth):
    if depth:
        with guard:
            nest(guard, depth - 1)

with crema.TrackMetrics("ttbar"):
    for name, make in GUARDS.items():
        guard = make()
        for _ in range(3):
            nest(guard, 3)
"""
        )
        (end,) = of_type(lines, "end")
        self.assertEqual((end["dropped"], end["open"]), (0, 0))
        chunk = next(chunk for chunk in of_type(lines, "chunk") if chunk["dataset"] == "ttbar")
        counts = {row["path"]: row["count"] for row in chunk["sections"]}
        nested = {"/".join([name] * depth): 3 for name in "scx" for depth in (1, 2, 3)}
        self.assertEqual(counts, nested)
        self.assertEqual([row["count"] for row in chunk["memory_sections"]], [9])
        self.assertEqual([row["count"] for row in chunk["requests"]], [9])
        self.assertEqual([span["path"] for span in of_type(lines, "span")].count("p/p/p"), 3)

    # Fault [guards]: threads share guard objects, as those of a worker share a processor that keeps some
    # Program: nothing
    # Recorded: each block, on the thread that ran it
    def test_threads_may_share_a_guard(self):
        lines = self.record(
            GUARDS
            + """
import sys, time
sys.setswitchinterval(1e-6)
guards = {name: make() for name, make in GUARDS.items() if name not in ("chunk", "span")}

def work(number):
    with crema.TrackMetrics("ttbar", "f.root", number, number + 1):
        for _ in range(50):
            for guard in guards.values():
                with guard, guard:
                    time.sleep(0)

threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
shared = GUARDS["chunk"]()

def share():
    for _ in range(50):
        with shared as chunk:
            time.sleep(0)
            chunk.set_events(3)

threads = [threading.Thread(target=share) for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""
        )
        (end,) = of_type(lines, "end")
        self.assertEqual((end["dropped"], end["open"], end["failed"]), (0, 0, 0))
        chunks = [chunk for chunk in of_type(lines, "chunk") if chunk["dataset"] == "ttbar"]
        self.assertEqual(len(chunks), 8)
        for chunk in chunks:
            counts = {row["path"]: row["count"] for row in chunk["sections"]}
            self.assertEqual(counts, {"s": 50, "s/s": 50, "c": 50, "c/c": 50, "x": 50, "x/x": 50})
            self.assertEqual([row["count"] for row in chunk["memory_sections"]], [100])
            self.assertEqual([row["count"] for row in chunk["requests"]], [100])
        shared = [chunk for chunk in of_type(lines, "chunk") if chunk["dataset"] == "g"]
        self.assertEqual([chunk["events"] for chunk in shared], [3] * 400)

    # Fault [guards]: a generator that is suspended inside guards is closed on another thread
    # Program: one warning at most
    # Recorded: its chunk as failed; what comes later as ever
    def test_guards_may_be_left_on_another_thread(self):
        done = self.run_program(
            GUARDS
            + """
def suspended(make):
    with make(), make():
        yield

for name, make in GUARDS.items():
    generators = [suspended(make) for _ in range(5)]
    for generator in generators:
        next(generator)
    thread = threading.Thread(target=lambda: [generator.close() for generator in generators])
    thread.start()
    thread.join()
with crema.TrackMetrics("after", "f.root", 0, 10, pass_="now"), crema.track_section("b"):
    pass
assert crema.current_chunk() is None
print("survived")
""",
            python=self.python,
            CREMA_DIR=str(self.records),
        )
        self.assertEqual((done.returncode, done.stdout), (0, "survived\n"), done.stderr)
        after = next(chunk for chunk in of_type(self.lines(), "chunk") if chunk["dataset"] == "after")
        self.assertEqual((after["status"], paths(after)), ("ok", ["b"]))

    # Fault [guards]: a processor that keeps an open guard is pickled, or copied
    # Program: nothing
    # Recorded: what the guard has open is ended once, by the one that began it
    def test_a_copy_of_an_open_guard_is_closed(self):
        chunk = self.record_chunk(
            GUARDS
            + """
import copy, pickle
made = {name: make() for name, make in GUARDS.items() if name not in ("chunk", "counted", "context")}
with crema.TrackMetrics("ttbar") as chunk:
    for guard in made.values():
        with guard:
            for twin in (copy.copy(guard), copy.deepcopy(guard), pickle.loads(pickle.dumps(guard))):
                twin.__exit__(None, None, None)
                with twin:
                    pass
    handle = pickle.loads(pickle.dumps(chunk.handle()))
    assert handle.state is None and copy.deepcopy(chunk.handle()).state is not None
    with crema.track_helper(handle), crema.track_section("own"):
        pass
"""
        )
        counts = {row["path"]: row["count"] for row in chunk["sections"]}
        self.assertEqual(counts, {"s": 1, "s/s": 3, "c": 1, "c/c": 3, "own": 1})
        self.assertEqual([row["count"] for row in chunk["memory_sections"]], [4])
        self.assertEqual([row["count"] for row in chunk["requests"]], [4])

    # Fault [guards]: a processor that keeps a chunk's guard is pickled or copied while the guard is not open
    # Program: nothing, with recording on and off
    # Recorded: each block of the guard and of its copies
    def test_a_guard_of_a_chunk_that_is_not_open_can_be_pickled(self):
        program = """
import copy, pickle
import crema_hep as crema

class Derived(crema.TrackMetrics):
    pass

for kind in (crema.TrackMetrics, Derived):
    guard = kind("ttbar", "f.root", 0, 10, events=10)
    with guard:
        pass
    twins = [pickle.loads(pickle.dumps(guard, protocol)) for protocol in range(pickle.HIGHEST_PROTOCOL + 1)]
    for number, twin in enumerate([copy.copy(guard), copy.deepcopy(guard), *twins]):
        assert type(twin) is kind
        with twin as chunk:
            chunk.set_attribute("number", str(number))
guard = crema.TrackMetrics("ttbar", "f.root", 0, 10, events=10)
with guard:
    try:
        pickle.dumps(guard)
    except TypeError as error:
        assert crema.enabled() and "belongs to its thread" in str(error)
    else:
        assert not crema.enabled()
"""
        self.assertEqual(self.run_program(program, python=self.python).stderr, "")
        chunks = of_type(self.record(program), "chunk")
        self.assertEqual(len(chunks), 2 * (1 + 2 + 6) + 1)
        facts = {tuple(chunk[name] for name in ("dataset", "file", "entry_stop", "events")) for chunk in chunks}
        self.assertEqual(facts, {("ttbar", "f.root", 10, 10)})

    # Fault [exceptions]: the handler of a signal (a timeout by SIGALRM) raises while a guard works
    # Program: nothing; the exception arrives, with recording on and off
    # Recorded: the attempt, as failed
    def test_what_a_signal_handler_raises_arrives_always(self):
        program = (
            INTERRUPTED
            + """
fired = 0
def handler(*_):
    global fired
    fired += 1
    raise Timeout

signal.signal(signal.SIGALRM, handler)
arrived = 0
for number in range(150):
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.0003 + 0.00003 * number)
        while True:
            work()
    except Timeout:
        arrived += 1
assert fired == arrived == 150, (fired, arrived)
signal.signal(signal.SIGALRM, signal.SIG_IGN)
for _ in range(2):  # what an interrupted __exit__ left open is ended with the next
    with crema.TrackMetrics("after", "g.root", 0, 1), crema.track_section("b"):
        pass
assert crema.current_chunk() is None
print("survived")
"""
        )
        for directory in ({}, {"CREMA_DIR": str(self.records)}):
            done = self.run_program(program, python=self.python, **directory)
            self.assertEqual((done.returncode, done.stdout), (0, "survived\n"), done.stderr)
        after = [chunk for chunk in of_type(self.lines(), "chunk") if chunk["dataset"] == "after"]
        self.assertEqual([chunk["status"] for chunk in after], ["ok", "ok"])

    # Fault [exceptions]: an exception strikes at any instruction of a guard, as another thread's do
    # Program: nothing; the exception arrives
    # Recorded: what comes later as ever
    def test_an_exception_at_any_instruction_of_a_guard_arrives(self):
        done = self.run_program(
            INTERRUPTED
            + """
import os
PACKAGE = os.path.dirname(crema.__file__)

def trace_until(countdown):
    def trace(frame, event, _):
        if not frame.f_code.co_filename.startswith(PACKAGE):
            return trace
        frame.f_trace_opcodes = True
        if event != "exception":  # a line, or with most Pythons an instruction
            countdown[0] -= 1
            if countdown[0] == 0:
                raise Timeout
        return trace
    return trace

work()
number = lost = 0
while True:
    number += 1
    countdown = [number]
    sys.settrace(trace_until(countdown))
    try:
        work()
    except Timeout:
        continue
    finally:
        sys.settrace(None)
    if countdown[0] > 0:
        break
    lost += 1
assert number > 200 and lost == 0, (number, lost)
for _ in range(2):
    with crema.TrackMetrics("after", "g.root", 0, 1), crema.track_section("b"):
        pass
print("survived")
""",
            python=self.python,
            CREMA_DIR=str(self.records),
        )
        self.assertEqual((done.returncode, done.stdout), (0, "survived\n"), done.stderr)

    # Fault [exceptions]: an exception strikes at any instruction of a span, but not before the first one of `__exit__`
    # Program: nothing; the exception arrives
    # Recorded: the span, up to the exception; chunks that come later are in no span
    def test_an_exception_at_any_instruction_of_a_span_leaves_none_open(self):
        lines = self.record(
            INTERRUPTED
            + """
import contextlib, os, types
from opcode import opmap
from crema_hep import passes
from crema_hep.span import annotate_tasks
PACKAGE = os.path.dirname(crema.__file__)
annotations = []

@contextlib.contextmanager
def annotate(**named):
    annotations.append(named)
    try:
        yield
    finally:
        annotations.pop()

sys.modules["dask"] = types.SimpleNamespace(annotate=annotate)
annotate_tasks(True)

def phase():
    outer = crema.span("p")
    with outer:
        with crema.span("q"), outer:
            pass

def can_be_struck(frame, event):
    code = frame.f_code
    if event == "exception" or not code.co_filename.startswith(PACKAGE):
        return False
    if code.co_name == "__enter__":  # CPython looks for signals where functions begin, after calls and in loops
        return event != "return" and code.co_code[frame.f_lasti] != opmap["RETURN_VALUE"]
    return code.co_name != "__exit__" or frame.f_lineno > code.co_firstlineno + 2  # after `try:`

def trace_until(countdown):
    def trace(frame, event, _):
        frame.f_trace_opcodes = True
        if can_be_struck(frame, event):
            countdown[0] -= 1
            if countdown[0] == 0:
                raise Timeout
        return trace
    return trace

number, countdown = 0, [0]
while countdown[0] <= 0:
    number += 1
    countdown = [number]
    sys.settrace(trace_until(countdown))
    try:
        phase()
        assert countdown[0] > 0, "lost"
    except Timeout:
        pass
    finally:
        sys.settrace(None)
    assert not passes.open_spans and not annotations, number
    with crema.TrackMetrics("after", "f.root", number, number + 1):
        pass
assert number > 100, number
""",
            errors=unittest.mock.ANY,  # just before the native call, it ends what began before, with a warning
        )
        after = of_type(lines, "chunk")
        self.assertGreater(len(after), 100)
        self.assertEqual({chunk["span"] for chunk in after}, {None})

    def test_what_would_become_a_real_number_is_left_out(self):
        program = """
import numbers
import crema_hep as crema

@numbers.Complex.register
class Like:  # numpy.complex64
    def __float__(self):
        print("cast")
        return 1.0
    __int__ = __float__

with crema.TrackMetrics("ttbar", "f", 0, 1) as chunk:
    chunk.set_events(Like())
    crema.record_metric("a", Like())
    crema.record_metric("b", 1j)
"""
        done = self.run_program(program, python=self.python, CREMA_DIR=str(self.records))
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        (chunk,) = of_type(self.lines(), "chunk")
        self.assertEqual((chunk["events"], chunk["metrics"]), (None, []))

    # Fault [exceptions]: guards where the interpreter's stack ends (`sys.setrecursionlimit`)
    # Program: nothing but a `RecursionError`, which may come some calls earlier
    # Recorded: what comes later as ever
    def test_where_the_stack_ends_a_recursion_error_is_one(self):
        program = """
import sys
import crema_hep as crema

def a_chunk():
    with crema.TrackMetrics("ttbar", "f", 0, 1) as chunk:
        chunk.set_events(1)
        chunk.add_columns(["pt"])
        chunk.add_bytes_read(1)
        chunk.set_attribute("a", "b")
        chunk.handle()

def scopes():
    with crema.meter("m"), crema.span("s"), crema.track_section("t"), crema.track_memory("u"):
        pass

def values():
    crema.record_metric("a", 1.0)
    crema.record_cut("a", 1, 2.0)
    crema.record_activity("a", 1.0)
    crema.add_bytes_read(1)
    crema.set_attribute("a", "b")

def deeper(function, calls):
    deeper(function, calls - 1) if calls else function()

for function in (a_chunk, scopes, values):
    for calls in range(20, 100):
        sys.setrecursionlimit(100)
        try:
            deeper(function, calls)
        except RecursionError:
            pass
        finally:
            sys.setrecursionlimit(1000)
with crema.TrackMetrics("after", "f", 0, 1):
    pass
print("survived")
"""
        for directory in ({}, {"CREMA_DIR": str(self.records)}):
            done = self.run_program(program, python=self.python, **directory)
            self.assertEqual((done.returncode, done.stdout), (0, "survived\n"), done.stderr)
        after = [chunk["status"] for chunk in of_type(self.lines(), "chunk") if chunk["dataset"] == "after"]
        self.assertEqual(after, ["ok"])

    # Fault [exceptions]: an exception strikes inside what a guard calls to get a text or a number
    # Program: nothing; the exception arrives, and what fails there by itself does not
    # Recorded: the rest
    def test_what_strikes_inside_a_conversion_arrives_and_what_fails_there_does_not(self):
        self.record(
            """
import ctypes, signal, struct, threading, time
from xml.parsers import expat
import crema_hep as crema

class Timeout(Exception):
    pass

def handler(number, frame):
    signal.signal(signal.SIGALRM, signal.SIG_IGN)
    helper()

def helper():
    raise Timeout

class Struck:
    def strike(self, *_):
        signal.signal(signal.SIGALRM, handler)
        signal.raise_signal(signal.SIGALRM)
        return 1
    __str__ = __float__ = __int__ = __hash__ = __len__ = strike
    metadata = attrs = property(strike)

class Interrupted(Struck):
    def strike(self, *_):  # as Ctrl-C does
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.raise_signal(signal.SIGINT)
        return 1
    __str__ = __float__ = __int__ = __hash__ = __len__ = strike
    metadata = attrs = property(strike)

class Aimed(Struck):
    def strike(self, *_):  # as another thread does
        ctypes.pythonapi.PyThreadState_SetAsyncExc(
            ctypes.c_ulong(threading.get_ident()), ctypes.py_object(Timeout))
        for _ in range(1000):
            time.sleep(0)
        return 1
    __str__ = __float__ = __int__ = __hash__ = __len__ = strike
    metadata = attrs = property(strike)

class Failing(Struck):
    def strike(self, *_):
        raise Timeout  # its own
    __str__ = __float__ = __int__ = __hash__ = __len__ = strike
    metadata = attrs = property(strike)

class FailingInC(Struck):
    def strike(self, *_):
        struct.unpack("i", b"x")
    __str__ = __float__ = __int__ = __hash__ = __len__ = strike
    metadata = attrs = property(strike)

class FailingInAFrameOfC(Struck):
    def strike(self, *_):  # compiled code may add a frame without instructions, as Cython's does
        parser = expat.ParserCreate()
        parser.StartElementHandler = int
        parser.Parse(b"<a/>")
    __str__ = __float__ = __int__ = __hash__ = __len__ = strike
    metadata = attrs = property(strike)

@crema.track_metrics
def process(events):
    return 7

CALLS = {
    "chunk": lambda bad: crema.TrackMetrics(bad).__enter__(),
    "range": lambda bad: crema.TrackMetrics("a", "b", bad).__enter__(),
    "section": lambda bad: crema.track_section(bad).__enter__(),
    "memory": lambda bad: crema.track_memory(bad).__enter__(),
    "meter": lambda bad: crema.meter(bad).__enter__(),
    "span": lambda bad: crema.span(bad).__enter__(),
    "metric": lambda bad: crema.record_metric("a", bad),
    "cut": lambda bad: crema.record_cut("a", bad),
    "activity": lambda bad: crema.record_activity(bad, 1),
    "attribute": lambda bad: crema.set_attribute("a", bad),
    "bytes": lambda bad: crema.add_bytes_read(bad),
    "server": lambda bad: crema.record_request(bad, "read", 1),
    "request": lambda bad: crema.record_request("a", "read", bad),
    "decorated": process,
    "columns": lambda bad: crema.TrackMetrics("a").add_columns([bad]),
}
EXPECTED = {
    Struck: Timeout, Interrupted: KeyboardInterrupt, Aimed: Timeout,
    Failing: None, FailingInC: None, FailingInAFrameOfC: None,
}
for kind, expected in EXPECTED.items():
    for name, call in CALLS.items():
        try:
            call(kind())
        except BaseException as error:
            assert type(error) is expected, (kind, name, error)
            continue
        assert expected is None, (kind, name)
""",
            errors=unittest.mock.ANY,
        )

    # Fault [exceptions]: the exception that leaves a block has a text that cannot be had, or is not plain text
    # Program: nothing; it sees its own exception
    # Recorded: the attempt as failed, by the exception's name
    def test_an_exception_leaves_as_it_came_whatever_its_text_does(self):
        lines = self.record("""
import struct
import crema_hep as crema

class Text(str):
    def __format__(self, spec): raise RuntimeError("no format")
    def __add__(self, other): raise RuntimeError("no sum")
    def encode(self, *arguments): raise RuntimeError("no bytes")

class Raising(Exception):
    def __str__(self): raise KeyboardInterrupt("no text")

class RaisingInC(Exception):
    def __str__(self): return str(struct.unpack("i", b"x"))

class Odd(Exception):
    def __str__(self): return Text("odd")

class Meta(type):
    @property
    def __name__(self): raise RuntimeError("no name")

class Nameless(Exception, metaclass=Meta):
    pass

for kind in (Raising, RaisingInC, Odd, Nameless):
    for guard in (crema.TrackMetrics("ttbar"), crema.track_section("a"), crema.track_bytes(None, Text("b"))):
        error = kind()
        try:
            with guard:
                raise error
        except BaseException as caught:
            assert caught is error and caught.__context__ is None and caught.__cause__ is None, caught
        else:
            raise SystemExit("no exception")
with crema.TrackMetrics(Text("named"), Text("f.root")) as chunk:
    chunk.set_attribute(Text("a"), Text("b"))
    chunk.add_columns([Text("c"), 5])
""")
        chunks = of_type(lines, "chunk")
        self.assertEqual([chunk["error"] for chunk in chunks], ["Raising", "RaisingInC", "Odd: odd", "Nameless", None])
        self.assertEqual(chunks[-1]["columns"], ["c", "5"])
        self.assertEqual((chunks[-1]["dataset"], chunks[-1]["attributes"]), ("named", {"a": "b"}))

    # Fault [guards]: a guard of one's own is a frozen dataclass, has slots, or is shared; a name cannot be hashed
    # Program: nothing
    # Recorded: everything
    def test_guards_of_ones_own_may_be_frozen_and_names_anything(self):
        chunk = self.record_chunk("""
import dataclasses, pickle
import crema_hep as crema

@dataclasses.dataclass(frozen=True)
class Frozen(crema.BaseInstrumentationContext):
    size: int = 0
    def __enter__(self):
        return super().__enter__()
    def __exit__(self, kind, error, trace):
        if self.recording:
            assert self.failed == (kind is not None)
            self.record_metric("size", self.size + 0 * self.elapsed())

class Slotted(crema.BaseInstrumentationContext):
    __slots__ = ("a",)

class Unhashable(str):
    def __hash__(self): raise ValueError("no hash")

with crema.TrackMetrics("ttbar"):
    guard = Frozen(3)
    with guard, guard:
        assert pickle.loads(pickle.dumps(guard)) == guard
    assert not guard.recording and guard.elapsed() == 0
    guard.__exit__(None, None, None)
    try:
        with guard:
            raise ValueError
    except ValueError:
        pass
    with Slotted("slotted"), crema.track_section(Unhashable("odd")), crema.track_section(["list"]):
        pass
    with crema.track_section(5), crema.track_section(None):
        pass
""")
        self.assertEqual(
            paths(chunk),
            ["Frozen", "Frozen/Frozen", "slotted", "slotted/odd", "slotted/odd/['list']", "5", "5/None"],
        )
        self.assertEqual([(row["sum"], row["count"]) for row in chunk["metrics"]], [(9, 3)])
        self.assertEqual(chunk["sections"][0]["failed"], 1)

    # Fault [guards]: a guard of one's own inherits its other hook from elsewhere, is left twice, or on another thread
    # Program: nothing; its hook runs each time that it is called
    # Recorded: each block once, on the thread that began it
    def test_the_hooks_of_a_guard_of_ones_own_always_run(self):
        program = """
import contextlib, sys, threading
import crema_hep as crema

left = []

class Closing:
    def __exit__(self, kind, error, trace):
        left.append("closing")

class Inheriting(contextlib.AbstractContextManager, crema.BaseInstrumentationContext):
    def __exit__(self, kind, error, trace):
        left.append((self.recording, self.failed))

class Deriving(Inheriting):
    pass

class Left(Closing, crema.BaseInstrumentationContext):
    pass

def suspended():
    with Inheriting("suspended"):
        yield

is_on = crema.enabled()
with crema.TrackMetrics("ttbar"):
    for kind in (Inheriting, Deriving):
        with kind(kind.__name__) as guard, crema.track_section("inner"):
            pass
        guard.__exit__(None, None, None)
    with Left("left"):
        pass
    with crema.track_section("after"):
        pass
assert left == 2 * [(is_on, False), (False, False)] + ["closing"], left
generator = suspended()
next(generator)
thread = threading.Thread(target=generator.close)
thread.start()
thread.join()
assert left[5:] == [(False, False)], left
"""
        self.assertEqual(self.run_program(program, python=self.python).stderr, "")
        lines = self.record(program, errors=unittest.mock.ANY)
        (chunk,) = of_type(lines, "chunk")
        self.assertEqual(
            paths(chunk), ["Inheriting", "Inheriting/inner", "Deriving", "Deriving/inner", "left", "after"]
        )
        self.assertEqual([row["count"] for row in chunk["sections"]], [1] * 6)

    # Fault [library]: the native library is missing, and warnings are errors (`python -W error`)
    # Program: one line on stderr
    # Recorded: nothing
    def test_with_warnings_as_errors_a_missing_library_is_one_line(self):
        program = "import warnings; warnings.simplefilter('error')\nimport crema_hep\nprint('imported')"
        done = self.run_program(program, python=self.python, CREMA_LIBRARY=str(self.folder / "none"))
        self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (0, "imported\n", 1), done.stderr)
        self.assertIn("Python code records nothing", done.stderr)


installed.add_versions(globals(), "SharedGuards", SharedGuardsTest)

if __name__ == "__main__":
    unittest.main(verbosity=2)

"""Compares decorated functions and processors with undecorated ones: the same kind, results and exceptions.

Run by tools/test, outside Bazel, with each Python from 3.10 to 3.13 that the machine has; Coffea's executors where
tools/setup installed Coffea.
"""

import json
import os
import sys
import unittest

import installed
from installed import of_type

SHAPES = """
import abc, asyncio, collections, contextlib, dataclasses, enum, functools, inspect, pickle, sys, types, warnings
import crema_hep as crema

warnings.simplefilter("ignore")  # a function that makes no chunk warns once, when it is decorated

def shapes(track):
    '''(name, what is called, arguments) of each shape, decorated by `track`.'''
    @track
    def plain(events):
        "Its own text."
        return {"sum": sum(events), "of": tuple(events)}

    @track
    def raising(events):
        raise KeyError("Muon_pt", events)

    @track
    def chained(events):
        try:
            raise OSError(5, "gone")
        except OSError as error:
            raise RuntimeError("read") from error

    @track
    def leaving(events):
        raise SystemExit(3)

    def added(events, more=0):
        return [event + more for event in events]

    class Callable:
        shift = 7
        def __call__(self, events):
            return [event + self.shift for event in events]

    class Awaited:
        async def __call__(self, events):
            return len(events)

    @track
    async def coroutine(events):
        await asyncio.sleep(0)
        return len(events)

    @track
    async def failing(events):
        await asyncio.sleep(0)
        raise ValueError(len(events))

    @track
    def generator(events):
        received = yield from events
        return received

    @track
    async def asynchronous(events):
        for event in events:
            yield event

    class Base(abc.ABC):
        @abc.abstractmethod
        @track
        def process(self, events): ...

    class Processor(Base):
        __slots__ = ("cut",)
        limit = 2
        def __init__(self, cut=1):
            self.cut = cut
        @track
        def process(self, events):
            return [event for event in events if event > self.cut]
        @track
        @staticmethod
        def static(events):
            return len(events)
        @staticmethod
        @track
        def inner_static(events):
            return len(events)
        @track
        @classmethod
        def of_class(cls, events):
            return [event for event in events if event > cls.limit]
        @classmethod
        @track
        def inner_class(cls, events):
            return [cls.__name__, *events]
        partial = track(functools.partialmethod(lambda self, more, events: [more, *events], 5))
        kept = track(functools.partial(added, more=2))
        caller = track(Callable())
        @track
        @functools.lru_cache
        def cached(self, events):
            return len(events)
        @functools.singledispatchmethod
        @track
        def dispatched(self, events):
            return "any"
        @property
        @track
        def size(self):
            return self.cut

    class Derived(Processor):
        @track
        def process(self, events):
            return super().process(events) + ["derived"]

    @track
    @dataclasses.dataclass(frozen=True)
    class Record:
        events: tuple

    @dataclasses.dataclass
    class WithField:
        cut: int = 1
        @track
        def process(self, events, *, scale=1):
            return [scale * event for event in events if event > self.cut]

    @track
    def recursive(events):
        return events if not events else recursive(events[1:])

    @contextlib.contextmanager
    @track
    def managed(events):
        yield sum(events)

    class Color(enum.Enum):
        RED = 1
        @track
        def process(self, events):
            return (self.name, len(events))

    processor = Processor()
    events = [1, 2, 3]
    return [
        ("plain", plain, (events,)), ("raising", raising, (events,)), ("chained", chained, (events,)),
        ("leaving", leaving, (events,)), ("wrong arguments", plain, ()),
        ("lambda", track(lambda e: e[::-1]), (events,)),
        ("partial", track(functools.partial(added, more=1)), (events,)), ("callable", track(Callable()), (events,)),
        ("awaited", track(Awaited()), (events,)), ("coroutine", coroutine, (events,)), ("failing", failing, (events,)),
        ("partial coroutine", track(functools.partial(coroutine)), (events,)),
        ("generator", generator, (events,)), ("asynchronous", asynchronous, (events,)),
        ("method", processor.process, (events,)), ("static", processor.static, (events,)),
        ("static of class", Processor.static, (events,)), ("inner static", processor.inner_static, (events,)),
        ("of class", processor.of_class, (events,)), ("of class of class", Processor.of_class, (events,)),
        ("inner class", Processor.inner_class, (events,)), ("partialmethod", processor.partial, (events,)),
        ("kept partial", processor.kept, (events,)), ("kept callable", processor.caller, (events,)),
        ("cached", processor.cached, ((1, 2),)), ("dispatched", processor.dispatched, (events,)),
        ("property", lambda _: processor.size, (events,)), ("bound", track(processor.process), (events,)),
        ("derived", Derived().process, (events,)), ("abstract", Base, ()), ("class", Record, ((1,),)),
        ("field", WithField(0).process, (events,)), ("recursive", recursive, (events,)),
        ("managed", lambda e: managed(e).__enter__(), (events,)), ("enum", Color.RED.process, (events,)),
        ("builtin", track(len), (events,)), ("type", track(int), ("5",)),
        ("awaitable", track(lambda e: coroutine(e)), (events,)),
    ]

def outcome(call, arguments):
    '''What comes of it, in bytes.'''
    try:
        result = call(*arguments)
        if inspect.iscoroutine(result):
            result = asyncio.run(result)
        elif inspect.isasyncgen(result):
            async def collect(of=result):
                return [event async for event in of]
            result = asyncio.run(collect())
        elif inspect.isgenerator(result):
            result = list(result)
        if dataclasses.is_dataclass(result):
            result = dataclasses.astuple(result)
    except BaseException as error:
        text = str(error).replace("run_as_chunk.", "")
        return pickle.dumps((type(error).__name__, error.args, text, repr(error.__context__), repr(error.__cause__)))
    return pickle.dumps(result)

def kind(call):
    kinds = (inspect.isfunction, inspect.ismethod, inspect.isclass, inspect.iscoroutinefunction,
             inspect.isgeneratorfunction, inspect.isasyncgenfunction, callable)
    return [check(call) for check in kinds] + [getattr(call, name, None) for name in ("__name__", "__doc__")]
"""

COMPARED = (
    SHAPES
    + """
plain, tracked = shapes(lambda function: function), shapes(crema.track_metrics)
for (name, theirs, arguments), (_, ours, _) in zip(plain, tracked):
    assert outcome(ours, arguments) == outcome(theirs, arguments), (name, pickle.loads(outcome(ours, arguments)))
    if name != "builtin":  # becomes a partial, which is not a method in a class either
        assert kind(ours) == kind(theirs), (name, kind(ours), kind(theirs))
print(len(plain), 4 + (sys.version_info >= (3, 14)))  # a partial is a method from then on, and fails as one
"""
)

# One processor for each executor, in a separate module and in __main__; `track` decorates it, or returns it unchanged.
PROCESSORS = """
import functools
import awkward as ak
import crema_hep as crema
from coffea.processor import ProcessorABC, accumulate, column_accumulator, defaultdict_accumulator

def processors(track):
    class Plain(ProcessorABC):
        @track
        def process(self, events):
            with crema.track_section(self, "jets"):
                return {"jets": int(ak.sum(events.Jet.pt > 30)), events.metadata["dataset"]: len(events)}
        def postprocess(self, accumulator):
            return accumulator

    class Keeping(Plain):
        def __init__(self):
            self.section, self.meter = crema.track_section("kept"), crema.meter("kept")
        @track
        def process(self, events):
            with self.section, self.meter, self.section:
                return {"pt": column_accumulator(ak.to_numpy(ak.num(events.Jet.pt)))}

    class Failing(Plain):
        @track
        def process(self, events):
            raise ValueError("on purpose")

    class Static(Plain):
        @track
        @staticmethod
        def process(events):
            return defaultdict_accumulator(int, {"events": len(events)})

    class Derived(Plain):
        @track
        def process(self, events):
            return accumulate([super().process(events), {"derived": 1}])

    return [Plain, Keeping, Failing, Static, Derived]
"""

EXECUTED = """
import json, os, pickle, sys, warnings
import cloudpickle
import numpy as np
from coffea import processor as coffea_processor
from coffea.nanoevents import NanoAODSchema
from processors_of_test import processors
import crema_hep as crema

warnings.simplefilter("ignore")
FILE = sys.argv[1]

def executors():  # one retry shows as much as three, and a processor that fails runs half as often
    from coffea.processor import DaskExecutor, FuturesExecutor, IterativeExecutor
    yield "iterative", IterativeExecutor(status=False, retries=1)
    if not crema.enabled():  # with a pool, only what is recorded
        return
    yield "futures", FuturesExecutor(workers=1, status=False, retries=1)
    try:
        from distributed import Client
    except ImportError:
        return
    with Client(n_workers=1, threads_per_worker=2, dashboard_address="127.0.0.1:0") as client:
        yield "dask", DaskExecutor(client=client, status=False, retries=1)

def plainly(value):
    if isinstance(value, dict):
        return {key: plainly(part) for key, part in sorted(value.items())}
    if hasattr(value, "value"):
        return np.sort(value.value).tobytes()
    return value

def outcome(executor, kind):
    runner = coffea_processor.Runner(executor, schema=NanoAODSchema, chunksize=100)
    try:
        output = runner({"ttbar": [FILE]}, processor_instance=kind(), treename="Events")
    except Exception as error:
        while error.__cause__ is not None:
            error = error.__cause__
        said = str(error).rpartition("The error was")[2]  # which file's chunk came first is chance
        return pickle.dumps((type(error).__name__, said, error.__context__ is None))
    return pickle.dumps(plainly(output))

if __name__ == "__main__":
    done = []
    for name, executor in executors():
        for plain, tracked in zip(processors(lambda function: function), processors(crema.track_metrics)):
            ours, theirs = outcome(executor, tracked), outcome(executor, plain)
            assert ours == theirs, (name, plain, pickle.loads(ours), pickle.loads(theirs))
            done.append((name, plain.__name__))
    for kind in processors(crema.track_metrics):  # as TaskVine's and Parsl's executors send them
        assert type(pickle.loads(cloudpickle.dumps(kind()))).__name__ == kind.__name__
    print(json.dumps(done))
"""

ALONE = """
import pickle, sys
processor, plain = pickle.loads(sys.stdin.buffer.read())
for each in (processor, plain):
    try:
        each.process([1])
    except ValueError as error:
        print(type(error).__name__, error, repr(error.__context__))
"""

SENT = """
import os, subprocess, sys
import cloudpickle
import crema_hep as crema

class Processor:
    @crema.track_metrics
    def process(self, events):
        raise ValueError("mine")

class Plain:
    def process(self, events):
        raise ValueError("mine")

environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
done = subprocess.run([sys.executable, "-c", sys.argv[1]], input=cloudpickle.dumps((Processor(), Plain())),
                      env=environment, capture_output=True)
sys.stdout.write(done.stdout.decode())
sys.stderr.write(done.stderr.decode())
"""


class DecoratedTest(installed.RecordedTest):
    python = sys.executable

    # Fault [guards]: `@track_metrics` above a coroutine, a generator, a class, a static or class method, a partial, an
    # object, or something that is not a function at all
    # Program: nothing; where there can be no chunk, one warning as it is decorated
    # Recorded: the calls that do their work while they run
    def test_forty_shapes_do_what_undecorated_ones_do(self):
        for directory in ({}, {"CREMA_DIR": str(self.records)}):
            done = self.run_program(COMPARED, python=self.python, **directory)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            shapes, failed = map(int, done.stdout.split())
            self.assertGreaterEqual(shapes, 38)
        status = [chunk["status"] for chunk in of_type(self.lines(), "chunk")]
        self.assertGreater(status.count("ok"), 15)
        self.assertEqual(status.count("failed"), failed)  # raising, chained, leaving, wrong arguments: once each

    # Fault [guards]: `@track_metrics` above a function with methods of its own (`functools.lru_cache`), or an object
    # that counts its calls
    # Program: nothing: the methods are there, the object is the same one, with one warning
    # Recorded: the function's calls; of an object none
    def test_what_is_decorated_keeps_what_it_has(self):
        done = self.run_program(
            """
import functools
import crema_hep as crema

@crema.track_metrics
@functools.lru_cache
def cached(events):
    return len(events)

cached((1, 2)), cached((1, 2))
assert cached.cache_info().hits == 1, cached.cache_info()
cached.cache_clear()
assert cached.cache_info().currsize == 0

class Counter:
    calls = 0
    def __call__(self, events):
        self.calls += 1
        return len(events)

given = Counter()
counter = crema.track_metrics(given)
counter([1]), counter([2])
assert isinstance(counter, Counter) and counter.calls == given.calls == 2, counter.calls
""",
            python=self.python,
            CREMA_DIR=str(self.records),
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr.count("Warning: crema: "), 1, done.stderr)
        self.assertIn("Counter is an object, and @track_metrics makes no chunk of it", done.stderr)
        self.assertEqual(len(of_type(self.lines(), "chunk")), 2)

    def test_what_is_no_chunk_is_said_as_it_is_decorated(self):
        done = self.run_program(
            """
import crema_hep as crema

@crema.track_metrics
async def coroutine(events): ...

@crema.track_metrics
def hands_out(events):
    return coroutine(events)

hands_out([]).close()
""",
            python=self.python,
            CREMA_DIR=str(self.records),
        )
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
        self.assertIn("coroutine is a coroutine function, and @track_metrics makes no chunk of it", done.stderr)
        self.assertIn("hands_out returned a coroutine, whose work is not in its chunk", done.stderr)


class CoffeaExecutorsTest(installed.RecordedTest):
    def setUp(self):
        super().setUp()
        if not os.access(installed.COFFEA_PYTHON, os.X_OK):
            self.skipTest("no Coffea in .cache/coffea: tools/setup coffea installs it")

    # Fault [guards]: decorated processors, some of which keep guards of their own, on Coffea's executors
    # Program: nothing: outputs are equal to the byte, exceptions are the same
    # Recorded: the chunks
    def test_processors_give_the_same_bytes_on_coffeas_executors(self):
        (self.folder / "processors_of_test.py").write_text(PROCESSORS)
        file = installed.CHECKOUT / "tests/data/nanoAOD_2015_CMS_Open_Data_ttbar.root"
        path = f"{installed.PACKAGE}:{self.folder}"
        for directory, executors in (({}, 1), ({"CREMA_DIR": str(self.records)}, 3)):
            done = self.run_program(EXECUTED, file, python=installed.COFFEA_PYTHON, PYTHONPATH=path, **directory)
            self.assertEqual(done.returncode, 0, done.stderr[-3000:])
            self.assertEqual(len(json.loads(done.stdout.splitlines()[-1])), 5 * executors)

    # Fault [guards]: a decorated processor arrives at a worker that has no crema_hep
    # Program: nothing; its exception has no other as its context
    # Recorded: nothing
    def test_where_the_package_is_missing_an_exception_has_no_context_of_ours(self):
        done = self.run_program(SENT, ALONE, python=installed.COFFEA_PYTHON)
        self.assertEqual((done.stderr, done.stdout), ("", "ValueError mine None\n" * 2))


installed.add_versions(globals(), "Decorated", DecoratedTest)

if __name__ == "__main__":
    unittest.main(verbosity=2)

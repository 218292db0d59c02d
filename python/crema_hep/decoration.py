"""`TrackMetrics`: the guard of a chunk, and the decorator for every kind of callable, which keeps its kind."""

import functools
import inspect
import threading
import types

from . import library, nanoevents
from .chunk import Chunk
from .notice import warn
from .passes import pass_of
from .section import track_section
from .uproot_requests import measured_uproot

_enabled = library.functions["crema_enabled"]
_LAZY_RESULTS = (types.CoroutineType, types.GeneratorType, types.AsyncGeneratorType)


class _Calls(threading.local):
    """Sources of the events of this thread's decorated calls, the innermost last."""

    def __init__(self):
        self.stack = []


_calls = _Calls()


class TrackMetrics(Chunk):
    """The chunk, for a `with` block or for each call of a function.

        with TrackMetrics("ttbar", "events.root", 0, 1000) as chunk:
            chunk.set_events(1000)

        class Processor(processor.ProcessorABC):
            @track_metrics
            def process(self, events): ...

    As a decorator it takes dataset, file, tree, entry range, events, bytes read, columns and the file's facts from
    NanoEvents' metadata. A value that is missing there is unknown; this is never an error. If an exception leaves the
    chunk, the attempt failed, with the text of the exception, and the exception is passed on unchanged. A guard itself
    never raises.

    `pass_` names the pass over the data: `@track_metrics(pass_="weights")`. Without it, the function's qualified name,
    the prefix of the Dask task and the open span distinguish passes.
    """

    def __new__(cls, dataset=None, *arguments, **named):
        if not arguments and not named and is_decorated(dataset):
            return decorated(dataset)
        return super().__new__(cls)

    def __call__(self, function):
        """As a decorator: each call is a chunk of the pass `pass_`."""
        dataset, file, tree, pass_, *entries = self._facts
        if (dataset, file, tree, *entries) != (None,) * 5:
            warn("crema: @track_metrics takes only pass_; everything else about a chunk comes from its events")
        return decorated(function, pass_)


track_metrics = TrackMetrics


def is_decorated(given) -> bool:
    """Whether this is the decorated object, and not a dataset's name."""
    return callable(given) or (hasattr(type(given), "__get__") and not isinstance(given, str))


def decorated(function, pass_=None):
    """Returns a callable like this one, each call of which is a chunk. If a call only prepares work (a coroutine or
    generator, for example), returns the object unchanged, with a warning: its chunk would end before the work
    begins."""
    if isinstance(function, (staticmethod, classmethod)):
        inner = decorated(function.__func__, pass_)
        return function if inner is function.__func__ else type(function)(inner)
    if isinstance(function, functools.partialmethod):
        inner = decorated(function.func, pass_)
        return function if inner is function.func else type(function)(inner, *function.args, **function.keywords)
    if type(function) is functools.partial:
        return _decorated_partial(function, pass_)
    if isinstance(function, types.MethodType):
        inner = decorated(function.__func__, pass_)
        return function if inner is function.__func__ else types.MethodType(inner, function.__self__)
    what = _what_is_not_measured(function)
    if what:
        name = getattr(function, "__qualname__", type(function).__qualname__)
        warn(f"crema: {name} is {what}, and @track_metrics makes no chunk of it: use TrackMetrics{_where(what)}")
        return function
    if hasattr(type(function), "__get__"):
        return _with_methods_of(function, _wrapped(function, pass_))
    # In a class, a function would become a method; a partial does not.
    return functools.update_wrapper(functools.partial(_wrapped(function, pass_)), function)


def _decorated_partial(function, pass_):
    inner = decorated(function.func, pass_)
    if inner is function.func:
        return function
    again = functools.partial(inner, *function.args, **function.keywords)
    again.__dict__.update(function.__dict__)
    return again


def _what_is_not_measured(function) -> str:
    if isinstance(function, type):
        return "a class"
    if not callable(function):
        return "not a function"
    if not inspect.isroutine(function) and not hasattr(type(function), "__get__"):
        return "an object"  # a wrapper would not have its type, nor see changes of it
    call = function if inspect.isroutine(function) else type(function).__call__
    for kind, what in (
        (inspect.iscoroutinefunction, "a coroutine function"),
        (inspect.isasyncgenfunction, "an asynchronous generator"),
        (inspect.isgeneratorfunction, "a generator"),
    ):
        if kind(function) or kind(call):
            return what
    return ""


def _where(what) -> str:
    """Where a chunk of such a function belongs: coroutines of one thread take turns, and chunks of a thread do not."""
    if "corout" in what or "async" in what:
        return " in its body, around a part without await"
    return " in its body, around a part without yield" if "generator" in what else " in its body"


def _wrapped(function, pass_):
    # Cloudpickle sends the wrapper by value with a processor that is defined in __main__. So the wrapper holds no
    # object of this package, and on a worker without the package it becomes the function itself.
    @functools.wraps(function)
    def process(*arguments, **named):
        try:
            from crema_hep.decoration import run_as_chunk
        except ImportError:
            run_as_chunk = None
        if (
            run_as_chunk is None
        ):  # not in the clause above: exceptions of the function would get that error as their context
            return function(*arguments, **named)
        return run_as_chunk(function, arguments, named, pass_)

    return process


def _with_methods_of(function, wrapper):
    """Gives the wrapper the function's own methods, for example `cache_clear` of `functools.lru_cache`."""
    if not isinstance(function, types.FunctionType):
        for name in dir(function):
            method = None if name.startswith("__") or hasattr(wrapper, name) else getattr(function, name, None)
            if callable(method):
                setattr(wrapper, name, method)
    return wrapper


def warn_of_lazy_result(function, result) -> None:
    """Warns that a function returned work that is still to come (a coroutine, for example): its chunk ended before the
    work."""
    if isinstance(result, _LAZY_RESULTS):
        name = getattr(function, "__qualname__", "the function")
        kind = type(result).__name__
        warn(f"crema: {name} returned a {kind}, whose work is not in its chunk: use TrackMetrics{_where(kind)}")


def run_as_chunk(function, arguments, named, pass_=None):
    """Calls the function as a chunk of the events among its arguments (by the name `events`, else the last one)."""
    if not _enabled():
        return function(*arguments, **named)
    events = named["events"] if "events" in named else arguments[-1] if arguments else None
    if nanoevents.is_to_come(events):  # the chunks begin where Dask runs the graph
        with track_section("build graph"):
            return function(*arguments, **named)
    source = nanoevents.EventSource(events)
    calls = _calls.stack
    if pass_ is None and calls and source.is_same_chunk(calls[-1]):
        return function(*arguments, **named)  # a method that calls the method it overrides: both are one chunk
    guard = TrackMetrics(
        source.dataset,
        source.file,
        source.entry_start,
        source.entry_stop,
        tree=source.tree,
        pass_=pass_of(function, arguments) if pass_ is None else pass_,
        events=source.events,
    )
    with guard:
        if source.file_facts is not None:
            guard.set_file_info(*source.file_facts)
        try:
            calls.append(source)
            with measured_uproot():
                result = function(*arguments, **named)
        finally:
            if calls:
                calls.pop()
            guard.add_bytes_read(source.bytes_read(calls[-1] if calls else None))
            guard.add_columns(source.columns())
    warn_of_lazy_result(function, result)
    return result

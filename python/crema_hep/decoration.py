"""`@track_metrics` for every kind of callable; the decorated object keeps its kind."""

import functools
import inspect
import types

from .notice import warn

_LAZY_RESULTS = (types.CoroutineType, types.GeneratorType, types.AsyncGeneratorType)


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
        warn(f"crema: {name} is {what}, and @track_metrics makes no chunk of it: use TrackMetrics in its body")
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
        return f"a {type(function).__name__}"
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


def _wrapped(function, pass_):
    # Cloudpickle sends the wrapper by value with a processor that is defined in __main__. So the wrapper holds no
    # object of this package, and on a worker without the package it becomes the function itself.
    @functools.wraps(function)
    def process(*arguments, **named):
        try:
            from crema_hep.chunk import run_as_chunk
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
        warn(f"crema: {name} returned a {kind}, whose work is not in its chunk: use TrackMetrics in its body")

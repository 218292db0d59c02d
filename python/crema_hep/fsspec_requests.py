"""The methods of fsspec's files that request bytes from storage: those that fill the cache of a buffered file, and the
reads of a local file."""

import inspect
import sys

_FETCHES = ("_fetch_range", "_fetch_all")


def methods():
    """(class, method's name) for all classes that are loaded."""
    base = getattr(sys.modules.get("fsspec.spec"), "AbstractBufferedFile", None)
    for kind in _below(base) if base is not None else ():
        for name in _FETCHES:
            if name in vars(kind) and not inspect.iscoroutinefunction(vars(kind)[name]):
                yield kind, name
    local = getattr(sys.modules.get("fsspec.implementations.local"), "LocalFileOpener", None)
    if local is not None and "read" in vars(local):
        yield local, "read"


def _below(kind):
    for derived in type.__subclasses__(kind):
        yield derived
        yield from _below(derived)

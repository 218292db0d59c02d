"""The backends of `MetricsCollector`: a module and one row here for each.

A module `<name>_backend` has `backend_of(collector)`, which returns an object with `start()`, `stop()` and
`measure(output, arguments)`. `measure` runs `crema collect` with these further arguments, and makes the measurement in
the directory `output`. The object may also have `plan(events)`, for people who watch the run, and `detach()`.
"""

import importlib
import typing

from .requirements import missing_package


class Backend(typing.NamedTuple):
    module: str  # imported at its first use: it may need a package that is not installed
    needs_client: bool


BACKENDS = {
    "dask": Backend(".dask_backend", needs_client=True),
    "local": Backend(".local_backend", needs_client=False),
    "parsl": Backend(".parsl_backend", needs_client=False),
    "taskvine": Backend(".taskvine_backend", needs_client=True),
}

# Coffea's executors without a Dask cluster, by the name of their class (docs/python.md, "Executors").
EXECUTORS = {
    "IterativeExecutor": "local",
    "FuturesExecutor": "local",
    "ParslExecutor": "parsl",
    "TaskVineExecutor": "taskvine",
}


def name_of(client, backend):
    """The backend of this name. If it is the default name, an executor of Coffea's may choose another backend."""
    if backend != "dask":
        return backend
    names = (EXECUTORS.get(kind.__name__) for kind in type(client).__mro__)
    return next((name for name in names if name is not None), backend)


def backend_of(collector):
    """The backend that the collector names. Raises ValueError if there is none, or if it needs a client, and
    ImportError if it needs a package that is not installed."""
    name = name_of(collector.client, collector.backend)
    if name not in BACKENDS:
        raise ValueError(f"Unsupported backend: {name}: use {' or '.join(repr(known) for known in BACKENDS)}")
    backend = BACKENDS[name]
    if backend.needs_client and collector.client is None:
        raise ValueError(f"backend {name!r} needs a Client, or an executor that has one: else use backend='local'")
    if backend.needs_client and isinstance(collector.client, str):
        remedy = f"backend={collector.client!r}" if collector.client in BACKENDS else f"Client({collector.client!r})"
        raise ValueError(f"backend {name!r} needs a Client, not the text {collector.client!r}: use {remedy}")
    try:
        return importlib.import_module(backend.module, __package__).backend_of(collector)
    except ModuleNotFoundError as error:
        instead = "backend='local' measures this process and its children without it"
        raise missing_package(error, f"backend {name!r}", instead) from error

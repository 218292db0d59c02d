"""What `MetricsCollector` measures by: a module and one row here for each backend.

A module `<name>_backend` has `backend_of(collector)`, which gives an object with `start()`, `stop()` and
`measure(output, arguments)`: the last makes the measurement in the directory `output` by `crema collect` with these
further arguments. The object may also have `plan(events)`, for who watches the run, and `detach()`.
"""

import importlib
import typing


class Backend(typing.NamedTuple):
    module: str  # imported when it is asked for: what it needs may not be installed
    needs_client: bool


BACKENDS = {
    "dask": Backend(".dask_backend", needs_client=True),
    "local": Backend(".local_backend", needs_client=False),
    "parsl": Backend(".parsl_backend", needs_client=False),
    "taskvine": Backend(".taskvine_backend", needs_client=True),
}

# Coffea's executors that are no Dask cluster, by the name of their class (docs/python.md, "Executors").
EXECUTORS = {
    "IterativeExecutor": "local",
    "FuturesExecutor": "local",
    "ParslExecutor": "parsl",
    "TaskVineExecutor": "taskvine",
}


def name_of(client, backend):
    """The backend that was named; where that is the default, an executor of Coffea's has its own."""
    if backend != "dask":
        return backend
    names = (EXECUTORS.get(kind.__name__) for kind in type(client).__mro__)
    return next((name for name in names if name is not None), backend)


def backend_of(collector):
    """The backend that the collector names. Raises ValueError where there is none, or it needs a client."""
    name = name_of(collector.client, collector.backend)
    if name not in BACKENDS:
        raise ValueError(f"Unsupported backend: {name}: use {' or '.join(repr(known) for known in BACKENDS)}")
    backend = BACKENDS[name]
    if backend.needs_client and collector.client is None:
        raise ValueError(f"backend {name!r} needs a Client, or an executor that has one: else use backend='local'")
    return importlib.import_module(backend.module, __package__).backend_of(collector)

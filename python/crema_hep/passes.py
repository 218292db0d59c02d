"""The pass over the data to which a chunk belongs, if its author named none.

Two functions that process the same events are two passes, not a repeat. The name of a pass consists of the decorated
function, the prefix of the Dask task, and the phase: a span of the client or of this process, a span of Dask's, or
CREMA_PASS.
"""

import os
import sys

from .interruption import is_interruption

_MAIN = ("__main__", "__mp_main__")  # names of the script in its own process, and in children that begin by spawn
ANNOTATION = "crema_span"  # an annotation of Dask's tasks: the path of the client's spans
open_spans = []  # (block, name) of this process, the innermost last; spans inside a chunk belong to its thread alone


def open_path() -> str:
    """The path of this process's open spans."""
    return "/".join(name for _, name in open_spans)


def pass_of(function=None, arguments=()):
    """A name for the pass. None if nothing is known; the SDK then uses CREMA_PASS or its own span."""
    module, name = (None, None) if function is None else _name_of(function, arguments)
    phase, prefix = _of_task()
    if name is None and prefix is None:
        return None
    if phase is None:
        phase = os.environ.get("CREMA_PASS") or open_path() or None
    if name is not None and prefix is not None and prefix.rpartition(".")[2] in name.split("."):
        prefix = None
    if module not in (None, *_MAIN):
        name = f"{module}.{name}"
    return "/".join(part for part in (phase, prefix, name) if part) or None


def _name_of(function, arguments) -> tuple:
    """Module and name, for example `Processor.process`, with the class of the processor at hand: a derived class gives
    another name. Several modules may have a `Processor`."""
    name = getattr(function, "__qualname__", None) or type(function).__qualname__
    owner, _, method = name.rpartition(".")
    if owner and not owner.endswith("<locals>") and arguments:
        kind = arguments[0] if isinstance(arguments[0], type) else type(arguments[0])
        if hasattr(kind, method):
            return kind.__module__, f"{kind.__qualname__}.{method}"
    return getattr(function, "__module__", None), name


def _of_task():
    """(phase, prefix) of the Dask task that runs on this thread, each None if it is not known."""
    worker_module = sys.modules.get("distributed.worker")
    if worker_module is None:
        return None, None
    try:
        running = worker_module.thread_state
        task = running.execution_state["worker"].state.tasks[running.key]
        annotations = task.annotations or {}
        phase = annotations.get(ANNOTATION)
        if phase is None and "span" in annotations:
            phase = "/".join(map(str, annotations["span"]["name"]))
        return phase, None if task.prefix is None else str(task.prefix)
    except Exception as error:
        if is_interruption(error):
            raise
        return None, None  # no task, or an unknown Dask

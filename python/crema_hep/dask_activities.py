"""Sections as activities of Dask, beside the task's thread-cpu and others, in their own unit.

Dask subtracts activities in seconds from its thread-cpu, whether they used the CPU or waited. So the unit of sections
is `native-seconds`: each path has its self time, and `(other)` the rest of the chunk; together they are the duration of
the chunk. The unit of helper threads is `native-helper-seconds`. Dask's page of fine performance metrics shows them
when you choose the unit, and spans contain them.
"""

import sys

from . import library
from .interruption import is_interruption

UNIT = "native-seconds"
HELPER_UNIT = "native-helper-seconds"
# Dask keeps each label for every span, on workers and on the scheduler, as long as they live.
_MOST_LABELS = 100
_REST = "(more sections)"

_visit_sections = library.functions["crema_visit_section_texts"]
_labels = {}  # the library's path: label


def _label(path) -> str:
    label = _labels.get(path)
    if label is None:
        if len(_labels) >= _MOST_LABELS:
            return _REST
        label = _labels[path] = path.decode("utf-8", "replace") or "(other)"
    return label


# A visitor without a line of Python: it would lose an exception that a signal handler or another thread raises in it.
_visitor = library.SectionTextVisitor(list.append)


def sections_of_last_chunk() -> list:
    """Rows (label, seconds, unit) of the chunk that ended last on this thread. Returns those of each chunk once."""
    texts = []
    _visit_sections(_visitor, texts)
    rows = []
    for text in texts:
        self_ns, is_helper, path = text.split(b" ", 2)
        rows.append((_label(path), int(self_ns) / 1e9, HELPER_UNIT if is_helper == b"1" else UNIT))
    return rows


def sections_to_dask() -> None:
    """In a task of Dask, adds the sections of the chunk that ended last on this thread to the task's activities.

    Chunks of Python code do this when they end. Call it after native code that has its own chunks. Each chunk counts
    once. Outside a task, or after `attach(client, sections_in_dask=False)`, it does nothing. Never raises.
    """
    worker_module = sys.modules.get("distributed.worker")
    if worker_module is None:
        return
    try:
        plugin = worker_module.get_worker().plugins.get("crema")
        if not getattr(plugin, "sections_in_dask", False):
            return
        digest = sys.modules["distributed.metrics"].context_meter.digest_metric
        for label, seconds, unit in sections_of_last_chunk():
            digest(label, seconds, unit)
    except Exception as error:
        if is_interruption(error):
            raise
        # no task, or an unknown Dask: Dask's own view gets no sections, but the record has them

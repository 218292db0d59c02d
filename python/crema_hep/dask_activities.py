"""Sections as activities of Dask's own, beside thread-cpu and the others of the task, in a unit of their own.

Dask takes activities in seconds out of its thread-cpu, whether they used the CPU or waited. So sections are
`native-seconds`: each path with its self time, `(other)` for the rest of the chunk, which together are the chunk's
duration; and `native-helper-seconds` for what threads did that helped. Dask's page of fine performance metrics shows
them when that unit is chosen, and spans hold them.
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
_labels = {}  # path as the library has it: label


def _label(path) -> str:
    label = _labels.get(path)
    if label is None:
        if len(_labels) >= _MOST_LABELS:
            return _REST
        label = _labels[path] = path.decode("utf-8", "replace") or "(other)"
    return label


# A visitor without a line of Python: what a signal's handler, or another thread, raised in one would be lost.
_visitor = library.SectionTextVisitor(list.append)


def sections_of_last_chunk() -> list:
    """(label, seconds, unit) of the chunk that ended last on this thread; each chunk's are handed out once."""
    texts = []
    _visit_sections(_visitor, texts)
    rows = []
    for text in texts:
        self_ns, is_helper, path = text.split(b" ", 2)
        rows.append((_label(path), int(self_ns) / 1e9, HELPER_UNIT if is_helper == b"1" else UNIT))
    return rows


def sections_to_dask() -> None:
    """In a task of Dask: adds the sections of the chunk that ended last on this thread to the task's activities.

    Chunks of Python code do it when they end. Call it after native code that has chunks of its own. Each chunk counts
    once; outside a task, or where `attach(client, sections_in_dask=False)` switched it off, nothing happens. Never
    raises.
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
        # no task, or another Dask: its own view has no sections, and the record has them all the same

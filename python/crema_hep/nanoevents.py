"""Facts that NanoEvents have of their data: dataset, file, entry range, bytes and columns that were read.

Everything is optional: other versions of Coffea, other schemas and code without Coffea give less. A missing fact is
None, and never an exception. A chunk looks at no branch: the contents of a whole file are read once per file and
process.
"""

import os

from .interruption import is_interruption

_KEPT_FILES = 10_000
_file_facts = {}  # (uuid or path, tree) -> (branches, bytes, compressed bytes), as first seen in this process


def forget_files() -> None:
    _file_facts.clear()


os.register_at_fork(after_in_child=forget_files)  # so that the child's log has them, too


def is_to_come(events) -> bool:
    """Whether these are a collection of Dask's: work on them builds a graph, and reads no event."""
    try:
        return hasattr(type(events), "__dask_graph__")
    except Exception as error:
        if is_interruption(error):
            raise
        return False


class EventSource:
    """The data behind `events`. Facts are attributes; `bytes_read` and `columns` return what was read since the
    construction."""

    def __init__(self, events):
        self.dataset = self.file = self.tree = self.entry_start = self.entry_stop = self.events = None
        self.file_facts = None
        self._file = self._log = None
        self._log_start = 0
        self._bytes_before = None
        self._bytes_inside = 0  # bytes of chunks inside this one, which count there
        self._identity = None
        self._given = events
        for read in (self._read_metadata, self._read_length, self._read_factory):
            try:
                read(events)
            except Exception as error:  # use what is known without it
                if is_interruption(error):
                    raise

    def _read_metadata(self, events):
        metadata = getattr(events, "metadata", None)
        known = metadata.get if hasattr(metadata, "get") else lambda _: None
        self.dataset = known("dataset")
        self.file = known("filename")
        self.tree = known("treename")
        self.entry_start = known("entrystart")
        self.entry_stop = known("entrystop")
        self._identity = known("fileuuid") or self.file

    def _read_length(self, events):
        if self.entry_start is not None and self.entry_stop is not None:
            self.events = self.entry_stop - self.entry_start
        else:
            self.events = len(events)

    def _read_factory(self, events):
        attributes = getattr(events, "attrs", None)
        factory = attributes.get("@events_factory") if hasattr(attributes, "get") else None
        if factory is None:
            return
        self._log = getattr(factory, "access_log", None)
        self._log_start = 0 if self._log is None else len(self._log)
        directory = getattr(factory, "file_handle", None)
        if directory is None:
            return
        self._file = getattr(directory, "file", directory)
        self._bytes_before = requested_bytes(self._file)
        self.file_facts = self._facts_of_file(directory)

    def _facts_of_file(self, directory):
        """(branches, bytes, compressed bytes) when this process first sees the file; later None."""
        key = (self._identity, self.tree)
        if self.file is None or self.tree is None or key in _file_facts or len(_file_facts) >= _KEPT_FILES:
            return None
        _file_facts[key] = None  # looked up once, even if there is no answer
        tree = directory[self.tree]
        _file_facts[key] = (
            number_of_branches(tree),
            getattr(tree, "uncompressed_bytes", None),
            getattr(tree, "compressed_bytes", None),
        )
        return _file_facts[key]

    def is_same_chunk(self, other) -> bool:
        """Whether both are the same piece of the data."""

        def facts(source):
            return source.dataset, source.file, source.tree, source.entry_start, source.entry_stop

        if self.file is not None:
            return facts(self) == facts(other)
        return self._given is other._given and hasattr(type(self._given), "__len__")

    def bytes_read(self, around=None):
        """Bytes requested from the file since the construction, as stored; None if nobody counts them. `around`: the
        source of the chunk around this one, which then does not count them again."""
        if self._bytes_before is None:
            return None
        now = requested_bytes(self._file)
        if now is None:
            return None
        if around is not None and around._file is self._file:
            around._bytes_inside += now - self._bytes_before
        return now - self._bytes_before - self._bytes_inside

    def columns(self):
        """Names of the branches that were read since the construction, in order, each once."""
        try:
            return dict.fromkeys(access.branch for access in self._log[self._log_start :])
        except Exception as error:
            if is_interruption(error):
                raise
            return ()


def requested_bytes(file):
    """Bytes that uproot has requested from the file's source so far; None if it does not count them."""
    try:
        return int(file.source.num_requested_bytes)
    except Exception as error:
        if is_interruption(error):
            raise
        return None


def number_of_branches(tree):
    """Number of branches of a tree, including those inside branches; None if they cannot be counted."""
    try:
        return sum(1 + number_of_branches(branch) for branch in tree.branches)
    except Exception as error:
        if is_interruption(error):
            raise
        return None

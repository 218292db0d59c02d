"""Sections: wall time of a part of the work, by name; nested ones form paths, across Python and native code."""

from . import library
from .guard import AGAIN, Guard, take_back
from .interruption import is_interruption

_open = library.functions["crema_section_open"]
_open_cpu = library.functions["crema_cpu_section_open"]
_close = library.functions["crema_section_close"]
_close_failed = library.functions["crema_section_close_failed"]

_is_open = library.functions["crema_section_is_open"]

_KEPT_NAMES = 4096


_names = {}  # name: the name as the C API takes it


def _encode(name, error) -> bytes:
    """Encodes a name that is not in `_names`: it is new, or it cannot be the key of a dictionary."""
    if is_interruption(error):
        raise error
    text = library.encoded(name)
    if type(name) is str and len(_names) < _KEPT_NAMES:  # names with a counter in them must not fill the memory
        _names[name] = text
    return text


class track_section(Guard):
    """Measures a `with` block: count, total, self, shortest and longest time, per path.

        with track_section("select"):
            with track_section("jets"):  # select/jets

    Inside a chunk the section goes into the chunk's record, elsewhere into that of the process. `track_section(self,
    "select")`, as in a processor, is the same. If an exception leaves the block, it counts as failed. Never raises;
    costs about 0.3 us.
    """

    __slots__ = ("_name",)

    def __init__(self, processor, name=None):
        self._name = processor if name is None else name
        self._open = 0

    def __enter__(self):
        try:
            name = _names[self._name]
        except Exception as error:
            name = _encode(self._name, error)
        try:
            number = _open(name)
        except BaseException:  # a signal handler raised it after the call, and the result is lost
            take_back()
            raise
        if not self._open:
            self._open = number
        else:
            self._enter_again(number)
        return self

    def __exit__(self, kind, error, trace):
        number = self._open
        if number is not AGAIN:
            self._open = 0
        else:
            number = self._leave_again(_is_open)
        if kind is None:
            _close(number)
        else:
            _close_failed(number)


track_time = track_section


class track_cpu_section(track_section):
    """A section that also records its CPU time, for about 1 us more."""

    __slots__ = ()

    def __enter__(self):
        try:
            name = _names[self._name]
        except Exception as error:
            name = _encode(self._name, error)
        try:
            number = _open_cpu(name)
        except BaseException:
            take_back()
            raise
        if not self._open:
            self._open = number
        else:
            self._enter_again(number)
        return self

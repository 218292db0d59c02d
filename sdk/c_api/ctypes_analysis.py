"""The analysis that ctypes_test runs: calls libcrema.so.1 as a Python package would. Argument: the library's path."""

import ctypes
import sys
import threading

UNKNOWN = -1


class Options(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t),
        ("directory", ctypes.c_char_p),
        ("run_id", ctypes.c_char_p),
        ("pass_", ctypes.c_char_p),
        ("threads", ctypes.c_int32),
        ("trace", ctypes.c_int32),
        ("interval_seconds", ctypes.c_double),
        ("total_events", ctypes.c_int64),
        ("no_arguments", ctypes.c_int32),
    ]


class ChunkInfo(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t),
        ("dataset", ctypes.c_char_p),
        ("file", ctypes.c_char_p),
        ("tree", ctypes.c_char_p),
        ("pass_", ctypes.c_char_p),
        ("entry_start", ctypes.c_int64),
        ("entry_stop", ctypes.c_int64),
    ]


class Section(ctypes.Structure):
    _fields_ = [("node", ctypes.c_void_p), ("start_ticks", ctypes.c_uint64)]


class Handle(ctypes.Structure):
    _fields_ = [("state", ctypes.c_void_p), ("generation", ctypes.c_uint64), ("section", ctypes.c_void_p)]


# Result and arguments; a function that is missing here would get and give C ints.
SIGNATURES = {
    "crema_version": (ctypes.c_char_p, []),
    "crema_enable": (ctypes.c_int, [ctypes.POINTER(Options)]),
    "crema_disable": (None, []),
    "crema_enabled": (ctypes.c_int, []),
    "crema_flush": (None, []),
    "crema_chunk_begin": (ctypes.c_void_p, [ctypes.POINTER(ChunkInfo)]),
    "crema_chunk_end": (None, [ctypes.c_void_p]),
    "crema_chunk_fail": (None, [ctypes.c_void_p, ctypes.c_char_p]),
    "crema_chunk_set_events": (None, [ctypes.c_void_p, ctypes.c_int64]),
    "crema_chunk_get_handle": (Handle, [ctypes.c_void_p]),
    "crema_section_enter": (Section, [ctypes.c_char_p]),
    "crema_section_exit": (None, [Section]),
    "crema_cpu_section_begin": (ctypes.c_void_p, [ctypes.c_char_p]),
    "crema_memory_begin": (ctypes.c_void_p, [ctypes.c_char_p]),
    "crema_activity_begin": (ctypes.c_void_p, [ctypes.c_char_p]),
    "crema_helper_begin": (ctypes.c_void_p, [Handle]),
    "crema_scope_end": (None, [ctypes.c_void_p]),
    "crema_record_metric": (None, [ctypes.c_char_p, ctypes.c_double, ctypes.c_char_p]),
    "crema_record_activity": (None, [ctypes.c_char_p, ctypes.c_double, ctypes.c_char_p]),
    "crema_record_cut_weighted": (None, [ctypes.c_char_p, ctypes.c_int64, ctypes.c_double]),
}


def load(path: str) -> ctypes.CDLL:
    library = ctypes.CDLL(path)
    for name, (result, arguments) in SIGNATURES.items():
        function = getattr(library, name)
        function.restype = result
        function.argtypes = arguments
    return library


def begin(crema: ctypes.CDLL, dataset: str, first: int, last: int) -> int:
    info = ChunkInfo(ctypes.sizeof(ChunkInfo), dataset.encode(), b"events.root", b"Events", None, first, last)
    return crema.crema_chunk_begin(ctypes.byref(info))


def help_chunk(crema: ctypes.CDLL, handle: Handle) -> None:
    helper = crema.crema_helper_begin(handle)
    section = crema.crema_section_enter(b"jets")
    crema.crema_section_exit(section)
    crema.crema_scope_end(helper)


def analyse(crema: ctypes.CDLL) -> None:
    chunk = begin(crema, "ttbar", 0, 100)
    select = crema.crema_section_enter(b"select")
    for _ in range(2):
        section = crema.crema_section_enter("größer".encode())
        crema.crema_section_exit(section)
    thread = threading.Thread(target=help_chunk, args=(crema, crema.crema_chunk_get_handle(chunk)))
    thread.start()
    thread.join()
    crema.crema_section_exit(select)
    for begin_scope, name in (
        (crema.crema_cpu_section_begin, b"fill"),
        (crema.crema_memory_begin, b"arrays"),
        (crema.crema_activity_begin, b"decompress"),
    ):
        crema.crema_scope_end(begin_scope(name))
    crema.crema_record_metric(b"jets", 3.5, b"count")
    crema.crema_record_activity(b"cache", 7, b"count")
    crema.crema_record_cut_weighted(b"all", 100, 99.5)
    crema.crema_chunk_set_events(chunk, 100)
    crema.crema_chunk_end(chunk)

    failing = begin(crema, "ttbar", 100, 200)
    crema.crema_chunk_fail(failing, b"KeyError: 'Muon_pt'")
    crema.crema_chunk_end(failing)


if __name__ == "__main__":
    analyse(load(sys.argv[1]))
    print(threading.get_ident())

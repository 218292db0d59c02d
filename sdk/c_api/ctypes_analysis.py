"""The analysis that ctypes_test runs: calls libcrema.so.1 as a Python package would. Argument: the library's path."""

import ctypes
import sys
import threading

from c_declarations import TYPES, load

ChunkInfo = TYPES["crema_chunk_info"]
Handle = TYPES["crema_chunk_handle"]


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

"""crema_hep/library.py declares the C API as its header does."""

import unittest

import installed

COMPARISON = """
import ctypes, sys
sys.path.insert(0, sys.argv[1])
import c_declarations
from crema_hep import library

STRUCTS = {
    "crema_options": library.Options,
    "crema_chunk_info": library.ChunkInfo,
    "crema_chunk_handle": library.Handle,
    "crema_section_total": library.SectionTotal,
}

def kind(given):
    if given is None:
        return "void"
    if given is ctypes.c_char_p:
        return "text"
    if issubclass(given, ctypes.Structure):
        return [(name.rstrip("_"), kind(field)) for name, field in given._fields_]
    if given in (ctypes.c_void_p, ctypes.py_object):
        return "pointer"
    return given._type_ if isinstance(getattr(given, "_type_", None), str) else "pointer"

assert library.IS_LOADED
for name, given in STRUCTS.items():
    if kind(given) != kind(c_declarations.TYPES[name]):
        print(name, kind(given), kind(c_declarations.TYPES[name]))
for name, (result, arguments, _) in library.SIGNATURES.items():
    wanted_result, wanted = c_declarations.FUNCTIONS[name]
    wanted = [kind(each) for each in wanted]
    if kind(result) != kind(wanted_result):
        print(name, "returns", kind(wanted_result))
    # Without types, ctypes passes an int as an int of C, and bytes as a text.
    is_right = set(wanted) <= {"i", "text"} if arguments is None else [kind(each) for each in arguments] == wanted
    if not is_right:
        print(name, "takes", wanted)
"""


class LibraryTest(installed.RecordedTest):
    def test_types_are_those_of_the_header(self):
        done = self.run_program(COMPARISON, installed.CHECKOUT / "sdk/c_api")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))


if __name__ == "__main__":
    unittest.main(verbosity=2)

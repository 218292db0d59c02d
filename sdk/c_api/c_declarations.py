"""What crema_c.h declares, as ctypes. Tests call the library with these types, and compare other tables with them.

It reads the C that this header is written in: structs, types of callbacks, and functions.
"""

import ctypes
import pathlib
import re

HEADER = pathlib.Path(__file__).with_name("crema_c.h")

_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_STRUCT = r"typedef struct \w+ \{(?P<fields>[^}]*)\} (?P<struct>\w+);"
_CALLBACK = r"typedef (?P<returned>[^;(]*)\(\*(?P<callback>\w+)\)\((?P<taken>[^)]*)\);"
_TYPE = re.compile(rf"{_STRUCT}|{_CALLBACK}")
_FUNCTION = re.compile(r"^CREMA_API ([^;(]*?)(\w+)\(([^)]*)\);", re.MULTILINE)
_VARIABLE = re.compile(r"(.*?)\s*(\w+)", re.DOTALL)
_NUMBERS = {
    "double": ctypes.c_double,
    "int": ctypes.c_int,
    "int32_t": ctypes.c_int32,
    "int64_t": ctypes.c_int64,
    "size_t": ctypes.c_size_t,
    "uint32_t": ctypes.c_uint32,
    "uint64_t": ctypes.c_uint64,
}


def _type_of(text: str, types: dict):
    """The type of these words of C. Raises KeyError for one that is not declared."""
    name = text.replace("const ", "").strip()
    if name == "void":
        return None
    if name == "char*":
        return ctypes.c_char_p
    if not name.endswith("*"):
        return _NUMBERS.get(name) or types[name]
    pointee = types.get(name[:-1])
    return ctypes.POINTER(pointee) if pointee else ctypes.c_void_p


def _variables(text: str, end: str, types: dict) -> list:
    """The variables of a list, each as (name, type)."""
    variables = [part.strip() for part in text.split(end)]
    parts = [_VARIABLE.fullmatch(variable) for variable in variables if variable not in ("", "void")]
    return [(part[2], _type_of(part[1], types)) for part in parts]


def read(header: str) -> tuple:
    """{name of a struct or callback: its type}, {name of a function: (type of its result, types of its arguments)}."""
    header = _COMMENT.sub("", header)
    types, functions = {}, {}
    for match in _TYPE.finditer(header):
        if match["struct"]:
            fields = {"_fields_": _variables(match["fields"], ";", types)}
            types[match["struct"]] = type(match["struct"], (ctypes.Structure,), fields)
        else:
            taken = [kind for _, kind in _variables(match["taken"], ",", types)]
            types[match["callback"]] = ctypes.CFUNCTYPE(_type_of(match["returned"], types), *taken)
    for result, name, arguments in _FUNCTION.findall(header):
        functions[name] = _type_of(result, types), [kind for _, kind in _variables(arguments, ",", types)]
    return types, functions


TYPES, FUNCTIONS = read(HEADER.read_text())


def load(path: str) -> ctypes.CDLL:
    """The library at this path, with the types of all its functions."""
    library = ctypes.CDLL(path)
    for name, (result, arguments) in FUNCTIONS.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library

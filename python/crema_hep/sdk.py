"""Where the C++ SDK is: its headers, and its shared library."""

import dataclasses
import os
import pathlib

_CURE = "install the wheel crema-hep, or install the SDK with CMake, and name the folder in CREMA_PREFIX"


class SdkError(RuntimeError):
    """The SDK is missing or does not work; the text says what to do."""


@dataclasses.dataclass(frozen=True)
class Sdk:
    """Paths of the headers and the library, as strings."""

    include: str
    library: str


def find() -> Sdk:
    """The SDK of the wheel, in the folder of this package; if it has none, the SDK in the prefix CREMA_PREFIX. Raises
    SdkError."""
    package = pathlib.Path(__file__).parent
    if (package / "include/crema/root.h").exists() and (package / "lib/libcrema_cpp.so").exists():
        return Sdk(str(package / "include"), str(package / "lib/libcrema_cpp.so"))
    named = os.environ.get("CREMA_PREFIX")
    if not named:
        raise SdkError(f"crema: the C++ headers of crema were not found: {_CURE}")
    prefix = pathlib.Path(named).absolute()
    libraries = [prefix / folder / "libcrema_cpp.so" for folder in ("lib", "lib64")]
    library = next((path for path in libraries if path.exists()), None)
    if library is None or not (prefix / "include/crema/root.h").exists():
        raise SdkError(f"crema: {prefix} does not have both include/crema/root.h and lib/libcrema_cpp.so: {_CURE}")
    return Sdk(str(prefix / "include"), str(library))

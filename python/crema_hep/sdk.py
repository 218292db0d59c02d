"""Where the C++ SDK is: its headers, and its shared library."""

import dataclasses
import os
import pathlib

_CURE = (
    "install the wheel crema-hep, or install the SDK with CMake (-DBUILD_SHARED_LIBS=ON), and name the folder in "
    "CREMA_PREFIX"
)


class SdkError(RuntimeError):
    """The SDK was not found, or does not work; the text says what to do."""


@dataclasses.dataclass(frozen=True)
class Sdk:
    """Paths as texts."""

    include: str
    library: str


def find() -> Sdk:
    """The wheel's (the folder `sdk` of this package); where it has none, that of the prefix CREMA_PREFIX. Raises
    SdkError."""
    named = os.environ.get("CREMA_PREFIX")
    packaged = pathlib.Path(__file__).parent / "sdk"
    if not packaged.is_dir() and not named:
        raise SdkError(f"crema: the C++ headers of crema were not found: {_CURE}")
    prefix = packaged if packaged.is_dir() else pathlib.Path(named).absolute()
    library = next((path for path in _libraries(prefix) if path.exists()), None)
    if library is None or not (prefix / "include/crema/root.h").exists():
        raise SdkError(f"crema: {prefix} has not both include/crema/root.h and lib/libcrema.so: {_CURE}")
    return Sdk(str(prefix / "include"), str(library))


def _libraries(prefix):
    return (prefix / folder / "libcrema.so" for folder in ("lib", "lib64"))

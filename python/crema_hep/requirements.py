"""Checks the Python and the system that the package needs. Old interpreters have to read this module, too."""

import os
import sys

OLDEST_PYTHON = (3, 10)
_BROUGHT_BY = {"cloudpickle": "distributed", "dask": "distributed", "uproot": "coffea"}
OLDEST_GLIBC = (2, 34)  # of the wheel's native parts; AlmaLinux 9


def _text(version):
    return ".".join(str(number) for number in version)


def check_python(found=sys.version_info):
    """Raises ImportError if this Python is too old."""
    if tuple(found[:2]) < OLDEST_PYTHON:
        raise ImportError(
            f"crema_hep needs Python {_text(OLDEST_PYTHON)} or newer, and this is {_text(found[:2])} "
            f"({sys.executable}): make an environment with a newer one, `python3.12 -m venv ENVIRONMENT`, "
            "and install the wheel there"
        )


def missing_package(error, what, instead=""):
    """The error to raise instead of a ModuleNotFoundError: what needs the package, how to install it, and what works
    without it."""
    package = str(error.name).split(".")[0]
    if package != error.name:  # a part of it is missing
        text = f"crema: {what} needs another version of {package} ({error}): pip install --upgrade {package}"
    else:
        package = _BROUGHT_BY.get(package, package)
        text = f"crema: {what} needs {package}: pip install {package}"
    return ModuleNotFoundError(text + (f"; {instead}" if instead else ""), name=error.name)


def glibc_version():
    """The version of glibc, as (2, 36); None if the C library is another one (musl)."""
    try:
        name, version = os.confstr("CS_GNU_LIBC_VERSION").split()
    except (AttributeError, OSError, ValueError):
        return None
    return tuple(int(number) for number in version.split(".")[:2]) if name == "glibc" else None


def glibc_complaint(found):
    """Why the wheel's native parts do not run with this C library, and what to do; "" if they run."""
    if found is not None and found >= OLDEST_GLIBC:
        return ""
    here = "another C library" if found is None else "glibc " + _text(found)
    return (
        f"the wheel's program and library need glibc {_text(OLDEST_GLIBC)}, and this system has {here}: use "
        "AlmaLinux 9, Debian 12, Ubuntu 22.04 or newer (a container will do), or build the SDK here with CMake"
    )

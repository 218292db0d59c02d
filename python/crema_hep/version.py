"""The version. Only the SDK's header has it: inside the wheel, or in the checkout around it."""

import pathlib
import re

_HEADER = "include/crema/version.h"


def _read() -> str:
    package = pathlib.Path(__file__).resolve().parent
    for header in (package / _HEADER, package.parent.parent / "sdk" / _HEADER):
        if header.exists():
            return re.search(r'CREMA_VERSION_STRING "(.*)"', header.read_text(encoding="utf-8"))[1]
    from importlib import metadata  # the package has no native parts

    return metadata.version("crema-hep")


VERSION = _read()

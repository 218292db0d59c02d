"""Packs the wheel crema-hep: the Python package, the SDK and the program as CMake installed them, and the program's
libraries.

CMake's prefix becomes the package's folder, so the program finds everything beside itself. Only its `share` goes into
that of the environment, where shells and man(1) look. The wheel's tag is the newest glibc that any file in it needs:
pip does not install it on older systems. Files carry SOURCE_DATE_EPOCH, so equal input gives an equal wheel.
"""

import argparse
import base64
import dataclasses
import hashlib
import os
import pathlib
import platform
import re
import sys
import time
import zipfile

import native_files
import tomllib

CHECKOUT = pathlib.Path(__file__).resolve().parent.parent
PACKAGE = CHECKOUT / "python"
VERSION_HEADER = CHECKOUT / "sdk/include/crema/version.h"
_OLDEST_ZIP = 315532800  # 1980: the earliest time in a zip file


@dataclasses.dataclass(frozen=True)
class Member:
    """A file of the wheel."""

    name: str
    content: bytes
    executable: bool = False


def version() -> str:
    """The version of all parts, from the SDK's header."""
    return re.search(r'CREMA_VERSION_STRING "(.*)"', VERSION_HEADER.read_text(encoding="utf-8"))[1]


def metadata(project) -> str:
    extras = [
        line
        for extra, needs in project["optional-dependencies"].items()
        for line in [f"Provides-Extra: {extra}", *(f'Requires-Dist: {need}; extra == "{extra}"' for need in needs)]
    ]
    lines = [
        "Metadata-Version: 2.1",
        f"Name: {project['name']}",
        f"Version: {version()}",
        f"Summary: {project['description']}",
        f"License: {project['license']['text']}",
        f"Requires-Python: {project['requires-python']}",
        *(f"Classifier: {classifier}" for classifier in project["classifiers"]),
        *extras,
        "Description-Content-Type: text/markdown",
        "",
        (PACKAGE / project["readme"]).read_text(encoding="utf-8"),
    ]
    return "\n".join(lines)


def is_native(path) -> bool:
    with path.open("rb") as file:
        return file.read(8).startswith((b"\x7fELF", b"!<arch>\n"))


def installed(prefix, data) -> list:
    """The files that CMake installed, by their names in the wheel."""
    found = []
    for path in sorted(prefix.rglob("*")):
        if path.is_symlink() or path.is_dir():
            continue  # library names that are links, because a wheel has no links
        name = path.relative_to(prefix)
        place = f"{data}/data/{name}" if name.parts[0] == "share" else f"crema_hep/{name}"
        content = native_files.stripped(path) if is_native(path) else path.read_bytes()
        found.append(Member(place, content, executable=os.access(path, os.X_OK)))
    return found


def members(project, prefix, tag) -> list:
    info = f"{distribution(project)}.dist-info"
    libraries = native_files.libraries_of(prefix / "bin/crema")
    found = [
        Member(f"crema_hep/{path.name}", path.read_bytes()) for path in sorted((PACKAGE / "crema_hep").glob("*.py"))
    ]
    found += installed(prefix, f"{distribution(project)}.data")
    found += [Member(f"crema_hep/lib/{path.name}", native_files.stripped(path), True) for path in libraries]
    found.append(Member(f"{info}/licenses/LICENSE", (CHECKOUT / "LICENSE").read_bytes()))
    for path in sorted({native_files.copyright_of(library) for library in libraries}):
        found.append(Member(f"{info}/licenses/{path.parent.name}", path.read_bytes()))
    scripts = "".join(f"{name} = {function}\n" for name, function in project["scripts"].items())
    wheel = f"Wheel-Version: 1.0\nGenerator: crema tools/wheel\nRoot-Is-Purelib: false\nTag: {tag}\n"
    for name, text in {
        "METADATA": metadata(project),
        "WHEEL": wheel,
        "entry_points.txt": f"[console_scripts]\n{scripts}",
    }.items():
        found.append(Member(f"{info}/{name}", text.encode()))
    return found


def record_line(member) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(member.content).digest()).rstrip(b"=").decode()
    return f"{member.name},sha256={digest},{len(member.content)}\n"


def distribution(project) -> str:
    return f"{project['name'].replace('-', '_')}-{version()}"


def write(wheel, found, info) -> None:
    record = "".join(map(record_line, found)) + f"{info}/RECORD,,\n"
    date = time.gmtime(max(_OLDEST_ZIP, int(os.environ.get("SOURCE_DATE_EPOCH", "0"))))[:6]
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for member in [*found, Member(f"{info}/RECORD", record.encode())]:
            entry = zipfile.ZipInfo(member.name, date)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if member.executable else 0o100644) << 16
            archive.writestr(entry, member.content)


def main() -> int:
    parser = argparse.ArgumentParser(prog="tools/wheel", description="Builds the wheel crema-hep.")
    parser.add_argument("prefix", type=pathlib.Path, help="what `cmake --install` filled")
    parser.add_argument("-o", "--output", type=pathlib.Path, default=CHECKOUT / "dist", help="directory (dist)")
    arguments = parser.parse_args()
    prefix, output = arguments.prefix, arguments.output
    project = tomllib.loads((PACKAGE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    try:
        libraries = ("libcrema.so.1", "libcrema_cpp.so", "libcrema_allocations.so", "libcrema_gpu.so")
        natives = [prefix / "bin/crema", *(prefix / "lib" / name for name in libraries)]
        natives += native_files.libraries_of(prefix / "bin/crema")
        glibc = native_files.glibc_of(natives, [prefix / "lib/libcrema.a"])
        tag = f"py3-none-manylinux_{glibc[0]}_{glibc[1]}_{platform.machine()}"
        found = members(project, prefix, tag)
    except (native_files.NativeFileError, OSError) as error:
        print(f"wheel: {error}", file=sys.stderr)
        return 1
    output.mkdir(parents=True, exist_ok=True)
    wheel = output / f"{distribution(project)}-{tag}.whl"
    write(wheel, found, f"{distribution(project)}.dist-info")
    print(f"wheel: {wheel}")
    print(f"wheel: install it by `python3 -m pip install {wheel}`; docs/start.md goes on from there")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Packs the wheel crema-hep of what Bazel built: the Python package, libcrema.so.1, the program and its libraries.

The wheel's tag is the newest glibc that anything in it asks for, as `objdump -T` tells: pip installs it nowhere else.
"""

import argparse
import base64
import dataclasses
import hashlib
import pathlib
import platform
import re
import subprocess
import sys
import tempfile
import zipfile

import tomllib

CHECKOUT = pathlib.Path(__file__).resolve().parent.parent
PACKAGE = CHECKOUT / "python"
LIBRARY = CHECKOUT / "bazel-bin/sdk/c_api/libcrema.so.1"
PROGRAM = CHECKOUT / "bazel-bin/collector/cli/crema"

# What PEP 600's policies expect of every system (github.com/pypa/auditwheel, manylinux-policy.json): not packed.
SYSTEM_LIBRARIES = re.compile(r"(libstdc\+\+|libm|libgcc_s|libc|libdl|libpthread|librt|ld-linux[-\w]*)\.so[.\d]*$")
# The newest libstdc++ that the same policies allow with a glibc: of the GCC that came with it.
NEWEST_GLIBCXX = {(2, 34): (3, 4, 29), (2, 35): (3, 4, 30), (2, 36): (3, 4, 30)}
_NO_TIME = (1980, 1, 1, 0, 0, 0)  # so that equal input gives an equal wheel


class WheelError(RuntimeError):
    """The wheel cannot be built; the text says why, and what to do."""


@dataclasses.dataclass(frozen=True)
class Member:
    """A file of the wheel."""

    name: str
    content: bytes
    executable: bool = False


def output_of(*command) -> str:
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise WheelError(f"{command[0]}: {done.stderr.strip()}")
    return done.stdout


def libraries_of(program) -> list:
    """Paths of the shared libraries that the program needs and a system may not have."""
    found = []
    for line in output_of("ldd", program).splitlines():
        match = re.match(r"\s*(\S+)(?: => (\S+))?", line)
        name, path = match[1], match[2]
        if name.startswith("linux-vdso") or SYSTEM_LIBRARIES.search(pathlib.Path(name).name):
            continue
        if path is None or not path.startswith("/"):
            raise WheelError(f"{program} needs {name}, which is not installed: run tools/setup build")
        found.append(pathlib.Path(path))
    return found


def needed_version(file, library) -> tuple:
    """The newest version of `GLIBC` or `GLIBCXX` symbols that the file needs."""
    versions = re.findall(rf"\*UND\*.*\(?\b{library}_([\d.]+)\)?", output_of("objdump", "-T", file))
    return max((tuple(map(int, version.split("."))) for version in versions), default=(0,))


def platform_tag(files) -> str:
    """manylinux_2_34_x86_64, say; WheelError where the files ask for more than such a system has."""
    glibc = max(needed_version(file, "GLIBC") for file in files)
    glibc = max(glibc, min(NEWEST_GLIBCXX))
    allowed = NEWEST_GLIBCXX.get(glibc[:2], max(NEWEST_GLIBCXX.values()))
    for file in files:
        if needed_version(file, "GLIBCXX") > allowed:
            needed = ".".join(map(str, needed_version(file, "GLIBCXX")))
            raise WheelError(f"{file} needs GLIBCXX_{needed}, which no system with glibc {glibc[0]}.{glibc[1]} has")
    return f"manylinux_{glibc[0]}_{glibc[1]}_{platform.machine()}"


def stripped(file) -> bytes:
    with tempfile.NamedTemporaryFile() as copy:
        output_of("strip", "--strip-unneeded", "-o", copy.name, file)
        return pathlib.Path(copy.name).read_bytes()


def copyright_of(library) -> pathlib.Path:
    """What Debian says of the licence of the package that a library is from."""
    owner = output_of("dpkg", "-S", library.resolve()).split(":")[0]
    return pathlib.Path("/usr/share/doc", owner, "copyright")


def metadata(project) -> str:
    extras = [
        line
        for extra, needs in project["optional-dependencies"].items()
        for line in [f"Provides-Extra: {extra}", *(f'Requires-Dist: {need}; extra == "{extra}"' for need in needs)]
    ]
    lines = [
        "Metadata-Version: 2.1",
        f"Name: {project['name']}",
        f"Version: {project['version']}",
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


def members(project, tag) -> list:
    info = f"{distribution(project)}.dist-info"
    libraries = libraries_of(PROGRAM)
    found = [
        Member(f"crema_hep/{path.name}", path.read_bytes()) for path in sorted((PACKAGE / "crema_hep").glob("*.py"))
    ]
    found.append(Member("crema_hep/bin/crema", stripped(PROGRAM), executable=True))
    found.append(Member("crema_hep/lib/libcrema.so.1", stripped(LIBRARY), executable=True))
    found += [Member(f"crema_hep/lib/{path.name}", stripped(path), executable=True) for path in libraries]
    found.append(Member(f"{info}/licenses/LICENSE", (CHECKOUT / "LICENSE").read_bytes()))
    for path in sorted({copyright_of(library) for library in libraries}):
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
    return f"{project['name'].replace('-', '_')}-{project['version']}"


def write(wheel, found, info) -> None:
    record = "".join(map(record_line, found)) + f"{info}/RECORD,,\n"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for member in [*found, Member(f"{info}/RECORD", record.encode())]:
            entry = zipfile.ZipInfo(member.name, _NO_TIME)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if member.executable else 0o100644) << 16
            archive.writestr(entry, member.content)


def main() -> int:
    parser = argparse.ArgumentParser(prog="tools/wheel", description="Builds the wheel crema-hep.")
    parser.add_argument("-o", "--output", type=pathlib.Path, default=CHECKOUT / "dist", help="directory (dist)")
    output = parser.parse_args().output
    project = tomllib.loads((PACKAGE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    try:
        tag = f"py3-none-{platform_tag([LIBRARY, PROGRAM, *libraries_of(PROGRAM)])}"
        found = members(project, tag)
    except (WheelError, OSError) as error:
        print(f"wheel: {error}", file=sys.stderr)
        return 1
    output.mkdir(parents=True, exist_ok=True)
    wheel = output / f"{distribution(project)}-{tag}.whl"
    write(wheel, found, f"{distribution(project)}.dist-info")
    print(f"wheel: {wheel}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""What native files need from a system: shared libraries, and versions of symbols."""

import pathlib
import re
import subprocess
import tempfile

# Libraries that PEP 600's policies expect on every system (github.com/pypa/auditwheel, manylinux-policy.json). They are
# not packed.
SYSTEM_LIBRARIES = re.compile(r"(libstdc\+\+|libm|libgcc_s|libc|libdl|libpthread|librt|ld-linux[-\w]*)\.so[.\d]*$")
# The newest libstdc++ that the same policies allow with a glibc: that of the GCC of its time.
NEWEST_GLIBCXX = {(2, 34): (3, 4, 29), (2, 35): (3, 4, 30), (2, 36): (3, 4, 30)}


class NativeFileError(RuntimeError):
    """The file cannot be read, or needs something that is not allowed. The text says why, and what to do."""


def output_of(*command) -> str:
    try:
        done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False)
    except FileNotFoundError as error:
        raise NativeFileError(f"{command[0]} is not installed: run tools/setup build wheel") from error
    if done.returncode != 0:
        raise NativeFileError(f"{' '.join(map(str, command))}: {done.stderr.strip()}")
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
            raise NativeFileError(f"{program} needs {name}, which is not installed: run tools/setup build")
        found.append(pathlib.Path(path))
    return found


def needed_version(file, library) -> tuple:
    """The newest version of `GLIBC` or `GLIBCXX` symbols that a program or shared library needs."""
    versions = re.findall(rf"\*UND\*.*\(?\b{library}_([\d.]+)\)?", output_of("objdump", "-T", file))
    return max((tuple(map(int, version.split("."))) for version in versions), default=(0,))


def linked_whole(archive, folder) -> pathlib.Path:
    """Links a shared library of everything in the archive, so that the linker shows which versions its objects need."""
    library = pathlib.Path(folder, f"{archive.stem}-whole.so")
    whole = ("-Wl,--whole-archive", archive, "-Wl,--no-whole-archive")
    output_of("c++", "-shared", "-o", library, *whole, "-Wl,-z,defs", "-pthread", "-ldl")
    return library


def glibc_of(files, archives=()) -> tuple:
    """The oldest glibc with which all files run, as (2, 34). Raises NativeFileError if they need a newer libstdc++ than
    such a system has."""
    with tempfile.TemporaryDirectory() as folder:
        read = [*files, *(linked_whole(archive, folder) for archive in archives)]
        glibc = max(min(NEWEST_GLIBCXX), *(needed_version(file, "GLIBC")[:2] for file in read))
        allowed = NEWEST_GLIBCXX.get(glibc, max(NEWEST_GLIBCXX.values()))
        for file in read:
            if needed_version(file, "GLIBCXX") > allowed:
                needed = ".".join(map(str, needed_version(file, "GLIBCXX")))
                raise NativeFileError(
                    f"{file} needs GLIBCXX_{needed}, which no system with glibc {glibc[0]}.{glibc[1]} has"
                )
    return glibc


def stripped(file) -> bytes:
    """The file without debug information. Its date does not matter."""
    with tempfile.NamedTemporaryFile() as copy:
        output_of("strip", "--strip-unneeded", "--enable-deterministic-archives", "-o", copy.name, file)
        return pathlib.Path(copy.name).read_bytes()


def copyright_of(library) -> pathlib.Path:
    """Debian's text on the licence of a library's package."""
    path = library.resolve()
    # A package may have put its file into /lib, which is a link to /usr/lib on merged systems.
    names = [path, pathlib.Path("/", path.relative_to("/usr"))] if path.is_relative_to("/usr") else [path]
    for name in names:
        try:
            owner = output_of("dpkg", "-S", name).split(":")[0]
        except NativeFileError as error:
            reason = error
        else:
            return pathlib.Path("/usr/share/doc", owner, "copyright")
    raise NativeFileError(f"no package has {path}: {reason}")

"""The guards for PyROOT as a library that is compiled once: for one ROOT, one compiler and one version of crema.

ROOT's interpreter needs 3 s of CPU in each process to compile them, a compiler 6 s once. docs/root.md, "Python".
"""

import contextlib
import hashlib
import os
import pathlib
import shlex
import shutil
import stat
import subprocess
import tempfile
import time

_SIGNATURE = """
namespace crema {
namespace python {
std::shared_ptr<void> TrackFrame(const ROOT::RDF::RNode& node, const std::string& dataset, const std::string& pass,
                                 long long entries_per_chunk, bool counts_loops)"""
_SOURCE = f"""
#include "crema/root/track_data_frame.h"
#include <ROOT/RDF/InterfaceUtils.hxx>
{_SIGNATURE} {{
  DataFrameOptions options(dataset);
  options.pass = pass;
  options.entries_per_chunk = entries_per_chunk;
  options.counts_loops = counts_loops;
  return std::make_shared<TrackedDataFrame>(TrackDataFrame(node, options));
}}
}}  // namespace python
}}  // namespace crema
"""
DECLARATION = f"""
{_SIGNATURE};
struct Handle {{
  std::shared_ptr<void> tracked;
}};
inline Handle Track(const ROOT::RDF::RNode& node, const std::string& dataset, const std::string& pass,
                    long long entries_per_chunk, bool counts_loops) {{
  return {{TrackFrame(node, dataset, pass, entries_per_chunk, counts_loops)}};
}}
}}  // namespace python
}}  // namespace crema
"""
INTERPRETED = _SOURCE + DECLARATION  # for ROOT's interpreter, which needs no library then
_LONGEST_COMPILATION_S = 120  # on a machine that is so busy, the interpreter is no slower


def folder() -> pathlib.Path | None:
    """Where libraries are kept: CREMA_CACHE, or `crema` in the user's cache folder. None: CREMA_CACHE is empty."""
    named = os.environ.get("CREMA_CACHE")
    if named is not None:
        return pathlib.Path(named).absolute() if named else None
    cache = os.environ.get("XDG_CACHE_HOME")
    return pathlib.Path(cache or pathlib.Path("~/.cache").expanduser(), "crema")


def find(root, include: str) -> str | None:
    """The library for this ROOT and the headers of crema in `include`. None: there is none yet."""
    library = _place(root, include)
    with contextlib.suppress(OSError):
        if library is not None and library.exists() and _is_ours(library):
            return str(library)
    return None


def can_compile() -> bool:
    """Whether there is a folder for it, and a compiler."""
    return folder() is not None and shutil.which(_compiler()[0]) is not None


def compile_now(root, include: str) -> str | None:
    """As `find`, and compiles the library if it is not there. None: there is no folder for it or no compiler, another
    process compiles it now, or it does not compile."""
    library = _place(root, include)
    if library is None:
        return None
    try:
        library.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        return _compiled(_command(root, include), library) if _is_ours(library.parent) else None
    except (OSError, subprocess.SubprocessError):
        return None


def _place(root, include):
    kept = folder()
    return kept and kept / f"root-{_identity(root, _command(root, include), include)}.so"


def _compiler():
    return shlex.split(os.environ.get("CXX", "")) or ["c++"]


def _command(root, include):
    standard = {201703: "c++17", 202002: "c++20", 202302: "c++23"}.get(root.gInterpreter.Calc("__cplusplus"), "c++17")
    abi = root.gInterpreter.Calc("_GLIBCXX_USE_CXX11_ABI")
    options = [f"-std={standard}", f"-D_GLIBCXX_USE_CXX11_ABI={abi}", "-O1", "-fPIC", "-shared", "-pthread"]
    return [*_compiler(), *options, "-I", include, "-isystem", str(root.TROOT.GetIncludeDir())]


def _identity(root, command, include):
    """Other headers, another ROOT or another command give another library."""
    digest = hashlib.sha256()
    for text in (root.gROOT.GetVersion(), root.gROOT.GetGitCommit(), *command, _SOURCE):
        digest.update(f"{text}\0".encode())
    for header in sorted(pathlib.Path(include, "crema").rglob("*.h")):
        digest.update(header.read_bytes())
    return digest.hexdigest()[:24]


def _is_ours(path):
    """Whether nobody else can have written it: its code will run in this process."""
    found = [path.stat(), path.parent.stat()] if path.is_file() else [path.stat()]
    return all(each.st_uid == os.geteuid() and not each.st_mode & (stat.S_IWGRP | stat.S_IWOTH) for each in found)


def _compiled(command, library):
    lock = library.with_suffix(".lock")
    with contextlib.suppress(OSError):  # what a killed process left behind
        if time.time() - lock.stat().st_mtime > 2 * _LONGEST_COMPILATION_S:
            lock.unlink()
    try:
        os.close(os.open(lock, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except FileExistsError:
        return None
    try:
        with tempfile.TemporaryDirectory(dir=library.parent) as scratch:
            source, made = pathlib.Path(scratch, "root.cc"), pathlib.Path(scratch, "root.so")
            source.write_text(_SOURCE)
            done = subprocess.run(
                [*command, str(source), "-o", str(made)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=_LONGEST_COMPILATION_S,
                check=False,
            )
            if done.returncode != 0:
                return None
            made.chmod(0o700)
            made.replace(library)
        return str(library)
    finally:
        lock.unlink()

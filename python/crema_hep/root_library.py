"""The guards for PyROOT as a library that is compiled once: for one ROOT, one compiler and one version of crema.

ROOT's interpreter needs 3 s of CPU in each process to compile them, a compiler 6 s once. Whatever goes wrong here, the
interpreter compiles them. docs/root.md, "Python".
"""

import contextlib
import ctypes
import hashlib
import os
import pathlib
import platform
import shlex
import shutil
import signal
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
_NOT_TRIED_AGAIN_S = 24 * 3600  # after a compilation that failed
# The compiler is the first to go if the job's memory is short. The last file says that it ended well: a program that
# ignores SIGCHLD, or waits for all children, leaves no exit status.
_RUN = """echo 1000 2>/dev/null >/proc/self/oom_score_adj; done=$1; shift; "$@" && : >"$done\""""


def folder() -> pathlib.Path | None:
    """Where libraries are kept: CREMA_CACHE, or `crema` in the user's cache folder. None: CREMA_CACHE is empty."""
    named = os.environ.get("CREMA_CACHE")
    if named is not None:
        return pathlib.Path(named).expanduser().absolute() if named else None
    cache = os.environ.get("XDG_CACHE_HOME", "")
    return pathlib.Path(cache if os.path.isabs(cache) else pathlib.Path("~/.cache").expanduser(), "crema")


def find_or_compile(root, include: str, compiling):
    """Loads the library for this ROOT and the headers of crema in `include`, and returns its path. If there is none,
    compiles it inside `compiling(compile)`, which calls `compile()` and returns its result. Returns None if there is no
    folder or no compiler, if another process compiles it now, or if it does not compile or load. Raises for none of
    these."""
    with contextlib.suppress(OSError, ValueError, RuntimeError, subprocess.SubprocessError):
        kept = folder()
        if kept is None:
            return None
        command = _command(root, include)
        library = kept / f"root-{_identity(root, command, include)}.so"
        if library.exists():
            return _loaded(library)
        failed = library.with_suffix(".failed")
        if shutil.which(command[0]) is None or _age(failed) < _NOT_TRIED_AGAIN_S:
            return None
        kept.mkdir(mode=0o700, parents=True, exist_ok=True)
        if _is_ours(kept) and compiling(lambda: _compiled(command, library, failed)):
            return _loaded(library)
    return None


def _loaded(library):
    """ROOT would print why it cannot load a library."""
    if not _is_ours(library) or not _is_ours(library.parent):
        return None
    ctypes.CDLL(str(library), mode=os.RTLD_NOW | os.RTLD_GLOBAL)
    return str(library)


def _command(root, include):
    compiler = shlex.split(os.environ.get("CXX", "")) or ["c++"]
    standard = {201703: "c++17", 202002: "c++20", 202302: "c++23"}.get(root.gInterpreter.Calc("__cplusplus"), "c++17")
    abi = root.gInterpreter.Calc("_GLIBCXX_USE_CXX11_ABI")
    options = [f"-std={standard}", f"-D_GLIBCXX_USE_CXX11_ABI={abi}", "-O1", "-fPIC", "-shared", "-pthread"]
    return [*compiler, *options, "-I", include, "-isystem", str(root.TROOT.GetIncludeDir())]


def _identity(root, command, include):
    """Other headers, another ROOT, compiler, command or kind of machine give another library."""
    digest = hashlib.sha256()
    core = os.stat(os.path.join(str(root.TROOT.GetSharedLibDir()), "libCore.so"))
    compiler = os.path.realpath(shutil.which(command[0]) or command[0])
    machine = (platform.machine(), *platform.libc_ver())
    version = (root.gROOT.GetVersion(), root.gROOT.GetGitCommit(), core.st_mtime_ns, core.st_size)
    for text in (*version, *machine, compiler, *command, _SOURCE):
        digest.update(f"{text}\0".encode(errors="surrogateescape"))
    for header in sorted(pathlib.Path(include, "crema").rglob("*.h")):
        digest.update(header.read_bytes())
    return digest.hexdigest()[:24]


def _is_ours(path):
    """Whether nobody else can have written it: its code will run in this process."""
    found = path.stat()
    return found.st_uid == os.geteuid() and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _age(path):
    with contextlib.suppress(OSError):
        return time.time() - path.stat().st_mtime
    return float("inf")


def _compiled(command, library, failed):
    """Whether the library is there now."""
    lock = library.with_suffix(".lock")
    if 2 * _LONGEST_COMPILATION_S < _age(lock) < float("inf"):  # what a killed process left behind
        lock.unlink(missing_ok=True)
    try:
        os.close(os.open(lock, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except FileExistsError:
        return False
    try:
        if not library.exists():
            with tempfile.TemporaryDirectory(dir=library.parent) as scratch:
                source, made, done = (pathlib.Path(scratch, name) for name in ("root.cc", "root.so", "done"))
                source.write_text(_SOURCE)
                _run(["sh", "-c", _RUN, "sh", str(done), *command, str(source), "-o", str(made)])
                if not done.exists():
                    failed.touch()
                    return False
                made.chmod(0o700)
                made.replace(library)
        return True
    finally:
        lock.unlink(missing_ok=True)


def _run(command):
    """Ends the compiler's own processes, too, where it takes too long or this process is interrupted."""
    nothing = subprocess.DEVNULL
    compiler = subprocess.Popen(command, stdin=nothing, stdout=nothing, stderr=nothing, start_new_session=True)
    try:
        compiler.wait(_LONGEST_COMPILATION_S)
    except subprocess.TimeoutExpired:
        _end(compiler)
    except BaseException:
        _end(compiler)
        raise


def _end(compiler):
    with contextlib.suppress(OSError):
        os.killpg(compiler.pid, signal.SIGKILL)
    compiler.wait()

"""Starts the program `crema`, which computes every metric. Python only reads the document that it writes."""

import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile

from . import requirements

_MISSING = (
    "crema: this installation of crema_hep has no program: install the wheel, `pip install dist/crema_hep-*.whl`, "
    "which `tools/wheel` builds in a checkout; or name a program in CREMA_PROGRAM"
)


class ProgramError(RuntimeError):
    """The program failed; the text is its own error line."""


def _usable(packaged: pathlib.Path) -> str:
    complaint = requirements.glibc_complaint(requirements.glibc_version())
    if complaint:  # the loader's own message names no remedy
        raise ProgramError(f"crema: {complaint}")
    return str(packaged)


def path() -> str:
    """CREMA_PROGRAM, the wheel's program, or the one on the PATH. Raises ProgramError if there is none."""
    packaged = pathlib.Path(__file__).parent / "bin" / "crema"
    named = os.environ.get("CREMA_PROGRAM") or (_usable(packaged) if packaged.exists() else shutil.which("crema"))
    if not named:
        raise ProgramError(_MISSING)
    return named


def run(*arguments, text="") -> str:
    """Runs the program with `text` on its standard input, and returns its output. Raises ProgramError with its error
    line.

    The program itself is not recorded.
    """
    environment = {name: value for name, value in os.environ.items() if not name.startswith("CREMA_")}
    try:
        done = subprocess.run(
            [path(), *map(str, arguments)],
            env=environment,
            input=text,
            capture_output=True,
            text=True,
            encoding="utf-8",
            errors="replace",
            check=False,
        )
    except (OSError, ValueError) as error:  # ValueError: an argument that cannot be passed to a program
        raise ProgramError(f"crema: cannot run {path()}: {getattr(error, 'strerror', None) or error}") from error
    if done.returncode != 0:
        raise ProgramError(done.stderr.strip() or f"crema: {path()} ended with status {done.returncode}")
    return done.stdout


def lines(*arguments):
    """Yields the lines of the program's output as they come. Raises ProgramError at the end if the program failed."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("CREMA_")}
    with tempfile.TemporaryFile() as errors:
        try:
            process = subprocess.Popen(
                [path(), *map(str, arguments)], env=environment, stdout=subprocess.PIPE, stderr=errors
            )
        except (OSError, ValueError) as error:
            raise ProgramError(f"crema: cannot run {path()}: {getattr(error, 'strerror', None) or error}") from error
        with process:
            try:
                yield from process.stdout
            except GeneratorExit:
                process.kill()
                raise
        if process.returncode != 0:
            errors.seek(0)
            text = errors.read().decode("utf-8", "replace").strip()
            raise ProgramError(text or f"crema: {path()} ended with status {process.returncode}")


def main() -> None:
    """The command `crema`."""
    try:
        named = path()
        if os.path.exists(sys.argv[0]) and os.path.samefile(named, sys.argv[0]):  # it would call itself for ever
            raise ProgramError(_MISSING)
        for number in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores them, and exec would hand this on
            signal.signal(number, signal.SIG_DFL)
        os.execv(named, ["crema", *sys.argv[1:]])
    except ProgramError as error:
        sys.exit(str(error))
    except OSError as error:
        sys.exit(f"crema: cannot run {path()}: {error.strerror}")

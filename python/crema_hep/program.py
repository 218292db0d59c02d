"""The program `crema`, which computes every metric: Python only starts it, and reads the document that it writes."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from . import requirements

_MISSING = (
    "crema: this installation of crema_hep has no program: install the wheel, `pip install dist/crema_hep-*.whl`, "
    "which `tools/wheel` builds in a checkout; or name a program in CREMA_PROGRAM"
)


class ProgramError(RuntimeError):
    """The program could not do what it was asked for; the text is its own line."""


def _usable(packaged: pathlib.Path) -> str:
    complaint = requirements.glibc_complaint(requirements.glibc_version())
    if complaint:  # the loader's own words would tell no remedy
        raise ProgramError(f"crema: {complaint}")
    return str(packaged)


def path() -> str:
    """CREMA_PROGRAM, the wheel's program, or the one on the PATH. Raises ProgramError where there is none."""
    packaged = pathlib.Path(__file__).parent / "bin" / "crema"
    named = os.environ.get("CREMA_PROGRAM") or (_usable(packaged) if packaged.exists() else shutil.which("crema"))
    if not named:
        raise ProgramError(_MISSING)
    return named


def run(*arguments, told="") -> str:
    """What the program prints, and is `told` on its input. Raises ProgramError with its line where it fails.

    It is not recorded itself.
    """
    environment = {name: value for name, value in os.environ.items() if not name.startswith("CREMA_")}
    try:
        done = subprocess.run(
            [path(), *map(str, arguments)],
            env=environment,
            input=told,
            capture_output=True,
            text=True,
            encoding="utf-8",
            errors="replace",
            check=False,
        )
    except (OSError, ValueError) as error:  # ValueError: an argument that no program can be given
        raise ProgramError(f"crema: cannot run {path()}: {getattr(error, 'strerror', None) or error}") from error
    if done.returncode != 0:
        raise ProgramError(done.stderr.strip() or f"crema: {path()} ended with status {done.returncode}")
    return done.stdout


def lines(*arguments):
    """What the program prints, line by line while it does. Raises ProgramError, at the end, where it fails."""
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
        if os.path.exists(sys.argv[0]) and os.path.samefile(named, sys.argv[0]):  # found on the PATH: for ever
            raise ProgramError(_MISSING)
        os.execv(named, ["crema", *sys.argv[1:]])
    except ProgramError as error:
        sys.exit(str(error))
    except OSError as error:
        sys.exit(f"crema: cannot run {path()}: {error.strerror}")

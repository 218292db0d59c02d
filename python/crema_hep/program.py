"""The program `crema`, which computes every metric: Python only starts it, and reads the document that it writes."""

import os
import pathlib
import shutil
import subprocess
import sys


class ProgramError(RuntimeError):
    """The program could not do what it was asked for; the text is its own line."""


def path() -> str:
    """CREMA_PROGRAM, the wheel's program, or the one on the PATH. Raises ProgramError where there is none."""
    packaged = pathlib.Path(__file__).parent / "bin" / "crema"
    named = os.environ.get("CREMA_PROGRAM") or (str(packaged) if packaged.exists() else shutil.which("crema"))
    if not named:
        raise ProgramError(
            "crema: the program crema was not found: install the wheel crema-hep, or name it in CREMA_PROGRAM"
        )
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


def main() -> None:
    """The command `crema`."""
    try:
        os.execv(path(), ["crema", *sys.argv[1:]])
    except ProgramError as error:
        sys.exit(str(error))
    except OSError as error:
        sys.exit(f"crema: cannot run {path()}: {error.strerror}")

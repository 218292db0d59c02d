"""Finds colours outside the table of colours, and names of colours that pages use and the table lacks.

    python3 tools/colours.py

The table is collector/format/colours.cc. Style sheets, scripts, pages and Python of the project name its colours,
as `var(--cpu)` or `colour("cpu")`; none writes one by itself (`#2f6fb0`). Prints one line for each that does.

Exit status: 0 when there are none, 1 otherwise.
"""

import pathlib
import re
import subprocess
import sys

TABLE = "collector/format/colours.cc"
# Code that draws: pages, charts, terminals, notebooks. Tests may contain the colours that they expect.
DRAWS = re.compile(r"^(collector|python)/.*\.(css|js|html|cc|h|py)$")
TESTS = re.compile(r"(_test|_fixture|/tests/.*)\.\w+$")

_HEX = re.compile(r"(?<![\w&/])#(?:[0-9a-fA-F]{3,4}|[0-9a-fA-F]{6}|[0-9a-fA-F]{8})\b(?![\w-])")
_ROW = re.compile(r'\{"(\w+)", "#[0-9a-f]{6}", "#[0-9a-f]{6}"')
_DEFINED = re.compile(r"--([\w-]+)\s*:")
_USED = re.compile(r"""var\(--([\w-]+)\)|\bcolou?r\(["']([\w-]+)["']\)""")


def variable(name: str) -> str:
    """A name such as `onCpu` in the form of style sheets."""
    return re.sub(r"[A-Z]", lambda letter: "-" + letter[0].lower(), name)


def variables(table: str) -> set[str]:
    """The variables that the table gives to pages."""
    return {variable(name) for name in _ROW.findall(table)}


def faults(path: str, text: str, known: set[str]) -> list[str]:
    """The faults in a file, a line each. A page may define variables from those of the table, without a colour."""
    found = []
    known = known | set(_DEFINED.findall(text))
    for number, line in enumerate(text.splitlines(), 1):
        found += [f"{path}:{number}: {colour}: name a colour of {TABLE} instead" for colour in _HEX.findall(line)]
        used = ["".join(names) for names in _USED.findall(line)]
        found += [f"{path}:{number}: {TABLE} has no colour for --{name}" for name in used if name not in known]
    return found


def main() -> int:
    known = variables(pathlib.Path(TABLE).read_text(encoding="utf-8"))
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--deduplicate"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    found = []
    for path in listed:
        is_exempt = path == TABLE or TESTS.search(path)
        if DRAWS.search(path) and not is_exempt and pathlib.Path(path).is_file():
            found += faults(path, pathlib.Path(path).read_text(encoding="utf-8"), known)
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

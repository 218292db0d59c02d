"""Makes the tables of docs/reliability.md from the comments of the tests: first what recording survives, then reading.

    python3 tests/faults/reliability_page.py --write     writes them into the page; without it, prints them

A test of a fault has this comment before it; lines that begin with none of the three words go on with the one before:

    /// Fault [group]: what happens
    /// Program: what the program that is measured sees
    /// Recorded: what is recorded all the same, and where the loss is counted
    TEST(Suite, Name) {

A test of what the collector makes of bad input has two lines instead of three:

    /// Fault [group]: what is wrong with the input
    /// Shown: what the measurement says, and what of it is used all the same
    TEST_F(Suite, Name) {

In Python such lines begin with "# " instead of "/// ", and come before `def test_name`. Tests of crema_hep have tables
of their own.
"""

import ast
import dataclasses
import pathlib
import re
import sys

CHECKOUT = pathlib.Path(__file__).resolve().parent.parent.parent
PAGE = pathlib.Path("docs/reliability.md")


@dataclasses.dataclass(frozen=True)
class Kind:
    """Faults whose comments have the same lines, and whose tables have the same columns."""

    fields: tuple[str, ...]
    columns: tuple[str, ...]
    groups: dict[str, str]  # group: heading of its table


@dataclasses.dataclass(frozen=True)
class Part:
    """A part of the page that is made from some tests, between two marks."""

    name: str
    heading: str  # how headings of tables begin
    sources: tuple[str, ...]
    kinds: tuple[Kind, ...]

    def marks(self) -> tuple[str, str]:
        return (
            f"<!-- Made by tests/faults/reliability_page.py from {self.name}: do not edit. -->\n",
            f"<!-- End of what is made from {self.name}. -->\n",
        )


RECORDED = (
    ("Fault", "Program", "Recorded"),
    ("fault", "the program sees", "recorded, and where the loss is counted", "test"),
)
RECORDING = Kind(
    *RECORDED,
    {
        "directory": "The directory of record logs",
        "disk": "The disk, and the limits of the process",
        "descriptors": "Descriptors",
        "processes": "Other processes",
        "ends": "How the program ends",
        "guards": "Guards and exceptions",
        "names": "Names",
        "threads": "Threads",
        "kernel": "The kernel and its clocks",
        "plug-ins": "Plug-ins",
    },
)
READING = Kind(
    ("Fault", "Shown"),
    ("fault", "shown, and what is used all the same", "test"),
    {
        "logs": "What the collector reads",
        "many": "More than anybody meant",
        "shown": "What it shows",
        "outputs": "What it writes",
        "server": "The live server",
    },
)
PYTHON = Kind(
    *RECORDED,
    {
        "guards": "Python: guards",
        "exceptions": "Python: exceptions",
        "processes": "Python: other processes",
        "library": "Python: the library",
        "cluster": "Dask: the cluster",
    },
)
PARTS = (
    Part(
        "the tests of SDK and collector",
        "##",
        ("sdk/**/*_test.cc", "tests/faults/*_test.cc", "collector/**/*_test.cc", "collector/cli/*_test.py"),
        (RECORDING, READING),
    ),
    Part("the tests of crema_hep", "###", ("tests/python/*_test.py", "tests/dask/*_test.py"), (PYTHON,)),
)
_TEST = re.compile(r"TEST(?:_[FP])?\((\w+), (\w+)\)")
_PYTHON_TEST = re.compile(r"    def (test_\w+)\(")
_FIELD = re.compile(r"(Fault|Program|Recorded|Shown)(?: \[([\w-]+)\])?: (.*)")


@dataclasses.dataclass
class Fault:
    kind: Kind
    group: str
    cells: tuple[str, ...]
    test: str
    source: str

    def row(self) -> str:
        cells = (cell.replace("|", "\\|") for cell in (*self.cells, f"[`{self.test}`](../{self.source})"))
        return f"| {' | '.join(cells)} |\n"


def _read_comment(comment: list[str], kinds: tuple[Kind, ...], where: str) -> tuple[Kind, str, tuple[str, ...]]:
    """Returns the kind, the group and the fields of a fault's comment."""
    fields = {}
    group = name = None
    for line in comment:
        match = _FIELD.fullmatch(line)
        if match:
            name = match.group(1)
            fields[name] = match.group(3)
            if name == "Fault":
                group = match.group(2)
        elif name:
            fields[name] += " " + line
    kind = next((kind for kind in kinds if set(kind.fields) == set(fields)), None)
    if kind is None:
        needed = ", or ".join(", ".join(kind.fields) for kind in kinds)
        raise ValueError(f"{where}: a fault needs the lines {needed}, and a group in brackets")
    if group not in kind.groups:
        raise ValueError(f"{where}: [{group}] is not a group; the groups are {', '.join(kind.groups)}")
    return kind, group, tuple(fields[name] for name in kind.fields)


def read_faults(text: str, source: str, kinds: tuple[Kind, ...]) -> list[Fault]:
    """The faults that a test source describes. Raises ValueError, with file and line, for an incomplete comment."""
    faults = []
    comment = []
    is_python = source.endswith(".py")
    mark = "    # " if is_python else "///"
    classes = [node for node in ast.parse(text).body if isinstance(node, ast.ClassDef)] if is_python else []
    for number, line in enumerate(text.splitlines(), 1):
        where = f"{source}:{number}"
        if line.startswith(mark):
            comment.append(line[len(mark) :].strip())
            continue
        if any(part.startswith("Fault [") for part in comment):
            read = _read_comment(comment, kinds, where)
            test = _PYTHON_TEST.match(line) if is_python else _TEST.match(line)
            if not test:
                raise ValueError(f"{where}: a fault's comment must be followed by its test")
            case = [node.name for node in classes if node.lineno <= number <= node.end_lineno]
            faults.append(Fault(*read, ".".join((*case, *test.groups())), source))
        comment = []
    return faults


def all_faults(checkout: pathlib.Path, part: Part) -> list[Fault]:
    paths = sorted({path for pattern in part.sources for path in checkout.glob(pattern)})
    return [
        fault
        for path in paths
        for fault in read_faults(path.read_text(encoding="utf-8"), str(path.relative_to(checkout)), part.kinds)
    ]


def tables(faults: list[Fault], part: Part) -> str:
    parts = []
    for kind in part.kinds:
        for group, title in kind.groups.items():
            rows = [fault.row() for fault in faults if fault.kind is kind and fault.group == group]
            if not rows:
                continue
            parts.append(f"{part.heading} {title}\n\n| {' | '.join(kind.columns)} |\n|{'---|' * len(kind.columns)}\n")
            parts += [*rows, "\n"]
    return "".join(parts)


def with_tables(page: str, checkout: pathlib.Path) -> str:
    """The page with the tables of these tests between the marks of each part."""
    for part in PARTS:
        begin, end = part.marks()
        before, has_begin, rest = page.partition(begin)
        _, has_end, after = rest.partition(end)
        if not has_begin or not has_end:
            raise ValueError(f"{PAGE}: the lines {begin.strip()} and {end.strip()} are missing")
        page = f"{before}{begin}\n{tables(all_faults(checkout, part), part)}{end}{after}"
    return page


def main() -> None:
    if sys.argv[1:] == ["--write"]:
        path = CHECKOUT / PAGE
        path.write_text(with_tables(path.read_text(encoding="utf-8"), CHECKOUT), encoding="utf-8")
    else:
        for part in PARTS:
            print(tables(all_faults(CHECKOUT, part), part), end="")


if __name__ == "__main__":
    main()

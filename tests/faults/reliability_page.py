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

A test in Python of what the program `crema` writes and serves has such lines too, after "# " instead of "/// ", before
its `def test_name`.
"""

import dataclasses
import pathlib
import re
import sys

CHECKOUT = pathlib.Path(__file__).resolve().parent.parent.parent
PAGE = pathlib.Path("docs/reliability.md")
SOURCES = ("sdk/**/*_test.cc", "tests/faults/*_test.cc", "collector/**/*_test.cc", "collector/cli/*_test.py")
BEGIN = "<!-- Made by tests/faults/reliability_page.py from the tests: do not edit. -->\n"
END = "<!-- End of what is made. -->\n"
GROUPS = {
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
}
READING_GROUPS = {
    "logs": "What the collector reads",
    "many": "More than anybody meant",
    "shown": "What it shows",
    "outputs": "What it writes",
    "server": "The live server",
}
FIELDS = ("Fault", "Program", "Recorded")
READING_FIELDS = ("Fault", "Shown")
_TEST = re.compile(r"TEST(?:_[FP])?\((\w+), (\w+)\)")
_PYTHON_TEST = re.compile(r"    def (test_\w+)\(")
_PYTHON_CLASS = re.compile(r"class (\w+)\(")
_FIELD = re.compile(r"(Fault|Program|Recorded|Shown)(?: \[([\w-]+)\])?: (.*)")


@dataclasses.dataclass
class Fault:
    group: str
    fault: str
    results: tuple[str, ...]
    test: str
    source: str

    def row(self) -> str:
        test = f"[`{self.test}`](../{self.source})"
        cells = (cell.replace("|", "\\|") for cell in (self.fault, *self.results, test))
        return f"| {' | '.join(cells)} |\n"


def _read_comment(comment: list[str], where: str) -> dict[str, str]:
    """Returns the fields of a fault's comment, and its group."""
    fields = {}
    name = None
    for line in comment:
        match = _FIELD.fullmatch(line)
        if match:
            name = match.group(1)
            fields[name] = match.group(3)
            if name == "Fault":
                fields["group"] = match.group(2)
        elif name:
            fields[name] += " " + line
    needed, groups = (READING_FIELDS, READING_GROUPS) if "Shown" in fields else (FIELDS, GROUPS)
    if set(fields) != {*needed, "group"}:
        raise ValueError(f"{where}: a fault needs the lines {', '.join(needed)}, and a group in brackets")
    if fields["group"] not in groups:
        raise ValueError(f"{where}: there is no group [{fields['group']}]; groups are {', '.join(groups)}")
    return fields


def read_faults(text: str, source: str) -> list[Fault]:
    """The faults that a test source describes. Raises ValueError, with file and line, for an incomplete comment."""
    faults = []
    comment = []
    is_python = source.endswith(".py")
    mark = "    # " if is_python else "///"
    case = None
    for number, line in enumerate(text.splitlines(), 1):
        where = f"{source}:{number}"
        if line.startswith(mark):
            comment.append(line[len(mark) :].strip())
            continue
        if is_python and (found := _PYTHON_CLASS.match(line)):
            case = found[1]
        if any(part.startswith("Fault [") for part in comment):
            fields = _read_comment(comment, where)
            test = _PYTHON_TEST.match(line) if is_python else _TEST.match(line)
            if not test:
                raise ValueError(f"{where}: a fault's comment must be followed by its test")
            name = f"{case}.{test[1]}" if is_python else f"{test[1]}.{test[2]}"
            results = tuple(fields[field] for field in (*FIELDS[1:], *READING_FIELDS[1:]) if field in fields)
            faults.append(Fault(fields["group"], fields["Fault"], results, name, source))
        comment = []
    return faults


def all_faults(checkout: pathlib.Path) -> list[Fault]:
    paths = sorted({path for pattern in SOURCES for path in checkout.glob(pattern)})
    return [
        fault
        for path in paths
        for fault in read_faults(path.read_text(encoding="utf-8"), str(path.relative_to(checkout)))
    ]


def tables(faults: list[Fault]) -> str:
    parts = []
    for groups, columns in (
        (GROUPS, ("fault", "the program sees", "recorded, and where the loss is counted", "test")),
        (READING_GROUPS, ("fault", "shown, and what is used all the same", "test")),
    ):
        for group, title in groups.items():
            rows = [fault for fault in faults if fault.group == group]
            if not rows:
                continue
            parts.append(f"## {title}\n\n| {' | '.join(columns)} |\n|{'---|' * len(columns)}\n")
            parts += [row.row() for row in rows]
            parts.append("\n")
    return "".join(parts)


def with_tables(page: str, made: str) -> str:
    """The page with these tables between its marks."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"{PAGE}: the lines {BEGIN.strip()} and {END.strip()} are missing")
    return f"{before}{BEGIN}\n{made}{END}{after}"


def main() -> None:
    made = tables(all_faults(CHECKOUT))
    if sys.argv[1:] == ["--write"]:
        path = CHECKOUT / PAGE
        path.write_text(with_tables(path.read_text(encoding="utf-8"), made), encoding="utf-8")
    else:
        print(made, end="")


if __name__ == "__main__":
    main()

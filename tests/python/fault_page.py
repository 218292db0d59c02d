"""Makes the tables of docs/reliability.md on Python and Dask from the comments of the tests.

    python3 tests/python/fault_page.py --write     writes them into the page; without it, prints them

A test of a fault has this comment before it, as those in C++ have (tests/faults/reliability_page.py):

    # Fault [group]: what happens
    # Program: what the program that is measured sees
    # Recorded: what is recorded all the same, and where the loss is counted
    def test_name(self):
"""

import pathlib
import re
import sys

CHECKOUT = pathlib.Path(__file__).resolve().parent.parent.parent
PAGE = pathlib.Path("docs/reliability.md")
SOURCES = ("tests/python/*_test.py", "tests/dask/*_test.py")
BEGIN = "<!-- Made by tests/python/fault_page.py from the tests: do not edit. -->\n"
END = "<!-- End of what is made for Python. -->\n"
GROUPS = {
    "guards": "Python: guards",
    "exceptions": "Python: exceptions",
    "processes": "Python: other processes",
    "library": "Python: the library",
    "cluster": "Dask: the cluster",
}
FIELDS = ("Fault", "Program", "Recorded")
_CLASS = re.compile(r"class (\w+)\((?:installed\.RecordedTest|DaskTestCase|unittest\.TestCase)\):")
_FIELD = re.compile(r"(Fault|Program|Recorded)(?: \[([\w-]+)\])?: (.*)")
_TEST = re.compile(r"    def (test_\w+)")


def _row(comment, test, source, where) -> dict:
    row = {"test": f"[`{test}`](../{source})"}
    name = None
    for line in comment:
        match = _FIELD.fullmatch(line)
        if match:
            name = match.group(1)
            row[name] = match.group(3)
            row.update({"group": match.group(2)} if name == "Fault" else {})
        elif name:
            row[name] += " " + line
    if not {*FIELDS, "group"} <= set(row) or row["group"] not in GROUPS:
        raise ValueError(f"{where}: a fault needs {', '.join(FIELDS)}, and a group in brackets: {', '.join(GROUPS)}")
    return row


def read_faults(text, source) -> list:
    """Rows of the faults that a test source describes. Raises ValueError, with file and line, for an incomplete one."""
    rows, comment, case = [], [], ""
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("    # "):
            comment.append(line[6:].strip())
            continue
        if match := _CLASS.match(line):
            case = match.group(1)
        if any(part.startswith("Fault [") for part in comment):
            match = _TEST.match(line)
            if not match:
                raise ValueError(f"{source}:{number}: a fault's comment must be followed by its test")
            rows.append(_row(comment, f"{case}.{match.group(1)}", source, f"{source}:{number}"))
        comment = []
    return rows


def tables(checkout) -> str:
    rows = []
    paths = {path for pattern in SOURCES for path in checkout.glob(pattern)}
    for path in sorted(paths - {checkout / "tests/python/fault_page_test.py"}):
        rows += read_faults(path.read_text(encoding="utf-8"), str(path.relative_to(checkout)))
    parts = []
    for group, title in GROUPS.items():
        parts.append(f"### {title}\n\n| fault | the program sees | recorded, and where the loss is counted | test |\n")
        parts.append("|---|---|---|---|\n")
        for row in rows:
            if row["group"] == group:
                cells = (row[name].replace("|", "\\|") for name in (*FIELDS, "test"))
                parts.append(f"| {' | '.join(cells)} |\n")
        parts.append("\n")
    return "".join(parts)


def with_tables(page, made) -> str:
    """The page with these tables between its marks."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"{PAGE}: the lines {BEGIN.strip()} and {END.strip()} are missing")
    return f"{before}{BEGIN}\n{made}{END}{after}"


def main() -> None:
    made = tables(CHECKOUT)
    if sys.argv[1:] == ["--write"]:
        path = CHECKOUT / PAGE
        path.write_text(with_tables(path.read_text(encoding="utf-8"), made), encoding="utf-8")
    else:
        print(made, end="")


if __name__ == "__main__":
    main()

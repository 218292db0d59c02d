"""The commands that both programs run on each case, for tools/same_output.

A command runs in a fresh folder beside its input and writes below that folder. `{sources}` are the sources of the case,
`{measured}` is its measurement, and `{before}` the measurement of the case before it.
"""

import dataclasses
import re
import subprocess

WIDTHS = (80, 100, 160)
QUICK_WIDTHS = (100,)
EXPECTED_FILESET = "expected.json"


@dataclasses.dataclass(frozen=True)
class Command:
    name: str
    arguments: tuple[str, ...]
    stdin: str = ""  # a file
    is_quick: bool = False
    takes_options: bool = False  # those of the case's `collect`
    parts: tuple["Command", ...] = ()  # run one by one if the whole differs or fails


@dataclasses.dataclass(frozen=True)
class Names:
    """Names of tables and formats that both programs have."""

    tables: tuple[str, ...]
    formats: tuple[str, ...]
    subcommands: tuple[str, ...]


def command(name: str, arguments: str, **facts) -> Command:
    return Command(name, tuple(arguments.split()), **facts)


COLLECT = command("collect", "collect {sources} -o measured", is_quick=True, takes_options=True)
ON_SOURCES = (
    command("collect-jobs-2", "collect {sources} -o measured --jobs 2 --json", is_quick=True, takes_options=True),
    command("collect-spilled", "collect {sources} -o measured --no-records --memory 1M --spill .", takes_options=True),
    command("collect-all-runs", "collect {sources} -o measured --run all -q", takes_options=True),
    command("merge", "merge {sources} -o merged --name both"),
    command("merge-two", "merge {sources} {before} -o merged", is_quick=True),
    command("show-logs", "show {source}"),
    command("chunks", "show {source} --table chunks --sort duration --top 7", is_quick=True),
    command("chunks-failed", "show {source} --table chunks --failed --json"),
    command("report-of-logs", "report {source} -o report.html"),
    command("predict-logs", "predict {source}"),
)
ON_MEASUREMENT = (
    command("show-ascii", "show {measured} --ascii --width 80"),
    command("show-colours", "show {measured} --color always", is_quick=True),
    command("show-json", "show {measured} --json", is_quick=True),
    command("show-stdin", "show -", stdin="{measured}/measurement.json"),
    command("show-html", "show {measured} --html", is_quick=True),
    command("show-metrics", "show {measured} --metric wall_time --metric cpu_efficiency --metric total_events"),
    command("show-metrics-json", "show {measured} --metric wall_time --metric cpu_efficiency --json"),
    command("verdict", "verdict {measured}", is_quick=True),
    command("verdict-json", "verdict {measured} --json --fail-on long-tail,slow-worker", is_quick=True),
    command("report", "report {measured} -o report.html", is_quick=True),
    command("report-baseline", "report {measured} --baseline {before} -o report.html"),
    command("compare-self", "compare {measured} {measured}"),
    command("compare", "compare {before} {measured}", is_quick=True),
    command("compare-narrow", "compare {before} {measured} --width 80 --ascii"),
    command("compare-json", "compare {before} {measured} --json --chart tree.json", is_quick=True),
    command("compare-markdown", "compare {before} {measured} --markdown"),
    command("compare-gates", "compare {before} {measured} --fail-on wall_time>5% --fail-on unequal --junit gates.xml"),
    command("compare-pairs", "compare --before {before} --after {measured} --fail-on-sure 2 --fail-on-unclear"),
    command("collect-measurement", "collect {measured} -o again"),
    command("predict", "predict {measured}", is_quick=True),
    command("predict-json", "predict {measured} --json", is_quick=True),
    command("predict-cores", "predict {measured} --cores 8 --cores 16 --order longest --json"),
    command("scaling", "scaling {measured}"),
    command("scaling-two", "scaling {before} {measured} --chart scaling.json", is_quick=True),
    command("scaling-json", "scaling {before} {measured} --json"),
    command("history", "history {before} {measured} --chart history.json", is_quick=True),
    command("history-json", "history {before} {measured} --json --metric total_cpu_time"),
    command("plot", "plot {measured} -o plots --format json", is_quick=True),
    command("plot-baseline", "plot {measured} --baseline {before} -o plots --format json --theme dark"),
    command("plot-list", "plot --list {measured}"),
    command("export-chunks-csv", "export {measured} --to chunks -o chunks.csv"),
    command("export-without-result", "export {measured} --to coffea-fileset --without-result -o lost.txt"),
    command("export-expected", "export {measured} --to coffea-fileset --expected ../expected.json -o again.json"),
    command("export-folded-difference", "export {measured} --to folded --baseline {before} -o folded.txt"),
    command("export-stdout", "export {measured} --to prometheus -o -"),
)
# On the measurements of all cases together; their folder is `runs`.
ON_ALL = (
    command("history-all", "history ../runs --name logs --rows 200 --chart history.json", is_quick=True),
    command("history-all-json", "history ../runs --name logs --json --last 100"),
    command("history-all-rate", "history ../runs --name logs --metric event_rate_wall_khz --fail-on-worse 5"),
    command("history-all-memory", "history ../runs --name logs --metric peak_memory_bytes"),
    command("history-all-names", "history ../runs"),
    command("scaling-all", "scaling {simulated} --chart scaling.json", is_quick=True),
    command("scaling-all-json", "scaling {simulated} --json"),
    command("compare-all", "compare {simulated}", is_quick=True),
    command("compare-all-json", "compare {simulated} --json"),
)
WITHOUT_INPUT = (
    command("version", "--version", is_quick=True),
    command("no-command", "", is_quick=True),
    command("plot-list-of-nothing", "plot --list", is_quick=True),
    command("share", "config --write-share share", is_quick=True),
    command("no-source", "show nowhere"),
    command("no-such-option", "collect nowhere -o x --no-such-option"),
    command("no-such-format", "export nowhere --to no-such-format -o x"),
)


def on_measurement(names: Names, is_quick: bool) -> list[Command]:
    made = list(ON_MEASUREMENT)
    tables = " ".join(f"--table {table}" for table in names.tables)

    def all_tables(name: str, options: str) -> Command:
        """All tables in one output. If this differs, each table alone, so that no difference hides another."""
        parts = tuple(
            command(f"show-{table}{name}", f"show {{measured}} --table {table} {options}", is_quick=True)
            for table in names.tables
        )
        return command(f"show-tables{name}", f"show {{measured}} {tables} {options}", is_quick=True, parts=parts)

    for width in QUICK_WIDTHS if is_quick else WIDTHS:
        made.append(command(f"show@{width}", f"show {{measured}} --width {width}", is_quick=True))
        made.append(all_tables(f"@{width}", f"--width {width}"))
    made.append(all_tables("-json", "--json"))
    made.append(all_tables("-ascii", "--ascii --color always"))
    made.append(command("show-no-such-table", "show {measured} --table no-such-table"))
    made += [
        command(f"export-{format_}", f"export {{measured}} --to {format_} -o {format_}", is_quick=True)
        for format_ in names.formats
    ]
    return made


def without_input(names: Names) -> list[Command]:
    helps = [command(f"help-{name}", f"{name} --help", is_quick=True) for name in names.subcommands]
    shells = [command(f"completion-{shell}", f"config --completion {shell}") for shell in ("bash", "zsh", "fish")]
    return [command("help", "--help", is_quick=True), *helps, *shells, *WITHOUT_INPUT]


class UnknownHelpError(RuntimeError):
    """A help text lacks a list of names that this tool needs."""


def help_of(program: str, environment: dict, *arguments: str) -> str:
    done = subprocess.run(
        [program, *arguments, "--help"], stdout=subprocess.PIPE, env=environment, check=False, text=True, timeout=60
    )
    return done.stdout


def one_of(pattern: str, text: str, what: str) -> str:
    match = re.search(pattern, text, re.MULTILINE | re.DOTALL)
    if match is None:
        raise UnknownHelpError(f"no {what} in the help text of the program: mend tools/output_commands.py")
    return match[1]


def names_of(program: str, environment: dict) -> Names:
    """Reads the names from the help texts. Raises UnknownHelpError."""
    tables = one_of(r"^Tables: ([\w, -]+)$", help_of(program, environment, "show"), "line `Tables:`")
    formats = one_of(r"^Formats:\n(.*?)\n\n", help_of(program, environment, "export"), "list `Formats:`")
    subcommands = one_of(r"^Subcommands:\n(.*?)\n\n", help_of(program, environment), "list `Subcommands:`")
    return Names(
        tuple(tables.split(", ")),
        tuple(re.findall(r"^  ([\w-]+) ", formats, re.MULTILINE)),
        tuple(re.findall(r"^  ([\w-]+) ", subcommands, re.MULTILINE)),
    )


def in_both(old: Names, new: Names) -> Names:
    pairs = zip(dataclasses.astuple(old), dataclasses.astuple(new), strict=True)
    return Names(*(tuple(name for name in of_old if name in of_new) for of_old, of_new in pairs))

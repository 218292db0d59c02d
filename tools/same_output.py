"""Compares all that two builds of the program crema write, byte by byte: run it after each step of a refactoring.

    tools/same_output OLD NEW                     OLD, NEW: the two programs
    tools/same_output OLD OLD                     finds what differs from run to run
    tools/same_output OLD NEW --quick             fewer inputs and commands: less than a minute
    tools/same_output OLD NEW --only 'simulated/*' --commands 'export-*,report'

Both run the same commands in the same folders on all inputs that the repository has or makes
(tools/output_cases.py, tools/output_commands.py). Exit status, stdout, stderr and every file have to be equal.
Commands that read a measurement read OLD's; if NEW's differs, each program reads its own as well (`own:COMMAND`).

A difference is one line: case, command, file, offset of the first byte that differs, and 60 characters of each side.
If OLD differs from itself in a file, the difference is "not deterministic". tools/output_difference.py has the few
values that are masked, each with its reason.

--allow FILE has the differences that are wanted. A line is `CASE COMMAND FILE REASON`; the first three are globs.
tools/same_output.allow has the known faults of the program that make it differ from itself. The option may be given
several times.

Exit status: 0 when nothing differs but what is allowed, 1 when something does, 2 for wrong usage.
"""

import argparse
import concurrent.futures
import dataclasses
import enum
import fnmatch
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import traceback

import output_cases
import output_commands
import served_documents
from output_cases import Case
from output_commands import Command
from output_difference import Difference, compare_folders, masked

CHECKOUT = pathlib.Path(__file__).resolve().parent.parent
MAKE_LOGS = CHECKOUT / "bazel-bin/collector/benchmarks/make_logs"
SECONDS = 300  # the time limit of a command; only a hanging one takes so long
LARGE_SECONDS = 1800
REPEATS = 2  # how often OLD runs again if the programs differ
ALL = "all"  # the case of all measurements together; with --only it collects the other cases, but does not test them
SERVERS_AT_ONCE = 8  # they mostly wait
SERVE = Command("serve", ("serve", "{stopped}", "--no-token"), is_quick=True)
EXPECTED = {"ttbar": {"files": {"data/ttbar.root": {"object_path": "Events", "steps": [[0, 100], [100, 5000]]}}}}


class Outcome(enum.Enum):
    EQUAL = "equal"
    DIFFERENT = "different"
    UNSTABLE = "not deterministic"
    NOT_COMPARED = "not compared"


@dataclasses.dataclass(frozen=True)
class Allowed:
    case: str
    command: str
    file: str
    reason: str

    def covers(self, case: str, command: str, file: str) -> bool:
        pairs = ((case, self.case), (command, self.command), (file, self.file))
        return all(fnmatch.fnmatchcase(text, pattern) for text, pattern in pairs)


def read_allowed(path: pathlib.Path) -> list[Allowed]:
    """Raises ValueError for a line without a reason."""
    found = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        words = line.split(maxsplit=3)
        if len(words) < 4:
            raise ValueError(f"{path}:{number}: a line is CASE COMMAND FILE REASON")
        found.append(Allowed(*words))
    return found


class Tally:
    """Prints each difference, and counts comparisons. Threads share it."""

    def __init__(self, allowed: list[Allowed]):
        self._lock = threading.Lock()
        self._allowed = allowed
        self._used: set[Allowed] = set()
        self.counts = dict.fromkeys(Outcome, 0)
        self.allowed_files = 0

    def add(self, outcome: Outcome) -> None:
        with self._lock:
            self.counts[outcome] += 1

    def say(self, outcome: Outcome, case: str, command: str, text: str) -> None:
        with self._lock:
            print(f"{outcome.value}: {case}: {command}: {text}", flush=True)

    def not_compared(self, case: str, command: str, reason: str) -> None:
        self.add(Outcome.NOT_COMPARED)
        self.say(Outcome.NOT_COMPARED, case, command, reason)

    def is_allowed(self, case: str, command: str, file: str) -> bool:
        with self._lock:
            for allowed in self._allowed:
                if allowed.covers(case, command, file):
                    self._used.add(allowed)
                    self.allowed_files += 1
                    return True
        return False

    def unused(self) -> list[Allowed]:
        return [allowed for allowed in self._allowed if allowed not in self._used]

    def __str__(self) -> str:
        parts = [f"{count} {outcome.value}" for outcome, count in self.counts.items()]
        line = f"{sum(self.counts.values())} comparisons, " + ", ".join(parts)
        return f"{line}; {self.allowed_files} allowed differences" if self.allowed_files else line


def environment_in(scratch: pathlib.Path) -> dict[str, str]:
    """The environment of every run, without the caller's variables."""
    home = scratch / "home"
    home.mkdir(exist_ok=True)
    fixed = {"PATH": "/usr/bin:/bin", "TZ": "UTC", "LC_ALL": "C.UTF-8", "COLUMNS": "100", "TERM": "dumb"}
    return {**fixed, "HOME": str(home), "TMPDIR": str(home)}


class Place:
    """The folder of a case: its input, the measurement that OLD made of it, and a folder in which commands run.

    Both programs run in the same folder, one after the other, so paths in the output agree.
    """

    def __init__(self, case: Case, folder: pathlib.Path, held: list):
        self.case = case
        self.folder = folder
        self.measured = folder / "measured"
        self.new_measured = folder / "own" / "of_new"  # exists only if it differs from OLD's
        self._held = held  # logs that a process still writes
        if held:  # a server gets copies, because its answers about a running job depend on the clock
            for source in case.sources:
                shutil.copytree(folder / source, folder / "stopped" / source)

    def arguments(self, command: Command, names: dict[str, list[str]]) -> list[str]:
        found = []
        for argument in command.arguments:
            found += names.get(argument, [argument])
        return found + list(self.case.options if command.takes_options else ())

    def names(self, up: str) -> dict[str, list[str]]:
        sources = [f"{up}/{source}" for source in self.case.sources]
        stopped = [f"{up}/stopped/{source}" for source in self.case.sources] if self._held else sources
        before = f"{up}/before" if (self.folder / "before").exists() else f"{up}/measured"
        return {
            "{sources}": sources,
            "{source}": sources[:1],
            "{stopped}": stopped,
            "{measured}": ["../measured"],
            "{before}": [before],
        }

    def state(self) -> list[tuple[str, int, int]]:
        """The files of the input, with size and date: no command may change them."""
        found = []
        for source in {*self.case.sources, "measured"}:
            for parent, _, files in os.walk(self.folder / source):
                for file in files:
                    facts = os.lstat(os.path.join(parent, file))
                    found.append((os.path.join(parent, file), facts.st_size, facts.st_mtime_ns))
        return sorted(found)


class Comparison:
    """Runs commands with both programs, and compares what they write."""

    def __init__(self, options: argparse.Namespace, scratch: pathlib.Path, tally: Tally):
        self.options = options
        self.tally = tally
        self.environment = environment_in(scratch)
        self.programs = {"old": str(options.old), "new": str(options.new)}
        self.is_one_program = options.old.read_bytes() == options.new.read_bytes()
        self.endpoints = served_documents.endpoints(options.inputs)

    def wants(self, name: str) -> bool:
        return any(fnmatch.fnmatchcase(name, pattern) for pattern in self.options.commands)

    def run(self, side: str, place: Place, command: Command, output: pathlib.Path, is_own: bool = False) -> None:
        """Writes `status`, `stdout`, `stderr` and `files/` into the folder `output`.

        A program that does not end in time has the status `no end`.
        """
        shutil.rmtree(output, ignore_errors=True)
        (output / "files").mkdir(parents=True)
        up = "../.." if is_own else ".."
        folder = place.folder / ("own/run" if is_own else f"run-{command.name == SERVE.name:d}")
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        names = {**place.names(up), **self.more_names(place)}
        process = {"cwd": folder, "env": self.environment, "stdin": subprocess.DEVNULL}
        line = [self.programs[side], *place.arguments(command, names)]
        before = place.state()
        if command.name == SERVE.name:
            status = served_documents.ask(line, self.endpoints, self.records(place), output, **process)
        else:
            if command.stdin:
                process["stdin"] = open(folder / command.stdin.replace("{measured}", "../measured"), "rb")  # noqa: SIM115
            status = self.run_process(line, place.case.is_large, output, process)
        (output / "status").write_text(f"{status}\n")
        if place.state() != before:
            (output / "changed its input").write_text("")
        for path in sorted(folder.iterdir()):
            path.rename(output / "files" / path.name)
        folder.rmdir()

    def more_names(self, place: Place) -> dict[str, list[str]]:
        runs = sorted((place.folder / "runs").glob("simulated_*")) if place.case.name == ALL else []
        return {"{simulated}": [f"../runs/{path.name}" for path in runs]}

    @staticmethod
    def run_process(line: list[str], is_large: bool, output: pathlib.Path, process: dict) -> str:
        with open(output / "stdout", "wb") as out, open(output / "stderr", "wb") as errors:
            try:
                seconds = LARGE_SECONDS if is_large else SECONDS
                done = subprocess.run(line, stdout=out, stderr=errors, check=False, timeout=seconds, **process)
            except subprocess.TimeoutExpired:
                return "no end"
            finally:
                if process["stdin"] != subprocess.DEVNULL:
                    process["stdin"].close()
        return str(done.returncode) if done.returncode >= 0 else signal.Signals(-done.returncode).name

    @staticmethod
    def records(place: Place) -> int:
        """How many records `collect` read of the source."""
        try:
            quality = json.loads((place.measured / "measurement.json").read_bytes())["quality"]
            return int(quality["records_read"])
        except (OSError, ValueError, KeyError, TypeError):
            return 0

    def outputs(self, place: Place, command: Command) -> dict[str, pathlib.Path]:
        return {side: place.folder / "output" / command.name / side for side in ("old", "new", "again")}

    @staticmethod
    def delete_outputs(place: Place, command: Command) -> None:
        for one in (command, *command.parts):
            shutil.rmtree(place.folder / "output" / one.name, ignore_errors=True)

    def compare(self, place: Place, command: Command, is_own: bool = False) -> list[Difference]:
        """Runs a command with both programs, and judges. Their output stays in the folders `outputs`."""
        outputs = self.outputs(place, command)
        name = f"own:{command.name}" if is_own else command.name
        for side in ("old", "new"):
            if is_own:
                self.put_own(side, place)
            self.run(side, place, command, outputs[side], is_own)
        statuses = {(outputs[side] / "status").read_text().strip() for side in ("old", "new")}
        if statuses == {"no end"}:
            self.tally.not_compared(place.case.name, name, "neither program ended in time")
            return []
        differences = compare_folders(outputs["old"], outputs["new"], command.name)
        if command.parts and (differences or statuses != {"0"}):
            of_parts = [difference for part in command.parts for difference in self.compare(place, part, is_own)]
            if of_parts:
                return of_parts
        is_unclear = differences and not self.is_one_program
        unstable = self.unstable_files(place, command, is_own) if is_unclear else set()
        self.judge(place, name, differences, unstable)
        if differences and self.options.keep:
            for side in ("old", "new"):
                to = self.options.keep / place.folder.name / name / side
                shutil.copytree(outputs[side], to, symlinks=True, dirs_exist_ok=True)
        return differences

    def unstable_files(self, place: Place, command: Command, is_own: bool) -> set[str]:
        """The files in which OLD differs from itself."""
        outputs, found = self.outputs(place, command), set()
        for _ in range(REPEATS):
            if is_own:
                self.put_own("old", place)
            self.run("old", place, command, outputs["again"], is_own)
            found |= {one.file for one in compare_folders(outputs["old"], outputs["again"], command.name)}
        return found

    def judge(self, place: Place, command: str, differences: list[Difference], unstable: set[str]) -> None:
        case = place.case.name
        outcome = Outcome.EQUAL
        for difference in differences:
            file = difference.file.removeprefix("files/")
            if self.tally.is_allowed(case, command, file):
                continue
            is_unstable = self.is_one_program or difference.file in unstable
            kind = Outcome.UNSTABLE if is_unstable else Outcome.DIFFERENT
            self.tally.say(kind, case, command, f"{file} {difference.what}")
            if outcome is not Outcome.DIFFERENT:
                outcome = kind
        self.tally.add(outcome)

    @staticmethod
    def put_own(side: str, place: Place) -> None:
        """Gives each program its own measurement under one name."""
        of_side = {"old": place.measured, "new": place.new_measured}[side]
        shutil.rmtree(place.folder / "own/measured", ignore_errors=True)
        shutil.copytree(of_side, place.folder / "own/measured", copy_function=os.link)

    def collect(self, place: Place) -> None:
        """Makes the measurement that the other commands read."""
        if place.case.is_measurement:
            return
        command = output_commands.COLLECT
        outputs = self.outputs(place, command)
        if self.wants(command.name):
            self.compare(place, command)
        else:
            for side in ("old", "new"):
                self.run(side, place, command, outputs[side])
        made = {side: outputs[side] / "files/measured" for side in ("old", "new")}
        if not (made["old"] / "measurement.json").is_file():
            return
        made["old"].rename(place.measured)
        self.keep_own(place, made["new"])
        shutil.rmtree(outputs["old"].parent)

    @staticmethod
    def keep_own(place: Place, made: pathlib.Path) -> None:
        """Keeps NEW's measurement if it differs from OLD's in more than its date; then gives both the same date."""
        file = made / "measurement.json"
        if not file.is_file():
            return
        old, new = (path.read_bytes() for path in (place.measured / "measurement.json", file))
        documents = [masked(data, "measurement.json", "collect") for data in (old, new)]
        if documents[0] == documents[1]:
            return
        for path, document in ((place.measured / "measurement.json", documents[0]), (file, documents[1])):
            path.write_bytes(document.replace(b"MASKED", b"2026-11-26T12:00:00.000Z", 1))
        place.new_measured.parent.mkdir()
        made.rename(place.new_measured)

    def compare_all(self, place: Place, commands: list[Command]) -> None:
        for command in commands:
            if not self.wants(command.name) or (self.options.quick and not command.is_quick):
                continue
            self.compare(place, command)
            reads_measurement = any("{measured}" in text for text in (*command.arguments, command.stdin))
            if reads_measurement and place.new_measured.is_dir():
                self.compare(place, command, is_own=True)
            self.delete_outputs(place, command)

    def serve(self, place: Place) -> None:
        if not self.wants(SERVE.name):
            return
        try:
            self.compare(place, SERVE)
        except (served_documents.ServeError, OSError, ValueError) as error:
            self.tally.not_compared(place.case.name, SERVE.name, str(error))
        self.delete_outputs(place, SERVE)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="tools/same_output", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("old", type=pathlib.Path, metavar="OLD")
    parser.add_argument("new", type=pathlib.Path, metavar="NEW")
    parser.add_argument("--only", default="*", metavar="CASE", help="only these cases (a glob)")
    parser.add_argument("--commands", default="*", metavar="NAME,...", help="only these commands (globs)")
    parser.add_argument("--jobs", type=int, default=2, help="commands at once (default 2)")
    parser.add_argument("--quick", action="store_true", help="some inputs, one width, the main commands")
    parser.add_argument("--records", type=int, default=1_000_000, help="of the made run; 0 leaves it out")
    parser.add_argument("--make-logs", type=pathlib.Path, default=MAKE_LOGS, help="what makes them")
    parser.add_argument(
        "--allow", type=pathlib.Path, action="append", default=[], metavar="FILE", help="differences that are wanted"
    )
    parser.add_argument("--keep", type=pathlib.Path, metavar="DIR", help="keeps the outputs that differ")
    parser.add_argument("--inputs", type=pathlib.Path, default=CHECKOUT, metavar="DIR", help="another checkout")
    options = parser.parse_args()
    options.commands = options.commands.split(",")
    for program in ("old", "new"):
        path = getattr(options, program).resolve()
        setattr(options, program, path)
        if not os.access(path, os.X_OK):
            parser.error(f"{path} is not a program")
    return options


def chosen_cases(options: argparse.Namespace, tally: Tally) -> list[Case]:
    repository = output_cases.Repository(options.inputs)
    cases = repository.cases()
    for missing in repository.missing:
        tally.not_compared(missing, "*", f"not in {options.inputs}")
    if options.records and not options.quick:
        if os.access(options.make_logs, os.X_OK):
            cases.append(output_cases.made_records(options.make_logs.resolve(), options.records))
        else:
            reason = f"{options.make_logs} is not there: bazel build //collector/benchmarks:make_logs, or --records 0"
            tally.not_compared("made_records", "*", reason)
    return [
        case
        for case in cases
        if (options.only == ALL or fnmatch.fnmatchcase(case.name, options.only))
        and (case.is_quick or not options.quick)
    ]


def make_places(cases: list[Case], scratch: pathlib.Path) -> list[Place]:
    places = []
    for case in cases:
        folder = scratch / case.name.replace("/", "_")
        folder.mkdir()
        held = case.write(folder) or []
        (folder / output_commands.EXPECTED_FILESET).write_text(json.dumps(EXPECTED))
        places.append(Place(case, folder, held))
        output_cases.set_times(folder)
    return places


def link_neighbours(places: list[Place]) -> None:
    before = None
    for place in places:
        if before is not None:
            (place.folder / "before").symlink_to(before.measured)
        if (place.measured / "measurement.json").is_file():
            before = place


def place_of(name: str, scratch: pathlib.Path) -> Place:
    folder = scratch / name
    folder.mkdir()
    return Place(Case(name, lambda _: None, ()), folder, [])


def place_of_all(places: list[Place], scratch: pathlib.Path) -> Place:
    """All measurements, side by side."""
    all_of_them = place_of(ALL, scratch)
    for place in places:
        if (place.measured / "measurement.json").is_file():
            shutil.copytree(place.measured, all_of_them.folder / "runs" / place.folder.name, copy_function=os.link)
    return all_of_them


def compare_names(comparison: Comparison, scratch: pathlib.Path) -> output_commands.Names:
    """The tables, formats and commands that both programs have; those that only one has are differences."""
    names = {
        side: output_commands.names_of(program, comparison.environment) for side, program in comparison.programs.items()
    }
    if comparison.wants("names"):
        folder = scratch / "names"
        for side, of_side in names.items():
            for kind, words in dataclasses.asdict(of_side).items():
                (folder / side / kind).mkdir(parents=True)
                for word in words:
                    (folder / side / kind / word).write_text("")
        differences = compare_folders(folder / "old", folder / "new", "names")
        comparison.judge(place_of("program", folder), "names", differences, set())
    return output_commands.in_both(names["old"], names["new"])


def compare_everything(options: argparse.Namespace, tally: Tally, scratch: pathlib.Path) -> None:
    comparison = Comparison(options, scratch, tally)
    names = compare_names(comparison, scratch)
    on_measurement = output_commands.on_measurement(names, options.quick)
    places = make_places(chosen_cases(options, tally), scratch)

    def compare_case(place: Place) -> None:
        commands = [] if place.case.is_measurement else list(output_commands.ON_SOURCES)
        if (place.measured / "measurement.json").is_file():
            commands += on_measurement
        comparison.compare_all(place, commands)

    def guarded(work, place: Place) -> None:
        try:
            work(place)
        except Exception:  # one case must not hide the others
            tally.not_compared(place.case.name, "*", traceback.format_exc().replace("\n", " | "))

    with (
        concurrent.futures.ThreadPoolExecutor(options.jobs) as pool,
        concurrent.futures.ThreadPoolExecutor(SERVERS_AT_ONCE) as servers,
    ):
        for done in [pool.submit(guarded, comparison.collect, place) for place in places]:
            done.result()
        link_neighbours(places)
        everything = place_of_all(places, scratch)
        if options.only == ALL:
            places = []
        served = [place for place in places if not place.case.is_measurement]
        for place in served[:: len(served) // 3 or 1] if options.quick else served:
            servers.submit(guarded, comparison.serve, place)
        for place in sorted(places, key=lambda one: not one.case.is_large):  # the longest first
            pool.submit(guarded, compare_case, place)
        if fnmatch.fnmatchcase("program", options.only):
            (scratch / "alone").mkdir()
            alone = place_of("program", scratch / "alone")
            pool.submit(
                guarded, lambda place: comparison.compare_all(place, output_commands.without_input(names)), alone
            )
        if fnmatch.fnmatchcase(ALL, options.only):
            pool.submit(guarded, lambda place: comparison.compare_all(place, list(output_commands.ON_ALL)), everything)


def main() -> int:
    options = parse_arguments()
    try:
        tally = Tally([allowed for path in options.allow for allowed in read_allowed(path)])
        with tempfile.TemporaryDirectory(prefix="same_output_") as scratch:
            compare_everything(options, tally, pathlib.Path(scratch))
    except (OSError, ValueError, output_commands.UnknownHelpError, served_documents.ServeError) as error:
        print(f"same_output: {error}", file=sys.stderr)
        return 2
    for allowed in [] if options.quick else tally.unused():
        print(f"allowed, but not found: {allowed.case} {allowed.command} {allowed.file}")
    print(tally, flush=True)
    return 1 if tally.counts[Outcome.DIFFERENT] or tally.counts[Outcome.UNSTABLE] else 0


if __name__ == "__main__":
    sys.exit(main())

"""Runs the programs of this folder under `crema run` and scores what the headline and the first two verdicts say.

    python3 tests/laboratory/laboratory.py                 all programs, with their score
    python3 tests/laboratory/laboratory.py slow_file ...   these only, with all that was said

The first lines of a program with a fault say what is planted and which sentence is expected. Then come patterns. The
laboratory looks for them in the headline and in the first two verdicts (`id: sentence suggestion`), in this order. A
text that matches `names` names the cause (2 points). One that matches `leads` leads to the measurement that names it (1
point). One that matches `wrong` before the cause is named gives no point. `threads` is the number that the program
declares, `beside` the number of programs that compete for a core. A healthy program raises an alarm if any verdict is a
warning or bad. If others compete for the cores, their effect (cpu-contention and what it explains) is true, and no
alarm.
"""

import argparse
import contextlib
import dataclasses
import json
import os
import pathlib
import re
import subprocess
import tempfile
import time

CHECKOUT = pathlib.Path(__file__).resolve().parent.parent.parent
FOLDER = pathlib.Path(__file__).resolve().parent
BINARIES = CHECKOUT / "bazel-bin/tests/laboratory"
CREMA = CHECKOUT / "bazel-bin/collector/cli/crema"
TARGETS = ("//collector/cli:crema", "//tests/laboratory:all")
SPIN = "while True: pass"
QUIET = 0.05  # of the cores, what others use during a run; before it, of the time, in which a thread waits for a CPU
LONGEST_WAIT = 20  # seconds, for a quiet moment
MOST_RUNS = 4  # of a program, until one of them was quiet
FIRST_VERDICTS = 2


@dataclasses.dataclass
class Program:
    path: pathlib.Path
    fields: dict  # fields of the first lines, by name

    @property
    def name(self):
        return self.path.stem

    @property
    def is_healthy(self):
        return self.path.parent.name == "healthy"


@dataclasses.dataclass
class Outcome:
    program: Program
    points: int = 0
    said: tuple = ()  # headline and first verdicts
    alarms: tuple = ()
    disturbed: float = 0.0  # by others, before or during the run, as a share

    @property
    def is_quiet(self):
        return self.disturbed <= QUIET


def read_program(path):
    fields, name = {}, None
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line.startswith("//"):
            break
        text = line[2:].strip()
        found = re.match(r"(expected|names|leads|wrong|threads|beside|needs): (.*)", text)
        if found:
            name = found[1]
            fields[name] = found[2]
        elif name:
            fields[name] += " " + text
    return Program(path, fields)


def programs():
    return [read_program(path) for path in sorted(FOLDER.glob("*/*.cc"))]


def build():
    command = ["bazel", "build", "--ui_event_filters=-info", "--noshow_progress", *TARGETS]
    subprocess.run(command, cwd=CHECKOUT, check=True)


def pressure(seconds=0.5):
    """The share of the next moments in which some thread waits for a CPU; 0 if the kernel does not report it."""

    def total():
        try:
            line = pathlib.Path("/proc/pressure/cpu").read_text(encoding="ascii").splitlines()[0]
        except (OSError, IndexError):
            return 0
        return int(line.rsplit("=", 1)[1])

    before, began = total(), time.monotonic()
    time.sleep(seconds)
    return (total() - before) / 1e6 / (time.monotonic() - began)


def wait_for_quiet():
    until = time.monotonic() + LONGEST_WAIT
    while (share := pressure()) > QUIET and time.monotonic() < until:
        pass
    return share


def used_by_others(run_programs):
    """The share of the machine's CPU time that programs use which are not ours, and what `run_programs` returns."""

    def ticks():
        user, nice, system, _, _, irq, softirq, steal, *_ = map(
            int, pathlib.Path("/proc/stat").read_text(encoding="ascii").splitlines()[0].split()[1:]
        )
        return user + nice + system + irq + softirq + steal

    def ours():
        used = os.times()
        return used.user + used.system + used.children_user + used.children_system

    before, our_before, began = ticks(), ours(), time.monotonic()
    returned = run_programs()
    others = (ticks() - before) / os.sysconf("SC_CLK_TCK") - (ours() - our_before)
    return max(0.0, others / (time.monotonic() - began) / (os.cpu_count() or 1)), returned


@contextlib.contextmanager
def beside(spinners):
    """Starts programs that compute all the time, given as (number, core); core None: any core."""
    running = []
    try:
        for count, core in spinners:
            prefix = [] if core is None else ["taskset", "-c", str(core)]
            running += [subprocess.Popen([*prefix, "python3", "-c", SPIN]) for _ in range(count)]
        yield
    finally:
        for process in running:
            process.kill()
            process.wait()


def measure(program, spinners=()):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("CREMA_")}
    if "threads" in program.fields:
        environment["CREMA_THREADS"] = program.fields["threads"]
    with tempfile.TemporaryDirectory() as scratch, beside(spinners):
        directory = pathlib.Path(scratch, "run")
        binary = BINARIES / program.path.parent.name / program.name
        command = [CREMA, "run", "-q", "-o", directory, "--", binary]
        subprocess.run(command, check=False, env=environment, stdout=subprocess.DEVNULL, timeout=300)
        return json.loads((directory / "measurement.json").read_text(encoding="utf-8"))


def first_said(document):
    """The headline and the first cards. A verdict that another one explains is on the card of that one."""
    cards = [verdict for verdict in document["verdicts"] if not verdict["cause"]]
    shown = [f"{card['id']}: {card['sentence']} {card['suggestion']}" for card in cards[:FIRST_VERDICTS]]
    return (f"headline: {document['headline']}", *shown)


def points_of(program, said):
    leads = 0
    for text in said:
        has = {
            kind: re.search(program.fields[kind], text, re.IGNORECASE)
            for kind in ("names", "leads", "wrong")
            if program.fields.get(kind)
        }
        if has.get("names"):
            return 2
        if has.get("wrong"):
            return leads
        if has.get("leads"):
            leads = 1
    return leads


def alarms_of(document, is_loaded):
    true = "cpu-contention"
    return tuple(
        verdict["id"]
        for verdict in document["verdicts"]
        if verdict["severity"] in ("warning", "bad") and not (is_loaded and true in (verdict["id"], verdict["cause"]))
    )


def spinners_of(program):
    found = re.match(r"(\d+) programs on core (\d+)", program.fields.get("beside", ""))
    return [(int(found[1]), int(found[2]))] if found else []


def run(program, spinners=()):
    for _ in range(MOST_RUNS):
        before = wait_for_quiet()
        during, document = used_by_others(lambda: measure(program, [*spinners, *spinners_of(program)]))
        outcome = Outcome(program, said=first_said(document), disturbed=max(before, during))
        if outcome.is_quiet:
            break
    if program.is_healthy:
        outcome.alarms = alarms_of(document, bool(spinners))
    else:
        outcome.points = points_of(program, outcome.said)
    return outcome


def print_outcome(outcome, shows_all):
    program = outcome.program
    result = f"{outcome.points} of 2" if not program.is_healthy else ", ".join(outcome.alarms) or "no alarm"
    noise = "" if outcome.is_quiet else f"  (others used the machine: {outcome.disturbed:.0%})"
    print(f"{program.name:28} {result}{noise}", flush=True)
    if shows_all or outcome.alarms or (not program.is_healthy and outcome.points < 2):
        print(f"    expected  {program.fields.get('expected', 'no alarm')}")
        for text in outcome.said:
            print(f"    {text}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="programs (default: all)")
    arguments = parser.parse_args()
    build()
    chosen = [program for program in programs() if not arguments.names or program.name in arguments.names]
    faults = [run_and_print(program, arguments.names) for program in chosen if not program.is_healthy]
    quiet = [run_and_print(program, arguments.names) for program in chosen if program.is_healthy]
    cores = os.cpu_count() or 1
    print(f"beside {cores} other programs:")
    loaded = [run_and_print(program, arguments.names, [(cores, None)]) for program in chosen if program.is_healthy]
    print(score(faults, quiet, loaded))


def run_and_print(program, shows_all, spinners=()):
    outcome = run(program, spinners)
    print_outcome(outcome, bool(shows_all))
    return outcome


def score(faults, quiet, loaded):
    points = sum(outcome.points for outcome in faults)
    return (
        f"faults: {points} of {2 * len(faults)} points; healthy runs with an alarm: "
        f"{sum(bool(outcome.alarms) for outcome in quiet)} of {len(quiet)} quiet, "
        f"{sum(bool(outcome.alarms) for outcome in loaded)} of {len(loaded)} beside other programs"
    )


if __name__ == "__main__":
    main()

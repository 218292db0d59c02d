"""Measures what stacks cost a program: recording with and without CREMA_STACKS, in turns.

    python3 sdk/benchmarks/stacks_cost.py [--hertz 100] [--rounds 15] [--callgrind] -- PROGRAM [ARGUMENT...]

The program has to do the same work each time, all of it in chunks. It prints the mean of each kind, and the standard
error of the differences within a round. `--callgrind` counts instructions instead, once for each kind (valgrind). Time
is stretched there, so a second of CPU time has fewer instructions and more samples; the cost of a sample is the same.
"""

import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time


def environment(folder, hertz):
    kept = {name: value for name, value in os.environ.items() if not name.startswith("CREMA_")}
    return {**kept, "CREMA_DIR": str(folder), **({"CREMA_STACKS": str(hertz)} if hertz else {})}


def run(command, folder, hertz):
    """Wall and CPU seconds."""
    begin = time.monotonic()
    process = subprocess.Popen(command, env=environment(folder, hertz), stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.monotonic() - begin
    if status != 0:
        sys.exit(f"{command} ended with status {status}")
    return wall, usage.ru_utime + usage.ru_stime


def samples_in(folder):
    samples = 0
    for log in pathlib.Path(folder).glob("*.jsonl"):
        for line in log.read_text().splitlines():
            if line.startswith('{"type":"stacks"'):
                samples += sum(stack[0] for stack in json.loads(line)["stacks"])
    return samples


def instructions(command, folder, hertz):
    valgrind = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
    done = subprocess.run(
        [*valgrind, *command],
        env=environment(folder, hertz),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    collected = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode != 0 or collected is None:
        sys.exit(f"valgrind: {done.stderr[-1000:]}")
    return int(collected[1])


def in_turns(options):
    rounds = []
    samples = 0
    for number in range(options.rounds):
        kinds = [0, options.hertz] if number % 2 else [options.hertz, 0]
        of_round = {}
        for hertz in kinds:
            with tempfile.TemporaryDirectory() as folder:
                of_round[hertz] = run(options.command, folder, hertz)
                samples += samples_in(folder)
        rounds.append((of_round[0], of_round[options.hertz]))
    print(f"{options.rounds} rounds, {samples / options.rounds:.0f} samples in each")
    for at, name in enumerate(("wall", "CPU")):
        without = statistics.mean(before[at] for before, _ in rounds)
        changes = [after[at] - before[at] for before, after in rounds]
        error = statistics.stdev(changes) / len(changes) ** 0.5
        change = statistics.mean(changes)
        print(
            f"{name:5}{without:8.3f} s without, {without + change:8.3f} s with stacks: "
            f"{100 * change / without:+.2f} % ± {100 * error / without:.2f} %"
        )


def by_callgrind(options):
    with tempfile.TemporaryDirectory() as folder:
        seconds = run(options.command, folder, 0)[1]
    with tempfile.TemporaryDirectory() as folder:
        without = instructions(options.command, folder, 0)
    with tempfile.TemporaryDirectory() as folder:
        more = instructions(options.command, folder, options.hertz) - without
        samples = samples_in(folder)
    each = more / samples
    print(f"{without / 1e6:.0f} million instructions without, {more / 1e6:.1f} million more with stacks")
    print(f"{samples} samples of {each:.0f} instructions each, setting up included")
    share = each * options.hertz * seconds / without
    print(f"in {seconds:.2f} s of CPU time {options.hertz} a second are {100 * share:.3f} % of the instructions")


parser = argparse.ArgumentParser()
parser.add_argument("--hertz", type=int, default=100)
parser.add_argument("--rounds", type=int, default=15)
parser.add_argument("--callgrind", action="store_true")
parser.add_argument("command", nargs="+")
arguments = parser.parse_args()
(by_callgrind if arguments.callgrind else in_turns)(arguments)

"""What a second core brings `crema collect`, beside what it brings two processes that know nothing of each other.

    bazel-bin/collector/benchmarks/make_logs /dev/shm/made --records 1000000
    python3 collector/benchmarks/two_cores.py bazel-bin/collector/cli/crema /dev/shm/made 7

All kinds of run take turns; of each the median of the wall times counts. A machine that does other things slows down
both, so the last line holds there too. The documents have to be equal.
"""

import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

program, logs, rounds = sys.argv[1], pathlib.Path(sys.argv[2]), int(sys.argv[3])


def collect(folder, output, jobs):
    return [program, "collect", logs, "-q", "--no-records", "-o", f"{folder}/{output}", "--jobs", str(jobs)]


def wall_seconds(commands):
    """Seconds in which all of them, started together, end."""
    begin = time.monotonic()
    running = [subprocess.Popen(command, stdout=subprocess.DEVNULL) for command in commands]
    assert [process.wait() for process in running] == [0] * len(running)
    return time.monotonic() - begin


def document(folder, output):
    read = json.loads(pathlib.Path(folder, output, "measurement.json").read_text())
    read.pop("provenance")
    return json.dumps(read)


with tempfile.TemporaryDirectory(dir=logs.parent) as folder:
    kinds = {
        "crema collect, one thread": [collect(folder, "one", 1)],
        "crema collect, two threads": [collect(folder, "two", 2)],
        "two of them, one thread each": [collect(folder, "left", 1), collect(folder, "right", 1)],
        "wc -l": [["wc", "-l", *logs.iterdir()]],
    }
    seconds = {kind: [] for kind in kinds}
    for _ in range(rounds):
        for kind, commands in kinds.items():
            seconds[kind].append(wall_seconds(commands))
    assert document(folder, "one") == document(folder, "two"), "the number of threads changed the document"

median = {kind: statistics.median(all_seconds) for kind, all_seconds in seconds.items()}
size = sum(path.stat().st_size for path in logs.iterdir())
for kind, commands in kinds.items():
    print(f"{kind:30} {median[kind]:6.2f} s {len(commands) * size / median[kind] / 1e9:6.2f} GB/s")
one, two, pair, _ = median.values()
print(f"speed-up: two threads {one / two:.2f}, two processes {2 * one / pair:.2f}, ratio {pair / two / 2:.2f}")

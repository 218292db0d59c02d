"""What crema costs a PyROOT script: CPU times without recording, with the library of the guards, with the interpreter.

    python3 examples/root_muons/pyroot_cost.py [RUNS]

Needs a Python with ROOT and crema_hep. The first run with recording compiles the library, and is not shown.
"""

import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile

SCRIPT = """
import ROOT, crema_hep.root
events = ROOT.RDataFrame(200_000)
crema_hep.root.track(events, "toys")
node = events
for i in range(20):
    node = node.Define(f"x{i}", f"rdfentry_ * {i} + 1.")
sums = [node.Sum(f"x{i}") for i in range(20)]
print(sum(each.GetValue() for each in sums))
"""


def measure(**variables):
    """CPU seconds of one run, and its overhead_ns in seconds; None where nothing was recorded."""
    with tempfile.TemporaryDirectory() as folder:
        records = {"CREMA_DIR": folder} if variables.pop("recording") else {}
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        command = [sys.executable, "-W", "ignore", "-c", SCRIPT]
        subprocess.run(command, env={**os.environ, **records, **variables}, check=True, stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        ends = [json.loads(log.read_text().splitlines()[-1]) for log in pathlib.Path(folder).glob("*.jsonl")]
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return cpu, sum(end["overhead_ns"] for end in ends) / 1e9 if ends else None


def main():
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    with tempfile.TemporaryDirectory() as cache:
        measure(recording=True, CREMA_CACHE=cache)
        ways = {
            "without recording": {"recording": False},
            "with the library of the guards": {"recording": True, "CREMA_CACHE": cache},
            "with the interpreter": {"recording": True, "CREMA_CACHE": ""},
        }
        for way, variables in ways.items():
            for _ in range(runs):
                cpu, overhead = measure(**variables)
                print(f"{way}: {cpu:.2f} s" + ("" if overhead is None else f", overhead {overhead:.3f} s"), flush=True)


if __name__ == "__main__":
    main()

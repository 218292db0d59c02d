"""Measures what tracking costs the event loop of this example: CPU time in turns, and instructions by callgrind.

    bazel build //examples/root_muons/...
    bazel-bin/examples/root_muons/replicate FOLDER
    python3 examples/root_muons/loop_cost.py FOLDER/ttree_zstd.root

valgrind counts the instructions inside ROOT's event loop. This takes a few minutes.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

BINARY = pathlib.Path(__file__).resolve().parents[2] / "bazel-bin/examples/root_muons/loop_cost"
LOOP = "ROOT::Detail::RDF::RLoopManager::Run*"
CHUNK = 10_000


def instructions(file, switch) -> int:
    with tempfile.TemporaryDirectory() as folder:
        callgrind = ["valgrind", "--tool=callgrind", f"--toggle-collect={LOOP}", f"--callgrind-out-file={folder}/out"]
        done = subprocess.run(
            [*callgrind, BINARY, file, switch, str(CHUNK)], cwd=folder, capture_output=True, text=True, check=True
        )
        return int(re.search(r"Collected : (\d+)", done.stderr)[1])


def main() -> None:
    file = pathlib.Path(sys.argv[1]).resolve()
    subprocess.run([BINARY, file], check=True)
    off, on = (instructions(file, switch) for switch in ("off", "on"))
    print(f"instructions in the loop: {off:,} without, {on:,} with chunks of {CHUNK} events: x {on / off:.4f}")


if __name__ == "__main__":
    main()

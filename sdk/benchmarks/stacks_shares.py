"""Measures how true the shares of native stacks are, for chunks of many lengths.

    bazel build //sdk/benchmarks:known_shares
    python3 sdk/benchmarks/stacks_shares.py [--seconds 15] [--runs 1] [--lengths US,...] [--hop] \\
        bazel-bin/sdk/benchmarks/known_shares

The program's functions take 60, 30 and 10 % of the CPU time of its chunks. It measures these parts by the thread's CPU
clock, and they are the truth here. Each row is one kind of run: the number of samples beside the chunks' CPU time times
HZ, the largest difference of a share from the truth, the stated error of the largest share (the truth is within it in
95 of 100 runs), and in how many shares of all runs it was.
"""

import argparse
import json
import math
import os
import pathlib
import subprocess
import tempfile

NAMES = ("SixTenths", "ThreeTenths", "OneTenth")
LENGTHS_US = (200, 500, 1_000, 4_000, 10_000, 20_000, 100_000, 1_000_000)
QUANTILE = 1.96  # of the normal distribution: 95 of 100


def functions_of(program):
    """Address -> name."""
    listed = subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout
    found = {}
    for line in listed.splitlines():
        fields = line.split()
        if len(fields) == 3 and fields[2] in NAMES:
            found[int(fields[0], 16)] = fields[2]
    return found


def stated_error(share, sightings):
    """As the collector states it (Agresti and Coull)."""
    added = QUANTILE * QUANTILE
    centre = (share * sightings + added / 2) / (sightings + added)
    return QUANTILE * math.sqrt(centre * (1 - centre) / (sightings + added))


def run(program, functions, hertz, seconds, length_us, mode):
    with tempfile.TemporaryDirectory() as folder:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("CREMA_")}
        environment = {**kept, "CREMA_DIR": folder, "CREMA_STACKS": str(hertz), "CREMA_INTERVAL": "0"}
        command = [program, str(seconds), str(length_us), *mode]
        printed = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
        truth = [float(part) for part in printed.split()]
        counts = dict.fromkeys(NAMES, 0)
        samples = squares = cpu_ns = 0
        for log in pathlib.Path(folder).glob("*.jsonl"):
            for text in log.read_text().splitlines():
                line = json.loads(text)
                if line["type"] == "chunk":
                    cpu_ns += line["cpu_ns"]
                for stack in line.get("stacks", []) if line["type"] == "stacks" else []:
                    samples += stack[0]
                    squares += stack[1]
                    # The innermost function, which clang or g++ may call through another one.
                    for function in reversed(stack[2:]):
                        address = int(line["functions"][function][0].partition("+0x")[2] or "0", 16)
                        if address in functions:
                            counts[functions[address]] += stack[0]
                            break
    known = sum(counts.values())
    shares = [counts[name] / known for name in NAMES]
    return samples, cpu_ns * 1e-9 * hertz, samples**2 / squares, shares, truth


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--seconds", type=float, default=15)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--hertz", default="100,1000")
    parser.add_argument("--lengths", default=",".join(map(str, LENGTHS_US)), help="of chunks, in microseconds")
    parser.add_argument("--hop", action="store_true", help="chunks that go to another thread inside")
    options = parser.parse_args()
    functions = functions_of(options.program)
    print("  HZ  chunk ms  samples  of expected  sightings  largest difference  stated error  covered")
    for hertz in map(int, options.hertz.split(",")):
        for length_us in map(int, options.lengths.split(",")):
            samples = expected = sightings = inside = 0
            worst = error = 0.0
            for _ in range(options.runs):
                seen, due, seen_at, shares, truth = run(
                    options.program, functions, hertz, options.seconds, length_us, ["hop"] if options.hop else []
                )
                samples, expected, sightings = samples + seen, expected + due, sightings + seen_at
                error = max(error, stated_error(shares[0], seen_at))
                for share, true_share in zip(shares, truth):
                    worst = max(worst, abs(share - true_share))
                    inside += abs(share - true_share) <= stated_error(share, seen_at)
            print(
                f"{hertz:4}  {length_us / 1000:8g}  {samples:7}  {samples / expected:10.2%}  {sightings:9.0f}"
                f"  {worst:12.2%} points  {error:12.2%}  {inside}/{3 * options.runs}",
                flush=True,
            )


if __name__ == "__main__":
    main()

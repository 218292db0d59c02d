"""Compares the program with the second implementation of its metrics, on logs made from seeds.

`CREMA_REFERENCE_SEEDS=500` runs more than the default; `CREMA_REFERENCE_FIRST_SEED` starts elsewhere. If a seed
differs, its logs are kept, and the failure names them.
"""

import contextlib
import fcntl
import json
import math
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest
from fractions import Fraction

import invariants
import metrics_reference
import random_logs
from reference_records import Recorded

CREMA = os.environ.get(
    "CREMA_PROGRAM", str(pathlib.Path(__file__).absolute().parents[2] / "collector" / "cli" / "crema")
)
SEEDS = int(os.environ.get("CREMA_REFERENCE_SEEDS", "40"))
FIRST_SEED = int(os.environ.get("CREMA_REFERENCE_FIRST_SEED", "1"))
RELATIVE = 1e-9
# Quantiles come from a sketch: within 1 % (docs/metrics.md, "Rules").
QUANTILE_RELATIVE = 0.01
QUANTILES = ("p50", "p90", "p95", "p99")
# Differences of long sums of seconds: a hundredth of a nanosecond.
ABSOLUTE = 1e-11

ROW_KEYS = {
    "phases": ("phase",),
    "datasets": ("name",),
    "files": ("name",),
    "workers": ("name",),
    "hosts": ("name",),
    "threads": ("name",),
    "sections": ("path", "helper"),
    "process_sections": ("path", "helper"),
    "memory_sections": ("path",),
    "custom_metrics": ("name", "unit"),
    "cuts": ("name", "path", "flow"),
    "fine": ("span", "worker", "activity", "unit"),
    "budget": ("part",),
    "stragglers": ("worker", "chunk", "duration"),
}


def is_number(value):
    return isinstance(value, (int, float, Fraction)) and not isinstance(value, bool)


def agree(key, expected, found):
    if not is_number(expected) or not is_number(found):
        return expected == found
    if isinstance(expected, int) and isinstance(found, int):
        return expected == found
    relative = QUANTILE_RELATIVE if key.endswith(QUANTILES) else RELATIVE
    return math.isclose(expected, found, rel_tol=relative, abs_tol=ABSOLUTE)


class Comparison:
    """Differences between the expected and the found values, and how many values were compared."""

    def __init__(self):
        self.differences = []
        self.non_null = set()
        self.nested = 0

    def compare(self, path, expected, found):
        if isinstance(expected, dict):
            for key, value in expected.items():
                self.compare_field(f"{path}.{key}", value, found, key)
        else:
            if expected is not None:
                self.non_null.add(path)
            if not agree(path, expected, found):
                self.differences.append((path, expected, found))

    def compare_field(self, path, expected, found, key):
        if not isinstance(found, dict) or key not in found:
            self.differences.append((path, expected, "(no such key)"))
        else:
            self.compare(path, expected, found[key])

    def compare_rows(self, table, expected, found):
        key_fields = ROW_KEYS[table]

        def key_of(row):
            return tuple(round(float(row[f]), 6) if f == "duration" else row[f] for f in key_fields)

        expected_rows = {key_of(row): row for row in expected}
        found_rows = {key_of(row): row for row in found}
        if len(expected_rows) != len(expected) or len(found_rows) != len(found):
            self.differences.append((table, "rows of different keys", "several rows of one key"))
        for key in expected_rows.keys() | found_rows.keys():
            if key not in found_rows or key not in expected_rows:
                where = "expected only" if key in expected_rows else "found only"
                self.differences.append((f"{table}{list(key)}", where, {**expected_rows, **found_rows}[key]))
            else:
                self.compare_row(table, key, expected_rows[key], found_rows[key])

    def compare_row(self, table, key, expected, found):
        row = Comparison()
        row.compare("", expected, found)
        self.non_null |= {table + path for path in row.non_null}
        self.differences += [(f"{table}{list(key)}{path}", *values) for path, *values in row.differences]


@contextlib.contextmanager
def held(directory, names):
    """Locks the logs, as running processes do."""
    with contextlib.ExitStack() as stack:
        for name in names:
            log = stack.enter_context(open(os.path.join(directory, name), "rb"))
            fcntl.flock(log, fcntl.LOCK_EX)
        yield


def collect(logs, output):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("CREMA_")}
    command = [CREMA, "collect", logs.directory, "-q", "--no-records", "--run", logs.run, "-o", output]
    with held(logs.directory, logs.running):
        result = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60, check=False)
    if result.returncode:
        raise AssertionError(f"crema collect {logs.directory}: {result.stderr}")
    with open(os.path.join(output, "measurement.json"), encoding="utf-8") as document:
        return json.load(document)


def compare_seed(seed, folder):
    directory = os.path.join(folder, f"seed-{seed}")
    os.mkdir(directory)
    logs = random_logs.write_logs(directory, seed)
    found = collect(logs, os.path.join(folder, f"measurement-{seed}"))
    recorded = Recorded(directory, None if logs.run == "all" else logs.run, logs.running)
    expected = metrics_reference.measure(recorded)
    comparison = compare_measurements(expected, found)
    comparison.differences += [("invariants", "none broken", sentence) for sentence in invariants.broken(found)]
    comparison.nested = sum(attempt.nested > 0 for attempt in recorded.ended)
    return comparison


def compare_measurements(expected, found):
    comparison = Comparison()
    for part, value in expected.items():
        if isinstance(value, list):
            comparison.compare_rows(part, value, found[part])
        else:
            comparison.compare(part, value, found[part])
    return comparison


def described(differences, seed, directory):
    lines = [f"seed {seed}, logs in {directory}:"]
    for path, expected, found in differences[:20]:
        expected = float(expected) if isinstance(expected, Fraction) else expected
        lines.append(f"  {path}: the reference has {expected}, the program {found}")
    return "\n".join([*lines, f"  {len(differences)} differences in all"])


class Reference(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = tempfile.mkdtemp(dir=os.environ.get("TEST_UNDECLARED_OUTPUTS_DIR"))

    def test_the_program_agrees_on_every_seed(self):
        non_null, nested, failures = set(), 0, []
        for seed in range(FIRST_SEED, FIRST_SEED + SEEDS):
            comparison = compare_seed(seed, self.folder)
            non_null |= comparison.non_null
            nested += comparison.nested
            shutil.rmtree(os.path.join(self.folder, f"measurement-{seed}"))
            directory = os.path.join(self.folder, f"seed-{seed}")
            if comparison.differences:
                failures.append(described(comparison.differences, seed, directory))
            else:
                shutil.rmtree(directory)
        if failures:
            self.fail("\n".join([f"{len(failures)} of {SEEDS} seeds differ", *failures[:10]]))
        shutil.rmtree(self.folder)
        self.check_that_much_was_compared(non_null, nested)

    def check_that_much_was_compared(self, non_null, nested):
        print(f"{SEEDS} seeds agree; {len(non_null)} keys and fields had a value in one of them")
        print(f"{nested} chunks had chunks of another recorder inside them")
        if SEEDS < 40:
            return
        for table, fields in ROW_KEYS.items():
            compared = {path for path in non_null if path.startswith(f"{table}.")}
            self.assertGreater(len(compared), len(fields), f"rows of {table}")
        self.assertGreaterEqual(len(non_null), 360)
        self.assertGreater(nested, 0)


class Comparing(unittest.TestCase):
    def test_notices_what_is_off(self):
        expected = {"metrics": {"wall_time": Fraction(3, 2), "num_chunks": 3, "chunk_cpu": None}}
        self.assertEqual(differing(expected, wall_time=1.5, num_chunks=3, chunk_cpu=None), [])
        self.assertEqual(differing(expected, wall_time=1.50000001, num_chunks=3, chunk_cpu=None), ["metrics.wall_time"])
        self.assertEqual(differing(expected, wall_time=1.5, num_chunks=4, chunk_cpu=None), ["metrics.num_chunks"])
        self.assertEqual(differing(expected, wall_time=1.5, num_chunks=3, chunk_cpu=0), ["metrics.chunk_cpu"])
        self.assertEqual(differing(expected, wall_time=1.5, num_chunks=3), ["metrics.chunk_cpu"])

    def test_notices_a_row_that_is_missing_or_too_many(self):
        row = {"name": "all", "path": None, "flow": None, "events": 5}
        for found in ([], [row, {**row, "name": "two jets", "events": 1}]):
            self.assertEqual(len(compare_measurements({"cuts": [row]}, {"cuts": found}).differences), 1)


def differing(expected, **metrics):
    return [path for path, *_ in compare_measurements(expected, {"metrics": metrics}).differences]


if __name__ == "__main__":
    unittest.main()

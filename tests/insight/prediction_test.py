"""Predicts a change first, then runs the program with this change. The chunks sleep or compute."""

import json
import os
import pathlib
import shlex
import subprocess
import tempfile
import unittest

CREMA = pathlib.Path("collector/cli/crema").resolve()
QUEUE = pathlib.Path("tests/insight/chunk_queue").resolve()
LONG = bool(os.environ.get("CREMA_TEST_LONG"))


class Runs:
    """Makes runs of the program, each measured into a separate directory."""

    def __init__(self, scratch):
        self.scratch = pathlib.Path(scratch)
        self.count = 0

    def measure(self, lanes, chunks=300, seed=1, cpu=0.0, faster=1.0, events=1.0):
        self.count += 1
        directory = self.scratch / str(self.count)
        command = [QUEUE, *map(str, (lanes, chunks, seed, cpu, faster, events))]
        # its sleeps stand for any wait
        subprocess.run([CREMA, "run", "-q", "--waits=off", "-o", directory, "--", *command], check=True)
        return directory

    def measure_processes(self, slower, seed):
        """Starts a process for each factor; they take chunks from one queue."""
        self.count += 1
        directory = self.scratch / str(self.count)
        counter = self.scratch / f"{self.count}.counter"
        counter.write_bytes(bytes(8))
        started = [shlex.join([str(QUEUE), "1", "300", str(seed), "0", "1", "1", str(counter), str(x)]) for x in slower]
        command = " & ".join([*started, "wait"])
        subprocess.run([CREMA, "run", "-q", "-o", directory, "--", "sh", "-c", command], check=True)
        return directory

    @staticmethod
    def worker_of_fewest_chunks(directory):
        workers = json.loads((directory / "measurement.json").read_text())["workers"]
        return min(workers, key=lambda worker: worker["chunks"])["name"]

    @staticmethod
    def wall_time(directory):
        shown = subprocess.run(
            [CREMA, "show", directory, "--metric", "wall_time", "--json"], check=True, capture_output=True
        )
        return json.loads(shown.stdout)["value"]


def predict(directory, *options):
    done = subprocess.run([CREMA, "predict", directory, *options, "--json"], check=False, capture_output=True)
    return json.loads(done.stdout)


def quantile(values, p):
    return sorted(values)[round(p * (len(values) - 1))]


class PredictionTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.runs = Runs(scratch.name)

    def test_the_program_says_what_changes_would_bring(self):
        run = self.runs.measure(4, chunks=60, cpu=0.2)  # a sleep is not shortened where it was seen
        answer = predict(run, "--lanes", "2", "--faster", "select=3", "--without-worker", "nobody")
        self.assertIsNone(answer["refused"])
        self.assertEqual(
            [row["change"] for row in answer["predicted"]],
            ["--lanes 2", "--without-worker nobody", "--faster select=3"],
        )
        two, nobody, faster = answer["predicted"]
        for row in (two, faster):
            self.assertLessEqual(row["low"], row["wall_time"])
            self.assertLessEqual(row["wall_time"], row["high"])
        # on a busy machine, four lanes may get no more of the cores than two
        self.assertGreater(two["high"], answer["replayed"]["wall_time"])
        self.assertLess(faster["wall_time"], answer["replayed"]["wall_time"])
        self.assertIsNone(nobody["wall_time"])
        self.assertEqual(nobody["not_told"], "no worker `nobody`")
        text = subprocess.run([CREMA, "predict", run], check=True, capture_output=True, text=True).stdout
        self.assertIn("--faster select=2", text)
        self.assertIn("90 % of runs", text)

    def test_wrong_use_is_told(self):
        run = self.runs.measure(2, chunks=10)
        for options, words in (
            (["--faster", "select"], "SECTION=FACTOR"),
            (["--faster", "=2"], "SECTION=FACTOR"),
            (["--cores", "0"], "--cores"),
            (["--faster", "slect=2"], "no chunk was in a section `slect`"),
            (["--faster", "(other)=2"], "`(other)`: this is the time of chunks outside sections"),
        ):
            done = subprocess.run([CREMA, "predict", run, *options], check=False, capture_output=True, text=True)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(words, done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1)

    @unittest.skipUnless(LONG, "CREMA_TEST_LONG=1 asks for it: ten minutes, and nothing else on the machine")
    def test_predictions_come_true(self):
        errors, inside = {"sleeping": [], "computing": []}, []

        def check(base, options, **changed):
            compare(base, options, self.runs.measure(**changed), "computing" if "cpu" in changed else "sleeping")

        def compare(base, options, changed, kind):
            answer = predict(base, *options)
            self.assertIsNone(answer["refused"])
            row = answer["predicted"][0]
            truth = self.runs.wall_time(changed)
            errors[kind].append(abs(row["wall_time"] / truth - 1))
            inside.append(row["low"] <= truth <= row["high"])
            stated = f"{row['wall_time']:.3f} s ({row['low']:.3f} to {row['high']:.3f})"
            print(f"{' '.join(options)}: predicted {stated}, ran {truth:.3f} s")

        for seed in range(20):
            again = seed + 1000
            sleeping = self.runs.measure(4, seed=seed)
            for lanes in (1, 8, 16, 32):
                check(sleeping, ["--lanes", str(lanes)], lanes=lanes, seed=again)
            check(sleeping, ["--chunk-events", "3450"], lanes=4, seed=again, chunks=150, events=2)
            one_slow = self.runs.measure_processes((1, 1, 3), seed)
            slow = self.runs.worker_of_fewest_chunks(one_slow)
            compare(one_slow, ["--without-worker", slow], self.runs.measure_processes((1, 1), again), "sleeping")
            computing = self.runs.measure(1, chunks=100, seed=seed, cpu=1)
            check(computing, ["--cores", "2"], lanes=2, seed=again, chunks=100, cpu=1)
            check(computing, ["--faster", "select=2"], lanes=1, seed=again, chunks=100, cpu=1, faster=2)
            two = self.runs.measure(2, chunks=100, seed=seed, cpu=1)
            check(two, ["--lanes", "6"], lanes=6, seed=again, chunks=100, cpu=1)
            check(two, ["--cores", "1"], lanes=1, seed=again, chunks=100, cpu=1)
        for kind, of_kind in errors.items():
            print(f"{len(of_kind)} of {kind} chunks: p95 of the error {quantile(of_kind, 0.95):.1%}")
        p95 = quantile(errors["sleeping"] + errors["computing"], 0.95)
        covered = sum(inside) / len(inside)
        print(f"{len(inside)} predictions: p95 of the error {p95:.1%}, {covered:.1%} in their range")
        self.assertLessEqual(p95, 0.15)
        self.assertGreaterEqual(covered, 0.8)
        self.assertLessEqual(covered, 0.99)


if __name__ == "__main__":
    unittest.main(verbosity=2)

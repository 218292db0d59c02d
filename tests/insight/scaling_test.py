"""`crema scaling` of real runs, with sleeping chunks on lanes that are declared as cores."""

import json
import unittest

from measured_runs import QUEUE, MeasuredRunsCase, crema


class ScalingTest(MeasuredRunsCase):
    def run_on(self, lanes, chunks=96):
        return self.measure(f"on_{lanes}", QUEUE, lanes, chunks, 1, 0, 1, 1, CREMA_THREADS=str(lanes))

    def test_runs_on_four_numbers_of_cores(self):
        runs = [self.run_on(lanes) for lanes in (4, 1, 2, 8)]
        chart = self.scratch / "chart.json"
        answer = self.json_of("scaling", *runs, "--chart", chart)
        self.assertEqual(answer["schema"], "crema.scaling/1")
        self.assertEqual(answer["kind"], "strong")
        self.assertEqual([point["cores"] for point in answer["points"]], [1, 2, 4, 8])
        self.assertEqual([fit["law"] for fit in answer["fits"]], ["amdahl", "usl"])
        self.assertEqual(answer["best_cores"]["measured"], 8)
        for point in answer["points"]:
            document = json.loads((self.scratch / f"on_{point['cores']:.0f}/measurement.json").read_text())
            wall_time = document["metrics"]["wall_time"]
            self.assertEqual(point["wall_time"], wall_time)
            self.assertAlmostEqual(point["speedup"] * wall_time, answer["points"][0]["wall_time"])
        self.assertEqual(json.loads(chart.read_text())["usermeta"], {"crema": "scaling"})
        text = crema("scaling", *runs).stdout
        for words in ("The same work", "USL", "Amdahl", "efficiency"):
            self.assertIn(words, text)

    def test_one_run_gives_its_prediction_named_so(self):
        run = self.run_on(4)
        answer = self.json_of("scaling", run)
        self.assertEqual(answer["kind"], "predicted")
        self.assertEqual([point["cores"] for point in answer["points"] if point["predicted"]], [2, 8, 16, 32])
        # the measured point has the cores that the process got: fewer than 4 on a busy machine
        (measured,) = [point for point in answer["points"] if not point["predicted"]]
        self.assertLessEqual(measured["cores"], 4)
        self.assertEqual(answer["fits"], [])
        self.assertIsNone(answer["best_cores"]["measured"])
        for point in answer["points"]:
            if point["predicted"]:
                self.assertLessEqual(point["low"], point["wall_time"])
                self.assertLessEqual(point["wall_time"], point["high"])
        text = crema("scaling", run).stdout
        self.assertIn("Predicted from one run, not measured", text)
        self.assertIn("90 % of runs", text)

    def test_wrong_use_is_told(self):
        run = self.run_on(2, chunks=10)
        for options, status, words in (
            ([], 2, "SOURCE"),
            ([run, "--chart", "chart"], 2, "must end in .png"),
            ([self.scratch / "nothing"], 1, "nothing"),
        ):
            done = crema("scaling", *options)
            self.assertEqual(done.returncode, status)
            self.assertIn(words, done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1)


if __name__ == "__main__":
    unittest.main(verbosity=2)

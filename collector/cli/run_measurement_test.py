"""The measurement that `crema run` leaves, and how `crema show` prints it."""

import json
import subprocess
import unittest

from run_test_case import CREMA, RunTestCase


class Measurement(RunTestCase):
    def test_is_left_in_the_directory(self):
        self.run_python("burn(0.2)", options=("-q", "--name", "zjets"))
        document = json.loads((self.directory / "measurement.json").read_text())
        self.assertEqual(document["run"]["name"], "zjets")
        self.assertEqual(document["run"]["id"], self.lines("run")[0]["run_id"])
        metrics = document["metrics"]
        self.assertAlmostEqual(metrics["tree_cpu_user"] + metrics["tree_cpu_system"], self.tree_cpu_seconds(), 6)
        wall = (self.end()["time_ns"] - self.lines("run")[0]["start_ns"]) / 1e9
        self.assertAlmostEqual(metrics["wall_time"], wall, 6)
        self.assertAlmostEqual(
            metrics["job_cpu_efficiency"], self.tree_cpu_seconds() / wall / self.lines("run")[0]["allocated_cores"], 6
        )

    def test_json_of_show_is_the_document(self):
        self.run_command("true")
        shown = subprocess.run([CREMA, "show", str(self.directory), "--json"], capture_output=True, check=True)
        self.assertEqual(json.loads(shown.stdout), json.loads((self.directory / "measurement.json").read_text()))

    def test_one_metric_has_its_value_and_unit(self):
        self.run_command("true")
        shown = subprocess.run(
            [CREMA, "show", str(self.directory), "--metric", "max_processes", "--json"], capture_output=True, check=True
        )
        self.assertEqual(json.loads(shown.stdout)["value"], 1)
        unknown = subprocess.run([CREMA, "show", str(self.directory), "--metric", "nonsense"], capture_output=True)
        self.assertEqual(unknown.returncode, 1)
        self.assertRegex(unknown.stderr.decode(), r"^crema: .*nonsense.*\n$")

    def test_of_a_command_without_chunks_tells_what_its_processes_and_cores_did(self):
        self.run_python(
            "burn(0.2); say('pid', os.getpid()); wait_for(lambda: sampled(os.getpid(), 0.2))", options=("-q",)
        )
        document = json.loads((self.directory / "measurement.json").read_text())
        row = document["processes"][0]
        self.assertEqual(row["pid"], json.loads((self.out / "pid").read_text()))
        self.assertGreaterEqual(row["cpu"], 0.2)
        self.assertLessEqual(row["cpu"], self.tree_cpu_seconds())
        self.assertGreater(row["peak_memory_bytes"], 0)
        self.assertGreater(row["stop"], row["start"])
        self.assertGreaterEqual(min(row["start"] for row in document["processes"]), 0)
        table = subprocess.run(
            [CREMA, "show", str(self.directory), "--table", "processes"], capture_output=True, check=True
        )
        self.assertIn(f"{row['name']}", table.stdout.decode())
        shown = subprocess.run([CREMA, "show", str(self.directory)], capture_output=True, check=True).stdout.decode()
        self.assertRegex(shown, r"what its [0-9.]+ cores? did")
        self.assertRegex(shown, r"CPU in the program +[0-9.]+ m?s")
        self.assertNotIn("Event rate", shown)

    def test_tells_the_commit(self):
        def commit_of_run():
            run = json.loads((self.directory / "measurement.json").read_text())["run"]
            return run["commit"], run["commit_source"]

        for name in [*self.environment]:
            if "COMMIT" in name or "SHA" in name or name == "BUILD_SOURCEVERSION":
                del self.environment[name]
        repository = self.out / "repository"
        identity = ("-c", "user.name=n", "-c", "user.email=e")
        git = ("git", "-C", repository, *identity)
        subprocess.run(["git", "init", "-q", repository], check=True)
        subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "m"], check=True)
        head = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()
        self.run_command("true", cwd=repository)
        self.assertEqual(commit_of_run(), (head, "git"))
        self.environment["CREMA_COMMIT"] = "v7"
        self.run_command("true", cwd=repository)
        self.assertEqual(commit_of_run(), ("v7", "CREMA_COMMIT"))

    def test_of_nothing_is_an_error_in_one_line(self):
        shown = subprocess.run([CREMA, "show", str(self.out / "nothing")], capture_output=True)
        self.assertEqual(shown.returncode, 1)
        self.assertRegex(shown.stderr.decode(), r"^crema: .*\n$")


if __name__ == "__main__":
    unittest.main()

"""`crema export --to prmon`, and prmon's files as a SOURCE, through the program."""

import json
import pathlib
import shutil
import subprocess
import unittest

from run_test_case import CREMA, PATIENCE_SECONDS, RunTestCase

SAMPLE = pathlib.Path("collector/sources/prmon/testdata").absolute()


class PrmonTestCase(RunTestCase):
    def crema(self, *arguments, status=0):
        result = subprocess.run(
            [CREMA, *map(str, arguments)],
            capture_output=True,
            text=True,
            env=self.environment,
            timeout=PATIENCE_SECONDS,
            cwd=self.out,
        )
        self.assertEqual(result.returncode, status, result.stderr)
        return result

    def summary(self, directory):
        return json.loads((self.out / directory / "prmon.json").read_text())

    def rows(self, directory):
        lines = [line.split("\t") for line in (self.out / directory / "prmon.txt").read_text().splitlines()]
        return [dict(zip(lines[0], map(int, line))) for line in lines[1:]]


class Export(PrmonTestCase):
    def test_of_a_run_has_its_values_in_prmons_units(self):
        self.run_python(
            'block = bytearray(100 << 20); open(os.environ["OUT"] + "/file", "wb", buffering=0)'
            '.write(bytes(50_000_000)); burn(0.5); say("cpu", cpu())'
        )
        self.crema("export", "run", "--to", "prmon", "-o", "prmon")
        summary, rows, end = self.summary("prmon"), self.rows("prmon"), self.end()
        wall = (end["time_ns"] - self.lines("run")[0]["start_ns"]) / 1e9
        self.assertEqual(summary["Max"]["rss"], round(end["tree_peak_rss_bytes"] / 1024))
        self.assertGreaterEqual(summary["Max"]["rss"], 100 << 10)
        self.assertEqual(summary["Max"]["wchar"], end["tree_wchar_bytes"])
        self.assertAlmostEqual(summary["Avg"]["wchar"], end["tree_wchar_bytes"] / wall, delta=1)
        self.assertAlmostEqual(summary["Max"]["utime"], end["tree_cpu_user_ns"] / 1e9, delta=0.5)
        self.assertEqual(rows[-1]["wchar"], end["tree_wchar_bytes"])
        self.assertEqual(rows[-1]["utime"], summary["Max"]["utime"])
        self.assertEqual(summary["prmon"]["Version"].split()[0], "crema")

    def test_from_the_records_is_that_from_the_measurement(self):
        self.run_command("true")
        self.crema("export", "run", "--to", "prmon", "-o", "one")
        self.crema("export", "run/records", "--to", "prmon", "-o", "two")
        self.assertEqual(self.summary("one"), self.summary("two"))
        self.assertEqual(self.rows("one"), self.rows("two"))

    def test_replaces_only_what_crema_wrote(self):
        self.run_command("true")
        for _ in range(2):
            self.crema("export", "run", "--to", "prmon", "-o", "own")
        shutil.copytree(SAMPLE, self.out / "foreign")
        for _ in ("prmon.json and prmon.txt", "prmon.txt alone"):
            result = self.crema("export", "run", "--to", "prmon", "-o", "foreign", status=1)
            self.assertRegex(result.stderr, r"^crema: .*foreign: .*--force\n$")
            self.assertEqual((self.out / "foreign/prmon.txt").read_bytes(), (SAMPLE / "prmon.txt").read_bytes())
            (self.out / "foreign/prmon.json").unlink(missing_ok=True)
        self.crema("export", "run", "--to", "prmon", "-o", "foreign", "--force")
        self.assertEqual(len(self.rows("foreign")), len(self.rows("own")))

    def test_of_what_has_no_process_tree_is_an_error_in_one_line(self):
        self.run_command("true")
        for log in (self.directory / "records").iterdir():
            log.unlink()
        self.assertRegex(
            self.crema("export", "run", "--to", "prmon", "-o", "x", status=1).stderr, r"^crema: .*run.*\n$"
        )
        self.crema("export", "run", "--to", "nonsense", "-o", "x", status=2)
        self.assertFalse((self.out / "x").exists())


class Source(PrmonTestCase):
    def metrics(self, *arguments):
        return json.loads(self.crema("show", *arguments, "--json").stdout)

    def test_is_a_directory_or_either_file_of_prmon(self):
        for source in (SAMPLE, SAMPLE / "prmon.txt", SAMPLE / "prmon.json"):
            document = self.metrics(source)
            metrics = document["metrics"]
            self.assertEqual(metrics["wall_time"], 14)
            self.assertEqual((metrics["tree_cpu_user"], metrics["tree_cpu_system"]), (9, 8))
            self.assertEqual(metrics["tree_peak_rss_bytes"], 1141716 * 1024)
            self.assertEqual(metrics["tree_wchar_bytes"], 988808864)
            self.assertEqual(metrics["max_threads"], 3)
            for key in ("net_rx_bytes", "process_peak_rss_bytes", "major_faults", "job_cpu_efficiency", "num_chunks"):
                self.assertIsNone(metrics[key], key)
                self.assertTrue(document["quality"]["not_measured"][key], key)

    def test_under_atlas_names_is_read_too(self):
        job = self.out / "job"
        job.mkdir()
        shutil.copy(SAMPLE / "prmon.txt", job / "memory_monitor_output.txt")
        shutil.copy(SAMPLE / "prmon.json", job / "memory_monitor_summary.json")
        for source in (job, job / "memory_monitor_output.txt", job / "memory_monitor_summary.json"):
            self.assertEqual(self.metrics(source)["metrics"]["tree_cpu_user"], 9)

    def test_that_was_collected_keeps_its_files_and_goes_back_to_prmon(self):
        self.crema("collect", SAMPLE, "-o", "collected")
        self.assertEqual((self.out / "collected/records/prmon.txt").read_bytes(), (SAMPLE / "prmon.txt").read_bytes())
        self.crema("export", "collected", "--to", "prmon", "-o", "back")
        before, after = json.loads((SAMPLE / "prmon.json").read_text()), self.summary("back")
        for name, value in after["Max"].items():
            self.assertEqual(value, before["Max"][name], name)
        self.assertEqual(after["Avg"]["wchar"], round(988808864 / 14))  # prmon 3.3.0: a hundred times more
        self.assertEqual(self.metrics("back")["metrics"]["tree_wchar_bytes"], 988808864)

    def test_that_is_not_prmons_is_an_error_in_one_line(self):
        (self.out / "prmon.txt").write_text("Dear diary\n")
        result = self.crema("show", self.out / "prmon.txt", status=1)
        self.assertRegex(result.stderr, r"^crema: .*prmon\.txt.*\n$")


if __name__ == "__main__":
    unittest.main()

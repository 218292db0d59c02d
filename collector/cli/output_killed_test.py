"""Kills `crema` before each of its steps on files: the old or the new measurement is there, and no leftovers stay."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import unittest

from collector.cli import invented_run

HERE = pathlib.Path(__file__).absolute().parent
CREMA = HERE / "crema"
MOST_STEPS = 400  # the time limit of every call, so that the test ends


class KilledOutput(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR")))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.write_logs()

    def write_logs(self):
        for name in ("old", "new"):
            invented_run.write_run(str(self.folder / name))
            for log in (self.folder / name).iterdir():
                log.rename(log.with_name(f"{name}-{log.name}"))

    def crema(self, *arguments, kill_at=0, cwd=None, **environment):
        variables = {name: value for name, value in os.environ.items() if not name.startswith("CREMA_")}
        if kill_at or environment:
            variables |= {"LD_PRELOAD": str(HERE / "libkilled_at_a_step.so"), **environment}
        if kill_at:
            variables["KILL_AT"] = str(kill_at)
        command = [CREMA, *map(str, arguments)]
        return subprocess.run(command, env=variables, cwd=cwd, capture_output=True, text=True, timeout=60)

    def collect(self, name, *options, **keywords):
        return self.crema("collect", self.folder / name, "-o", self.out, "--name", name, "-q", *options, **keywords)

    def run_true(self, name, *options, **keywords):
        out = "." if keywords.get("cwd") else self.out
        return self.crema("run", "-o", out, "--name", name, "-q", *options, "--", "true", **keywords)

    def name_of(self, directory):
        """Which complete measurement is there; None if there is none."""
        try:
            document = json.loads((directory / "measurement.json").read_text())
        except FileNotFoundError:
            return None
        name = document["run"]["name"]
        logs = [path.name for path in (directory / "records").iterdir()]
        self.assertTrue(logs)
        for log in logs:
            if log.endswith(".tree.ndjson"):
                written = (directory / "records" / log).read_text()
                self.assertIn(f'"name":"{name}"', written, "a document with another run's records")
            else:
                self.assertTrue(log.startswith(f"{name}-"), f"{name}: {logs}")
        return name

    def measurements(self):
        """{directory: measurement}, for directories that a user sees."""
        found = {}
        for directory in [self.out, *self.out.parent.glob(f"{self.out.name}.*"), *self.out.glob("older.*")]:
            if name := self.name_of(directory):
                found[str(directory.relative_to(self.out.parent))] = name
        return found

    def hidden(self):
        places = [self.out.parent, *(path for path in self.out.parent.iterdir() if path.is_dir())]
        return [str(path) for place in places for path in place.iterdir() if path.name.startswith(".")]

    def kill_at_each_step(self, make_old, make_new, keeps=True, always_whole=True):
        for step in range(1, MOST_STEPS):
            with self.subTest(step=step):
                parent = self.folder / f"step{step}"
                self.out = parent / "out"
                parent.mkdir()
                self.assertEqual(make_old().returncode, 0)
                self.also_there()
                killed = make_new(kill_at=step)
                seen = self.measurements()
                if killed.returncode == 0:
                    self.assertGreater(step, 5, "nothing was killed")
                    return
                self.assertIn(killed.returncode, (-signal.SIGKILL, 128 + signal.SIGKILL, 137), killed.stderr)
                if not always_whole:  # except for its readers
                    self.crema("show", self.out, "-q")
                    seen = self.measurements()
                self.assertTrue(seen, f"nothing whole is left: {list(parent.rglob('*'))}")
                again = make_new()
                self.assertEqual(again.returncode, 0, again.stderr)
                seen = self.measurements()
                self.assertEqual(seen.pop("out"), "new")
                if keeps:
                    self.assertIn("old", seen.values(), list(parent.rglob("*")))
                self.assertEqual(self.hidden(), [])
                shutil.rmtree(parent)
        self.fail("it never ended")

    def also_there(self):
        pass

    # Fault [outputs]: `crema collect` is killed at any of its steps
    # Shown: the old measurement or the new one, whole; the next call removes what is left
    def test_collect_keeps_the_older_one(self):
        self.kill_at_each_step(lambda: self.collect("old"), lambda **how: self.collect("new", **how))

    # Fault [outputs]: `crema collect --replace` is killed at any of its steps
    # Shown: the old measurement or the new one, whole; the next call removes what is left
    def test_collect_replaces_the_older_one(self):
        self.kill_at_each_step(
            lambda: self.collect("old"), lambda **how: self.collect("new", "--replace", **how), keeps=False
        )

    # Fault [outputs]: the same where the file system cannot exchange directories
    # Shown: for whoever may write there, the old measurement or the new one, whole
    def test_collect_where_directories_cannot_be_exchanged(self):
        self.kill_at_each_step(
            lambda: self.collect("old"),
            lambda **how: self.collect("new", NO_EXCHANGE="1", **how),
            always_whole=False,
        )

    # Fault [outputs]: the same where files of others lie in the directory
    # Shown: for whoever may write there, the old measurement or the new one, whole; the files stay
    def test_collect_among_files_of_others(self):
        self.also_there = lambda: (self.out / "thesis.tex").write_text("precious")
        self.kill_at_each_step(
            lambda: self.collect("old"),
            lambda **how: self.collect("new", "--force", **how),
            always_whole=False,
        )

    def test_ctrl_c_leaves_the_old_or_the_new_one_and_nothing_else(self):
        ended_early = 0
        for environment in ({}, {"NO_EXCHANGE": "1"}):
            for step in range(1, MOST_STEPS):
                with self.subTest(step=step, **environment):
                    parent = self.folder / f"step{step}{''.join(environment)}"
                    self.out = parent / "out"
                    parent.mkdir()
                    self.assertEqual(self.collect("old").returncode, 0)
                    interrupted = self.collect("new", kill_at=step, KILL_WITH=str(int(signal.SIGINT)), **environment)
                    if interrupted.returncode == 0:
                        self.assertGreater(step, 5, "nothing was interrupted")
                        break
                    self.assertEqual(interrupted.returncode, -signal.SIGINT, interrupted.stderr)
                    self.assertEqual(self.hidden(), [])
                    if interrupted.stderr:
                        ended_early += 1
                        self.assertEqual(
                            interrupted.stderr,
                            "crema: interrupted: nothing was written; what was there is as it was\n",
                        )
                        self.assertEqual(self.measurements(), {"out": "old"})
                    else:
                        self.assertEqual(self.measurements().pop("out"), "new")
                        self.assertIn("old", self.measurements().values())
                    shutil.rmtree(parent)
        self.assertGreater(ended_early, 0)

    # Fault [outputs]: a process is killed while it replaces a measurement, and who reads it may not write there
    # Shown: the old measurement or the new one; between its steps one line that it is half replaced, and no figure
    def test_who_may_not_write_reads_one_measurement_or_none(self):
        as_another_user = ["setpriv", "--reuid=65534", "--clear-groups"]
        if subprocess.run([*as_another_user, "true"], stderr=subprocess.DEVNULL, check=False).returncode != 0:
            self.skipTest("needs the right to become another user")
        refused = 0
        self.folder = pathlib.Path(tempfile.mkdtemp(dir="/tmp"))  # the home of root is closed to others
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.folder.chmod(0o755)
        program = shutil.copy(CREMA, self.folder)
        self.write_logs()
        for step in range(1, MOST_STEPS):
            parent = self.folder / f"step{step}"
            self.out = parent / "out"
            parent.mkdir(mode=0o755)
            self.assertEqual(self.collect("old").returncode, 0)
            (self.out / "thesis.tex").write_text("precious")  # so that the parts are replaced one by one
            killed = self.collect("new", "--force", kill_at=step)
            if killed.returncode == 0:
                break
            subprocess.run(["chmod", "-R", "a+rX,go-w", self.out], check=True)
            command = [*as_another_user, program, "show", self.out, "--json"]
            shown = subprocess.run(command, capture_output=True, text=True, timeout=60)
            with self.subTest(step=step):
                if shown.returncode == 0:
                    name = json.loads(shown.stdout)["run"]["name"]
                    self.assertIn(name, ("old", "new"))
                    self.assertEqual(self.name_of(self.out), name)
                else:
                    refused += 1
                    self.assertEqual(shown.returncode, 1)
                    self.assertRegex(shown.stderr, r"^crema: .*/out: is half replaced by a newer measurement.*\n$")
            shutil.rmtree(parent)
        self.assertGreater(refused, 0, "no step was between the two")

    def kill_other_at_each_step(self, call):
        """For a call that makes no measurement: checks that the next call leaves exactly what it should."""
        for step in range(1, MOST_STEPS):
            self.out = self.folder / f"step{step}" / "out"
            self.out.parent.mkdir()
            temporary = self.out.parent / "tmp"
            temporary.mkdir()
            killed = call(kill_at=step, TMPDIR=str(temporary))
            if killed.returncode == 0:
                self.assertGreater(step, 3, "nothing was killed")
                return
            self.assertEqual(killed.returncode, -signal.SIGKILL, killed.stderr)
            again = call(TMPDIR=str(temporary))
            self.assertEqual(again.returncode, 0, again.stderr)
            self.assertEqual(list(temporary.iterdir()), [], step)
            self.assertEqual(self.hidden(), [], step)
            shutil.rmtree(self.out.parent)
        self.fail("it never ended")

    # Fault [outputs]: `crema export` or `crema report` is killed at any of its steps
    # Shown: the next call removes what is left
    def test_exports_and_reports_leave_nothing(self):
        for command in (
            ("export", "--to", "chunks", "--force"),
            ("export", "--to", "roastcoffea", "--force"),
            ("report", "--force", "-q"),
        ):
            with self.subTest(command=command):
                self.kill_other_at_each_step(
                    lambda command=command, **how: self.crema(
                        command[0], self.folder / "old", *command[1:], "-o", self.out, **how
                    )
                )
                shutil.rmtree(self.out.parent)

    # Fault [outputs]: a command that converts its source is killed at any of its steps
    # Shown: the next call removes what is left
    def test_sources_that_are_converted_leave_nothing(self):
        sample = HERE.parent / "sources/roastcoffea/testdata/measurement"
        self.kill_other_at_each_step(lambda **how: self.crema("show", sample, "-q", **how))

    def kill_run_at_each_step(self, **keywords):
        for step in range(1, MOST_STEPS):
            with self.subTest(step=step):
                parent = self.folder / f"step{step}"
                self.out = parent / "out"
                parent.mkdir()
                self.assertEqual(self.collect("old").returncode, 0)
                cwd = self.out if keywords.get("cwd") else None
                killed = self.run_true("new", kill_at=step, **{**keywords, "cwd": cwd})
                is_whole = killed.returncode == 0 and self.name_of(self.out) == "new"
                again = self.run_true("new", cwd=cwd)
                self.assertEqual(again.returncode, 0, again.stderr)
                seen = self.measurements()
                self.assertEqual(seen.pop("out"), "new")
                self.assertIn("old", seen.values(), list(parent.rglob("*")))
                self.assertEqual(self.hidden(), [])
                shutil.rmtree(parent)
                if is_whole:  # it had fewer steps
                    self.assertGreater(step, 5, "nothing was killed")
                    return
        self.fail("it never ended")

    # Fault [outputs]: `crema run` is killed at any of its steps, over an older measurement
    # Shown: the older one under the time of its start; the next call removes what is left
    def test_run_keeps_the_older_one(self):
        self.kill_run_at_each_step()

    def test_run_where_directories_cannot_be_exchanged(self):
        self.kill_run_at_each_step(NO_EXCHANGE="1")

    def test_run_in_the_current_directory(self):
        self.kill_run_at_each_step(cwd=True)


if __name__ == "__main__":
    unittest.main()

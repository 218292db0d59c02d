"""The streams, arguments and environment of a command under `crema run`."""

import json
import stat
import unittest

from run_test_case import CREMA, RunTestCase


class Streams(RunTestCase):
    def test_belong_to_the_command(self):
        result = self.run_command("sh", "-c", "cat; printf 'error\\n' >&2", input=b"in\0put\n")
        self.assertEqual(result.stdout, b"in\0put\n")
        self.assertEqual(result.stderr, b"error\n")

    def test_the_summary_goes_to_stderr_after_the_command(self):
        result = self.run_command("sh", "-c", "echo out; echo error >&2", options=())
        self.assertEqual(result.stdout, b"out\n")
        self.assertTrue(result.stderr.startswith(b"error\n"), result.stderr)
        self.assertGreater(len(result.stderr), len(b"error\n"))

    def test_arguments_reach_the_command_as_they_are(self):
        result = self.run_command("printf", "%s|", "--", "-q", "--help", "a b", "")
        self.assertEqual(result.stdout, b"--|-q|--help|a b||")


class Environment(RunTestCase):
    def test_turns_recording_on(self):
        self.run_python(
            'say("environment", {name: value for name, value in os.environ.items() if name.startswith("CREMA_")})',
            options=("-q", "--pass", "first", "--trace", "--requests", "--allocations", "--stacks=50", "--cores", "3"),
        )
        environment = self.said("environment")
        self.assertEqual(environment["CREMA_DIR"], str(self.directory / "records"))
        self.assertEqual(environment["CREMA_INTERVAL"], "0")
        self.assertEqual(environment["CREMA_PASS"], "first")
        self.assertEqual(environment["CREMA_TRACE"], "1")
        self.assertEqual(environment["CREMA_REQUESTS"], "1")
        self.assertEqual(environment["CREMA_STACKS"], "50")
        self.assertEqual(environment["CREMA_ALLOCATIONS"], "1")
        self.assertEqual(environment["CREMA_THREADS"], "3")
        self.assertEqual(environment["CREMA_RUN_ID"], self.lines("run")[0]["run_id"])

    def test_leaves_alone_what_was_not_asked_for(self):
        self.environment["CREMA_PASS"] = "mine"
        self.run_python(
            'say("pass", os.environ["CREMA_PASS"])\n'
            'names = ("CREMA_TRACE", "CREMA_REQUESTS", "CREMA_STACKS", "CREMA_ALLOCATIONS", "LD_PRELOAD")\n'
            'say("asked", [name for name in names if name in os.environ])'
        )
        self.assertEqual(self.said("pass"), "mine")
        self.assertEqual(self.said("asked"), [])

    def test_stacks_without_a_rate_are_taken_a_hundred_times_a_second(self):
        self.run_python('say("stacks", os.environ["CREMA_STACKS"])', options=("-q", "--stacks"))
        self.assertEqual(self.said("stacks"), "100")

    def test_run_ids_differ(self):
        ids = set()
        for _ in range(2):
            self.run_command("true")
            ids.add(self.lines("run")[0]["run_id"])
        self.assertEqual(len(ids), 2)

    def test_directories_are_private(self):
        self.run_command("true")
        for directory in (self.directory, self.directory / "records"):
            self.assertEqual(stat.S_IMODE(directory.stat().st_mode), 0o700)
        for log in (self.directory / "records").iterdir():
            self.assertEqual(stat.S_IMODE(log.stat().st_mode), 0o600)

    def test_secrets_on_the_command_line_are_not_kept(self):
        self.run_command("true", "--token=hunter2")
        self.assertEqual(self.lines("run")[0]["command"], ["true", "--token=***"])
        self.assertNotIn("hunter2", (self.directory / "measurement.json").read_text())
        self.environment["CREMA_NO_ARGUMENTS"] = "1"
        self.run_command("true", "--cut=hunter2")
        self.assertIsNone(self.lines("run")[0]["command"])
        self.assertNotIn("hunter2", (self.directory / "measurement.json").read_text())

    def test_a_nested_run_keeps_its_directory_and_leaves_a_pointer(self):
        inner = self.out / "inner"
        result = self.run_command(CREMA, "run", "-q", "-o", str(inner), "--", "sh", "-c", "echo $CREMA_DIR; exit 4")
        self.assertEqual(result.returncode, 4)
        self.assertEqual(result.stdout.decode().strip(), str(inner / "records"))
        (pointer,) = (self.directory / "records").glob("*.nested.json")
        self.assertEqual(json.loads(pointer.read_text())["directory"], str(inner))
        self.assertEqual(len(list((inner / "records").glob("*.tree.ndjson"))), 1)


if __name__ == "__main__":
    unittest.main()

"""Processes that outlive or precede the command, and a crema that is killed."""

import json
import os
import resource
import signal
import subprocess
import sys
import unittest

from run_test_case import CREMA, PATIENCE_SECONDS, PRELUDE, RunTestCase, process_state, wait_for


class Lifetimes(RunTestCase):
    def test_daemons_are_not_waited_for_but_counted(self):
        result = self.run_python(
            """
nowhere = subprocess.DEVNULL
daemon = subprocess.Popen(["sleep", "600"], start_new_session=True, stdout=nowhere, stderr=nowhere)
say("daemon", daemon.pid)
os._exit(0)
"""
        )
        daemon = self.said("daemon")
        self.addCleanup(os.kill, daemon, signal.SIGKILL)
        self.assertEqual(result.returncode, 0)
        self.assertIn(process_state(daemon), ("S", "R"))
        self.assertEqual(self.end()["processes_left_running"], 1)

    def test_helpers_that_end_with_the_command_are_not_left_running(self):
        program = """
reader, writer = os.pipe()
if os.fork() == 0:
    os.close(writer)
    os.read(reader, 1)
    burn(cpu() + 0.01)
    os._exit(0)
os._exit(0)
"""
        left = []  # crema waits for 100 ms: on a busy machine the helper may not get its 10 ms of CPU time by then
        while 0 not in left and len(left) < 30:
            self.run_python(program)
            left.append(self.end()["processes_left_running"])
        self.assertIn(0, left)

    def test_a_killed_crema_leaves_what_it_saw_and_the_command(self):
        crema = self.start_python('say("ready", os.getpid()); time.sleep(600)', options=("-q", "--interval", "0.02"))
        wait_for((self.out / "ready").exists)
        self.addCleanup(os.kill, self.said("ready"), signal.SIGKILL)
        wait_for(lambda: any(sample["processes"] for sample in self.lines("tree_sample")))
        crema.kill()
        self.assertEqual(crema.wait(), -signal.SIGKILL)
        self.assertIn(process_state(self.said("ready")), ("S", "R"))
        self.assertEqual(self.lines("run_end"), [])
        shown = subprocess.run([CREMA, "show", str(self.directory / "records"), "--json"], capture_output=True)
        self.assertEqual(shown.returncode, 0, shown.stderr)
        self.assertGreater(json.loads(shown.stdout)["metrics"]["tree_peak_rss_bytes"], 0)

    def test_children_from_before_are_not_the_commands(self):
        # `sleep 600 & exec crema run …`: crema inherits a child that it never started.
        result = subprocess.run(
            [
                "sh",
                "-c",
                'sleep 600 >/dev/null 2>&1 & echo $! > $OUT/old; exec "$@"',
                "sh",
                *self.arguments("true", options=["-q"]),
            ],
            env=self.environment,
            timeout=PATIENCE_SECONDS,
        )
        os.kill(int((self.out / "old").read_text()), signal.SIGKILL)
        self.assertEqual(result.returncode, 0)
        self.assertEqual(self.end()["processes_left_running"], 0)
        self.assertEqual(self.end()["max_processes"], 1)

    def test_few_descriptors_are_enough(self):
        result = self.run_python(
            "children = [subprocess.Popen(['sleep', '600']) for _ in range(12)]\n"
            "wait_for(lambda: sampled(children[-1].pid, 0))\n"
            "for child in children: child.kill()",
            options=("-q", "--interval", "0.02"),
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (40, 40)),
        )
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertGreaterEqual(self.end()["max_processes"], 13)

    def test_in_a_pid_namespace_without_its_own_proc_no_stranger_is_measured(self):
        namespaces = ["unshare", "--map-root-user", "--pid", "--fork", "--kill-child"]
        if subprocess.run([*namespaces, "true"], capture_output=True).returncode != 0:
            self.skipTest("pid namespaces are not allowed here")
        # In /proc, its pid and that of the command belong to other processes.
        crema = [*self.arguments(sys.executable, "-c", PRELUDE + "say('cpu', burn(0.2) or cpu()); sys.exit(3)")]
        result = subprocess.run(
            [*namespaces, "sh", "-c", '"$@"; exit "$?"', "sh", *crema],
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
        )
        self.assertEqual(result.returncode, 3)
        self.assertIn("/proc belongs to another pid namespace", result.stderr)
        end = self.end()
        self.assertGreaterEqual(self.tree_cpu_seconds(), self.said("cpu"))
        for name in ("tree_peak_rss_bytes", "max_processes", "tree_read_bytes", "processes_left_running"):
            self.assertIsNone(end[name])


if __name__ == "__main__":
    unittest.main()

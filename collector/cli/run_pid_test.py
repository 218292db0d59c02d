"""`crema run --pid`: a process tree that somebody else started, watched and left alone."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import unittest

from run_test_case import CREMA, PATIENCE_SECONDS, PRELUDE, RunTestCase, process_state, wait_for


class Watch(RunTestCase):
    def start(self, program):
        """A process of this test, not of crema. The test waits for it only at its end."""
        process = subprocess.Popen(
            [sys.executable, "-c", PRELUDE + program], env=self.environment, start_new_session=True
        )
        self.end_with_test(process)
        return process

    def watch(self, pid, options=("--interval", "0.02"), **keywords):
        crema = subprocess.Popen(
            [CREMA, "run", "-q", "-o", str(self.directory), "--pid", str(pid), *options],
            env=self.environment,
            start_new_session=True,
            **keywords,
        )
        self.end_with_test(crema)
        return crema

    def wait_for_samples(self, count=1, processes=1):
        def seen():
            logs = list((self.directory / "records").glob("*.tree.ndjson"))
            samples = [line for log in logs for line in log.read_text().splitlines() if '"tree_sample"' in line]
            return sum(json.loads(sample)["processes"] >= processes for sample in samples) >= count

        wait_for(seen)

    def measured(self):
        return json.loads((self.directory / "measurement.json").read_text())

    def test_ends_with_the_process_and_has_its_whole_account(self):
        process = self.start(
            """
block = bytearray(80 << 20)
burn(0.3)
wait_for(lambda: exists("go"))
burn(0.5)
say("cpu", cpu())
"""
        )
        crema = self.watch(process.pid)
        self.wait_for_samples()
        (self.out / "go").write_text("")
        self.assertEqual(crema.wait(PATIENCE_SECONDS), 0)  # the process is now a zombie: nobody waited for it
        metrics, quality = self.measured()["metrics"], self.measured()["quality"]
        cpu = metrics["tree_cpu_user"] + metrics["tree_cpu_system"]
        self.assertGreaterEqual(cpu, self.said("cpu") - 0.02)  # two clock ticks
        self.assertLess(cpu, self.said("cpu") + 0.3)
        self.assertEqual(quality["tree_cpu_sampled"], 0)
        self.assertEqual(quality["processes_left_running"], 0)
        self.assertGreaterEqual(metrics["process_peak_rss_bytes"], 80 << 20)
        self.assertEqual(metrics["max_processes"], 1)
        self.assertGreaterEqual(metrics["wall_time"], self.said("cpu") - 0.02)  # one thread, and since its own start

    def test_says_what_only_a_parent_knows_is_not_known(self):
        process = self.start("wait_for(lambda: exists('go'))")
        crema = self.watch(process.pid)
        self.wait_for_samples()
        (self.out / "go").write_text("")
        self.assertEqual(crema.wait(PATIENCE_SECONDS), 0)
        document = self.measured()
        self.assertIsNone(document["run"]["exit_status"])
        self.assertEqual(document["run"]["state"], "finished")
        self.assertIsNone(document["metrics"]["context_switches_involuntary"])
        self.assertIn("--pid", document["quality"]["not_measured"]["context_switches_involuntary"])
        self.assertEqual(document["run"]["command"][0], sys.executable)
        self.assertTrue(self.lines("run")[0]["watched"])
        self.assertEqual(self.lines("reaped"), [])

    def test_counts_children_that_came_and_went_before(self):
        process = self.start(
            """
subprocess.run([sys.executable, "-c", "import time\\nwhile time.process_time() < 0.4: pass"])
say("ready", cpu() + cpu(resource.RUSAGE_CHILDREN))
signal.pause()
"""
        )
        wait_for((self.out / "ready").exists)
        crema = self.watch(process.pid)
        self.wait_for_samples()
        process.kill()
        self.assertEqual(crema.wait(PATIENCE_SECONDS), 0)
        metrics = self.measured()["metrics"]
        self.assertGreaterEqual(self.said("ready"), 0.4)
        self.assertGreaterEqual(metrics["tree_cpu_user"] + metrics["tree_cpu_system"], self.said("ready") - 0.04)

    def test_an_orphan_that_was_seen_stays_in_the_tree(self):
        process = self.start(
            """
child = os.fork()
if child == 0:
    os.setsid()
    if os.fork(): signal.pause()
    say("orphan", os.getpid())
    wait_for(lambda: exists("seen"))
    os.kill(os.getppid(), signal.SIGKILL)
    burn(0.3)
    say("burnt", cpu())
    wait_for(lambda: sampled_rows(os.getpid()) >= 0.3)
    os._exit(0)
os.waitpid(child, 0)
wait_for(lambda: not os.path.exists("/proc/%d" % json.load(open(os.environ["OUT"] + "/orphan"))))
""".replace(
                "sampled_rows(os.getpid()) >= 0.3",
                "any(row['pid'] == os.getpid() and row['cpu_ns'] >= 3e8 for path in"
                " glob.glob(os.environ['OUT'] + '/run/records/*.tree.ndjson') for line in open(path)"
                " if line.endswith('\\n') for row in json.loads(line).get('process_rows', []))",
            )
        )
        wait_for((self.out / "orphan").exists)
        crema = self.watch(process.pid)
        self.wait_for_samples(processes=3)
        (self.out / "seen").write_text("")
        self.assertEqual(crema.wait(PATIENCE_SECONDS), 0)
        metrics = self.measured()["metrics"]
        self.assertGreaterEqual(metrics["tree_cpu_user"] + metrics["tree_cpu_system"], 0.3)
        self.assertEqual(self.measured()["quality"]["processes_left_running"], 0)

    def test_signals_end_the_watch_and_not_the_process(self):
        process = self.start("say('ready', 1); signal.pause()")
        wait_for((self.out / "ready").exists)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1):
            self.directory = self.out / f"run-{number}"
            crema = self.watch(process.pid)
            self.wait_for_samples()
            crema.send_signal(number)
            self.assertEqual(crema.wait(PATIENCE_SECONDS), 0, number)
            self.assertEqual(self.measured()["quality"]["processes_left_running"], 1)
            self.assertEqual(self.measured()["quality"]["tree_cpu_sampled"], 1)
            self.assertIn(process_state(process.pid), ("S", "R"))

    def test_of_the_shell_that_started_it_leaves_crema_out(self):
        # As prmon is used: `prmon --pid $$ &` at the beginning of a job's script.
        script = """
$CREMA run -q --interval 0.02 -o "$OUT/run" --pid $$ & crema=$!
until grep -qs tree_sample "$OUT"/run/records/*.tree.ndjson; do sleep 0.01; done
kill -USR1 $crema
wait $crema
"""
        done = subprocess.run(
            ["bash", "-c", script], env={**self.environment, "CREMA": CREMA}, timeout=PATIENCE_SECONDS
        )
        self.assertEqual(done.returncode, 0)
        pids = {row["pid"] for sample in self.lines("tree_sample") for row in sample["process_rows"]}
        (log,) = (self.directory / "records").glob("*.tree.ndjson")
        crema = int(log.name.split("-")[-2])
        self.assertNotIn(crema, pids)
        self.assertIn(self.lines("run")[0]["pid"], pids)

    def test_takes_the_cores_that_the_process_was_given(self):
        cpu = min(os.sched_getaffinity(0))
        self.environment["SLURM_JOB_ID"] = "1"
        self.environment["SLURM_CPUS_ON_NODE"] = "48"
        process = self.start(f"os.sched_setaffinity(0, {{{cpu}}}); say('ready', 1); signal.pause()")
        wait_for((self.out / "ready").exists)
        del self.environment["SLURM_JOB_ID"]
        crema = self.watch(process.pid)
        self.wait_for_samples()
        crema.terminate()
        crema.wait(PATIENCE_SECONDS)
        run = self.lines("run")[0]
        self.assertEqual((run["allocated_cores"], run["allocated_cores_source"]), (48, "slurm"))

    def test_of_no_process_is_125_and_leaves_nothing(self):
        ended = subprocess.Popen(["true"])
        ended.wait()
        result = subprocess.run(
            [CREMA, "run", "-q", "-o", str(self.directory), "--pid", str(ended.pid)], capture_output=True
        )
        self.assertEqual(result.returncode, 125)
        self.assertRegex(result.stderr.decode(), r"^crema: \d+: no such process .*\n$")
        self.assertFalse(self.directory.exists())

    def test_and_a_command_are_wrong_usage(self):
        for arguments in (["--pid", "1", "--", "true"], ["--pid", "0"], ["--pid", "1", "--trace"]):
            result = subprocess.run([CREMA, "run", *arguments], capture_output=True, cwd=self.out)
            self.assertEqual(result.returncode, 2, arguments)
            self.assertRegex(result.stderr.decode(), r"^crema: .*\n$")


class SwitchedOff(RunTestCase):
    def setUp(self):
        super().setUp()
        self.environment["CREMA_OFF"] = "1"

    def test_crema_becomes_the_command(self):
        result = self.run_command("sh", "-c", "echo $$ ${CREMA_DIR-unset}; exit 3", options=())
        self.assertEqual((result.returncode, result.stderr), (3, b""))
        self.assertTrue(result.stdout.endswith(b" unset\n"), result.stdout)
        self.assertFalse(self.directory.exists())

    def test_a_command_that_is_not_found_is_127(self):
        result = self.run_command("no-such-command-anywhere")
        self.assertEqual(result.returncode, 127)
        self.assertRegex(result.stderr.decode(), r"^crema: no-such-command-anywhere: not found; .*\n$")

    def test_a_watch_is_over_at_once(self):
        result = subprocess.run([CREMA, "run", "--pid", str(os.getpid())], env=self.environment, cwd=self.out)
        self.assertEqual(result.returncode, 0)
        self.assertEqual(list(pathlib.Path(self.out).iterdir()), [])


if __name__ == "__main__":
    unittest.main()

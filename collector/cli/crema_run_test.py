"""Runs real commands under the real `crema run` and compares what it says with what the commands know of themselves."""

import contextlib
import json
import os
import pathlib
import pty
import resource
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
import unittest

CREMA = str(pathlib.Path(__file__).absolute().parent / "crema")
# Nothing here waits for a time to pass; this only ends a test that would hang.
PATIENCE_SECONDS = 60

# Commands are Python programs; this begins each of them.
PRELUDE = """
import glob, json, os, resource, signal, subprocess, sys, time

def cpu(who=resource.RUSAGE_SELF):
    usage = resource.getrusage(who)
    return usage.ru_utime + usage.ru_stime

def burn(seconds):
    while cpu() < seconds:
        sum(range(1000))

def say(name, value):
    with open(os.path.join(os.environ["OUT"], name + ".tmp"), "w") as file:
        json.dump(value, file)
    os.rename(file.name, os.path.join(os.environ["OUT"], name))

def wait_for(condition):
    while not condition():
        time.sleep(0.01)

def exists(name):
    return os.path.exists(os.path.join(os.environ["OUT"], name))

def sampled(pid, cpu_seconds):
    for path in glob.glob(os.environ["CREMA_DIR"] + "/*.tree.ndjson"):
        for line in open(path):
            for row in json.loads(line).get("process_rows", []):
                if row["pid"] == pid and row["cpu_ns"] >= cpu_seconds * 1e9:
                    return True
    return False
"""


def wait_for(condition):
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError("the condition never came true")
        time.sleep(0.01)


def process_state(pid):
    """The state letter of proc(5), or None once the process is gone."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return None


class CremaRunTest(unittest.TestCase):
    def setUp(self):
        self.out = pathlib.Path(tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR")))
        self.addCleanup(shutil.rmtree, self.out, ignore_errors=True)
        self.directory = self.out / "run"
        self.environment = {
            name: value for name, value in os.environ.items() if not name.startswith(("CREMA_", "SLURM_", "_CONDOR_"))
        }
        self.environment["OUT"] = str(self.out)

    def arguments(self, *command, options=()):
        return [CREMA, "run", "-o", str(self.directory), *options, "--", *command]

    def run_command(self, *command, options=("-q",), **keywords):
        keywords.setdefault("env", self.environment)
        return subprocess.run(
            self.arguments(*command, options=options), capture_output=True, timeout=PATIENCE_SECONDS, **keywords
        )

    def run_python(self, program, options=("-q",), **keywords):
        return self.run_command(sys.executable, "-c", PRELUDE + program, options=options, **keywords)

    def start_python(self, program, options=("-q",), **keywords):
        process = subprocess.Popen(
            self.arguments(sys.executable, "-c", PRELUDE + program, options=options),
            env=self.environment,
            start_new_session=True,
            **keywords,
        )
        self.end_with_test(process)
        return process

    def end_with_test(self, leader):
        """The leader of a session and its group, of which crema may leave the command behind."""

        def end():
            with contextlib.suppress(ProcessLookupError):
                os.killpg(leader.pid, signal.SIGKILL)
            leader.wait()

        self.addCleanup(end)

    def said(self, name):
        return json.loads((self.out / name).read_text())

    def lines(self, kind=None):
        (log,) = (self.directory / "records").glob("*.tree.ndjson")
        lines = [json.loads(line) for line in log.read_text().splitlines()]
        return [line for line in lines if kind in (None, line["type"])]

    def end(self):
        (end,) = self.lines("run_end")
        return end

    def tree_cpu_seconds(self):
        end = self.end()
        return (end["tree_cpu_user_ns"] + end["tree_cpu_system_ns"]) / 1e9


class ExitStatus(CremaRunTest):
    def test_is_the_commands(self):
        for status in (0, 3, 255):
            self.assertEqual(self.run_command("sh", "-c", f"exit {status}").returncode, status)
            self.assertEqual(self.end()["exit_status"], status)

    def test_of_a_killed_command_is_128_and_the_signal(self):
        self.assertEqual(self.run_command("sh", "-c", "kill -KILL $$").returncode, 128 + signal.SIGKILL)

    def test_is_127_for_a_command_that_is_not_found_and_leaves_nothing(self):
        result = self.run_command("no-such-command-anywhere")
        self.assertEqual(result.returncode, 127)
        self.assertRegex(result.stderr.decode(), r"^crema: no-such-command-anywhere: not found; .*\n$")
        self.assertFalse(self.directory.exists())

    def test_is_126_for_a_command_that_cannot_be_executed(self):
        file = self.out / "data.txt"
        file.write_text("no program")
        result = self.run_command(str(file))
        self.assertEqual(result.returncode, 126)
        self.assertRegex(result.stderr.decode(), r"^crema: .*cannot be executed.*\n$")

    def test_is_125_where_the_directory_cannot_be_made(self):
        (self.out / "run").write_text("a file")
        result = self.run_command("true")
        self.assertEqual(result.returncode, 125)
        self.assertRegex(result.stderr.decode(), r"^crema: .*\n$")

    def test_is_2_for_wrong_usage(self):
        for arguments in (["run"], ["run", "--"], ["run", "--interval", "0", "--", "true"], ["run", "--bogus"]):
            result = subprocess.run([CREMA, *arguments], capture_output=True)
            self.assertEqual(result.returncode, 2, arguments)
            self.assertRegex(result.stderr.decode(), r"^crema: .*\n$")

    def test_stays_when_collecting_fails(self):
        # A directory where the document should be: it cannot be written.
        result = self.run_command("sh", "-c", "mkdir $CREMA_DIR/../measurement.json; exit 3")
        self.assertEqual(result.returncode, 3)
        self.assertIn(b"crema: no measurement was made", result.stderr)

    def test_stays_when_nobody_reads_the_summary(self):
        read_end, write_end = os.pipe()
        os.close(read_end)
        self.addCleanup(os.close, write_end)
        process = subprocess.run(
            self.arguments("sh", "-c", "exit 3"), stderr=write_end, env=self.environment, timeout=PATIENCE_SECONDS
        )
        self.assertEqual(process.returncode, 3)

    def test_stays_where_the_caller_ignores_children(self):
        process = subprocess.run(
            self.arguments("sh", "-c", "exit 3", options=["-q"]),
            env=self.environment,
            timeout=PATIENCE_SECONDS,
            preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN),
        )
        self.assertEqual(process.returncode, 3)


class Streams(CremaRunTest):
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


class Environment(CremaRunTest):
    def test_turns_recording_on(self):
        self.run_python(
            'say("environment", {name: value for name, value in os.environ.items() if name.startswith("CREMA_")})',
            options=("-q", "--pass", "first", "--trace"),
        )
        environment = self.said("environment")
        self.assertEqual(environment["CREMA_DIR"], str(self.directory / "records"))
        self.assertEqual(environment["CREMA_INTERVAL"], "0")
        self.assertEqual(environment["CREMA_PASS"], "first")
        self.assertEqual(environment["CREMA_TRACE"], "1")
        self.assertEqual(environment["CREMA_RUN_ID"], self.lines("run")[0]["run_id"])

    def test_leaves_alone_what_was_not_asked_for(self):
        self.environment["CREMA_PASS"] = "mine"
        self.run_python('say("pass", os.environ["CREMA_PASS"]); say("trace", "CREMA_TRACE" in os.environ)')
        self.assertEqual(self.said("pass"), "mine")
        self.assertFalse(self.said("trace"))

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


class OutputDirectory(CremaRunTest):
    def test_is_replaced_where_crema_wrote_it(self):
        self.run_command("sh", "-c", "exit 1")
        self.assertEqual(self.run_command("sh", "-c", "exit 2").returncode, 2)
        self.assertEqual(self.end()["exit_status"], 2)
        self.assertEqual(sorted(path.name for path in self.directory.iterdir()), ["measurement.json", "records"])

    def test_is_as_before_when_the_command_does_not_start(self):
        self.run_command("sh", "-c", "exit 1")
        self.assertEqual(self.run_command("no-such-command-anywhere").returncode, 127)
        self.assertEqual(self.end()["exit_status"], 1)
        self.assertTrue((self.directory / "measurement.json").exists())

    def test_with_files_of_others_is_refused_unless_forced(self):
        self.directory.mkdir()
        precious = self.directory / "thesis.tex"
        precious.write_text("precious")
        result = self.run_command("true")
        self.assertEqual(result.returncode, 125)
        self.assertIn(b"thesis.tex", result.stderr)
        self.assertEqual(self.run_command("true", options=("-q", "--force")).returncode, 0)
        self.assertEqual(precious.read_text(), "precious")

    def test_in_use_is_refused(self):
        self.start_python('say("ready", 1); time.sleep(600)')
        wait_for((self.out / "ready").exists)
        result = self.run_command("true")
        self.assertEqual(result.returncode, 125)
        self.assertIn(b"still writing", result.stderr)

    def test_has_a_name_of_its_own_by_default(self):
        for _ in range(2):
            subprocess.run([CREMA, "run", "-q", "--", "true"], cwd=self.out, env=self.environment, check=True)
        self.assertEqual(len(list(self.out.glob("crema-*/records/*.tree.ndjson"))), 2)


class CpuTime(CremaRunTest):
    """Truth is getrusage(2) in the commands; what they use after they asked it is the tolerance."""

    def assert_cpu(self, truth, tolerance=0.3):
        self.assertGreaterEqual(self.tree_cpu_seconds(), truth - 0.001)
        self.assertLess(self.tree_cpu_seconds(), truth + tolerance)

    def test_of_a_job_shorter_than_the_interval(self):
        self.run_python('burn(0.3); say("cpu", cpu())')
        self.assert_cpu(self.said("cpu"))
        self.assertEqual(self.end()["tree_cpu_sampled"], 0)

    def test_of_children_that_were_waited_for_counts_once(self):
        self.run_python(
            """
for _ in range(3):
    subprocess.run([sys.executable, "-c", "import time\\nwhile time.process_time() < 0.2: pass"])
say("cpu", cpu() + cpu(resource.RUSAGE_CHILDREN))
""",
            options=("-q", "--interval", "0.05"),
        )
        self.assertGreaterEqual(self.said("cpu"), 0.6)
        self.assert_cpu(self.said("cpu"))
        self.assertEqual(len(self.lines("reaped")), 1)

    def test_of_an_orphan_in_its_own_session_counts(self):
        self.run_python(
            """
if os.fork() == 0:
    os.setsid()
    middle = os.getpid()
    if os.fork() == 0:
        wait_for(lambda: os.getppid() != middle)
        burn(0.5)
        say("orphan", cpu())
        os._exit(0)
    os._exit(0)
os.wait()
wait_for(lambda: exists("orphan"))
say("cpu", cpu() + cpu(resource.RUSAGE_CHILDREN))
"""
        )
        self.assert_cpu(self.said("cpu") + self.said("orphan"))
        self.assertEqual(self.end()["processes_left_running"], 0)
        self.assertEqual(len(self.lines("reaped")), 2)

    def test_of_a_child_that_nobody_waits_for_is_its_last_sample(self):
        self.run_python(
            """
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
child = os.fork()
if child == 0:
    burn(0.5)
    wait_for(lambda: sampled(os.getpid(), 0.5))
    os._exit(0)
wait_for(lambda: not os.path.exists("/proc/%d" % child))
say("cpu", cpu())
""",
            options=("-q", "--interval", "0.05"),
        )
        self.assertGreaterEqual(self.tree_cpu_seconds(), self.said("cpu") + 0.5 - 0.001)
        self.assertEqual(self.end()["tree_cpu_sampled"], 1)

    def test_of_a_name_with_blanks_and_brackets(self):
        script = self.out / "a) R 1 (b c"
        script.write_text(
            '#!/bin/sh\nwhile ! grep -q \'"pid":\'$$\',"start_ns":[0-9]*,"rss_bytes":[1-9]\' '
            '$CREMA_DIR/*.tree.ndjson; do :; done\ntimes > "$OUT/times"\n'
        )
        script.chmod(0o755)
        self.assertEqual(self.run_command(str(script), options=("-q", "--interval", "0.02")).returncode, 0)
        minutes = (self.out / "times").read_text().split()
        truth = sum(60 * float(m) + float(s) for m, s in (text.rstrip("s").split("m") for text in minutes))
        self.assert_cpu(truth)

    def test_never_falls_between_samples(self):
        self.run_python(
            'for _ in range(20): subprocess.run([sys.executable, "-S", "-c", "sum(range(200000))"])',
            options=("-q", "--interval", "0.01"),
        )
        samples = self.lines("tree_sample")
        for key in ("cpu_user_ns", "cpu_system_ns", "rchar_bytes", "wchar_bytes"):
            values = [sample[key] for sample in samples]
            self.assertEqual(values, sorted(values), key)
        self.assertEqual(self.end()["tree_cpu_sampled"], 0)

    def test_of_threads_counts(self):
        self.run_python(
            """
import threading, zlib
def work():
    while time.thread_time() < 0.2: zlib.compress(b"x" * 100000)
threads = [threading.Thread(target=work) for _ in range(3)]
for thread in threads: thread.start()
for thread in threads: thread.join()
say("cpu", cpu())
"""
        )
        self.assertGreaterEqual(self.said("cpu"), 0.6)
        self.assert_cpu(self.said("cpu"))


class Memory(CremaRunTest):
    def test_a_spike_between_samples_is_seen(self):
        self.run_python("block = bytearray(200 << 20); del block", options=("-q", "--interval", "3600"))
        self.assertGreaterEqual(self.end()["process_peak_rss_bytes"], 200 << 20)
        self.assertLess(self.end()["process_peak_rss_bytes"], 260 << 20)
        self.assertGreaterEqual(self.end()["tree_peak_rss_bytes"], 200 << 20)

    def test_of_a_tree_is_a_sum_and_pss_shares_what_is_shared(self):
        self.run_python(
            """
block = bytearray(60 << 20)
child = os.fork()
wait_for(lambda: any(sample.get("pss_bytes") and sample["processes"] == 2 and sample["rss_bytes"] > 120 << 20
    for path in glob.glob(os.environ["CREMA_DIR"] + "/*.tree.ndjson") for sample in map(json.loads, open(path))))
if child: os.waitpid(child, 0)
else: os._exit(0)
""",
            options=("-q", "--interval", "0.02"),
        )
        end = self.end()
        self.assertGreaterEqual(end["tree_peak_rss_bytes"], 120 << 20)
        self.assertLess(end["tree_peak_pss_bytes"], 100 << 20)
        self.assertGreaterEqual(end["tree_peak_pss_bytes"], 60 << 20)
        self.assertGreaterEqual(end["max_processes"], 2)

    def test_of_crema_itself_is_small(self):
        self.run_command("true")
        self.assertLess(self.end()["sampler_peak_rss_bytes"], 10 << 20)


class InputOutput(CremaRunTest):
    def test_counts_children_that_were_waited_for(self):
        self.run_command(
            "sh", "-c", "head -c 3000000 /dev/zero > $OUT/file; cat $OUT/file > /dev/null; cat $OUT/file > /dev/null"
        )
        end = self.end()
        self.assertGreaterEqual(end["tree_wchar_bytes"], 9000000)
        self.assertLess(end["tree_wchar_bytes"], 9500000)
        self.assertGreaterEqual(end["tree_rchar_bytes"], 9000000)
        self.assertLess(end["tree_rchar_bytes"], 9900000)


class Signals(CremaRunTest):
    # Ends by SIGXCPU, the last of them by number: pending signals are dealt with in that order.
    COUNTING = """
counts = {}
def note(number, frame):
    counts[number] = counts.get(number, 0) + 1
    say("counts", counts)
def leave(number, frame): sys.exit(7)
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2):
    signal.signal(number, note)
signal.signal(signal.SIGXCPU, leave)
say("ready", os.getpid())
while True: signal.pause()
"""

    def test_are_passed_on(self):
        crema = self.start_python(self.COUNTING)
        wait_for((self.out / "ready").exists)
        numbers = (
            signal.SIGINT,
            signal.SIGTERM,
            signal.SIGHUP,
            signal.SIGQUIT,
            signal.SIGUSR1,
            signal.SIGUSR2,
        )
        for number in numbers:
            crema.send_signal(number)
        crema.send_signal(signal.SIGXCPU)
        self.assertEqual(crema.wait(PATIENCE_SECONDS), 7)
        self.assertEqual(self.said("counts"), {str(int(number)): 1 for number in numbers})

    def test_that_kill_the_command_give_its_status(self):
        crema = self.start_python('say("ready", 1); time.sleep(600)')
        wait_for((self.out / "ready").exists)
        crema.terminate()
        self.assertEqual(crema.wait(PATIENCE_SECONDS), 128 + signal.SIGTERM)
        self.assertEqual(self.end()["exit_status"], 128 + signal.SIGTERM)

    def test_stop_and_continue_the_command_and_crema(self):
        # As a shell does it: the job has a group of its own in the shell's session, else it could not be stopped.
        shell = subprocess.Popen(
            [
                sys.executable,
                "-c",
                "import os, subprocess, sys\n"
                "job = subprocess.Popen(sys.argv[1:], preexec_fn=os.setpgrp)\n"
                "open(os.environ['OUT'] + '/job', 'w').write(str(job.pid))\n"
                "sys.exit(job.wait())",
                *self.arguments(sys.executable, "-c", PRELUDE + self.COUNTING, options=["-q"]),
            ],
            env=self.environment,
            start_new_session=True,
        )
        self.end_with_test(shell)
        wait_for((self.out / "ready").exists)
        wait_for(lambda: (self.out / "job").exists() and (self.out / "job").read_text())
        command, crema = self.said("ready"), int((self.out / "job").read_text())
        os.kill(crema, signal.SIGTSTP)
        wait_for(lambda: process_state(command) == "T" and process_state(crema) == "T")
        os.kill(crema, signal.SIGCONT)
        wait_for(lambda: process_state(command) != "T" and process_state(crema) != "T")
        os.kill(crema, signal.SIGXCPU)
        self.assertEqual(shell.wait(PATIENCE_SECONDS), 7)

    def test_of_a_terminal_reach_the_command_once(self):
        pid, terminal = pty.fork()
        if pid == 0:
            arguments = self.arguments(sys.executable, "-c", PRELUDE + self.COUNTING, options=["-q"])
            os.execvpe(CREMA, arguments, self.environment)
        self.addCleanup(os.close, terminal)
        wait_for((self.out / "ready").exists)
        os.write(terminal, b"\x03")  # Ctrl-C
        wait_for((self.out / "counts").exists)
        # Would crema pass it on as well, then before this one.
        os.kill(pid, signal.SIGXCPU)
        _, status = os.waitpid(pid, 0)
        self.assertEqual(os.waitstatus_to_exitcode(status), 7)
        self.assertEqual(self.said("counts"), {str(int(signal.SIGINT)): 1})


class Lifetimes(CremaRunTest):
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
        self.run_python(
            """
reader, writer = os.pipe()
if os.fork() == 0:
    os.close(writer)
    os.read(reader, 1)
    burn(cpu() + 0.01)
    os._exit(0)
os._exit(0)
"""
        )
        self.assertEqual(self.end()["processes_left_running"], 0)

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


class Measurement(CremaRunTest):
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

    def test_of_nothing_is_an_error_in_one_line(self):
        shown = subprocess.run([CREMA, "show", str(self.out / "nothing")], capture_output=True)
        self.assertEqual(shown.returncode, 1)
        self.assertRegex(shown.stderr.decode(), r"^crema: .*\n$")


if __name__ == "__main__":
    unittest.main()

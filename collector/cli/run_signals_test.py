"""Signals to `crema run` reach its command, once."""

import os
import pty
import signal
import subprocess
import sys
import unittest

from run_test_case import CREMA, PATIENCE_SECONDS, PRELUDE, RunTestCase, process_state, wait_for


class Signals(RunTestCase):
    @classmethod
    def setUpClass(cls):
        # What ignores a signal hands that on, to crema too: nohup, and shells to their background jobs.
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
            if signal.getsignal(number) is signal.SIG_IGN:
                signal.signal(number, signal.SIG_DFL)

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


if __name__ == "__main__":
    unittest.main()

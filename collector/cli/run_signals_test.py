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
        # A process that ignores a signal passes this on to its children, so to crema, too: nohup does so, and shells
        # for background jobs.
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
            if signal.getsignal(number) is signal.SIG_IGN:
                signal.signal(number, signal.SIG_DFL)

    # Ends by SIGXCPU, once all handlers have run: one may interrupt another before its first statement.
    COUNTING = """
counts, leaving = {}, []
def note(number, frame):
    counts[number] = counts.get(number, 0) + 1
    open(os.environ["OUT"] + "/noted", "w").close()
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2):
    signal.signal(number, note)
signal.signal(signal.SIGXCPU, lambda number, frame: leaving.append(number))
say("ready", os.getpid())
wait_for(lambda: leaving)
say("counts", counts)
sys.exit(7)
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
        # As in a shell: the job has its own group in the shell's session; otherwise it could not be stopped.
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
        wait_for((self.out / "noted").exists)
        # If crema passed it on as well, it would come before this one.
        os.kill(pid, signal.SIGXCPU)
        _, status = os.waitpid(pid, 0)
        self.assertEqual(os.waitstatus_to_exitcode(status), 7)
        self.assertEqual(self.said("counts"), {str(int(signal.SIGINT)): 1})

    # The part of a shell with job control: it hands over the terminal, waits for stops, and resumes the group.
    SHELL = """
signal.signal(signal.SIGTTOU, signal.SIG_IGN)
job = os.fork()
if job == 0:
    os.setpgid(0, 0)
    os.tcsetpgrp(0, os.getpid())
    signal.signal(signal.SIGTTOU, signal.SIG_DFL)
    os.execv(sys.argv[1], sys.argv[1:])
stops = []
while True:
    _, status = os.waitpid(job, os.WUNTRACED)
    if not os.WIFSTOPPED(status): break
    stops.append(os.WSTOPSIG(status))
    os.tcsetpgrp(0, job)
    os.killpg(job, signal.SIGCONT)
say("stops", stops)
sys.exit(os.waitstatus_to_exitcode(status))
"""

    def in_a_shell(self, program, meanwhile=lambda terminal: None):
        """Runs `crema run` with this Python program as the job of a shell in a terminal. Returns the shell's exit
        status."""
        pid, terminal = pty.fork()
        if pid == 0:
            job = self.arguments(sys.executable, "-c", PRELUDE + program, options=["-q"])
            shell = [sys.executable, "-c", PRELUDE + self.SHELL, CREMA, *job[1:]]
            os.execve(sys.executable, shell, self.environment)
        self.addCleanup(os.close, terminal)  # closes the terminal: whatever is left gets SIGHUP
        meanwhile(terminal)
        ended = []

        def has_ended():
            ended[:] = os.waitpid(pid, os.WNOHANG)
            return ended[0] == pid

        wait_for(has_ended)
        return os.waitstatus_to_exitcode(ended[1])

    def test_a_command_that_stops_itself_stops_crema(self):
        for number in (signal.SIGSTOP, signal.SIGTSTP):
            status = self.in_a_shell(f"os.kill(os.getpid(), {int(number)}); sys.exit(7)")
            self.assertEqual(status, 7)
            self.assertEqual(self.said("stops"), [signal.SIGTSTP])

    def test_a_command_that_stops_its_group_is_resumed_once(self):
        status = self.in_a_shell(
            "counts = []\n"
            "signal.signal(signal.SIGCONT, lambda number, frame: counts.append(number))\n"
            "os.kill(0, signal.SIGTSTP)\n"
            "wait_for(lambda: counts)\n"
            "say('counts', counts); sys.exit(7)"
        )
        self.assertEqual(status, 7)
        self.assertEqual(len(self.said("stops")), 1)
        self.assertEqual(self.said("counts"), [signal.SIGCONT])

    def test_a_command_that_does_not_stop_is_waited_for(self):
        def press(terminal):
            wait_for((self.out / "ready").exists)
            os.write(terminal, b"\x1a")  # Ctrl-Z

        # crema gets the terminal's SIGTSTP before SIGUSR2, and handles it first.
        status = self.in_a_shell(
            self.SIGNALLED_BY_A_STRANGER + "signal.signal(signal.SIGTSTP, lambda number, frame: signal_crema())\n"
            "say('ready', 1)\n"
            "wait_for(lambda: signal.SIGUSR2 in counts)\n"
            "sys.exit(7)",
            press,
        )
        self.assertEqual(status, 7)
        self.assertEqual(self.said("stops"), [])

    def test_what_a_command_sends_to_its_group_it_gets_once(self):
        status = self.in_a_shell(
            self.SIGNALLED_BY_A_STRANGER + "os.kill(0, signal.SIGUSR1)\n"
            "signal_crema()\n"
            "wait_for(lambda: signal.SIGUSR2 in counts)\n"
            "say('counts', counts)"
        )
        self.assertEqual(status, 0)
        self.assertEqual(self.said("counts"), [signal.SIGUSR1, signal.SIGUSR2])

    # Signals are handled in the order of their numbers: those before SIGUSR2 were handled when it arrives.
    SIGNALLED_BY_A_STRANGER = """
counts = []
for number in (signal.SIGUSR1, signal.SIGUSR2):
    signal.signal(number, lambda number, frame: counts.append(number))
def signal_crema():
    subprocess.Popen([sys.executable, "-c", "import os; os.kill(%d, %d)" % (os.getppid(), signal.SIGUSR2)])
"""


if __name__ == "__main__":
    unittest.main()

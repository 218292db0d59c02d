"""Compares the CPU time of a process tree with what its processes measure themselves."""

import unittest

from run_test_case import RunTestCase


class CpuTime(RunTestCase):
    """The truth is getrusage(2) in the commands. The tolerance is what they use after this call."""

    def assert_cpu(self, truth, tolerance=0.3):
        self.assertGreaterEqual(self.tree_cpu_seconds(), truth - 0.001)
        self.assertLess(self.tree_cpu_seconds(), truth + tolerance)

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


if __name__ == "__main__":
    unittest.main()

"""The faults of prmon 3.3.0, the process monitor that the field uses: compares crema with the truth in each case.

docs/prmon.md has the table. The truth is what the commands measure themselves (getrusage(2), known loads), or the
kernel's account of everything that this test started.
"""

import json
import pathlib
import resource
import shutil
import signal
import statistics
import subprocess
import time
import unittest

from run_test_case import CREMA, PATIENCE_SECONDS, RunTestCase, process_state, wait_for

OWN_NETWORK = ["unshare", "--user", "--map-root-user", "--net"]


def waited_for_seconds():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def bytes_received():
    """Bytes that all interfaces of this network namespace except loopback received."""
    lines = pathlib.Path("/proc/net/dev").read_text().splitlines()[2:]
    return sum(int(line.split(":")[1].split()[0]) for line in lines if line.split(":")[0].strip() != "lo")


class Faults(RunTestCase):
    def test_a_job_of_less_than_a_second_is_measured(self):
        before = time.monotonic()
        self.run_python('block = bytearray(50 << 20); burn(0.3); say("cpu", cpu())')
        elapsed = time.monotonic() - before
        end = self.end()
        self.assertGreaterEqual(self.tree_cpu_seconds(), self.said("cpu"))
        self.assertGreaterEqual(end["process_peak_rss_bytes"], 50 << 20)
        wall = (end["time_ns"] - self.lines("run")[0]["start_ns"]) / 1e9
        self.assertGreaterEqual(wall, 0.3)
        self.assertLess(wall, elapsed)
        self.assertEqual((end["max_processes"], end["tree_cpu_sampled"]), (1, 0))

    def test_cpu_time_is_not_cut_to_whole_seconds(self):
        before = waited_for_seconds()
        self.run_python(
            """
subprocess.run([sys.executable, "-c", "import time\\nwhile time.process_time() < 0.4: pass"])
burn(0.4)
say("cpu", cpu() + cpu(resource.RUSAGE_CHILDREN))
"""
        )
        everything = waited_for_seconds() - before  # crema's own, too
        crema = self.end()["sampler_cpu_ns"] / 1e9
        self.assertGreaterEqual(self.tree_cpu_seconds(), self.said("cpu"))
        self.assertLessEqual(self.tree_cpu_seconds(), everything - crema + 0.001)

    def test_a_rate_is_not_a_hundred_times_what_was_written(self):
        self.run_python('open(os.environ["OUT"] + "/file", "wb", buffering=0).write(bytes(50_000_000)); burn(0.3)')
        metrics = json.loads((self.directory / "measurement.json").read_text())["metrics"]
        self.assertGreaterEqual(metrics["tree_wchar_bytes"], 50_000_000)
        self.assertLess(metrics["tree_wchar_bytes"], 50_100_000)
        subprocess.run([CREMA, "export", str(self.directory), "--to", "prmon", "-o", str(self.out / "p")], check=True)
        rate = json.loads((self.out / "p/prmon.json").read_text())["Avg"]["wchar"]
        self.assertAlmostEqual(rate * metrics["wall_time"], metrics["tree_wchar_bytes"], delta=1 + metrics["wall_time"])

    def test_a_spike_between_samples_is_seen(self):
        self.run_python("block = bytearray(200 << 20); del block", options=("-q", "--interval", "3600"))
        self.assertGreaterEqual(self.end()["process_peak_rss_bytes"], 200 << 20)
        self.assertLess(self.end()["process_peak_rss_bytes"], 260 << 20)
        self.assertGreaterEqual(self.end()["tree_peak_rss_bytes"], 200 << 20)

    def test_a_name_with_blanks_and_brackets_is_measured(self):
        script = self.out / "a) R 1 (b c"
        script.write_text(
            '#!/bin/sh\nwhile ! grep -q \'"pid":\'$$\',"start_ns":[0-9]*,"rss_bytes":[1-9]\' '
            '$CREMA_DIR/*.tree.ndjson; do :; done\ntimes > "$OUT/times"\n'
        )
        script.chmod(0o755)
        self.assertEqual(self.run_command(str(script), options=("-q", "--interval", "0.02")).returncode, 0)
        minutes = (self.out / "times").read_text().split()
        truth = sum(60 * float(m) + float(s) for m, s in (text.rstrip("s").split("m") for text in minutes))
        self.assertGreaterEqual(self.tree_cpu_seconds(), truth)
        self.assertLess(self.tree_cpu_seconds(), truth + 0.3)
        self.assertGreaterEqual(self.end()["max_threads"], 1)

    def test_an_orphan_in_its_own_session_counts(self):
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
        truth = self.said("cpu") + self.said("orphan")
        self.assertGreaterEqual(self.said("orphan"), 0.5)
        self.assertGreaterEqual(self.tree_cpu_seconds(), truth - 0.001)
        self.assertLess(self.tree_cpu_seconds(), truth + 0.3)
        self.assertEqual(self.end()["processes_left_running"], 0)
        self.assertEqual(len(self.lines("reaped")), 2)

    def test_a_command_killed_by_sigkill_ends_as_137_with_its_cpu_time(self):
        result = self.run_python('burn(0.3); say("cpu", cpu()); os.kill(os.getpid(), signal.SIGKILL)')
        self.assertEqual(result.returncode, 128 + signal.SIGKILL)
        self.assertEqual(self.end()["exit_status"], 128 + signal.SIGKILL)
        self.assertGreaterEqual(self.tree_cpu_seconds(), self.said("cpu"))

    def test_sigterm_to_crema_ends_the_command_and_leaves_a_measurement(self):
        crema = self.start_python('burn(0.2); say("cpu", cpu()); say("ready", os.getpid()); time.sleep(600)')
        wait_for((self.out / "ready").exists)
        crema.terminate()
        self.assertEqual(crema.wait(PATIENCE_SECONDS), 128 + signal.SIGTERM)
        self.assertIsNone(process_state(self.said("ready")))
        document = json.loads((self.directory / "measurement.json").read_text())
        self.assertEqual(document["run"]["exit_status"], 128 + signal.SIGTERM)
        metrics = document["metrics"]
        self.assertGreaterEqual(metrics["tree_cpu_user"] + metrics["tree_cpu_system"], self.said("cpu"))

    def test_samples_are_one_interval_apart(self):
        self.run_python(
            """
wait_for(lambda: sum('"tree_sample"' in line for path in glob.glob(os.environ["CREMA_DIR"] + "/*.tree.ndjson")
    for line in open(path)) >= 11)
""",
            options=("-q", "--interval", "0.5"),
        )
        # The first ones come sooner, so that a short command has some.
        times = [sample["time_ns"] / 1e9 for sample in self.lines("tree_sample")][7:11]
        gaps = [after - before for before, after in zip(times, times[1:])]
        # A busy machine delays a sample, but not the times of the next ones.
        self.assertGreater(statistics.median(gaps), 0.25, gaps)
        self.assertLess(statistics.median(gaps), 0.75, gaps)

    def test_traffic_inside_the_host_is_no_network(self):
        program = """
import socket
listener = socket.create_server(("127.0.0.1", 0))
if os.fork() == 0:
    socket.create_connection(listener.getsockname()).sendall(bytes(20_000_000))
    os._exit(0)
connection, _ = listener.accept()
received = b"".join(iter(lambda: connection.recv(1 << 20), b""))
os.wait()
say("received", len(received))
"""
        before = bytes_received()
        self.run_python(program)
        self.assertEqual(self.said("received"), 20_000_000)
        # Others may use the host's interfaces meanwhile, as the measurement says.
        self.assertLessEqual(self.end()["net_rx_bytes"], bytes_received() - before)
        self.assertGreaterEqual(self.end()["net_rx_bytes"], 0)

    def test_an_idle_network_of_its_own_is_zero(self):
        if shutil.which("unshare") is None or subprocess.run([*OWN_NETWORK, "true"], capture_output=True).returncode:
            self.skipTest("this machine lets no user make a network namespace")
        command = [*OWN_NETWORK, CREMA, "run", "-q", "-o", str(self.directory), "--", "sleep", "0.01"]
        subprocess.run(command, env=self.environment, check=True, timeout=PATIENCE_SECONDS)
        self.assertEqual((self.end()["net_rx_bytes"], self.end()["net_tx_bytes"]), (0, 0))


if __name__ == "__main__":
    unittest.main()

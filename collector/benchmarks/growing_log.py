"""What `crema serve` costs while a log grows fast: CPU time and largest memory of the server, each five seconds.

    bazel build -c opt //collector/cli:crema //collector/benchmarks:make_logs
    bazel-bin/collector/benchmarks/make_logs /dev/shm/made --shape full --records 2600000
    python3 collector/benchmarks/growing_log.py /dev/shm/made 100 18

Copies the log in that directory into one that is watched, 100 MB a second for 18 seconds, and at the end compares the
chunks that the server counted with those in the copy.
"""

import fcntl
import json
import pathlib
import subprocess
import sys
import tempfile
import time
import urllib.request

CREMA = pathlib.Path(__file__).resolve().parents[2] / "bazel-bin/collector/cli/crema"
STEP_SECONDS = 5


def cpu_seconds(pid) -> float:
    """CPU time of all threads, to the nanosecond: `stat` would count ticks, which short bursts fall between."""
    accounts = pathlib.Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(account.read_text().split()[0]) for account in accounts) / 1e9


def largest_memory_mib(pid) -> float:
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return next(int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("VmHWM"))


def attempts_counted(address):
    with urllib.request.urlopen(address.replace("?", "api/v1?")) as answer:
        return json.load(answer)["metrics"].get("num_attempts")


def grow(source, log, bytes_per_second, seconds, pid) -> None:
    begin = step_begin = time.monotonic()
    written = step_written = 0
    step_cpu = cpu_seconds(pid)
    while (now := time.monotonic()) - begin < seconds:
        written += log.write(source.read(max(0, int(bytes_per_second * (now - begin)) - written)))
        if now - step_begin >= STEP_SECONDS:
            cpu, passed = cpu_seconds(pid), now - step_begin
            print(f"{(written - step_written) / 1e6 / passed:4.0f} MB/s  {(cpu - step_cpu) / passed:.2f} cores  "
                  f"at most {largest_memory_mib(pid):.0f} MiB", flush=True)  # fmt: skip
            step_begin, step_written, step_cpu = now, written, cpu
        time.sleep(0.005)


def main() -> None:
    made, rate, seconds = pathlib.Path(sys.argv[1]), float(sys.argv[2]) * 1e6, float(sys.argv[3])
    original = next(made.glob("*.jsonl"))
    with tempfile.TemporaryDirectory(dir=made.parent) as folder:
        copy = pathlib.Path(folder, original.name)
        with open(copy, "wb", buffering=0) as log, open(original, "rb") as source:
            fcntl.flock(log, fcntl.LOCK_EX)  # a process that lives holds its log
            with subprocess.Popen([CREMA, "serve", folder], stdout=subprocess.PIPE, text=True) as server:
                address = server.stdout.readline().strip()
                grow(source, log, rate, seconds, server.pid)
                time.sleep(3)
                with open(copy, "rb") as lines:
                    ended = sum(line.startswith(b'{"type":"chunk"') and line.endswith(b"\n") for line in lines)
                print(f"chunks: {attempts_counted(address)} counted, {ended} in the log")
                server.terminate()


if __name__ == "__main__":
    main()

"""Measures what crema costs a Dask scheduler of many workers, and compares with the same scheduler in peace, in the
same run.

    PYTHONPATH=python PYTHON_WITH_DASK python/benchmarks/scheduler_cost.py [WORKERS [SECONDS]]

A real `dask scheduler` with the plug-in; the workers are simulated: entries in the scheduler's table, a sixth of which
is heard of each second (1,000 workers have a heartbeat of 6 s), and calls that hand over what their logs grow by at 10
chunks a second each. Rounds take turns: nothing is sent; each log has a call of its own; one call has all logs of a
worker. CPU time is that of the scheduler's process; `plug-in` what the plug-in counts of the scheduler's loop itself.
"""

import asyncio
import logging
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import psutil
from crema_hep import dask_plugin
from crema_hep.dask_backend import attach
from distributed import Client
from distributed.core import rpc

LIMIT = 0.01  # of the scheduler's loop
ROUNDS = 3
CHUNKS_PER_SECOND = 10
CONNECTIONS = 32
# A chunk's two lines with ten sections, and its task's line.
BYTES_OF_CHUNK, BYTES_OF_TASK = 1900, 360


def add_workers(dask_scheduler, count):
    from distributed.core import Status
    from distributed.scheduler import WorkerState
    from tornado.ioloop import PeriodicCallback

    metrics = {"cpu": 50.0, "memory": 1 << 30, "managed_bytes": 0, "spilled_bytes": {"memory": 0, "disk": 0}}
    for number in range(count):
        ws = WorkerState(
            address=f"tcp://127.0.0.1:{number + 1}",
            status=Status.running,
            pid=number,
            name=number,
            nthreads=1,
            memory_limit=1 << 32,
            local_directory="",
            nanny="",
            server_id=str(number),
            scheduler=dask_scheduler,
        )
        ws.metrics = dict(metrics)
        dask_scheduler.workers[ws.address] = ws
    turn = [0]

    def hear_of_some():
        turn[0] += 1
        now = time.time()
        for number, ws in enumerate(list(dask_scheduler.workers.values())):
            if number % 6 == turn[0] % 6 or ws.last_seen == 0:
                ws.last_seen = now

    hear_of_some()
    dask_scheduler.crema_benchmark = PeriodicCallback(hear_of_some, 1000)
    dask_scheduler.crema_benchmark.start()


def busy_seconds(dask_scheduler):
    return dask_scheduler.plugins["crema"]._busy_ns / 1e9


class Senders:
    """Does what the workers' plug-ins do, without workers."""

    def __init__(self, address, workers, period):
        self.connections = [rpc(address) for _ in range(CONNECTIONS)]
        self.workers, self.period = workers, period
        self.sizes = [BYTES_OF_CHUNK * CHUNKS_PER_SECOND * period, BYTES_OF_TASK * CHUNKS_PER_SECOND * period]
        self.sent = {}
        self.calls = 0

    async def drain(self, number, together):
        parts = []
        for recorder, size in enumerate(self.sizes):
            name = f"host-{number}-1-{recorder}.jsonl"
            offset = self.sent.get(name, 0)
            blob = b"x" * (int(size) - 1) + b"\n"
            parts.append({"source": name, "offset": offset, "blob": blob, "adopted": False})
            self.sent[name] = offset + len(blob)
        connection = self.connections[number % CONNECTIONS]
        for of_call in [parts] if together else [[part] for part in parts]:
            reply = await connection.crema_push(worker=f"tcp://127.0.0.1:{number + 1}", parts=of_call)
            assert list(reply["have"]) == [part["offset"] + len(part["blob"]) for part in of_call], reply
            self.calls += 1

    async def send_for(self, seconds, together):
        """Each worker once a period, evenly spread."""
        begin, running, number = time.monotonic(), set(), 0
        while time.monotonic() < begin + seconds:
            due = begin + number * self.period / self.workers
            await asyncio.sleep(max(0, due - time.monotonic()))
            task = asyncio.ensure_future(self.drain(number % self.workers, together))
            running.add(task)
            task.add_done_callback(running.discard)
            number += 1
        await asyncio.gather(*running)


def measure(workers, seconds):
    period = max(dask_plugin.DRAIN_SECONDS, dask_plugin.SECONDS_PER_WORKER * workers)
    modes = {"nothing is sent": None, "a call for each log": False, "one call": True}
    figures = {mode: [] for mode in modes}
    with tempfile.TemporaryDirectory() as directory:
        file = pathlib.Path(directory, "scheduler.json")
        command = [sys.executable, "-m", "dask", "scheduler", "--host", "127.0.0.1", "--port", "0"]
        command += ["--dashboard-address", "127.0.0.1:0", "--scheduler-file", str(file)]
        scheduler = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            while not file.exists() or not file.read_text().strip():
                time.sleep(0.1)
            with Client(scheduler_file=str(file)) as client:
                attach(client)
                client.run_on_scheduler(add_workers, count=workers)
                process = psutil.Process(scheduler.pid)
                senders = client.sync(make_senders, client.scheduler.address, workers, period)
                for _ in range(ROUNDS):
                    for mode, together in modes.items():
                        calls, begin = senders.calls, time.time()
                        cpu, busy = sum(process.cpu_times()[:2]), client.run_on_scheduler(busy_seconds)
                        if together is None:
                            time.sleep(seconds)
                        else:
                            client.sync(senders.send_for, seconds, together)
                        wall = time.time() - begin
                        cpu = sum(process.cpu_times()[:2]) - cpu
                        busy = client.run_on_scheduler(busy_seconds) - busy
                        figures[mode].append((cpu / wall, busy / wall, (senders.calls - calls) / wall))
        finally:
            scheduler.kill()
            scheduler.wait()
    return period, figures


async def make_senders(*arguments):
    return Senders(*arguments)


def main():
    logging.getLogger("distributed").setLevel(logging.ERROR)  # of connections that are left open
    workers = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 20
    period, figures = measure(workers, seconds)
    rate = f"{CHUNKS_PER_SECOND} chunks a second each"
    print(f"{workers} workers, a drain every {period:g} s, {rate}; medians of {ROUNDS} rounds")
    idle = statistics.median(cpu for cpu, _, _ in figures["nothing is sent"])
    for mode, rounds in figures.items():
        cpu, busy, calls = (statistics.median(column) for column in zip(*rounds))
        print(
            f"{mode:20} {calls:6.1f} calls/s  scheduler's CPU {cpu:6.2%}, above peace {cpu - idle:6.2%}  "
            f"plug-in {busy:6.2%} ({busy / LIMIT:.2f} of the limit)"
        )


if __name__ == "__main__":
    main()

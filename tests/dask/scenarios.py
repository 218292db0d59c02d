"""What the tests have a real cluster do; runs in a Python that has distributed.

    python scenarios.py NAME DIRECTORY

leaves DIRECTORY/run.ndjson (what the scheduler has), DIRECTORY/logs (what the workers wrote) and DIRECTORY/truth.json:
what Dask itself, and the tasks' own results, say of the same run.
"""

import contextlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.environ["CREMA_TEST_PYTHON"])

import recording_tasks  # noqa: E402
from crema_hep import dask_plugin  # noqa: E402
from crema_hep.dask_backend import attach, dataset_span, get_span_metrics  # noqa: E402
from distributed import Client, LocalCluster, span, wait  # noqa: E402
from recording_tasks import plain, record_chunk  # noqa: E402

PLUGIN_FILE = dask_plugin.__file__


@contextlib.contextmanager
def local_cluster(workers=2, threads=2, **options):
    with (
        LocalCluster(
            n_workers=workers, threads_per_worker=threads, processes=True, dashboard_address="127.0.0.1:0", **options
        ) as cluster,
        Client(cluster) as client,
    ):
        yield cluster, client


def _account(dask_scheduler):
    """Runs on the scheduler: Dask's own figures."""
    prefixes = {
        name: {"compute": dict(prefix.all_durations).get("compute", 0.0)}
        for name, prefix in dask_scheduler.task_prefixes.items()
    }
    fine = {}
    for key, value in dask_scheduler.cumulative_worker_metrics.items():
        if isinstance(key, tuple):
            fine["|".join(str(part) for part in key)] = value
    return {"prefixes": prefixes, "fine": fine, "threads": list(dask_scheduler.total_nthreads_history)}


def wait_for_heartbeats(client):
    """Dask's fine metrics come with heartbeats: until each worker was seen twice since now."""

    def oldest(dask_scheduler):
        return min((ws.last_seen for ws in dask_scheduler.workers.values()), default=float("inf"))

    begin = time.time()
    while client.run_on_scheduler(oldest) < begin + 1.5:
        time.sleep(0.2)


class Run:
    """One scenario: the directory it leaves, and what is true."""

    def __init__(self, directory):
        self.directory = pathlib.Path(directory)
        self.logs = self.directory / "logs"
        self.truth = {}

    def attach(self, client, **options):
        options.setdefault("directory", str(self.logs))
        return attach(client, **options)

    def end(self, client, attachment, **truth):
        attachment.stop()
        wait_for_heartbeats(client)
        self.truth.update(client.run_on_scheduler(_account), **truth)
        self.truth["silent"] = attachment.silent
        self.truth["refused"] = attachment.refused
        self.truth["window"] = [attachment.start_ns, attachment.stop_ns]
        attachment.save(self.directory / "run.ndjson")


def sizes_of_tasks(count):
    """1 to 100 ms, most of them short, always the same ones."""
    return [0.001 + 0.099 * ((number * 7919 % 1000) / 1000) ** 8 for number in range(count)]


def healthy(run):
    """2,000 tasks of 1 to 100 ms on two workers of two threads, and tasks without chunks."""
    with local_cluster() as (_, client):
        attachment = run.attach(client)
        attachment.start()
        with span("healthy") as span_id:
            seconds = sizes_of_tasks(2000)
            chunks = client.map(record_chunk, range(len(seconds)), seconds, key="record_chunk")
            others = client.map(plain, range(100), key="plain")
            wait(chunks + others)
        metrics = get_span_metrics(client, {"id": span_id})
        run.end(client, attachment, chunks=len(chunks), others=len(others))
        run.truth["span_metrics"] = {"|".join(str(part) for part in key): value for key, value in metrics.items()}


def workers_come_and_go(run):
    """Scale up, retire, scale down; every loss of a worker right after its tasks."""
    with local_cluster(workers=2) as (cluster, client):
        attachment = run.attach(client)
        attachment.start()
        wait(client.map(record_chunk, range(100), key="first"))
        cluster.scale(4)
        client.wait_for_workers(4)
        wait(client.map(record_chunk, range(100, 300), key="second"))
        leaving = list(client.scheduler_info(n_workers=-1)["workers"])[:2]
        futures = client.map(record_chunk, range(300, 400), key="third")
        wait(futures)
        del futures
        time.sleep(0.2)
        run.truth["retired"] = len(client.retire_workers(leaving))
        wait(client.map(record_chunk, range(400, 500), key="fourth"))
        cluster.scale(1)
        while len(client.scheduler_info(n_workers=-1)["workers"]) > 1:
            time.sleep(0.1)
        time.sleep(1)
        run.end(client, attachment, chunks=500)


def restarted(run):
    """`client.restart()` right after the last task."""
    with local_cluster() as (_, client):
        attachment = run.attach(client)
        attachment.start()
        wait(client.map(record_chunk, range(200), key="before"))
        client.restart()
        wait(client.map(record_chunk, range(200, 300), key="after"))
        run.end(client, attachment, chunks=300)


def adaptive(run):
    """Workers that come with work and go without."""
    with local_cluster(workers=0) as (cluster, client):
        attachment = run.attach(client)
        cluster.adapt(minimum=0, maximum=3, interval="200ms", wait_count=2)
        attachment.start()
        wait(client.map(record_chunk, range(300), seconds=0.02, key="record_chunk"))
        deadline = time.time() + 30
        while client.scheduler_info(n_workers=-1)["workers"] and time.time() < deadline:
            time.sleep(0.2)
        time.sleep(1)
        run.end(client, attachment, chunks=300)


def killed(run):
    """SIGKILL of a worker under its nanny while tasks run: results are computed again, and the log is adopted."""
    with local_cluster() as (_, client):
        attachment = run.attach(client)
        attachment.start()
        futures = client.map(record_chunk, range(400), seconds=0.01, key="record_chunk")
        while sum(future.done() for future in futures) < 100:
            time.sleep(0.02)
        victim = next(iter(client.run(os.getpid).values()))
        os.kill(victim, signal.SIGKILL)
        wait(futures)
        client.wait_for_workers(2)
        time.sleep(3)
        run.end(client, attachment, chunks=400, victim=victim)


def failing(run):
    """Chunks that fail always, and tasks that are tried again."""
    with local_cluster() as (_, client):
        attachment = run.attach(client)
        attachment.start()
        good = client.map(record_chunk, range(50), key="good")
        bad = client.map(lambda number: record_chunk(number, fail=True), range(100, 105), key="bad", retries=2)
        wait(good + bad)
        run.end(client, attachment, chunks=50, failing=5, attempts_of_each=3)


def unwritable(run):
    """A log directory that cannot be written: the job runs on, without records."""
    with local_cluster() as (_, client):
        attachment = run.attach(client, directory="/proc/crema")
        attachment.start()
        futures = client.map(plain, range(20), key="plain")
        run.truth["results"] = client.gather(futures) == list(range(20))
        run.end(client, attachment)


def full_ring(run):
    """A scheduler that keeps little: what it dropped is reported as lost."""
    with local_cluster() as (_, client):
        attachment = run.attach(client, keep_bytes=100_000)
        attachment.start()
        wait(client.map(record_chunk, range(400), key="record_chunk"))
        run.end(client, attachment, chunks=400)


def two_collectors(run):
    """One measurement after another on the same cluster, attached twice."""
    with local_cluster() as (_, client):
        first = run.attach(client)
        first.start()
        wait(client.map(record_chunk, range(120), key="first"))
        first.stop()
        with Client(client.scheduler.address) as other:
            second = run.attach(other)
            second.start()
            wait(other.map(record_chunk, range(1000, 1080), key="second"))
            run.end(other, second, chunks=80, all_chunks=200)


def spans_of_datasets(run):
    """Two datasets through one function: each under its own span."""
    with local_cluster() as (_, client):
        attachment = run.attach(client)
        attachment.start()
        futures = []
        for dataset, first in (("ttbar", 0), ("wjets", 1000)):
            with dataset_span(dataset) as options:
                numbers = range(first, first + 20)
                futures += client.map(recording_tasks.record_chunk, numbers, dataset=dataset, **options)
        wait(futures)
        run.end(client, attachment, chunks=40)


@contextlib.contextmanager
def _processes(run, *workers, preload=True):
    """A `dask scheduler` and `dask worker`s; with the plug-in as a preload file, or without anything of crema."""
    environment = {name: value for name, value in os.environ.items() if preload or "CREMA" not in name}
    environment["PYTHONPATH"] = str(pathlib.Path(__file__).parent) if preload else ""
    if preload:
        environment["CREMA_DIR"] = str(run.logs)
    address_file = run.directory / "scheduler.json"
    dask = [sys.executable, "-m", "dask"]
    started = []

    def start(*arguments):
        command = [*dask, *arguments, "--scheduler-file", str(address_file)]
        if preload:
            command += ["--preload", PLUGIN_FILE]
        output = open(run.directory / f"process{len(started)}.log", "wb")  # noqa: SIM115  (open as long as the process)
        started.append(subprocess.Popen(command, env=environment, stdout=output, stderr=subprocess.STDOUT))
        return started[-1]

    try:
        start("scheduler", "--host", "127.0.0.1", "--port", "0", "--dashboard-address", "127.0.0.1:0")
        while not address_file.exists() or not address_file.read_text().strip():
            time.sleep(0.1)
        for arguments in workers:
            start("worker", "--host", "127.0.0.1", "--nthreads", "2", *arguments)
        with Client(scheduler_file=str(address_file)) as client:
            client.wait_for_workers(len(workers))
            yield client, started
    finally:
        for process in reversed(started):
            if process.poll() is None:
                process.terminate()
        for process in started:
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def preloaded(run):
    """Processes of their own; SIGTERM to a worker under a nanny and to one without, right after the last task."""
    with _processes(run, ["--nanny"], ["--no-nanny"], ["--nanny"]) as (client, started):
        attachment = run.attach(client)
        attachment.start()
        futures = client.map(record_chunk, range(300), key="record_chunk")
        wait(futures)
        for process in started[1:3]:
            process.send_signal(signal.SIGTERM)
        for process in started[1:3]:
            process.wait(20)
        wait(futures)  # results that went with their workers are computed again
        time.sleep(1)
        run.end(client, attachment, chunks=300)


def killed_without_nanny(run):
    """SIGKILL of a worker that nobody starts again: another one on its host adopts the log."""
    with _processes(run, ["--no-nanny"], ["--no-nanny"]) as (client, started):
        attachment = run.attach(client)
        attachment.start()
        futures = client.map(record_chunk, range(300), seconds=0.01, key="record_chunk")
        while sum(future.done() for future in futures) < 100:
            time.sleep(0.02)
        started[1].kill()
        wait(futures)
        time.sleep(3)
        run.end(client, attachment, chunks=300, victim=started[1].pid)


def without_package(run):
    """Scheduler and workers that have neither crema_hep nor the SDK's library."""
    with _processes(run, ["--nanny"], ["--no-nanny"], preload=False) as (client, _):
        attachment = run.attach(client)
        attachment.start()

        def task(number):
            import importlib.util

            return number, importlib.util.find_spec("crema_hep") is None

        futures = client.map(task, range(20), key="task")
        run.truth["alone"] = all(missing for _, missing in client.gather(futures))
        run.end(client, attachment)


def refused(run):
    """A scheduler that takes no plug-in of its own: the workers' records stay in files."""

    def refuse(dask_scheduler):
        del dask_scheduler.handlers["register_scheduler_plugin"]

    with local_cluster() as (cluster, client):
        client.run_on_scheduler(refuse)
        attachment = run.attach(client)
        attachment.start()
        wait(client.map(record_chunk, range(20), key="record_chunk"))
        attachment.stop()
        run.truth.update(refused=attachment.refused, chunks=20, bare=cluster.dashboard_link.split("/")[2])
        command = [os.environ["CREMA_TEST_PROGRAM"], "collect", f"dask://{run.truth['bare']}"]
        result = subprocess.run(
            [*command, "-o", str(run.directory / "bare"), "-q"], capture_output=True, text=True, check=False
        )
        run.truth["bare_status"], run.truth["bare_stderr"] = result.returncode, result.stderr


def main() -> None:
    name, directory = sys.argv[1:]
    run = Run(directory)
    globals()[name](run)
    (run.directory / "truth.json").write_text(json.dumps(run.truth))


if __name__ == "__main__":
    main()

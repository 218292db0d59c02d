"""What the tests make a real cluster do. Runs in a Python that has distributed.

    python scenarios.py NAME DIRECTORY SECONDS

leaves DIRECTORY/run.ndjson (what the scheduler has), DIRECTORY/logs (what the workers wrote) and DIRECTORY/truth.json:
what Dask itself, and the results of the tasks, say about the same run. After SECONDS it prints the stacks of its
threads on stderr, and ends.
"""

import atexit
import concurrent.futures
import contextlib
import faulthandler
import functools
import json
import multiprocessing
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

sys.path.insert(0, os.environ["CREMA_TEST_PYTHON"])

import recording_tasks  # noqa: E402
from crema_hep import MetricsCollector, collect_on, dask_plugin  # noqa: E402
from crema_hep.dask_backend import attach, dataset_span, get_span_metrics  # noqa: E402
from crema_hep.program import ProgramError  # noqa: E402
from distributed import Client, LocalCluster, WorkerPlugin, span, wait, worker_client  # noqa: E402
from recording_tasks import plain, record_chunk  # noqa: E402

PLUGIN_FILE = dask_plugin.__file__


@contextlib.contextmanager
def local_cluster(workers=2, threads=2, **options):
    cluster = LocalCluster(
        n_workers=workers, threads_per_worker=threads, processes=True, dashboard_address="127.0.0.1:0", **options
    )
    try:
        with Client(cluster) as client:
            yield cluster, client
    finally:
        with contextlib.suppress(TimeoutError):  # nannies may not wait long enough on a busy machine
            cluster.close()


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
    """Waits until each worker was seen twice from now on, because Dask's fine metrics come with heartbeats."""

    def oldest(dask_scheduler):
        return min((ws.last_seen for ws in dask_scheduler.workers.values()), default=float("inf"))

    begin = time.time()
    while client.run_on_scheduler(oldest) < begin + 1.5:
        time.sleep(0.2)


class Run:
    """One scenario: the directory that it writes, and the truth."""

    def __init__(self, directory):
        self.directory = pathlib.Path(directory)
        self.logs = self.directory / "logs"
        self.truth = {}

    def attach(self, client, **options):
        options.setdefault("directory", str(self.logs))
        return attach(client, **options)

    def end(self, client, attachment, **truth):
        attachment.stop(timeout=120)
        wait_for_heartbeats(client)
        self.truth.update(client.run_on_scheduler(_account), **truth)
        self.truth["silent"] = attachment.silent
        self.truth["refused"] = attachment.refused
        self.truth["window"] = [attachment.start_ns, attachment.stop_ns]
        attachment.save(self.directory / "run.ndjson")


def sizes_of_tasks(count):
    """1 to 100 ms, most of them short, always the same ones."""
    return [0.001 + 0.099 * ((number * 7919 % 1000) / 1000) ** 8 for number in range(count)]


async def _heartbeat(dask_worker):
    """Sends the scheduler all that the worker has measured: get_span_metrics only waits for 0.999 of it."""
    await dask_worker.heartbeat()


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
        client.run(_heartbeat)
        metrics = get_span_metrics(client, {"id": span_id})
        run.end(client, attachment, chunks=len(chunks), others=len(others))
        run.truth["span_metrics"] = {"|".join(str(part) for part in key): value for key, value in metrics.items()}


def _on_four_threads(run, work, seconds):
    """One worker; its four threads do this in chunks."""
    with local_cluster(workers=1, threads=4) as (_, client):
        attachment = run.attach(client)
        attachment.start()
        wait(client.map(functools.partial(recording_tasks.chunk_of, work=work, seconds=seconds), range(40)))
        run.end(client, attachment, chunks=40)


def python_threads(run):
    """Pure Python: one thread at a time."""
    _on_four_threads(run, recording_tasks.burn, 0.2)


def native_threads(run):
    """Calls that release Python's lock while they wait."""
    _on_four_threads(run, time.sleep, 0.5)


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


def _record_and_mark(number, folder):
    pathlib.Path(folder, f"began-{number}").touch()
    record_chunk(number, seconds=0.5)


def restarted_in_chunks(run):
    """`client.restart()` while chunks are open, which end before their processes do."""
    with local_cluster(threads=1) as (_, client):
        attachment = run.attach(client)
        attachment.start()
        futures = client.map(_record_and_mark, range(2), folder=str(run.directory), key="open")
        while len(list(run.directory.glob("began-*"))) < 2:
            time.sleep(0.02)
        time.sleep(0.2)  # the chunks have begun
        client.restart()
        del futures
        wait(client.map(record_chunk, range(2, 22), key="after"))
        time.sleep(3)
        run.end(client, attachment, ended=20)


def adaptive(run):
    """Workers that come when there is work, and go when there is none."""
    with local_cluster(workers=0) as (cluster, client):
        attachment = run.attach(client)
        cluster.adapt(minimum=0, maximum=3, interval="200ms", wait_count=2)
        attachment.start()
        wait(client.map(record_chunk, range(300), seconds=0.02, key="record_chunk"))
        deadline = time.time() + 120
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


def _worker_ended(client, address):
    while address in client.scheduler_info(n_workers=-1)["workers"]:
        time.sleep(0.05)


def _one_worker_leaves(run, leave, lasting=False, **options):
    """100 chunks on two workers, then one leaves by `leave(cluster, client, address, process)`, then 100 more."""
    with local_cluster(threads=1, **options) as (cluster, client):
        if lasting:
            client.register_plugin(Lasting())
        attachment = run.attach(client)
        attachment.start()
        wait(client.map(record_chunk, range(100), key="before"))
        address, process = next(iter(client.run(os.getpid).items()))
        begin = time.time()
        leave(cluster, client, address, process)
        _worker_ended(client, address)
        time.sleep(max(0, begin + 6 - time.time()) if lasting else 1)
        client.wait_for_workers(1)
        wait(client.map(record_chunk, range(100, 200), key="after"))
        run.end(client, attachment, chunks=200, left=address)


class Lasting(WorkerPlugin):
    """Delays a leaving worker until its nanny kills it, so crema's plug-in cannot finish."""

    def teardown(self, worker):
        time.sleep(60)


def leaves_by_retirement(run):
    _one_worker_leaves(run, lambda _, client, address, __: client.retire_workers([address]))


def leaves_by_retirement_and_is_killed(run):
    """A worker that its nanny kills, because it does not end in time after the scheduler retired it."""
    _one_worker_leaves(run, lambda _, client, address, __: client.retire_workers([address]), lasting=True)


def leaves_by_kill(run):
    """SIGKILL while no chunk is open."""
    _one_worker_leaves(run, lambda _, __, ___, process: os.kill(process, signal.SIGKILL))


def leaves_by_lifetime(run):
    """What a worker does at the end of its `--lifetime`."""

    def end_of_life(dask_worker):
        dask_worker.loop.call_later(0, dask_worker.close_gracefully, reason="worker-lifetime-reached")

    _one_worker_leaves(run, lambda _, client, address, __: client.run(end_of_life, workers=[address]))


def leaves_without_heartbeats(run):
    """A worker that is stopped for longer than the scheduler waits."""
    import dask

    stopped = []

    def leave(_, __, ___, process):
        os.kill(process, signal.SIGSTOP)
        stopped.append(process)

    with dask.config.set({"distributed.scheduler.worker-ttl": "30s"}):
        try:
            _one_worker_leaves(run, leave)
        finally:
            for process in stopped:
                with contextlib.suppress(ProcessLookupError):  # its nanny may have ended it
                    os.kill(process, signal.SIGKILL)


def leaves_by_restart(run):
    _one_worker_leaves(run, lambda _, client, __, ___: client.restart())


def leaves_by_restart_of_workers(run):
    _one_worker_leaves(run, lambda _, client, address, __: client.restart_workers([address]))


def _grow(number):
    """Takes memory until the nanny ends the worker: 20 MB a step, so that the nanny sees it before the machine
    suffers."""
    kept = []
    while True:
        kept.append(os.urandom(20 << 20))
        time.sleep(0.02)


def leaves_out_of_memory(run):
    """A nanny ends a worker whose memory is over its limit; Dask gives up the task at once."""

    def leave(_, client, address, __):
        future = client.submit(_grow, 0, workers=[address], pure=False, key="grow")
        wait(future)
        run.truth["error"] = type(future.exception()).__name__

    limits = {
        "distributed.scheduler.allowed-failures": 0,
        "distributed.worker.memory.target": False,
        "distributed.worker.memory.spill": False,
        "distributed.worker.memory.pause": False,
    }
    import dask

    with dask.config.set(limits):
        _one_worker_leaves(run, leave, memory_limit="500MB")


def leaves_adaptive(run):
    """As `adaptive`, but the workers end only when their nannies kill them; they have sent everything before."""
    with local_cluster(workers=0, threads=1) as (cluster, client):
        client.register_plugin(Lasting())
        attachment = run.attach(client)
        cluster.adapt(minimum=0, maximum=2, interval="500ms", wait_count=10**6)
        attachment.start()
        wait(client.map(record_chunk, range(100), seconds=0.02, key="record_chunk"))
        attachment.flush(timeout=120)
        cluster.adapt(minimum=0, maximum=2, interval="500ms", wait_count=2)
        while client.scheduler_info(n_workers=-1)["workers"]:
            time.sleep(0.2)
        time.sleep(6)
        run.end(client, attachment, chunks=100)


def _use_pool(number):
    """A task with a pool of its own, which Python ends by SIGTERM as the block is left."""
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        return pool.map(recording_tasks.record_alone, range(10 * number, 10 * number + 10))


def pools_of_tasks(run):
    import dask

    with dask.config.set({"distributed.worker.daemon": False}), local_cluster(workers=1, threads=1) as (_, client):
        attachment = run.attach(client)
        attachment.start()
        futures = client.map(_use_pool, range(2), key="pool")
        run.truth["pids"] = len({pid for pids in client.gather(futures) for pid in pids})
        run.end(client, attachment, chunks=20)


def _run_program(number):
    """A task that starts an instrumented program."""
    subprocess.run([sys.executable, "-c", _PROGRAM, str(number)], check=True)


_PROGRAM = """
import sys
from recording_tasks import record_alone
record_alone(int(sys.argv[1]))
"""


def programs_of_tasks(run):
    """20 programs that tasks start, long after the plug-in looked for logs of workers that left."""
    with local_cluster(threads=1) as (_, client):
        attachment = run.attach(client)
        time.sleep(3)
        attachment.start()
        wait(client.map(_run_program, range(20), key="program", pure=False))
        run.end(client, attachment, chunks=20)


class _Pool(WorkerPlugin):
    name = "pool"

    def setup(self, worker):
        context = multiprocessing.get_context("spawn")
        worker.executors["processes"] = concurrent.futures.ProcessPoolExecutor(2, mp_context=context)

    def teardown(self, worker):
        worker.executors["processes"].shutdown()


def pool_in_worker(run):
    """Tasks in a pool of processes inside a worker, which lives on as the measurement ends."""
    import dask

    with (
        dask.config.set({"distributed.worker.daemon": False}),
        local_cluster(workers=1) as (_, client),
        dask.annotate(executor="processes"),
    ):
        attachment = run.attach(client)
        attachment.start()
        client.register_plugin(_Pool())
        futures = client.map(recording_tasks.record_alone, range(20), key="pooled")
        wait(futures)
        run.truth["pids"] = len(set(client.gather(futures)))
        run.end(client, attachment, chunks=20)


def _drive(number):
    with worker_client() as client:
        children = client.map(record_chunk, range(5 * number, 5 * number + 5), seconds=0.1, key=f"child{number}")
        return sum(client.gather(children))


def _record_and_stay(number, folder):
    record_chunk(number)
    pathlib.Path(folder, f"recorded-{number}").touch()
    while not pathlib.Path(folder, "go").exists():
        time.sleep(0.05)


def still_running(run):
    """Tasks that have finished their chunks, and still run when the measurement ends."""
    with local_cluster(threads=1) as (_, client):
        attachment = run.attach(client)
        attachment.start()
        futures = client.map(_record_and_stay, range(2), folder=str(run.directory), key="stay")
        while len(list(run.directory.glob("recorded-*"))) < 2:
            time.sleep(0.05)
        attachment.stop(timeout=120)
        attachment.save(run.directory / "open.ndjson")
        (run.directory / "go").touch()
        wait(futures)
        attachment.flush(timeout=120)
        attachment.save(run.directory / "run.ndjson")
        run.truth.update(chunks=2)


def seceded(run):
    """Drivers that wait for the tasks that they submit, on a worker with one thread."""
    with local_cluster(workers=1, threads=1) as (_, client):
        attachment = run.attach(client)
        attachment.start()
        wait(client.map(_drive, range(4), key="drive"))
        run.end(client, attachment, chunks=20)


def _on_own_threads(number):
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        list(pool.map(functools.partial(recording_tasks.chunk_of, work=time.sleep, seconds=0.05), range(4)))


def threads_in_task(run):
    """Tasks that work on their chunks in two threads of their own."""
    with local_cluster(workers=1, threads=1) as (_, client):
        attachment = run.attach(client)
        attachment.start()
        wait(client.map(_on_own_threads, range(8), key="threads"))
        run.end(client, attachment)


def _weigh(events):
    return recording_tasks.chunk_of_events(events)


def _analyse(events):
    return recording_tasks.chunk_of_events(events)


def passes(run):
    """Two functions over the same chunks, and one function in two spans of the client."""
    import crema_hep

    counts = {}
    with local_cluster(threads=1) as (_, client):
        for how in ("functions", "decorated", "spans", "once"):
            with MetricsCollector(client) as collector:
                if how == "functions":
                    for function in (_weigh, _analyse):
                        client.gather(client.map(function, range(20), pure=False))
                elif how == "decorated":
                    for number, function in enumerate((recording_tasks.weigh, recording_tasks.analyse)):
                        keys = [("process", 20 * number + event) for event in range(20)]  # of one prefix
                        client.gather(client.map(function, list(map(recording_tasks.Events, range(20))), key=keys))
                elif how == "spans":
                    for name in ("nominal", "shifted"):
                        with crema_hep.span(name):
                            client.gather(client.map(_analyse, range(20), pure=False))
                else:
                    for _ in range(2):
                        client.gather(client.map(_analyse, range(20), pure=False))
            metrics = collector.get_metrics()
            counts[how] = [metrics[name] for name in ("num_chunks", "total_events", "num_recomputed_chunks")]
    run.truth.update(counts=counts)


def _raise_with_secrets():
    signed = "https://me:pa55word@host/f.root?X-Amz-Signature=pa55word#token=pa55word"
    raise OSError(f"403 for '{signed}', root://host//f?authz=Bearer pa55word (Authorization: Bearer pa55word)")


def failing(run):
    """Chunks that always fail, and tasks that are tried again."""
    with local_cluster() as (_, client):
        attachment = run.attach(client)
        attachment.start()
        good = client.map(record_chunk, range(50), key="good")
        bad = client.map(lambda number: record_chunk(number, fail=True), range(100, 105), key="bad", retries=2)
        wait(good + bad)
        wait(client.submit(_raise_with_secrets, key="https://host/f.root?token=pa55word"))
        run.end(client, attachment, chunks=50, failing=5, attempts_of_each=3)


def cancelled(run):
    """Tasks that are cancelled as soon as some of them run; those that run go on to their end."""
    with local_cluster() as (_, client):
        attachment = run.attach(client)
        attachment.start()
        for batch in range(20):
            futures = client.map(record_chunk, range(50 * batch, 50 * batch + 50), seconds=0.005, key=f"batch{batch}")
            while not any(future.done() for future in futures):
                time.sleep(0.001)
            client.cancel(futures)
        run.truth["results"] = client.gather(client.map(plain, range(20), key="plain")) == list(range(20))
        run.end(client, attachment)


def unwritable(run):
    """A log directory that cannot be written: the job runs on, without records."""
    with local_cluster() as (_, client):
        attachment = run.attach(client, directory="/proc/crema")
        attachment.start()
        futures = client.map(plain, range(20), key="plain")
        run.truth["results"] = client.gather(futures) == list(range(20))
        run.end(client, attachment)


def small_logs(run):
    """Logs of workers have a limit of bytes: most chunks are summed, and most tasks have no line."""
    os.environ["CREMA_MAX_LOG_BYTES"] = "100000"
    with local_cluster() as (_, client):
        attachment = run.attach(client)
        attachment.start()
        futures = client.map(record_chunk, range(600), key="record_chunk") + client.map(plain, range(600), key="plain")
        results = client.gather(futures)
        run.truth["results"] = [result is not None for result in results].count(True)
        run.end(client, attachment, chunks=600, tasks=1200)


def full_ring(run):
    """A scheduler that keeps few records: it reports those that it dropped as lost."""
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


def overlapping_collectors(run):
    """Two collectors on one cluster: the second begins while the first measures, and ends after it."""
    with local_cluster() as (_, client), Client(client.scheduler.address) as other:
        first, second = run.attach(client), run.attach(other)
        first.start()
        wait(client.map(record_chunk, range(60), dataset="first", key="first"))
        second.start()
        wait(
            client.map(record_chunk, range(60, 100), dataset="first", key="also_first")
            + other.map(record_chunk, range(40), dataset="second", key="second")
        )
        first.stop()
        wait(other.map(record_chunk, range(40, 70), dataset="second", key="also_second"))
        run.truth["windows"] = {"first": [first.start_ns, first.stop_ns]}
        run.end(other, second)
        run.truth["windows"]["second"] = run.truth["window"]


def registered_again(run):
    """Removes the plug-ins between two measurements, and attaches them again."""
    with local_cluster() as (_, client):
        first = run.attach(client)
        first.start()
        wait(client.map(record_chunk, range(50), key="first"))
        first.stop()
        client.unregister_worker_plugin("crema")
        client.unregister_scheduler_plugin("crema")
        wait(client.map(record_chunk, range(50, 70), key="between"))
        second = run.attach(client)
        second.start()
        wait(client.map(record_chunk, range(70, 120), key="second"))
        run.end(client, second, first_start_ns=first.start_ns)


def guards_before_attach(run):
    """Guards run and do nothing before anybody attaches; from then on they record."""
    with local_cluster() as (_, client):
        wait(client.map(recording_tasks.guarded_chunk, range(20), key="early"))
        attachment = run.attach(client)
        attachment.start()
        wait(client.map(recording_tasks.guarded_chunk, range(20, 50), key="guarded"))
        run.end(client, attachment, chunks=30)


def native_guards_before_attach(run):
    """The same for native code, without the package."""
    with local_cluster() as (_, client):
        wait(client.map(record_chunk, range(20), key="early"))
        attachment = run.attach(client)
        attachment.start()
        wait(client.map(record_chunk, range(20, 50), key="native"))
        run.end(client, attachment, chunks=30)


def open_session(run):
    """The figures so far of a measurement that continues."""
    with local_cluster() as (_, client):
        attachment = run.attach(client)
        attachment.start()
        wait(client.map(record_chunk, range(20), key="record_chunk"))
        attachment.flush()
        attachment.save(run.directory / "open.ndjson")
        run.end(client, attachment, chunks=20)


def coffea_twice(run):
    """Two calls of Coffea's runner in one collector, each in its dataset's span."""
    from coffea.nanoevents import NanoAODSchema
    from coffea.processor import DaskExecutor, Runner
    from coffea_processor import Jets
    from crema_hep import MetricsCollector

    file = os.environ["CREMA_TEST_NANOAOD"]
    with local_cluster() as (_, client):
        executor = DaskExecutor(client=client, status=False)
        runner = Runner(executor, schema=NanoAODSchema, chunksize=100, savemetrics=True)
        outputs, reports = [], []
        with MetricsCollector(executor, processor_instance=Jets(), output_dir=run.directory / "saved") as collector:
            for dataset in ("ttbar", "wjets"):
                with dataset_span(dataset):
                    output, report = runner({dataset: [file]}, processor_instance=Jets(), treename="Events")
                collector.set_coffea_report(report)
                outputs.append(output)
                reports.append({**report, "columns": sorted(report["columns"])})
        run.truth.update(outputs=outputs, reports=reports, metrics=collector.measurement.metrics)
        run.truth["chunks"] = collector.measurement.chunks
        run.truth["series"] = sorted(collector.tracking_data)
        run.truth["contexts"] = sorted({key[0] for key in collector.span_metrics})
        run.truth["spans"] = client.run_on_scheduler(_names_of_spans)
        run.truth["fine"] = collector.measurement.fine


class _Broken:
    """An object that cannot be unpickled on another machine."""

    def __reduce__(self):
        return _raise_on_arrival, ()


def _raise_on_arrival():
    raise RuntimeError("broken on purpose")


class _Unsendable:
    def __reduce__(self):
        raise RuntimeError("unsendable on purpose")


def broken_pickle(run):
    """Plug-ins that cannot be sent, or cannot be read on arrival: the job goes on, and new workers can come."""
    with local_cluster() as (cluster, client):
        for directory in (_Unsendable(), _Broken()):
            attachment = run.attach(client, directory=directory)
            attachment.start()
            assert client.gather(client.map(plain, range(20), key=type(directory).__name__)) == list(range(20))
            attachment.stop()
            run.truth.setdefault("refusals", []).append(attachment.refused)
        cluster.scale(3)
        client.wait_for_workers(3, timeout=600)
        run.end(client, attachment, workers=len(client.scheduler_info(n_workers=-1)["workers"]))


# Names that differ in a digit, in a character that no key may have, or look like a hash.
DATASETS = ["ttbar", "QCD_100", "QCD_200", "W+jets", "W-jets", "2016", "0" * 32, "données"]


def _names_of_spans(dask_scheduler):
    return {span_id: list(span.name) for span_id, span in dask_scheduler.extensions["spans"].spans.items()}


def spans_of_datasets(run):
    """Datasets through one function: each under its own span."""
    with local_cluster() as (_, client):
        attachment = run.attach(client)
        attachment.start()
        futures = []
        for number, dataset in enumerate(DATASETS):
            with dataset_span(dataset) as options:
                numbers = range(number * 1000, number * 1000 + 20)
                futures += client.map(recording_tasks.record_chunk, numbers, dataset=dataset, **options)
        wait(futures)
        run.end(client, attachment, chunks=20 * len(DATASETS), datasets=DATASETS)
        spans = client.run_on_scheduler(_names_of_spans)
        run.truth["span_names"] = spans


def _chunks_of_guards(run, client):
    """Chunks of Python's guards and of native code, and some that fail. The truth is the CPU time that the tasks
    measured."""
    for prefix, task in (("guarded", recording_tasks.guarded_chunk), ("native", recording_tasks.native_chunk)):
        futures = client.map(task, range(30), key=prefix)
        run.truth.setdefault("cpu", {})[prefix] = sum(client.gather(futures))
    wait(client.map(recording_tasks.guarded_chunk, range(30, 35), fail=True, key="failing"))


def sections_in_dask(run):
    """Sections as activities of Dask."""
    with local_cluster() as (_, client):
        attachment = run.attach(client)
        attachment.start()
        _chunks_of_guards(run, client)
        run.end(client, attachment, chunks=60)


def sections_not_in_dask(run):
    """The same, switched off."""
    with local_cluster() as (_, client):
        attachment = run.attach(client, sections_in_dask=False)
        attachment.start()
        _chunks_of_guards(run, client)
        run.end(client, attachment, chunks=60)


def _traces(dask_worker):
    """Runs on a worker. Returns which parts of crema are there."""
    recorder = sys.modules.get("crema_hep.recorder")
    return {
        "variables": sorted(name for name in os.environ if name.startswith("CREMA_") and "TEST" not in name),
        "plug-ins": [name for name in dask_worker.plugins if "crema" in name],
        "handlers": [name for name in dask_worker.handlers if "crema" in name],
        "threads": type(dask_worker.active_threads).__name__,
        "recording": recorder is not None and recorder.enabled(),
    }


def _traces_on_scheduler(dask_scheduler):
    return {
        "plug-ins": [name for name in [*dask_scheduler.plugins, *dask_scheduler.worker_plugins] if "crema" in name],
        "handlers": [name for name in dask_scheduler.handlers if "crema" in name],
    }


def _failed_keys(dask_worker):
    return len(dask_worker.plugins["crema"]._attempts)


def detached(run):
    """Removes crema from a cluster: first while another collector measures, then in two ways. Then attaches it
    again."""
    dask_plugin.MOST_FAILED_KEYS = 20
    with local_cluster() as (_, client):
        wait(client.map(recording_tasks.guarded_chunk, range(4), key="before"))
        run.truth["before"] = [client.run(_traces), client.run_on_scheduler(_traces_on_scheduler)]
        attachment, other = run.attach(client), run.attach(client)
        attachment.start()
        other.start()
        wait(client.map(recording_tasks.guarded_chunk, range(100), [0.001] * 100, [True] * 100, key="failing"))
        wait(client.map(recording_tasks.guarded_chunk, range(30), key="guarded"))
        run.truth["failed_keys"] = max(client.run(_failed_keys).values())
        run.truth["refused_detach"] = attachment.detach()
        other.stop()
        attachment.stop()
        run.truth["detach"] = attachment.detach()
        run.truth["after"] = [client.run(_traces), client.run_on_scheduler(_traces_on_scheduler)]
        wait(client.map(recording_tasks.guarded_chunk, range(5), key="unseen"))
        again = run.attach(client, sample_seconds=0.05)
        again.start()
        client.unregister_worker_plugin("crema")
        client.unregister_scheduler_plugin("crema")
        while client.run_on_scheduler(_traces_on_scheduler)["handlers"]:
            time.sleep(0.05)
        run.truth["unregistered"] = [client.run(_traces), client.run_on_scheduler(_traces_on_scheduler)]
        last = run.attach(client)
        last.start()
        wait(client.map(recording_tasks.guarded_chunk, range(100, 120), key="last"))
        run.end(client, last, chunks=20)


def _state_of(pid):
    return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def stuck_worker(run):
    """One of two workers is stopped before anybody attaches, and continues after the end."""
    with local_cluster(threads=1) as (_, client):
        wait(client.map(plain, range(4), key="plain"))
        stuck, pid = next(iter(client.run(os.getpid).items()))
        healthy = [address for address in client.scheduler_info(n_workers=-1)["workers"] if address != stuck]
        os.kill(pid, signal.SIGSTOP)
        try:
            attachment = run.attach(client)
            assert not attachment.refused, attachment.refused  # the loop below would wait for ever
            attachment.start()
            futures = client.map(record_chunk, range(20), key="record_chunk", workers=healthy)
            run.truth["results"] = client.gather(futures) == list(range(20))
            attachment.flush(timeout=1)
            run.truth.update(state=_state_of(pid), late=attachment.late, flushed=attachment.silent, stuck=stuck)
        finally:
            os.kill(pid, signal.SIGCONT)
        while not client.run(lambda dask_worker: "crema_drain" in dask_worker.handlers, workers=[stuck])[stuck]:
            time.sleep(0.05)  # the last step of a plug-in's setup
        futures = client.map(record_chunk, range(20, 40), key="later", workers=[stuck])
        wait(futures)
        run.end(client, attachment, chunks=40)


def stuck_scheduler(run):
    """The scheduler is stopped while somebody attaches: this only costs time."""
    with _processes(run, ["--no-nanny"], preload=False) as (client, started):
        os.kill(started[0].pid, signal.SIGSTOP)
        try:
            attachment = run.attach(client)
            attachment.start()
            attachment.stop()
            run.truth.update(refused=attachment.refused, state=_state_of(started[0].pid))
        finally:
            os.kill(started[0].pid, signal.SIGCONT)
        run.truth["results"] = client.gather(client.map(abs, range(5)))


def refusals(run):
    """Clusters that cannot be measured correctly: the block runs, one line says why, and nothing stays behind."""
    import asyncio
    import warnings

    def environment():
        return sorted(name for name in os.environ if name.startswith("CREMA_"))

    def outcome(collector):
        try:
            return collector.get_metrics()
        except RuntimeError as error:
            return str(error)

    async def measure():
        async with (
            LocalCluster(n_workers=1, processes=True, dashboard_address="127.0.0.1:0", asynchronous=True) as cluster,
            Client(cluster, asynchronous=True) as client,
        ):
            with MetricsCollector(client) as collector:
                results = await client.gather(client.map(abs, range(10)))
            return results, outcome(collector)

    before = environment()
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        run.truth["asynchronous"] = asyncio.run(measure())
        run.truth["asynchronous_warned"] = [str(warning.message) for warning in warned if "crema" in str(warning)]
        warned.clear()
        for protocol in (None, "tcp://"):
            with (
                LocalCluster(
                    n_workers=2, processes=False, protocol=protocol, dashboard_address="127.0.0.1:0"
                ) as cluster,
                Client(cluster) as client,
            ):
                with MetricsCollector(client) as collector:
                    results = client.gather(client.map(abs, range(10)))
                run.truth[f"threads {protocol}"] = results, outcome(collector)
        run.truth["threads_warned"] = [str(warning.message) for warning in warned if "crema" in str(warning)]
    import crema_hep

    run.truth["left"] = [name for name in environment() if name not in before] + [crema_hep.enabled()]


def shared_guards(run):
    """A scattered object with guards of its own, on workers of several threads; and decorated coroutines."""
    with local_cluster(workers=1, threads=4) as (_, client):
        attachment = run.attach(client)
        attachment.start()
        pid = client.run(os.getpid)
        shared = client.scatter(recording_tasks.Keeping())
        futures = client.map(recording_tasks.keeping, range(200), shared=shared, key="keeping")
        run.truth["results"] = client.gather(futures) == list(range(200))
        from decorated_tasks import double

        coroutines = client.map(double, range(20), key="coroutine")
        run.truth["coroutines"] = client.gather(coroutines) == [2 * number for number in range(20)]
        run.truth["same_process"] = client.run(os.getpid) == pid
        run.end(client, attachment, chunks=200)


def alongside(run):
    """Two clients that work, a performance report, a file that is uploaded, work that is stolen, a graph without
    chunks, and a collector; then a worker that is killed while it is flushed."""
    import dask
    from distributed import performance_report

    try:
        import bokeh  # noqa: F401  (which the report needs)

        report = performance_report(str(run.directory / "report.html"))
    except ImportError:
        report = contextlib.nullcontext()
    module = run.directory / "uploaded_module.py"
    module.write_text("def double(number):\n    return 2 * number\n")
    with local_cluster(threads=1) as (_, client), Client(client.scheduler.address) as other:
        attachment = run.attach(client)
        attachment.start()
        with report:
            client.upload_file(str(module))

            def uploaded(number):
                import uploaded_module

                return uploaded_module.double(number)

            first = next(iter(client.scheduler_info(n_workers=-1)["workers"]))
            ours = client.map(record_chunk, range(150), key="ours", workers=[first], allow_other_workers=True)
            theirs = other.map(record_chunk, range(150, 300), dataset="wjets", key="theirs")
            doubled = client.gather(client.map(uploaded, range(20), key="uploaded"))
            graph = dask.delayed(sum)([dask.delayed(plain)(number) for number in range(20)])
            run.truth["results"] = [doubled == [2 * n for n in range(20)], client.compute(graph).result()]
            wait(ours + theirs)
        victim = client.run(os.getpid)[first]
        flush = client.sync(_flush_and_kill, client, victim)
        run.truth["flush"] = flush
        client.wait_for_workers(2)
        wait(client.map(record_chunk, range(300, 320), key="after"))
        time.sleep(3)
        run.end(client, attachment)


async def _flush_and_kill(client, victim):
    import asyncio

    flush = asyncio.ensure_future(client.scheduler.crema_flush(timeout=5))
    await asyncio.sleep(0)
    os.kill(victim, signal.SIGKILL)
    return sorted((await flush)["silent"].values())


def many_tasks(run):
    """20,000 tasks on workers that spill, with a limit of memory."""
    limits = {"distributed.worker.memory.target": 0.2, "distributed.worker.memory.spill": 0.3}
    import dask

    with dask.config.set(limits), local_cluster(memory_limit="400MB") as (_, client):
        attachment = run.attach(client)
        attachment.start()
        blocks = client.map(os.urandom, [5_000_000] * 40, key="blocks", pure=False)
        futures = client.map(record_chunk, range(20_000), seconds=0.0005, key="record_chunk")
        wait(futures + blocks)
        run.truth["sizes"] = sum(client.gather(client.map(len, blocks, key="size")))
        time.sleep(2)
        run.end(client, attachment, chunks=20_000)


def _free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


@contextlib.contextmanager
def _processes(run, *workers, preload=True, port=0):
    """A `dask scheduler` and `dask worker`s; with the plug-in as a preload file, or without anything of crema."""
    environment = {name: value for name, value in os.environ.items() if preload or "CREMA" not in name}
    environment["PYTHONPATH"] = str(pathlib.Path(__file__).parent) if preload else ""
    if preload:
        environment["CREMA_DIR"] = str(run.logs)
    address_file = pathlib.Path(tempfile.mkdtemp(dir=run.directory)) / "scheduler.json"
    dask = [sys.executable, "-m", "dask"]
    started = []

    def start(*arguments):
        command = [*dask, *arguments, "--scheduler-file", str(address_file)]
        if preload:
            command += ["--preload", PLUGIN_FILE]
        output = open(address_file.with_name(f"process{len(started)}.log"), "wb")  # noqa: SIM115  (open as long as the process)
        started.append(subprocess.Popen(command, env=environment, stdout=output, stderr=subprocess.STDOUT))
        return started[-1]

    try:
        start("scheduler", "--host", "127.0.0.1", "--port", str(port), "--dashboard-address", "127.0.0.1:0")
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


def records_on_hosts(run):
    """Two hosts with a disk each, distinguished by address. Each has its own records, and both have one log in
    common."""

    def install(python, program):
        sys.path.insert(0, python)
        os.environ["CREMA_PROGRAM"] = program

    paths = [run.directory / name for name in ("of_one", "of_two", "of_both", "of_nobody")]
    with _processes(
        run, ["--no-nanny", "--host", "127.0.0.2"], ["--no-nanny", "--host", "127.0.0.3"], preload=False
    ) as (
        client,
        _,
    ):
        client.run(install, os.environ["CREMA_TEST_PYTHON"], os.environ["CREMA_PROGRAM"])
        run.truth["missing"] = collect_on(client, paths, run.directory / "merged")
        try:
            collect_on(client, paths[-1:], run.directory / "nothing")
        except ProgramError as error:
            run.truth["nothing"] = str(error)


def scheduler_restarted(run):
    """The scheduler dies in the middle of a measurement; another one, and workers, come at its address."""
    port = _free_port()
    with _processes(run, ["--nanny"], ["--nanny"], port=port) as (client, started):
        attachment = run.attach(client)
        attachment.start()
        wait(client.map(record_chunk, range(50), key="before"))
        for process in started:
            process.kill()
            process.wait()
    with _processes(run, ["--nanny"], ["--nanny"], port=port) as (client, _):
        attachment.client = client
        wait(client.map(record_chunk, range(50, 80), key="after"))
        run.end(client, attachment, chunks=30, all_chunks=80, missing=attachment.missing)


def preloaded(run):
    """Real `dask` processes. SIGTERM to a worker under a nanny, then to one without, right after the last task."""
    with _processes(run, ["--nanny"], ["--no-nanny"], ["--nanny"]) as (client, started):
        attachment = run.attach(client)
        attachment.start()
        futures = client.map(record_chunk, range(300), key="record_chunk")
        wait(futures)
        for process in started[1:3]:
            process.send_signal(signal.SIGTERM)
            process.wait(120)
            time.sleep(1)  # the scheduler takes note
            wait(futures)  # results that were lost with their worker are computed again
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
            import time

            time.sleep(0.05)  # Dask reads two clocks; the time between the two readings is negligible
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
        source = "dask://" + cluster.dashboard_link.split("/")[2]
        run.truth.update(refused=attachment.refused, chunks=20, source=source)
        command = [os.environ["CREMA_TEST_PROGRAM"], "collect", source, "-o", str(run.directory / "unwritten"), "-q"]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        run.truth["status"], run.truth["stderr"] = result.returncode, result.stderr


def asked_afterwards(run):
    """A collector whose figures are read when its cluster is gone, as at the end of a script."""
    os.environ["CREMA_PROGRAM"] = os.environ["CREMA_TEST_PROGRAM"]
    with local_cluster() as (_, client):
        with MetricsCollector(client) as collector:
            wait(client.map(record_chunk, range(50), key="record_chunk"))
        run.truth["metrics"] = collector.get_metrics()["num_chunks"]
        with collector:
            wait(client.map(record_chunk, range(30), key="again"))
    run.truth["again"] = collector.get_metrics()["num_chunks"]
    with local_cluster() as (_, client), MetricsCollector(client) as ended:
        client.shutdown()
    try:
        ended.get_metrics()
    except RuntimeError as error:
        run.truth["ended"] = str(error)
    run.truth["saved"] = str(collector.save_measurement(run.directory, "measurement"))


@contextlib.contextmanager
def served(source):
    """Starts `crema serve` on it. Yields a function that requests `api/...` until the answer meets a condition."""

    def until(condition, path="api/v1"):
        stop = time.monotonic() + 60
        while True:
            with urllib.request.urlopen(address.replace("?", f"{path}?"), timeout=10) as answer:
                seen = json.load(answer)
            if condition(seen) or time.monotonic() > stop:
                return seen
            time.sleep(0.2)

    command = [os.environ["CREMA_TEST_PROGRAM"], "serve", source]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            address = server.stdout.readline().strip()
            yield until
        finally:
            server.terminate()


def watched(run):
    """`crema serve` watches a run in which a worker is killed, and its nanny starts another."""
    with local_cluster() as (cluster, client):
        attachment = run.attach(client)
        attachment.start()
        attachment.plan({"ttbar": 30_000, "wjets": 10_000})
        with served("dask://" + cluster.dashboard_link.split("/")[2]) as until:
            futures = client.map(record_chunk, range(200), seconds=0.05, key="first")
            run.truth["during"] = until(lambda seen: (seen["metrics"].get("num_chunks") or 0) >= 20)
            victim, pid = sorted(client.run(os.getpid).items())[0]
            os.kill(pid, signal.SIGKILL)
            futures += client.map(record_chunk, range(200, 300), key="second")
            futures += client.map(record_chunk, range(300, 400), dataset="wjets", key="third")
            wait(futures)
            run.end(client, attachment, chunks=400, victim=victim, planned={"ttbar": 30_000, "wjets": 10_000})
            run.truth["after"] = until(
                lambda seen: (
                    seen["run"]["state"] == "finished"
                    and seen["metrics"]["num_chunks"] == 400
                    and "lost" in [worker["state"] for worker in seen["workers"]]
                )
            )


def attached_later(run):
    """`crema top` and `crema serve` wait for a scheduler that has no plug-in, until it gets one."""
    with local_cluster() as (cluster, client):
        source = "dask://" + cluster.dashboard_link.split("/")[2]
        run.truth["source"] = source
        command = [os.environ["CREMA_TEST_PROGRAM"], "top", source]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as top, served(source) as until:
            wait(client.map(plain, range(100), key="plain"))
            run.truth["top_before"] = next((line for line in top.stdout if "plug-in" in line), "")
            run.truth["page"] = until(lambda seen: seen["sources"][0]["problem"], "api/live")
            run.truth["before"] = until(lambda seen: True)
            attachment = run.attach(client)
            attachment.start()
            wait(client.map(record_chunk, range(20), key="record_chunk"))
            run.truth["attached"] = until(lambda seen: seen["metrics"]["num_chunks"] == 20)
            run.truth["page_after"] = until(lambda seen: not seen["sources"][0]["problem"], "api/live")
            run.truth["top_after"] = next((line for line in top.stdout if " 20 chunks " in line), "")
            top.terminate()
            attachment.stop()


def main() -> None:
    name, directory, seconds = sys.argv[1:]
    faulthandler.dump_traceback_later(float(seconds), exit=True)  # a scenario that hangs shows where
    run = Run(directory)
    globals()[name](run)
    (run.directory / "truth.json").write_text(json.dumps(run.truth))
    # Not through the interpreter's end: up to Python 3.13 it unwinds threads that wait for its lock. Such a thread of
    # gilknocker, in Rust, then aborts the process ("exception not rethrown", rust-lang/rust#135929).
    threading._shutdown()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


if __name__ == "__main__":
    main()

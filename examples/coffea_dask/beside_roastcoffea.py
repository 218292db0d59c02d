"""Runs the analysis once, measured by both crema and roastcoffea, and compares both with independent figures.

    .cache/test/roastcoffea/bin/python examples/coffea_dask/beside_roastcoffea.py

with the variables of this folder's README.md. Prints both summaries, and the table of docs/from_roastcoffea.md. The
first attempt at the first chunk fails on purpose, and Coffea makes Dask try again.
"""

import argparse
import importlib
import os
import pathlib
import tempfile
import time

import coffea_dask
import crema_hep
import roastcoffea
import uproot
from missing_momentum import MissingMomentum


def now():
    """Clocks of this thread, all in seconds. schedstat's second number is the time for which the thread waited for a
    core."""
    waited_ns = int(pathlib.Path("/proc/thread-self/schedstat").read_text().split()[1])
    return {"wall": time.perf_counter(), "cpu": time.thread_time(), "cpu_wait": waited_ns / 1e9}


def clock(name):
    """A decorator that adds the cost of a call to its result."""

    def decorate(process):
        def clocked(self, events):
            before = now()
            result = process(self, events)
            result.setdefault("clocks", {})[name] = {key: value - before[key] for key, value in now().items()}
            return result

        return clocked

    return decorate


class Compared(MissingMomentum):
    """The analysis under both decorators, with independent clocks."""

    def __init__(self, library, toys, folder):
        super().__init__(library, toys)
        self.folder = folder

    @clock("both decorators")
    @roastcoffea.track_metrics
    @clock("crema's decorator")
    @crema_hep.track_metrics
    @clock("process")
    def process(self, events):
        self.fail_once()
        return MissingMomentum.process.__wrapped__(self, events)

    def fail_once(self):
        try:
            os.close(os.open(f"{self.folder}/failed", os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return
        raise OSError("the disk was away")


def field(path, name):
    """A number of a file like /proc/PID/io."""
    lines = pathlib.Path(path).read_text().splitlines()
    return int(next(line for line in lines if line.startswith(f"{name}:")).split()[1])


def cpu_seconds(pids):
    """CPU that these processes used so far, all threads: proc(5)."""
    stats = (pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split() for pid in pids)
    return sum(int(fields[11]) + int(fields[12]) for fields in stats) / os.sysconf("SC_CLK_TCK")


def bytes_read(pids):
    """Bytes that these processes got by read(2) and its relatives so far."""
    return sum(field(f"/proc/{pid}/io", "rchar") for pid in pids)


def peak_memory_bytes(pids):
    return max(field(f"/proc/{pid}/status", "VmHWM") for pid in pids) * 1024


def basket_bytes(path, columns, chunk):
    """Bytes of all baskets that chunks of so many entries have to read for these columns."""
    with uproot.open(path) as file:
        tree, total = file["Events"], 0
        for branch in (tree[name] for name in columns):
            sizes, starts = branch.member("fBasketBytes"), branch.entry_offsets
            for begin in range(0, tree.num_entries, chunk):
                total += sum(
                    int(size)
                    for size, first, last in zip(sizes, starts, starts[1:], strict=False)
                    if first < begin + chunk and last > begin
                )
    return total


def of_dask(dask_scheduler):
    """Runs on the scheduler: its own sums of the tasks' seconds, and of their threads' CPU, by prefix."""
    compute = {
        name: dict(prefix.all_durations).get("compute", 0.0) for name, prefix in dask_scheduler.task_prefixes.items()
    }
    cpu = {}
    for key, value in dask_scheduler.cumulative_worker_metrics.items():
        if isinstance(key, tuple) and key[0] == "execute" and key[2] == "thread-cpu":
            cpu[key[1]] = cpu.get(key[1], 0.0) + value
    return compute, cpu


def warm_up(client, files, processor):
    """Makes every worker import the modules of the analysis first, so that the figures are only of the analysis."""
    for module in ("missing_momentum", "roastcoffea"):
        client.run(importlib.import_module, module)
    coffea_dask.run(client, files, processor, 200)


def measure(client, files, processor, chunk):
    """Both collectors after the run, and the independent figures."""
    pids = list(client.run(os.getpid).values())
    theirs = roastcoffea.MetricsCollector(client, processor_instance=processor)
    ours = crema_hep.MetricsCollector(client, processor_instance=processor)
    with theirs, ours:
        compute_before, _ = client.run_on_scheduler(of_dask)
        cpu, read, begin = cpu_seconds(pids), bytes_read(pids), time.perf_counter()
        result, report = coffea_dask.run(client, files, processor, chunk)
        wall = time.perf_counter() - begin
        cpu, read = cpu_seconds(pids) - cpu, bytes_read(pids) - read
    theirs.extract_metrics_from_output(result)
    for collector in (theirs, ours):
        collector.set_coffea_report(report)
    time.sleep(2)  # two heartbeats, with which Dask's activities come
    compute, thread_cpu = client.run_on_scheduler(of_dask)
    truth = {
        "wall": wall,
        "cpu": cpu,
        "bytes": read,
        "peak_memory": peak_memory_bytes(pids),
        "task": compute["Compared"],
        "task_cpu": thread_cpu["Compared"],
        "other_tasks": sum(compute.values()) - sum(compute_before.values()) - compute["Compared"],
        "clocks": result.pop("clocks"),
        "chunks": report["chunks"],
        "columns": {name.rsplit("-", 1)[0] for name in report["columns"]},  # Jet_pt-data, nJet-offsets
    }
    return theirs.get_metrics(), ours.get_metrics(), truth, (theirs, ours)


def seconds(value):
    return f"{value:.2f} s"


def megabytes(value):
    return f"{value / 1e6:.1f} MB"


def percent(value):
    return f"{100 * value:.1f} %"


def rows(theirs, ours, truth):
    """(what, by roastcoffea, by crema, the independent figure, where that is from)"""
    process, both = truth["clocks"]["process"], truth["clocks"]["both decorators"]
    crema = truth["clocks"]["crema's decorator"]
    blocked = process["wall"] - process["cpu"] - process["cpu_wait"]
    noncpu = truth["task"] - truth["task_cpu"]
    slots, cores = ours["total_cores"], len(os.sched_getaffinity(0))
    accessed = sum(chunk["accessed_bytes"] for chunk in theirs["raw_chunk_metrics"])
    yield (
        "elapsed",
        seconds(theirs["elapsed_time_seconds"]),
        seconds(ours["wall_time"]),
        seconds(truth["wall"]),
        "clock",
    )
    yield "events", theirs["total_events"], ours["total_events"], truth["events"], "entries of the files"
    yield "chunks", theirs["num_chunks"], ours["num_chunks"], truth["chunks"], "Coffea's report"
    yield "failed attempts", theirs["num_failed_chunks"], ours["num_failed_attempts"], 1, "made to fail"
    total = seconds(theirs["total_cpu_time"])
    yield (
        "wall time in `process`",
        f"{total}, *Total CPU*",
        seconds(ours["busy_time"]),
        seconds(process["wall"]),
        "clock",
    )
    yield "CPU in `process`", "", seconds(ours["chunk_cpu_time"]), seconds(process["cpu"]), "thread's clock"
    yield "... waiting for a core", "", seconds(ours["chunk_cpu_wait"]), seconds(process["cpu_wait"]), "schedstat"
    yield "... waiting else", "", seconds(ours["chunk_blocked"]), seconds(blocked), "the rest"
    around = seconds(truth["task"] - process["wall"])
    yield "around `process`", "", seconds(ours["outside_chunk_time"]), around, "Dask's compute less the clock"
    of_tasks = (seconds(metrics["processor_cpu_time_seconds"]) for metrics in (theirs, ours))
    yield "CPU of its tasks", *of_tasks, seconds(truth["task_cpu"]), "Dask"
    of_tasks = (seconds(metrics["processor_io_wait_time_seconds"]) for metrics in (theirs, ours))
    yield "their I/O and waiting", *of_tasks, seconds(noncpu), "Dask: compute less CPU"
    overhead = (
        seconds(metrics["overhead_cpu_time_seconds"] + metrics["overhead_io_wait_time_seconds"])
        for metrics in (theirs, ours)
    )
    yield "other tasks", *overhead, seconds(truth["other_tasks"]), "Dask: their compute"
    used = percent(process["cpu"] / slots / truth["wall"])
    yield "efficiency", percent(theirs["core_efficiency"]), percent(ours["cpu_efficiency"]), used, "CPU in `process`"
    limit = f"at most {truth['cpu'] / truth['wall']:.2f}"
    source = f"all CPU of the workers; {cores} cores"
    yield "speed-up", f"{theirs['speedup_factor']:.2f}", f"{ours['cpu_speedup']:.2f}", limit, source
    of_coffea = (megabytes(metrics["total_bytes_read"]) for metrics in (theirs, ours))
    yield "bytes read", *of_coffea, megabytes(truth["bytes"]), "/proc/PID/io"
    baskets = megabytes(truth["basket_bytes"])
    yield (
        "bytes read in `process`",
        megabytes(accessed),
        megabytes(ours["bytes_read_chunks"]),
        baskets,
        "baskets touched",
    )
    peak = (megabytes(metrics["peak_memory_bytes"]) for metrics in (theirs, ours))
    yield "peak memory of a worker", *peak, megabytes(truth["peak_memory"]), "VmHWM"
    costs = [
        (outer["cpu"] - inner["cpu"]) / truth["chunks"] * 1e3 for outer, inner in ((both, crema), (crema, process))
    ]
    yield "CPU of a decorator", f"{costs[0]:.2f} ms", f"{costs[1]:.2f} ms", "", "thread's clock, per chunk"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default=".", help="directory of the larger file (.)")
    parser.add_argument("--chunk", type=int, default=2500, help="events per chunk (2500)")
    parser.add_argument("--repeats", type=int, default=2000, help="how often the larger file has the events (2000)")
    parser.add_argument("--toys", type=int, default=3000, help="variations of each event (3000)")
    parser.add_argument("--measurement", help="directory for both measurements")
    arguments = parser.parse_args()
    files = coffea_dask.fileset(arguments.data, arguments.repeats)
    with tempfile.TemporaryDirectory() as folder, coffea_dask.local_cluster(workers=2, threads=2) as client:
        warm_up(client, {"ttbar": files["ttbar"]}, MissingMomentum(coffea_dask.LIBRARY, 1))
        processor = Compared(coffea_dask.LIBRARY, arguments.toys, folder)
        *measured, collectors = measure(client, files, processor, arguments.chunk)
    truth = measured[-1]
    truth["events"] = 200 * (1 + arguments.repeats)
    truth["basket_bytes"] = basket_bytes(*files["ttbar_repeated"], truth["columns"], arguments.chunk)
    for name, collector in zip(("roastcoffea", "crema"), collectors, strict=True):
        collector.print_summary()
        if arguments.measurement:
            collector.save_measurement(arguments.measurement, name)
    print("| | roastcoffea | crema | independent | from |\n|---|---|---|---|---|")
    for row in rows(*measured):
        print(f"| {' | '.join(map(str, row))} |")


if __name__ == "__main__":
    main()

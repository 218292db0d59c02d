"""Runs the analysis on a Dask cluster of processes on this machine, and prints what crema measured."""

import argparse
import contextlib
import json
import pathlib
import sys

import kernel
import repeated_events
from coffea.processor import DaskExecutor, Runner
from crema_hep import MetricsCollector
from distributed import Client, LocalCluster
from missing_momentum import BINS, HIGH, MissingMomentum, Schema

MUCH_MISSING_BIN = round(100 / (HIGH / BINS))  # from 100 GeV on
LIBRARY = str(pathlib.Path(__file__).resolve().parents[2] / "bazel-bin/examples/coffea_dask/jet_toys.so")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, default=2, help="worker processes (2)")
    parser.add_argument("--threads", type=int, default=1, help="threads of each (1)")
    parser.add_argument("--chunk", type=int, default=10_000, help="events per chunk (10,000)")
    parser.add_argument("--repeats", type=int, default=2000, help="how often the larger file has the 200 events (2000)")
    parser.add_argument("--toys", type=int, default=3000, help="variations of each event (3000)")
    parser.add_argument(
        "--data", default=".", help="directory of the larger file, which is made unless it is there (.)"
    )
    parser.add_argument("--library", default=LIBRARY, help="the native kernel (what Bazel built)")
    parser.add_argument("--measurement", help="directory for the measurement (default: it is printed only)")
    parser.add_argument("--output", help="file for cut flow and histograms, as JSON")
    parser.add_argument("--without-crema", action="store_true", help="nothing is attached, nothing recorded")
    return parser.parse_args()


def fileset(directory, repeats):
    """The real file, and the larger one."""
    pathlib.Path(directory).mkdir(parents=True, exist_ok=True)
    larger = str(pathlib.Path(directory, f"ttbar_{repeats}_times.root").resolve())
    repeated_events.write(larger, repeats)
    return {"ttbar": [str(repeated_events.EVENTS)], "ttbar_repeated": [larger]}


@contextlib.contextmanager
def local_cluster(workers, threads):
    """A client of a cluster of processes."""
    options = {"n_workers": workers, "threads_per_worker": threads, "processes": True}
    with LocalCluster(**options, dashboard_address="127.0.0.1:0") as cluster, Client(cluster) as client:
        yield client


def run(client, files, processor, chunk):
    """Coffea's result, and its report."""
    executor = DaskExecutor(client=client, status=False)
    runner = Runner(executor, schema=Schema, chunksize=chunk, savemetrics=True)
    result, report = runner(files, processor_instance=processor, treename="Events")
    return dict(sorted(result.items())), report


def print_result(result):
    """Cut flow, and how many events have much missing momentum: as measured, and with varied jets."""

    def share(counts):
        missing = counts[kernel.HISTOGRAMS.index("missing")]
        return f"{missing[MUCH_MISSING_BIN:].sum() / missing.sum():.2%}" if missing.any() else "-"

    rows = [("", *result)]
    for name in next(iter(result.values()))["cuts"]:
        rows.append((name, *(f"{of_dataset['cuts'][name]:,}" for of_dataset in result.values())))
    for kind in ("measured", "varied"):
        rows.append((f"above 100 GeV, {kind}", *(share(of_dataset[kind]) for of_dataset in result.values())))
    for title, *values in rows:
        print(f"{title:24}" + "".join(f"{value:>18}" for value in values))


def write_result(result, path):
    document = {
        dataset: {
            "cuts": of_dataset["cuts"],
            **{
                kind: dict(zip(kernel.HISTOGRAMS, of_dataset[kind].tolist(), strict=True))
                for kind in ("measured", "varied")
            },
        }
        for dataset, of_dataset in result.items()
    }
    pathlib.Path(path).write_text(json.dumps(document, indent=1) + "\n")


def main():
    arguments = parse_arguments()
    files = fileset(arguments.data, arguments.repeats)
    processor = MissingMomentum(arguments.library, arguments.toys)
    with local_cluster(arguments.workers, arguments.threads) as client:
        collector = None if arguments.without_crema else MetricsCollector(client, processor_instance=processor)
        with collector or contextlib.nullcontext():
            result, report = run(client, files, processor, arguments.chunk)
        if collector is not None:
            collector.set_coffea_report(report)
        print_result(result)
        if arguments.output:
            write_result(result, arguments.output)
        if collector is not None:
            collector.print_summary()
            if arguments.measurement:
                target = pathlib.Path(arguments.measurement)
                collector.save_measurement(target.parent, target.name)


if __name__ == "__main__":
    sys.exit(main())

"""Runs one analysis (top_quarks.py) with Coffea's executors, decorated and not. The histograms are the same, and the
measurement has each chunk once."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

import installed

sys.path.append(str(installed.CHECKOUT / "tests/engines"))

import debian_13  # noqa: E402

PARSL = installed.CHECKOUT / ".cache/parsl"
EXECUTORS = ("iterative", "futures", "dask", "parsl", "taskvine")
RUN = """
import contextlib, gc, hashlib, json, os, socket, subprocess, sys, warnings
import crema_hep
from coffea import processor
from coffea.nanoevents import NanoAODSchema
from top_quarks import DecoratedTopQuarks, TopQuarks

@contextlib.contextmanager
def executor_of(kind):
    if kind == "iterative":
        yield processor.IterativeExecutor(status=False)
    elif kind == "futures":
        yield processor.FuturesExecutor(workers=2, status=False)
    elif kind == "dask":
        from distributed import Client
        with Client(n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0") as client:
            yield processor.DaskExecutor(client=client, status=False)
    elif kind == "taskvine":
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        command = ["vine_worker", "--cores", "2", "--memory", "4000", "--disk", "4000", "127.0.0.1", str(port)]
        worker = subprocess.Popen(command, stdout=sys.stderr)
        try:
            yield processor.TaskVineExecutor(port=port, status=False, filepath=os.getcwd())
        finally:
            worker.terminate()
            worker.wait()
    else:
        import parsl
        from parsl.config import Config
        from parsl.executors import HighThroughputExecutor
        from parsl.monitoring import MonitoringHub
        from parsl.providers import LocalProvider
        workers = HighThroughputExecutor(
            label="workers", address="127.0.0.1", max_workers_per_node=2, cores_per_worker=0.01,
            provider=LocalProvider(init_blocks=1, max_blocks=1),
        )
        hub = MonitoringHub(resource_monitoring_interval=0)
        with parsl.load(Config(executors=[workers], run_dir="runinfo", monitoring=hub, strategy="none")):
            yield processor.ParslExecutor(status=False)

def run(executor, kind, path):
    runner = processor.Runner(executor, schema=NanoAODSchema, chunksize=100, savemetrics=True)
    fileset = {"ttbar": {"files": {path: "Events"}}, "wjets": {"files": {path: "Events"}}}
    output, report = runner(fileset, processor_instance=kind())
    histogram = output["histogram"]
    content = histogram.values(flow=True).tobytes() + histogram.variances(flow=True).tobytes()
    return {"events": output["events"], "sum": float(histogram.sum(flow=True).value),
            "content": hashlib.sha256(content).hexdigest()}, report

if __name__ == "__main__":
    warnings.simplefilter("ignore")
    kind, path = sys.argv[1:]
    with executor_of(kind) as executor:
        plain, _ = run(executor, TopQuarks, path)
        gc.collect()  # Coffea's manager for TaskVine holds itself, and its port
        with crema_hep.MetricsCollector(executor) as collector:
            decorated, report = run(executor, DecoratedTopQuarks, path)
            collector.set_coffea_report(report)
    print(json.dumps({"outputs": [plain, decorated], "document": collector.measurement.document}))
"""
# Debian 13 has TaskVine's module (in python3-workqueue) for its Python 3.13. Coffea comes from PyPI, and stays there.
IN_DEBIAN_13 = """
install_packages coop-computing-tools python3-workqueue python3-venv
[ -d /opt/coffea ] || python3 -m venv --system-site-packages /opt/coffea
export PATH=/opt/coffea/bin:$PATH PYTHONPATH=$PWD
pip install -q --disable-pip-version-check coffea=={coffea} cloudpickle
pip install -q --disable-pip-version-check --no-index --force-reinstall ./*.whl
python analysis.py taskvine $PWD/{events} >result.json
"""


def why_not(kind) -> str:
    """Why this executor is missing here; empty if it is there."""
    if not os.access(installed.COFFEA_PYTHON, os.X_OK):
        return "no Coffea: tools/setup coffea installs it"
    if kind == "parsl" and not os.access(PARSL / "bin/python", os.X_OK):
        return "no Parsl: tools/setup engines installs it"
    return debian_13.missing() if kind == "taskvine" else ""


def site_packages(environment) -> pathlib.Path:
    return next((environment / "lib").glob("python3.*/site-packages"))


class AnalysisTest(installed.RecordedTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.seen = {}  # content of the histograms: the name of an executor

    def run_analysis(self, kind):
        if why_not(kind):
            self.skipTest(why_not(kind))
        shutil.copy(pathlib.Path(__file__).with_name("top_quarks.py"), self.folder)
        path = shutil.copy(installed.CHECKOUT / "tests/data/nanoAOD_2015_CMS_Open_Data_ttbar.root", self.folder)
        if kind == "taskvine":
            return self.run_in_debian_13(path)
        environment = {"PYTHONPATH": f"{installed.PACKAGE}:{self.folder}"}
        if kind == "parsl":  # Parsl starts two programs by name; they need Coffea's packages, too
            environment["PYTHONPATH"] += f":{site_packages(PARSL)}"
            environment["PATH"] = f"{self.folder}/bin:{PARSL}/bin:{os.environ['PATH']}"
            for name in ("interchange", "process_worker_pool"):
                program = self.folder / "bin" / f"{name}.py"
                program.parent.mkdir(exist_ok=True)
                module = f"parsl.executors.high_throughput.{name}"
                program.write_text(f'#!/bin/sh\nexec {installed.COFFEA_PYTHON} -m {module} "$@"\n')
                program.chmod(0o755)
        done = self.run_program(RUN, kind, path, python=installed.COFFEA_PYTHON, **environment)
        self.assertEqual(done.returncode, 0, done.stderr[-4000:])
        return json.loads(done.stdout.splitlines()[-1])

    def run_in_debian_13(self, path):
        (self.folder / "analysis.py").write_text(RUN)
        version = 'import importlib.metadata; print(importlib.metadata.version("coffea"))'
        coffea = subprocess.run([installed.COFFEA_PYTHON, "-c", version], capture_output=True, text=True, check=True)
        script = IN_DEBIAN_13.format(coffea=coffea.stdout.strip(), events=pathlib.Path(path).name)
        files = [self.folder / "analysis.py", self.folder / "top_quarks.py", path, installed.wheel()]
        ran = self.folder / "ran"
        ran.mkdir()
        debian_13.run(script, files, ran)
        result = json.loads((ran / "result.json").read_text().splitlines()[-1])
        self.assertEqual(result["document"]["run"]["engine"], "TaskVine")
        self.assertEqual(result["document"]["metrics"]["task_join_coverage"], 1)
        return result

    def assert_same_with_and_without(self, kind):
        result = self.run_analysis(kind)
        plain, decorated = result["outputs"]
        self.assertEqual(plain["events"], 400)
        self.assertGreater(plain["sum"], 50)
        self.assertEqual(decorated, plain)
        self.seen[plain["content"]] = kind
        self.assertEqual(len(self.seen), 1, self.seen)  # all executors compute the same
        document = result["document"]
        metrics, quality = document["metrics"], document["quality"]
        self.assertEqual((metrics["num_chunks"], metrics["num_attempts"], metrics["total_events"]), (4, 4, 400))
        self.assertEqual((metrics["num_failed_attempts"], metrics["num_lost_attempts"]), (0, 0))
        self.assertEqual(quality["event_coverage"], 1)
        self.assertEqual({row["name"]: row["chunks"] for row in document["datasets"]}, {"ttbar": 2, "wjets": 2})
        self.assertIn("analysis", [row["path"] for row in document["sections"]])
        return metrics


for _kind in EXECUTORS:

    def _test(self, kind=_kind):
        self.assert_same_with_and_without(kind)

    setattr(AnalysisTest, f"test_{_kind}_gives_the_same_histograms_decorated_or_not", _test)


if __name__ == "__main__":
    unittest.main()

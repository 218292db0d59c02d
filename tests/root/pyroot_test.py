"""crema_hep.root.track: frames of PyROOT, in this process."""

import collections
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import root_case
from root_case import ENTRIES, ranges

CHECKOUT = root_case.CHECKOUT
FIND = """
import json
import ROOT
from crema_hep import root_library, sdk
ROOT.RDataFrame(1)  # the guards need its library and that of crema
ROOT.gSystem.Load(sdk.find().library)
print(json.dumps(root_library.find_or_compile(ROOT, sdk.find().include, lambda compile: compile())))
"""


class PyrootTest(root_case.PyrootCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        with tempfile.TemporaryDirectory() as cache:
            cls.recorded = cls.run_python("pyroot_frames.py", root_case.data(), CREMA_CACHE=cache)
        cls.plain = cls.run_python("pyroot_frames.py", root_case.data(), recording=False)
        cls.said = cls.cases(cls.recorded)

    @staticmethod
    def cases(outcome):
        return {line["case"]: line for line in map(json.loads, outcome.output.splitlines())}

    def chunks(self, dataset):
        return [chunk for chunk in self.recorded.chunks if chunk["dataset"] == dataset]

    def test_a_file_is_a_chunk_and_named_filters_are_the_cut_flow(self):
        for dataset, name in (("trees", "tree"), ("ntuples", "ntuple")):
            chunks = self.chunks(dataset)
            self.assertEqual(ranges(chunks), [(f"{name}{i}.root", 0, entries) for i, entries in enumerate(ENTRIES)])
            self.assertEqual([chunk["events"] for chunk in chunks], list(ENTRIES))
            passed = collections.Counter()
            for chunk in chunks:
                passed.update({cut["name"]: cut["events"] for cut in chunk["cuts"]})
            self.assertEqual((passed["all events"], passed["large"]), (sum(ENTRIES), self.said[dataset]["passed"]))

    def test_bytes_and_times_of_trees_are_there(self):
        for chunk in self.chunks("trees"):
            self.assertGreater(chunk["bytes_read"], 0)
            self.assertGreater(root_case.metric(chunk, "unzip_wall"), 0)

    def test_on_two_threads_a_cluster_is_a_chunk(self):
        chunks = self.chunks("two threads")
        self.assertEqual(ranges(chunks), root_case.in_clusters(20_000))
        self.assertEqual(sum(chunk["events"] for chunk in chunks), sum(ENTRIES))

    def test_loops_passes_and_small_chunks_are_as_in_cpp(self):
        self.assertEqual([chunk["pass"] for chunk in self.chunks("loops")], [None, "loop 2"])
        small = self.chunks("small")
        self.assertEqual([chunk["events"] for chunk in small], [20_000, 20_000, 10_000])
        self.assertEqual({chunk["pass"] for chunk in small}, {"again"})

    def test_a_node_that_outlives_its_frame_still_runs(self):
        self.assertEqual(self.said["outlived"], self.cases(self.plain)["outlived"])
        self.assertEqual(self.chunks("outlived"), [], "the frame kept the tracking alive, and is gone")

    def test_an_error_of_root_fails_the_chunk_and_reaches_the_program(self):
        self.assertIn("error", self.said["missing"])
        self.assertIn("failed", [chunk["status"] for chunk in self.chunks("missing")])

    def test_an_interrupted_loop_loses_and_repeats_nothing(self):
        self.assertEqual(self.said["interrupted"]["count"], ENTRIES[0] + ENTRIES[1])
        self.assertEqual([chunk["events"] for chunk in self.chunks("interrupted")], list(ENTRIES[:2]))

    def test_the_program_says_the_same_without_recording(self):
        plain = self.cases(self.plain)
        for case in self.said.keys() - {"compiled"}:
            self.assertEqual(self.said[case], plain[case])
        self.assertEqual(self.plain.records, [])

    def test_the_guards_are_compiled_once_and_only_when_recording(self):
        said = self.said["compiled"]
        self.assertGreater(said["seconds"], 0)
        self.assertIsNone(said["again"])
        plain = self.cases(self.plain)["compiled"]
        self.assertEqual((plain["seconds"], plain["knows_crema"]), (None, False))
        self.assertRegex(self.recorded.errors, r"<crema: chunks of trees, guards compiled in \d+\.\d s>")
        self.assertIn("<crema: chunks of trees, nothing is recorded>", self.plain.errors)
        (end,) = self.recorded.of_type("end")
        self.assertIn("compile guards", {row["path"] for row in end["sections"]})
        self.assertGreater(end["overhead_ns"], 0.9 * said["cpu_ns"])
        self.assertLessEqual(end["overhead_ns"], end["cpu_ns"])

    def test_what_is_no_frame_is_one_clear_error(self):
        self.assertIn("track() takes an RDataFrame", self.cases(self.plain)["no frame"]["error"])


class CompiledOnceTest(root_case.PyrootCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.cache = pathlib.Path(folder.name, "cache")
        cls.first, cls.chunks, _ = cls().run_with(cls.cache)

    def run_with(self, cache, **environment):
        outcome = self.run_python("pyroot_library.py", root_case.data(), CREMA_CACHE=f"{cache}", **environment)
        said = json.loads(outcome.output)
        (end,) = outcome.of_type("end")
        compiled = [row["path"] for row in end["sections"] if row["path"] == "compile guards"]
        self.assertEqual(len(compiled), 0 if said.pop("seconds") is None else 1)
        found = [{key: chunk[key] for key in ("file", "events", "cuts")} for chunk in outcome.chunks]
        return said, found, end["overhead_ns"] / end["cpu_ns"]

    def library_in(self, cache, **environment):
        """What `track` would load from this folder, or have compiled into it; None: the interpreter compiles."""
        environment = {**os.environ, **self.environment(), "CREMA_CACHE": f"{cache}", **environment}
        done = subprocess.run(
            [root_case.PYTHON, "-W", "ignore", "-c", FIND], env=environment, capture_output=True, text=True, check=False
        )
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return json.loads(done.stdout)

    def test_a_library_is_compiled_once_and_tracks_as_the_interpreter_does(self):
        (library,) = self.cache.iterdir()
        self.assertEqual(self.first["library"], str(library))
        second, again, cost = self.run_with(self.cache)
        self.assertEqual((second, again), (self.first, self.chunks))
        self.assertLess(cost, 0.1)
        interpreted, chunks_of_interpreter, cost = self.run_with("")
        self.assertEqual((interpreted.pop("library"), chunks_of_interpreter), (None, self.chunks))
        self.assertEqual(interpreted["passed"], self.first["passed"])
        self.assertGreater(cost, 0.1)  # what the interpreter takes is a cost of measuring

    def test_without_a_compiler_or_with_the_file_of_another_the_interpreter_compiles(self):
        with tempfile.TemporaryDirectory() as folder:
            for compiler in ("/none/c++", "an 'unfinished quote"):
                self.assertIsNone(self.library_in(folder, CXX=compiler))
            self.assertEqual(os.listdir(folder), [])
            os.chmod(folder, 0o777)  # anybody may put a library there
            self.assertIsNone(self.library_in(folder))
            self.assertEqual(os.listdir(folder), [])
        self.assertEqual(self.library_in(self.cache), self.first["library"])
        with tempfile.TemporaryDirectory() as folder:
            cache = pathlib.Path(shutil.copytree(self.cache, pathlib.Path(folder, "cache")))
            (library,) = cache.iterdir()
            self.assertEqual(self.library_in(cache), str(library))
            library.chmod(0o777)
            self.assertIsNone(self.library_in(cache))

    def test_a_compilation_that_failed_is_not_tried_again_the_same_day(self):
        with tempfile.TemporaryDirectory() as folder:
            counted = pathlib.Path(folder, "counted")
            compiler = pathlib.Path(folder, "compiler")
            compiler.write_text(f"#!/bin/sh\necho >> {counted}\nexit 1\n")
            compiler.chmod(0o700)
            cache = pathlib.Path(folder, "cache")
            said, chunks, _ = self.run_with(cache, CXX=str(compiler))
            self.assertIsNone(said["library"])
            self.assertEqual(chunks, self.chunks)
            self.assertIsNone(self.library_in(cache, CXX=str(compiler)))
            self.assertEqual(counted.read_text(), "\n")
            self.assertEqual([path.suffix for path in cache.iterdir()], [".failed"])

    def test_a_library_that_cannot_be_loaded_is_not_used(self):
        with tempfile.TemporaryDirectory() as folder:
            cache = pathlib.Path(shutil.copytree(self.cache, pathlib.Path(folder, "cache")))
            (library,) = cache.iterdir()
            library.write_bytes(b"no library")
            said, chunks, _ = self.run_with(cache)
            self.assertIsNone(said["library"])
            self.assertEqual(sum(chunk["events"] for chunk in chunks), ENTRIES[0])


# A worker's tasks, with another module in the place of ROOT: what tracking raises, and that a timeout still arrives.
UNTRACKED = """
import json, signal, sys, types, warnings
sys.modules["ROOT"] = types.ModuleType("ROOT")
from crema_hep import root, sdk

class Timeout(Exception):
    pass

def handler(*_):
    raise Timeout

def run(track):
    task = types.SimpleNamespace(rdf=types.SimpleNamespace())
    root._track = track
    for _ in range(2):  # tasks of one process share the frame
        assert root._create_tracked(lambda range_: task, ("ttbar", "", 0), (0, 1)) is task

def raising(error):
    def track(*_, **named):
        raise error
    return track

errors = [
    sdk.SdkError("crema: no headers"), RuntimeError("Template method resolution failed:\\n  Book()"),
    AttributeError("no Track"), KeyError(),
]
with warnings.catch_warnings(record=True) as warned:
    warnings.simplefilter("always")
    for error in errors:
        run(raising(error))
signal.signal(signal.SIGALRM, handler)
try:
    run(lambda *_, **named: signal.raise_signal(signal.SIGALRM))
except Timeout:
    print(json.dumps([str(warning.message) for warning in warned]))
"""


class MissingPartsTest(root_case.PyrootCase):
    def say(self, python, program, **environment):
        done = subprocess.run(
            [python, "-W", "ignore", "-c", program],
            env={**os.environ, **self.environment(), **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        self.assertNotEqual(done.returncode, 0)
        return done.stdout.splitlines()[-1]

    def test_without_root_the_import_says_what_to_do(self):
        error = self.say(sys.executable, "import sys; sys.modules['ROOT'] = None; import crema_hep.root")
        self.assertIn("ImportError: crema: crema_hep.root needs PyROOT", error)
        self.assertIn("pip install ROOT", error)

    def test_without_the_headers_tracking_says_what_to_do(self):
        with tempfile.TemporaryDirectory() as folder:
            program = "import ROOT, crema_hep.root; crema_hep.root.track(ROOT.RDataFrame(1), 'toys')"
            error = self.say(root_case.PYTHON, program, CREMA_DIR=f"{folder}/records", CREMA_PREFIX="")
            self.assertIn("SdkError: crema: the C++ headers of crema were not found: install the wheel", error)
            error = self.say(root_case.PYTHON, program, CREMA_DIR=f"{folder}/records", CREMA_PREFIX=folder)
            self.assertIn(f"{folder} does not have both include/crema/root.h and lib/libcrema_cpp.so", error)

    def test_a_task_runs_whatever_keeps_crema_from_tracking(self):
        done = subprocess.run(
            [sys.executable, "-c", UNTRACKED],
            env={**os.environ, **self.environment()},
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        says = "this worker's tasks run without records of their chunks"
        expected = ["no headers", "Template method resolution failed: Book()", "no Track", "KeyError"]
        self.assertEqual(json.loads(done.stdout), [f"crema: {reason}; {says}" for reason in expected])

    def test_the_folder_of_the_package_comes_before_the_variable(self):
        with tempfile.TemporaryDirectory() as folder:
            package = pathlib.Path(folder, "crema_hep")
            package.mkdir()
            (package / "sdk.py").write_text((CHECKOUT / "python/crema_hep/sdk.py").read_text())
            (package / "__init__.py").touch()
            for file in ("include/crema/root.h", "lib/libcrema_cpp.so"):
                path = package / file
                path.parent.mkdir(parents=True, exist_ok=True)
                path.touch()
            found = subprocess.run(
                [sys.executable, "-c", "from crema_hep import sdk; print(sdk.find().include)"],
                env={**os.environ, "PYTHONPATH": folder, "CREMA_PREFIX": "/elsewhere"},
                capture_output=True,
                text=True,
                check=True,
            )
            self.assertEqual(found.stdout.strip(), str(package / "include"))


if __name__ == "__main__":
    unittest.main(verbosity=2)

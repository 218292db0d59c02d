"""Runs the example on small files. The result is the same for each format and compression, with and without crema.

Run by tools/test, outside Bazel: tools/setup puts ROOT into .cache/root of the checkout.
"""

import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

CHECKOUT = pathlib.Path(__file__).resolve().parents[2]
BINARIES = CHECKOUT / "bazel-bin/examples/root_muons"
EVENTS = 10_000
NAMES = {f"{layout}_{codec}" for layout in ("ttree", "rntuple") for codec in ("none", "lz4", "zstd", "lzma")}


class RootMuonsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not list(CHECKOUT.glob(".cache/root/lib/python3.*/site-packages/ROOT/include/RVersion.h")):
            raise unittest.SkipTest("no ROOT in .cache/root: tools/setup root installs it")
        build = ["bazel", "build", "--ui_event_filters=-info", "--noshow_progress", "//examples/root_muons/..."]
        subprocess.run(build, cwd=CHECKOUT, check=True)
        cls.folder = pathlib.Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.run_binary("replicate", cls.folder, EVENTS, 4000)
        cls.files = sorted(cls.folder.glob("*.root"))
        cls.table = cls.analyze(2, CREMA_DIR=str(cls.folder / "records"))
        logs = (cls.folder / "records").glob("*.jsonl")
        cls.records = [json.loads(line) for log in logs for line in log.read_text().splitlines()]

    @staticmethod
    def run_binary(name, *arguments, **environment):
        done = subprocess.run(
            [BINARIES / name, *map(str, arguments)],
            cwd=CHECKOUT,
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0 or done.stderr:
            raise AssertionError(f"{name} ended with status {done.returncode}: {done.stderr}")
        return done.stdout

    @classmethod
    def analyze(cls, threads, **environment):
        """The line that it prints for each dataset."""
        output = cls.run_binary("root_muons", threads, cls.folder / "out.root", *cls.files, **environment)
        return dict(line.split(maxsplit=1) for line in output.splitlines())

    def chunks(self):
        return [record for record in self.records if record["type"] == "chunk"]

    def test_every_format_and_compression_gives_the_same_result(self):
        self.assertEqual(set(self.table), NAMES)
        self.assertEqual(len(set(self.table.values())), 1, self.table)

    def test_the_pairs_are_z_bosons_and_the_scale_moves_their_mass(self):
        pattern = r"(\d+) events +(\d+) pairs  mass ([\d.]+) GeV, scale ([-+][\d.]+) ([-+][\d.]+)"
        events, pairs, mass, down, up = map(float, re.fullmatch(pattern, self.table["ttree_zstd"]).groups())
        self.assertEqual(events, EVENTS)
        self.assertGreater(pairs, EVENTS / 4)
        self.assertTrue(89 < mass < 92, mass)
        self.assertTrue(-0.3 < down < 0 < up < 0.3, (down, up))

    def test_the_result_does_not_depend_on_crema_or_threads(self):
        self.assertEqual(self.analyze(0), self.table)

    def test_each_file_is_a_dataset_whose_events_are_all_read(self):
        events = collections.Counter()
        for chunk in self.chunks():
            self.assertEqual(chunk["status"], "ok")
            events[chunk["dataset"]] += chunk["events"]
        self.assertEqual(events, dict.fromkeys(NAMES, EVENTS))

    def test_the_cut_flow_is_of_the_nominal_selection(self):
        for name in NAMES:
            passed = collections.Counter()
            for chunk in self.chunks():
                if chunk["dataset"] == name:
                    self.assertEqual(
                        [cut["name"] for cut in chunk["cuts"]], ["all events", "two muons", "Z mass window"]
                    )
                    passed.update({cut["name"]: cut["events"] for cut in chunk["cuts"]})
            self.assertEqual(f" {passed['Z mass window']} pairs" in self.table[name], True, passed)


if __name__ == "__main__":
    unittest.main(verbosity=2)

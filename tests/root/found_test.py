"""What crema finds in runs of ROOT with a planted cause, and does not find in the same runs without it."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

import root_case

PROGRAM = root_case.CHECKOUT / "bazel-bin/collector/cli/crema"


class FoundCase(root_case.RootCase):
    targets = ("//sdk:crema", "//collector/cli:crema")

    def verdicts(self, *arguments, **variables):
        """The verdicts of one run of frames.cc, by id. Its threads are declared, because one task shows only one of
        them."""
        with tempfile.TemporaryDirectory() as folder:
            output = pathlib.Path(folder, "measurement")
            command = [PROGRAM, "run", "-q", "-o", output, "--", root_case.program("frames"), *arguments]
            environment = {**os.environ, **variables, "CREMA_THREADS": str(max(1, arguments[1]))}
            subprocess.run(list(map(str, command)), cwd=folder, check=True, capture_output=True, env=environment)
            document = json.loads((output / "measurement.json").read_text())
        return {verdict["id"]: verdict for verdict in document["verdicts"]}


class FoundTest(FoundCase):
    def test_one_cluster_for_two_threads_is_too_few(self):
        found = self.verdicts("busy", 2, root_case.data() / "no_y.root")
        self.assertIn("too-few-clusters", found)
        self.assertIn("have 1 cluster for", found["too-few-clusters"]["sentence"])
        self.assertEqual(found["too-few-chunks"]["cause"], "too-few-clusters")
        self.assertNotIn("too-few-clusters", self.verdicts("one_loop", 2, *root_case.trees()))

    def test_threads_that_wait_for_the_slowest_file_of_a_batch_are_named(self):
        long, short = root_case.ntuples()[2], root_case.data() / "short_ntuple.root"
        found = self.verdicts("slow_loop", 2, *((long, short) * 3))
        self.assertIn("slowest file of a batch", found["slow-batch"]["sentence"])
        self.assertNotIn("slow-batch", self.verdicts("slow_loop", 2, *root_case.trees()))

    def test_a_slow_codec_is_named_and_a_fast_one_is_not(self):
        repeated = 6  # crema judges no run of less than a core-second
        for slow in ("lzma.root", "lzma_ntuple.root"):
            found = self.verdicts("read_often", 0, *[root_case.data() / slow] * repeated)
            self.assertIn("Decompressing the input", found["compression-heavy"]["sentence"])
            self.assertIn("LZ4, ZSTD", found["compression-heavy"]["suggestion"])
        for fast in ("lz4.root", "zstd.root"):
            found = self.verdicts("read_often", 0, *[root_case.data() / fast] * repeated)
            self.assertNotIn("incomplete-measurement", found)
            self.assertNotIn("compression-heavy", found)


if __name__ == "__main__":
    unittest.main(verbosity=2)

"""Bytes that loops write, and bytes of their columns."""

import collections
import pathlib
import tempfile

import root_case
from root_case import ENTRIES, metric, ntuples, trees


def of_process(outcome, name):
    """The sum of a metric of the process, or None."""
    (end,) = outcome.of_type("end")
    return next((row["sum"] for row in end.get("metrics", []) if row["name"] == name), None)


class WrittenTest(root_case.RootCase):
    def test_what_snapshots_write_is_of_the_process(self):
        for case, outputs in (("snapshot", [""]), ("snapshots", ["", ".first", ".second"])):
            for layout, files in (("tree", trees()), ("ntuple", ntuples()), ("ntuple", trees())):
                for threads in (0, 2):
                    with self.subTest(f"{case} {layout} of {files[0].name} {threads}"):
                        self.written_agree(case, outputs, layout, threads, files)

    def written_agree(self, case, outputs, layout, threads, files):
        """Compares with the bytes that the process passed to write(2). They include the record log, as a run without it
        shows."""
        with tempfile.TemporaryDirectory() as folder:
            output = pathlib.Path(folder, "out.root")
            plain = self.run_program("odd_loops", case, threads, output, layout, *files, recording=False)
            (line,) = plain.probed
            for name in outputs:
                pathlib.Path(f"{output}{name}").unlink()
            outcome = self.run_program("odd_loops", case, threads, output, layout, *files)
            size = sum(pathlib.Path(f"{output}{name}").stat().st_size for name in outputs)
        written = of_process(outcome, "bytes_written")
        self.assertAlmostEqual(written / line["written"], 1, delta=0.01)
        self.assertGreaterEqual(written, size)
        self.assertEqual((outcome.said, outcome.errors), (plain.said, plain.errors))
        self.assertEqual({metric(chunk, "bytes_written") for chunk in outcome.chunks}, {None})

    def test_a_loop_that_writes_nothing_has_no_such_metric(self):
        for threads in (0, 2):
            self.assertIsNone(of_process(self.run_program("frames", "one_loop", threads, *trees()), "bytes_written"))


class ColumnsTest(root_case.RootCase):
    def test_the_bytes_of_columns_are_those_of_their_baskets(self):
        for threads in (0, 2):
            outcome = self.run_program("odd_loops", "columns", threads, *trees())
            taken = collections.Counter()
            for chunk in outcome.chunks:
                names = {row["name"] for row in chunk["metrics"] if row["name"].startswith("column_bytes.")}
                self.assertEqual(names, {"column_bytes.x", "column_bytes.v"})
                for column in ("x", "v"):
                    taken[chunk["file"], column] += metric(chunk, f"column_bytes.{column}")
            self.assertEqual(len(outcome.probed), 3)
            for line in outcome.probed:
                self.assertEqual(
                    {name: taken[line["file"], name] for name in "xv"}, {name: line[name] for name in "xv"}
                )
            read = sum(chunk["bytes_read"] for chunk in outcome.chunks)
            self.assertAlmostEqual(sum(taken.values()) / read, 1, delta=0.01)

    def test_beyond_the_limit_columns_are_together(self):
        wide = root_case.data() / "wide.root"
        (chunk,) = self.run_program("frames", "columns", 0, 120, wide).chunks
        rows = {row["name"]: row["sum"] for row in chunk["metrics"] if row["name"].startswith("column_bytes.")}
        self.assertEqual(len(rows), 101)
        self.assertAlmostEqual(sum(rows.values()) / chunk["bytes_read"], 1, delta=0.01)
        self.assertGreater(rows["column_bytes.(other)"], rows["column_bytes.c0"])

    def test_readers_and_plain_loops_tell_them_too(self):
        for case in ("reader", "own_statistics"):
            (chunk,) = self.run_program("readers", case, trees()[0]).chunks
            self.assertAlmostEqual(metric(chunk, "column_bytes.x") / chunk["bytes_read"], 1, delta=0.01)
        chunks = self.run_program("readers", "clusters", *trees()).chunks
        self.assertEqual(sum(chunk["events"] for chunk in chunks), sum(ENTRIES))
        for chunk in chunks:
            taken = sum(row["sum"] for row in chunk["metrics"] if row["name"].startswith("column_bytes."))
            self.assertAlmostEqual(taken / chunk["bytes_read"], 1, delta=0.01)

    def test_of_ntuples_the_reason_is_told(self):
        (chunk,) = self.run_program("readers", "ntuple", ntuples()[0]).chunks
        self.assertIsNone(metric(chunk, "column_bytes.x"))
        self.assertIn("columns", chunk["attributes"]["reading"])
        for chunk in self.run_program("frames", "one_loop", 2, *ntuples()).chunks:
            self.assertIsNone(metric(chunk, "column_bytes.x"))
            self.assertIn("columns", chunk["attributes"]["reading"])

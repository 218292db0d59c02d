"""crema::TrackReader, TrackNtuple and Chunks: loops that are not RDataFrame's."""

import unittest

import root_case
from root_case import ENTRIES, metric, ntuples, ranges, trees


class ReadersTest(root_case.RootCase):
    def run_case(self, case, *files):
        """Runs it, and checks that without recording it does the same."""
        recorded = self.run_program("readers", case, *files)
        plain = self.run_program("readers", case, *files, recording=False)
        self.assertEqual(recorded.errors, plain.errors)
        self.assertEqual(recorded.said, plain.said)
        return recorded

    def test_bytes_and_calls_are_those_of_the_file(self):
        outcome = self.run_case("reader", trees()[0])
        (chunk,) = outcome.chunks
        (line,) = outcome.probed
        self.assertEqual((chunk["bytes_read"], metric(chunk, "read_calls")), (line["bytes"], line["calls"]))
        self.assertEqual(chunk["columns"], ["x"])
        self.assertEqual((chunk["dataset"], chunk["tree"], chunk["events"]), ("ttbar", "Events", ENTRIES[0]))
        self.assertEqual(ranges(outcome.chunks), [("tree0.root", 0, ENTRIES[0])])

    def test_a_range_of_the_reader_is_the_chunks(self):
        outcome = self.run_case("reader_of_a_range", trees()[0])
        expected = [("tree0.root", first, min(first + 20_000, 50_000)) for first in (0, 20_000, 40_000)]
        self.assertEqual(ranges(outcome.chunks), expected)
        self.assertEqual([chunk["events"] for chunk in outcome.chunks], [20_000, 20_000, 10_000])

    def test_a_file_of_a_chain_is_a_chunk(self):
        outcome = self.run_case("reader_of_a_chain", *trees())
        self.assertEqual(ranges(outcome.chunks), [(f"tree{i}.root", 0, entries) for i, entries in enumerate(ENTRIES)])
        self.assertEqual([chunk["events"] for chunk in outcome.chunks], list(ENTRIES))

    def test_events_of_a_loop_that_is_left_are_those_that_were_read(self):
        for case, events in (("reader_left_early", 100), ("reader_never_used", 0)):
            (chunk,) = self.run_case(case, trees()[0]).chunks
            self.assertEqual((chunk["events"], chunk["status"]), (events, "ok"))

    def test_an_exception_or_a_missing_column_fails_the_chunk(self):
        (chunk,) = self.run_case("reader_that_throws", trees()[0]).chunks
        self.assertEqual((chunk["status"], chunk["error"], chunk["events"]), ("failed", "exception", 1000))
        (chunk,) = self.run_case("reader_of_a_missing_column", trees()[0]).chunks
        self.assertEqual((chunk["status"], chunk["events"]), ("failed", 0))
        self.assertIn("no_such_column", chunk["error"])

    def test_the_programs_own_statistics_go_on(self):
        outcome = self.run_case("own_statistics", trees()[0])
        self.assertIn("own 1 stays 1", outcome.output)
        (chunk,) = outcome.chunks
        self.assertGreater(chunk["bytes_read"], 0)
        self.assertGreater(metric(chunk, "unzip_wall"), 0)

    def test_a_task_of_a_tree_processor_is_a_chunk(self):
        outcome = self.run_case("processor", *trees())
        self.assertEqual(ranges(outcome.chunks), root_case.in_clusters(20_000))
        self.assertEqual(sum(chunk["events"] for chunk in outcome.chunks), sum(ENTRIES))

    def test_an_ntuple_tells_its_metrics(self):
        outcome = self.run_case("ntuple", ntuples()[0])
        (chunk,) = outcome.chunks
        (line,) = outcome.probed
        self.assertEqual((chunk["bytes_read"], metric(chunk, "read_calls")), (line["bytes"], line["calls"]))
        self.assertEqual(metric(chunk, "unzip_bytes"), line["unzip"])
        self.assertAlmostEqual(metric(chunk, "read_wall"), line["read_ns"] / 1e9, places=9)
        self.assertAlmostEqual(metric(chunk, "unzip_wall"), line["unzip_ns"] / 1e9, places=9)
        self.assertEqual((chunk["tree"], chunk["entry_stop"], chunk["events"]), ("Events", ENTRIES[0], ENTRIES[0]))

    def test_a_plain_loop_by_clusters_and_by_entries(self):
        for case, entries in (("clusters", 20_000), ("plain_loop", 15_000)):
            outcome = self.run_case(case, *trees())
            self.assertEqual(ranges(outcome.chunks), root_case.in_clusters(entries))
            for chunk in outcome.chunks:
                self.assertEqual(chunk["events"], chunk["entry_stop"] - chunk["entry_start"])
                self.assertGreaterEqual(chunk["bytes_read"], 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)

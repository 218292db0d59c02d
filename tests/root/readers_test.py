"""crema::TrackReader, TrackNtuple and Chunks: loops that are not RDataFrame's."""

import pathlib
import unittest

import root_case
from root_case import ENTRIES, metric, ntuples, ranges, trees


class ReadersTest(root_case.RootCase):
    def run_case(self, case, *files):
        """Runs the case, and checks that it does the same without recording."""
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

    def test_the_programs_own_statistics_go_on_and_say_the_same(self):
        differences = []
        for _ in range(10):  # both read the clock after each read, 1 us apart; the kernel may take the core in between
            outcome = self.run_case("own_statistics", trees()[0])
            self.assertIn("stays 1", outcome.output)
            (chunk,) = outcome.chunks
            (own,) = outcome.probed
            stored = metric(chunk, "bytes_read") + metric(chunk, "read_overhead_bytes")
            self.assertEqual((stored, metric(chunk, "read_calls")), (own["bytes"], own["calls"]))
            times = [(metric(chunk, name), own[name]) for name in ("read_wall", "unzip_wall")]
            if all(abs(ours - theirs) <= 0.01 * theirs + 1e-3 for ours, theirs in times):
                return
            differences.append(times)
        self.fail(f"no run of ten has the same times: {differences}")

    def test_a_task_of_a_tree_processor_is_a_chunk(self):
        outcome = self.run_case("processor", *trees())
        self.assertEqual(ranges(outcome.chunks), root_case.in_clusters(20_000))
        self.assertEqual(sum(chunk["events"] for chunk in outcome.chunks), sum(ENTRIES))

    def test_events_of_an_entry_list_are_those_of_the_list(self):
        chunks = self.run_case("entry_list", *trees()).chunks
        found = [(pathlib.Path(chunk["file"]).name, chunk["events"], chunk["entry_start"]) for chunk in chunks]
        self.assertEqual(found, [(f"tree{i}.root", 1000, None) for i in range(3)])

    def test_what_draw_reads_is_a_chunk(self):
        outcome = self.run_case("draw", trees()[0])
        ((chunk,), (line,)) = outcome.chunks, outcome.probed
        self.assertEqual(chunk["events"], ENTRIES[0])
        self.assertGreater(chunk["bytes_read"], 2 * 8 * ENTRIES[0] / 2)
        # the rest is what opening the file read
        self.assertAlmostEqual(chunk["bytes_read"] / line["bytes"], 1, delta=0.05)

    def test_an_ntuple_tells_its_metrics(self):
        outcome = self.run_case("ntuple", ntuples()[0])
        (chunk,) = outcome.chunks
        (line,) = outcome.probed
        self.assertEqual((chunk["bytes_read"], metric(chunk, "read_calls")), (line["bytes"], line["calls"]))
        self.assertEqual(metric(chunk, "unzip_bytes"), line["unzip"])
        self.assertAlmostEqual(metric(chunk, "read_wall"), line["read_ns"] / 1e9, places=9)
        self.assertAlmostEqual(metric(chunk, "unzip_wall"), line["unzip_ns"] / 1e9, places=9)
        self.assertEqual((chunk["tree"], chunk["entry_stop"], chunk["events"]), ("Events", ENTRIES[0], ENTRIES[0]))

    def test_events_of_an_ntuple_are_those_that_were_given_out_or_told(self):
        outcome = self.run_case("ntuple_of_parts", ntuples()[0])
        expected = [("ntuple0.root", 0, 20_000), ("ntuple0.root", 20_000, 40_000), ("ntuple0.root", 40_000, ENTRIES[0])]
        self.assertEqual(ranges(outcome.chunks), expected)
        self.assertEqual([chunk["events"] for chunk in outcome.chunks], [20_000, 101, 10_000])
        (whole,) = self.run_case("ntuple", ntuples()[0]).chunks
        for name in ("unzip_bytes", "bytes_read"):  # counted once, though they are of one reader
            self.assertLessEqual(sum(metric(chunk, name) for chunk in outcome.chunks), metric(whole, name))
        (chunk,) = self.run_case("ntuple_not_told", ntuples()[0]).chunks
        self.assertEqual((chunk["events"], chunk["entry_stop"], chunk["status"]), (None, ENTRIES[0], "ok"))
        (chunk,) = self.run_case("ntuple_that_throws", ntuples()[0]).chunks
        self.assertEqual((chunk["status"], chunk["error"], chunk["events"]), ("failed", "exception", 1000))

    def test_a_plain_loop_by_clusters_and_by_entries(self):
        for case, entries in (("clusters", 20_000), ("plain_loop", 15_000)):
            outcome = self.run_case(case, *trees())
            self.assertEqual(ranges(outcome.chunks), root_case.in_clusters(entries))
            for chunk in outcome.chunks:
                self.assertEqual(chunk["events"], chunk["entry_stop"] - chunk["entry_start"])
            # x, y and number of each entry, and v
            self.assertGreater(sum(metric(chunk, "unzip_bytes") for chunk in outcome.chunks), 20 * sum(ENTRIES))

    def test_a_reader_in_chunks_of_entries_is_as_a_plain_loop(self):
        plain, reader = (self.run_case(case, *trees()) for case in ("plain_loop", "reader_in_chunks"))
        self.assertEqual(reader.said, plain.said)
        self.assertEqual(ranges(reader.chunks), ranges(plain.chunks))
        for chunk in reader.chunks:
            self.assertEqual(chunk["events"], chunk["entry_stop"] - chunk["entry_start"])
        self.assertGreaterEqual(sum(metric(chunk, "unzip_bytes") for chunk in reader.chunks), 7 * sum(ENTRIES))  # x

    def test_a_plain_loop_that_is_left_counts_what_was_given_out(self):
        outcome = self.run_case("chunks_left_early", *trees())
        self.assertEqual([(c["events"], c["status"]) for c in outcome.chunks], [(101, "ok"), (101, "ok")])
        outcome = self.run_case("chunks_that_throw", trees()[0])
        ends = [(c["events"], c["status"], c["error"]) for c in outcome.chunks]
        self.assertEqual(ends, [(15_000, "ok", None), (1000, "failed", "exception")])

    def test_a_plain_loop_that_reads_on_several_threads_tells_bytes_and_no_times(self):
        outcome = self.run_case("chunks_on_threads", trees()[0])
        (chunk,) = outcome.chunks
        (line,) = outcome.probed
        self.assertEqual((chunk["bytes_read"], metric(chunk, "read_calls")), (line["bytes"], line["calls"]))
        self.assertEqual((metric(chunk, "read_wall"), metric(chunk, "unzip_wall")), (None, None))
        self.assertIn("other threads", chunk["attributes"]["reading"])

    def test_a_file_that_a_chain_leaves_out_is_a_failed_attempt(self):
        for case in ("clusters", "reader_of_a_chain"):
            for name, error in (("truncated.root", "truncated"), ("none.root", "not exist")):
                bad = root_case.data() / name
                for files in ((trees()[0], bad, trees()[2]), (trees()[0], trees()[2], bad)):
                    with self.subTest(f"{case} {name} {files.index(bad)}"):
                        outcome = self.run_case(case, *files)
                        (failed,) = (chunk for chunk in outcome.chunks if chunk["status"] == "failed")
                        self.assertEqual((failed["file"], failed["events"]), (str(bad), None))
                        self.assertIn(error, failed["error"])
                        events = sum(chunk["events"] for chunk in outcome.chunks if chunk["status"] == "ok")
                        self.assertEqual(events, ENTRIES[0] + ENTRIES[2])

    def test_a_file_without_entries_is_no_chunk(self):
        empty = root_case.data() / "empty.root"
        for case in ("clusters", "reader_of_a_chain"):
            outcome = self.run_case(case, trees()[0], empty, trees()[2])
            self.assertEqual({chunk["status"] for chunk in outcome.chunks}, {"ok"})
            self.assertEqual(sum(chunk["events"] for chunk in outcome.chunks), ENTRIES[0] + ENTRIES[2])
            self.assertEqual([c for c in self.run_case(case, empty).chunks if c["events"] != 0], [])

    def test_without_recording_root_stays_as_it_is(self):
        recorded = self.run_program("readers", "hooks", trees()[0])
        self.assertEqual(recorded.output, "Chunks hooked\nbehind bare\nTrackReader hooked\n")
        plain = self.run_program("readers", "hooks", trees()[0], recording=False)
        self.assertEqual(plain.output, "Chunks bare\nbehind bare\nTrackReader bare\n")


if __name__ == "__main__":
    unittest.main(verbosity=2)

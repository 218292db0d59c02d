"""crema::TrackDataFrame: each task of each event loop is a chunk, with what it read."""

import collections
import itertools
import os
import pathlib
import re
import signal
import tempfile
import unittest

import root_case
from root_case import ENTRIES, metric, ntuples, ranges, trees

COMPILATION = "just-in-time compilation"
WHOLE_TREES = [(f"tree{i}.root", 0, entries) for i, entries in enumerate(ENTRIES)]
WHOLE_NTUPLES = [(f"ntuple{i}.root", 0, entries) for i, entries in enumerate(ENTRIES)]


class FramesTest(root_case.RootCase):
    def agree_with_probe(self, outcome):
        """Checks that chunks are the probe's tasks: file, range (if the probe sees it), events, thread."""
        probed = sorted((line["file"], line["events"], line["tid"]) for line in outcome.probed)
        recorded = sorted((chunk["file"], chunk["events"], chunk["tid"]) for chunk in outcome.chunks)
        self.assertNotEqual(probed, [])
        self.assertEqual(recorded, probed)

    def test_on_one_thread_a_chunk_is_a_file(self):
        for files, expected in ((trees(), WHOLE_TREES), (ntuples(), WHOLE_NTUPLES)):
            with self.subTest(expected[0][0]):
                outcome = self.run_program("frames", "one_loop", 0, *files)
                self.agree_with_probe(outcome)
                self.assertEqual(ranges(outcome.chunks), expected)
                self.assertEqual([chunk["events"] for chunk in outcome.chunks], list(ENTRIES))
                for chunk in outcome.chunks:
                    self.assertEqual((chunk["dataset"], chunk["tree"], chunk["pass"]), ("ttbar", "Events", None))

    def test_on_two_threads_a_chunk_is_a_task(self):
        for files in (trees(), ntuples()):
            with self.subTest(files[0].name):
                outcome = self.run_program("frames", "one_loop", 2, *files)
                self.agree_with_probe(outcome)
                probed = sorted((pathlib.Path(p["file"]).name, p["first"], p["last"]) for p in outcome.probed)
                self.assertEqual(ranges(outcome.chunks), probed)
                self.assertEqual(sum(chunk["events"] for chunk in outcome.chunks), sum(ENTRIES))
        # ROOT chooses the tasks of RNTuple freely; those of TTree are its clusters.
        outcome = self.run_program("frames", "one_loop", 2, *trees())
        self.assertEqual(ranges(outcome.chunks), root_case.in_clusters(20_000))

    def test_the_threads_of_roots_pool_are_the_cores_that_a_process_declares(self):
        for threads, declared in ((0, None), (2, 2 if len(os.sched_getaffinity(0)) >= 2 else None)):
            (process,) = self.run_program("frames", "one_loop", threads, trees()[0]).of_type("process")
            self.assertEqual(process["threads"], declared)

    def test_durations_and_cpu_times_are_the_probes(self):
        for files, threads in itertools.product((trees(), ntuples()), (0, 2)):
            with self.subTest(f"{files[0].name} {threads}"):
                # A busy machine may interrupt a thread between the clocks of the two actions, but not each time.
                self.assertTrue(any(self.times_agree(files, threads) for _ in range(5)))

    def times_agree(self, files, threads):
        """Checks that the sums agree within 1 %. ROOT decides which of the two actions begins first."""
        outcome = self.run_program("frames", "slow_loop", threads, *files)
        self.agree_with_probe(outcome)
        wall = sum(chunk["stop_ns"] - chunk["start_ns"] for chunk in outcome.chunks)
        cpu = sum(chunk["cpu_ns"] for chunk in outcome.chunks)
        walls, cpus = (sum(line[name] for line in outcome.probed) for name in ("wall_ns", "cpu_ns"))
        self.assertGreater(walls, 2000 * sum(ENTRIES))
        return abs(wall - walls) < walls / 100 and abs(cpu - cpus) < cpus / 100

    def test_bytes_and_calls_are_those_that_root_counts(self):
        outcome = self.run_program("frames", "one_loop", 0, *trees())
        for chunk, line in zip(outcome.chunks, outcome.probed, strict=True):
            self.assertEqual(chunk["bytes_read"], line["bytes"])
            self.assertEqual(metric(chunk, "bytes_read"), line["bytes"])
            self.assertEqual(metric(chunk, "read_calls"), line["calls"])
            self.assertEqual(chunk["columns"], ["y", "x"])
            self.assertGreaterEqual(metric(chunk, "unzip_bytes"), 0.98 * 2 * 8 * chunk["events"])
            self.assertLessEqual(metric(chunk, "unzip_bytes"), 2 * 8 * chunk["events"])
            self.assertGreater(chunk["bytes_uncompressed"], chunk["bytes_read"])
            for time in ("read_wall", "unzip_wall"):
                self.assertGreater(metric(chunk, time), 0)
                self.assertLess(metric(chunk, time) * 1e9, chunk["stop_ns"] - chunk["start_ns"])

    def test_bytes_of_two_threads_add_up_to_those_of_one(self):
        one = self.run_program("frames", "one_loop", 0, *trees())
        two = self.run_program("frames", "one_loop", 2, *trees())
        for name in ("unzip_bytes", "bytes_read"):
            sums = [sum(metric(chunk, name) for chunk in outcome.chunks) for outcome in (one, two)]
            self.assertAlmostEqual(sums[1] / sums[0], 1, delta=0.01)

    def test_bytes_of_ntuples_are_those_of_their_pages(self):
        sizes = self.run_program("readers", "ntuple_sizes", *ntuples()).probed
        for case, threads in (("one_loop", 0), ("one_loop", 2), ("small_chunks", 0)):
            with self.subTest(f"{case} {threads}"):
                chunks = self.run_program("frames", case, threads, *ntuples()).chunks
                read, unzipped = collections.Counter(), collections.Counter()
                for chunk in chunks:
                    self.assertEqual(chunk["bytes_read"], metric(chunk, "bytes_read"))
                    read[chunk["file"]] += chunk["bytes_read"]
                    unzipped[chunk["file"]] += metric(chunk, "unzip_bytes")
                    self.assertLess(metric(chunk, "unzip_wall") * 1e9, chunk["stop_ns"] - chunk["start_ns"])
                    self.assertIsNone(chunk["columns"])
                    self.assertIn("columns of RNTuple", chunk["attributes"]["reading"])
                for each in ("read_calls", "read_wall", "unzip_wall"):
                    self.assertGreater(sum(metric(chunk, each) for chunk in chunks), 0)
                self.assertEqual(read, {size["file"]: size["stored"] for size in sizes})
                self.assertEqual(unzipped, {size["file"]: size["bytes"] for size in sizes})

    def test_a_loop_over_ntuples_that_ends_early_has_the_bytes_that_it_read(self):
        (chunk,) = self.run_program("frames", "range", 0, *ntuples()).chunks
        self.assertEqual((chunk["events"], chunk["bytes_read"]), (100, 0))  # the filter needs no column
        (size,) = self.run_program("readers", "ntuple_sizes", ntuples()[0]).probed
        for chunk in self.run_program("frames", "throw", 0, *ntuples()).chunks:
            self.assertEqual(chunk["status"], "failed")
            self.assertLessEqual(chunk["bytes_read"], size["stored"])

    def test_later_loops_over_ntuples_have_bytes_of_their_own(self):
        for threads in (0, 2):
            read = collections.Counter()
            for chunk in self.run_program("frames", "several_loops", threads, *ntuples()).chunks:
                read[chunk["pass"]] += chunk["bytes_read"]
            sizes = self.run_program("readers", "ntuple_sizes", *ntuples()).probed
            self.assertEqual(read, dict.fromkeys((None, "loop 2", "loop 3"), sum(size["stored"] for size in sizes)))

    def test_reads_are_requests_to_the_mount_of_the_file(self):
        mount = root_case.data().resolve()
        while not mount.is_mount():
            mount = mount.parent
        for threads in (0, 2):
            for chunk in self.run_program("frames", "one_loop", threads, *trees()).chunks:
                (row,) = chunk["requests"]
                self.assertEqual((row["server"], row["operation"], row.get("errors")), (str(mount), "read", None))
                self.assertEqual(row["count"], metric(chunk, "read_calls"))
                self.assertEqual(row["bytes"], chunk["bytes_read"] + metric(chunk, "read_overhead_bytes"))
                self.assertAlmostEqual(row["total_ns"] / 1e9, metric(chunk, "read_wall"), delta=1e-6)

    def test_a_program_prints_the_same_with_and_without_recording(self):
        for case in (
            "one_loop",
            "several_loops",
            "several_frames",
            "chain",
            "tree",
            "samples",
            "global_range",
            "range",
        ):
            for threads in (0,) if case == "range" else (0, 2):
                with self.subTest(f"{case} {threads}"):
                    recorded = self.run_program("frames", case, threads, *trees())
                    plain = self.run_program("frames", case, threads, *trees(), recording=False)
                    self.assertEqual(recorded.said, plain.said)
                    self.assertEqual(recorded.errors, plain.errors)
                    self.assertEqual(plain.records, [])

    def test_each_event_loop_of_a_frame_is_a_pass(self):
        for threads, expected in ((0, WHOLE_TREES), (2, root_case.in_clusters(20_000))):
            outcome = self.run_program("frames", "several_loops", threads, *trees())
            by_pass = collections.defaultdict(list)
            for chunk in outcome.chunks:
                by_pass[chunk["pass"]].append(chunk)
            self.assertEqual(set(by_pass), {None, "loop 2", "loop 3"})
            for chunks in by_pass.values():
                self.assertEqual(ranges(chunks), expected)

    def test_frames_that_run_at_once(self):
        for threads in (0, 2):
            chunks = self.run_program("frames", "several_frames", threads, *trees()).chunks
            events = collections.Counter()
            for chunk in chunks:
                events[chunk["dataset"], pathlib.Path(chunk["file"]).name] += chunk["events"]
            self.assertEqual(events, {("ttbar", "tree0.root"): ENTRIES[0], ("zjets", "tree1.root"): ENTRIES[1]})

    def test_a_second_frame_of_the_same_files_is_another_pass(self):
        chunks = self.run_program("frames", "two_frames_of_the_same_files", 0, *trees()).chunks
        self.assertEqual([chunk["pass"] for chunk in chunks], [None] * 3 + ["loop 2"] * 3)

    def test_events_are_those_read_not_those_that_pass_the_nodes_filters(self):
        chunks = self.run_program("frames", "filtered_node", 0, *trees()).chunks
        self.assertEqual([chunk["events"] for chunk in chunks], list(ENTRIES))

    def test_a_sample_of_a_dataset_specification_is_a_dataset(self):
        for files, threads in itertools.product((trees(), ntuples()), (0, 2)):
            outcome = self.run_program("frames", "samples", threads, *files)
            self.agree_with_probe(outcome)
            names = {pathlib.Path(chunk["file"]).name[-6]: chunk["dataset"] for chunk in outcome.chunks}
            self.assertEqual(names, {"0": "ttbar", "1": "zjets", "2": "data"})

    def test_entry_ranges_are_of_the_file_where_root_counts_along_the_chain(self):
        one = self.run_program("frames", "global_range", 0, *trees())
        self.assertEqual(ranges(one.chunks), [("tree0.root", 30_000, 50_000), ("tree1.root", 0, 20_000)])
        two = self.run_program("frames", "global_range", 2, *trees())
        self.assertEqual(
            ranges(two.chunks),
            [("tree0.root", 30_000, 40_000), ("tree0.root", 40_000, 50_000), ("tree1.root", 0, 20_000)],
        )
        for outcome in (one, two, self.run_program("frames", "global_range", 2, *ntuples())):
            self.agree_with_probe(outcome)
            self.assertEqual(sum(chunk["events"] for chunk in outcome.chunks), 40_000)

    def test_chains_trees_and_friends(self):
        for case, threads in itertools.product(("chain", "friends"), (0, 2)):
            with self.subTest(f"{case} {threads}"):
                outcome = self.run_program("frames", case, threads, *trees())
                self.agree_with_probe(outcome)
                expected = root_case.in_clusters(20_000) if threads else WHOLE_TREES
                self.assertEqual(ranges(outcome.chunks), expected)
        outcome = self.run_program("frames", "tree", 0, *trees())
        self.agree_with_probe(outcome)
        self.assertEqual(ranges(outcome.chunks), WHOLE_TREES[:1])

    def test_events_of_an_entry_list_are_those_of_the_list(self):
        for threads in (0, 2):
            recorded = self.run_program("frames", "entry_list", threads, *trees())
            plain = self.run_program("frames", "entry_list", threads, *trees(), recording=False)
            self.assertEqual(recorded.said, plain.said)
            events, places = collections.Counter(), []
            for chunk in recorded.chunks:
                events[pathlib.Path(chunk["file"]).name] += chunk["events"]
                places.append((chunk["entry_start"], chunk["entry_stop"]))
                self.assertIsNone(metric(chunk, "tree_clusters"))
            self.assertEqual(events, {f"tree{i}.root": 1000 for i in range(3)})
            if threads == 0:  # ROOT does not show which places of the list are in a file
                self.assertEqual(set(places), {(None, None)})
            else:
                self.assertEqual(sum(stop - start for start, stop in places), 3000)

    def test_a_source_without_files_and_ranges_has_neither(self):
        with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
            file.write("a,b\n1,2\n3,4\n5,6\n")
            file.flush()
            (chunk,) = self.run_program("frames", "csv", 0, file.name).chunks
        self.assertEqual((chunk["events"], chunk["entry_start"], chunk["entry_stop"]), (3, None, None))
        self.assertEqual((chunk["bytes_read"], chunk["metrics"]), (None, []))
        self.assertIn("ROOT does not report bytes", chunk["attributes"]["reading"])

    def test_a_chunk_has_at_most_the_entries_that_were_asked_for(self):
        chunks = self.run_program("frames", "small_chunks", 0, *trees()).chunks
        self.assertEqual(ranges(chunks), root_case.in_clusters(15_000))
        self.assertTrue(all(chunk["events"] == chunk["entry_stop"] - chunk["entry_start"] for chunk in chunks))

    def test_a_frame_without_files(self):
        chunks = self.run_program("frames", "empty_source", 0).chunks
        self.assertEqual([(c["dataset"], c["file"], c["events"]) for c in chunks], [("toys", None, 1000)])

    def test_set_up_merging_and_gaps_are_sections_of_the_process(self):
        outcome = self.run_program("frames", "one_loop", 2, *trees())
        sections = {row["path"]: row["count"] for row in outcome.of_type("end")[0]["sections"]}
        threads = {chunk["tid"] for chunk in outcome.chunks}
        gaps = {"between tasks": len(outcome.chunks) - len(threads)}
        self.assertEqual(sections, {"set up task": len(outcome.chunks), "merge results": 1, **gaps})

    def test_threads_that_wait_for_the_slowest_file_of_a_batch_are_a_section(self):
        outcome = self.run_program("frames", "slow_loop", 2, *(ntuples() * 2))
        gaps = {row["path"]: row for row in outcome.of_type("end")[0]["sections"]}["wait for next files"]
        chunks = sorted(outcome.chunks, key=lambda chunk: chunk["start_ns"])
        self.assertGreaterEqual(len(chunks), 6)
        self.assertEqual(gaps["count"], len(chunks) - len({chunk["tid"] for chunk in chunks}))
        # The two files of a batch are read at once, and the next two begin when both are done.
        batches = [chunks[first : first + 2] for first in range(0, 6, 2)]
        for batch, following in itertools.pairwise(batches):
            self.assertLessEqual(max(c["stop_ns"] for c in batch), min(c["start_ns"] for c in following))

    def test_just_in_time_compilation_is_a_section_of_the_process(self):
        for threads in (0, 2):
            outcome = self.run_program("frames", "compiled", threads, *trees())
            plain = self.run_program("frames", "compiled", threads, *trees(), recording=False)
            self.assertEqual((outcome.said, outcome.errors), (plain.said, plain.errors))
            (row,) = (row for row in outcome.of_type("end")[0]["sections"] if row["path"] == COMPILATION)
            self.assertEqual(row["count"], 1)  # the second loop has nothing to compile

    def test_what_graphs_that_run_together_compile_is_a_section(self):
        outcome = self.run_program("frames", "compiled_together", 2, *trees())
        seconds_of_root = re.findall(r"compilation phase for RunGraphs.*completed in ([\d.]+) seconds", outcome.errors)
        self.assertEqual(len(seconds_of_root), 1, outcome.errors)
        (row,) = (row for row in outcome.of_type("end")[0]["sections"] if row["path"] == COMPILATION)
        self.assertEqual(row["count"], 1)
        self.assertGreaterEqual(row["total_ns"] / 1e9, float(seconds_of_root[0]) - 1e-3)

    def test_the_log_of_root_is_the_programs(self):
        outcome = self.run_program("frames", "logged", 0, *trees())
        plain = self.run_program("frames", "logged", 0, *trees(), recording=False)
        without_figures = [re.sub(r"[\d.]+s? ", "# ", each.errors) for each in (outcome, plain)]
        self.assertEqual(without_figures[0], without_figures[1])
        seconds_of_root = re.findall(r"compilation phase completed in ([\d.]+) seconds", outcome.errors)
        self.assertEqual(len(seconds_of_root), 2)
        (row,) = (row for row in outcome.of_type("end")[0]["sections"] if row["path"] == COMPILATION)
        self.assertEqual(row["count"], 2)
        self.assertGreaterEqual(row["total_ns"] / 1e9, sum(map(float, seconds_of_root)) - 1e-5)

    def test_clusters_that_begin_in_a_chunk_are_counted(self):
        for case, threads in (("one_loop", 0), ("one_loop", 2), ("small_chunks", 0), ("global_range", 0)):
            chunks = self.run_program("frames", case, threads, *trees()).chunks
            for chunk in chunks:
                first, last = chunk["entry_start"], chunk["entry_stop"]
                begun = sum(first <= start < last for start in range(0, max(ENTRIES), 20_000))
                self.assertEqual(metric(chunk, "tree_clusters"), begun)
        for chunk in self.run_program("frames", "one_loop", 2, *ntuples()).chunks:
            self.assertIsNone(metric(chunk, "tree_clusters"))
        # Later loops read the same clusters.
        counted = collections.Counter()
        for chunk in self.run_program("frames", "several_loops", 2, *trees()).chunks:
            counted[chunk["pass"]] += metric(chunk, "tree_clusters") or 0
        self.assertEqual(counted, {None: 10, "loop 2": 0, "loop 3": 0})

    def test_timed_functions_are_sections_of_the_chunk(self):
        for threads in (0, 2):
            for chunk in self.run_program("frames", "timed", threads, *trees()).chunks:
                calls = {row["path"]: row["count"] for row in chunk["sections"]}
                self.assertEqual(calls, {"square": chunk["events"], "cut": chunk["events"]})

    def test_named_filters_are_the_cut_flow(self):
        for threads in (0, 2):
            outcome = self.run_program("frames", "cut_flow", threads, *trees())
            passed = collections.Counter()
            for chunk in outcome.chunks:
                self.assertEqual(chunk["cuts"][0]["events"], chunk["events"])
                passed.update({cut["name"]: cut["events"] for cut in chunk["cuts"]})
            said = dict(line.split("=") for line in outcome.output.splitlines())
            self.assertEqual(len(said), 3)
            expected = {"all events": sum(ENTRIES), **{name: int(count) for name, count in said.items()}}
            self.assertEqual(dict(passed), expected)

    def test_each_filter_has_what_root_reports_of_it_in_each_branch_loop_and_frame(self):
        flows = ("ttbar", "ttbar, loop 2", "ttbar, frame 2", "ttbar, frame 2, loop 2")
        for threads in (0, 2):
            outcome = self.run_program("frames", "branches", threads, *trees())
            reported = collections.defaultdict(list)
            for loop, name, passed, asked in (line.split("|") for line in outcome.said.splitlines()):
                reported[flows[int(loop)]].append((name, int(passed), int(asked)))
            counted = collections.Counter()
            for chunk in outcome.chunks:
                self.assertEqual(chunk["cuts"][0]["events"], chunk["events"])
                for cut, number in itertools.product(chunk["cuts"], ("events", "seen")):
                    counted[(cut["flow"], cut["path"], cut["name"], number)] += cut[number]
            recorded = collections.defaultdict(list)
            for flow, path, name, number in list(counted):
                if number == "events" and name != "all events":
                    recorded[flow].append((name, *(counted[(flow, path, name, n)] for n in ("events", "seen"))))
            self.assertEqual(
                {flow: sorted(cuts) for flow, cuts in recorded.items()},
                {flow: sorted(cuts) for flow, cuts in reported.items()},
            )
            paths = {path for flow, path, *_ in counted if flow == "ttbar, loop 2"}
            signal, control = "all events/sign", "all events/sign (2)"
            expected = {"all events", signal, control, f"{signal}/large", f"{control}/large"}
            self.assertEqual(paths, expected | {f"{signal}/x%2Fy", f"{signal}/x%2Fy/large"})

    def test_systematic_variations_of_a_filter_are_no_further_cuts(self):
        outcome = self.run_program("frames", "varied", 2, *trees())
        for chunk in outcome.chunks:
            self.assertEqual([cut["name"] for cut in chunk["cuts"]], ["all events", "positive"])
        passed = sum(chunk["cuts"][1]["events"] for chunk in outcome.chunks)
        self.assertEqual(outcome.said, f"positive={passed}\n")


class FaultsTest(root_case.RootCase):
    def failures(self, outcome):
        return [(chunk["file"], chunk["error"]) for chunk in outcome.chunks if chunk["status"] == "failed"]

    def with_bad_file(self, name, threads, good=None):
        """Compares a chain with a bad file in the middle with ROOT without crema."""
        bad = root_case.data() / name
        first, _, last = good or trees()
        files = (first, bad, last)
        outcome = self.run_program("frames", "caught", threads, *files)
        plain = self.run_program("frames", "caught", threads, *files, recording=False)
        if threads == 0:  # with more threads, their timing decides how far the others get
            self.assertEqual((outcome.output, outcome.errors), (plain.output, plain.errors))
        self.assertEqual("caught" in outcome.output, "caught" in plain.output)
        return str(bad), outcome

    def test_a_file_that_cannot_be_opened_on_one_thread_is_a_failed_chunk(self):
        for name, error in (("truncated.root", "truncated"), ("stub.root", "stub.root"), ("none.root", "not exist")):
            with self.subTest(name):
                bad, outcome = self.with_bad_file(name, 0)
                ((file, reason),) = self.failures(outcome)
                self.assertEqual(file, bad)
                self.assertIn(error, reason)
                events = [chunk["events"] for chunk in outcome.chunks if chunk["status"] == "ok"]
                self.assertEqual(events, [ENTRIES[0], ENTRIES[2]])

    def test_a_file_that_cannot_be_opened_on_two_threads_fails_the_loop(self):
        for name in ("truncated.root", "stub.root", "none.root"):
            with self.subTest(name):
                bad, outcome = self.with_bad_file(name, 2)
                ((file, reason),) = self.failures(outcome)
                self.assertEqual(file, bad)
                self.assertIn(name, reason)

    def test_a_missing_column_fails_its_chunk_with_roots_message(self):
        for threads in (0, 2):
            bad, outcome = self.with_bad_file("no_y.root", threads)
            failures = dict(self.failures(outcome))
            self.assertIn(bad, failures)
            self.assertRegex(failures[bad], r"branch called y|Branch 'y'")

    def test_a_missing_field_of_an_ntuple_ends_the_process_as_without_crema(self):
        files = (ntuples()[0], root_case.data() / "no_y_ntuple.root", ntuples()[2])
        for threads, recording in itertools.product((0, 2), (True, False)):
            outcome = self.run_program("frames", "caught", threads, *files, recording=recording, status=-signal.SIGABRT)
            self.assertIn("fOnDiskId != kInvalidDescriptorId", outcome.errors)  # ROOT 6.40 checks it, and aborts
            self.assertEqual(self.failures(outcome), [])

    def test_an_ntuple_that_cannot_be_opened_ends_the_process_as_without_crema(self):
        for threads, name in itertools.product((0, 2), ("truncated_ntuple.root", "none.root")):
            files = (ntuples()[0], root_case.data() / name, ntuples()[2])
            for recording in (True, False):  # the thread that opens the next files does not catch exceptions
                outcome = self.run_program(
                    "frames", "caught", threads, *files, recording=recording, status=-signal.SIGABRT
                )
                self.assertIn("terminate called", outcome.errors)
                self.assertEqual(self.failures(outcome), [])

    def test_the_exception_of_a_timed_function_is_the_reason(self):
        for threads in (0, 2):
            outcome = self.run_program("frames", "throw_timed", threads, *trees())
            self.assertIn("caught no such jet", outcome.output)
            self.assertEqual({error for _, error in self.failures(outcome)}, {"square: no such jet"})

    def test_an_exception_of_a_node_makes_the_chunk_fail(self):
        for files, threads in itertools.product((trees(), ntuples()), (0, 2)):
            outcome = self.run_program("frames", "throw", threads, *files)
            self.assertIn("caught no such jet", outcome.output)
            failed = [chunk for chunk in outcome.chunks if chunk["status"] == "failed"]
            self.assertGreaterEqual(len(failed), 1)
            self.assertEqual({chunk["error"] for chunk in failed}, {"exception"})

    def test_a_range_ends_the_loop_as_without_crema(self):
        outcome = self.run_program("frames", "range", 0, *trees())
        self.assertIn("count 100 entries 100", outcome.output)
        self.assertEqual([(c["events"], c["status"]) for c in outcome.chunks], [(100, "ok")])

    def test_an_empty_file_gives_no_chunk(self):
        for threads in (0, 2):
            self.assertEqual(self.run_program("frames", "caught", threads, root_case.data() / "empty.root").chunks, [])

    def test_a_frame_that_never_runs(self):
        self.assertEqual(self.run_program("frames", "never_run", 2, *trees()).chunks, [])

    def test_handle_and_frame_may_end_in_either_order(self):
        for threads in (0, 2):
            for case in ("frame_ends_first", "handle_ends_first"):
                chunks = self.run_program("frames", case, threads, *trees()).chunks
                self.assertEqual(sum(chunk["events"] for chunk in chunks), sum(ENTRIES))

    def test_a_node_that_is_tracked_may_end_before_the_handle(self):
        for threads in (0, 2):
            chunks = self.run_program("frames", "node_ends_first", threads, *trees()).chunks
            self.assertEqual(sum(chunk["events"] for chunk in chunks), 2 * sum(ENTRIES))

    def test_an_indexed_friend(self):
        for threads in (0, 2):
            with self.subTest(threads):
                outcome = self.run_program(
                    "frames", "indexed_friend", threads, trees()[0], root_case.data() / "friend.root"
                )
                self.assertIn("sum 500", outcome.said)
                self.assertEqual(sum(chunk["events"] for chunk in outcome.chunks), ENTRIES[0])
                self.assertEqual(sum(line["events"] for line in outcome.probed), ENTRIES[0])

    def test_many_files_of_one_entry(self):
        count = 10_000 if "CREMA_TEST_LONG" in os.environ else 300
        for threads in (0, 2):
            with tempfile.TemporaryDirectory() as folder:
                outcome = self.run_program("frames", "many_files", threads, folder, count)
                self.assertIn(f"sum {count}\n", outcome.output)
                self.assertEqual(len({chunk["file"] for chunk in outcome.chunks}), count)
                self.assertEqual([chunk["events"] for chunk in outcome.chunks], [1] * count)

    def test_of_an_interrupted_loop_finished_chunks_stay(self):
        for files in (trees(), ntuples()):
            outcome = self.run_program("frames", "interrupted", 2, *files, status=-signal.SIGINT)
            self.assertGreater(len(outcome.of_type("begin")), len(outcome.chunks))
            self.assertEqual({chunk["status"] for chunk in outcome.chunks} - {"ok"}, set())
        outcome = self.run_program("frames", "interrupted", 0, *trees(), status=-signal.SIGINT)
        self.assertEqual([chunk["events"] for chunk in outcome.chunks], [ENTRIES[0]])
        begun = [(pathlib.Path(line["file"]).name, line["entry_stop"]) for line in outcome.of_type("begin")]
        self.assertEqual(begun, [("tree0.root", ENTRIES[0]), ("tree1.root", ENTRIES[1])])


if __name__ == "__main__":
    unittest.main(verbosity=2)

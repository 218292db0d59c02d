"""Loops that are difficult for the guards: ROOT behaves as without them, and nothing is lost or counted twice."""

import collections
import itertools

import root_case
from root_case import ENTRIES, ntuples, trees

TOTAL = sum(ENTRIES)


def events_of(chunks):
    """By dataset and pass."""
    events = collections.Counter()
    for chunk in chunks:
        events[chunk["dataset"], chunk["pass"]] += chunk["events"]
    return dict(events)


class AttacksTest(root_case.RootCase):
    def attack(self, case, threads, files, **options):
        """Runs the case, and checks that it does the same without recording."""
        recorded = self.run_program("odd_loops", case, threads, *files, **options)
        plain = self.run_program("odd_loops", case, threads, *files, recording=False, status=recorded.status)
        # each thread of ROOT that meets an exception prints a line; how many threads do so is random
        as_collection = set if case == "throw_in_a_sample" else list
        self.assertEqual(
            (recorded.said, as_collection(recorded.errors.splitlines())),
            (plain.said, as_collection(plain.errors.splitlines())),
        )
        self.assertEqual(plain.records, [])
        return recorded

    def each(self, case, threads=(0, 2), **options):
        for count, files in itertools.product(threads, (trees(), ntuples())):
            with self.subTest(f"{case} {count} {files[0].name}"):
                yield self.attack(case, count, files, **options)

    def test_a_handle_that_ends_inside_its_loop(self):
        for outcome in self.each("handle_ends_inside"):
            self.assertEqual(events_of(outcome.chunks), {("ttbar", None): TOTAL})
            self.assertEqual(outcome.output, f"count {TOTAL}\n" * 2)

    def test_handles_that_move(self):
        for outcome in self.each("moved_handles"):
            self.assertEqual(events_of(outcome.chunks), {("ttbar", None): TOTAL, ("ttbar", "loop 2"): TOTAL})

    def test_a_handle_that_ends_with_the_process(self):
        for outcome in self.each("static_handle"):
            self.assertEqual(events_of(outcome.chunks), {("ttbar", None): TOTAL})
            self.assertEqual(len(outcome.of_type("end")), 1)

    def test_a_frame_that_is_tracked_twice_counts_once(self):
        expected = {("first", None): TOTAL, ("second", None): TOTAL, ("second", "loop 2"): TOTAL}
        for outcome in self.each("tracked_twice"):
            self.assertEqual(events_of(outcome.chunks), expected)

    def test_an_exception_of_a_samples_callback(self):
        for outcome in self.each("throw_in_a_sample"):
            self.assertIn("caught no such sample", outcome.output)
            self.assertIn("failed", {chunk["status"] for chunk in outcome.chunks})

    def test_files_that_a_node_opens_and_closes(self):
        for outcome in self.each("files_inside_a_node"):
            self.assertEqual(events_of(outcome.chunks), {("ttbar", None): ENTRIES[0] + ENTRIES[1]})

    def test_a_child_that_is_forked_inside_a_loop(self):
        for outcome in self.each("fork_inside", threads=(0,)):
            self.assertEqual(events_of(outcome.chunks), {("ttbar", None): TOTAL, ("child", None): ENTRIES[2]})
            self.assertIn("child 0\n", outcome.output)

    def test_frames_of_two_threads(self):
        for outcome in self.each("frames_of_two_threads", threads=(0,)):
            self.assertEqual(events_of(outcome.chunks), {("first", None): TOTAL, ("second", None): TOTAL})
            self.assertEqual(len({chunk["tid"] for chunk in outcome.chunks}), 2)

    def test_statistics_that_the_program_sets_inside_a_loop_stay(self):
        outcome = self.attack("own_statistics_inside", 0, trees())
        self.assertIn("stays 1 reads 1", outcome.output)
        self.assertEqual(events_of(outcome.chunks), {("ttbar", None): TOTAL, ("ttbar", "loop 2"): TOTAL})

    def test_implicit_multi_threading_that_is_switched(self):
        for outcome in self.each("threads_switched"):
            recorded = sum(chunk["events"] for chunk in outcome.chunks if chunk["status"] == "ok")
            self.assertEqual(recorded, TOTAL * outcome.output.count(f"count {TOTAL}\n"))

    def test_a_frame_inside_a_node(self):
        for outcome in self.each("frame_inside_a_node"):
            self.assertEqual(
                events_of(outcome.chunks), {("outer", None): ENTRIES[0] + ENTRIES[1], ("inner", None): ENTRIES[2]}
            )

    def test_recording_that_is_switched_inside_a_loop(self):
        for outcome in self.each("recording_switched"):
            self.assertEqual(outcome.output, f"count {TOTAL}\n" * 3)
            last = [chunk for chunk in outcome.chunks if chunk["status"] == "ok"]
            events = sum(chunk["events"] for chunk in last)
            self.assertGreaterEqual(events, TOTAL)
            self.assertLess(events, 3 * TOTAL)

    def test_a_process_that_exits_inside_a_loop(self):
        for outcome in self.each("exit_inside", threads=(0,), status=7):
            self.assertTrue([record for record in outcome.records if record["type"] == "begin"])
            self.assertEqual([chunk for chunk in outcome.chunks if chunk["events"] > ENTRIES[0]], [])

    def test_readers_whose_chunks_end_out_of_order_leave_no_hook(self):
        outcome = self.run_program("odd_loops", "readers_out_of_order", 0, *trees(), misused=1)
        plain = self.run_program("odd_loops", "readers_out_of_order", 0, *trees(), recording=False)
        self.assertEqual(outcome.said, plain.said)
        self.assertIn("bare 1\nbare 1\n", outcome.output)
        self.assertIn("a chunk ended before the chunk inside it", outcome.errors)
        self.assertEqual([chunk["events"] for chunk in outcome.chunks], [30_000, ENTRIES[1], 20_000])

    def test_entries_that_root_reads_on_threads_beside_a_reader(self):
        for threads in (0, 2):
            (chunk,) = self.attack("entries_beside_a_reader", threads, trees()).chunks
            self.assertEqual(chunk["events"], ENTRIES[0])

    def test_tasks_of_a_processor_that_throw(self):
        for threads in (0, 2):
            outcome = self.attack("processor_that_throws", threads, trees())
            self.assertIn("failed", {chunk["status"] for chunk in outcome.chunks})

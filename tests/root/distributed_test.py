"""crema_hep.root.track on frames that Dask distributes: the chunks of the workers belong to the mappers' tasks."""

import collections
import itertools
import json
import pathlib
import tempfile

import root_case
from root_case import ENTRIES, metric, trees


class DistributedTest(root_case.PyrootCase):
    targets = (*root_case.PyrootCase.targets, "//collector/cli:crema")

    @classmethod
    def environment(cls):
        return {**super().environment(), "CREMA_PROGRAM": str(root_case.CHECKOUT / "bazel-bin/collector/cli/crema")}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        path = pathlib.Path(scratch.name, "measurement")
        outcome = cls.run_python("distributed_frames.py", root_case.data(), "measured", path, recording=False)
        cls.found = json.loads(outcome.output.splitlines()[-1])
        folder = pathlib.Path(cls.found["path"])
        cls.document = json.loads((folder / "measurement.json").read_text())
        lines = [line for log in folder.rglob("*.jsonl") for line in log.read_text().splitlines()]
        cls.chunks = [record for record in map(json.loads, lines) if record["type"] == "chunk"]

    def test_every_event_of_every_loop_is_counted_once(self):
        events = collections.Counter()
        for chunk in self.chunks:
            events[chunk["dataset"], chunk["pass"]] += chunk["events"]
        total = sum(ENTRIES)
        names = [("trees", None), ("trees", "loop 2"), ("ntuples", None), ("slow trees", None), ("slow ntuples", None)]
        self.assertEqual(events, dict.fromkeys(names, total))
        self.assertEqual((self.found["again"], self.found["ntuples"]), (total, total))
        self.assertEqual(self.document["metrics"]["total_events"], 5 * total)

    def chunks_of(self, dataset, pass_=None):
        return [chunk for chunk in self.chunks if (chunk["dataset"], chunk["pass"]) == (dataset, pass_)]

    def test_bytes_of_all_workers_add_up_to_those_that_root_counts(self):
        """In one process that crema does not record: ROOT's global counters, and the files' own baskets."""
        one = self.run_program("frames", "one_loop", 0, *trees(), recording=False)
        chunks = self.chunks_of("trees")
        read = sum(line["bytes"] for line in one.probed)
        unzipped = sum(metric(chunk, "unzip_bytes") for chunk in chunks)
        self.assertAlmostEqual(unzipped / (2 * 8 * sum(ENTRIES)), 1, delta=0.01)
        # tasks read ahead of their part, so the workers read more than one process; opening a file belongs to no chunk
        recorded = sum(metric(chunk, "bytes_read") for chunk in chunks)
        self.assertGreater(recorded, read)
        self.assertAlmostEqual(recorded / self.found["bytes"], 1, delta=0.05)
        self.assertLessEqual(recorded, self.found["bytes"])
        self.assertEqual(sum(chunk["bytes_read"] for chunk in chunks), sum(metric(c, "bytes_read") for c in chunks))
        columns = sum(metric(chunk, f"column_bytes.{name}") for chunk in chunks for name in "xy")
        self.assertAlmostEqual(columns / read, 1, delta=0.01)
        for name in ("bytes_read", "unzip_bytes"):
            rows = [row for row in self.document["custom_metrics"] if row["name"] == name]
            self.assertEqual(sum(row["sum"] for row in rows), sum(metric(c, name) or 0 for c in self.chunks))

    def test_times_of_chunks_are_the_programs_clocks(self):
        """A chunk holds the time from its first entry to its last, and lies between its neighbours' entries."""
        for dataset in ("slow trees", "slow ntuples"):
            chunks = collections.defaultdict(list)
            for chunk in sorted(self.chunks_of(dataset), key=lambda chunk: chunk["start_ns"]):
                chunks[str(chunk["tid"])].append(chunk)
            clocks = self.found[dataset]
            self.assertEqual(set(chunks), {tid for tid, taken in clocks.items() if taken})
            cpu_between_entries = 0
            bounded_above = 0
            for tid, own in chunks.items():
                stops = list(itertools.accumulate(chunk["events"] for chunk in own))
                for i, clock in enumerate((lambda c: c["stop_ns"] - c["start_ns"], lambda c: c["cpu_ns"])):
                    taken = clocks[tid][i::2]
                    self.assertEqual(len(taken), stops[-1])
                    for chunk, start, stop in zip(own, [0, *stops], stops):
                        # crema's clock may go faster or slower than the kernel's, by 0.1 % (sdk/src/kernel/clock.cc)
                        with self.subTest(dataset, tid=tid, clock=i, start=start):
                            self.assertGreaterEqual(1.001 * clock(chunk), taken[stop - 1] - taken[start])
                            if start > 0 and stop < len(taken):
                                self.assertLessEqual(0.999 * clock(chunk), taken[stop] - taken[start - 1])
                                bounded_above += 1
                taken = clocks[tid][1::2]
                cpu_between_entries += sum(taken[b - 1] - taken[a] for a, b in zip([0, *stops], stops))
            self.assertGreater(bounded_above, 0)
            # before its first entry, a chunk also opens its file and reads ahead
            self.assertLess(sum(chunk["cpu_ns"] for chunk in self.chunks_of(dataset)), 1.05 * cpu_between_entries)

    def test_parts_of_a_file_are_chunks_of_their_own(self):
        for dataset, pass_ in (("trees", None), ("trees", "loop 2"), ("ntuples", None)):
            ends = collections.defaultdict(list)
            for chunk in self.chunks_of(dataset, pass_):
                self.assertEqual(chunk["events"], chunk["entry_stop"] - chunk["entry_start"])
                ends[chunk["file"]].append((chunk["entry_start"], chunk["entry_stop"]))
            for ranges in map(sorted, ends.values()):
                self.assertEqual([start for start, _ in ranges], [0, *(stop for _, stop in ranges[:-1])])
            self.assertEqual(sorted(max(ranges)[1] for ranges in ends.values()), list(ENTRIES))
        self.assertEqual(self.document["metrics"]["num_chunks"], len(self.chunks))

    def test_chunks_are_joined_to_the_tasks_of_the_mappers(self):
        self.assertEqual(self.document["quality"]["chunks_joined_to_tasks"], len(self.chunks))
        self.assertEqual(len({chunk["tid"] for chunk in self.chunks}), 2)

    def test_compiling_the_nodes_is_a_section_of_workers_that_live_on(self):
        sections = {row["path"]: row for row in self.document["process_sections"]}
        self.assertGreaterEqual(sections["just-in-time compilation"]["count"], 2)
        around = self.document["metrics"]["outside_chunk_time"]
        self.assertLess(sections["just-in-time compilation"]["self_in_workers"], around)

    def test_named_filters_are_the_cut_flow_of_all_workers(self):
        passed = sum(cut["events"] for chunk in self.chunks for cut in chunk["cuts"] if cut["name"] == "positive")
        self.assertEqual(passed, self.found["positive"])

    def test_the_handle_says_that_workers_record(self):
        self.assertEqual(self.found["tracked"], "<crema: chunks of ntuples, on the workers>")


class AttachedTest(root_case.PyrootCase):
    def test_a_worker_without_the_headers_runs_its_tasks_all_the_same(self):
        with tempfile.TemporaryDirectory() as folder:
            command = [root_case.PYTHON, root_case.HERE / "distributed_frames.py", root_case.data(), "attached", folder]
            environment = {**self.environment(), "CREMA_PREFIX": folder}
            outcome = root_case.run_recorded(command, recording=False, **environment)  # with warnings
        self.assertGreater(json.loads(outcome.output.splitlines()[-1])["positive"], 0)
        self.assertIn("; this worker's tasks run without records of their chunks", outcome.errors)

    def test_attaching_alone_has_the_workers_record(self):
        with tempfile.TemporaryDirectory() as folder:
            outcome = self.run_python("distributed_frames.py", root_case.data(), "attached", folder, recording=False)
            lines = [line for log in pathlib.Path(folder).rglob("*.jsonl") for line in log.read_text().splitlines()]
        chunks = [record for record in map(json.loads, lines) if record["type"] == "chunk"]
        self.assertEqual({chunk["status"] for chunk in chunks}, {"ok"})
        self.assertEqual(sum(chunk["events"] for chunk in chunks), sum(ENTRIES))
        self.assertEqual(len({(chunk["file"], chunk["entry_start"]) for chunk in chunks}), len(chunks))
        passed = sum(cut["events"] for chunk in chunks for cut in chunk["cuts"] if cut["name"] == "positive")
        self.assertEqual(passed, json.loads(outcome.output.splitlines()[-1])["positive"])

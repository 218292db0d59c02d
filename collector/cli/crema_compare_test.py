"""`crema merge`, `crema compare`, and measurements of roastcoffea as a source of both."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree

from collector.cli import invented_run

CREMA = str(pathlib.Path(__file__).absolute().parent / "crema")
SAMPLE = "collector/sources/roastcoffea/testdata/measurement"


def crema(*arguments):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("CREMA_")}
    return subprocess.run([CREMA, *arguments], capture_output=True, text=True, env=environment, timeout=120)


class SourcesTestCase(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR"))
        self.addCleanup(shutil.rmtree, self.directory)

    def path(self, name):
        return os.path.join(self.directory, name)

    def collect(self, name, *arguments, **changes):
        records = invented_run.write_run(self.path(name + "-records"), **changes)
        result = crema("collect", records, "-o", self.path(name), "-q", *arguments)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return self.path(name)

    def document(self, source):
        return json.loads(pathlib.Path(source, "measurement.json").read_text(encoding="utf-8"))

    def change(self, source, **fields):
        path = pathlib.Path(source, "measurement.json")
        path.write_text(json.dumps({**self.document(source), **fields}), encoding="utf-8")


class Merge(SourcesTestCase):
    def test_gives_what_the_logs_together_give(self):
        first = self.collect("first", run_id="a", first_pid=100)
        second = self.collect("second", run_id="b", first_pid=300)
        merged = self.path("merged")
        self.assertEqual(crema("merge", first, second, "-o", merged, "-q", "--name", "x").returncode, 0)
        together = self.path("together")
        records = [self.path("first-records"), self.path("second-records")]
        crema("collect", *records, "-o", together, "-q", "--run", "all", "--name", "x")
        one, other = self.document(merged), self.document(together)
        for document in (one, other):
            del document["provenance"]
        self.assertEqual(one, other)
        self.assertEqual(one["metrics"]["num_attempts"], 44)

    def test_a_log_that_was_left_out_or_is_gone_stays_counted(self):
        first = self.collect("first", run_id="a", first_pid=100)
        second = self.collect("second", run_id="b", first_pid=300)
        records = pathlib.Path(self.path("second-records"))
        other = next(records.glob("*.jsonl")).read_text(encoding="utf-8").replace("crema.records/1", "crema.records/2")
        (records / "other-1-1-0.jsonl").write_text(other, encoding="utf-8")
        (records / "empty-2-1-0.jsonl").touch()
        self.assertEqual(crema("collect", str(records), "-o", second, "-q", "--replace").returncode, 0)
        next(pathlib.Path(first, "records").glob("*.jsonl")).unlink()
        merged = self.path("merged")
        self.assertEqual(crema("merge", first, second, "-o", merged, "-q").returncode, 0)
        document = self.document(merged)
        self.assertEqual((document["quality"]["logs_left_out"], document["quality"]["logs_missing"]), (2, 1))
        self.assertIn("2 logs were left out", document["trouble"]["clauses"])
        self.assertIn("1 log is gone since the measurement was made", document["trouble"]["clauses"])
        self.assertEqual(crema("verdict", merged, "--fail-on", "incomplete-measurement").returncode, 3)
        comparison = json.loads(crema("compare", first, second, "--json").stdout)
        self.assertTrue(any("2 logs were left out" in sentence for sentence in comparison["sentences"]))

    def test_gives_the_same_for_any_tree_of_merges(self):
        leaves = [self.collect(name, run_id=name, first_pid=100 * i) for i, name in enumerate("abcde", 1)]
        merges = 0

        def merge(tree):
            nonlocal merges
            if isinstance(tree, int):
                return leaves[tree]
            merges += 1
            out = self.path(f"merged{merges}")
            result = crema("merge", *map(merge, tree), "-o", out, "-q", "--name", "x")
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            return out

        documents = []
        for tree in ([0, 1, 2, 3, 4], [[0, 1], [2, [3, 4]]], [4, [3, [2, [1, 0]]]]):
            documents.append(self.document(merge(tree)))
            del documents[-1]["provenance"]
        self.assertEqual(documents[0]["metrics"]["num_attempts"], 110)
        texts = [json.dumps(document) for document in documents]
        self.assertEqual(texts[1], texts[0])
        self.assertEqual(texts[2], texts[0])

    def test_refuses_in_one_line_where_records_are_missing(self):
        first = self.collect("first")
        second = self.collect("second", "--no-records", run_id="b", first_pid=300)
        result = crema("merge", first, second, "-o", self.path("merged"))
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, r"^crema: [^\n]*second[^\n]*without its records[^\n]*\n$")
        self.assertFalse(os.path.exists(self.path("merged")))

    def test_takes_newer_minors_and_refuses_other_majors(self):
        first, second = self.collect("first"), self.collect("second", run_id="b", first_pid=300)
        self.change(second, schema_minor=7, something_new={"x": 1})
        self.assertEqual(crema("merge", first, second, "-o", self.path("merged"), "-q").returncode, 0)
        self.change(second, schema="crema.measurement/2")
        result = crema("merge", first, second, "-o", self.path("again"))
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, r"^crema: [^\n]*crema.measurement/2[^\n]*\n$")


class Compare(SourcesTestCase):
    def test_a_gate_counts_where_nobody_reads_on(self):
        one, other = self.collect("one"), self.collect("other", first_pid=300)
        command = [CREMA, "compare", one, other, "--fail-on", "wall_time>-1%"]
        reader, writer = os.pipe()
        os.close(reader)
        try:
            result = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, timeout=120, text=True)
        finally:
            os.close(writer)
        self.assertEqual(result.returncode, 3, result.stderr)

    def compare(self, *arguments):
        result = crema("compare", *arguments, "--json")
        return result.returncode, json.loads(result.stdout)

    def test_finds_what_changed_and_what_did_not(self):
        before = self.collect("before")
        after = self.collect("after", run_id="b", slower=1.5)
        status, comparison = self.compare(before, after)
        self.assertEqual(status, 0)
        metrics = {row["key"]: row for row in comparison["metrics"]}
        self.assertAlmostEqual(metrics["busy_time"]["changes"][1], 0.4677, places=3)
        self.assertEqual(metrics["total_events"]["changes"], [0, 0])
        self.assertEqual(comparison["unequal"], [])
        sections = {row["name"]: row for row in comparison["sections"]}
        self.assertIn("select/jets (helper)", sections)
        self.assertEqual([row["name"] for row in comparison["datasets"]], ["ttbar", "zjets"])

    def test_names_runs_of_one_name_by_their_sources(self):
        before, after = self.collect("before"), self.collect("after", run_id="b", slower=1.5)
        for source in (before, after):
            self.change(source, run={**self.document(source)["run"], "name": "program"})
        _, comparison = self.compare(before, after)
        self.assertEqual([run["name"] for run in comparison["runs"]], ["before", "after"])
        self.assertRegex(comparison["sentences"][0], "^after took .*, before ")

    def test_pairs_the_pieces_and_tells_the_range(self):
        before, after = self.collect("before"), self.collect("after", run_id="b", slower=1.5)
        status, comparison = self.compare(before, after, "--fail-on-sure", "5", "--fail-on-unclear")
        self.assertEqual(status, 3)  # it is sure
        self.assertEqual(
            (comparison["conclusion"], comparison["paired_by"], comparison["pairs"]), ("slower", "chunk", 20)
        )
        self.assertAlmostEqual(comparison["change"], 0.4677, delta=0.03)  # all chunks but the repeated one: 50 %
        self.assertLess(comparison["low"], comparison["change"] + 1e-9)
        self.assertAlmostEqual(sum(effect["change"] for effect in comparison["effects"]), comparison["change"])
        self.assertEqual(comparison["paired"][0]["effects"], comparison["effects"])
        text = crema("compare", before, after).stdout.replace("\n", " ")
        self.assertRegex(text, r"The work in its chunks is 4\d.\d % longer \(")
        self.assertIn("Paired by chunk (20 pairs).", text)

        status, comparison = self.compare(before, self.collect("again", run_id="c"), "--fail-on-sure", "5")
        self.assertEqual((status, comparison["conclusion"], comparison["change"]), (0, "same", 0))

        other = self.collect("other", "--no-records", run_id="d")
        status, comparison = self.compare(before, other, "--fail-on-unclear")
        self.assertEqual((status, comparison["conclusion"]), (3, None))
        self.assertIn("without its records", comparison["reason"])

    def test_puts_first_what_should_be_equal_and_is_not(self):
        before, after = self.collect("before"), self.collect("after", run_id="b", events=90)
        text = crema("compare", before, after, "--ascii").stdout
        self.assertIn("The two did not process the same events.", text.replace("\n", " "))
        first = text.splitlines().index("should be equal and is not")
        self.assertRegex(text.splitlines()[first + 2], r"^events +2 000 +1 800 +-10.0 %$")
        self.assertLess(first, text.splitlines().index("metrics"))
        self.assertIn("events of ttbar", text)

    def test_gates_fall_with_status_3_and_say_why(self):
        before, after = self.collect("before"), self.collect("after", run_id="b", slower=1.5)
        for gate, falls in (
            ("wall_time>5%", True),
            ("wall_time>500%", False),
            ("event_rate_wall_khz<-5%", True),
            ("event_rate_wall_khz<-50%", False),
            ("num_failed_attempts>0", False),
            ("busy_time>1", True),
            ("busy_time>2", False),
            ("section:select/jets:self>10%", True),
            ("dataset:zjets:events<0", False),
            ("unequal", False),
            ("disk_read_bytes>5%", True),  # measured in neither
            ("disk_red_bytes>5%", None),
        ):
            result = crema("compare", before, after, "--fail-on", gate, "-q")
            if falls is None:
                self.assertEqual(result.returncode, 2, gate)
            else:
                self.assertEqual(result.returncode, 3 if falls else 0, gate)
            expected = r"^crema: [^\n]*\n$" if falls is not False else r"^$"
            self.assertRegex(result.stderr, expected, gate)

    def test_gates_on_the_range_are_in_the_json_and_in_junit(self):
        before, after = self.collect("before"), self.collect("after", run_id="b", slower=1.5)
        options = ("--fail-on", "wall_time>500%", "--fail-on-sure", "5", "--fail-on-unclear")
        junit = self.path("gates.xml")
        status, comparison = self.compare(before, after, *options, "--junit", junit)
        self.assertEqual(status, 3)
        self.assertEqual(
            [(gate["gate"], gate["fell"]) for gate in comparison["gates"]],
            [("wall_time>500%", False), ("--fail-on-sure 5", True), ("--fail-on-unclear", False)],
        )
        suite = xml.etree.ElementTree.parse(junit).getroot().find("testsuite")
        self.assertEqual((suite.get("tests"), suite.get("failures")), ("3", "1"))
        cases = {case.get("name"): case for case in suite}
        failure = cases["--fail-on-sure 5"].find("failure")
        self.assertEqual(failure.get("message"), comparison["gates"][1]["sentence"])
        self.assertIsNone(cases["wall_time>500%"].find("failure"))
        status, _ = self.compare(before, after, *options, "--junit", junit)  # a workspace that is used again
        self.assertEqual(status, 3)
        pathlib.Path(junit).write_text("mine", encoding="utf-8")
        result = crema("compare", before, after, "--junit", junit)
        self.assertEqual((result.returncode, pathlib.Path(junit).read_text(encoding="utf-8")), (1, "mine"))
        self.assertIn("gates.xml: crema did not write it; give --junit another name", result.stderr)

    def test_junit_and_markdown_bear_any_name(self):
        before, after = self.collect("before"), self.collect("after", run_id="b", slower=1.5)
        name = 'a<b>&"c"\n|d|*e*\x07'
        self.change(after, run={**self.document(after)["run"], "name": name})
        junit = self.path("gates.xml")
        result = crema("compare", before, after, "--junit", junit, "--markdown", "--fail-on-sure", "5")
        self.assertEqual(result.returncode, 3)
        (failure,) = xml.etree.ElementTree.parse(junit).getroot().iter("failure")
        self.assertIn('a<b>&"c" |d|*e*', failure.get("message"))
        self.assertIn('a&lt;b\\>&amp;"c" \\|d\\|\\*e\\*', result.stdout)
        table = [line for line in result.stdout.splitlines() if line.startswith("|")]
        for line in table[:6]:
            self.assertEqual(len(re.findall(r"(?<!\\)\|", line)), 5, line)
        self.assertRegex(result.stdout, r"\| select \| \+[\d.]+ % \| \+[\d.]+ % to \+[\d.]+ % \| yes \|")
        self.assertRegex(result.stdout, r"\| \*\*all\*\* \| \*\*\+[\d.]+ m?s\*\* \|")

    def test_sides_of_several_runs(self):
        before = [self.collect(f"a{i}", run_id=f"a{i}", slower=1 + 0.01 * i) for i in range(3)]
        after = [self.collect(f"b{i}", run_id=f"b{i}", slower=1.2 + 0.01 * i) for i in range(3)]
        options = [item for run in before for item in ("--before", run)]
        options += [item for run in after for item in ("--after", run)]
        status, comparison = self.compare(*options, "--fail-on-sure", "10", "--fail-on", "busy_time>10%")
        self.assertEqual((status, comparison["conclusion"], comparison["runs_a_side"]), (3, "slower", [3, 3]))
        self.assertEqual([gate["fell"] for gate in comparison["gates"]], [True, True])
        self.assertEqual([len(comparison["sides"][side]) for side in ("before", "after")], [3, 3])
        self.assertEqual([run["name"] for run in comparison["runs"]], ["before", "after"])
        text = crema("compare", *options, "--ascii").stdout.replace("\n", " ")
        self.assertIn("3 and 3 runs; equal ones differ by", text)
        (elapsed,) = comparison["elapsed"]
        self.assertAlmostEqual(sum(part["difference"] for part in elapsed["parts"]), elapsed["difference"], places=6)

    def test_a_run_that_is_given_twice_on_a_side_counts_once(self):
        before, after = self.collect("before"), self.collect("after", run_id="b", slower=1.5)
        options = ("--before", before, "--before", before + "/", "--after", after, "--after", after)
        result = crema("compare", *options, "--json")
        comparison = json.loads(result.stdout)
        self.assertEqual((comparison["runs_a_side"], comparison["between_runs"]), ([1, 1], None))
        self.assertEqual([len(comparison["sides"][side]) for side in ("before", "after")], [1, 1])
        self.assertRegex(result.stderr, r"^(crema: [^\n]*: its side has this run already; it counts once\n){2}$")
        result = crema("compare", "--before", before, "--after", before, "--json")  # on both sides it may be
        self.assertEqual((result.stderr, json.loads(result.stdout)["change"]), ("", 0))
        without_id = [self.collect(name, run_id=None) for name in ("one", "two")]  # their paths tell them apart
        _, comparison = self.compare("--before", without_id[0], "--before", without_id[1], "--after", after)
        self.assertEqual(comparison["runs_a_side"], [2, 1])

    def test_gates_that_passed_are_shown_with_the_limit_and_its_unit(self):
        before, after = self.collect("before"), self.collect("after", run_id="b", slower=1.5)
        options = ("--fail-on", "busy_time>5", "--fail-on", "wall_time>1%", "--fail-on-sure", "90")
        result = crema("compare", before, after, *options, "--width", "1000")
        self.assertEqual(result.returncode, 3)
        passed = [line for line in result.stdout.splitlines() if line.startswith("gate ")]
        self.assertEqual(len(passed), 2)
        self.assertRegex(
            passed[0], r"^gate busy_time>5 passed: busy_time changed by \+[\d.]+ s in .* \(limit: \+5.00 s\)$"
        )
        self.assertIn("(limit: +90.0 %)", passed[1])
        self.assertRegex(result.stderr, r"^crema: gate wall_time>1% failed: [^\n]*\(limit: \+1.0 %\)\n$")
        self.assertEqual(crema("compare", before, after, "--fail-on", "busy_time>5", "-q").stdout, "")

    def test_a_killed_run_is_said_to_be_incomplete(self):
        before = self.collect("before")  # its second worker was killed in a chunk
        text = crema("compare", before, before, "--ascii").stdout.replace("\n", " ")
        self.assertRegex(text, r"before-records is not complete \(")

    def test_wrong_use_of_sides_is_told(self):
        before = self.collect("before")
        for options, words in (
            ([before, "--before", before], "either"),
            (["--before", before], "the other side has no run"),
            ([], "at least two"),
            ([before, before, "--json", "--markdown"], "--markdown"),
        ):
            result = crema("compare", *options)
            self.assertEqual(result.returncode, 2, options)
            self.assertIn(words, result.stderr)

    def test_a_gate_on_a_value_that_one_run_has_not_measured_falls(self):
        before, after = self.collect("before"), self.collect("after", run_id="b")
        document = self.document(after)
        document["metrics"]["wall_time"] = None
        self.change(after, metrics=document["metrics"])
        result = crema("compare", before, after, "--fail-on", "wall_time>5%", "-q")
        self.assertEqual(result.returncode, 3)
        self.assertIn("not measured", result.stderr)

    def test_one_run_a_side_beside_others_fails_for_large_changes_only(self):
        """Chunks wait for a CPU for as long as they have one: equal runs may differ by 10 % there."""
        sources = {}
        for name, seconds in (("before", 0.1), ("other", 0.107), ("longer", 0.15)):
            lines = [invented_run.process_line(100, run_id=name)]
            for number in range(20):
                half = round(seconds * invented_run.SECOND / 2)
                start, changes = number * seconds, {"cpu_ns": half, "cpu_wait_ns": half}
                changes.update(invented_run.place(number, "ttbar"))
                lines.append(invented_run.chunk_line(number, start, start + seconds, **changes))
            invented_run.write_log(self.path(name), [*lines, invented_run.end_line(20 * seconds, 20)])
            sources[name] = self.path(name)
        options = ("--fail-on-sure", "3", "--fail-on", "section:select:self>90%")
        result = crema("compare", sources["before"], sources["other"], *options)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("differs by +7.0 %", result.stdout.replace("\n", " "))
        self.assertRegex(result.stderr, r"^crema: gate section:select:self>90%: this is elapsed time, [^\n]*\n$")
        self.assertEqual(crema("compare", sources["before"], sources["other"], "--fail-on-unclear").returncode, 3)
        result = crema("compare", sources["before"], sources["longer"], "--fail-on-sure", "3", "-q")
        self.assertEqual(result.returncode, 3)
        self.assertRegex(result.stderr, r"if equal runs differ by no more than ±1\d(\.\d)? %, which one run a side")

    def test_behind_a_longer_run_comes_what_shows_where(self):
        before, after = self.collect("before"), self.collect("after", run_id="b", slower=1.5)
        wide = ("--width", "1000")
        self.assertIn("\nnext: crema run --stacks -- ", crema("compare", before, after, *wide).stdout)
        self.assertNotIn("--stacks", crema("compare", after, before).stdout)
        function = {"section": "select", "dataset": "ttbar", "function": "Select", "samples": 10, "share": 1.0}
        self.change(after, functions=[function])
        self.assertIn(f"\nnext: crema show {after} --table functions", crema("compare", before, after, *wide).stdout)
        self.assertEqual(crema("show", after, "--table", "functions").returncode, 0)

    def test_a_misspelt_gate_is_answered_with_what_was_meant(self):
        before, after = self.collect("before"), self.collect("after", run_id="b")
        for gate, meant in (
            ("walltime>5%", "`walltime`; did you mean wall_time"),
            ("section:selct:self>5%", "did you mean select?"),
            ("section:select:slef>5%", "`section:select:slef`; did you mean self"),
            ("dataset:tbar:events>5%", "did you mean ttbar?"),
        ):
            refused = crema("compare", before, after, "--fail-on", gate, "-q")
            self.assertEqual(refused.returncode, 2)
            self.assertIn(meant, refused.stderr)

    def test_a_gate_that_is_none_is_wrong_usage(self):
        before = self.collect("before")
        for gate in ("wall_time", "wall_time>much", ">5%"):
            self.assertEqual(crema("compare", before, before, "--fail-on", gate).returncode, 2, gate)
        self.assertEqual(crema("compare", before).returncode, 2)

    def test_no_line_is_wider_than_the_terminal(self):
        before, after = self.collect("before"), self.collect("after", run_id="b", events=90, slower=2)
        for width in (40, 60, 80, 200):
            lines = crema("compare", before, after, before, "--ascii", "--width", str(width)).stdout.splitlines()
            self.assertLessEqual(max(map(len, lines)), width)


class RoastcoffeaSource(SourcesTestCase):
    def show(self, *arguments):
        result = crema("show", SAMPLE, "--json", *arguments)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return json.loads(result.stdout)

    def test_is_shown_with_its_own_figures(self):
        document = self.show()
        theirs = json.loads(pathlib.Path(SAMPLE, "metrics.json").read_text(encoding="utf-8"))
        metrics = document["metrics"]
        self.assertAlmostEqual(metrics["wall_time"], theirs["elapsed_time_seconds"], places=6)
        self.assertEqual(metrics["num_chunks"], 480)
        self.assertEqual(metrics["total_events"], theirs["total_events"])
        self.assertEqual(metrics["total_bytes_read_coffea"], theirs["total_bytes_read"])
        self.assertAlmostEqual(metrics["overall_rate_gbps"], theirs["data_rate_gbps"])
        self.assertAlmostEqual(metrics["chunk_duration_mean"], theirs["chunk_duration_mean"])
        self.assertAlmostEqual(metrics["chunk_duration_std"], theirs["chunk_duration_std"])
        self.assertEqual(metrics["total_cores"], 4)
        self.assertEqual(metrics["peak_memory_bytes"], theirs["peak_memory_bytes"])
        for key in ("processor_cpu_time_seconds", "processor_io_wait_percent", "total_bytes_memory_read"):
            self.assertEqual(metrics[key], theirs[key], key)
        self.assertEqual(
            {row["name"]: row["chunks"] for row in document["datasets"]},
            {name: row["num_chunks"] for name, row in theirs["per_dataset"].items()},
        )
        self.assertEqual(len(document["fine"]), len(theirs["raw_span_metrics"]))
        self.assertEqual(
            sorted(document["timelines"]["worker_memory"]), sorted(theirs["tracking_data"]["worker_memory"])
        )

    def test_says_why_where_it_cannot_tell(self):
        document = self.show()
        reasons = document["quality"]["not_measured"]
        for key, value in document["metrics"].items():
            if value is None:
                self.assertTrue(reasons.get(key), key)
        for key in ("chunk_cpu_time", "cpu_efficiency", "balance", "peak_total_memory_bytes"):
            self.assertIsNone(document["metrics"][key], key)
        self.assertIsNone(document["run"]["start_ns"])
        self.assertEqual(document["workers"], [])

    def test_that_it_has_no_records_is_said_where_they_are_needed(self):
        collected = self.path("collected")
        self.assertEqual(crema("collect", SAMPLE, "-o", collected, "-q").returncode, 0)
        for command in (
            ["predict", collected],
            ["scaling", collected],
            ["merge", collected, "-o", self.path("merged")],
            ["export", collected, "--to", "chunks", "-o", self.path("chunks")],
        ):
            refused = crema(*command)
            self.assertEqual(refused.returncode, 1, command)
            self.assertRegex(
                refused.stderr, "made from a roastcoffea measurement, which has no record logs; measure with"
            )
            self.assertNotIn("--no-records", refused.stderr)

    def test_its_chunks_are_listed(self):
        rows = self.show("--table", "chunks", "--top", "2", "--where", "dataset=ttbar_b")
        self.assertEqual([row["dataset"] for row in rows], ["ttbar_b", "ttbar_b"])
        self.assertGreater(rows[0]["duration"], rows[1]["duration"])

    def test_is_collected_compared_and_exported(self):
        collected = self.path("collected")
        self.assertEqual(crema("collect", SAMPLE, "-o", collected, "-q").returncode, 0)
        result = crema("compare", SAMPLE, collected, "--fail-on", "unequal", "--fail-on", "wall_time>0", "-q")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        again = self.path("again")
        result = crema("export", SAMPLE, "--to", "roastcoffea", "-o", again, "-q")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        theirs = json.loads(pathlib.Path(SAMPLE, "metrics.json").read_text(encoding="utf-8"))
        ours = json.loads(pathlib.Path(again, "metrics.json").read_text(encoding="utf-8"))
        self.assertEqual(set(theirs) - set(ours), set())
        self.assertEqual(ours["chunk_info"].keys(), theirs["chunk_info"].keys())
        for key in ("num_chunks", "total_events", "total_bytes_read", "processor_cpu_percent", "raw_span_metrics"):
            self.assertEqual(ours[key], theirs[key], key)

    def test_what_is_broken_is_one_line(self):
        for name, text in (("metrics.json", "{"), ("start_end_time.txt", "yesterday"), ("metrics.json", "{}")):
            broken = self.path("broken")
            shutil.rmtree(broken, ignore_errors=True)
            shutil.copytree(SAMPLE, broken)
            path = os.path.join(broken, name)
            os.remove(path)
            pathlib.Path(path).write_text(text)
            result = crema("show", broken)
            self.assertEqual(result.returncode, 1)
            self.assertRegex(result.stderr, r"^crema: [^\n]*\n$")


if __name__ == "__main__":
    unittest.main()

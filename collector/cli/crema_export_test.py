"""`crema export`: the contents of each format, and the files that it never overwrites."""

import csv
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from collector.cli import invented_run

CREMA = str(pathlib.Path(__file__).absolute().parent / "crema")
DIRECTORIES = ("csv", "roastcoffea")
FILES = ("chunks", "prometheus", "perfetto", "folded", "cms-resources")  # of stacks: below


def crema(*arguments):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("CREMA_")}
    return subprocess.run([CREMA, *arguments], capture_output=True, text=True, env=environment, timeout=300)


def varints(data):
    """The integers that bytes of protocol buffers hold."""
    numbers, number, shift = [], 0, 0
    for byte in data:
        number |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            numbers.append(number)
            number, shift = 0, 0
    return numbers


def fields_of(data):
    """The fields of a message of protocol buffers by their number: integers and bytes."""
    fields, at = {}, 0

    def integer():
        nonlocal at
        begin = at
        while data[at] >= 0x80:
            at += 1
        at += 1
        return varints(data[begin:at])[0]

    while at < len(data):
        number, kind = divmod(integer(), 8)
        value = integer()
        if kind == 2:
            at += value
            value = data[at - value : at]
        fields.setdefault(number, []).append(value)
    return fields


class ExportTestCase(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR"))
        self.addCleanup(shutil.rmtree, self.directory)
        self.records = invented_run.write_run(self.path("records"))

    def path(self, name):
        return os.path.join(self.directory, name)

    def export(self, format_name, name, *arguments, source=None):
        path = self.path(name)
        result = crema("export", source or self.records, "--to", format_name, "-o", path, *arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stderr, r"^(next: [^\n]*\n)?$")  # how to open the file
        return path

    def document(self):
        return json.loads(crema("show", self.records, "--json").stdout)

    def read(self, path):
        return pathlib.Path(path).read_text(encoding="utf-8")


class Output(ExportTestCase):
    def test_replaces_only_what_crema_wrote(self):
        for name in FILES + DIRECTORIES:
            path = self.export(name, name)
            self.export(name, name)
            if name in DIRECTORIES:
                shutil.rmtree(path)
                os.mkdir(path)
                path_of_other = os.path.join(path, "thesis.tex")
            else:
                path_of_other = path
            pathlib.Path(path_of_other).write_text("years of work")
            result = crema("export", self.records, "--to", name, "-o", path)
            self.assertEqual(result.returncode, 1, name)
            self.assertRegex(result.stderr, r"^crema: [^\n]*--force\n$")
            self.assertEqual(self.read(path_of_other), "years of work")
            self.export(name, name, "--force")
            if name in DIRECTORIES:
                self.assertEqual(self.read(path_of_other), "years of work")

    def test_leaves_nothing_behind_where_it_fails(self):
        measurement = self.path("measurement")
        crema("collect", self.records, "-o", measurement, "-q", "--no-records")
        before = sorted(os.listdir(self.directory))
        for name in ("chunks", "perfetto", "roastcoffea"):
            result = crema("export", measurement, "--to", name, "-o", self.path("out"))
            self.assertEqual(result.returncode, 1)
            self.assertRegex(result.stderr, r"^crema: [^\n]*without its records[^\n]*\n$")
            self.assertEqual(sorted(os.listdir(self.directory)), before)

    def test_a_file_can_go_to_stdout_and_a_directory_cannot(self):
        result = crema("export", self.records, "--to", "folded", "-o", "-")
        self.assertEqual(result.stdout, self.read(self.export("folded", "stacks")))
        self.assertEqual(crema("export", self.records, "--to", "csv", "-o", "-").returncode, 1)

    def test_what_people_open_is_named_with_what_opens_it(self):
        for name, opened_by in (("folded", "flamegraph.pl"), ("perfetto", "ui.perfetto.dev"), ("chunks", "pandas")):
            path = self.path(f"{name}.out")
            said = crema("export", self.records, "--to", name, "-o", path).stderr
            self.assertIn(opened_by, said)
            self.assertIn(path, said)
            self.assertEqual(crema("export", self.records, "--to", name, "-o", path, "-q").stderr, "")

    def test_there_is_no_flame_graph_of_nothing(self):
        crema("run", "-q", "-o", self.path("plain"), "--", "true")
        result = crema("export", self.path("plain"), "--to", "folded", "-o", self.path("nothing"))
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, r"^crema: [^\n]*TrackSection[^\n]*\n$")
        self.assertFalse(os.path.exists(self.path("nothing")))

    def test_an_unknown_format_is_wrong_usage(self):
        result = crema("export", self.records, "--to", "xml", "-o", self.path("x"))
        self.assertEqual(result.returncode, 2)
        self.assertIn("perfetto", result.stderr)


class Chunks(ExportTestCase):
    def test_lines_and_csv_hold_the_same_attempts(self):
        lines = [json.loads(line) for line in self.read(self.export("chunks", "chunks.jsonl")).splitlines()]
        with open(self.export("chunks", "chunks.csv"), newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file, strict=True))
        self.assertEqual(len(lines), 22)
        self.assertEqual(len(rows), 22)
        for line, row in zip(lines, rows):
            for key, text in row.items():
                value = line[key]
                self.assertEqual(value, None if text == "" else type(value)(text), key)
        self.assertEqual(sorted({line["status"] for line in lines}), ["failed", "lost", "ok"])
        self.assertEqual([s["path"] for s in lines[0]["sections"]], ["read", "select", "select/jets", "select/jets"])

    def test_csv_quotes_as_rfc_4180_says(self):
        text = pathlib.Path(self.export("chunks", "chunks.csv")).read_bytes()
        self.assertIn(b'"bad basket, ""Jet_pt""\nin line 2"', text)
        self.assertTrue(text.endswith(b"\r\n"))


class Tables(ExportTestCase):
    def test_every_table_is_a_file_with_its_columns(self):
        directory = pathlib.Path(self.export("csv", "tables"))
        document = self.document()
        about = json.loads(self.read(directory / "crema_tables.json"))
        for name, columns in about["columns"].items():
            with open(directory / f"{name}.csv", newline="", encoding="utf-8") as file:
                rows = list(csv.reader(file, strict=True))
            self.assertEqual(rows[0], columns, name)
            self.assertEqual({len(row) for row in rows}, {len(columns)}, name)
            if isinstance(document.get(name), list):
                self.assertEqual(len(rows) - 1, len(document[name]), name)
        with open(directory / "metrics.csv", newline="", encoding="utf-8") as file:
            metrics = {row["key"]: row for row in csv.DictReader(file)}
        self.assertEqual(float(metrics["wall_time"]["value"]), document["metrics"]["wall_time"])
        self.assertEqual(metrics["disk_read_bytes"]["value"], "")
        self.assertNotEqual(metrics["disk_read_bytes"]["not_measured"], "")


class Prometheus(ExportTestCase):
    def test_figures_are_in_base_units(self):
        text = self.read(self.export("prometheus", "crema.prom"))
        values = dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
        metrics = self.document()["metrics"]
        self.assertEqual(float(values["crema_wall_time_seconds"]), metrics["wall_time"])
        self.assertAlmostEqual(float(values["crema_event_rate_wall_hertz"]), 1000 * metrics["event_rate_wall_khz"])
        self.assertAlmostEqual(
            float(values["crema_overall_rate_bytes_per_second"]), 1e6 * metrics["overall_rate_mbs"], places=3
        )
        self.assertEqual(float(values['crema_dataset_events{dataset="ttbar"}']), 1200)
        self.assertNotIn("crema_disk_read_bytes", text)
        self.assertRegex(text, r"(?m)^# HELP crema_event_rate_wall_hertz .* Here in hertz\.$")

    def test_labels_are_escaped_and_bounded(self):
        records = self.path("many")
        lines = [invented_run.process_line(1)]
        for number in range(150):
            dataset = f'set"{number}\\\x1b'
            changes = {"dataset": dataset, "file": dataset}
            lines.append(invented_run.chunk_line(number, number, number + 0.5, **changes))
        invented_run.write_log(records, lines)
        text = self.read(self.export("prometheus", "many.prom", source=records))
        series = [line for line in text.splitlines() if line.startswith("crema_dataset_events{")]
        self.assertEqual(len(series), 101)
        self.assertIn('crema_dataset_events{dataset="(more)"} 5000', series)
        self.assertIn('crema_dataset_events{dataset="set\\"0\\\\\ufffd"} 100', series)


class Sections(ExportTestCase):
    def test_folded_stacks_add_up_to_the_self_times(self):
        stacks = dict(line.rsplit(" ", 1) for line in self.read(self.export("folded", "stacks")).splitlines())
        self.assertEqual(
            set(stacks) & {"chunks;select;jets", "chunks;(other)", "outside chunks;set up"},
            {"chunks;select;jets", "chunks;(other)", "outside chunks;set up"},
        )
        owner = sum(int(us) for stack, us in stacks.items() if stack.startswith("chunks;"))
        self.assertAlmostEqual(owner / 1e6, self.document()["metrics"]["busy_time"], places=5)

    def add_stacks(self, samples=3):
        log = min(pathlib.Path(self.records).glob("*.jsonl"))
        lines = log.read_text(encoding="utf-8").splitlines()
        line = {
            "type": "stacks",
            "time_ns": json.loads(lines[0])["start_ns"] + 10**9,
            "dataset": "a;b",
            "section": "select/jets%2Ffat",
            "hertz": 100,
            "modules": [["prog", "/nowhere/prog", "00ff"]],
            "functions": [["main", None, None], ["fit", "/a.py", 3], ["prog+0x10", None, None]],
            "stacks": [[4, 4, 0, 1, 1], [samples, samples, 0, 2], [2, 4, 0, 2]],
        }
        lines.insert(1, json.dumps(line, separators=(",", ":")))
        log.write_text("".join(line + "\n" for line in lines), encoding="utf-8")

    def test_stacks_have_the_callers_below_dataset_and_section(self):
        result = crema("export", self.records, "--to", "stacks", "-o", self.path("none"))
        self.assertEqual(result.returncode, 1)
        self.assertIn("crema run --stacks takes them", result.stderr)
        self.add_stacks()
        self.assertEqual(
            self.read(self.export("stacks", "stacks")).splitlines(),
            [
                "chunks;a:b;select;jets/fat;main;fit;fit 4",
                "chunks;a:b;select;jets/fat;main;prog+0x10 5",
            ],
        )

    def test_stacks_of_two_runs_are_written_as_a_difference(self):
        self.add_stacks()
        shutil.copytree(self.records, self.path("before"))
        before = self.read(self.export("stacks", "alone"))
        self.add_stacks(samples=7)
        lines = self.read(self.export("stacks", "both", "--baseline", self.path("before"))).splitlines()
        stacks = [f"{line.rsplit(' ', 1)[0]} {int(line.rsplit(' ', 1)[1])}0000" for line in before.splitlines()]
        self.assertEqual([line.rsplit(" ", 1)[0] for line in lines], stacks)  # microseconds, at 100 samples a second
        self.assertEqual(
            {line.rsplit(" ", 1)[0]: int(line.rsplit(" ", 1)[1]) for line in lines},
            {line: {40_000: 80_000, 50_000: 140_000}[int(line.rsplit(" ", 1)[1])] for line in stacks},
        )
        # sections that one side does not have count 0 there
        shutil.rmtree(self.path("before"))
        log = [invented_run.process_line(1), invented_run.chunk_line(1, 0, 1)]
        invented_run.write_log(self.path("before"), log)
        folded = self.read(self.export("folded", "folded", "--baseline", self.path("before"))).splitlines()
        self.assertIn("outside chunks;set up 0", [line.rsplit(" ", 1)[0] for line in folded])
        result = crema("export", self.records, "--to", "csv", "-o", self.path("x"), "--baseline", self.path("before"))
        self.assertEqual(result.returncode, 2)
        self.assertIn("folded", result.stderr)

    def test_processes_of_other_runs_in_the_same_log_are_left_out(self):
        self.add_stacks()
        alone = self.read(self.export("stacks", "alone"))
        log = min(pathlib.Path(self.records).glob("*.jsonl"))
        lines = log.read_text(encoding="utf-8").splitlines()
        run = json.loads(lines[0])["run_id"]
        lines += [line.replace(f'"run_id":"{run}"', '"run_id":"another"') for line in lines[:2]]
        log.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
        self.assertEqual(self.read(self.export("stacks", "again", "--run", run)), alone)
        self.assertNotEqual(self.read(self.export("stacks", "all", "--run", "all")), alone)

    def test_speedscope_has_a_profile_a_dataset_in_seconds(self):
        self.add_stacks()
        profile = json.loads(self.read(self.export("speedscope", "speedscope")))
        names = [frame["name"] for frame in profile["shared"]["frames"]]
        (dataset,) = profile["profiles"]
        self.assertEqual((dataset["name"], dataset["unit"]), ("a;b", "seconds"))
        found = {tuple(names[frame] for frame in stack): s for stack, s in zip(dataset["samples"], dataset["weights"])}
        self.assertEqual(
            found,
            {
                ("select", "jets/fat", "main", "fit", "fit"): 0.04,
                ("select", "jets/fat", "main", "prog+0x10"): 0.05,
            },
        )
        self.assertIn({"name": "fit", "file": "/a.py", "line": 3}, profile["shared"]["frames"])
        self.assertAlmostEqual(dataset["endValue"], 0.09)
        self.export("speedscope", "speedscope")

    def test_pprof_has_the_stacks_with_their_dataset_and_section(self):
        self.add_stacks()
        path = self.export("pprof", "pprof")
        profile = fields_of(pathlib.Path(path).read_bytes())
        texts = [text.decode() for text in profile[6]]
        self.assertEqual([texts[fields_of(unit)[1][0]] for unit in profile[1]], ["samples", "cpu"])
        functions = {fields_of(f)[1][0]: texts[fields_of(f)[2][0]] for f in profile[5]}
        locations = {fields_of(at)[1][0]: functions[fields_of(fields_of(at)[4][0])[1][0]] for at in profile[4]}
        found = {}
        for sample in map(fields_of, profile[2]):
            stack = tuple(locations[number] for number in varints(sample[1][0]))
            labels = {texts[label[1][0]]: texts[label[2][0]] for label in map(fields_of, sample[3])}
            self.assertEqual(labels, {"dataset": "a;b", "section": "select/jets%2Ffat"})
            found[stack] = varints(sample[2][0])
        self.assertEqual(found, {("fit", "fit", "main"): [4, 40_000_000], ("prog+0x10", "main"): [5, 50_000_000]})
        self.export("pprof", "pprof")

    def test_cms_resources_close(self):
        resources = json.loads(self.read(self.export("cms-resources", "resources.json")))
        names = [next(iter(resource)) for resource in resources["resources"]]
        self.assertEqual(names, ["time_real", "time_thread"])
        for name in names:
            total = sum(module[name] for module in resources["modules"])
            self.assertAlmostEqual(total, resources["total"][name], places=6)
        metrics = self.document()["metrics"]
        self.assertAlmostEqual(resources["total"]["time_thread"], 1000 * metrics["chunk_cpu_time"], places=6)
        owners = [module for module in resources["modules"] if module["type"] == "section"]
        self.assertAlmostEqual(sum(m["time_real"] for m in owners), 1000 * metrics["busy_time"], places=6)
        self.assertIn("(other)", [module["label"] for module in owners])


def slices(events):
    """The begin events with their duration and depth, as a viewer computes them from the pairs in the order of the
    file."""
    found, stacks = [], {}
    for event in events:
        stack = stacks.setdefault((event["pid"], event["tid"]), [])
        if event["ph"] == "B":
            found.append({**event, "depth": len(stack)})
            stack.append(found[-1])
        elif event["ph"] == "E":
            begin = stack.pop()
            begin["dur"] = event["ts"] - begin["ts"]
            assert begin["dur"] >= 0, begin
            assert not stack or begin["ts"] >= stack[-1]["ts"], begin
    assert not any(stacks.values()), "begun and not ended"
    return found


class Perfetto(ExportTestCase):
    def events(self, source=None):
        trace = json.loads(self.read(self.export("perfetto", "trace.json", source=source)))
        return trace["traceEvents"]

    def test_has_processes_threads_chunks_and_counters(self):
        events = self.events()
        names = [event["args"]["name"] for event in events if event.get("name") == "process_name"]
        self.assertEqual(names, ["node:100", "node:101"])
        chunks = slices(events)
        self.assertEqual(len(chunks), 21)
        self.assertAlmostEqual(sum(chunk["dur"] for chunk in chunks) / 1e6, self.document()["metrics"]["busy_time"])
        processes = {event["pid"] for event in events}
        main_threads = {event["tid"] for event in events if event["tid"] in processes}
        self.assertEqual(main_threads, set(), "a number of a process on a thread that is not its main thread")
        self.assertEqual([event["name"] for event in events if event["ph"] == "i"], ["zjets (lost)"])
        counters = {event["name"] for event in events if event["ph"] == "C"}
        outside = "outside chunks: set up"
        self.assertEqual(counters, {"resident memory", "open chunks", "threads", "CPU in use", outside})
        # a counter holds until the next reading; its integral is the section's time
        pid = next(event["pid"] for event in events if event.get("name") == outside)
        readings = [(e["ts"], e["args"]["s/s"]) for e in events if e.get("name") == outside and e["pid"] == pid]
        seconds = sum((then - at) / 1e6 * value for (at, value), (then, _) in zip(readings, readings[1:]))
        self.assertAlmostEqual(seconds, 0.1)

    def test_sections_of_trace_mode_lie_inside_their_chunk(self):
        records = self.path("traced")
        trace = [[0, 10, 100, 8], [2, 130, 50, 8], [1, 120, 80, 8], [3, 140, 20, 99]]
        lines = [invented_run.process_line(1), invented_run.chunk_line(0, 1.0, 2.0, trace=trace, trace_dropped=3)]
        invented_run.write_log(records, lines)
        events = slices(self.events(records))
        chunk = events[0]
        self.assertEqual(chunk["args"]["trace_dropped"], 3)
        self.assertEqual([event["name"] for event in events[1:]], ["read", "select", "jets", "jets"])
        self.assertEqual([event["depth"] for event in events], [0, 1, 1, 2, 0])
        for event in events[1:]:
            self.assertGreaterEqual(event["ts"], chunk["ts"])
            self.assertLessEqual(event["ts"] + event["dur"], chunk["ts"] + chunk["dur"])
        self.assertEqual([event["tid"] == chunk["tid"] for event in events[1:]], [True, True, True, False])
        self.assertAlmostEqual(events[1]["dur"], 0.1)

    def test_what_begins_and_ends_together_is_nested_as_its_paths_are(self):
        records = self.path("tight")
        trace = [[2, 100, 50, 8], [1, 100, 50, 8], [2, 150, 1, 8], [1, 150, 0, 8], [0, 999_999_990, 30, 8]]
        invented_run.write_log(
            records, [invented_run.process_line(1), invented_run.chunk_line(0, 1.0, 2.0, trace=trace)]
        )
        nested = [(event["name"], event["depth"]) for event in slices(self.events(records))]
        self.assertEqual(nested, [("ttbar", 0), ("select", 1), ("jets", 2), ("select", 1), ("jets", 2), ("read", 1)])

    def traced_event(self, number, tasks, **changes):
        """An event of 100 ns. `tasks`: (name, tid, start, stop, more); a tid of None: a request."""
        rows = []
        for name, tid, start, stop, more in tasks:
            row = {"name": name, "operation": "infer"} if tid is None else {"name": name, "tid": tid}
            rows.append({**row, "start_ns": start, "duration_ns": stop - start, **more})
        line = invented_run.chunk_line(number, 1.0, 1.0 + 1e-7, detached=True, tasks=rows, **changes)
        return {**line, "sections": [], "trace_dropped": 0}

    def test_an_event_is_a_track_with_its_parts_and_its_tasks_are_on_threads_with_arrows(self):
        records = self.path("events")
        first = [
            ("read", 7, 0, 20, {}),
            ("tracks", 8, 30, 50, {"ready_ns": 15, "by": 0}),
            ("tracks/fit", 8, 35, 45, {}),
            ("triton", None, 48, 80, {"by": 1}),
            ("write", 7, 90, 100, {}),
        ]
        inside = [("steals", 7, 5, 10, {})]  # of another event, while `read` waits
        lines = [invented_run.process_line(1), self.traced_event(0, first), self.traced_event(1, inside)]
        invented_run.write_log(records, lines)
        events = self.events(records)
        on_tracks, open_slices = {}, {}
        for event in events:  # slices of one id nest
            key = (event.get("cat"), event.get("id"))
            if event["ph"] == "b":
                open_slices.setdefault(key, []).append(event)
            elif event["ph"] == "e":
                begin = open_slices[key].pop()
                ns = round(1000 * (event["ts"] - begin["ts"]))
                on_tracks.setdefault(key, []).append((len(open_slices[key]), begin["name"], ns))
        self.assertFalse(any(open_slices.values()))
        parts = [
            (1, "at work", 20),
            (1, "queued", 10),
            (1, "at work", 20),
            (1, "external", 30),
            (1, "nothing ready", 10),
            (1, "at work", 10),
            (0, "ttbar", 100),
        ]
        tracks = [slices for (category, _), slices in on_tracks.items() if category == "event"]
        self.assertEqual(tracks[0], parts)
        self.assertEqual(
            tracks[1], [(1, "nothing ready", 5), (1, "at work", 5), (1, "nothing ready", 90), (0, "ttbar", 100)]
        )
        requests = [slices for (category, _), slices in on_tracks.items() if category == "request"]
        self.assertEqual(requests, [[(0, "infer triton", 32)]])
        tasks = {task["name"]: task for task in slices(events)}
        self.assertEqual(set(tasks), {"read", "tracks", "tracks/fit", "write", "steals"})
        self.assertEqual(tasks["tracks/fit"]["depth"], 1)
        self.assertEqual(tasks["read"]["tid"], tasks["steals"]["tid"])
        self.assertAlmostEqual(tasks["tracks"]["args"]["queued ms"], 15e-6)
        # an arrow begins and ends inside a slice of its thread
        ends = {}
        for event in events:
            if event["ph"] in "sf":
                inside_of = [t for t in tasks.values() if t["tid"] == event["tid"] and t["name"] != "steals"]
                inside_of = [t for t in inside_of if t["ts"] <= event["ts"] < t["ts"] + t["dur"]]
                ends.setdefault(event["id"], []).append(max(inside_of, key=lambda task: task["ts"])["name"])
        arrows = {tuple(names) for names in ends.values()}
        self.assertEqual(arrows, {("read", "tracks"), ("read", "tracks/fit"), ("tracks", "write")})

    def test_events_that_are_summed_are_counters(self):
        records = self.path("summed")
        second = invented_run.SECOND
        lines = [invented_run.process_line(1)]
        for seconds, count in ((2, 10), (4, 40)):
            latency = {"count": count, "latency_ns": count * second, "active_ns": count * second, "dataset": "raw"}
            times = {"first_start_ns": invented_run.at(1.0), "last_stop_ns": invented_run.at(seconds)}
            lines.append({"type": "task_sums", "time_ns": invented_run.at(seconds + 0.1), "task_modules": []})
            lines[-1]["latencies"] = [{**latency, **times}]
        invented_run.write_log(records, [*lines, invented_run.end_line(5.0, 40)])
        values = {}
        for event in self.events(records):
            if event["ph"] == "C" and "events" in event["name"]:
                values.setdefault(event["name"], []).append(round(next(iter(event["args"].values())), 9))
        self.assertEqual(values["events that ended"], [10, 0, 15, 0])
        self.assertEqual(values["events at work"], [10, 0, 15, 0])
        self.assertEqual(values["events queued"], [0, 0, 0, 0])

    def test_writes_100000_chunks(self):
        records = self.path("large")
        chunk = json.dumps(invented_run.chunk_line(0, 0.0, 0.001, sections=[]), separators=(",", ":"))
        step = invented_run.SECOND // 1000
        start, stop = invented_run.at(0.0), invented_run.at(0.001)
        path = invented_run.write_log(records, [invented_run.process_line(1)])
        with open(path, "a", encoding="utf-8") as log:
            for number in range(100_000):
                line = chunk.replace('"chunk":0', f'"chunk":{number}', 1)
                line = line.replace(str(stop), str(stop + number * step), 1)
                log.write(line.replace(str(start), str(start + number * step), 1) + "\n")
        events = self.events(records)
        self.assertEqual(sum(event["ph"] == "B" for event in events), 100_000)
        self.assertAlmostEqual(max(e["ts"] for e in events if e["ph"] == "E"), 1e8)


class Roastcoffea(ExportTestCase):
    def metrics(self, source=None):
        directory = self.export("roastcoffea", "roastcoffea", source=source)
        self.assertEqual(sorted(os.listdir(directory)), ["metadata.json", "metrics.json", "start_end_time.txt"])
        start, stop = map(float, self.read(os.path.join(directory, "start_end_time.txt")).split(","))
        metrics = json.loads(self.read(os.path.join(directory, "metrics.json")))
        self.assertEqual(stop - start, metrics["elapsed_time_seconds"])
        return metrics

    def test_counts_attempts_as_roastcoffea_does(self):
        metrics = self.metrics()
        self.assertEqual(metrics["num_chunks"], 21)
        self.assertEqual(len(metrics["raw_chunk_metrics"]), 21)
        self.assertEqual((metrics["num_successful_chunks"], metrics["num_failed_chunks"]), (20, 1))
        self.assertEqual(
            [c["error"] for c in metrics["raw_chunk_metrics"] if "error" in c], ['bad basket, "Jet_pt"\nin line 2']
        )
        self.assertEqual(
            {name: row["num_chunks"] for name, row in metrics["per_dataset"].items()}, {"ttbar": 12, "zjets": 8}
        )
        self.assertEqual(metrics["total_bytes_read"], self.document()["metrics"]["bytes_read_compressed"])
        self.assertEqual(len(metrics["chunk_info"]), 20)
        self.assertIn("('data/ttbar.root', 0, 100)", metrics["chunk_info"])

    def test_has_no_fine_metrics_where_dask_was_not_asked(self):
        metrics = self.metrics()
        for key in ("processor_cpu_time_seconds", "disk_read_bytes", "total_serialization_overhead_seconds"):
            self.assertNotIn(key, metrics)

    def test_has_tracking_data_only_where_workers_were_sampled(self):
        tracking = self.metrics()["tracking_data"]
        self.assertEqual(len(tracking), 10)
        times = [time for time, _ in tracking["worker_memory"]["node:100"]]
        self.assertEqual([time for time, _ in tracking["worker_memory_limit"]["node:100"]], times)
        records = self.path("unsampled")
        lines = [invented_run.process_line(1), invented_run.chunk_line(0, 1.0, 2.0), invented_run.end_line(3.0, 1)]
        invented_run.write_log(records, lines)
        self.assertIsNone(self.metrics(records)["tracking_data"])


if __name__ == "__main__":
    unittest.main()

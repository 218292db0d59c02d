"""Allocations of known sizes, by section: crema counts them to the byte, or is null with a reason."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

KNOWN = pathlib.Path("tests/allocations/known_allocations").absolute()
OWN_ALLOCATOR = pathlib.Path("tests/allocations/own_allocator").absolute()
OWN_OPERATORS = pathlib.Path("tests/allocations/own_operators").absolute()
POOL_OPERATORS = pathlib.Path("tests/allocations/pool_operators").absolute()
HIDDEN_POOL_OPERATORS = pathlib.Path("tests/allocations/hidden_pool_operators").absolute()
PLUGINS = [
    pathlib.Path(f"tests/allocations/{kind}_plugin.so").absolute() for kind in ("own", "bound", "pool", "malloc")
]
PLUGIN_HOST = pathlib.Path("tests/allocations/plugin_host").absolute()
LIBRARY_OF_C = pathlib.Path("sdk/c_api/libcrema.so.1").absolute()
PLUGIN = pathlib.Path("sdk/c_api/recording_plugin.so").absolute()
LIBRARY = pathlib.Path("sdk/allocations/libcrema_allocations.so").absolute()
CREMA = pathlib.Path("collector/cli/crema").absolute()
FORMAT = pathlib.Path("docs/record_log.md")
FIGURES = ("allocations", "allocated_bytes", "live_bytes", "peak_live_bytes")
ALLOCATORS = ("libjemalloc.so.2", "libtcmalloc_minimal.so.4", "libtcmalloc.so.4")  # these have operators of their own

# Loads plug-ins into a Python program, inside a section of the SDK.
PYTHON_HOST = """if True:
    import ctypes, sys
    library, *plugins = map(ctypes.CDLL, sys.argv[1:])
    section = library.crema_section_open(b"plug-ins")
    for plugin in plugins: plugin.run_plugin()
    library.crema_section_close(section)"""
# The same, but it loads them after recording has begun.
LATE_PYTHON_HOST = """if True:
    import ctypes, sys
    library = ctypes.CDLL(sys.argv[1])
    library.crema_section_close(library.crema_section_open(b"first"))
    for plugin in sys.argv[2:]: ctypes.CDLL(plugin).run_plugin()"""


def is_installed(allocator):
    """Whether the loader finds this library. If it does not, it goes on without it, and prints a line."""
    environment = {**os.environ, "LD_PRELOAD": allocator}
    return not allocator or not subprocess.run(["/bin/true"], env=environment, capture_output=True).stderr


class AllocationsCase(unittest.TestCase):
    def setUp(self):
        self.place = pathlib.Path(tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR")))
        self.addCleanup(shutil.rmtree, self.place, ignore_errors=True)

    def run_program(self, *command, preloaded=str(LIBRARY), allocator="", **environment):
        """Returns what the program printed, one list for each process, and the lines of its logs."""
        shutil.rmtree(self.place / "records", ignore_errors=True)
        names = {name: value for name, value in os.environ.items() if not name.startswith("CREMA_")}
        names.update(CREMA_DIR=str(self.place / "records"), CREMA_INTERVAL="0", CREMA_ALLOCATIONS="1")
        names.update(environment)
        names["LD_PRELOAD"] = ":".join(filter(None, (preloaded, allocator)))
        result = subprocess.run([str(word) for word in command], env=names, capture_output=True, text=True, timeout=300)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        known, rest = [], result.stdout.strip()
        decoder = json.JSONDecoder()
        while rest:
            rows, end = decoder.raw_decode(rest)
            known.append(rows)
            rest = rest[end:].strip()
        logs = sorted((self.place / "records").glob("*.jsonl"))
        return known, [[json.loads(line) for line in log.read_text().splitlines()] for log in logs]

    def last(self, lines):
        found = [line for line in lines if line["type"] == "allocations"]
        self.assertTrue(found, "no line `allocations`")
        self.assertTrue(found[-1]["last"])
        self.assertEqual([line["last"] for line in found[:-1]], [False] * (len(found) - 1))
        return found[-1]

    def assert_known(self, known, line, figures=FIGURES):
        rows = {(row["of"], row["path"]): row for row in line["sites"]}
        for expected in known:
            with self.subTest(section=expected["path"]):
                row = rows.get((expected["of"], expected["path"]), dict.fromkeys(FIGURES))
                self.assertEqual({key: row[key] for key in figures}, {key: expected[key] for key in figures})
        return rows


class KnownSizesTest(AllocationsCase):
    def test_sections_are_right_to_the_byte(self):
        (known,), (lines,) = self.run_program(KNOWN)
        self.assertGreaterEqual(len(known), 10)
        line = self.last(lines)
        self.assertIsNone(line["reason"])
        rows = self.assert_known(known, line)
        self.assertNotIn(("chunk", "quiet"), rows, "what crema allocates is not the program's")
        self.assertNotIn(("chunk", "free"), rows)
        for figure in FIGURES[:3]:
            self.assertEqual(line[figure], sum(row[figure] for row in line["sites"]), figure)
        self.assertGreaterEqual(line["peak_live_bytes"], max(row["peak_live_bytes"] for row in rows.values()))
        self.assertGreater(line["cost_ns"], 0)
        chunks = [line for line in lines if line["type"] == "chunk"]
        own = [row for row in line["sites"] if row["of"] == "chunk"]
        for figure in FIGURES[:2]:  # other threads work outside chunks, and as helpers
            self.assertEqual(sum(chunk[figure] for chunk in chunks), sum(row[figure] for row in own), figure)

    def test_lines_have_the_fields_of_the_format(self):
        page = FORMAT.read_text(encoding="utf-8").partition("### `allocations`")[2].partition("### `task_sums`")[0]
        tables = [re.findall(r"^\| `(\w+)` \|", part, re.MULTILINE) for part in page.split("#### A row of `sites`")]
        _, (lines,) = self.run_program(KNOWN)
        for line in (line for line in lines if line["type"] == "allocations"):
            self.assertEqual(list(line), tables[0])
            self.assertEqual({tuple(row) for row in line["sites"]}, {tuple(tables[1])})

    def test_a_child_counts_from_its_fork_on(self):
        known, logs = self.run_program(KNOWN, "fork")
        self.assertEqual((len(known), len(logs)), (2, 2))
        for rows, own in ((known[0], "in child"), (known[1], "in parent")):
            (lines,) = [log for log in logs if any(own in json.dumps(line) for line in log)]
            line = self.last(lines)
            found = self.assert_known(rows, line)
            self.assertEqual(
                [path for _, path in found if path in ("in child", "in parent")],
                [own],
                "blocks of the parent are not the child's",
            )
            self.assertGreaterEqual(line["live_bytes"], 0)

    def test_threads_that_share_a_section_lose_nothing(self):
        (known,), (lines,) = self.run_program(KNOWN, "threads")
        self.assert_known(known, self.last(lines), FIGURES[:3])

    def test_a_chunk_has_what_its_own_thread_allocated_in_it(self):
        (known,), (lines,) = self.run_program(KNOWN, "chunks")
        chunks = {line["dataset"]: line for line in lines if line["type"] == "chunk"}
        measured_counts = [{key: chunks[row["dataset"]][key] for key in row} for row in known]
        self.assertEqual(measured_counts, known)

    def test_a_plug_in_with_a_copy_of_the_sdk_is_counted_too(self):
        code = """if True:
            import ctypes, sys
            library, plugin = map(ctypes.CDLL, sys.argv[1:])
            library.crema_section_close(library.crema_section_open(b"set up"))
            plugin.plugin_chunk(b"zjets")
            print([])"""
        _, (lines,) = self.run_program(sys.executable, "-c", code, LIBRARY_OF_C, PLUGIN)
        (chunk,) = [line for line in lines if line["type"] == "chunk"]
        self.assertEqual((chunk["dataset"], chunk["allocations"]), ("zjets", 0))
        self.assertGreater(self.last(lines)["allocations"], 0)


class OperatorsTest(AllocationsCase):
    """Programs and plug-ins keep their own operators new, and crema counts what these take from malloc."""

    def assert_same(self, *command, reason=None, **more):
        """Checks that the program prints the same with the library. Returns the line `allocations` if there is a
        log."""
        plain, _ = self.run_program(*command, **{**more, "preloaded": ""})
        counted, logs = self.run_program(*command, **more)
        self.assertEqual(counted, plain)
        self.assertTrue(plain)
        if not logs:
            return None
        line = self.last(logs[0])
        if reason is None:
            self.assertIsNone(line["reason"])
            self.assertGreater(line["allocations"], 0)
        else:
            self.assertEqual(line["reason"], reason)
            self.assertEqual([line[figure] for figure in FIGURES], [None] * 4)
            self.assertEqual(line["sites"], [])
        return line

    def test_operators_of_a_plug_in_stay_its_own(self):
        for plugin in PLUGINS:
            with self.subTest(plugin=plugin.name):
                self.assertIsNone(self.assert_same(PLUGIN_HOST, plugin))
        self.assert_same(PLUGIN_HOST, *PLUGINS)

    def test_what_operators_of_a_plug_in_take_from_malloc_is_counted(self):
        for plugin in PLUGINS[:2]:
            with self.subTest(plugin=plugin.name):
                line = self.assert_same(sys.executable, "-c", PYTHON_HOST, LIBRARY_OF_C, plugin)
                (row,) = [row for row in line["sites"] if row["path"] == "plug-ins"]
                self.assertGreaterEqual(row["allocations"], 1000)
                self.assert_same(sys.executable, "-c", LATE_PYTHON_HOST, LIBRARY_OF_C, plugin)

    def test_operators_that_do_not_call_malloc_are_a_reason(self):
        reason = "operator new of {} does not call malloc".format
        self.assert_same(POOL_OPERATORS, reason=reason("the program"))
        self.assert_same(HIDDEN_POOL_OPERATORS, reason=reason("the program"))
        for host in (PYTHON_HOST, LATE_PYTHON_HOST):
            plugins = (LIBRARY_OF_C, *PLUGINS[:3])
            self.assert_same(sys.executable, "-c", host, *plugins, reason=reason("pool_plugin.so"))

    def test_an_allocator_inside_a_plug_in_is_a_reason(self):
        reason = "the allocator inside malloc_plugin.so is not seen"
        for host in (PYTHON_HOST, LATE_PYTHON_HOST):
            self.assert_same(sys.executable, "-c", host, LIBRARY_OF_C, PLUGINS[3], reason=reason)

    def test_operators_of_the_program_that_call_malloc_are_counted(self):
        line = self.assert_same(OWN_OPERATORS)
        (row,) = [row for row in line["sites"] if row["path"] == "select"]
        self.assertEqual((row["allocations"], row["live_bytes"]), (4, 0))

    def test_operators_of_allocators_are_a_reason(self):
        program = self.place / "linked"
        source = b'extern int crema_section_open(const char*); int main() { crema_section_open("a"); puts("[]"); }'
        for allocator in ALLOCATORS:
            with self.subTest(allocator=allocator):
                if not is_installed(allocator):
                    self.skipTest(f"{allocator} is not installed: tools/setup test")
                reason = f"operator new of {allocator} does not call malloc"
                before = f"the allocator inside {allocator} is not seen"
                for preloaded, why in ((f"{LIBRARY}:{allocator}", reason), (f"{allocator}:{LIBRARY}", before)):
                    _, (lines,) = self.run_program(KNOWN, preloaded=preloaded)
                    self.assertEqual((self.last(lines)["reason"], self.last(lines)["allocations"]), (why, None))
                linking = ["-xc", "-w", "-", "-xnone", LIBRARY_OF_C, "-Wl,--no-as-needed", f"-l:{allocator}"]
                rpath = f"-Wl,-rpath,{LIBRARY_OF_C.parent}"
                subprocess.run(["gcc", *linking, rpath, "-o", program], input=source, check=True)
                self.assert_same(program, reason=reason)


class ReasonsTest(AllocationsCase):
    def reason(self, *command, **more):
        _, (lines,) = self.run_program(*command, **more)
        line = self.last(lines)
        self.assertEqual([line[figure] for figure in FIGURES], [None] * 4)
        self.assertEqual(line["sites"], [])
        return line["reason"]

    def test_a_program_without_the_library_says_so(self):
        self.assertIn("was not loaded", self.reason(KNOWN, preloaded=""))

    def test_an_allocator_inside_the_program_is_not_counted(self):
        self.assertIn("allocator inside", self.reason(OWN_ALLOCATOR))

    def test_nothing_is_said_where_nobody_asked(self):
        _, (lines,) = self.run_program(KNOWN, preloaded="", CREMA_ALLOCATIONS="0")
        self.assertNotIn("allocations", [line["type"] for line in lines])
        self.assertNotIn("allocations", [field for line in lines for field in line])

    def test_the_library_needs_no_cpp_runtime(self):
        needed = subprocess.run(["readelf", "-d", LIBRARY], capture_output=True, text=True, check=True).stdout
        self.assertEqual(re.findall(r"Shared library: \[(.*)\]", needed), ["libc.so.6"])

    def test_the_library_loads_beside_a_c_library_of_2012(self):
        """As in a container. ld.so would not start any program with a library of a newer version."""
        versions = subprocess.run(["readelf", "-V", LIBRARY], capture_output=True, text=True, check=True).stdout
        needed = {tuple(map(int, version.split("."))) for version in re.findall(r"GLIBC_([0-9.]+)", versions)}
        self.assertLessEqual(max(needed), (2, 17))


class RunTest(AllocationsCase):
    def measure(self, *options, command=(str(KNOWN),)):
        output = self.place / "run"
        shutil.rmtree(output, ignore_errors=True)
        names = {name: value for name, value in os.environ.items() if not name.startswith("CREMA_")}
        subprocess.run(
            [CREMA, "run", "-q", *options, "-o", output, "--", *command], env=names, capture_output=True, check=False
        )
        return json.loads((output / "measurement.json").read_text())

    def test_the_document_has_the_figures_of_the_sections(self):
        document = self.measure("--allocations")
        metrics, rows = document["metrics"], {row["path"]: row for row in document["sections"] if not row["helper"]}
        self.assertEqual(rows["outer"]["allocations"], 3)
        self.assertGreaterEqual(rows["outer"]["peak_live_bytes"], 3_000_000)
        self.assertEqual(rows["quiet"]["allocations"], 0)
        helpers = {row["path"]: row for row in document["sections"] if row["helper"]}
        self.assertEqual(helpers["select/sort"]["allocations"], 1)
        (outside,) = [row for row in document["process_sections"] if row["path"] == "set up"]
        self.assertEqual(outside["allocations"], 1)
        inside = sum(row["allocations"] for row in document["sections"])
        self.assertGreater(metrics["allocations"], inside + 1)
        self.assertGreaterEqual(metrics["peak_live_bytes"], metrics["live_bytes"])

    def test_without_it_every_figure_is_null_with_a_reason(self):
        document = self.measure()
        for figure in FIGURES:
            self.assertIsNone(document["metrics"][figure])
            self.assertIn("--allocations", document["quality"]["not_measured"][figure])
            self.assertEqual({row[figure] for row in document["sections"]}, {None})

    def test_a_process_that_is_killed_has_no_figures(self):
        document = self.measure("--allocations", command=(str(KNOWN), "killed"))
        for figure in FIGURES:
            self.assertIsNone(document["metrics"][figure])
            self.assertIn("was killed", document["quality"]["not_measured"][figure])

    def test_it_changes_no_other_figure(self):
        counted, plain = self.measure("--allocations"), self.measure()
        same = ("num_chunks", "num_attempts", "total_events", "num_failed_attempts", "peak_workers", "peak_cores")
        for key in same:
            self.assertEqual(counted["metrics"][key], plain["metrics"][key], key)

        def shape(document):
            rows = document["sections"] + document["process_sections"]
            return sorted(str([row[key] for key in ("path", "helper", "count", "failed", "chunks")]) for row in rows)

        self.assertEqual(shape(counted), shape(plain))
        for table in ("custom_metrics", "cuts", "datasets", "requests"):
            columns = ("name", "count", "sum", "events", "server", "calls")
            of_both = [sorted(str([row.get(key) for key in columns]) for row in run[table]) for run in (counted, plain)]
            self.assertTrue(of_both[0], table)
            self.assertEqual(*of_both)


if __name__ == "__main__":
    unittest.main()

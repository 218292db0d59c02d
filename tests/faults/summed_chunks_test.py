"""The measurement of a program whose chunks were summed has the same totals as that of a program with a line for each
chunk."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

CREMA = str(pathlib.Path("collector/cli/crema").absolute())
PROGRAM = str(pathlib.Path("tests/faults/summing_program").absolute())
CHUNKS = 20_000
FEW_CHUNKS = 3000
RESULT_BYTES = 5 << 20
# Fields of rows that depend only on what the program records.
OF_BREAKDOWN = ("name", "chunks", "attempts", "failed", "lost", "events", "bytes_read", "bytes_uncompressed")
OF_ROWS = {
    "datasets": OF_BREAKDOWN,
    "files": OF_BREAKDOWN,
    "hosts": OF_BREAKDOWN,
    "sections": ("path", "helper", "count", "failed"),
    "memory_sections": ("path", "count"),
    "cuts": ("name", "events", "weights", "step_efficiency", "total_efficiency"),
    "fine": ("context", "span", "activity", "unit", "value"),
}
METRICS = (
    "num_chunks",
    "num_attempts",
    "num_failed_attempts",
    "num_lost_attempts",
    "total_events",
    "bytes_read_chunks",
    "bytes_read_uncompressed",
    "compression_ratio",
)
OF_CUSTOM_METRIC = ("count", "sum", "mean", "min", "max", "invalid")
# In a separate namespace: a disk of 20 MB with the records and the results.
SMALL_DISK = """
set -e
mount --make-rprivate / && mount -t tmpfs -o size=20m small "$DISK" || exit 77
export CREMA_DIR="$DISK/records"
for process in $(seq "$PROCESSES"); do
  "$PROGRAM" "$CHUNKS" "$DISK/result$process" "$BYTES" & pids="$pids $!"
done
for pid in $pids; do wait "$pid"; done
[ "$(cat "$DISK"/result* | wc -c)" = "$((BYTES * PROCESSES))" ]
"$CREMA" collect "$CREMA_DIR" -q -o "$MEASURED"
"""


def environment(**more):
    return {**{name: value for name, value in os.environ.items() if not name.startswith("CREMA_")}, **more}


def what_was_said(document):
    """The figures that are the same in each run of the program."""
    rows = {
        table: sorted(json.dumps({field: row[field] for field in fields}) for row in document[table])
        for table, fields in OF_ROWS.items()
    }
    custom = {
        row["name"]: [
            {field: figures[field] for field in OF_CUSTOM_METRIC} for figures in (row, *row["by_dataset"].values())
        ]
        for row in document["custom_metrics"]
    }
    return {**rows, "custom_metrics": custom, "metrics": {key: document["metrics"][key] for key in METRICS}}


class SummedChunksTest(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = temporary.name

    def crema(self, *arguments, **more):
        result = subprocess.run(
            [CREMA, *arguments], capture_output=True, text=True, env=environment(**more), timeout=300
        )
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def shown(self, *sources):
        return json.loads(self.crema("show", *sources, "--json"))

    def measured(self, name, *options, **more):
        directory = f"{self.folder}/{name}"
        self.crema("run", "-q", *options, "-o", directory, "--", PROGRAM, str(FEW_CHUNKS), **more)
        return self.shown(directory)

    def check_budget(self, document):
        parts = [row["core_seconds"] for row in document["budget"]]
        self.assertAlmostEqual(sum(parts), document["metrics"]["core_seconds"], places=6)
        self.assertGreaterEqual(min(parts), 0)

    def test_every_total_is_that_of_the_lines(self):
        whole = self.measured("whole")
        summed = self.measured("summed", CREMA_MAX_LOG_BYTES="200000")
        self.assertEqual(whole["quality"]["summed_chunks"], 0)
        self.assertGreater(summed["quality"]["summed_chunks"], FEW_CHUNKS // 2)
        self.assertEqual(what_was_said(summed), what_was_said(whole))
        self.assertEqual(whole["metrics"]["num_attempts"], FEW_CHUNKS)
        for document in (whole, summed):
            self.check_budget(document)
            self.assertEqual(document["quality"]["records_dropped"], 0)
            self.assertEqual(document["quality"]["records_lost"], 0)
            self.assertEqual(document["quality"]["records_unknown"], 0)
        self.assertIn("the log came near CREMA_MAX_LOG_BYTES", " ".join(summed["quality"]["warnings"]))
        self.assertIn("chunks summed, totals exact", self.crema("show", f"{self.folder}/summed"))
        logs = list(pathlib.Path(self.folder, "summed", "records").glob("*.jsonl"))
        self.assertLess(max(log.stat().st_size for log in logs), 200_000)

    def test_the_option_says_the_same_as_the_variable(self):
        summed = self.measured("summed", "--max-log-bytes", "200000")
        self.assertGreater(summed["quality"]["summed_chunks"], FEW_CHUNKS // 2)

    def test_nothing_is_counted_twice(self):
        once = self.measured("summed", CREMA_MAX_LOG_BYTES="200000")
        records = f"{self.folder}/summed/records"
        for command in ("collect", "merge"):
            self.crema(command, records, f"{self.folder}/summed", "-q", "-o", f"{self.folder}/{command}")
            self.assertEqual(what_was_said(self.shown(f"{self.folder}/{command}")), what_was_said(once), command)
        run = once["run"]["id"]
        self.crema("collect", records, "--run", run, "-q", "-o", f"{self.folder}/run")
        self.assertEqual(what_was_said(self.shown(f"{self.folder}/run")), what_was_said(once))

    def test_roastcoffea_gets_the_totals(self):
        whole, summed = (
            self.exported(name, **more) for name, more in (("whole", {}), ("summed", {"CREMA_MAX_LOG_BYTES": "200000"}))
        )
        self.assertEqual(summed["num_chunks"], whole["num_chunks"])
        for name, row in whole["per_dataset"].items():
            for field in ("num_chunks", "total_events"):
                self.assertEqual(summed["per_dataset"][name][field], row[field], name)

    def exported(self, name, **more):
        self.measured(name, **more)
        self.crema("export", f"{self.folder}/{name}", "--to", "roastcoffea", "-o", f"{self.folder}/{name}.exported")
        return json.loads(pathlib.Path(f"{self.folder}/{name}.exported/metrics.json").read_text())

    def test_a_result_of_5_mb_finds_room_on_a_disk_of_20(self):
        self.on_a_small_disk(1)

    def test_so_do_the_results_of_eight_processes(self):
        self.on_a_small_disk(8)

    def on_a_small_disk(self, processes):
        disk = pathlib.Path(self.folder, "disk")
        disk.mkdir()
        measured = f"{self.folder}/measured"
        script = environment(
            DISK=str(disk),
            PROGRAM=PROGRAM,
            CREMA=CREMA,
            MEASURED=measured,
            PROCESSES=str(processes),
            CHUNKS=str(CHUNKS),
            BYTES=str(RESULT_BYTES // processes),
        )
        result = subprocess.run(
            ["unshare", "--mount", "sh", "-c", SMALL_DISK], capture_output=True, text=True, env=script, timeout=300
        )
        if result.returncode == 77 or "unshare failed" in result.stderr:
            self.skipTest("not allowed to mount a small tmpfs")
        self.assertEqual(result.returncode, 0, result.stderr)
        document = self.shown(measured)
        self.assertEqual(document["metrics"]["num_attempts"], CHUNKS * processes)
        self.assertGreater(document["quality"]["summed_chunks"], 0)
        self.assertEqual(document["metrics"]["num_lost_attempts"], 0)
        self.assertEqual(document["metrics"]["bytes_read_chunks"], 1000 * CHUNKS * processes)
        self.assertEqual(document["quality"]["records_dropped"], 0)
        self.check_budget(document)


if __name__ == "__main__":
    unittest.main(verbosity=2)

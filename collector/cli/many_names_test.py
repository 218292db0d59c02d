"""Logs with tens of thousands of names of every kind, as files: every command reads them, in one log and in many."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

import invented_run

CREMA = str(pathlib.Path(__file__).absolute().parent / "crema")
# The report lists this many failed attempts one by one, with their errors.
MOST_FAILED = 10_000
# More than any table holds: 10,000 rows of files and datasets, 1,000 of the others.
NAMES = 150_000 if "CREMA_TEST_LONG" in os.environ else 12_000


def chunk_lines(number, name):
    """A chunk in which every name is new."""
    begin = invented_run.begin_line(number, number)
    chunk = invented_run.chunk_line(number, number, number + 1)
    for line in (begin, chunk):
        line.update(dataset=f"set{name}", file=f"/data/file{name}.root", **{"pass": f"pass{name}"})
    chunk["sections"][0]["path"] = f"section{name}"
    chunk.update(
        status="failed" if name % 10 == 9 else "ok",
        error=f"error {name}" if name % 10 == 9 else None,
        span=f"span{name}",
        columns=[f"column{name}"],
        cuts=[{"name": f"cut{name}", "events": 1}],
        metrics=[{"name": f"metric{name}", "unit": "GeV", "count": 1, "sum": 2.0, "min": 2.0, "max": 2.0}],
        activities=[{"label": f"activity{name}", "unit": "seconds", "value": 0.5}],
        requests=[{"server": f"root://s{name}", "operation": "read", "count": 1, "bytes": 7, "total_ns": 9}],
        memory_sections=[{"path": f"memory{name}", "count": 1, "delta_bytes": 5}],
    )
    return begin, chunk


def write_logs(directory, logs):
    """Writes NAMES chunks into this many logs."""
    directory.mkdir()
    for pid in range(1, logs + 1):
        with open(directory / f"node-{pid}-1-0.jsonl", "w") as log:
            log.write(json.dumps(invented_run.process_line(pid)) + "\n")
            for number, name in enumerate(range(pid - 1, NAMES, logs)):
                log.writelines(json.dumps(line) + "\n" for line in chunk_lines(number, name))
    return directory


def errors_in(path):
    """Counts the texts of errors in a file."""
    return len(set(re.findall(r"error \d+", path.read_text())))


class ManyNames(unittest.TestCase):
    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR")))
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)

    def crema(self, *arguments):
        command = [CREMA, *map(str, arguments)]
        result = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
        self.assertEqual(result.returncode, 0, result.stderr[-2000:])
        return result.stdout

    def check_totals(self, document):
        self.assertEqual(document["metrics"]["num_attempts"], NAMES)
        self.assertEqual(document["metrics"]["num_failed_attempts"], NAMES // 10)
        for table, most in (("datasets", 10_001), ("files", 10_001), ("requests", 1001)):
            rows = document[table]
            self.assertLessEqual(len(rows), most, table)
            count = "calls" if table == "requests" else "attempts"
            self.assertEqual(sum(row[count] for row in rows), NAMES, table)
            self.assertIn("(other)", [row.get("name", row.get("server")) for row in rows])

    # Fault [many]: logs with tens of thousands of names of every kind, in one file or in many, named in any order
    # Shown: bounded tables, `(other)`, equal totals; `collect`, `show` and `report` end well
    def test_every_command_reads_them_in_every_order(self):
        for logs in (1, 6):
            with self.subTest(logs=logs):
                written = write_logs(self.directory / f"logs{logs}", logs)
                files = sorted(written.iterdir())
                measurement = self.directory / f"measurement{logs}"
                self.crema("collect", *files, "-o", measurement, "-q")
                document = json.loads((measurement / "measurement.json").read_text())
                self.check_totals(document)
                self.crema("collect", *reversed(files), "-o", self.directory / "backwards", "--replace", "-q")
                backwards = json.loads(self.crema("show", "--json", self.directory / "backwards"))
                for table in ("metrics", "datasets", "files", "sections", "custom_metrics", "cuts", "requests"):
                    self.assertEqual(backwards[table], document[table], table)
                self.assertEqual(errors_in(measurement / "measurement.json"), 0)
                report = self.directory / f"report{logs}.html"
                self.crema("report", measurement, "-o", report, "-q")
                self.assertEqual(errors_in(report), min(NAMES // 10, MOST_FAILED))


if __name__ == "__main__":
    unittest.main()

"""Each dialect of another system's logs has a small sample in `samples/`, with its truth beside it (`truth.json`).

The truth was computed by hand. It is compared with the document, the summary and the report. A truth has:

    what               one line
    sources            what crema is given, below the sample's folder
    environment        variables, TZ among them; UTC without
    written            the day on which the files were written last
    prepare            `gzip`: a file to compress; `keep`: the share of it to keep; `append`: a file to append
    refused            the command ends with status 1, and its one line has these texts; then there is nothing else
    state, start       of the run
    metrics, quality   values of the document; a number may differ in the sixth digit
    budget             core-seconds by part
    workers            rows of the table
    worker_limits      their memory_limit_bytes
    resources          rows of resource_advice with what was used
    again              false: the kept logs do not give the same figures
    headline, mark     texts in the headline, and the mark of the status badge
    warnings, no_warnings, most_warnings
    verdicts           ids that are there
    in_summary, not_in_summary
    records            names in the measurement's `records/`

`@NOW-600@` in a file stands for the Unix time of ten minutes ago.
"""

import datetime
import gzip
import html
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import time
import unittest

CREMA = os.path.abspath("collector/cli/crema")
SAMPLES = pathlib.Path(__file__).parent / "samples"


def prepared(sample: pathlib.Path, folder: pathlib.Path, truth: dict) -> None:
    """Copies a sample's files, changed as its truth asks for."""
    shutil.copytree(sample, folder, ignore=shutil.ignore_patterns("truth.json"), dirs_exist_ok=True)
    files = [path for path in folder.rglob("*") if path.is_file()]
    for path in files:
        path.chmod(0o644)
        text = path.read_text()
        path.write_text(re.sub(r"@NOW-(\d+)@", lambda ago: str(int(time.time()) - int(ago[1])), text))
    how = truth.get("prepare", {})
    if "gzip" in how:
        plain = folder / how["gzip"]
        packed = gzip.compress(plain.read_bytes(), mtime=0)
        packed = packed[: int(len(packed) * how.get("keep", 1))]
        plain.unlink()
        if "append" in how:
            packed += (folder / how["append"]).read_bytes()
        (folder / (how["gzip"] + ".gz")).write_bytes(packed)
    if "written" in truth:
        day = datetime.datetime.fromisoformat(truth["written"]).replace(tzinfo=datetime.timezone.utc).timestamp()
        for path in folder.rglob("*"):
            os.utime(path, (day, day))


class Dialects(unittest.TestCase):
    maxDiff = None

    def run_crema(self, *arguments: str, status: int = 0) -> subprocess.CompletedProcess:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("CREMA_")}
        environment.update({"TZ": "UTC", **self.truth.get("environment", {})})
        done = subprocess.run(
            [CREMA, *arguments], capture_output=True, text=True, cwd=self.folder, env=environment, timeout=120
        )
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertNotIn("crema-temporary", done.stdout + done.stderr)
        return done

    def check_document(self, document: dict) -> None:
        truth = self.truth
        if "state" in truth:
            self.assertEqual(document["run"]["state"], truth["state"])
        if "start" in truth:
            self.assertEqual(document["run"]["start"], truth["start"])
        for table in ("metrics", "quality"):
            for key, value in truth.get(table, {}).items():
                with self.subTest(key):
                    found = document[table][key]
                    if isinstance(value, float) and found is not None:
                        self.assertAlmostEqual(found, value, delta=max(1e-6, abs(value) * 1e-6))
                    else:
                        self.assertEqual(found, value)
        budget = {row["part"]: row["core_seconds"] for row in document["budget"]}
        for part, seconds in truth.get("budget", {}).items():
            self.assertAlmostEqual(budget.get(part) or 0, seconds, delta=max(1e-3, seconds * 1e-4), msg=part)
        if "workers" in truth:
            self.assertEqual(len(document["workers"]), truth["workers"])
        if "worker_limits" in truth:
            self.assertEqual([row["memory_limit_bytes"] for row in document["workers"]], truth["worker_limits"])
        advised = [row["resource"] for row in document.get("resource_advice") or [] if row["used"] is not None]
        for resource in truth.get("resources", []):
            self.assertIn(resource, advised)
        for text in truth.get("headline", []):
            self.assertIn(text, document["headline"])
        if "mark" in truth:
            self.assertEqual(document["trouble"]["mark"], truth["mark"])
        warnings = document["quality"]["warnings"]
        for text in truth.get("warnings", []):
            self.assertTrue(any(text in warning for warning in warnings), f"{text} in {warnings}")
        for text in truth.get("no_warnings", []):
            self.assertFalse(any(text in warning for warning in warnings), f"{text} in {warnings}")
        self.assertLessEqual(len(warnings), truth.get("most_warnings", len(warnings)))
        verdicts = [verdict["id"] for verdict in document["verdicts"]]
        for verdict in truth.get("verdicts", []):
            self.assertIn(verdict, verdicts)

    def check_sample(self) -> None:
        sources = self.truth["sources"]
        if "refused" in self.truth:
            done = self.run_crema("collect", *sources, "-o", "measured", "-q", status=1)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
            for text in self.truth["refused"]:
                self.assertIn(text, done.stderr)
            return
        document = json.loads(self.run_crema("collect", *sources, "-o", "measured", "-q", "--json").stdout)
        self.check_document(document)
        for name in self.truth.get("records", []):
            self.assertTrue((self.folder / "measured" / "records" / name).exists(), name)
        summary = self.run_crema("show", "measured", "--width", "200").stdout
        for text in self.truth.get("in_summary", []):
            self.assertIn(text, summary)
        for text in self.truth.get("not_in_summary", []):
            self.assertNotIn(text, summary)
        self.run_crema("report", "measured", "-o", "report.html", "-q")
        page = html.unescape((self.folder / "report.html").read_text(encoding="utf-8"))
        self.assertNotIn("crema-temporary", page)
        plain = re.sub(r"<[^>]*>", "", page[: page.find("<script")]).replace("\u00a0", " ").replace("\u202f", " ")
        for text in self.truth.get("headline", []):
            self.assertTrue(text in plain, f"{text} is not in the report")
        # The kept logs give the same figures as the original ones.
        if not self.truth.get("again", True):
            return
        again = json.loads(self.run_crema("collect", "measured", "-o", "again", "-q", "--json").stdout)
        for key in ("metrics", "headline", "workers", "budget"):
            self.assertEqual(again[key], document[key], key)


def add_tests() -> None:
    for sample in sorted(SAMPLES.iterdir()):

        def test(self, sample=sample):
            self.truth = json.loads((sample / "truth.json").read_text(encoding="utf-8"))
            with tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMPDIR")) as folder:
                self.folder = pathlib.Path(folder)
                prepared(sample, self.folder, self.truth)
                self.check_sample()

        setattr(Dialects, f"test_{sample.name}", test)


add_tests()

if __name__ == "__main__":
    unittest.main()

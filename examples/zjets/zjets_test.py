"""Runs the real program on the real files, and recounts what it finds without its code, zlib index or FastJet."""

import collections
import decimal
import glob
import gzip
import json
import math
import os
import shutil
import subprocess
import tempfile
import unittest

PROGRAM = "examples/zjets/zjets"
DATA = "examples/data"
SAMPLES = {name: f"{DATA}/pylhe-testfile-madgraph-2.2.1-Z-{name}.lhe.gz" for name in ("ckkwl", "fxfx", "mlm")}

Particle = collections.namedtuple("Particle", "pdg status px py pz energy")


def events_of(path):
    """Yields (weight, particles), by the simplest possible reading of the format."""
    lines = None
    with gzip.open(path, "rt") as file:
        for line in file:
            if line.lstrip().startswith("<event>") or line.lstrip().startswith("<event "):
                lines = []
            elif line.lstrip().startswith("</event") and lines is not None:
                header = lines[0].split()
                rows = [row.split() for row in lines[1 : 1 + int(header[0])]]
                yield (
                    decimal.Decimal(header[2]),
                    [Particle(int(r[0]), int(r[1]), *map(float, r[6:10])) for r in rows],
                )
            elif lines is not None:
                lines.append(line)


def pt(p):
    return math.sqrt(p.px * p.px + p.py * p.py)


def rapidity(p):
    return 0.5 * math.log((p.energy + p.pz) / (p.energy - p.pz))


def distance(a, b):
    phi = math.remainder(math.atan2(a.py, a.px) - math.atan2(b.py, b.px), 2 * math.pi)
    return math.hypot(rapidity(a) - rapidity(b), phi)


def anti_kt(partons, radius=0.4):
    """The algorithm as its paper (arXiv:0802.1189) states it, in cubic time."""
    partons, jets = list(partons), []
    while partons:
        beam = [(pt(p) ** -2, i, None) for i, p in enumerate(partons)]
        pairs = [
            (min(beam[i][0], beam[j][0]) * (distance(p, partons[j]) / radius) ** 2, i, j)
            for i, p in enumerate(partons)
            for j in range(i)
        ]
        _, i, j = min(beam + pairs, key=lambda candidate: candidate[0])
        first = partons.pop(i)
        if j is None:
            jets.append(first)
        else:
            second = partons.pop(j)
            partons.append(Particle(0, 1, *(a + b for a, b in zip(first[2:], second[2:]))))
    return jets


def recount(path):
    """Cut flow [(events, weight)] and some histograms {name: {value's bin: entries}} without pile-up."""
    cuts = [[0, decimal.Decimal(0)] for _ in range(5)]
    histograms = collections.defaultdict(collections.Counter)
    for weight, particles in events_of(path):
        passed, z_mass, z_pt, jets = 0, None, None, []
        outgoing = [p for p in particles if p.status == 1]
        leptons = [p for p in outgoing if abs(p.pdg) in (11, 13) and pt(p) > 20 and abs(math.asinh(p.pz / pt(p))) < 2.4]
        if len(leptons) == 2 and leptons[0].pdg == -leptons[1].pdg:
            z = [a + b for a, b in zip(leptons[0][2:], leptons[1][2:])]
            z_pt = math.sqrt(z[0] ** 2 + z[1] ** 2)
            z_mass = math.sqrt(z[3] ** 2 - z[0] ** 2 - z[1] ** 2 - z[2] ** 2)
            histograms["z_mass"][math.floor(z_mass - 66)] += 1
            passed = 1
            if 71 <= z_mass <= 111:
                passed = 2
                jets = [
                    jet
                    for jet in anti_kt(p for p in outgoing if p.pdg == 21 or abs(p.pdg) <= 6)
                    if pt(jet) > 30
                    and abs(rapidity(jet)) < 2.4
                    and all(distance(jet, lepton) > 0.4 for lepton in leptons)
                ]
                passed += min(2, len(jets))
                histograms["z_pt"][math.floor(z_pt / 5)] += 1
                histograms["jets"][len(jets)] += 1
                if jets:
                    histograms["leading_jet_pt"][math.floor(max(map(pt, jets)) / 5)] += 1
        for cut in range(passed + 1):
            cuts[cut][0] += 1
            cuts[cut][1] += weight
    return cuts, histograms


class ZjetsTest(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR"))
        self.addCleanup(shutil.rmtree, self.directory)

    def run_zjets(self, *arguments, status=0, **environment):
        """Runs the program; returns (bytes of its output file, what it printed)."""
        output = os.path.join(self.directory, "histograms.json")
        if os.path.exists(output):
            os.remove(output)
        base = {k: v for k, v in os.environ.items() if not k.startswith("CREMA_")}
        done = subprocess.run(
            [PROGRAM, "--output", output, *map(str, arguments)],
            env={**base, **environment},
            capture_output=True,
            text=True,
            timeout=600,
        )
        self.assertEqual(done.returncode, status, done.stderr)
        content = b""
        if os.path.exists(output):
            with open(output, "rb") as file:
                content = file.read()
        return content, done

    def records(self, directory):
        """All lines of the record logs in a directory."""
        lines = []
        for path in glob.glob(os.path.join(directory, "*.jsonl")):
            with open(path) as file:
                lines += [json.loads(line) for line in file]
        return lines

    def test_the_result_is_the_same_however_the_work_is_divided(self):
        events = ("--events", 250)
        reference, _ = self.run_zjets(*events, "--processes", 1)
        self.assertTrue(json.loads(reference)["complete"])
        for division in (
            "--processes 0",
            "--processes 2 --chunk 7",
            "--processes 1 --threads 3 --chunk 41",
            "--processes 1 --helpers 2",
            "--processes 3 --threads 2 --helpers 1 --chunk 13",
            "--processes 0 --chunk 1000000",
        ):
            with self.subTest(division=division):
                self.assertEqual(self.run_zjets(*events, *division.split())[0], reference)

    def test_the_result_is_the_same_with_crema_on_and_off(self):
        arguments = ("--events", 250, "--chunk", 100, "--threads", 2, "--helpers", 1)
        off, _ = self.run_zjets(*arguments)
        on, done = self.run_zjets(*arguments, CREMA_DIR=os.path.join(self.directory, "log"))
        self.assertEqual(on, off)
        self.assertEqual(done.stderr, "")
        self.assertTrue(self.records(os.path.join(self.directory, "log")))

    def test_another_pass_overlays_other_pile_up(self):
        once = json.loads(self.run_zjets("--events", 250)[0])
        twice = json.loads(self.run_zjets("--events", 250, "--repeat", 2)[0])
        for one, two in zip(once["datasets"], twice["datasets"]):
            self.assertEqual(two["cuts"][2]["events"], 2 * one["cuts"][2]["events"])
            density_once, density_twice = (
                next(h["entries"] for h in d["histograms"] if h["name"] == "pileup_density") for d in (one, two)
            )
            self.assertNotEqual(density_twice, [2 * n for n in density_once])

    def test_without_pile_up_everything_agrees_with_an_independent_count(self):
        document = json.loads(self.run_zjets("--pileup", 0)[0])
        for dataset in document["datasets"]:
            cuts, histograms = recount(SAMPLES[dataset["name"]])
            self.assertEqual(cuts[0][0], 10000)
            for found, (events, weight) in zip(dataset["cuts"], cuts):
                self.assertEqual(found["events"], events, (dataset["name"], found["name"]))
                self.assertTrue(math.isclose(found["sum_of_weights"], weight, rel_tol=1e-15))
            self.assertGreater(cuts[4][0], 10)  # else the comparison of jets says little
            for histogram in dataset["histograms"]:
                expected = histograms.get(histogram["name"])
                if expected is None:
                    continue
                counted = [0] * (histogram["bins"] + 2)
                for number, entries in expected.items():
                    counted[min(max(number, -1), histogram["bins"]) + 1] += entries
                self.assertEqual(histogram["entries"], counted, (dataset["name"], histogram["name"]))

    def test_pile_up_changes_jets_and_leaves_leptons_alone(self):
        without = json.loads(self.run_zjets("--events", 1000, "--pileup", 0)[0])
        under = json.loads(self.run_zjets("--events", 1000)[0])
        for a, b in zip(without["datasets"], under["datasets"]):
            self.assertEqual(a["cuts"][:3], b["cuts"][:3])
            self.assertNotEqual(a["cuts"][3], b["cuts"][3])

    def test_the_record_log_tells_the_same_story_as_the_result(self):
        log = os.path.join(self.directory, "log")
        content, _ = self.run_zjets("--events", 300, "--chunk", 70, "--helpers", 1, CREMA_DIR=log)
        lines = self.records(log)
        chunks = [line for line in lines if line["type"] == "chunk"]
        self.assertEqual(len(chunks), 3 * 5)
        self.assertEqual({line["status"] for line in chunks}, {"ok"})
        self.assertEqual(len({line["pid"] for line in lines if line["type"] == "process"}), 3)
        for dataset in json.loads(content)["datasets"]:
            of_dataset = [line for line in chunks if line["dataset"] == dataset["name"]]
            self.assertEqual(sum(line["events"] for line in of_dataset), 300)
            ranges = sorted((line["entry_start"], line["entry_stop"]) for line in of_dataset)
            self.assertEqual(ranges, [(0, 70), (70, 140), (140, 210), (210, 280), (280, 300)])
            for number, cut in enumerate(dataset["cuts"]):
                self.assertEqual(of_dataset[0]["cuts"][number]["name"], cut["name"])
                self.assertEqual(sum(line["cuts"][number]["events"] for line in of_dataset), cut["events"])
        for line in chunks:
            events = line["entry_stop"] - line["entry_start"]
            paths = collections.Counter()
            for row in line["sections"]:
                paths[row["path"]] += row["count"]
            self.assertLessEqual({"read", "read/decompress", "parse", "select", "fill"}, set(paths))
            for path in ("overlay", "cluster", "subtract"):  # by the chunk's thread and its helper together
                self.assertEqual(paths[path], events)
            self.assertEqual([row["path"] for row in line["memory_sections"]], ["jets"])
            metrics = {row["name"]: row for row in line["metrics"]}
            self.assertEqual(metrics["unzip_bytes"]["sum"], line["bytes_uncompressed"])
            self.assertEqual(metrics["bytes_read"]["sum"] + metrics["read_overhead_bytes"]["sum"], line["bytes_read"])
            self.assertLess(line["bytes_read"], os.path.getsize(SAMPLES[line["dataset"]]) / 4)
        spans = {line["name"] for line in lines if line["type"] == "span"}
        self.assertEqual(spans, {"preprocess", "process", "reduce", "postprocess"})

    def test_a_damaged_file_costs_the_chunk_that_holds_the_damage_and_is_told(self):
        damaged = os.path.join(self.directory, "damaged.lhe.gz")
        shutil.copy(SAMPLES["fxfx"], damaged)
        os.truncate(damaged, os.path.getsize(damaged) // 2)
        log = os.path.join(self.directory, "log")
        content, done = self.run_zjets(
            "--dataset", f"good={SAMPLES['mlm']}", "--dataset", f"bad={damaged}", "--pileup", 0, status=1, CREMA_DIR=log
        )
        document = json.loads(content)
        self.assertFalse(document["complete"])
        self.assertEqual(len(document["failures"]), 1)
        self.assertIn("ends in the middle of its compressed data", document["failures"][0])
        good, bad = document["datasets"]
        self.assertEqual(good["cuts"][0]["events"], 10000)
        self.assertEqual(bad["cuts"][0]["events"] % 500, 0)
        self.assertGreater(bad["cuts"][0]["events"], 3000)
        self.assertIn("zjets: bad, events ", done.stderr)
        self.assertIn("the results lack the others", done.stderr)
        failed = [line for line in self.records(log) if line["type"] == "chunk" and line["status"] == "failed"]
        self.assertEqual(len(failed), 1)
        self.assertEqual(failed[0]["entry_start"], bad["cuts"][0]["events"])
        self.assertIn("ends in the middle", failed[0]["error"])

    def test_a_missing_file_is_a_failed_attempt_and_the_others_go_on(self):
        log = os.path.join(self.directory, "log")
        content, done = self.run_zjets(
            "--dataset", f"good={SAMPLES['mlm']}", "--dataset", "gone=/nonexistent.lhe.gz",
            "--pileup", 0, status=1, CREMA_DIR=log,
        )  # fmt: skip
        self.assertEqual([d["cuts"][0]["events"] for d in json.loads(content)["datasets"]], [10000, 0])
        self.assertIn("zjets: gone, whole file: /nonexistent.lhe.gz: cannot open: No such file", done.stderr)
        failed = [line for line in self.records(log) if line["type"] == "chunk" and line["status"] == "failed"]
        self.assertEqual([line["file"] for line in failed], ["/nonexistent.lhe.gz"])

    def test_without_its_pile_up_file_it_does_not_start(self):
        content, done = self.run_zjets("--pileup-file", "/nonexistent.lhe.gz", status=1)
        self.assertEqual(content, b"")
        self.assertEqual(done.stderr.count("\n"), 1)
        self.assertIn("zjets: /nonexistent.lhe.gz: cannot open", done.stderr)

    def test_an_output_that_cannot_be_written_is_an_error(self):
        done = subprocess.run(
            [PROGRAM, "--events", "1", "--output", "/nonexistent/h.json"], capture_output=True, text=True
        )
        self.assertEqual(done.returncode, 1)
        self.assertIn("zjets: /nonexistent/h.json: cannot write: No such file", done.stderr)

    def test_wrong_usage_ends_with_status_2(self):
        self.run_zjets("--chunk", 0, status=2)
        self.run_zjets("--dataset", "nameless", status=2)


if __name__ == "__main__":
    unittest.main()

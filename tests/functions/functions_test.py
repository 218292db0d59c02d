"""Functions of native code with debug information: names, source files, lines and shares."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

CREMA = pathlib.Path("collector/cli/crema").absolute()
KNOWN = pathlib.Path("tests/functions/known_functions").absolute()
STRIPPED = pathlib.Path("tests/functions/known_functions_without_lines").absolute()
SOURCE = pathlib.Path("tests/functions/known_functions.cc")


def line_of(function):
    lines = SOURCE.read_text(encoding="utf-8").splitlines()
    (number,) = [at for at, text in enumerate(lines, 1) if f"void {function}(double" in text]
    return number


class FunctionsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = pathlib.Path(tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR")))
        cls.addClassCleanup(shutil.rmtree, cls.place, ignore_errors=True)
        for name, program in (("known", KNOWN), ("stripped", STRIPPED)):
            command = [CREMA, "run", "-q", "--stacks=500", "-o", cls.place / name, "--", program]
            subprocess.run(command, check=True, timeout=300)

    def document(self, name, **environment):
        output = self.place / "again"
        command = [CREMA, "collect", self.place / name / "records", "--replace", "-o", output]
        subprocess.run(command, check=True, capture_output=True, env={**os.environ, **environment}, timeout=300)
        return json.loads((output / "measurement.json").read_text())

    def rows(self, document):
        return {row["function"].partition("::")[2].partition("(")[0]: row for row in document["functions"]}

    def test_they_have_their_source_and_line(self):
        document = json.loads((self.place / "known/measurement.json").read_text())
        rows = self.rows(document)
        for function, share in (("Fit", 0.7), ("Sort", 0.3)):
            row = rows[function]
            self.assertEqual((pathlib.Path(row["file"]).name, row["line"]), (SOURCE.name, line_of(function)))
            self.assertAlmostEqual(row["share"], share, delta=max(5 * row["share_error"], 0.05))

    def test_without_debug_information_they_have_their_program(self):
        row = self.rows(self.document("stripped"))["Fit"]
        self.assertEqual((pathlib.Path(row["file"]).name, row["line"]), (STRIPPED.name, None))

    def test_without_addr2line_the_document_says_so(self):
        document = self.document("known", PATH="/nowhere")
        row = self.rows(document)["Fit"]
        self.assertEqual((pathlib.Path(row["file"]).name, row["line"]), (KNOWN.name, None))
        self.assertIn("addr2line does not run here", " ".join(document["quality"]["warnings"]))

    def test_exports_have_them(self):
        def export(form):
            file = self.place / form
            command = [CREMA, "export", self.place / "known", "--to", form, "-o", file]
            subprocess.run(command, check=True, capture_output=True, timeout=300)
            return file.read_bytes()

        frames = {frame["name"]: frame for frame in json.loads(export("speedscope"))["shared"]["frames"]}
        (fit,) = [frame for name, frame in frames.items() if "Fit(" in name]
        self.assertEqual((pathlib.Path(fit["file"]).name, fit["line"]), (SOURCE.name, line_of("Fit")))
        self.assertIn(SOURCE.name.encode(), export("pprof"))


if __name__ == "__main__":
    unittest.main(verbosity=2)

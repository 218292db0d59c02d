"""Does what the documents say: runs their commands, compiles their programs, compares files with the repository's.

The test follows each document in order, in an empty folder beside a checkout called `crema`, with the built program
`crema` on the PATH. CONTRIBUTING.md explains the marks. Run by tools/test, outside Bazel.
"""

import os
import pathlib
import re
import subprocess
import tempfile
import unittest

import snippets

CHECKOUT = pathlib.Path(__file__).resolve().parent.parent.parent
DOCUMENTS = (
    "README.md",
    "CONTRIBUTING.md",
    "docs/**/*.md",
    "sdk/**/*.md",
    "collector/**/*.md",
    "examples/**/*.md",
    "python/**/*.md",
)
CXX = ["g++", "-std=c++17", "-O1", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
NANOAOD = "nanoAOD_2015_CMS_Open_Data_ttbar.root"
LIBRARIES = {"": [], "tbb": ["-ltbb"], "openmp": ["-fopenmp"]}  # by the library that a program needs
FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)  # a lambda, `[](int i)`, looks like a link
LINK = re.compile(r"\[[^\]]*\]\((?!https?://|mailto:|#)([^)#\s]+)[^)]*\)")


def root_options(home):
    """The compiler's options for the wheel of ROOT; see docs/root.md, "Build"."""
    libraries = ("Core", "Imt", "RIO", "Hist", "Tree", "TreePlayer", "MathCore", "ROOTVecOps")
    linked = [f"-l{name}" for name in (*libraries, "ROOTDataFrame", "ROOTNTuple")]
    headers = ["-isystem", home / "include", "-I", CHECKOUT / "sdk/root/include"]
    return [*headers, "-L", home / "lib", *linked, f"-Wl,-rpath,{home / 'lib'}", "-Wl,--allow-shlib-undefined", "-ldl"]


def run(command, cwd, environment=None):
    done = subprocess.run(
        command,
        cwd=cwd,
        env={**os.environ, **(environment or {})},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout


def documents():
    found = set()
    for pattern in DOCUMENTS:
        found.update(path.relative_to(CHECKOUT) for path in CHECKOUT.glob(pattern))
    return sorted(found)


class DocsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        targets = ["//collector/cli:crema", "//sdk:crema", "//sdk/c_api:libcrema.so.1"]
        status, output = run(["bazel", "build", "--ui_event_filters=-info", "--noshow_progress", *targets], CHECKOUT)
        assert status == 0, output

    def follow(self, document):
        """Saves, runs and compiles the document's snippets in order, as a reader would."""
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch, "analysis")
            home = pathlib.Path(scratch, "home")
            folder.mkdir()
            home.mkdir()
            pathlib.Path(scratch, "crema").symlink_to(CHECKOUT)
            path = f"{CHECKOUT}/bazel-bin/collector/cli:{os.environ['PATH']}"
            try:
                for snippet in snippets.read(document, (CHECKOUT / document).read_text()):
                    with self.subTest(snippet.place):
                        self.assertEqual(snippet.complaint, "")
                        self.check(snippet, folder, {"HOME": str(home), "PATH": path})
            finally:
                if (folder / "WORKSPACE").exists():
                    run(["bazel", "shutdown"], folder, {"HOME": str(home)})
                    run(["chmod", "-R", "u+w", scratch], scratch)

    def check(self, snippet, folder, environment):
        if snippet.file:
            self.assertEqual(snippet.text, (CHECKOUT / snippet.file).read_text(), f"differs from {snippet.file}")
            (folder / pathlib.Path(snippet.file).name).write_text(snippet.text)
        elif snippet.mark == "run":
            self.check_command(snippet, folder, environment)
        elif snippet.mark == "run-in-checkout":
            self.check_command(snippet, CHECKOUT, {"PATH": environment["PATH"]})
        elif snippet.mark == "program" and snippet.language == "python":
            self.check_python(snippet, folder, environment)
        elif snippet.mark == "program":
            self.check_program(snippet, folder)

    def check_command(self, snippet, folder, environment):
        status, output = run(["bash", "-euo", "pipefail", "-c", snippet.text], folder, environment)
        self.assertEqual(status, 0, f"\n{snippet.text}{output}")
        if "crema show records\n" in snippet.text:
            lines = [line for log in (folder / "records").rglob("*.jsonl") for line in log.read_text().splitlines()]
            self.assertTrue(any('"type":"chunk"' in line for line in lines), f"\n{snippet.text}recorded no chunk")

    def put_data(self, folder):
        if not (folder / NANOAOD).exists():
            (folder / NANOAOD).symlink_to(CHECKOUT / "tests/data" / NANOAOD)

    def check_program(self, snippet, folder):
        libraries = LIBRARIES.get(snippet.needs)
        if snippet.needs == "root":
            homes = list(CHECKOUT.glob(".cache/root/lib/python3.*/site-packages/ROOT"))
            if not homes:
                self.skipTest(f"{snippet.place}: no ROOT in .cache/root (tools/setup root)")
            libraries = root_options(homes[0])
            self.put_data(folder)
        source = folder / "program.cc"
        program = folder / "program"
        source.write_text(snippet.text)
        sdk = ["-I", CHECKOUT / "sdk/include", CHECKOUT / "bazel-bin/sdk/libcrema.a", "-pthread"]
        status, output = run([*CXX, source, *sdk, *libraries, "-o", program], folder)
        self.assertEqual(status, 0, output)
        status, output = run([program], folder, {"CREMA_DIR": str(folder / "program-records")})
        self.assertEqual(status, 0, output)

    def check_python(self, snippet, folder, environment):
        python = "python3"
        if snippet.needs == "coffea":
            python = CHECKOUT / ".cache/coffea/bin/python"
            if not python.exists():
                self.skipTest(f"{snippet.place}: no Coffea in .cache/coffea (tools/setup coffea)")
            self.put_data(folder)
        program = folder / "program.py"
        program.write_text(snippet.text)
        package = {
            "PYTHONPATH": str(CHECKOUT / "python"),
            "CREMA_LIBRARY": str(CHECKOUT / "bazel-bin/sdk/c_api/libcrema.so.1"),
        }
        status, output = run([python, program], folder, {**environment, **package})
        self.assertEqual(status, 0, f"\n{output}")


class LinksTest(unittest.TestCase):
    def test_links_between_documents_lead_somewhere(self):
        for document in documents():
            prose = FENCED.sub("", (CHECKOUT / document).read_text())
            for target in LINK.findall(prose):
                with self.subTest(f"{document}: {target}"):
                    self.assertTrue((CHECKOUT / document.parent / target).exists())


class TablesTest(unittest.TestCase):
    """A table of the program's output in a page has headers that the program prints."""

    OF_OTHERS = ("docs/performance.md",)  # what benchmarks print

    @staticmethod
    def headers_in(text):
        """The cells of each line of four words or more that stand in columns, and of which none is a figure."""
        for line in text.splitlines():
            cells = re.split(r" {2,}", line.strip("│| "))
            if len(cells) >= 4 and all(cell[0].isalpha() or cell == "90 % of runs" for cell in cells):
                yield cells

    def test_one_source_of_the_program_has_all_headers_of_a_table(self):
        sources = [path for path in CHECKOUT.glob("collector/**/*.cc") if not path.name.endswith("_test.cc")]
        headers = [set(re.findall(r'"([^"\n]*)"|::(\w+)>', path.read_text())) for path in sources]
        known = [{literal or member for literal, member in each} for each in headers]
        for document in documents():
            if str(document) in self.OF_OTHERS:
                continue
            for snippet in snippets.read(document, (CHECKOUT / document).read_text()):
                for cells in self.headers_in(snippet.text) if snippet.language == "text" else ():
                    with self.subTest(snippet.place, cells=cells):
                        self.assertTrue(any(set(cells) <= each for each in known))


class IndexTest(unittest.TestCase):
    def test_the_index_names_every_page(self):
        linked = set(LINK.findall((CHECKOUT / "docs/README.md").read_text()))
        pages = {path.name for path in CHECKOUT.glob("docs/*.md")}
        self.assertEqual(pages - linked - {"README.md"}, set())


def add_tests():
    for document in documents():
        name = "test_" + re.sub(r"\W+", "_", str(document.with_suffix("")))
        setattr(DocsTest, name, lambda self, document=document: self.follow(document))


add_tests()

if __name__ == "__main__":
    unittest.main(verbosity=2)

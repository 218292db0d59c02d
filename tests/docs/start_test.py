"""docs/start.md works as written: its blocks run in one shell, with the wheel that tools/wheel builds.

Every run does this on this machine; `tools/test --long` also does it in a root of Debian 12 that has only a compiler
and Python's venv. Run by tools/test, outside Bazel.
"""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import snippets

CHECKOUT = pathlib.Path(__file__).resolve().parent.parent.parent
TRY_ON = CHECKOUT / "tools/try_on"
PAGE = pathlib.Path("docs/start.md")
MOST_WORDS = 600
CLEAN_ROOT = "apt-get -qq update && apt-get -qq install -y --no-install-recommends python3-venv g++ >/tmp/log 2>&1"


def steps():
    """The page as one bash script that writes its files and runs its commands."""
    lines = ["set -euo pipefail"]
    for snippet in snippets.read(PAGE, (CHECKOUT / PAGE).read_text()):
        if snippet.file:
            lines.append(f"cat >{pathlib.Path(snippet.file).name} <<'THE FILE'\n{snippet.text}THE FILE")
        elif snippet.mark == "run-installed":
            lines.append(snippet.text)
    return "\n".join(lines)


def run(*command, **named):
    return subprocess.run([*map(str, command)], capture_output=True, text=True, timeout=3000, check=False, **named)


class StartTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = pathlib.Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.scratch)
        built = run(CHECKOUT / "tools/wheel", "-o", cls.scratch / "crema/dist")
        assert built.returncode == 0, built.stdout + built.stderr

    def check(self, done):
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        first, second = done.stderr.split("measurement: first")
        self.assertRegex(first, r"No chunk was recorded; the command used [\d.]+ m?s of CPU")
        self.assertRegex(second, r"│ select +40 +")
        self.assertIn("next: crema report second", done.stderr)
        self.assertIn("second/report.html", done.stdout)
        self.assertRegex(done.stdout, r"third (is|took|ran)|Whether third")

    def test_its_commands_do_what_it_says(self):
        environment = {**os.environ, "HOME": str(self.scratch), "LANG": "C.UTF-8"}
        for name in ("CREMA_LIBRARY", "CREMA_PROGRAM", "PYTHONPATH"):
            environment.pop(name, None)
        self.check(run("bash", "-c", steps(), cwd=self.scratch, env=environment))
        self.assertIn("<html", (self.scratch / "second/report.html").read_text())

    @unittest.skipUnless("CREMA_TEST_LONG" in os.environ, "makes a root of Debian 12: tools/test --long")
    def test_it_works_in_a_clean_root(self):
        if os.geteuid() != 0 or shutil.which("debootstrap") is None:
            self.skipTest("needs root and debootstrap (tools/setup try-on)")
        self.assertEqual(run(CHECKOUT / "tools/wheel").returncode, 0)
        script = self.scratch / "steps.sh"
        script.write_text(f"{CLEAN_ROOT}\nmkdir -p /tmp/start && cd /tmp/start && ln -sfn /crema crema\n{steps()}")
        self.check(run(TRY_ON, "bookworm", "bash", "-c", script.read_text()))

    def test_a_second_set_up_says_nothing(self):
        done = run(CHECKOUT / "tools/setup", "--quiet", "build", "wheel")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))

    def test_it_is_short(self):
        self.assertLessEqual(len((CHECKOUT / PAGE).read_text().split()), MOST_WORDS)


if __name__ == "__main__":
    unittest.main(verbosity=2)

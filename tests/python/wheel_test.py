"""The wheel that tools/wheel builds, installed into a clean environment of each Python.

Run by tools/test, outside Bazel. No network is used: the wheel depends on nothing.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest
import zipfile

import installed
import tomllib

ANALYSIS = """
import sys
import crema_hep as crema

assert crema.recorder.version() == crema.__version__
with crema.MetricsCollector(backend="local") as collector:
    for first in range(0, 30, 10):
        with crema.TrackMetrics("ttbar", "events.root", first, first + 10, events=10), crema.track_section("select"):
            pass
assert collector.get_metrics()["total_events"] == 30
collector.save_measurement(".", "saved")
"""


def run(command, **named):
    return subprocess.run([*map(str, command)], capture_output=True, text=True, check=False, timeout=300, **named)


class WheelTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        built = run([installed.CHECKOUT / "tools/wheel", "-o", cls.folder], cwd=installed.CHECKOUT)
        assert built.returncode == 0, built.stdout + built.stderr
        (cls.wheel,) = cls.folder.glob("*.whl")

    def test_it_is_tagged_with_the_glibc_that_its_parts_need(self):
        match = re.fullmatch(r"crema_hep-[\d.]+-py3-none-manylinux_2_(\d+)_x86_64\.whl", self.wheel.name)
        self.assertLessEqual(int(match[1]), 34, "AlmaLinux 9 has glibc 2.34")
        unpacked = self.folder / "unpacked"
        zipfile.ZipFile(self.wheel).extractall(unpacked)
        natives = [*unpacked.glob("crema_hep/lib/*"), unpacked / "crema_hep/bin/crema"]
        self.assertGreater(len(natives), 2)
        newest = {"GLIBC": (2, int(match[1])), "GLIBCXX": (3, 4, 29)}
        for file in natives:
            symbols = subprocess.check_output(
                ["nm", "-D", "--undefined-only", "--with-symbol-versions", file], text=True
            )
            for library, version in re.findall(r"@(GLIBC|GLIBCXX)_([\d.]+)$", symbols, re.MULTILINE):
                needed = tuple(map(int, version.split(".")))
                self.assertLessEqual(needed, newest[library], f"{file.name} needs {library}_{version}")

    def test_equal_input_gives_an_equal_wheel(self):
        again = self.folder / "again"
        done = run(["python3", "tools/build_wheel.py", "-o", again], cwd=installed.CHECKOUT)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual((again / self.wheel.name).read_bytes(), self.wheel.read_bytes())

    def test_versions_agree(self):
        project = tomllib.loads((installed.PACKAGE / "pyproject.toml").read_text())["project"]
        package = (installed.PACKAGE / "crema_hep/__init__.py").read_text()
        sdk = (installed.CHECKOUT / "sdk/include/crema/version.h").read_text()
        self.assertIn(f'__version__ = "{project["version"]}"', package)
        self.assertIn(f'CREMA_VERSION_STRING "{project["version"]}"', sdk)

    def install(self, python):
        """A clean environment with the wheel; returns its folder and the variables of its programs."""
        place = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        clean = {name: value for name, value in os.environ.items() if not name.startswith(("CREMA_", "PYTHON", "PIP_"))}
        environment = {**clean, "HOME": str(place), "PATH": f"{place}/venv/bin:/usr/bin:/bin"}
        made = run([python, "-m", "venv", place / "venv"], env=environment)
        if made.returncode != 0:
            self.skipTest(f"{python} cannot make an environment: {(made.stdout + made.stderr).strip()[-200:]}")
        pip = [place / "venv/bin/python", "-m", "pip", "install", "--no-index", "--disable-pip-version-check", "-q"]
        done = run([*pip, self.wheel], env=environment)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return place, environment

    def check(self, python):
        place, environment = self.install(python)
        (place / "analysis.py").write_text(ANALYSIS)
        done = run(["python", "-W", "error", "analysis.py"], cwd=place, env=environment)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        document = json.loads((place / "saved/measurement.json").read_text())
        self.assertEqual(document["metrics"]["num_chunks"], 3)
        (program,) = place.glob("venv/lib/python*/site-packages/crema_hep/bin/crema")
        needed = run(["ldd", program]).stdout
        self.assertIn(str(program.parent.parent / "lib/libfmt"), needed.replace("/bin/../", "/"))
        version = run(["crema", "--version"], cwd=place, env=environment)
        self.assertEqual((version.returncode, version.stderr), (0, ""))
        self.assertIn(document["provenance"]["crema"], version.stdout)
        shown = run(["crema", "show", "saved", "--metric", "num_chunks"], cwd=place, env=environment)
        self.assertEqual((shown.returncode, shown.stderr), (0, ""))
        command = ["crema", "run", "-q", "-o", "ran", "--", "python", "-W", "error", "analysis.py"]
        ran = run(command, cwd=place, env=environment)
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        document = json.loads((place / "ran/measurement.json").read_text())
        self.assertEqual((document["metrics"]["num_chunks"], document["metrics"]["total_events"]), (3, 30))


def _add_versions():
    for version in installed.VERSIONS:
        path = installed.interpreters().get(version)

        def test(self, path=path, version=version):
            if path is None:
                self.skipTest(f"no Python {version} with ctypes on the PATH or in ~/.pyenv/versions")
            self.check(path)

        setattr(WheelTest, f"test_it_installs_and_records_with_python_{version.replace('.', '_')}", test)


_add_versions()

if __name__ == "__main__":
    unittest.main(verbosity=2)

"""The wheel that tools/wheel builds, installed into a clean environment of each Python.

Run by tools/test, outside Bazel. No network is used: the wheel depends on nothing.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

import installed
import tomllib

sys.path.insert(0, str(installed.PACKAGE / "crema_hep"))
import requirements  # noqa: E402  (alone: the package would load its library)

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
        cls.wheel = installed.wheel()

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def unpack(self):
        zipfile.ZipFile(self.wheel).extractall(self.folder)
        return self.folder / "crema_hep"

    def test_it_is_tagged_with_the_glibc_that_its_parts_need(self):
        match = re.fullmatch(r"crema_hep-[\d.]+-py3-none-manylinux_2_(\d+)_x86_64\.whl", self.wheel.name)
        self.assertEqual((2, int(match[1])), requirements.OLDEST_GLIBC)
        package = self.unpack()
        natives = [package / "bin/crema", *package.glob("lib/*.so.*")]
        self.assertGreater(len(natives), 2)
        whole = ["-Wl,--whole-archive", package / "lib/libcrema.a", "-Wl,--no-whole-archive", "-Wl,-z,defs"]
        natives.append(self.folder / "objects.so")  # a linker shows which versions the objects of libcrema.a need
        linked = run(["c++", "-shared", "-o", natives[-1], *whole, "-pthread", "-ldl"])
        self.assertEqual(linked.returncode, 0, linked.stderr)
        newest = {"GLIBC": requirements.OLDEST_GLIBC, "GLIBCXX": (3, 4, 29)}
        for file in natives:
            symbols = subprocess.check_output(
                ["nm", "-D", "--undefined-only", "--with-symbol-versions", file], text=True
            )
            versions = re.findall(r"@(GLIBC|GLIBCXX)_([\d.]+)$", symbols, re.MULTILINE)
            self.assertTrue(versions or "libabsl" in file.name, f"{file.name} needs nothing of the system")
            for library, version in versions:
                needed = tuple(map(int, version.split(".")))
                self.assertLessEqual(needed, newest[library], f"{file.name} needs {library}_{version}")

    def test_its_library_exports_the_committed_symbols(self):
        library = self.unpack() / "lib/libcrema.so.1"
        symbols = subprocess.check_output(["nm", "-D", "--defined-only", library], text=True).split("\n")
        exported = sorted(
            line.split()[-1].split("@")[0] for line in symbols if line and "CREMA_1.0" not in line.split()
        )
        self.assertEqual(exported, (installed.CHECKOUT / "sdk/c_api/libcrema.symbols").read_text().split())

    def test_equal_input_gives_an_equal_wheel(self):
        again = self.folder / "again"
        prefix = installed.CHECKOUT / "build/wheel-prefix"
        done = run(["python3", "tools/build_wheel.py", prefix, "-o", again], cwd=installed.CHECKOUT)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual((again / self.wheel.name).read_bytes(), self.wheel.read_bytes())

    def test_there_is_one_version(self):
        sdk = (installed.CHECKOUT / "sdk/include/crema/version.h").read_text()
        version = re.search(r'CREMA_VERSION_STRING "(.*)"', sdk)[1]
        numbers = [re.search(rf"CREMA_VERSION_{part} (\d+)", sdk)[1] for part in ("MAJOR", "MINOR", "PATCH")]
        self.assertEqual(".".join(numbers), version)
        self.assertEqual(self.wheel.name.split("-")[1], version)
        module = (installed.CHECKOUT / "MODULE.bazel").read_text()
        self.assertEqual(re.search(r'^    version = "(.*)"', module, re.MULTILINE)[1], version)
        plugin = (installed.PACKAGE / "crema_hep/dask_plugin.py").read_text()  # travels alone
        self.assertEqual(re.search(r'^VERSION = "(.*?)"', plugin, re.MULTILINE)[1], version)
        checkout = {"env": {**os.environ, "PYTHONPATH": str(installed.PACKAGE)}}
        imported = run(["python3", "-c", "import crema_hep; print(crema_hep.__version__)"], **checkout)
        self.assertEqual(imported.stdout, f"{version}\n")

    def test_pip_and_the_package_ask_for_the_same_python(self):
        project = tomllib.loads((installed.PACKAGE / "pyproject.toml").read_text())["project"]
        oldest = ".".join(map(str, requirements.OLDEST_PYTHON))
        self.assertEqual(project["requires-python"], f">={oldest}")

    def check(self, python):
        place, environment = installed.install_wheel(type(self), python)
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

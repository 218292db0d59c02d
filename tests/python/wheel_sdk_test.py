"""The SDK in the wheel: projects in C++ and C are built with the output of `crema config`, and record.

Run by tools/test, outside Bazel. No network is used.
"""

import json
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import installed

CONSUMERS = installed.CHECKOUT / "tests/consumers"
HEADERS_ONLY = """cmake_minimum_required(VERSION 3.16)
project(analysis LANGUAGES CXX)
find_package(crema 0.1 REQUIRED)
add_library(guarded OBJECT analysis.cc)
target_link_libraries(guarded PRIVATE crema::headers)
add_executable(analysis $<TARGET_OBJECTS:guarded>)
target_link_libraries(analysis PRIVATE crema::crema)
add_executable(without_guards analysis.cc)
target_link_libraries(without_guards PRIVATE crema::headers)
target_compile_definitions(without_guards PRIVATE CREMA_COMPILED_OUT)
"""


class WheelSdkTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.venv, cls.environment = installed.install_wheel(cls, "python3")

    def setUp(self):
        self.place = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.place)
        for source in ("analysis.cc", "cmake_c/analysis.c"):
            shutil.copy(CONSUMERS / source, self.place)

    def run_program(self, *command, **variables):
        done = subprocess.run(
            [*map(str, command)],
            cwd=self.place,
            env={**self.environment, **variables},
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual(done.returncode, 0, f"{command}\n{done.stdout}{done.stderr}")
        return done.stdout

    def config(self, *options):
        return self.run_program("crema", "config", *options).strip()

    def check_records(self, program):
        """`crema run` of the analysis measures its one chunk."""
        self.run_program("crema", "run", "-q", "--replace", "-o", "measured", "--", program)
        metrics = json.loads((self.place / "measured/measurement.json").read_text())["metrics"]
        self.assertEqual((metrics["num_chunks"], metrics["total_events"]), (1, 1000))

    def build(self, project, *options):
        (self.place / "CMakeLists.txt").write_text(project)
        self.run_program("cmake", "-B", "build", "-G", "Ninja", *options)
        self.run_program("cmake", "--build", "build")

    def test_cmake_project_of_five_lines(self):
        project = (CONSUMERS / "cmake_installed/CMakeLists.txt").read_text()
        self.assertEqual(len(project.splitlines()), 5)
        self.build(project, f"-DCMAKE_PREFIX_PATH={self.config('--prefix')}")
        self.check_records("build/analysis")

    def test_cmake_project_in_c(self):
        project = (CONSUMERS / "cmake_c/CMakeLists.txt").read_text()
        self.build(project, f"-Dcrema_DIR={self.config('--cmake-dir')}")
        self.check_records("build/analysis")

    def test_cmake_target_of_the_headers_alone(self):
        self.build(HEADERS_ONLY, f"-Dcrema_DIR={self.config('--cmake-dir')}")
        self.check_records("build/analysis")
        self.run_program("build/without_guards", CREMA_DIR=str(self.place / "never"))
        self.assertFalse((self.place / "never").exists())

    def test_pkg_config_in_cxx_and_in_c(self):
        where = {"PKG_CONFIG_PATH": self.config("--pkg-config-dir")}
        for module, compiler, options in (
            ("crema", ["c++", "-std=c++17", "analysis.cc"], []),
            ("crema_c", ["cc", "-std=c11", "analysis.c"], ["--c"]),
        ):
            with self.subTest(module):
                flags = self.run_program("pkg-config", "--cflags", "--libs", module, **where).split()
                self.run_program(*compiler, *flags, "-o", module)
                self.check_records(f"./{module}")
                settings = [self.config(*options, field).split() for field in ("--cflags", "--libs")]
                self.assertEqual(settings[0] + settings[1], flags)
                self.run_program(*compiler, *settings[0], *settings[1], "-o", module)
                self.check_records(f"./{module}")

    def test_headers_of_root_are_there(self):
        headers = pathlib.Path(self.config("--include-dir"), "crema")
        packed = {str(path.relative_to(headers)) for path in headers.rglob("*.h")}
        folders = [installed.CHECKOUT / folder / "include/crema" for folder in ("sdk", "sdk/root")]
        public = {str(path.relative_to(folder)) for folder in folders for path in folder.rglob("*.h")}
        self.assertIn("root/chunks.h", public)
        self.assertEqual(packed, public)

    def test_manual_pages_and_completions_are_where_the_environment_has_them(self):
        share = self.venv / "venv/share"
        for path in (
            "man/man1/crema.1",
            "man/man1/crema-run.1",
            "bash-completion/completions/crema",
            "zsh/site-functions/_crema",
            "fish/vendor_completions.d/crema.fish",
        ):
            self.assertTrue((share / path).is_file(), path)


if __name__ == "__main__":
    unittest.main(verbosity=2)

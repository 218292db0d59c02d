"""crema/root.h in its users' builds: CMake, other C++ standards, no ROOT."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import root_case

CHECKOUT = root_case.CHECKOUT


def say(*command, cwd=None, **environment):
    """(exit status, output)."""
    done = subprocess.run(
        list(map(str, command)),
        cwd=cwd,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout


class CmakeTest(root_case.RootCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.scratch = pathlib.Path(scratch.name)
        # The folders of docs/use_cmake.md: ccache then finds what other tests compiled (tools/run_tests.py).
        project = cls.scratch / "analysis"
        project.mkdir()
        (cls.scratch / "crema").symlink_to(CHECKOUT)
        prefix = f"-DCMAKE_INSTALL_PREFIX={cls.scratch / 'prefix'}"
        for command in (
            ("cmake", "-S", "../crema/sdk", "-B", "build-crema", "-G", "Ninja", "-DCREMA_C_API=OFF", prefix),
            ("cmake", "--build", "build-crema"),
            ("cmake", "--install", "build-crema"),
        ):
            status, output = say(*command, cwd=project)
            assert status == 0, output

    def configure(self, *options):
        return say(
            *("cmake", "-S", root_case.HERE / "consumer", "-B", self.scratch / "consumer", "-G", "Ninja"),
            f"-DCMAKE_PREFIX_PATH={self.scratch / 'prefix'}",
            *options,
        )

    def test_find_package_with_the_component_root(self):
        where = f"-DROOT_DIR={root_case.root_home() / 'cmake'}"
        status, output = self.configure(where, "-DCMAKE_EXE_LINKER_FLAGS=-Wl,--allow-shlib-undefined")
        self.assertEqual(status, 0, output)
        status, output = say("cmake", "--build", self.scratch / "consumer")
        self.assertEqual(status, 0, output)
        records = self.scratch / "records"
        status, output = say(self.scratch / "consumer/analysis", CREMA_DIR=str(records))
        self.assertEqual((status, output), (0, ""))
        self.assertIn('"events":1000', "".join(log.read_text() for log in records.iterdir()))

    def test_without_root_the_error_says_what_to_do(self):
        status, output = self.configure("-DCMAKE_DISABLE_FIND_PACKAGE_ROOT=ON")
        self.assertNotEqual(status, 0)
        self.assertIn("crema::root needs ROOT 6.40 or newer", " ".join(output.split()))
        self.assertEqual(output.count("CMake Error"), 1, output)


class MacroTest(root_case.RootCase):
    targets = ("//sdk:libcrema_cpp.so", "//collector/cli:crema")

    def run_macros(self, folder, *macros, **environment):
        """The chunks that these macros record, one after the other in one ROOT."""
        records = pathlib.Path(folder, "records")
        shutil.rmtree(records, ignore_errors=True)
        root = root_case.PYTHON.parent / "root"
        status, output = say(*(root, "-l", "-b", "-q", *macros), cwd=folder, CREMA_DIR=f"{records}", **environment)
        self.assertEqual(status, 0, output)
        (log,) = records.iterdir()
        return [line for line in map(json.loads, log.read_text().splitlines()) if line["type"] == "chunk"]

    def check(self, chunks):
        (chunk,) = chunks
        self.assertEqual((chunk["dataset"], chunk["events"]), ("ttbar", 1000))
        self.assertEqual([section["path"] for section in chunk["sections"]], ["select"])

    def test_a_macro_records_interpreted_and_compiled(self):
        variables = {
            "ROOT_INCLUDE_PATH": f"{root_case.prefix() / 'include'}",
            "LD_LIBRARY_PATH": f"{root_case.prefix() / 'lib'}",
        }
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(root_case.HERE / "macro.C", folder)
            for name in ("macro.C", "macro.C+"):
                self.check(self.run_macros(folder, name, **variables))

    def test_a_frame_in_a_macro_needs_the_macro_of_the_program_only(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "crema.C").write_text(self.macro_of_the_program(folder))
            shutil.copy(root_case.HERE / "frame.C", folder)
            for name in ("frame.C", "frame.C+"):
                pathlib.Path(folder, "twice.C").write_text(
                    f'void twice() {{ gROOT->LoadMacro("{name}"); for (int i = 0; i < 2; ++i)'
                    ' gROOT->ProcessLine("frame()"); }'
                )
                self.check_flows(self.run_macros(folder, "crema.C", "twice.C"), ["toys", "toys, frame 2"])
            for name in ("frame.C", "frame.C+"):
                self.check_flows(self.run_macros(folder, "crema.C", name), ["toys"])

    def check_flows(self, chunks, expected):
        self.assertEqual([chunk["cuts"][1]["flow"] for chunk in chunks], expected)
        for chunk in chunks:
            self.assertEqual([cut["events"] for cut in chunk["cuts"]], [1000, 990])

    @staticmethod
    def macro_of_the_program(folder):
        prefix = pathlib.Path(folder, "prefix")
        shutil.copytree(root_case.prefix(), prefix)
        for file in ("lib/cmake/crema/cremaConfig.cmake", "lib/pkgconfig/crema.pc"):
            (prefix / file).parent.mkdir(parents=True)
            (prefix / file).touch()
        (prefix / "bin").mkdir()
        shutil.copy(CHECKOUT / "bazel-bin/collector/cli/crema", prefix / "bin")
        status, macro = say(prefix / "bin/crema", "config", "--root-macro")
        assert status == 0, macro
        return macro


class CompilerTest(root_case.RootCase):
    def errors_of(self, *command):
        """The lines with #error of a compilation of the header, which has to fail."""
        status, output = say(*command, "-fsyntax-only", "-x", "c++", "-include", "crema/root.h", os.devnull)
        self.assertNotEqual(status, 0)
        return [line for line in output.splitlines() if "#error" in line and "error:" in line]

    def test_another_standard_than_roots_is_an_error_that_says_so(self):
        includes = [f"-I{CHECKOUT / 'sdk/include'}", f"-I{CHECKOUT / 'sdk/root/include'}"]
        (error,) = self.errors_of("g++", "-std=c++20", *includes, "-isystem", root_case.root_home() / "include")
        self.assertIn("another C++ standard", error)

    def test_no_root_is_an_error_that_says_so(self):
        includes = [f"-I{CHECKOUT / 'sdk/include'}", f"-I{CHECKOUT / 'sdk/root/include'}"]
        errors = self.errors_of("g++", "-std=c++17", *includes)
        self.assertIn("needs the headers of ROOT", errors[0])

    def test_headers_can_be_included_in_any_order(self):
        folder = CHECKOUT / "sdk/root/include"
        headers = sorted(path.relative_to(folder) for path in folder.rglob("*.h"))
        self.assertGreater(len(headers), 10)
        path = root_case.scratch() / "headers.cc"
        path.write_text("".join(f'#include "{header}"\n' for header in reversed(headers)))
        status, output = say(*root_case.compile_command(path, "-fsyntax-only"))
        self.assertEqual((status, output), (0, ""))


if __name__ == "__main__":
    unittest.main(verbosity=2)

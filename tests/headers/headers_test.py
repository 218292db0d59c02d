"""The public headers: each can be included alone, and all together with both compilers as C++17 and C++20."""

import concurrent.futures
import itertools
import os
import pathlib
import re
import shutil
import subprocess
import unittest

INCLUDE = pathlib.Path("sdk/include")
COMPILERS = ("g++", "clang++")
STANDARDS = ("c++17", "c++20")
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror"]
WAYS = {
    "as it comes": [],
    "without exceptions and RTTI": ["-fno-exceptions", "-fno-rtti"],
    "compiled out": ["-DCREMA_COMPILED_OUT"],
    "compiled out, without exceptions and RTTI": ["-DCREMA_COMPILED_OUT", "-fno-exceptions", "-fno-rtti"],
}


def compile_text(compiler: str, standard: str, text: str, flags: list[str]) -> str:
    """The compiler's messages; empty if there are none."""
    command = [compiler, f"-std={standard}", *WARNINGS, *flags, "-I", str(INCLUDE), "-fsyntax-only", "-x", "c++", "-"]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=False).stderr


class HeadersTest(unittest.TestCase):
    def setUp(self):
        self.compilers = [compiler for compiler in COMPILERS if shutil.which(compiler)]
        self.assertTrue(self.compilers, "no compiler found")
        self.headers = sorted(INCLUDE.rglob("*.h"))
        self.assertIn(INCLUDE / "crema/crema.h", self.headers)

    def check(self, cases):
        """Each case is (what it is, compile_text's arguments)."""
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            messages = pool.map(lambda case: compile_text(*case[1:]), cases)
            for case, message in zip(cases, messages):
                with self.subTest(f"{case[0]}: {case[1]} {case[2]}"):
                    self.assertEqual(message, "")

    def test_each_header_stands_alone(self):
        """By one compiler as C++17, by the other as C++20: all guards together are compiled in each way below."""
        ways = list(zip(itertools.cycle(self.compilers), STANDARDS))
        self.check(
            [
                (str(header), compiler, standard, f'#include "{header.relative_to(INCLUDE)}"\n', [])
                for (compiler, standard), header in itertools.product(ways, self.headers)
            ]
        )

    def test_no_guard_is_missing_from_the_program(self):
        program = pathlib.Path("tests/headers/every_guard.cc").read_text()
        headers = "".join(header.read_text() for header in self.headers if header.parent.name != "internal")
        guards = re.findall(r"^class (\w+)", headers, flags=re.MULTILINE)
        self.assertIn("TrackMetrics", guards)
        self.assertEqual([name for name in guards if not re.search(rf"\b{name}\b", program)], [])

    def test_every_guard_compiles_without_a_warning(self):
        program = pathlib.Path("tests/headers/every_guard.cc").read_text()
        self.check(
            [
                (way, compiler, standard, program, flags)
                for compiler, standard, (way, flags) in itertools.product(self.compilers, STANDARDS, WAYS.items())
            ]
        )

    def test_cpp14_is_refused_with_the_remedy(self):
        for compiler in self.compilers:
            message = compile_text(compiler, "c++14", '#include "crema/crema.h"\n', [])
            self.assertIn("crema needs C++17: pass -std=c++17", message)

    def test_crema_h_includes_every_public_header(self):
        umbrella = (INCLUDE / "crema/crema.h").read_text()
        for header in (INCLUDE / "crema").glob("*.h"):
            if header.name != "crema.h":
                self.assertIn(f'#include "crema/{header.name}"', umbrella)

    def test_each_compiler_would_find_a_warning(self):
        for compiler in COMPILERS:
            with self.subTest(compiler):
                if compiler not in self.compilers:
                    self.skipTest(f"{compiler} is not installed")
                message = compile_text(
                    compiler, "c++17", "int Cut(long a) { int b = a; { int b = 1; } return b; }\n", []
                )
                self.assertIn("conversion", message)
                self.assertIn("shadow", message)


if __name__ == "__main__":
    unittest.main(verbosity=2)

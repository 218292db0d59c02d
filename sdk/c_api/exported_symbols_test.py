"""The symbols that libcrema.so.1 offers to programs, and those that it needs from the system."""

import pathlib
import re
import subprocess
import unittest

import c_declarations

LIBRARY = "sdk/c_api/libcrema.so.1"
LIST = pathlib.Path("sdk/c_api/libcrema.symbols")
# AlmaLinux 9: its glibc, and the libstdc++ of its GCC 11 (gcc.gnu.org/onlinedocs/libstdc++/manual/abi.html).
NEWEST = {"GLIBC": (2, 34), "GLIBCXX": (3, 4, 29), "CXXABI": (1, 3, 13)}


def dynamic_symbols(*options: str) -> list[str]:
    command = ["nm", "-D", "--extern-only", "--with-symbol-versions", *options, LIBRARY]
    return [line.split()[-1] for line in subprocess.check_output(command, text=True).splitlines()]


class ExportedSymbolsTest(unittest.TestCase):
    def setUp(self):
        self.defined = [symbol for symbol in dynamic_symbols("--defined-only") if symbol != "CREMA_1.0"]

    def test_all_are_versioned(self):
        self.assertTrue(self.defined)
        self.assertEqual([symbol for symbol in self.defined if not symbol.endswith("@@CREMA_1.0")], [])

    def test_they_are_the_functions_of_the_header_and_nothing_else(self):
        declared = sorted(c_declarations.FUNCTIONS)
        self.assertIn("crema_chunk_begin", declared)
        self.assertEqual(sorted(symbol.split("@")[0] for symbol in self.defined), declared)

    def test_they_are_the_committed_ones(self):
        """A missing name breaks programs that were built before. Add a new one to the list."""
        self.assertEqual(sorted(symbol.split("@")[0] for symbol in self.defined), LIST.read_text().split())

    def test_nothing_newer_is_needed_than_almalinux_9_has(self):
        needed = {}
        for symbol in dynamic_symbols("--undefined-only"):
            match = re.search(r"@([A-Z]+)_([0-9.]+)$", symbol)
            if match:
                version = tuple(map(int, match.group(2).split(".")))
                needed[match.group(1)] = max(needed.get(match.group(1), ()), version)
        self.assertIn("GLIBC", needed)
        for library, version in needed.items():
            self.assertLessEqual(version, NEWEST.get(library, version), library)

    def test_only_libraries_that_every_system_has_are_needed(self):
        dynamic = subprocess.check_output(["objdump", "-p", LIBRARY], text=True)
        # a build with a sanitizer needs its library
        needed = re.findall(r"NEEDED +(?!lib[a-z]+san\.)(\S+)", dynamic)
        known = {"libstdc++.so.6", "libm.so.6", "libgcc_s.so.1", "libc.so.6", "ld-linux-x86-64.so.2"}
        self.assertEqual(set(needed) - known, set())
        self.assertRegex(dynamic, r"SONAME +libcrema\.so\.1\n")


if __name__ == "__main__":
    unittest.main(verbosity=2)

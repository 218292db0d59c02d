"""Compares docs/reliability.md with the Python tests from which its last tables are made."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))

import fault_page

FAULT = """
class SomeTest(unittest.TestCase):
    # Fault [guards]: a guard
    # goes on | twice
    # Program: nothing
    # Recorded: all
    def test_a_guard(self):
"""


class FaultPageTest(unittest.TestCase):
    def test_the_page_is_what_the_tests_say(self):
        page = (fault_page.CHECKOUT / fault_page.PAGE).read_text(encoding="utf-8")
        made = fault_page.with_tables(page, fault_page.tables(fault_page.CHECKOUT))
        self.assertEqual(page, made, "python3 tests/python/fault_page.py --write brings it up to date")

    def test_a_comment_is_a_row(self):
        (row,) = fault_page.read_faults(FAULT, "tests/python/some_test.py")
        self.assertEqual((row["Fault"], row["group"]), ("a guard goes on | twice", "guards"))
        self.assertEqual(row["test"], "[`SomeTest.test_a_guard`](../tests/python/some_test.py)")

    def test_an_incomplete_comment_is_told_with_its_line(self):
        for broken in (FAULT.replace("# Program: nothing", "# and so on"), FAULT.replace("[guards]", "[gards]")):
            with self.assertRaisesRegex(ValueError, "some_test.py:7: a fault needs Fault, Program, Recorded"):
                fault_page.read_faults(broken, "some_test.py")
        with self.assertRaisesRegex(ValueError, "some_test.py:7: a fault's comment must be followed by its test"):
            fault_page.read_faults(FAULT.replace("    def test_a_guard", "def helper"), "some_test.py")


if __name__ == "__main__":
    unittest.main(verbosity=2)

"""docs/reliability.md says what the tests say."""

import pathlib
import unittest

import reliability_page

COMPLETE = """
/// Fault [disk]: the disk is
/// full
/// Program: nothing
/// Recorded: what fits | counted
TEST(Disk, Full) {
"""


class ReliabilityPageTest(unittest.TestCase):
    maxDiff = None

    def test_the_page_has_the_tables_that_the_tests_make(self):
        page = reliability_page.PAGE.read_text(encoding="utf-8")
        made = reliability_page.tables(reliability_page.all_faults(pathlib.Path()))
        self.assertEqual(
            page,
            reliability_page.with_tables(page, made),
            "run: python3 tests/faults/reliability_page.py --write",
        )

    def test_every_group_has_faults(self):
        groups = {fault.group for fault in reliability_page.all_faults(pathlib.Path())}
        self.assertEqual(groups, {*reliability_page.GROUPS, *reliability_page.READING_GROUPS})

    def test_a_comment_becomes_a_row(self):
        faults = reliability_page.read_faults(COMPLETE, "a_test.cc")
        self.assertEqual(
            faults,
            [
                reliability_page.Fault(
                    "disk", "the disk is full", ("nothing", "what fits | counted"), "Disk.Full", "a_test.cc"
                )
            ],
        )
        self.assertIn(
            "| the disk is full | nothing | what fits \\| counted | [`Disk.Full`](../a_test.cc) |",
            reliability_page.tables(faults),
        )

    def test_what_is_read_has_a_table_of_its_own(self):
        text = "/// Fault [logs]: a torn line\n/// Shown: the rest\nTEST_F(Log, Torn) {\n"
        made = reliability_page.tables(reliability_page.read_faults(text, "b_test.cc"))
        self.assertIn("| fault | shown, and what is used all the same | test |\n|---|---|---|\n", made)
        self.assertIn("| a torn line | the rest | [`Log.Torn`](../b_test.cc) |", made)

    def test_incomplete_comments_are_refused_with_their_place(self):
        for text, complaint in (
            (COMPLETE.replace("/// Program: nothing\n", ""), "a_test.cc:5: a fault needs the lines"),
            (COMPLETE.replace("[disk]", "[disc]"), "a_test.cc:6: there is no group"),
            (COMPLETE.replace("TEST(Disk, Full)", "int x"), "a_test.cc:6: a fault's comment must be followed"),
        ):
            with self.assertRaisesRegex(ValueError, complaint):
                reliability_page.read_faults(text, "a_test.cc")


if __name__ == "__main__":
    unittest.main(verbosity=2)

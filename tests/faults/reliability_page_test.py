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
OF_PYTHON = """
class SomeTest(unittest.TestCase):
    PROGRAM = '''
class OfTheProgram(dict):
    pass
'''

    # Fault [guards]: a guard goes on
    # Program: nothing
    # Recorded: all
    def test_a_guard(self):
        self.run_program(PROGRAM)
"""


# Harm that crema once did to a program, its files or its users, with the tests that show that it no longer does.
ONCE_HARMFUL = {
    "many names crashed the collector": (
        "ManyNames.OfEveryKindHaveBoundedTablesAndWholeTotals",
        "ManyNames.GiveTheSameDocumentInEveryOrderOfReading",
    ),
    "counters read and closed the program's own descriptors": (
        "DescriptorFault.InputOfAProgramThatClosedAll",
        "DescriptorFault.PipesOfAProgramThatClosedAll",
        "DescriptorFault.ResultsOfAProgramThatClosedAll",
    ),
    "records landed in the program's own files": (
        "DescriptorFault.ThreadsThatRecordWhileAllIsClosed",
        "DescriptorFault.AFileWithTheInodeOfTheLog",
        "WorkerLogTest.test_files_under_the_numbers_of_the_plug_in_stay_what_they_are",
    ),
    "records filled the disk": (
        "LimitFault.ASmallDiskIsFull",
        "WorkerLogTest.test_a_full_disk_has_room_for_sums_and_the_end",
    ),
    "a lost line was taken for an attempt without an end": (
        "MeasureLogsTest.ALostLineIsNoLostAttempt",
        "LiveModelTest.ALostLineIsNoLostAttempt",
    ),
    "a section without a name crashed the report": ("SectionCharts.SectionsWithoutANameStandWhereTheyWere",),
    "a foreign file made a run last for decades": ("RecordLogTest.LeavesOutAFileWithoutARecordAndNamesItOnce",),
    "others could read the live page": (
        "WhoIsServed.test_only_get_and_only_this_machine_by_its_names",
        "WhoIsServed.test_a_token_is_always_asked_for",
    ),
    "processes of containers were taken for one": ("RecordLogTest.TellsProcessesOfContainersAndBootsApart",),
    "the live server burned a core": ("WhoIsServed.test_at_the_limit_of_descriptors_it_serves_on_and_burns_no_core",),
    "two runs wrote into one directory": ("OutputDirectory.test_is_one_runs_where_several_begin_at_once",),
    "coroutines and misused guards looked like failures": (
        "GuardFault.ChunksThatInterleaveOnOneThread",
        "MeasureSumsTest.DropsAreToldByTheirCause",
    ),
    "a log that was cut while it was read killed the reader": ("DaskLog.MayBeTruncatedWhileItIsRead",),
    "a killed crema left files, or parts of two measurements": (
        "KilledOutput.test_collect_keeps_the_older_one",
        "KilledOutput.test_exports_and_reports_leave_nothing",
        "KilledOutput.test_who_may_not_write_reads_one_measurement_or_none",
    ),
    "secrets and formulas were shown": (
        "WithoutSecrets.HidesWhatHeadersSayOfWhoAsks",
        "CsvField.AFormulaIsAText",
    ),
    "a report was too large to be opened": ("ReportPage.LeavesOutTheLargestChartsBeforeItGetsTooLarge",),
    "an empty name of an output wrote elsewhere": ("EmptyPaths.test_are_wrong_usage_and_one_line",),
    "requests with two hosts or a body were answered": (
        "WhoIsServed.test_a_request_has_one_host_and_a_path",
        "WhoIsServed.test_a_body_is_refused",
    ),
    "a guard object that was used twice crashed Python": (
        "SharedGuardsTest.test_a_second_exit_does_nothing",
        "SharedGuardsTest.test_a_guard_that_is_entered_again_nests",
        "SharedGuardsTest.test_threads_may_share_a_guard",
        "Bounds.test_threads_of_a_worker_may_share_guards",
    ),
    "decorated coroutines gave other results": ("DecoratedTest.test_forty_shapes_do_what_undecorated_ones_do",),
    "guards swallowed time-outs": ("SharedGuardsTest.test_what_a_signal_handler_raises_arrives_always",),
    "a stuck worker or scheduler was waited for": (
        "Bounds.test_a_worker_that_is_stuck_is_not_waited_for",
        "Bounds.test_a_scheduler_that_is_stuck_is_not_waited_for",
    ),
    "asynchronous clients and threads as workers were measured wrongly": (
        "Bounds.test_what_cannot_be_measured_truly_is_refused_in_one_line",
        "Bounds.test_detached_it_leaves_no_trace",
    ),
    "spawned children were not measured": ("ChildrenTest.test_children_of_every_start_method_are_measured",),
    "guards raised exceptions of their own": (
        "SharedGuardsTest.test_guards_of_ones_own_may_be_frozen_and_names_anything",
        "CoffeaExecutorsTest.test_where_the_package_is_missing_an_exception_has_no_context_of_ours",
    ),
    "warnings as errors broke the import": (
        "SharedGuardsTest.test_with_warnings_as_errors_a_missing_library_is_one_line",
    ),
}


class ReliabilityPageTest(unittest.TestCase):
    maxDiff = None

    def read(self, text, source, part=0):
        return reliability_page.read_faults(text, source, reliability_page.PARTS[part].kinds)

    def made(self, text, source, part=0):
        return reliability_page.tables(self.read(text, source, part), reliability_page.PARTS[part])

    def test_the_page_has_the_tables_that_the_tests_make(self):
        page = reliability_page.PAGE.read_text(encoding="utf-8")
        self.assertEqual(
            page,
            reliability_page.with_tables(page, pathlib.Path()),
            "run: python3 tests/faults/reliability_page.py --write",
        )

    def test_every_group_has_faults(self):
        for part in reliability_page.PARTS:
            faults = reliability_page.all_faults(pathlib.Path(), part)
            for kind in part.kinds:
                self.assertEqual({fault.group for fault in faults if fault.kind is kind}, set(kind.groups))

    def test_a_comment_becomes_a_row(self):
        (fault,) = self.read(COMPLETE, "a_test.cc")
        self.assertEqual((fault.kind, fault.group), (reliability_page.RECORDING, "disk"))
        self.assertEqual(fault.cells, ("the disk is full", "nothing", "what fits | counted"))
        self.assertIn(
            "| the disk is full | nothing | what fits \\| counted | [`Disk.Full`](../a_test.cc) |",
            self.made(COMPLETE, "a_test.cc"),
        )

    def test_what_is_read_has_a_table_of_its_own(self):
        text = "/// Fault [logs]: a torn line\n/// Shown: the rest\nTEST_F(Log, Torn) {\n"
        made = self.made(text, "b_test.cc")
        self.assertIn("| fault | shown, and what is used all the same | test |\n|---|---|---|\n", made)
        self.assertIn("| a torn line | the rest | [`Log.Torn`](../b_test.cc) |", made)

    def test_tests_in_python_have_rows_too(self):
        comment = "    # Fault [outputs]: a kill\n    # Shown: all\n    # of it\n"
        text = f"class Output(Case):\n{comment}    def test_kill(self): pass\n"
        (fault,) = self.read(text, "c_test.py")
        self.assertEqual(
            (fault.group, fault.cells, fault.test), ("outputs", ("a kill", "all of it"), "Output.test_kill")
        )

    def test_tests_of_crema_hep_have_tables_of_their_own(self):
        made = self.made(OF_PYTHON, "d_test.py", part=1)
        self.assertEqual(
            made,
            "### Python: guards\n\n"
            "| fault | the program sees | recorded, and where the loss is counted | test |\n|---|---|---|---|\n"
            "| a guard goes on | nothing | all | [`SomeTest.test_a_guard`](../d_test.py) |\n\n",
        )
        with self.assertRaisesRegex(ValueError, r"d_test.py:11: \[disk\] is not a group"):
            self.read(OF_PYTHON.replace("[guards]", "[disk]"), "d_test.py", part=1)

    def test_what_once_harmed_somebody_has_a_row(self):
        page = reliability_page.PAGE.read_text(encoding="utf-8")
        for harm, tests in ONCE_HARMFUL.items():
            for test in tests:
                self.assertIn(f"[`{test}`](", page, harm)

    def test_incomplete_comments_are_refused_with_their_place(self):
        for text, complaint in (
            (COMPLETE.replace("/// Program: nothing\n", ""), "a_test.cc:5: a fault needs the lines"),
            (COMPLETE.replace("[disk]", "[disc]"), r"a_test.cc:6: \[disc\] is not a group"),
            (COMPLETE.replace("TEST(Disk, Full)", "int x"), "a_test.cc:6: a fault's comment must be followed"),
        ):
            with self.assertRaisesRegex(ValueError, complaint):
                self.read(text, "a_test.cc")


if __name__ == "__main__":
    unittest.main(verbosity=2)

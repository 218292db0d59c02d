import json
import pathlib
import tempfile
import unittest

import bazel_results

GTEST_XML = """<testsuites><testsuite name="A">
<testcase name="Works" status="run" result="completed" classname="A" />
<testcase name="Skips" status="run" result="skipped" classname="A"><skipped message="a_test.cc:3&#x0A;no perf"/>
</testcase>
<testcase name="DISABLED_Off" status="notrun" result="suppressed" classname="A" />
%s</testsuite></testsuites>"""
FAILING_CASE = '<testcase name="Fails" status="run" classname="A"><failure message="1 is not 2"/></testcase>'
UNITTEST_XML = """<testsuites><testsuite name="p_test"><testcase name="p_test" status="run"/><system-out><![CDATA[
test_needs_a_tool (p_test.T.test_needs_a_tool) ... skipped 'no tool'
Ran 5 tests in 0.1s

OK (skipped=1)]]></system-out></testsuite></testsuites>"""
CRASH_XML = """<testsuites><testsuite name="c_test"><testcase name="c_test">
<error message="exited with error code 134"/></testcase></testsuite></testsuites>"""


class BazelResultsTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.events = []

    def add_run(self, label, status, xml, run=1):
        file = self.folder / f"{len(self.events)} test.xml"  # a blank in the path is %20 in the event
        file.write_text(xml)
        self.events.append(
            {
                "id": {"testResult": {"label": label, "run": run}},
                "testResult": {
                    "status": status,
                    "testActionOutput": [{"name": "test.xml", "uri": file.as_uri()}],
                },
            }
        )

    def read(self, exit_status=0):
        file = self.folder / "events.json"
        file.write_text("\n".join(map(json.dumps, self.events)))
        return bazel_results.read(file, exit_status)

    def test_cases_of_googletest_are_counted_one_by_one_and_a_skip_keeps_its_reason(self):
        self.add_run("//a:a_test", "PASSED", GTEST_XML % "")
        results = self.read()
        self.assertEqual(str(results), "1 passed, 0 failed, 2 skipped")
        self.assertIn("//a:a_test A.Skips: no perf", results.skipped)

    def test_a_failing_case_is_named(self):
        self.add_run("//a:a_test", "FAILED", GTEST_XML % FAILING_CASE)
        self.assertEqual(self.read(3).failed, ["//a:a_test A.Fails"])

    def test_a_python_test_counts_the_cases_that_its_log_tells(self):
        self.add_run("//p:p_test", "PASSED", UNITTEST_XML)
        results = self.read()
        self.assertEqual(str(results), "4 passed, 0 failed, 1 skipped")
        self.assertEqual(results.skipped, ["//p:p_test test_needs_a_tool: 'no tool'"])

    def test_a_crash_or_an_unreadable_result_is_one_failure(self):
        self.add_run("//c:c_test", "FAILED", CRASH_XML)
        self.add_run("//t:torn_test", "TIMEOUT", "<testsuites><tests")
        self.assertEqual(self.read(3).failed, ["//c:c_test", "//t:torn_test (timeout)"])

    def test_only_the_last_attempt_of_a_run_counts(self):
        self.add_run("//a:a_test", "FAILED", GTEST_XML % FAILING_CASE)
        self.add_run("//a:a_test", "PASSED", GTEST_XML % "")
        self.assertEqual(self.read().failed, [])

    def test_a_target_that_does_not_build_fails_and_one_without_its_library_is_skipped(self):
        self.events = [
            {"id": {"targetCompleted": {"label": "//a:broken"}}, "completed": {"failureDetail": {}}},
            {
                "id": {"targetCompleted": {"label": "//a:needs_fastjet"}},
                "aborted": {"reason": "SKIPPED", "description": "Target //a:needs_fastjet build was skipped."},
            },
            {"id": {"targetCompleted": {"label": "//a:typing_error"}}, "aborted": {"reason": "ANALYSIS_FAILURE"}},
            {"id": {"targetCompleted": {"label": "//a:library"}}, "completed": {"success": True}},
        ]
        results = self.read(1)
        self.assertEqual(results.failed, ["//a:broken (not built)", "//a:typing_error (not built)"])
        self.assertEqual(results.skipped, ["//a:needs_fastjet: needs a library that is not installed"])

    def test_bazel_failing_before_any_target_is_a_failure(self):
        self.assertEqual(str(self.read(exit_status=2)), "0 passed, 1 failed")


if __name__ == "__main__":
    unittest.main(verbosity=2)

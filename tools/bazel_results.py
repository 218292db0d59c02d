"""Counts test cases from the output of `bazel test`: its build events (JSON) and the test.xml of each test.

Events: https://bazel.build/remote/bep. A test that writes no test.xml of its own (Python, shell) is one case to Bazel;
for Python's unittest the log has the cases.
"""

import json
import pathlib
import re
import urllib.parse
import xml.etree.ElementTree

from results import Results

_UNITTEST_TOTAL = re.compile(r"^Ran (\d+) tests? in ", re.MULTILINE)
_UNITTEST_SKIPPED = re.compile(r"\(.*?skipped=(\d+)")
_UNITTEST_REASON = re.compile(r"^(\w+) .*\.\.\. skipped (.*)$", re.MULTILINE)


def read(events_file: pathlib.Path, exit_status: int) -> Results:
    """Reads the build events of one `bazel test` that ended with `exit_status`."""
    results = Results()
    runs = {}  # (label, run, shard) -> its last attempt
    lines = events_file.read_text().splitlines() if events_file.exists() else []
    for event in map(json.loads, lines):
        identity = event["id"]
        if "targetCompleted" in identity:
            _add_target(results, identity["targetCompleted"]["label"], event)
        elif "testResult" in identity:
            run = identity["testResult"]
            runs[run["label"], run.get("run"), run.get("shard")] = event["testResult"]
    for (label, _, _), run in runs.items():
        results.add(_count_run(label, run))
    if exit_status != 0 and not results.failed:
        results.failed.append(f"bazel itself: exit status {exit_status}, see its messages above")
    return results


def _add_target(results: Results, label: str, event: dict) -> None:
    """Notes a target that was not built. Targets that were built have test results, or nothing to count."""
    if event.get("completed", {}).get("success"):
        return
    if event.get("aborted", {}).get("reason") == "SKIPPED":
        results.skipped.append(f"{label}: needs a library that is not installed")
    else:
        results.failed.append(f"{label} (not built)")


def _count_run(label: str, run: dict) -> Results:
    results = Results()
    files = {output["name"]: output["uri"] for output in run.get("testActionOutput", [])}
    succeeded = run["status"] in ("PASSED", "FLAKY")
    if "test.xml" in files:
        _count_cases(results, label, urllib.parse.unquote(urllib.parse.urlparse(files["test.xml"]).path))
    if succeeded and results.passed == 0 and not results.failed and not results.skipped:
        results.passed = 1
    if not succeeded and not results.failed:
        results.failed.append(f"{label} ({run['status'].lower()})")
    return results


def _count_cases(results: Results, label: str, xml_file: str) -> None:
    try:
        root = xml.etree.ElementTree.parse(xml_file).getroot()
    except (OSError, xml.etree.ElementTree.ParseError):
        return  # the run's status still counts, as one case
    for case in root.iter("testcase"):
        name = ".".join(filter(None, [case.get("classname"), case.get("name")]))
        skipped = case.find("skipped")
        if case.find("failure") is not None or case.find("error") is not None:
            results.failed.append(f"{label} {name}" if case.get("classname") else label)
        elif skipped is not None:
            results.skipped.append(f"{label} {name}: {_one_line(skipped.get('message'))}")
        elif case.get("status") == "notrun":
            results.skipped.append(f"{label} {name}: disabled in its source")
        else:
            results.passed += 1
    log = "".join(output.text or "" for output in root.iter("system-out"))
    total = _UNITTEST_TOTAL.search(log)
    if total and results.passed == 1:
        _count_unittest(results, label, log, int(total.group(1)))


def _count_unittest(results: Results, label: str, log: str, total: int) -> None:
    skipped = _UNITTEST_SKIPPED.search(log)
    skipped = int(skipped.group(1)) if skipped else 0
    reasons = [f"{label} {name}: {reason}" for name, reason in _UNITTEST_REASON.findall(log)][:skipped]
    reasons += [f"{label}: no reason in its log (unittest.main(verbosity=2) prints it)"] * (skipped - len(reasons))
    results.skipped += reasons
    results.passed = total - skipped


def _one_line(text: str | None) -> str:
    lines = (text or "no reason given").splitlines()
    return "; ".join(lines[1:] if len(lines) > 1 else lines)  # googletest puts file:line first

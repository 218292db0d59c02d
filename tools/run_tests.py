"""Runs the tests and prints what passed, failed and was skipped; the last line is the total.

    tools/test                          everything: Bazel's tests, the consumers, the commands in the documents
    tools/test //sdk/...                Bazel's tests of these patterns only
    tools/test --asan --clang           Bazel's tests in another configuration
    tools/test --folder tests/docs      the tests of one folder that run outside Bazel
    tools/test --long                   everything, with tests that take minutes each

Exit status: 0 when nothing failed, 1 otherwise. A Bazel test that cannot pass in a configuration says so by a tag
(`no-asan`, `no-tsan`, ...) and counts as skipped there.
"""

import argparse
import concurrent.futures
import dataclasses
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

import bazel_results
from results import Results

CHECKOUT = pathlib.Path(__file__).resolve().parent.parent
# Groups of tools/setup that no source of PACKAGES_WITHOUT_THEM needs: Bazel compiles while they come from PyPI.
SET_UP = ("plots", "coffea", "root", "engines")
SET_UP_LONG = ("old-dask", "slurm", "try-on", "musl")
PACKAGES_WITHOUT_THEM = "//collector/..."
CONFIGURATIONS = ("asan", "ubsan", "tsan", "clang", "cxx20")
# These start their own builds, or need tools that tools/setup fetched, so they run outside Bazel's sandbox. Three run
# at once, the longest first: two left a sixth of two cores idle.
OUTSIDE_BAZEL = (
    "tests/root",
    "tests/dask",
    "tests/python",
    "tests/docs",
    "tests/browser",
    "tests/consumers",
    "examples/coffea_dask",
    "examples/root_muons",
    "tests/engines",
    "tests/exports",
    "tests/laboratory",
    "tests/plots",
    "tests/release",
)
FOLDERS_AT_ONCE = 3
# Files of these folders whose tests run before all others, alone: stacks of Python are less precise on a busy machine.
ALONE = {"tests/python": ("shares_of_stacks_test.py",)}
# With --long these compare the times of runs, so nothing runs beside them.
QUIET_TESTS = "//tests/insight/..."
QUIET_FOLDERS = ("tests/laboratory",)
# Several tests build the SDK with CMake, most of them with the same options, below folders that differ only in
# their names. CCACHE_BASEDIR makes these paths relative, so the compiler runs once for each object.
COMPILER_CACHE = {
    "CCACHE_DIR": str(CHECKOUT / ".cache/test/ccache"),
    "CCACHE_NOHASHDIR": "1",
    "CCACHE_BASEDIR": tempfile.gettempdir(),
}
if shutil.which("ccache"):
    COMPILER_CACHE |= {"CMAKE_C_COMPILER_LAUNCHER": "ccache", "CMAKE_CXX_COMPILER_LAUNCHER": "ccache"}
# With --long these run once more with stacks and allocations, which must not make any fault worse.
AGAIN_WITH_OPTIONS = ["//sdk/tests/..."]
FOLDERS_AGAIN_WITH_STACKS = ("tests/python", "tests/dask")
STACKS = {"CREMA_TEST_STACKS": "500", "CREMA_STACKS": "500", "CREMA_TEST_WAITS": "100", "CREMA_WAITS": "100"}
COUNTER = "//sdk/allocations:libcrema_allocations.so"
SLOW_S = 5  # tests of a folder that take longer are printed with their times


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="tools/test", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name in CONFIGURATIONS:
        parser.add_argument(f"--{name}", action="store_true", help=f"Bazel's tests with --config={name}")
    parser.add_argument("--long", action="store_true", help="also tests that take minutes (CREMA_TEST_LONG=1)")
    parser.add_argument("--folder", choices=OUTSIDE_BAZEL, help="only the tests of this folder")
    parser.add_argument("--part", choices=("alone", "beside"), help="with --folder: only what runs alone, or the rest")
    parser.add_argument(
        "--results", type=pathlib.Path, help="with --folder: sets nothing up, and writes what it came to as JSON"
    )
    parser.add_argument("patterns", nargs="*", help="Bazel target patterns (default: everything)")
    return parser.parse_args()


def bazel_jobs() -> int:
    return (os.cpu_count() or 1) + 2  # the linker and actions of Python mostly wait


def set_up(long: bool, compile_meanwhile: bool) -> None:
    """Installs what tests need beyond the groups build and test. Exits if that fails."""
    groups = [CHECKOUT / "tools/setup", "--quiet", *SET_UP]
    with subprocess.Popen(groups, cwd=CHECKOUT) as installing:
        try:
            if compile_meanwhile:  # what does not compile fails in the tests; apt may ask for a password
                quietly = ("--noshow_progress", "--curses=no", "--keep_going", f"--jobs={bazel_jobs()}")
                subprocess.run(["bazel", "build", *quietly, PACKAGES_WITHOUT_THEM], cwd=CHECKOUT, check=False)
            installing.wait()
        except BaseException:
            installing.terminate()
            raise
    if installing.returncode != 0:
        sys.exit("tools/setup failed: its message is above")
    if long and subprocess.run([*groups[:2], *SET_UP_LONG], cwd=CHECKOUT, check=False).returncode == 0:
        os.environ["CREMA_OLD_DASK"] = "1"


def skip_tagged(configurations: list[str], patterns: list[str]) -> Results:
    """The tests that a tag leaves out of these configurations."""
    results = Results()
    for name in configurations:
        query = f'attr(tags, "no-{name}", tests({" + ".join(patterns)}))'
        labels = subprocess.run(
            ["bazel", "query", "--noshow_progress", "--keep_going", query],
            stdout=subprocess.PIPE,
            text=True,
            check=False,
        )
        for label in labels.stdout.split():
            results.skipped.append(f"{label}: tagged no-{name}")
    return results


def run_bazel_tests(
    configurations: list[str], patterns: list[str], one_by_one: bool = False, **environment: str
) -> Results:
    with tempfile.TemporaryDirectory() as folder:
        events = pathlib.Path(folder, "events.json")
        tests = 1 if one_by_one else bazel_jobs() - 1  # many tests mostly wait
        at_once = [f"--jobs={bazel_jobs()}", f"--local_test_jobs={tests}"]
        command = ["bazel", "test", "--keep_going", *at_once, f"--build_event_json_file={events}"]
        if "CREMA_TEST_LONG" in os.environ:
            command += ["--test_env=CREMA_TEST_LONG", "--test_timeout=3600"]
        command += [f"--test_env={name}={value}" for name, value in environment.items()]
        command += [f"--config={name}" for name in configurations]
        if configurations:
            command.append("--test_tag_filters=" + ",".join(f"-no-{name}" for name in configurations))
        status = subprocess.run([*command, "--", *patterns], check=False).returncode
        results = bazel_results.read(events, status)
    results.add(skip_tagged(configurations, patterns))
    return results


class _CountingResult(unittest.TextTestResult):
    """Counts successes. unittest has no such number, and subtraction is wrong with failed subtests and set-ups."""

    passed = 0

    def __init__(self, *arguments) -> None:
        super().__init__(*arguments)
        self.seconds = {}  # test: how long it took
        self._started = 0.0

    def startTest(self, test: unittest.TestCase) -> None:
        super().startTest(test)
        self._started = time.monotonic()

    def stopTest(self, test: unittest.TestCase) -> None:
        super().stopTest(test)
        self.seconds[test.id()] = time.monotonic() - self._started

    def addSuccess(self, test: unittest.TestCase) -> None:
        super().addSuccess(test)
        self.passed += 1


def run_outside_bazel(folder: str, part: str | None) -> Results:
    """Runs the `*_test.py` of a folder, or the `--part` of them, with unittest."""
    names = sorted(path.name for path in (CHECKOUT / folder).glob("*_test.py"))
    if part is not None:
        names = [name for name in names if (name in ALONE.get(folder, ())) == (part == "alone")]
    suite = unittest.TestSuite(unittest.TestLoader().discover(str(CHECKOUT / folder), pattern=name) for name in names)
    outcome = unittest.TextTestRunner(stream=sys.stdout, verbosity=2, resultclass=_CountingResult).run(suite)
    for name, seconds in sorted(outcome.seconds.items(), key=lambda item: -item[1]):
        if seconds > SLOW_S:
            print(f"slow: {name}: {seconds:.1f} s")
    times = os.times()
    cpu = times.user + times.system + times.children_user + times.children_system
    print(f"{folder}: {cpu:.0f} s of CPU, without builds by Bazel", flush=True)
    return Results(
        passed=outcome.passed,
        failed=[test.id() for test, _ in outcome.failures + outcome.errors],
        skipped=[f"{test.id()}: {reason}" for test, reason in outcome.skipped],
    )


def run_folder(folder: str, *options: str, **environment: str) -> tuple[Results, str]:
    """Runs the tests of a folder in a separate process. Returns their result and their output."""
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as scratch:
        file = pathlib.Path(scratch, "results.json")
        command = [sys.executable, __file__, f"--folder={folder}", f"--results={file}", *options]
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
            env={**os.environ, **COMPILER_CACHE, **environment},
        )
        if file.exists():
            results = Results(**json.loads(file.read_text()))
        else:
            results = Results(failed=[f"{folder}: its process ended with {done.returncode}, see its messages above"])
    printed = done.stdout.decode(errors="replace")
    return results, f"{printed}{folder}: {results} ({time.monotonic() - start:.0f} s)"


def run_folders(quiet: tuple[str, ...]) -> Results:
    results = Results()
    others = [folder for folder in OUTSIDE_BAZEL if folder not in quiet]
    for folders, at_once, option in ((ALONE, 1, "alone"), (others, FOLDERS_AT_ONCE, "beside"), (quiet, 1, "beside")):
        with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
            for part, printed in pool.map(lambda folder, which=option: run_folder(folder, f"--part={which}"), folders):
                print(printed, flush=True)
                results.add(part)
    return results


def run_with_options() -> Results:
    subprocess.run(["bazel", "build", COUNTER], check=True)
    library = CHECKOUT / "bazel-bin" / COUNTER.removeprefix("//").replace(":", "/")
    allocations = {"CREMA_TEST_ALLOCATIONS": "1", "LD_PRELOAD": str(library.resolve())}
    results = run_bazel_tests([], AGAIN_WITH_OPTIONS, **STACKS, **allocations)
    print(f"with stacks and allocations, Bazel: {results}", flush=True)
    for folder in FOLDERS_AGAIN_WITH_STACKS:
        part, printed = run_folder(folder, **STACKS)
        print(f"with stacks, {printed}", flush=True)
        results.add(part)
    return results


def main() -> int:
    arguments = parse_arguments()
    configurations = [name for name in CONFIGURATIONS if getattr(arguments, name)]
    everything = not configurations and not arguments.patterns and not arguments.folder
    if not arguments.results:  # else run_folder has called, and all is set up
        set_up(arguments.long, compile_meanwhile=everything)
    if arguments.long:
        os.environ["CREMA_TEST_LONG"] = "1"
    if arguments.folder:
        results = run_outside_bazel(arguments.folder, arguments.part)
        if arguments.results:
            arguments.results.write_text(json.dumps(dataclasses.asdict(results)))
        return 1 if results.failed else 0
    results = Results()
    start = time.monotonic()
    quiet = everything and arguments.long
    results.add(run_bazel_tests(configurations, arguments.patterns or ["//...", *[f"-{QUIET_TESTS}"] * quiet]))
    if quiet:
        results.add(run_bazel_tests([], [QUIET_TESTS], one_by_one=True))
    print(f"Bazel: {results} ({time.monotonic() - start:.0f} s)", flush=True)
    if everything:
        results.add(run_folders(QUIET_FOLDERS if arguments.long else ()))
        if arguments.long:
            results.add(run_with_options())
    for reason in results.skipped:
        print(f"skipped: {reason}")
    for name in results.failed:
        print(f"FAILED: {name}")
    print(results, flush=True)
    return 1 if results.failed else 0


if __name__ == "__main__":
    sys.exit(main())

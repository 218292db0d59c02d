"""The kernel kills a process because its control group has no memory left: `crema run` says so."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

CHECKOUT = pathlib.Path(__file__).resolve().parent.parent.parent
PROGRAM = CHECKOUT / "bazel-bin/collector/cli/crema"
LIBRARY = CHECKOUT / "bazel-bin/sdk/libcrema.a"
LIMIT = 150 << 20


def build() -> None:
    targets = ["//sdk:crema", "//collector/cli:crema"]
    subprocess.run(["bazel", "build", "--noshow_progress", *targets], cwd=CHECKOUT, check=True)


def own_group() -> pathlib.Path | None:
    """The directory of this process's memory controller, of version 1 or 2."""
    paths = {}
    for line in pathlib.Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        for controller in controllers.split(","):
            paths[controller] = path
    for root, path in (("/sys/fs/cgroup/memory", paths.get("memory")), ("/sys/fs/cgroup", paths.get(""))):
        directory = pathlib.Path(f"{root}{path}")
        if path is not None and (directory / "cgroup.procs").exists():
            return directory
    return None


def make_group(name: str) -> pathlib.Path | None:
    """A group with LIMIT bytes and no swap; None if this user may not make one here."""
    parent = own_group()
    if parent is None or os.geteuid() != 0:
        return None
    is_v1 = not (parent / "cgroup.controllers").exists()
    if not is_v1 and "memory" not in (parent / "cgroup.subtree_control").read_text():
        parent = parent.parent  # a group with processes cannot have groups with controllers below it
    group = parent / name
    try:
        group.mkdir()
        (group / ("memory.limit_in_bytes" if is_v1 else "memory.max")).write_text(str(LIMIT))
        swap = group / ("memory.memsw.limit_in_bytes" if is_v1 else "memory.swap.max")
        if swap.exists():
            swap.write_text(str(LIMIT) if is_v1 else "0")
    except OSError:
        if group.exists():
            group.rmdir()
        return None
    return group


class OomKillTest(unittest.TestCase):
    def setUp(self):
        self.group = make_group(f"crema-test-{os.getpid()}")
        if self.group is None:
            self.skipTest("no control group with a memory limit can be made here: needs root and the memory controller")
        self.addCleanup(self.group.rmdir)
        build()
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        source = CHECKOUT / "tests/engines/analysis.cc"
        command = ["g++", "-std=c++17", "-O1", "-I", CHECKOUT / "sdk/include", source, LIBRARY, "-ldl", "-pthread"]
        subprocess.run([*command, "-o", self.folder / "analysis"], check=True)

    def test_the_kernel_s_kill_is_named_as_the_reason(self):
        work = "./analysis 1 & ./analysis 2 all & wait"
        script = f'echo $$ > {self.group}/cgroup.procs && exec "$@"'
        command = ["sh", "-c", script, "sh", PROGRAM, "run", "-o", "run", "-q", "--", "sh", "-c", work]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        document = json.loads((self.folder / "run/measurement.json").read_text())
        reason = "the kernel killed a process of its control group, out of memory"
        rows = {worker["state"]: worker for worker in document["workers"]}
        self.assertEqual((rows["lost"]["left_reason"], rows["lost"]["lost"]), (reason, 1))
        self.assertIsNone(rows["ended"]["left_reason"])
        (verdict,) = [verdict for verdict in document["verdicts"] if verdict["id"] == "worker-loss"]
        self.assertIn(f": {reason}", verdict["sentence"])
        (tree,) = (self.folder / "run/records").glob("*.tree.ndjson")
        self.assertEqual(json.loads(tree.read_text().splitlines()[-1])["oom_kills"], 1)


if __name__ == "__main__":
    unittest.main()

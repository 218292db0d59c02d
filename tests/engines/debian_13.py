"""Runs a script in a chroot of Debian 13 (tools/try_on), which has packages of engines that Debian 12 lacks."""

import io
import os
import pathlib
import shutil
import subprocess
import tarfile
import tempfile
import unittest

CHECKOUT = pathlib.Path(__file__).resolve().parent.parent.parent
# Files travel through the pipes, so the output of the script and its programs goes to stderr.
AROUND = """
exec 3>&1 1>&2
rm -rf /var/tmp/crema && mkdir /var/tmp/crema && cd /var/tmp/crema && tar xf - && exec </dev/null
install_packages() {
  { apt-get -qq update && apt-get -qq install -y --no-install-recommends "$@"; } >/tmp/apt.log 2>&1 && return
  cat /tmp/apt.log
  exit 1
}
wait_for() {  # a command, until it succeeds
  for _ in $(seq 1200); do if "$@"; then return; fi; sleep 0.1; done
  echo "this did not come: $*"; exit 1
}
"""
# tar ends with 1 if a process still writes into a file, which does not matter.
TO_PIPE = """
tar cf - . >&3 || [ $? = 1 ]
"""


def missing() -> str:
    """Why nothing can run there; empty if it can."""
    if "CREMA_TEST_LONG" not in os.environ:
        return "makes a chroot of Debian 13: tools/test --long"
    if os.geteuid() != 0 or shutil.which("debootstrap") is None:
        return "needs root and debootstrap"
    return ""


def run(script: str, files, folder: pathlib.Path) -> str:
    """Runs a shell script beside copies of these files. Unpacks the files that it wrote into `folder`, and returns its
    output. An `AssertionError` contains the output, too."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for file in files:
            archive.add(file, arcname=pathlib.Path(file).name)
    command = [CHECKOUT / "tools/try_on", "trixie", "sh", "-ec", AROUND + script + TO_PIPE]
    done = subprocess.run(command, input=packed.getvalue(), capture_output=True, timeout=1800, check=False)
    printed = done.stderr.decode(errors="replace")
    if done.returncode != 0:
        raise AssertionError(f"in Debian 13, exit status {done.returncode}:\n{printed[-5000:]}")
    subprocess.run(["tar", "xf", "-", "-C", folder], input=done.stdout, check=True)
    return printed


def build(folder: pathlib.Path) -> pathlib.Path:
    """Builds crema and the SDK. Returns the analysis that the engines run, which needs only the C library."""
    targets = ["//sdk:crema", "//collector/cli:crema"]
    subprocess.run(["bazel", "build", "--noshow_progress", *targets], cwd=CHECKOUT, check=True)
    source, library = CHECKOUT / "tests/engines/analysis.cc", CHECKOUT / "bazel-bin/sdk/libcrema.a"
    command = ["g++", "-std=c++17", "-O1", "-static-libstdc++", "-static-libgcc", "-I", CHECKOUT / "sdk/include"]
    subprocess.run([*command, source, library, "-ldl", "-pthread", "-o", folder / "analysis"], check=True)
    return folder / "analysis"


class Debian13Case(unittest.TestCase):
    """Runs `script` beside the analysis; `ran` is the folder with the files that it wrote."""

    script = ""

    def setUp(self):
        if missing():
            self.skipTest(missing())
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        self.ran = self.folder / "ran"
        self.ran.mkdir()
        run(self.script, [build(self.folder)], self.ran)

"""tools/try_on: its messages when it cannot work. With `tools/test --long` also the wheel on Debian 12, 13 and sid,
with each Python that is here, pipx and uv; and a project with modules under the Bazel of Debian sid.

Run by tools/test, outside Bazel.
"""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

CHECKOUT = pathlib.Path(__file__).resolve().parent.parent.parent
TRY_ON = CHECKOUT / "tools/try_on"
# A run before this one may have been stopped while it installed packages.
INSTALL = """
install() {
  dpkg --configure -a && apt-get -qq update && apt-get -qq install -y --no-install-recommends "$@"
}
"""
# The suite's own Python, those that the test put into .cache/pythons, pipx, and uv: each in a fresh environment.
THE_WHEEL = """
packages="python3-venv pipx g++ cmake make libffi8 libssl3"
install $packages >/tmp/log 2>&1 || { cat /tmp/log; exit 1; }
check() {
  "$2" run -q -o /tmp/measured-$1 -- sleep 0.1
  "$2" show /tmp/measured-$1 --json >/tmp/shown
  echo "$1 $($3 -c 'import crema_hep, platform; print(platform.python_version())')"
}
mkdir -p /root/.pyenv && ln -sfn /crema/.cache/pythons /root/.pyenv/versions  # where they were built for
for python in /usr/bin/python3 /root/.pyenv/versions/*/bin/python3; do
  name=$(echo $python | tr / -)
  $python -m venv --clear /tmp/env$name
  /tmp/env$name/bin/pip install -q --no-index dist/crema_hep-*.whl
  check env$name /tmp/env$name/bin/crema /tmp/env$name/bin/python
done
PIPX_HOME=/tmp/pipx PIPX_BIN_DIR=/tmp/pipx/bin pipx install $(ls dist/crema_hep-*.whl) >/tmp/log 2>&1
check pipx /tmp/pipx/bin/crema /tmp/pipx/venvs/crema-hep/bin/python
. /tmp/env-usr-bin-python3/bin/activate && pip install -q uv
uv venv -q /tmp/uv && uv pip install -q --python /tmp/uv dist/crema_hep-*.whl
check uv /tmp/uv/bin/crema /tmp/uv/bin/python
cp tests/consumers/analysis.cc tests/consumers/cmake_installed/CMakeLists.txt /tmp && cd /tmp
cmake -B build -DCMAKE_PREFIX_PATH="$(crema config --prefix)" >/tmp/log && cmake --build build >/tmp/log
crema run -q -o measured -- build/analysis
crema show measured --metric total_events --json
touch /crema/left-by-the-command
"""
# Debian's Bazel takes its packaged rules for modules (/etc/bazel.bazelrc). Bazel itself names other modules, but the
# project uses none of them. So a registry of empty modules replaces the central one, which needs a network.
ON_DEBIAN_SID = """
packages="bazel-bootstrap bazel-features bazel-platforms bazel-rules-cc bazel-rules-java bazel-rules-license"
packages="$packages bazel-rules-proto bazel-rules-python bazel-skylib g++"
install $packages >/tmp/log 2>&1 || { cat /tmp/log; exit 1; }
mkdir -p /tmp/modules /tmp/nothing && ln -s /crema /tmp/crema
cp -r /crema/tests/consumers/bazel_modules /tmp/analysis && cp /crema/tests/consumers/analysis.cc /tmp/analysis
cd /tmp/analysis
until bazel build --noenable_workspace --registry=file:///tmp //:analysis >/tmp/log 2>&1; do
  missing=$(sed -nE 's/.*module ([a-z0-9_.-]+)@([^ ]+) not found in registries.*/\\1 \\2/p' /tmp/log | head -n 1)
  [ -n "$missing" ] || { cat /tmp/log; exit 1; }
  set -- $missing
  [ ! -e "/tmp/modules/$1/$2" ] || { cat /tmp/log; exit 1; }
  mkdir -p "/tmp/modules/$1/$2"
  echo "module(name = '$1', version = '$2')" >"/tmp/modules/$1/$2/MODULE.bazel"
  echo '{"type": "local_path", "path": "/tmp/nothing"}' >"/tmp/modules/$1/$2/source.json"
done
CREMA_DIR=/tmp/records bazel-bin/analysis
bazel --version
grep '"type":"chunk"' /tmp/records/*.jsonl
"""


def run(*command, **named):
    return subprocess.run([*map(str, command)], capture_output=True, text=True, timeout=3000, check=False, **named)


def link_or_copy(source, target):
    try:
        os.link(source, target)
    except OSError:  # another disk
        shutil.copy2(source, target)


class TryOnTest(unittest.TestCase):
    def setUp(self):
        self.cache = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.cache)

    def refusal(self, status, *command, **variables):
        done = run(*command, env={**os.environ, "CREMA_TRY_ON": self.cache, **variables})
        self.assertEqual((done.returncode, done.stdout), (status, ""))
        self.assertRegex(done.stderr, r"^try_on: [^\n]*\n$")
        self.assertEqual(os.listdir(self.cache), [])
        return done.stderr

    def test_wrong_usage_is_told(self):
        self.assertIn("trixie|bookworm|sid", self.refusal(2, TRY_ON))
        self.assertIn("trixie|bookworm|sid", self.refusal(2, TRY_ON, "potato", "true"))
        self.assertIn("tools/try_on sid bash", self.refusal(2, TRY_ON, "sid"))

    def test_whoever_is_not_root_is_told(self):
        with tempfile.TemporaryDirectory() as folder:  # a place that everybody can read
            pathlib.Path(folder).chmod(0o755)
            tool = pathlib.Path(shutil.copy(TRY_ON, folder))
            become = ["setpriv", "--reuid=65534", "--clear-groups"] if os.geteuid() == 0 else []
            self.assertIn("need root: sudo tools/try_on trixie", self.refusal(1, *become, tool, "trixie", "true"))

    @unittest.skipUnless(os.geteuid() == 0, "asks for root first")
    def test_a_missing_debootstrap_is_told(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("bash", "env"):
                pathlib.Path(folder, name).symlink_to(shutil.which(name))
            printed = self.refusal(1, "bash", TRY_ON, "trixie", "true", PATH=folder)
        self.assertIn("tools/setup try-on", printed)

    @unittest.skipUnless("CREMA_TEST_LONG" in os.environ, "makes chroots of three Debians: tools/test --long")
    def test_the_wheel_works_on_each_debian_with_each_python(self):
        if os.geteuid() != 0 or shutil.which("debootstrap") is None:
            self.skipTest("needs root and debootstrap")
        built = run(CHECKOUT / "tools/wheel")
        self.assertEqual(built.returncode, 0, built.stdout + built.stderr)
        pythons = CHECKOUT / ".cache/pythons"
        shutil.rmtree(pythons, ignore_errors=True)
        pythons.mkdir()
        self.addCleanup(shutil.rmtree, pythons)
        for python in sorted(pathlib.Path.home().glob(".pyenv/versions/3.1?.*")):
            shutil.copytree(python, pythons / python.name, symlinks=True, copy_function=link_or_copy)
        for suite in ("bookworm", "trixie", "sid"):
            with self.subTest(suite):
                done = run(TRY_ON, suite, "sh", "-ec", INSTALL + THE_WHEEL)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                print(suite, done.stdout)
                self.assertIn('"value": 1000', done.stdout)
                for way in (
                    "env-usr-bin-python3 ",
                    "pipx ",
                    "uv ",
                    *(f"env-root-.pyenv-versions-{name}-" for name in os.listdir(pythons)),
                ):
                    self.assertIn("\n" + way, "\n" + done.stdout)
                self.assertFalse((CHECKOUT / "left-by-the-command").exists())

    @unittest.skipUnless("CREMA_TEST_LONG" in os.environ, "makes a chroot of Debian sid: tools/test --long")
    def test_a_project_with_modules_builds_on_debian_sid(self):
        if os.geteuid() != 0 or shutil.which("debootstrap") is None:
            self.skipTest("needs root and debootstrap")
        done = run(TRY_ON, "sid", "sh", "-ec", INSTALL + ON_DEBIAN_SID)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        version, chunk = filter(None, done.stdout.splitlines())
        self.assertRegex(version, r"^bazel [7-9]\.")
        self.assertIn('"status":"ok","events":1000,', chunk)


if __name__ == "__main__":
    unittest.main(verbosity=2)

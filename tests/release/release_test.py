"""tools/release: its output is complete, equal for equal commits, and made only of what was committed.

Run by tools/test, outside Bazel. A clean build takes half an hour, so only `tools/test --long` makes any.
"""

import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import tarfile
import tempfile
import unittest

CHECKOUT = pathlib.Path(__file__).resolve().parent.parent.parent
PAGE = "third_party/page/node_modules"


def run(*command, **named):
    return subprocess.run([*map(str, command)], capture_output=True, text=True, check=False, **named)


class ReleaseTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(run, "sh", "-c", 'chmod -R u+w "$1"; rm -rf "$1"', "sh", self.folder)

    def clone(self, name):
        done = run("git", "clone", "-q", CHECKOUT, self.folder / name)
        if done.returncode != 0:
            self.skipTest(f"the checkout is not a git repository: {done.stderr.strip()}")
        return self.folder / name

    def refusal(self, checkout, *arguments):
        done = run(checkout / "tools/release", *arguments)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertRegex(done.stderr, r"^release: [^\n]*\n$")
        return done.stderr

    def test_what_is_not_committed_is_refused(self):
        checkout = self.clone("changed")
        (checkout / "new.txt").touch()
        self.assertIn("the checkout has changes: commit them", self.refusal(checkout))

    def test_a_version_without_its_changes_is_refused(self):
        checkout = self.clone("raised")
        header = checkout / "sdk/include/crema/version.h"
        header.write_text(re.sub(r'(VERSION_STRING) ".*"', r'\1 "9.8.7"', header.read_text()))
        identity = ("-c", "user.name=nobody", "-c", "user.email=nobody@localhost")
        self.assertEqual(run("git", *identity, "commit", "-qam", "Raise the version", cwd=checkout).returncode, 0)
        self.assertIn("has no heading '### 9.8.7'", self.refusal(checkout))

    def test_unknown_arguments_are_refused(self):
        checkout = self.clone("clone")
        self.assertIn("unknown argument '--fast'", self.refusal(checkout, "--fast"))

    @unittest.skipUnless("CREMA_TEST_LONG" in os.environ, "builds everything twice: tools/test --long")
    def test_two_builds_of_a_commit_are_equal(self):
        built = [self.release(checkout) for checkout in (self.clone("first"), self.clone("another-place"))]
        self.assertEqual(built[0], built[1])
        self.assertEqual(sorted(re.sub(r"-\d.*?(?=\.tar|$)", "", name) for name in built[0])[0], "SHA256SUMS")
        self.assertEqual(len(built[0]), 3)

    def test_the_page_names_the_packages_that_a_build_needs(self):
        setup = (CHECKOUT / "tools/setup").read_text()
        lists = re.findall(r"^(?:build|wheel)_packages=\((.*?)\)$", setup, re.MULTILINE | re.DOTALL)
        needed = {name for text in lists for name in re.sub("#.*", "", text).split()}
        page = (CHECKOUT / "docs/install.md").read_text()
        (named,) = re.findall(r"^apt-get install (bazel.*?[^\\])$", page, re.MULTILINE | re.DOTALL)
        self.assertEqual(sorted(named.replace("\\\n", " ").split()), sorted({*needed, "npm"}))

    @unittest.skipUnless("CREMA_TEST_LONG" in os.environ, "builds everything: tools/test --long")
    def test_the_archive_is_built_without_network(self):
        isolated = ("unshare", "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh")  # Bazel talks to its server
        refused = run(*isolated, "true")
        if refused.returncode != 0:
            self.skipTest(f"there is no way to take the network away: {refused.stderr.strip()}")
        checkout = self.clone("clone")
        archive, home = self.folder / "crema.tar", self.folder / "home"
        self.assertEqual(run("git", "archive", "--prefix=crema-0/", "-o", archive, "HEAD", cwd=checkout).returncode, 0)
        self.assertEqual(run("tar", "xf", archive, cwd=self.folder).returncode, 0)
        sources = self.folder / "crema-0"
        self.copy_page_packages(sources)
        home.mkdir()
        build = 'tools/wheel -o "$0"; status=$?; bazel shutdown; exit $status'
        done = run(*isolated, "sh", "-c", build, self.folder, cwd=sources, env={**os.environ, "HOME": str(home)})
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(len([*self.folder.glob("crema_hep-*.whl")]), 1)

    def copy_page_packages(self, checkout):
        """Copies npm's packages, whose versions are in the repository."""
        if (CHECKOUT / PAGE).exists():
            shutil.copytree(CHECKOUT / PAGE, checkout / PAGE, symlinks=True)
            (checkout / PAGE / ".package-lock.json").touch()

    def release(self, checkout):
        """{file: digest} of a release from a fresh clone, without earlier build outputs."""
        home = self.folder / f"home-of-{checkout.name}"  # no cache of Bazel's
        home.mkdir()
        self.copy_page_packages(checkout)
        environment = {**os.environ, "HOME": str(home)}
        output = self.folder / f"release-of-{checkout.name}"
        done = run(checkout / "tools/release", "-o", output, env=environment)
        run("bazel", "shutdown", cwd=checkout, env=environment)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.check_archive(next(output.glob("*.tar.gz")), checkout)
        listed = run("sha256sum", "--check", "--strict", "SHA256SUMS", cwd=output)
        self.assertEqual(listed.returncode, 0, listed.stdout + listed.stderr)
        return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in output.iterdir()}

    def check_archive(self, archive, checkout):
        """Checks that the archive has the files that git has, below one folder named after it."""
        top = archive.name.removesuffix(".tar.gz")
        tracked = run("git", "ls-files", cwd=checkout).stdout.splitlines()
        with tarfile.open(archive) as sources:
            packed = [member.name for member in sources if not member.isdir()]
        self.assertEqual(sorted(packed), sorted(f"{top}/{name}" for name in tracked))


if __name__ == "__main__":
    unittest.main(verbosity=2)

"""Files from real servers of xrootd on this machine; tools/setup puts xrootd into .cache/root/xrootd."""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

import delaying_proxy
import found_test
import root_case
from root_case import ENTRIES, metric

XROOTD = root_case.CHECKOUT / ".cache/root/xrootd/usr"
# ROOT opens a file on "localhost" by its path; it treats another address of the loopback device as another server.
HOST = "127.0.0.2"
NOBODY = 65534
EACH_BASKET = {"ROOT_TTREECACHE_SIZE": "0"}  # a read for each basket: no cache that reads many at once
CONFIGURATION = """\
all.export /
xrd.port any
oss.localroot {folder}/files
all.adminpath {folder}/run
all.pidpath {folder}/run
"""
READY = re.compile(r"xrootd \S+:(\d+) initialization completed")
START_SECONDS = 300

SLOW_HOST = "127.0.0.3"
FAR_HOST = "127.0.0.4"


def start_server(case, files) -> int:
    """Serves copies of `files` until the class `case` ends, at all addresses of this machine, because xrootd listens at
    no single one. Returns the port, which the server chose: one that is free at one address may be taken at another."""
    folder = pathlib.Path(tempfile.mkdtemp())
    case.addClassCleanup(shutil.rmtree, folder)
    (folder / "files").mkdir()
    (folder / "run").mkdir()
    for file in files:
        shutil.copy(file, folder / "files")
    (folder / "server.cfg").write_text(CONFIGURATION.format(folder=folder))
    log = folder / "run/log"
    as_nobody = {}
    if os.getuid() == 0:  # as root it refuses to run
        as_nobody = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
        for path in [folder, *folder.rglob("*")]:
            os.chown(path, NOBODY, NOBODY)
    server = subprocess.Popen(
        [XROOTD / "bin/xrootd", "-c", folder / "server.cfg", "-l", log],
        env={**os.environ, "LD_LIBRARY_PATH": str(XROOTD / "lib/x86_64-linux-gnu")},
        cwd=folder / "run",
        **as_nobody,
    )
    case.addClassCleanup(server.wait)
    case.addClassCleanup(server.send_signal, signal.SIGKILL)
    deadline = time.monotonic() + START_SECONDS
    while True:
        ended = server.poll() is not None  # before its log is read: it may write until then
        written = log.read_text(errors="replace") if log.exists() else ""
        if ready := READY.search(written):
            return int(ready[1])
        if ended or time.monotonic() > deadline:
            raise AssertionError(f"xrootd did not start within {START_SECONDS} s; its log:\n{written}")
        time.sleep(0.05)


class ServerTest(found_test.FoundCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if not (XROOTD / "bin/xrootd").exists():
            raise unittest.SkipTest("no xrootd in .cache/root: tools/setup root fetches it")
        small = root_case.data() / "small_clusters.root"
        cls.port = start_server(cls, [*root_case.trees(), root_case.ntuples()[0], small])
        cls.slow_port = start_server(cls, [small])

    def test_chunks_name_the_server_and_count_what_it_sent(self):
        url = f"root://{HOST}:{self.port}/"
        files = [f"{url}/{tree.name}" for tree in root_case.trees()]
        for threads in (0, 2):
            with self.subTest(threads=threads):
                remote = self.run_program("frames", "one_loop", threads, *files)
                local = self.run_program("frames", "one_loop", threads, *root_case.trees())
                self.assertEqual(sum(chunk["events"] for chunk in remote.chunks), sum(ENTRIES))
                self.assertEqual({chunk["attributes"].get("server") for chunk in remote.chunks}, {HOST})
                self.assertEqual({chunk["attributes"].get("server") for chunk in local.chunks}, {None})
                self.assertEqual({chunk["status"] for chunk in remote.chunks}, {"ok"})
                for chunk in remote.chunks:
                    self.assertGreater(chunk["bytes_read"], 0)
                    self.assertGreater(metric(chunk, "read_wall"), 0)
                    self.assertEqual([row["server"] for row in chunk["requests"]], [f"root://{HOST}:{self.port}"])

    def test_chunks_of_an_ntuple_name_the_server_of_its_address(self):
        url = f"root://{HOST}:{self.port}//{root_case.ntuples()[0].name}"
        for outcome in (self.run_program("frames", "one_loop", 2, url), self.run_program("readers", "ntuple", url)):
            self.assertEqual(sum(chunk["events"] for chunk in outcome.chunks), ENTRIES[0])
            self.assertEqual({chunk["attributes"].get("server") for chunk in outcome.chunks}, {HOST})

    def test_a_slow_server_is_named_and_its_like_is_not(self):
        near = f"root://{HOST}:{self.port}//small_clusters.root"
        with delaying_proxy.DelayingProxy(FAR_HOST, (SLOW_HOST, self.slow_port), delay_s=0.02) as proxy:
            far = f"root://{FAR_HOST}:{proxy.port}//small_clusters.root"
            found = self.verdicts("columns", 0, 1, near, far, **EACH_BASKET)
        self.assertIn(f"root://{FAR_HOST}:{proxy.port}", found["slow-server"]["sentence"])
        like = f"root://{SLOW_HOST}:{self.slow_port}//small_clusters.root"
        # A server that gets no CPU is slow, too; a busy machine may do that to one of them, but not each time.
        runs = (self.verdicts("columns", 0, 1, near, like, **EACH_BASKET) for _ in range(5))
        self.assertTrue(any("slow-server" not in found for found in runs))

    def test_many_small_baskets_are_named_and_with_the_trees_cache_are_not(self):
        with delaying_proxy.DelayingProxy(FAR_HOST, (HOST, self.port), delay_s=0.001) as proxy:
            far = f"root://{FAR_HOST}:{proxy.port}//small_clusters.root"
            found = self.verdicts("columns", 0, 40, far, **EACH_BASKET)
            self.assertIn(f"root://{FAR_HOST}:{proxy.port}", found["many-small-reads"]["sentence"])
            self.assertIn("TTreeCache", found["many-small-reads"]["suggestion"])
            self.assertNotIn("many-small-reads", self.verdicts("columns", 0, 40, far))


if __name__ == "__main__":
    unittest.main(verbosity=2)

"""Files of a server: a real xrootd on this machine, which tools/setup puts into .cache/root/xrootd."""

import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import unittest

import root_case
from root_case import ENTRIES, metric

XROOTD = root_case.CHECKOUT / ".cache/root/xrootd/usr"
# ROOT opens what is on "localhost" by its path; another address of the loopback device is another server to it.
HOST = "127.0.0.2"
NOBODY = 65534
CONFIGURATION = """\
all.export /
xrd.port {port}
oss.localroot {folder}/files
all.adminpath {folder}/run
all.pidpath {folder}/run
"""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return probe.getsockname()[1]


class ServerTest(root_case.RootCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if not (XROOTD / "bin/xrootd").exists():
            raise unittest.SkipTest("no xrootd in .cache/root: tools/setup root fetches it")
        folder = pathlib.Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, folder)
        (folder / "files").mkdir()
        (folder / "run").mkdir()
        for tree in root_case.trees():
            shutil.copy(tree, folder / "files")
        port = free_port()
        (folder / "server.cfg").write_text(CONFIGURATION.format(port=port, folder=folder))
        as_nobody = {}
        if os.getuid() == 0:  # as root it refuses to run
            as_nobody = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
            for path in [folder, *folder.rglob("*")]:
                os.chown(path, NOBODY, NOBODY)
        server = subprocess.Popen(
            [XROOTD / "bin/xrootd", "-c", folder / "server.cfg", "-l", folder / "run/log"],
            env={**os.environ, "LD_LIBRARY_PATH": str(XROOTD / "lib/x86_64-linux-gnu")},
            cwd=folder / "run",
            **as_nobody,
        )
        cls.addClassCleanup(server.wait)
        cls.addClassCleanup(server.send_signal, signal.SIGKILL)
        cls.url = f"root://{HOST}:{port}/"
        deadline = time.monotonic() + 60
        while True:
            try:
                socket.create_connection((HOST, port), timeout=5).close()
                return
            except OSError:
                if server.poll() is not None or time.monotonic() > deadline:
                    raise AssertionError((folder / "run/log").read_text()) from None
                time.sleep(0.05)

    def test_chunks_name_the_server_and_count_what_it_sent(self):
        files = [f"{self.url}/{tree.name}" for tree in root_case.trees()]
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


if __name__ == "__main__":
    unittest.main(verbosity=2)

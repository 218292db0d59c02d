"""Shared by the tests of measurements in notebooks: made-up runs, among them hostile and empty ones."""

import os
import sys
import unittest.mock
import warnings

import installed

sys.path[:0] = [str(installed.CHECKOUT), str(installed.PACKAGE)]

with warnings.catch_warnings(action="ignore"):  # this process records nothing, and needs no library
    from crema_hep import program

from collector.cli import invented_run  # noqa: E402  (found through the line before)

RENDERER = installed.CHECKOUT / ".cache/plots/bin/python"
HOSTILE_NAMES = [
    "</script><script>alert(1)</script><img src=x onerror=alert(1)>",
    "\"quotes\" 'single' & <b>bold</b> --> </style>",
    "\u202eright to left",
    "long " + "x" * 10_000,
    "\x1b[31mred\x00\nnew line",
    "lone \ud800 surrogate",
    "",
]


def write_empty(directory):
    invented_run.write_log(directory, [invented_run.process_line(1), invented_run.end_line(1, 0)])


def write_hostile(directory):
    lines = [invented_run.process_line(1)]
    for number, name in enumerate(HOSTILE_NAMES):
        names = {
            "dataset": name,
            "file": f"dir/{name}",
            "error": name,
            "sections": [{"path": name, "count": 1, "total_ns": 10**8, "self_ns": 10**8}],
            "metrics": [{"name": name, "unit": name, "count": 1, "sum": 1, "min": 1, "max": 1}],
            "cuts": [{"name": name, "events": 5}],
        }
        begin = invented_run.begin_line(number, number)
        begin.update(dataset=name, file=f"dir/{name}")
        lines += [begin, invented_run.chunk_line(number, number, number + 0.5, **names)]
    invented_run.write_log(directory, [*lines, invented_run.end_line(10, len(HOSTILE_NAMES))])


class NotebookTest(installed.RecordedTest):
    def setUp(self):
        super().setUp()
        chosen = {"CREMA_PROGRAM": str(installed.PROGRAM), "CREMA_PLOT_PYTHON": str(RENDERER)}
        patch = unittest.mock.patch.dict(os.environ, chosen)
        patch.start()
        self.addCleanup(patch.stop)

    def measure(self, write=invented_run.write_run, name="measurement"):
        """Returns the directory of the measurement of these records."""
        write(str(self.folder / f"{name} records"))
        program.run("collect", self.folder / f"{name} records", "-o", self.folder / name, "-q")
        return self.folder / name

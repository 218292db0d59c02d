"""Memory and I/O of a process tree, against known loads."""

import pathlib
import re
import unittest

from run_test_case import CREMA, RunTestCase


class Memory(RunTestCase):
    def test_of_a_tree_is_a_sum_and_pss_shares_what_is_shared(self):
        self.run_python(
            """
block = bytearray(60 << 20)
child = os.fork()
wait_for(lambda: any(sample.get("pss_bytes") and sample["processes"] == 2 and sample["rss_bytes"] > 120 << 20
    for path in glob.glob(os.environ["CREMA_DIR"] + "/*.tree.ndjson") for sample in map(json.loads, open(path))))
if child: os.waitpid(child, 0)
else: os._exit(0)
""",
            options=("-q", "--interval", "0.02"),
        )
        end = self.end()
        self.assertGreaterEqual(end["tree_peak_rss_bytes"], 120 << 20)
        self.assertLess(end["tree_peak_pss_bytes"], 100 << 20)
        self.assertGreaterEqual(end["tree_peak_pss_bytes"], 60 << 20)
        self.assertGreaterEqual(end["max_processes"], 2)

    def test_of_crema_itself_is_small(self):
        if re.search(rb"__[at]san_init", pathlib.Path(CREMA).read_bytes()):
            self.skipTest("a sanitizer uses much memory")
        self.run_command("true")
        self.assertLess(self.end()["sampler_peak_rss_bytes"], 10 << 20)


class InputOutput(RunTestCase):
    def test_counts_children_that_were_waited_for(self):
        self.run_command(
            "sh", "-c", "head -c 3000000 /dev/zero > $OUT/file; cat $OUT/file > /dev/null; cat $OUT/file > /dev/null"
        )
        end = self.end()
        self.assertGreaterEqual(end["tree_wchar_bytes"], 9000000)
        self.assertLess(end["tree_wchar_bytes"], 9500000)
        self.assertGreaterEqual(end["tree_rchar_bytes"], 9000000)
        self.assertLess(end["tree_rchar_bytes"], 9900000)


if __name__ == "__main__":
    unittest.main()

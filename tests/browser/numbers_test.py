"""The pages' scripts write numbers as the program does: every case of number_cases.json, in the browser itself.

The program's own test (collector/format/number_cases_test.cc) holds it to the same cases.
"""

import json
import unittest

from page_case import CHECKOUT, Browser, require_browser

SCRIPT = CHECKOUT / "collector/format/human_numbers.js"
CASES = CHECKOUT / "collector/format/number_cases.json"
NO_BREAK = "\u00a0"


def setUpModule():
    require_browser()


class NumbersTest(unittest.TestCase):
    def test_scripts_write_numbers_as_the_program_does(self):
        cases = json.loads(CASES.read_text(encoding="utf-8"))
        functions = sorted({name for name, _, _ in cases})
        known = ", ".join(functions)
        with Browser() as browser:
            written = browser.run(
                f"{SCRIPT.read_text(encoding='utf-8')}\nconst known = {{{known}}};"
                "return arguments[0].map(([name, values]) => known[name](...values));",
                cases,
            )
        self.assertEqual(len(written), len(cases))
        self.assertGreater(len(cases), 1000)
        for (name, values, expected), text in zip(cases, written, strict=True):
            if isinstance(expected, str):
                expected = expected.replace(" ", NO_BREAK)
            self.assertEqual(text, expected, f"{name}{tuple(values)}")

    def test_the_live_page_shortens_names_of_workers_as_the_report_does(self):
        script = (CHECKOUT / "collector/server/page/workers.js").read_text(encoding="utf-8")
        shortened = {
            ("tcp://n1.cern.ch:4000", "tcp://n2.cern.ch:4001"): ["n1:4000", "n2:4001"],
            ("lxb-0005.cern.ch:1", "lxb-0006.cern.ch:1"): ["0005:1", "0006:1"],
            ("tcp://10.0.0.1:4000", "tcp://10.0.0.2:4000"): ["1:4000", "2:4000"],
            ("node:411", "node:412"): ["411", "412"],
            ("w1", "w2"): ["w1", "w2"],
            ("a-", "a-b"): ["a-", "a-b"],
            ("tcp://n1.cern.ch:4000",): ["n1:4000"],
            (): [],
        }
        with Browser() as browser:
            written = browser.run(f"{script}\nreturn arguments[0].map(withoutShared);", [list(k) for k in shortened])
        self.assertEqual(written, list(shortened.values()))


if __name__ == "__main__":
    unittest.main()

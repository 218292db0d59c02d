"""The minor number that each writer puts into a format is the last one that the documents explain."""

import pathlib
import re
import unittest

CHECKOUT = pathlib.Path(__file__).resolve().parent.parent.parent
ROW = re.compile(r"^\| (\d+) \|", re.MULTILINE)
WRITTEN = {  # format: (source, what is before the number)
    "crema.measurement/1": ("collector/measurement/measurement.h", "kMeasurementSchemaMinor = "),
    "crema.comparison/1": ("collector/comparison/comparison.cc", '"schema_minor", '),
    "crema.tree/1": ("collector/records/tree_facts.h", "kTreeLogSchemaMinor = "),
    "crema.dask/1": ("python/crema_hep/dask_plugin.py", "\nSCHEMA_MINOR = "),
    "crema.history/1": ("collector/history/run_history.cc", "kSchemaMinor = "),
    "crema.records/1": ("sdk/src/log/process_line.cc", "kRecordSchemaMinor = "),
}
EXAMPLES = {"crema.records/1": "docs/record_log.md", "crema.tree/1": "docs/tree_log.md"}


def read(path):
    return (CHECKOUT / path).read_text()


def numbers(path, before):
    return {int(number) for number in re.findall(re.escape(before) + r"(\d+)", read(path))}


def explained():
    """{format: minor numbers of its table}"""
    sections = re.split(r"^## ", read("docs/changelog.md"), flags=re.MULTILINE)
    tables = {section[1 : section.index("`", 1)]: section for section in sections if section.startswith("`crema.")}
    tables["crema.records/1"] = read("docs/record_log.md").split("\n## Minor numbers\n")[1].split("\n## ")[0]
    return {name: [int(number) for number in ROW.findall(table)] for name, table in tables.items()}


class MinorNumbers(unittest.TestCase):
    def test_writers_write_the_last_number_that_is_explained(self):
        last = {name: {max(table)} for name, table in explained().items()}
        self.assertEqual(last, {name: numbers(*place) for name, place in WRITTEN.items()})

    def test_no_number_is_left_out_or_out_of_order(self):
        for name, table in explained().items():
            with self.subTest(name):
                self.assertEqual(sorted(set(table)), list(range(max(table) + 1)))
                self.assertEqual(table, sorted(table))

    def test_the_examples_of_the_pages_have_it(self):
        for name, page in EXAMPLES.items():
            with self.subTest(name):
                found = numbers(page, f'"schema":"{name}","schema_minor":')
                self.assertEqual(found, {max(explained()[name])})

    def test_what_dask_plug_in_writes_is_known(self):
        written = numbers("python/crema_hep/dask_plugin.py", "RECORD_SCHEMA_MINOR = ")
        self.assertLessEqual(max(written), max(explained()["crema.records/1"]))


if __name__ == "__main__":
    unittest.main()

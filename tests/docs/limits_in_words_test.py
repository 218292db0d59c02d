"""The limits that the pages give in words are those of the sources."""

import pathlib
import re
import unittest

CHECKOUT = pathlib.Path(__file__).resolve().parent.parent.parent
RECORDED = "collector/metrics/recorded"
# page: {words around the number: places of the sources, each a path and texts that lead to the number, in order}
WORDS = {
    "docs/limits.md": {
        "Names are cut at # bytes": [("sdk/src/log/json_line.h", "kMaxNameBytes = ")],
        "trees, passes and spans at # bytes": [("sdk/src/log/json_line.h", "kMaxPathBytes = ")],
        "values of attributes are cut at # bytes": [("sdk/src/log/json_line.h", "kMaxErrorBytes = ")],
        "Sections deeper than # levels": [("sdk/src/chunk/section_tree.h", "kMaxDepth = ")],
        "A chunk keeps # paths of sections": [("sdk/src/chunk/section_tree.h", "kMaxPaths = ")],
        "the collector keeps # files": [
            (f"{RECORDED}/recorded_tables.h", "class FileTable {", "kMaxFiles = "),
            ("collector/metrics/attempts/attempt_table.h", "class InputTable {", "kMaxInputs = "),
        ],
        "files, # workers": [("collector/metrics/workers/worker_life.h", "struct WorkerRows {", "kMost = ")],
        "workers, # paths": [
            (f"{RECORDED}/section_table.h", "class SectionTable {", "kMaxPaths = "),
            (f"{RECORDED}/recorded_tables.h", "class MemorySectionTable {", "kMaxPaths = "),
        ],
        "paths, # metrics": [(f"{RECORDED}/custom_tables.h", "kMaxMetrics = ")],
        "metrics and # rows of activities": [
            (f"{RECORDED}/activity_table.h", "class ActivityTable {", "kMaxRows = "),
        ],
        "ROOT's guards distinguish # pairs": [("sdk/root/include/crema/root/loop_passes.h", "kMostFiles = ")],
        "crema keeps # pairs of server and operation": [
            (f"{RECORDED}/recorded_tables.h", "class RequestTable {", "kMaxRows = "),
        ],
        "requests to storage; a chunk keeps #": [("sdk/src/chunk/chunk_data.h", "kMostRequestRows = ")],
        "crema keeps # names of attributes": [
            (f"{RECORDED}/recorded_tables.h", "class AttributeTable {", "kMaxNames = "),
        ],
        "It shows # values of each": [(f"{RECORDED}/recorded_tables.h", "class AttributeTable {", "kMaxShown = ")],
        "the commonest of all, or of # if there are": [
            (f"{RECORDED}/recorded_tables.h", "class AttributeTable {", "kMaxValues = "),
        ],
        "A process keeps # names of tasks and requests": [("sdk/src/tasks/task_table.h", "kMostModules = ")],
        "of events, # datasets of events": [("sdk/src/tasks/task_table.h", "kMostDatasets = ")],
        "and # events that are open at once": [("sdk/src/tasks/task_table.h", "kMostEvents = ")],
        "An event with more than # tasks and requests": [
            ("sdk/src/tasks/task_table.h", "struct EventNodes {", "kMost = "),
        ],
        "crema keeps # [functions](inside.md)": [
            (f"{RECORDED}/sampled_tables.h", "class FunctionTable {", "kMaxRows = "),
        ],
        "It keeps # rows of [waits](waits.md)": [(f"{RECORDED}/sampled_tables.h", "class WaitTable {", "kMaxRows = ")],
        "a thread keeps # different stacks": [("sdk/src/stacks/stack_table.h", "kOfThread = {")],
        "of native code with # functions in all": [("sdk/src/stacks/stack_table.h", "kOfThread = {1024, ")],
        "and # pairs of dataset and section": [("sdk/src/stacks/stack_table.h", "kOfThread = {1024, 16384, ")],
        "Each stack has its # innermost functions": [("sdk/src/stacks/stack_table.h", "kMostFrames = ")],
        "A report lists # failed attempts": [("collector/plot_data/run_detail.h", "size_t failed = ")],
        "crema shows # cuts": [(f"{RECORDED}/custom_tables.h", "kMaxCuts = ")],
        "If there are more than # cuts": [(f"{RECORDED}/custom_tables.h", "kMaxCuts = ", "kMaxNames = ")],
        "gives # processes rows of their own": [
            ("collector/server/live_model.h", "class LiveModel {", "kMostWorkers = "),
        ],
    },
    "docs/metrics.md": {
        "from medians of at most # equal bins": [("collector/metrics/attempts/slopes.cc", "kMostBins = ")],
        "in their order, in at most # bins": [("collector/metrics/attempts/slopes.cc", "kMostBins = ")],
        "`edges` and `counts` of at most # bins": [(f"{RECORDED}/custom_tables.cc", "kMostBins = ")],
        "the same for all datasets, and `counts` of at most # bins": [
            (f"{RECORDED}/custom_tables.cc", "kMostBins = "),
        ],
        "launching thread, longest first, at most #": [(f"{RECORDED}/recorded_tables.h", "kMaxKernels = ")],
        "explains, largest excess first; at most #": [("collector/metrics/read_records.h", "kMaxStragglerRows = ")],
        "same dataset and size take. Largest excess first, at most #": [
            ("collector/metrics/assemble.cc", "kMostExpectedRows = "),
        ],
        "the fits predict, or more. Largest excess first, at most #": [
            ("collector/metrics/attempts/stragglers.h", "kMostSlowPeriods = "),
        ],
        "as sampled, most CPU time first, at most #": [
            ("collector/metrics/process_tree/tree_accumulator.h", "kMostProcessRows = "),
        ],
        "differences between datasets; at most #": [("collector/metrics/attempts/slopes.cc", "kMostGroups = ")],
        "the kernel's name of it, at most # bytes": [],
    },
}
OF_THE_KERNEL = 15  # bytes of a name: TASK_COMM_LEN without the zero


def read(path):
    return (CHECKOUT / path).read_text()


def number(digits):
    return int(re.sub("[,']", "", digits))


def stated(page, words):
    """All numbers that the page gives in these words."""
    before, after = (re.escape(part) for part in words.split("#"))
    return {number(digits) for digits in re.findall(before + r"(\d[\d,]*\d|\d)" + after, " ".join(read(page).split()))}


def declared(source, *marks):
    """The number after the last mark. Each mark is searched for after the one before; the first stands once."""
    text = read(source)
    assert text.count(marks[0]) == 1, f"{source} has {marks[0]} {text.count(marks[0])} times"
    for mark in marks:
        assert mark in text, f"{source} has no {mark}"
        text = text.split(mark, 1)[1]
    return number(re.match(r"\d[\d']*", text).group())


def not_compared(page, text, numbers):
    """What stands before the numbers of a text that no row of WORDS compares."""
    text = " ".join(text.split())
    for words in WORDS[page]:
        before, after = (re.escape(part) for part in words.split("#"))
        text = re.sub(rf"({before})\d[\d,]*(?={after})", r"\1#", text)
    return re.findall(rf".{{0,60}}{numbers}", text)


class LimitsInWords(unittest.TestCase):
    def test_words_have_the_numbers_of_the_sources(self):
        for page, rows in WORDS.items():
            for words, places in rows.items():
                with self.subTest(page, words=words):
                    expected = {declared(*place) for place in places} or {OF_THE_KERNEL}
                    self.assertEqual(stated(page, words), expected)

    def test_no_bound_of_a_table_is_left_out(self):
        self.assertEqual(not_compared("docs/metrics.md", read("docs/metrics.md"), r"at most \d[\d,]*"), [])

    def test_no_number_of_what_is_kept_short_is_left_out(self):
        text = read("docs/limits.md").split("\n## Kept short\n")[1].split("\n## ")[0]
        self.assertEqual(not_compared("docs/limits.md", text.replace("1 MiB", ""), r"\b\d[\d,]*"), [])

    def test_a_line_has_at_most_one_mebibyte(self):
        self.assertIn("A line has at most 1 MiB.", " ".join(read("docs/limits.md").split()))
        self.assertIn("kMaxLineBytes = std::size_t{1} << 20;", read("sdk/src/log/json_line.h"))


if __name__ == "__main__":
    unittest.main()

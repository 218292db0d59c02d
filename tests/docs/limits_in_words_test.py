"""The limits that the pages give in words are those of the sources."""

import pathlib
import re
import unittest

CHECKOUT = pathlib.Path(__file__).resolve().parent.parent.parent
RECORDED = "collector/metrics/recorded"
WORDS = {  # page: {words around the number: (source, what stands before the number)}
    "docs/limits.md": {
        "Names are cut at # bytes": ("sdk/src/log/json_line.h", "kMaxNameBytes = "),
        "Sections deeper than # levels": ("sdk/src/chunk/section_tree.h", "kMaxDepth = "),
        "A chunk keeps # paths of sections": ("sdk/src/chunk/section_tree.h", "kMaxPaths = "),
        "ROOT's guards distinguish # pairs": ("sdk/root/include/crema/root/loop_passes.h", "kMostFiles = "),
        "the collector keeps # files": (f"{RECORDED}/recorded_tables.h", "kMaxFiles = "),
        "files, # workers": ("collector/metrics/workers/worker_life.h", "kMost = "),
        "workers, # paths": (f"{RECORDED}/section_table.h", "kMaxPaths = "),
        "paths, # metrics": (f"{RECORDED}/custom_tables.h", "kMaxMetrics = "),
        "metrics and # rows of activities": (f"{RECORDED}/activity_table.h", "class ActivityTable", "kMaxRows = "),
        "crema keeps # pairs of server and operation": (f"{RECORDED}/recorded_tables.h", "kMaxRows = "),
        "requests to storage; a chunk keeps #": ("sdk/src/chunk/chunk_data.h", "kMostRequestRows = "),
        "crema keeps # names of attributes": (f"{RECORDED}/recorded_tables.h", "kMaxNames = "),
        "It shows # values of each": (f"{RECORDED}/recorded_tables.h", "kMaxShown = "),
        "the commonest of all, or of # if there are": (f"{RECORDED}/recorded_tables.h", "kMaxValues = "),
        "A process keeps # names of tasks and requests": ("sdk/src/tasks/task_table.h", "kMostModules = "),
        "of events, # datasets of events": ("sdk/src/tasks/task_table.h", "kMostDatasets = "),
        "and # events that are open at once": ("sdk/src/tasks/task_table.h", "kMostEvents = "),
        "An event with more than # tasks and requests": ("sdk/src/tasks/task_table.h", "kMost = "),
        "It keeps # [functions](inside.md)": (f"{RECORDED}/sampled_tables.h", "kMaxRows = "),
        "a thread keeps # different stacks": ("sdk/src/stacks/stack_table.h", "kOfThread = {"),
        "Each stack has its # innermost functions": ("sdk/src/stacks/stack_table.h", "kMostFrames = "),
        "A report lists # failed attempts": ("collector/plot_data/run_detail.h", "failed = "),
        "crema shows # cuts": (f"{RECORDED}/custom_tables.h", "kMaxCuts = "),
        "If there are more than # cuts": (f"{RECORDED}/custom_tables.h", "kMaxNames = "),
        "gives # processes rows of their own": ("collector/server/live_model.h", "kMostWorkers = "),
    },
    "docs/metrics.md": {
        "from medians of at most # equal bins": ("collector/metrics/attempts/slopes.cc", "kMostBins = "),
        "in their order, in at most # bins": ("collector/metrics/attempts/slopes.cc", "kMostBins = "),
        "`edges` and `counts` of at most # bins": (f"{RECORDED}/custom_tables.cc", "kMostBins = "),
        "the same for all datasets, and `counts` of at most # bins": (f"{RECORDED}/custom_tables.cc", "kMostBins = "),
        "launching thread, longest first, at most #": (f"{RECORDED}/recorded_tables.h", "kMaxKernels = "),
        "explains, largest excess first; at most #": ("collector/metrics/read_records.h", "kMaxStragglerRows = "),
        "same dataset and size take. Largest excess first, at most #": (
            "collector/metrics/assemble.cc",
            "kMostExpectedRows = ",
        ),
        "the fits predict, or more. Largest excess first, at most #": (
            "collector/metrics/assemble.cc",
            "kMostSpells = ",
        ),
        "as sampled, most CPU time first, at most #": (
            "collector/metrics/process_tree/tree_accumulator.h",
            "kMostProcessRows = ",
        ),
        "differences between datasets; at most #": ("collector/metrics/attempts/slopes.cc", "kMostGroups = "),
        "the kernel's name of it, at most # bytes": None,  # TASK_COMM_LEN
    },
}


def read(path):
    return (CHECKOUT / path).read_text()


def number(digits):
    return int(re.sub("[,']", "", digits))


def stated(page, words):
    """All numbers that the page gives in these words."""
    before, after = (re.escape(part) for part in words.split("#"))
    return {number(digits) for digits in re.findall(before + r"(\d[\d,]*\d|\d)" + after, " ".join(read(page).split()))}


def declared(source, *marks):
    """The number behind the marks, each looked for behind the one before."""
    text = read(source)
    for mark in marks:
        assert mark in text, f"{source} has no {mark}"
        text = text.split(mark, 1)[1]
    return number(re.match(r"\d[\d']*", text).group())


class LimitsInWords(unittest.TestCase):
    def test_words_have_the_numbers_of_the_sources(self):
        for page, rows in WORDS.items():
            for words, place in rows.items():
                with self.subTest(page, words=words):
                    expected = {declared(*place)} if place else stated(page, words)
                    self.assertTrue(expected)
                    self.assertEqual(stated(page, words), expected)

    def test_every_bound_of_a_table_is_compared(self):
        text = " ".join(read("docs/metrics.md").split())
        compared = [re.escape(words).replace(r"\#", r"[\d,]+") for words in WORDS["docs/metrics.md"]]
        rest = re.sub("|".join(compared), "", text)
        self.assertEqual(re.findall(r".{0,60}at most \d[\d,]*", rest), [])


if __name__ == "__main__":
    unittest.main()

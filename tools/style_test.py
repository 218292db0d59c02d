import unittest

import style

JUDGE = "collector/diagnosis/judge_cores.cc"
INDEX = "# Docs\n\n## For users, by task\n\n- [Run](run.md)\n\n## For others\n\n- [Design](design.md)\n"


class StyleTest(unittest.TestCase):
    def numbers(self, text, path=JUDGE):
        return style.own_numbers({path: text})

    def test_a_judge_has_no_number_of_its_own(self):
        found = self.numbers("const double a = 1.0;\nif (b > 0.25 || c > 3 || d > 1e8) {\n")
        self.assertEqual([line.split(": ")[:2] for line in found], [[f"{JUDGE}:2", it] for it in ("0.25", "3", "1e8")])

    def test_units_words_and_comments_are_no_thresholds(self):
        text = '#include "a2.h"\nreturn x * 1000 / 1e9;  // 95 %\nname = "of 12";\nif (y.size() == 2) k2 = a.b3[0];\n'
        self.assertEqual(self.numbers(text), [])

    def test_tables_tests_and_other_packages_may_have_numbers(self):
        for path in (*style.MAY_HOLD_NUMBERS, "collector/diagnosis/a_test.cc", "collector/metrics/a.cc"):
            self.assertEqual(self.numbers("int a = 25;\n", path), [])

    def test_only_engines_and_exceptions_say_dask(self):
        texts = dict.fromkeys(("collector/engines/a.cc", "collector/a_test.cc", *style.MAY_SAY_DASK), "Dask\n")
        self.assertEqual(style.engines_named(texts), [])
        (found,) = style.engines_named({"collector/server/page/a.js": "// all\n// of Dask's\n"})
        self.assertEqual(found.split(": ")[0], "collector/server/page/a.js:2")

    def test_an_exception_that_nobody_needs_is_a_finding(self):
        texts = {**dict.fromkeys(style.MAY_HOLD_NUMBERS, ""), **dict.fromkeys(style.MAY_SAY_DASK, "dask")}
        self.assertEqual(style.idle_exceptions(texts), [])
        idle = "collector/records/facts.h"
        self.assertEqual(
            style.idle_exceptions({**texts, idle: ""}), [f"tools/style.py: {idle} needs no exception any more"]
        )

    def test_a_name_belongs_to_one_type(self):
        header = "struct Row;\nstruct Row {\n"
        texts = {"collector/a/a.cc": "\nclass Row final : Base {\n", "collector/b/b.h": header}
        self.assertEqual(
            style.shared_names(texts), ["collector/a/a.cc:2: Row is the name of a type of collector/b/b.h too"]
        )
        sources = {"collector/a/a.cc": "struct Row {\n", "collector/b/b.cc": "struct Row {\n"}
        self.assertEqual(style.shared_names(sources), [])

    def test_no_two_sources_of_a_package_share_a_helpers_name(self):
        helper = "namespace crema {\nnamespace {\n\nint Sum(int a) {\n  return a;\n}\n\n}  // namespace\n}\n"
        texts = {"collector/none/a.cc": helper, "collector/none/b.cc": helper.replace("int", "double")}
        places = [f"collector/none/{name}.cc:4" for name in "ba"]
        expected = [f"{it}: Sum is the name of a helper in {too} too" for it, too in (places, places[::-1])]
        self.assertEqual(style.shared_helpers(texts), expected)
        others = {
            "collector/none/a_test.cc": helper,
            "collector/other/a.cc": helper,
            "collector/benchmarks/a.cc": helper,
        }
        self.assertEqual(style.shared_helpers({"collector/none/a.cc": helper, **others}), [])
        called = helper.replace("int Sum(int a) {\n  return a;", "int Twice(int a) {\n  return Sum(a) + Sum(a);")
        self.assertEqual(style.shared_helpers({"collector/none/a.cc": helper, "collector/none/b.cc": called}), [])

    def test_a_page_for_users_is_short(self):
        long = "word " * (style.MOST_WORDS_OF_A_PAGE + 1)
        texts = {"docs/README.md": INDEX, "docs/run.md": "word", "docs/design.md": long, "README.md": "word"}
        self.assertEqual(style.long_pages(texts), [])
        found = style.long_pages({**texts, "docs/run.md": long, "README.md": long})
        self.assertEqual([line.split(": ")[0] for line in found], ["docs/run.md", "README.md"])

    def test_messages_and_pages_do_not_say_is_no_noun(self):
        source = '// is no word\nFail("`x` is "\n  "no gate; there is no "\n  "run, and there "\n  "are no rows");\n'
        texts = {"collector/cli/a.cc": source, "docs/run.md": "It is no\nmeasurement. It is no longer new.\n"}
        found = style.no_nouns(texts)
        self.assertEqual([line.split(": ")[0] for line in found], ["collector/cli/a.cc:2", "docs/run.md:1"])
        self.assertIn('"is no gate": say "is not"', found[0])
        self.assertEqual(style.no_nouns({"collector/cli/a_test.cc": '"is no gate"'}), [])

    def test_a_metric_that_is_named_is_in_the_catalogue(self):
        page = "| `wall_time` | s |\n| `chunk_rss_*` | B |\n\n## Tables\n\n| `share` | part |\n"
        texts = {style.METRICS: page, style.LIVE_METRICS: '{"live_cores", "count"},\nmetrics.Set("live_cores", 1);\n'}
        source = 'run.Metric("wall_time");\nmetrics->SetNull(\n    "chunk_rss_p50", "");\nstore->Set("run");\n'
        self.assertEqual(style.unknown_metrics({**texts, "collector/a.cc": source}), [])
        wrong = source.replace("time", "tim").replace("rss", "rs") + 'patch.Get("share");\nfacts.metrics().Find("x");\n'
        found = style.unknown_metrics({**texts, "collector/a.cc": wrong})
        places = [1, 3, 5, 6]
        self.assertEqual([line.split(": ")[0] for line in found], [f"collector/a.cc:{place}" for place in places])

    def test_a_key_is_not_misspelt_in_a_list_of_keys(self):
        texts = {style.METRICS: "| `major_faults` | count |\n| `wall_time` | s |\n", style.LIVE_METRICS: ""}
        lists = 'constexpr auto kKeys = {"major_faults", "wall_time", "sum_of_faults"};\n'
        self.assertEqual(style.unknown_metrics({**texts, "collector/a.cc": lists}), [])
        for wrong in ("major_fault", "major_faultss", "major_fuults", "majro_faults", "mayor_faults"):
            source = lists.replace("major_faults", wrong)
            self.assertEqual(
                style.unknown_metrics({**texts, "collector/a.cc": source}),
                [f"collector/a.cc:1: {wrong} is not the key of a metric"],
            )


if __name__ == "__main__":
    unittest.main()

"""Finds what breaks this project's own rules of style, which no other linter knows.

    python3 tools/style.py [PATH]...     PATH: only findings in files below these

- A judge has no number of its own: thresholds are in a table (CONTRIBUTING.md, "Conventions").
- Only engines say Dask (docs/design.md, "A new engine").
- No two types of the collector have one name, nor two helpers of a package: sources of a package are compiled as one.
- A page for users, and the README, can be read in some minutes.
- A metric that is read or set by its key is one of the catalogue's. A text that differs from a key by one letter is
  taken for a misspelt one wherever it stands.
- Messages and pages do not say "is no X" but "is not a X" (CONTRIBUTING.md, "Conventions").

Prints one line for each finding. Exit status: 0 when there are none, 1 otherwise.
"""

import pathlib
import re
import sys

from citations import tracked

ROOT = pathlib.Path(__file__).resolve().parent.parent
JUDGES = re.compile(r"collector/diagnosis/(?!.*_test\.cc$)[\w.-]+\.cc")
# Sources of judges that may hold numbers, and why.
MAY_HOLD_NUMBERS = {
    "collector/diagnosis/verdict_table.cc": "the table of the verdicts' thresholds, and its page",
    "collector/diagnosis/key_figures.cc": "the table of bands",
    "collector/comparison/paired_change.cc": "statistics: a table of its own, with reasons",
    "collector/diagnosis/between_runs.cc": "statistics and the normal distribution; its bounds are in the table",
    "collector/diagnosis/chunk_size_advice.cc": "rounds a number of events; the ranks of an interval of 95 %",
    "collector/diagnosis/words.cc": "half of a range, per cent, and how long a name may be",
    "collector/comparison/comparison.cc": "writes its document, with the number of the schema",
}
# 0, 1, units, the size of a pair, the length of a list and an order are not thresholds; words are not code.
_NO_CODE = re.compile(r'//.*|"(\\.|[^"\\])*"')
_NO_THRESHOLD = re.compile(
    r"#.*|\b[01]\.0\b|size\(\) (== |> )2|std::array<[\w:]+, \d+>|constexpr size_t k(Most|Named)\w* = \d+"
    r"|kEventsOfSlope = 1000|\b1000 \*|\* 1000\b|/ 1e9\b|true, 1000\}|limit /= 100|percent / 100|kMinute = 60"
    r"|\? 2 : 3;"
)
_NUMBER = re.compile(r"(?<![\w.])(?:\d+\.\d*|\d*e-?\d+|[2-9]|\d{2,})\b")

SOURCES = re.compile(r"collector/(?!.*(_test\.|_fixture\.|testdata)).*\.(cc|h|js|css)")
# Sources of the collector that may mention Dask although they belong to no engine, and why.
MAY_SAY_DASK = {
    "collector/charts/metric_charts.cc": "fine metrics are Dask's",
    "collector/cli/live_commands.cc": "an address, as an example",
    "collector/cli/measured_source.h": "an address, as an example",
    "collector/cli/result_commands.cc": "an address, as an example",
    "collector/exports/roastcoffea_export.cc": "keys of roastcoffea",
    "collector/measurement/catalog.cc": "fine metrics are Dask's; the metric of Python's lock names it",
    "collector/measurement/measurement.cc": "fine metrics are Dask's",
    "collector/metrics/engine/cluster_table.h": "the text of an engine, as an example",
    "collector/metrics/engine/engine_metrics.cc": "fine metrics are Dask's; the key of one",
    "collector/records/facts.h": "fine metrics are Dask's",
    "collector/report/input_blocks.cc": "fine metrics are Dask's",
    "collector/sources/roastcoffea/roastcoffea.cc": "keys of roastcoffea",
    "collector/sources/roastcoffea/roastcoffea.h": "keys of roastcoffea",
}

_TYPE = re.compile(
    r"^(?:template <[^>]*>\s*)?(?:struct|class|enum class) (\w+)(?: final)?(?: : [^{;]*)? \{", re.MULTILINE
)

TESTS = re.compile(r"collector/.*_test\.cc")
_JOINED = re.compile(r"collector/(?!benchmarks/).*\.cc")  # collector/package.bzl
_UNNAMED = re.compile(r"^namespace \{$.*?^\}  // namespace$", re.MULTILINE | re.DOTALL)
_HELPER = re.compile(
    r"^(?:\[\[\w+\]\] )?(?!return |TEST|INSTANTIATE)[a-zA-Z][\w:<>,&*\[\]() ]*[ &*](?!k[A-Z])(\w+)\(", re.MULTILINE
)

# A string may end in the middle of a sentence, and the next one go on.
_GAP = r'(?:\s|"\s*\n\s*")+'
_IS_NO = re.compile(rf"((?i:\bthere){_GAP})?\b(is|are){_GAP}no{_GAP}(?!longer\b|more\b|other\b|less\b)(\w+)")
_COMMENT_OR_STRING = re.compile(r'"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*.*?\*/', re.DOTALL)

MOST_WORDS_OF_A_PAGE = 1500
MOST_WORDS_OF_THE_README = 900
INDEX = "docs/README.md"
_PAGE = re.compile(r"\]\(([\w-]+\.md)[)#]")

METRICS = "docs/metrics.md"
LIVE_METRICS = "collector/server/live_document.cc"
_METRIC_ROW = re.compile(r"^\| `([a-z]\w*\*?)`", re.MULTILINE)
_LIVE_METRIC = re.compile(r'\{"(live_\w+)", "')
_METRIC = re.compile(
    r"\b(?:(?:[mM]etrics(?:\(\))?|patch)(?:\.|->)(?:Find|Get|Number|Reason|Set\w*)|Metric|FindMetric)"
    r"\(\s*\"(\w+)\""
)
_KEY = re.compile(r'"([a-z][a-z0-9]*(?:_[a-z0-9]+)+)"')
NO_METRICS = ("compression_ratios",)  # they look like one


def own_numbers(texts: dict[str, str]) -> list[str]:
    """Numbers in the sources of judges, which have none but in a table."""
    found = []
    for path, text in texts.items():
        if not JUDGES.fullmatch(path) or path in MAY_HOLD_NUMBERS:
            continue
        for number, line in enumerate(text.splitlines(), 1):
            code = _NO_THRESHOLD.sub("", _NO_CODE.sub("", line))
            found += [
                f"{path}:{number}: {it}: a number that judges belongs into a table" for it in _NUMBER.findall(code)
            ]
    return found


def engines_named(texts: dict[str, str]) -> list[str]:
    """Lines that say Dask in sources that belong to no engine."""
    found = []
    for path, text in texts.items():
        if not SOURCES.fullmatch(path) or path.startswith("collector/engines/") or path in MAY_SAY_DASK:
            continue
        for number, line in enumerate(text.splitlines(), 1):
            if "dask" in line.lower():
                found.append(f"{path}:{number}: only engines say Dask; see docs/design.md")
    return found


def idle_exceptions(texts: dict[str, str]) -> list[str]:
    """Exceptions of this file that no source needs any more."""
    found = [path for path in MAY_SAY_DASK if "dask" not in texts.get(path, "").lower()]
    found += [path for path in MAY_HOLD_NUMBERS if path not in texts]
    return [f"tools/style.py: {path} needs no exception any more" for path in found]


def shared_names(texts: dict[str, str]) -> list[str]:
    """Types with the name of another: of two headers, or of a source, where it would hide the other."""
    types = [
        (path.endswith(".cc"), path, text.count("\n", 0, match.start()) + 1, match[1])
        for path, text in texts.items()
        if SOURCES.fullmatch(path) and path.endswith((".cc", ".h"))
        for match in _TYPE.finditer(text)
    ]
    found, public = [], {}
    for is_source, path, line, name in sorted(types):  # headers first
        if name in public:
            found.append(f"{path}:{line}: {name} is the name of a type of {public[name]} too")
        elif not is_source:
            public[name] = path
    return found


def _package(path: str) -> str:
    """The nearest folder with a BUILD file, else the one below `collector`."""
    for folder in list(pathlib.PurePath(path).parents)[:-2]:
        if (ROOT / folder / "BUILD").exists():
            return str(folder)
    return "/".join(path.split("/")[:2])


def shared_helpers(texts: dict[str, str]) -> list[str]:
    """Functions in unnamed namespaces with the name of one in another source of the package, which a call may find."""
    found, first = [], {}
    for path, text in sorted(texts.items()):
        if not _JOINED.fullmatch(path):
            continue
        group = (_package(path), bool(TESTS.fullmatch(path)))
        for unnamed in _UNNAMED.finditer(text):
            for match in _HELPER.finditer(unnamed.group()):
                line = text.count("\n", 0, unnamed.start() + match.start()) + 1
                place = f"{path}:{line}"
                other = first.setdefault((group, match[1]), (path, place))
                if other[0] != path:
                    pair = ((place, other[1]), (other[1], place))
                    found += [f"{it}: {match[1]} is the name of a helper in {too} too" for it, too in pair]
    return found


def long_pages(texts: dict[str, str]) -> list[str]:
    """Pages for users with too many words."""
    part = texts[INDEX].split("\n## For users, by task\n")[1].split("\n## ")[0]
    most = {f"docs/{page}": MOST_WORDS_OF_A_PAGE for page in _PAGE.findall(part)}
    most["README.md"] = MOST_WORDS_OF_THE_README
    return [
        f"{page}: has {words} words, and may have {limit}: move what one looks up to a reference page"
        for page, limit in most.items()
        if (words := len(texts[page].split())) > limit
    ]


def _without_comments(text: str) -> str:
    """The text with blanks in place of comments of C++ and JavaScript, so that all else keeps its place."""
    return _COMMENT_OR_STRING.sub(lambda it: it[0] if it[0][0] == '"' else re.sub(r"[^\n]", " ", it[0]), text)


def no_nouns(texts: dict[str, str]) -> list[str]:
    """Messages and pages with "is no X", which is not English where X could have an article."""
    found = []
    for path, text in texts.items():
        if SOURCES.fullmatch(path):
            said = _without_comments(text)
        elif path.endswith(".md"):
            said = text
        else:
            continue
        for match in _IS_NO.finditer(said):
            if match[1] is None:
                line = said.count("\n", 0, match.start()) + 1
                found.append(f'{path}:{line}: "{match[2]} no {match[3]}": say "{match[2]} not"')
    return found


def _differ_by_one_letter(one: str, other: str) -> bool:
    """Whether one letter is missing, added, replaced, or in the place of its neighbour."""
    at = next((i for i, (left, right) in enumerate(zip(one, other, strict=False)) if left != right), None)
    if at is None:
        return abs(len(one) - len(other)) == 1
    left, right = one[at:], other[at:]
    return left[1:] in (right, right[1:]) or left == right[1:] or (left[1::-1], left[2:]) == (right[:2], right[2:])


def unknown_metrics(texts: dict[str, str]) -> list[str]:
    """Keys of metrics that neither docs/metrics.md, which the catalogue writes, nor the live server's table has."""
    keys = [*_METRIC_ROW.findall(texts[METRICS].split("\n## Tables\n")[0]), *_LIVE_METRIC.findall(texts[LIVE_METRICS])]
    known = re.compile("|".join(re.escape(key).replace(r"\*", r"\w+") for key in keys))
    found = []
    for path, text in texts.items():
        if not SOURCES.fullmatch(path):
            continue
        wrong = {(at[1], at.start(1) - 1) for at in _METRIC.finditer(text) if not known.fullmatch(at[1])}
        for at in _KEY.finditer(text):
            if known.fullmatch(at[1]) or at[1] in NO_METRICS:
                continue
            if any(_differ_by_one_letter(at[1], key) for key in keys):
                wrong.add((at[1], at.start()))
        lines = {(text.count("\n", 0, start) + 1, key) for key, start in wrong}
        found += [f"{path}:{line}: {key} is not the key of a metric" for line, key in sorted(lines)]
    return found


RULES = (
    own_numbers,
    engines_named,
    idle_exceptions,
    shared_names,
    shared_helpers,
    long_pages,
    no_nouns,
    unknown_metrics,
)


def main() -> int:
    read = [SOURCES.fullmatch, TESTS.fullmatch, lambda path: path.endswith(".md")]
    paths = [path for path in tracked(ROOT, []) if any(is_read(path) for is_read in read)]
    texts = {path: (ROOT / path).read_text() for path in paths}
    asked = set(tracked(ROOT, sys.argv[1:]))
    found = [line for rule in RULES for line in rule(texts) if line.split(":")[0] in asked]
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

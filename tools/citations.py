"""Finds citations of documents that are not in the repository, and of headings that a page does not have.

    python3 tools/citations.py [PATH]...     PATH: only files below these

A citation is a word that ends in .md or .rst, or one that ends in .txt and has a folder or capital letters. It is a
path from the repository's root, from docs/ or from the citing file's folder. A heading may follow, in quotation marks
(docs/metrics.md, "Rules") or, in links of pages, as an anchor. Prints one line for each that leads nowhere. A .txt that
a quotation mark touches is a file name of a program, and no citation.

Exit status: 0 when there are none, 1 otherwise.
"""

import pathlib
import posixpath
import re
import subprocess
import sys

# Names that are not documents of this project, with their owners.
OTHERS = {
    "CMakeLists.txt": "CMake's",
    "guide.md": "made up, in a test of how documents are read",
    "memory_monitor_output.txt": "ATLAS's, as prmon writes it",
    "prmon.txt": "prmon's",
    "start_end_time.txt": "roastcoffea's",
}
# Files in which such words are data: input of tests, licences and locks of others, and this check's own test.
DATA = re.compile(
    r"(^|/)(testdata|corpus|node_modules)/|^tests/data/|(^|/)LICENSE|lock\.json$|^tools/citations_test\.py$"
    r"|\.(jsonl|ndjson|root|gz)$"
)

QUOTES = ('"', "'")

_URL = re.compile(r"\w+://[^\s)>\"'`]+")
_WORD = re.compile(r"(?<![\w./-])((?:\.{1,2}/|/)?(?:[\w.-]+/)*[\w.-]*\w\.(?:md|rst|txt))\b(?![\w/-])")
# A heading behind the word. The line may end in between, and the next one may begin as a comment.
_BREAK = r"(?:\s|//[/!]?<?|#|\*)"
_HEADING = re.compile(rf",{_BREAK}+\\?\"([^\"\\]+)\\?\"|#([\w-]+)")
_FENCED = re.compile(r"^ *(```+|~~~+).*?^ *\1`*$", re.MULTILINE | re.DOTALL)
_TITLE = re.compile(r"^#+ +(.*?)\s*$", re.MULTILINE)
_OWN_ANCHOR = re.compile(r"\]\(#([\w-]+)\)")


def headings(text: str) -> list[str]:
    """The headings of a page, without marks of links and code."""
    titles = _TITLE.findall(_FENCED.sub("", text))
    return [re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title).replace("`", "").replace("*", "") for title in titles]


def anchor(heading: str) -> str:
    """What a link to a heading calls it, as GitHub does."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def is_citation(text: str, match: re.Match) -> bool:
    word = match[1]
    if posixpath.basename(word) in OTHERS:
        return False
    if not word.endswith(".txt"):
        return True
    is_quoted = text[match.start() - 1 : match.start()] in QUOTES or text[match.end() : match.end() + 1] in QUOTES
    return not is_quoted and ("/" in word or word != word.lower())


class Pages:
    """The repository's files, and the headings of its pages."""

    def __init__(self, root: pathlib.Path, files: list[str]):
        self._root = root
        self._files = set(files)
        self._headings = {}

    def find(self, word: str, cited_in: str) -> str:
        """The file that a word names; empty if there is none."""
        for folder in ("", "docs", posixpath.dirname(cited_in)):
            path = posixpath.normpath(posixpath.join(folder, word))
            if path in self._files:
                return path
        return ""

    def _headings_of(self, page: str) -> list[str]:
        if page not in self._headings:
            self._headings[page] = headings((self._root / page).read_text())
        return self._headings[page]

    def has_heading(self, page: str, heading: str) -> bool:
        return heading in self._headings_of(page)

    def has_anchor(self, page: str, name: str) -> bool:
        return name in map(anchor, self._headings_of(page))


def complaints(file: str, text: str, pages: Pages) -> list[str]:
    """The citations in a file that lead nowhere, one line each."""
    text = _URL.sub(lambda match: " " * len(match[0]), text)
    found = []

    def complain(at: int, what: str) -> None:
        found.append(f"{file}:{text.count(chr(10), 0, at) + 1}: {what}")

    for match in _WORD.finditer(text):
        word = match[1]
        if not is_citation(text, match):
            continue
        page = pages.find(word, file)
        if not page:
            complain(match.start(1), f"cites {word}, which is not a file of the repository")
            continue
        heading = _HEADING.match(text, match.end())
        if heading is None or page.endswith(".txt"):
            continue
        if heading[2]:
            if not pages.has_anchor(page, heading[2]):
                complain(match.start(1), f"cites {word}#{heading[2]}, and the page has no such heading")
            continue
        title = " ".join(re.sub(rf"\n{_BREAK}+", " ", heading[1]).replace("`", "").split())
        if not pages.has_heading(page, title):
            complain(match.start(1), f'cites {word}, "{title}", and the page has no such heading')
    if file.endswith(".md"):
        for match in _OWN_ANCHOR.finditer(text):
            if not pages.has_anchor(file, match[1]):
                complain(match.start(), f"links to #{match[1]}, and the page has no such heading")
    return found


def tracked(root: pathlib.Path, paths: list[str]) -> list[str]:
    """Tracked files and new ones, not those that git ignores."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--deduplicate", "--", *paths]
    lines = subprocess.run(command, cwd=root, stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
    return [line for line in lines if (root / line).is_file()]


def main() -> int:
    root = pathlib.Path(__file__).resolve().parent.parent
    pages = Pages(root, tracked(root, []))
    found = []
    for file in tracked(root, sys.argv[1:]):
        if DATA.search(file):
            continue
        try:
            text = (root / file).read_text()
        except UnicodeDecodeError:
            continue  # a picture, or a corpus
        found += complaints(file, text, pages)
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

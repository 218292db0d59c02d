"""The fenced blocks of a Markdown document, and what the words after the language say about each (CONTRIBUTING.md)."""

import dataclasses
import pathlib
import re

_OPENING = re.compile(r"^(?P<indent> *)(?P<fence>`{3,}|~{3,})\s*(?P<info>[^`]*)$")
_MARKED_LANGUAGES = {"sh", "bash", "cpp", "c++", "python"}
_MARKS = {
    "sh": {"run", "run-in-checkout", "run-installed", "not-run"},
    "bash": {"run", "run-in-checkout", "not-run"},
    "cpp": {"program", "not-run"},
    "c++": {"program", "not-run"},
    "python": {"program", "not-run"},
}


@dataclasses.dataclass(frozen=True)
class Snippet:
    document: pathlib.Path
    line: int  # of the opening fence
    language: str
    mark: str  # "run", "run-in-checkout", "program", "not-run" or ""
    file: str  # the path after "file=", from the repository's root, or ""
    needs: str  # the library after "needs=" that a program is linked with, or ""
    text: str

    @property
    def place(self) -> str:
        return f"{self.document}:{self.line}"

    @property
    def complaint(self) -> str:
        """What is wrong with the words after the language; empty if nothing is."""
        if self.file or self.language not in _MARKED_LANGUAGES:
            return ""
        marks = _MARKS[self.language]
        if self.mark in marks:
            return ""
        return f"{self.place}: '{self.language}' has to be followed by one of {', '.join(sorted(marks))} or file=PATH"


def read(document: pathlib.Path, text: str) -> list[Snippet]:
    """All fenced blocks of `text`, in order. An unclosed one ends with the document, as in CommonMark."""
    snippets = []
    lines = iter(enumerate(text.splitlines(), start=1))
    for number, line in lines:
        opening = _OPENING.match(line)
        if opening is None:
            continue
        body = []
        for _, inner in lines:
            if inner.strip().startswith(opening["fence"]) and not inner.strip().strip(opening["fence"][0]):
                break
            body.append(inner[len(opening["indent"]) :] if inner.startswith(opening["indent"]) else inner)
        language, *words = opening["info"].split() or [""]
        named = dict(word.split("=", 1) for word in words if "=" in word)
        mark = next((word for word in words if "=" not in word), "")
        text = "".join(f"{inner}\n" for inner in body)
        snippets.append(Snippet(document, number, language, mark, named.get("file", ""), named.get("needs", ""), text))
    return snippets

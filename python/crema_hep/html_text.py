"""Text of records as a page can hold it. Names come from anywhere: nothing of them may become markup, or be endless."""

import html
import re
import unicodedata

_SPACE = re.compile(r"\s+")
_LONGEST_NAME = 60
_LONGEST_SENTENCE = 600


def one_line(text) -> str:
    """The text, with control signs, direction signs and lone surrogates replaced; not escaped."""
    spaced = _SPACE.sub(" ", str(text))
    # categories of the Unicode standard, section 4.5: control, format (direction signs among them), surrogate
    return "".join("\ufffd" if unicodedata.category(sign) in ("Cc", "Cf", "Cs") else sign for sign in spaced)


def sentence(text) -> str:
    """Escaped, its end cut where it is too long to be read."""
    text = str(text)
    cut = text if len(text) <= _LONGEST_SENTENCE else text[:_LONGEST_SENTENCE] + "…"
    return html.escape(one_line(cut))


def name(text) -> str:
    """Escaped; of a long one the end, which tells paths apart; `(no name)` for an empty one."""
    text = "" if text is None else str(text)
    cut = text if len(text) <= _LONGEST_NAME else "…" + text[-_LONGEST_NAME:]
    return f"<bdi>{html.escape(one_line(cut)) or '(no name)'}</bdi>"

"""Where the core-seconds went, as HTML: a bar of the budget's groups, and a table that adds up."""

from . import html_text, human_numbers
from .document_fields import joined, rows
from .human_numbers import number

# Of `crema plot`, moved to where the contrast to white and to #111111 is 3 or more (WCAG 2.2, 1.4.11).
COLOURS = {
    "CPU in your code": "#3f7fc4",
    "Waiting in your code": "#b87a14",
    "Opening and reading around your code": "#8c6d46",
    "Framework and repeats": "#a4579a",
    "Idle": "#7f8896",
    "Not measured": "#6f7988",
}
_OTHER_COLOUR = COLOURS["Not measured"]


def _groups(document) -> dict:
    """{group: [(part, core-seconds)]} in the document's order, without the parts that are not known."""
    groups = {}
    for row in rows(document, "budget"):
        parts = groups.setdefault(str(row.get("group")), [])
        seconds = number(row.get("core_seconds"))
        if seconds is not None:
            parts.append((str(row.get("part")).replace("_", " "), seconds))
    return groups


def _parts(parts, total) -> str:
    if len(parts) < 2:
        return ""
    return joined(
        f"{html_text.name(part)} {human_numbers.percent(value / total)}" for part, value in parts if value > 0
    )


def _row(group, parts, total) -> str:
    seconds = sum(value for _, value in parts) if parts else None
    return (
        f'<tr><td><span class="key" style="background:{_colour(group)}"></span>{html_text.name(group)}</td>'
        f"<td>{human_numbers.duration(seconds)}</td><td>{human_numbers.part_of(seconds, total)}</td>"
        f'<td class="parts">{_parts(parts, total)}</td></tr>'
    )


def _box(group, parts, total) -> str:
    share = sum(value for _, value in parts) / total
    return f'<i style="flex:{share:.4f} 1 0;background:{_colour(group)}"></i>' if share > 0 else ""


def _colour(group) -> str:
    return COLOURS.get(group, _OTHER_COLOUR)


def budget(document, reasons) -> str:
    """`reasons`: why figures were not measured, by key."""
    groups = _groups(document)
    total = sum(value for parts in groups.values() for _, value in parts)
    title = "<h4>Where the core-seconds went</h4>"
    if not total > 0:
        reason = reasons.get("core_seconds") or "not measured"
        return f'{title}<p class="muted">Not known: {html_text.sentence(reason)}</p>'
    boxes = "".join(_box(group, parts, total) for group, parts in groups.items())
    body = "".join(_row(group, parts, total) for group, parts in groups.items())
    return (
        f'{title}<div class="bar">{boxes}</div><div class="wide"><table>'
        f"<thead><tr><th></th><th>core-seconds</th><th>share</th><th></th></tr></thead><tbody>{body}</tbody></table></div>"
    )

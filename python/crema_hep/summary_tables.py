"""Tables of a measurement's summary as HTML: sections, datasets, workers, cuts; the first rows of each."""

from . import html_text, human_numbers
from .document_fields import rows
from .human_numbers import number

_MOST_ROWS = 10


def _section_name(row) -> str:
    return html_text.name(row.get("path")) + (" (helper)" if row.get("helper") is True else "")


def _order_of_section(row):
    """The slowest first; then what is in no section, and helpers, whose time is none of the chunks'."""
    return row.get("helper") is True, row.get("path") == "(other)", -(number(row.get("self")) or 0)


_COLUMNS = {
    "sections": (
        ("section", _section_name),
        ("calls", lambda row: human_numbers.count(row.get("count"))),
        ("own time", lambda row: human_numbers.duration(row.get("self"))),
        ("share", lambda row: human_numbers.percent(row.get("share"))),
        ("CPU", lambda row: human_numbers.part_of(row.get("cpu"), row.get("total"))),
        ("failed", lambda row: human_numbers.count(row.get("failed"))),
    ),
    "datasets": (
        ("dataset", lambda row: html_text.name(row.get("name"))),
        ("chunks", lambda row: human_numbers.count(row.get("chunks"))),
        ("failed", lambda row: human_numbers.count(row.get("failed"))),
        ("lost", lambda row: human_numbers.count(row.get("lost"))),
        ("events", lambda row: human_numbers.count(row.get("events"))),
        ("read", lambda row: human_numbers.data(row.get("bytes_read"))),
        ("busy", lambda row: human_numbers.duration(row.get("duration_sum"))),
        ("rate", lambda row: human_numbers.rate(row.get("event_rate"))),
        ("blocked", lambda row: human_numbers.part_of(row.get("blocked_sum"), row.get("duration_sum"))),
        ("median", lambda row: human_numbers.duration(row.get("duration_p50"))),
        ("p95", lambda row: human_numbers.duration(row.get("duration_p95"))),
    ),
    "workers": (
        ("worker", lambda row: html_text.name(row.get("name"))),
        ("cores", lambda row: human_numbers.count(row.get("cores"))),
        ("peak memory", lambda row: human_numbers.memory(row.get("peak_memory_bytes"))),
        ("limit", lambda row: human_numbers.memory(row.get("memory_limit_bytes"))),
        ("chunks", lambda row: human_numbers.count(row.get("chunks"))),
        ("failed", lambda row: human_numbers.count(row.get("failed"))),
        ("lost", lambda row: human_numbers.count(row.get("lost"))),
        ("events", lambda row: human_numbers.count(row.get("events"))),
        ("busy", lambda row: human_numbers.duration(row.get("duration_sum"))),
        ("rate", lambda row: human_numbers.rate(row.get("event_rate"))),
    ),
    "cuts": (
        ("cut", lambda row: html_text.name(row.get("name"))),
        ("events", lambda row: human_numbers.count(row.get("events"))),
        ("of the step before", lambda row: human_numbers.percent(row.get("step_efficiency"))),
        ("of all", lambda row: human_numbers.percent(row.get("total_efficiency"))),
    ),
}
_TITLES = {
    "sections": "Sections inside a chunk, slowest first",
    "datasets": "Datasets",
    "workers": "Workers",
    "cuts": "Cut flow",
}


def _table(document, name) -> str:
    found = rows(document, name)
    if not found:
        return ""
    if name == "sections":
        found = sorted(found, key=_order_of_section)
    columns = _COLUMNS[name]
    head = "".join(f"<th>{title}</th>" for title, _ in columns)
    body = "".join(f"<tr>{''.join(f'<td>{text(row)}</td>' for _, text in columns)}</tr>" for row in found[:_MOST_ROWS])
    further = len(found) - _MOST_ROWS
    more = f'<p class="muted">{further} more in <code>.table("{name}")</code></p>' if further > 0 else ""
    return (
        f"<details{' open' if name == 'sections' else ''}><summary>{_TITLES[name]} ({len(found)})</summary>"
        f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>{more}</details>'
    )


def tables(document) -> str:
    """Those that have rows, folded but for the sections."""
    return "".join(_table(document, name) for name in _COLUMNS)

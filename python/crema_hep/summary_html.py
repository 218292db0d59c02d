"""A measurement's summary as HTML for a notebook: the verdict, key figures, where the core-seconds went, tables.

Made of the document alone: no script, nothing that is loaded. A notebook does not tell whether it is light or dark, so
text has its colour, and what has a colour of its own is readable on both.
"""

import datetime

from . import html_text, human_numbers
from .document_fields import dictionary, joined, rows
from .human_numbers import number
from .summary_budget import budget
from .summary_figures import figures
from .summary_tables import tables

_MOST_FINDINGS = 3  # more than three things to do are none
_MOST_WARNINGS = 3

SEVERITIES = {"bad": ("✕ bad", "#d64545"), "warning": ("▲ watch", "#b87a14"), "good": ("✓ good", "#1f9a6e")}
_NOTE = ("· note", "#6f7988")

_STYLE = """
.crema{max-width:1000px;font:13px/1.45 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;
 font-variant-numeric:tabular-nums;text-align:left}
.crema p{margin:0}
.crema .headline{font-size:16px;font-weight:600;line-height:1.4}
.crema .muted,.crema small{opacity:.72}
.crema small{font-size:12px}
.crema .figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(195px,1fr));gap:8px;margin:12px 0}
.crema .figures>div{border:1px solid rgba(128,128,128,.35);border-radius:6px;padding:7px 10px}
.crema .figures b{display:block;font-size:19px;font-weight:600;line-height:1.35}
.crema .finding{border-left:3px solid;padding:1px 0 1px 10px;margin:7px 0}
.crema h4{font-size:13px;font-weight:600;margin:14px 0 6px}
.crema .bar{display:flex;gap:2px;height:14px;margin:0 0 6px}
.crema .bar i{display:block;border-radius:2px}
.crema .key{display:inline-block;width:10px;height:10px;border-radius:2px;margin-right:7px}
.crema details{margin:8px 0}
.crema summary{cursor:pointer;font-weight:600}
.crema .wide{overflow-x:auto}
.crema.crema table td.parts{text-align:left;opacity:.72;font-size:12px}
.crema table{border-collapse:collapse;border:0;margin:4px 0;font-size:13px;color:inherit}
.crema table th,.crema table td{border:0;padding:3px 14px 3px 0;text-align:right;white-space:nowrap;background:none}
.crema table th:first-child,.crema table td:first-child{text-align:left}
.crema table thead th{font-weight:400;opacity:.72;border-bottom:1px solid rgba(128,128,128,.45)}
.crema.crema table tbody tr{background:none}
.crema table tbody td{border-bottom:1px solid rgba(128,128,128,.18)}
"""


# The head: the verdict, then what it is said of.


def _time(nanoseconds) -> str:
    try:
        moment = datetime.datetime.fromtimestamp(number(nanoseconds) / 1e9, datetime.timezone.utc)
    except (TypeError, ValueError, OverflowError, OSError):
        return ""
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC"


def _state(run) -> str:
    state, status = run.get("state"), number(run.get("exit_status"))
    if state == "killed":
        return "✕ killed"
    if state == "running":
        return "▲ running"
    if status:
        return f"✕ exit status {status:.0f}"
    return "✓ finished" if state == "finished" else "state unknown"


def _on_what(document, metrics) -> str:
    workers, cores = number(metrics.get("peak_workers")), number(metrics.get("cores_per_worker"))
    if workers is None:
        return ""
    text = human_numbers.counted(workers, "worker", "workers")
    if cores is not None:
        text += f" × {human_numbers.counted(cores, 'core', 'cores')}"
    hosts = len(rows(document, "hosts"))
    return text + (f" on {human_numbers.counted(hosts, 'host', 'hosts')}" if hosts else "")


def _head(document, run, metrics) -> str:
    headline = html_text.sentence(document.get("headline") or "This measurement has no verdict.")
    run_name = html_text.name(run.get("name") or run.get("id"))
    facts = joined([run_name, _state(run), _time(run.get("start_ns")), _on_what(document, metrics)])
    return f'<p class="headline">{headline}</p><p class="muted">{facts}</p>'


# What to look at.


def _finding(verdict) -> str:
    word, colour = SEVERITIES.get(str(verdict.get("severity")), _NOTE)
    saving = number(verdict.get("saving"))
    worth = "" if saving is None else f" · ≈ {human_numbers.percent(saving)} of the core-seconds"
    return (
        f'<div class="finding" style="border-left-color:{colour}"><b>{word}</b>{worth}'
        f"<p>{html_text.sentence(verdict.get('sentence') or '')}</p>"
        f'<p class="muted">{html_text.sentence(verdict.get("suggestion") or "")}</p></div>'
    )


def _findings(document) -> str:
    verdicts = rows(document, "verdicts")
    if not verdicts:
        return '<p class="muted">Nothing stands out in what was measured.</p>'
    further = len(verdicts) - _MOST_FINDINGS
    more = f'<p class="muted">{further} more in <code>.verdicts</code></p>' if further > 0 else ""
    return "".join(map(_finding, verdicts[:_MOST_FINDINGS])) + more


# Whether to believe it.


_COUNTS = (
    ("records_read", "record read", "records read"),
    ("records_dropped", "record dropped", "records dropped"),
    ("records_lost", "record of an ended chunk lost", "records of ended chunks lost"),
    ("records_malformed", "malformed line", "malformed lines"),
    ("processes_lost", "process lost", "processes lost"),
)


def _trust(quality) -> str:
    warnings = quality.get("warnings")
    warnings = warnings if isinstance(warnings, list) else []
    counts = [(number(quality.get(key)), singular, plural) for key, singular, plural in _COUNTS]
    items = [human_numbers.counted(*count) for count in counts if count[0] is not None]
    for number_of, singular, plural in (
        (len(dictionary(quality.get("not_measured"))), "figure not measured", "figures not measured"),
        (len(warnings) - _MOST_WARNINGS, "further warning", "further warnings"),
    ):
        if number_of > 0:
            items.append(human_numbers.counted(number_of, singular, plural))
    lines = "".join(f"<p>▲ {html_text.sentence(line)}</p>" for line in warnings[:_MOST_WARNINGS])
    told = joined(items) or "Nothing is known about the quality of the records"
    return f'<h4>Can I trust this?</h4>{lines}<p class="muted">{told} (<code>.quality</code>)</p>'


def page(document) -> str:
    """The summary of a measurement's document. Whatever is missing in it is a dash with its reason, or left out."""
    run, metrics, quality = (dictionary(document.get(part)) for part in ("run", "metrics", "quality"))
    reasons = dictionary(quality.get("not_measured"))
    head = f"<style>{_STYLE}</style>{_head(document, run, metrics)}"
    body = f"{figures(document, metrics, reasons)}{_findings(document)}{budget(document, reasons)}{tables(document)}"
    return f'<div class="crema">{head}{body}{_trust(quality)}</div>'

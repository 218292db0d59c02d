"""The eight figures that say how a run went, as tiles of HTML; their exact values are in the tiles' titles."""

from . import html_text, human_numbers
from .document_fields import dictionary, joined, rows
from .human_numbers import number


def _figure(metrics, label, key, text, notes=(), scale=1):
    """(label, key, its value as text or None, note). `notes`: (key, text of its value), of what was measured."""
    value = number(metrics.get(key))
    told = [(number(metrics.get(other)), text_of) for other, text_of in notes]
    note = joined(text_of(other) for other, text_of in told if other is not None)
    return label, key, None if value is None else text(value * scale), note


def _blocked(metrics):
    label, key, text, _ = _figure(metrics, "Blocked in code", "io_overhead_pct", human_numbers.percent, scale=0.01)
    cpu_wait = human_numbers.part_of(metrics.get("chunk_cpu_wait"), metrics.get("busy_time"))
    return label, key, text, "" if cpu_wait == human_numbers.NOT_MEASURED else f"CPU wait {cpu_wait}"


def _peak_memory(workers, metrics):
    """With the worker that came closest to its limit."""
    label, key, text, _ = _figure(metrics, "Peak memory", "peak_memory_bytes", human_numbers.memory)
    of_process = number(metrics.get("process_peak_rss_bytes"))
    if text is None and of_process is not None:
        return label, "process_peak_rss_bytes", human_numbers.memory(of_process), "largest process"
    found = [(number(row.get("peak_memory_bytes")), number(row.get("memory_limit_bytes")), row) for row in workers]
    limited = [(peak / limit, limit, row) for peak, limit, row in found if peak is not None and (limit or 0) > 0]
    if text is None or not limited:
        return label, key, text, ""
    share, limit, row = max(limited, key=lambda worker: worker[0])
    note = f"{human_numbers.percent(share)} of {human_numbers.memory(limit)} on {html_text.name(row.get('name'))}"
    return label, key, text, note


def _failed_attempts(run, metrics):
    label, key = "Failed attempts", "num_failed_attempts"
    failed, attempts = number(metrics.get(key)), number(metrics.get("num_attempts"))
    if failed is None or attempts is None:
        return label, key, None, ""
    without_result = failed + (number(metrics.get("num_lost_attempts")) or 0)
    unfinished = None if run.get("state") == "running" else number(metrics.get("num_unfinished_chunks"))
    note = f"{human_numbers.counted(unfinished, 'chunk', 'chunks')} without result" if unfinished else ""
    return label, key, f"{human_numbers.count(without_result)} of {human_numbers.count(attempts)}", note


def _key_figures(document, metrics) -> list:
    shown = human_numbers
    ideal = ("ideal_wall_time", lambda value: f"ideal {shown.duration(value)}")
    events = ("total_events", lambda value: f"{shown.count(value)} events")
    per_core = ("event_rate_core_hz", lambda value: f"{shown.rate(value)} per core")
    read = ("bytes_read_compressed", lambda value: f"{shown.data(value)} read")
    ratio = ("compression_ratio", lambda value: f"compressed {value:.2f}×")
    site = ("job_cpu_efficiency", lambda value: f"the site sees {shown.percent(value)}")
    return [
        _figure(metrics, "Elapsed", "wall_time", shown.duration, [ideal]),
        _figure(metrics, "Event rate", "event_rate_wall_khz", shown.rate, [events, per_core], scale=1000),
        _figure(metrics, "Data rate", "overall_rate_gbps", shown.bit_rate, [read, ratio]),
        _figure(metrics, "CPU efficiency", "cpu_efficiency", shown.percent, [site]),
        _blocked(metrics),
        _peak_memory(rows(document, "workers"), metrics),
        _figure(metrics, "Balance", "balance", shown.percent),
        _failed_attempts(dictionary(document.get("run")), metrics),
    ]


def figures(document, metrics, reasons) -> str:
    definitions = dictionary(document.get("definitions"))
    tiles = ""
    for label, key, text, note in _key_figures(document, metrics):
        if text is None:
            text, note = human_numbers.NOT_MEASURED, html_text.sentence(reasons.get(key) or "not measured")
        definition = dictionary(definitions.get(key)).get("text") or ""
        exact = f"metrics['{key}'] = {metrics.get(key)}"
        tiles += (
            f'<div title="{html_text.sentence(f"{exact}: {definition}")}"><span class="muted">{label}</span>'
            f"<b>{html_text.sentence(text)}</b><small>{note}</small></div>"
        )
    return f'<div class="figures">{tiles}</div>'

"""Figures as people read them, by the program's rules: three significant digits, a unit, one space between.

Bytes of memory are in powers of 1024, data read in powers of 1000. What is no finite number is a dash: not measured.
"""

import math

NOT_MEASURED = "–"


def number(value):
    """The value as a float where it is a finite number, else None: documents may have been written by anybody."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        value = float(value)
    except OverflowError:
        return None
    return value if math.isfinite(value) else None


def _shows(text_of):
    """Makes a dash of what is no number."""

    def shown(value):
        value = number(value)
        return NOT_MEASURED if value is None else text_of(value)

    shown.__doc__ = text_of.__doc__
    return shown


def _three_digits(value) -> str:
    size = abs(value)
    return f"{value:.{0 if size >= 99.95 else 1 if size >= 9.995 else 2}f}"


def _is_whole(value) -> bool:
    """But for what a sum of doubles leaves behind."""
    return abs(value - round(value)) <= 1e-9 * abs(value)


def _scaled(value, base, units) -> str:
    for unit in units:
        # 999.6 would be printed as "1000": it belongs to the next unit
        if abs(value) < base - 0.5 or unit == units[-1]:
            break
        value /= base
    return f"{f'{value:.0f}' if _is_whole(value) else _three_digits(value)} {unit}".rstrip()


@_shows
def duration(seconds) -> str:
    """`45.0 µs`, `120 ms`, `5.97 s`, `6 m 17 s`, `3 h 20 m 56 s`, `2 d 03 h 20 m`."""
    if seconds < 0:
        return "-" + duration(-seconds)
    if seconds == 0:
        return "0 s"
    for unit, scale in (("ns", 1e9), ("µs", 1e6), ("ms", 1e3)):
        if seconds * scale < 999.5:
            return f"{_three_digits(seconds * scale)} {unit}"
    if seconds < 59.95:
        return f"{_three_digits(seconds)} s"
    total = math.floor(seconds + 0.5)
    days, hours, minutes, rest = total // 86400, total // 3600 % 24, total // 60 % 60, total % 60
    if days > 0:
        return f"{days} d {hours:02} h {minutes:02} m"
    return f"{hours} h {minutes:02} m {rest:02} s" if hours > 0 else f"{minutes} m {rest:02} s"


@_shows
def count(value) -> str:
    """Exact below 100,000 (`2 255`), else scaled (`553 k`); fractions keep three digits."""
    if abs(value) >= 99999.5:
        return _scaled(value, 1000, ("", "k", "M", "G", "T", "P"))
    if _is_whole(value) or abs(value) >= 99.95:
        return f"{math.floor(value + 0.5):,}".replace(",", " ")
    return _three_digits(value)


def counted(value, singular, plural) -> str:
    """A count with its noun: `1 chunk`, `2 255 chunks`."""
    return f"{count(value)} {singular if value == 1 else plural}"


@_shows
def rate(per_second) -> str:
    """`553 k/s`, `0.52/s`."""
    return _scaled(per_second, 1000, ("", "k", "M", "G", "T")) + "/s"


@_shows
def memory(bytes_) -> str:
    """`3.61 GiB`."""
    return _scaled(bytes_, 1024, ("B", "KiB", "MiB", "GiB", "TiB", "PiB"))


@_shows
def data(bytes_) -> str:
    """`283 GB`."""
    return _scaled(bytes_, 1000, ("B", "kB", "MB", "GB", "TB", "PB"))


@_shows
def bit_rate(gigabits_per_second) -> str:
    """`6.03 Gbit/s`."""
    return _scaled(gigabits_per_second * 1e9, 1000, ("bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s"))


@_shows
def percent(share) -> str:
    """A share (0 to 1) as `65.3 %`."""
    return f"{share * 100:.1f} %"


def part_of(part, whole) -> str:
    """A part as a share of the whole; a dash where one of them is not known."""
    part, whole = number(part), number(whole)
    return NOT_MEASURED if part is None or not whole else percent(part / whole)

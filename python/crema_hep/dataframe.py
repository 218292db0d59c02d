"""Converts rows to a pandas DataFrame. Every number in it is exactly what the program wrote.

Rows are read one after another, and columns of numbers are arrays from the start. So a million chunks need little more
memory than the finished frame.
"""

import array
import math

_LARGEST_EXACT = 2**53  # beyond this, a double cannot hold every integer
_INT64 = range(-(2**63), 2**63)
_MOST_TEXTS = 100_000  # how many texts are kept once: names of files, datasets, workers


class _Column:
    """Values of one field: an array of integers (`q`) or doubles (`d`) as long as all values fit, else a list."""

    def __init__(self, rows) -> None:
        self.values = None  # nothing but None so far
        self.missing = bytearray(b"\1" * rows)

    def add(self, value, texts) -> None:
        kind = type(value)
        self.missing.append(value is None)
        if self.values is None:
            if value is None:
                return
            before = len(self.missing) - 1
            if kind is int and value in _INT64:
                self.values = array.array("q", bytes(8 * before))
            elif kind is float:
                self.values = array.array("d", [math.nan]) * before
            else:
                self.values = [None] * before
        if type(self.values) is array.array and not self._fits(value, kind):
            self.values = [None if gone else known for known, gone in zip(self.values, self.missing)]
        if type(self.values) is list:
            self.values.append(texts.setdefault(value, value) if kind is str and len(texts) < _MOST_TEXTS else value)
        elif self.values.typecode == "q":
            self.values.append(0 if value is None else value)
        else:
            self.values.append(math.nan if value is None else value)

    def _fits(self, value, kind) -> bool:
        """Whether the array can hold the value. If it is a double, first converts integers to doubles, unless this
        rounds one."""
        if value is None:
            return True
        if self.values.typecode == "q" and kind is float and all(abs(known) <= _LARGEST_EXACT for known in self.values):
            numbers = (math.nan if gone else known for known, gone in zip(self.values, self.missing))
            self.values = array.array("d", numbers)
        if self.values.typecode == "q":
            return kind is int and value in _INT64
        return kind is float or (kind is int and abs(value) <= _LARGEST_EXACT)

    def finished(self, pandas, numpy):
        """The column for pandas. pandas would convert integers with gaps to doubles, and so round times in nanoseconds
        since 1970."""
        if self.values is None:
            return pandas.Series([None] * len(self.missing), dtype=object)
        if type(self.values) is list:
            integers = [value for value in self.values if type(value) is int]
            is_exact = all(abs(value) <= _LARGEST_EXACT for value in integers)
            return pandas.Series(self.values) if is_exact else pandas.Series(self.values, dtype=object)
        if self.values.typecode == "d":
            return numpy.frombuffer(self.values, dtype="float64")
        values = numpy.frombuffer(self.values, dtype="int64")
        missing = numpy.frombuffer(self.missing, dtype=bool)
        return pandas.arrays.IntegerArray(values, missing) if missing.any() else values


def dataframe(rows):
    """A DataFrame with a column for each field; None is a missing value. `rows`: an iterable of dictionaries. Raises
    ImportError if pandas is not installed."""
    try:
        import numpy
        import pandas
    except ImportError as error:
        raise ImportError(
            "crema: a DataFrame needs pandas: pip install pandas; without it, table(name) is a list of dictionaries"
        ) from error
    columns, texts = {}, {}
    for number, row in enumerate(rows):
        for field in row:
            if field not in columns:
                columns[field] = _Column(number)
        for field, column in columns.items():
            column.add(row.get(field), texts)
    finished = {}
    while columns:  # each is freed when it is finished
        field = next(iter(columns))
        finished[field] = columns.pop(field).finished(pandas, numpy)
    return pandas.DataFrame(finished, copy=False)

"""Rows as a pandas DataFrame, in which every number is the one that the program wrote."""

_LARGEST_EXACT = 2**53  # beyond it a double no longer counts in ones
_INT64 = range(-(2**63), 2**63)


def _column(pandas, values):
    """Times are nanoseconds since 1970: as doubles, which pandas makes of integers with gaps, they would be rounded."""
    integers = [value for value in values if type(value) is int]
    others = [value for value in values if value is not None and type(value) is not int]
    if integers and not others and all(value in _INT64 for value in integers):
        return pandas.array(values, dtype="Int64" if None in values else "int64")
    if any(abs(value) > _LARGEST_EXACT for value in integers):
        return pandas.Series(values, dtype=object)
    return values


def dataframe(rows):
    """One column a field; None is a missing value. Raises ImportError where pandas is not installed."""
    try:
        import pandas
    except ImportError as error:
        raise ImportError(
            "crema: a DataFrame needs pandas: pip install pandas; without it, table(name) is a list of dictionaries"
        ) from error
    fields = dict.fromkeys(field for row in rows for field in row)
    return pandas.DataFrame({field: _column(pandas, [row.get(field) for row in rows]) for field in fields})

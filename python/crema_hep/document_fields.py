"""Parts of a measurement's document for showing: what is missing, or is not what it should be, is empty."""


def dictionary(value) -> dict:
    """The value where it is a dictionary."""
    return value if isinstance(value, dict) else {}


def rows(document, name) -> list:
    """The rows of a table."""
    found = document.get(name)
    return [row for row in found if isinstance(row, dict)] if isinstance(found, list) else []


def joined(parts) -> str:
    """The parts that are there, in a line."""
    return " · ".join(part for part in parts if part)

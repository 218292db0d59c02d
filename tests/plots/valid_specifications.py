"""Validates Vega-Lite specifications with the published schemas. Runs in a Python that has jsonschema and vl-convert.

    python valid_specifications.py SCHEMAS DIRECTORY

Prints one line for each fault.
"""

import json
import pathlib
import sys

import jsonschema
import vl_convert

ROWS_KEPT = 3  # of inline data: the schema says nothing of the others that it does not say of these


def without_rows(value):
    """The specification with the first rows of its data."""
    if isinstance(value, dict):
        return {
            key: rows[:ROWS_KEPT]
            if key == "values" and isinstance(rows, list) and key_is_data(value)
            else without_rows(rows)
            for key, rows in value.items()
        }
    return [without_rows(child) for child in value] if isinstance(value, list) else value


def key_is_data(value) -> bool:
    return set(value) == {"values"}


def main() -> None:
    schemas, directory = map(pathlib.Path, sys.argv[1:])
    validators = {}
    for path in sorted(schemas.glob("*.json")):
        schema = json.loads(path.read_text())
        validators[path.stem] = jsonschema.validators.validator_for(schema)(schema)
    if len(validators) < 2:
        sys.exit(f"{schemas}: the schemas of two versions should be here")
    for path in sorted(directory.glob("*.json")):
        text = path.read_text()
        specification = without_rows(json.loads(text))
        for name, validator in validators.items():
            fault = jsonschema.exceptions.best_match(validator.iter_errors(specification))
            if fault is not None:
                print(f"{path.name}: {name}: {'/'.join(map(str, fault.absolute_path))}: {fault.message[:200]}")
        for version in vl_convert.get_vegalite_versions()[-1:]:
            vl_convert.vegalite_to_vega(text, vl_version=version)


if __name__ == "__main__":
    main()

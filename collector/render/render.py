"""Turns Vega-Lite specifications into pictures: one process for all of them, because starting the renderer is slow.

    python -c SCRIPT JOBS_FILE

JOBS_FILE is a JSON list of {"spec": path, "picture": path, "format": "png" | "svg" | "pdf"}. For each job a line goes
to stdout: empty where it went well, else why not. Exit status 42: this Python has no vl-convert-python.
"""

import json
import sys

PIXELS_PER_UNIT = 2  # for screens of today, and for slides


def render(converter, job: dict) -> bytes:
    with open(job["spec"], encoding="utf-8") as file:
        specification = file.read()
    if job["format"] == "png":
        return converter.vegalite_to_png(specification, scale=PIXELS_PER_UNIT)
    if job["format"] == "pdf":
        return converter.vegalite_to_pdf(specification)
    return converter.vegalite_to_svg(specification).encode("utf-8")


def main() -> None:
    try:
        import vl_convert
    except ImportError:
        sys.exit(42)
    with open(sys.argv[1], encoding="utf-8") as file:
        jobs = json.load(file)
    for job in jobs:
        try:
            picture = render(vl_convert, job)
            with open(job["picture"], "wb") as file:
                file.write(picture)
            print("")
        except (OSError, ValueError) as error:
            print(" ".join(str(error).split()) or type(error).__name__)
        sys.stdout.flush()


if __name__ == "__main__":
    main()

"""Writes the files of the live page into a C++ source: embed_files.py OUT FILE..."""

import pathlib
import sys

TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
}
PIECE = 8000  # compilers promise 65,536 characters for a literal; a few thousand are safe everywhere


def literal(text):
    pieces = [text[at : at + PIECE] for at in range(0, len(text), PIECE)]
    return "\n    ".join(f'R"page({piece})page"' for piece in pieces)


def main(out, *paths):
    files = []
    for path in map(pathlib.Path, paths):
        text = path.read_text(encoding="utf-8")
        served_as = "/" if path.name == "index.html" else f"/{path.name}"
        files.append(f'    {{"{served_as}", "{TYPES[path.suffix]}",\n    {literal(text)}}},\n')
    pathlib.Path(out).write_text(
        '#include "collector/server/live_service.h"\n\nnamespace crema {\nnamespace {\n\n'
        "constexpr ServedFile kFiles[] = {\n" + "".join(files) + "};\n\n}  // namespace\n\n"
        "absl::Span<const ServedFile> ServedFiles() { return kFiles; }\n\n}  // namespace crema\n",
        encoding="utf-8",
    )


main(*sys.argv[1:])

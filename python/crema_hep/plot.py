"""Figures of a measurement: shows the Vega-Lite specifications of `crema plot` in a notebook."""

import base64
import difflib
import importlib.util
import json
import os
import pathlib
import re
import sys
import tempfile
import unicodedata

from . import program

_NOT_DRAWN = ": not drawn: "
_SVG, _PNG = "image/svg+xml", "image/png"
_LARGEST_SVG = 1_000_000  # characters, because the notebook stores them; 12,000 boxes take four times as many
# The program writes this file if there is no renderer; here it is in a temporary directory.
_WROTE_INSTEAD = re.compile(r"; wrote Vega-Lite specifications instead, [^;]*")
_LONGEST_NAME = 60


def names(document) -> list:
    """The figures that crema can draw of this document, without `compare_<metric>`, which exists for each metric.

    Raises ProgramError if the program is missing.
    """
    kinds = [line.split()[0] for line in program.run("plot", "--list").splitlines() if line.strip()]
    recorded = dict.fromkeys(row.get("name") for row in document.get("custom_metrics") or ())
    return [kind for kind in kinds if "<" not in kind] + [f"custom_{metric}" for metric in recorded]


def _short(name) -> str:
    """The text in one line, cut, with control characters, direction marks and lone surrogates replaced."""
    spaced = " ".join((name if len(name) <= _LONGEST_NAME else name[:_LONGEST_NAME] + "…").split())
    # categories of the Unicode standard, section 4.5: control, format (with direction marks), surrogate
    return "".join("\ufffd" if unicodedata.category(sign) in ("Cc", "Cf", "Cs") else sign for sign in spaced)


def _check_name(name, document) -> None:
    """Raises ValueError for an unknown name, with similar names, or with all known names."""
    known = names(document)
    compared = [f"compare_{metric}" for metric in document.get("metrics") or ()]
    if name in known or name in compared:
        return
    near = [_short(found) for found in difflib.get_close_matches(str(name), known + compared, n=3)]
    every = [_short(found) for found in known] + ["compare_<metric>"]
    hint = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(every)}"
    raise ValueError(f"crema: no plot is called {_short(str(name))!r}: {hint}")


def _renderer() -> list:
    """The kernel's own Python, if it can draw: the program does not know which Python started it."""
    named = os.environ.get("CREMA_PLOT_PYTHON")
    if not named and importlib.util.find_spec("vl_convert") is not None:
        named = sys.executable
    return ["--python", named] if named else []


class Plot:
    """One figure. A notebook draws its specification, or shows the SVG if it cannot.

    `spec` is the Vega-Lite specification with its data, a dictionary. If the measurement has no figures for it, `spec`
    is None, and `reason` says why.
    """

    def __init__(self, source, name, options=()):
        self.name = name
        self.spec = None
        self.reason = None
        self._arguments = ["plot", source, name, "-q", *options]
        self._pictures = {}
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "figure.json")
            try:
                program.run(*self._arguments, "-o", path)
            except program.ProgramError as error:
                if _NOT_DRAWN not in str(error):
                    raise
                self.reason = str(error).rpartition(_NOT_DRAWN)[2]
            else:
                self.spec = json.loads(path.read_text(encoding="utf-8"))

    def save(self, path) -> pathlib.Path:
        """Writes a .png, .svg, .pdf or .json; only .json needs no vl-convert. Raises ProgramError if it fails."""
        if self.reason is not None:
            raise program.ProgramError(f"crema: {self._summary()}")
        program.run(*self._arguments, *_renderer(), "-o", path)
        return pathlib.Path(path)

    def svg(self) -> str:
        """The figure as SVG. Raises ProgramError with the reason if there is none."""
        return self._drawn("svg").decode("utf-8")

    def _drawn(self, kind) -> bytes:
        if kind not in self._pictures:
            with tempfile.TemporaryDirectory() as folder:
                try:
                    self._pictures[kind] = self.save(pathlib.Path(folder, f"figure.{kind}")).read_bytes()
                except program.ProgramError as error:
                    raise program.ProgramError(_WROTE_INSTEAD.sub("", str(error))) from None
        return self._pictures[kind]

    def _picture(self) -> dict:
        """The picture for programs that do not draw specifications: the SVG, or the PNG if the SVG is large."""
        svg = self.svg()
        if len(svg) <= _LARGEST_SVG:
            return {_SVG: svg}
        return {_PNG: base64.b64encode(self._drawn("png")).decode("ascii")}

    def _summary(self) -> str:
        if self.reason is not None:
            return f"{_short(self.name)}{_NOT_DRAWN}{self.reason}"
        return f"{_short(self.name)}: {self.spec.get('description', '')}"

    def _mime_type(self) -> str:
        major = re.search(r"/vega-lite/v(\d+)", self.spec["$schema"])[1]
        return f"application/vnd.vegalite.v{major}+json"

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict:
        """IPython calls this: https://ipython.readthedocs.io/en/stable/config/integrating.html."""
        bundle = {"text/plain": self._summary()}
        if self.spec is None:
            return bundle
        bundle[self._mime_type()] = self.spec
        if {_SVG, _PNG} & set(include or (_SVG, _PNG)) - set(exclude or ()):
            try:
                bundle.update(self._picture())
            except program.ProgramError as error:
                bundle["text/plain"] += f"\nno picture: {error}"
        return bundle

    def __repr__(self):
        return f"<crema plot {self._summary()}>"


def draw(source, document, name, theme="light", baseline=None) -> Plot:
    """The figure `name` of a source whose document this is. Raises ValueError for an unknown name or theme."""
    _check_name(name, document)
    if theme not in ("light", "dark"):
        raise ValueError(f"crema: no theme is called {theme!r}: there are light and dark")
    options = ["--theme", theme]
    if baseline is not None:
        options += ["--baseline", baseline]
    return Plot(source, name, options)

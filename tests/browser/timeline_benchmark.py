"""How smoothly the report's timeline zooms and moves in a headless Chromium: the time from frame to frame.

    python3 tests/browser/timeline_benchmark.py                     100,000 rectangles of its own
    python3 tests/browser/timeline_benchmark.py report.html...      pages that `crema report` wrote

Each frame changes the view once, so that it is drawn anew. A screen shows a frame each 16.7 ms; below 50 ms a movement
still looks continuous. The browser has no GPU here: where there is one, it is faster.
"""

import argparse
import json
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

CHECKOUT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(pathlib.Path(__file__).parent))
sys.path.insert(0, str(CHECKOUT))

from webdriver import Browser  # noqa: E402

from collector.cli import invented_run  # noqa: E402

CREMA = CHECKOUT / "bazel-bin/collector/cli/crema"
ROWS = 200
RECTANGLES = 100_000
LIMIT_MS = 50

# a wheel turn a frame: with Ctrl zooms around the middle, with Shift moves
MEASURE = """
const canvas = document.getElementById("timeline-canvas"), [frames, kind] = arguments, done = arguments[2];
const box = canvas.getBoundingClientRect(), times = [];
let last = 0;
function frame(now) {
  if (last) times.push(now - last);
  last = now;
  if (times.length === frames) return done(times);
  const turn = times.length < frames / 2 ? -1 : 1;
  canvas.dispatchEvent(new WheelEvent("wheel", {
    deltaY: kind === "move" ? 8 * turn : turn, ctrlKey: kind === "zoom", shiftKey: kind === "move", cancelable: true,
    clientX: box.left + box.width / 2, clientY: box.top + 100,
  }));
  requestAnimationFrame(frame);
}
requestAnimationFrame(frame);
"""


def made_page(folder):
    """A small run's page whose timeline data are replaced: as many chunks on as many rows."""
    invented_run.write_run(str(folder / "records"))
    subprocess.run([CREMA, "report", folder / "records", "-o", folder / "small.html", "-q"], check=True)
    html = (folder / "small.html").read_text()
    pattern = re.compile(r'(<script type="application/json" id="timeline-data">)(.*?)(</script>)', re.DOTALL)
    data = json.loads(pattern.search(html).group(2))
    length = 3600 / (RECTANGLES / ROWS)
    starts = sorted((round(1e6 * length * (i // ROWS)) + 17 * (i % ROWS), i % ROWS) for i in range(RECTANGLES))
    before = [0] + [start for start, _ in starts[:-1]]
    column = data["a"]
    columns = {name: [0] * RECTANGLES for name in column}
    columns |= {
        "row": [row for _, row in starts],
        "start": [start - last for (start, _), last in zip(starts, before, strict=True)],
        "dur": [round(1e6 * length * (0.5 + 0.4 * (i * 7919 % 100) / 100)) for i in range(RECTANGLES)],
        "ds": [i * 31 % len(data["datasets"]) for i in range(RECTANGLES)],
        "wait": [i * 17 % 100 for i in range(RECTANGLES)],
        "turn": [1] * RECTANGLES,
        "events": [100] * RECTANGLES,
        "entry": [-1] * RECTANGLES,
        "expected": [-1] * RECTANGLES,
        "sections": [],
    }
    rows = [[i // 4, i % 4, f"node{i // 4}", 1] for i in range(ROWS)]
    data |= {"unit": 1e-6, "from": 0, "to": 3600, "rows": rows, "a": columns, "boxes": [], "runs": [], "exact": True}
    page = folder / "made.html"
    page.write_text(pattern.sub(lambda match: match[1] + json.dumps(data) + match[3], html))
    return page


def measure(browser, page, frames):
    browser.open(page)
    browser.run("document.getElementById('timeline-canvas').scrollIntoView({ block: 'start', behavior: 'instant' })")
    lines = []
    for kind in ("zoom", "move"):
        times = browser.run_async(MEASURE, frames, kind)
        middle, late = statistics.median(times), statistics.quantiles(times, n=20)[-1]
        lines.append(
            f"{kind}: {middle:.0f} ms a frame (median), {late:.0f} ms (p95), {late / LIMIT_MS:.2f} of the limit"
        )
    complaints = browser.console()
    if complaints:
        sys.exit(f"{page}: {complaints[0]}")
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", nargs="*", type=pathlib.Path)
    parser.add_argument("--frames", type=int, default=40)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="crema-timeline-") as folder, Browser() as browser:
        for page in options.pages or [made_page(pathlib.Path(folder))]:
            for line in measure(browser, page, options.frames):
                print(f"{page.parent.name}/{page.name}: {line}")


if __name__ == "__main__":
    main()

// Quantities of the whole run over the timeline's axis: busy threads above its rows; memory, CPU and reading below them.
const TRACK_WORDS = { B: humanMemory, cores: (value) => humanNumber(value), "B/s": (value) => humanBitRate(value * 8 / 1e9) };

// `rowsBottom`: where the rows end.
function tracksOf(data, rowsBottom) {
  const { from, bin, values, available } = data.busy, most = (...lists) => lists.flat().reduce((l, r) => Math.max(l, r), 0);
  const busy = {
    title: "Threads busy (solid line) of threads available (dashed)", name: "threads busy", values, limit: available,
    top: TOP, height: BUSY, most: Math.max(1, data.lanes, most(available)), words: humanCount, middle: true, colour: "cpu",
  };
  const below = data.tracks.map((track, i) => ({
    title: track.name + (track.limit.length ? " (dashed: " + track.limitName + ")" : "") + ", from " + track.source,
    name: track.name, values: track.values, limit: track.limit, words: TRACK_WORDS[track.unit],
    top: rowsBottom + TRACK_GAP + i * (TRACK + TRACK_GAP), height: TRACK, colour: track.unit === "cores" ? "cpu" : track.unit === "B/s" ? "data" : "secondary",
    // a limit far above what was used would flatten the line: then only the line of what was used is drawn
    most: most(track.values, most(track.limit) <= 4 * most(track.values) ? track.limit : []) || 1,
  }));
  return [busy, ...below].map((track) => ({ ...track, from, bin }));
}

// A title as long as there is room: what it is of, where all of it is too wide.
function fitting(c, text, width) {
  return c.measureText(text).width <= width ? text : text.split(/ \(|, /)[0];
}

function drawTrack(c, track, view, palette, width) {
  const { from, bin, top, height, most } = track, right = LEFT + width;
  const xOf = (t) => LEFT + (t - view.from) / (view.to - view.from) * width, yOf = (value) => top + height * (1 - value / most);
  c.fillStyle = palette.secondary;
  c.textAlign = "left";
  c.fillText(fitting(c, track.title, width), LEFT, top - 7);
  c.textAlign = "right";
  for (const share of track.middle ? [0, .5, 1] : [0, 1]) {
    c.fillStyle = palette.grid;
    c.fillRect(LEFT, Math.round(yOf(most * share)), width, 1);
    c.fillStyle = palette.muted;
    if (share !== .5 || most > 1) c.fillText(track.words(most * share), LEFT - 7, yOf(most * share) + 4);
  }
  const steps = (list, close) => {
    c.beginPath();
    let x = LEFT, open = false;
    for (let i = Math.max(0, Math.floor((view.from - from) / bin)); i < list.length; i++) {
      const left = Math.max(LEFT, xOf(from + i * bin)), level = yOf(list[i]);
      if (left > right) break;
      x = Math.min(right, xOf(from + (i + 1) * bin));
      if (!open) c.moveTo(left, close ? yOf(0) : level);
      open = true;
      c.lineTo(left, level);
      c.lineTo(x, level);
    }
    if (close) c.lineTo(x, yOf(0));
  };
  steps(track.values, true);
  c.globalAlpha = .25;
  c.fillStyle = palette[track.colour];
  c.fill();
  c.globalAlpha = 1;
  steps(track.values, false);
  c.strokeStyle = palette[track.colour];
  c.lineWidth = 1.4;
  c.stroke();
  if (!track.limit.length || track.limit.some((value) => value > most)) return;
  steps(track.limit, false);
  c.setLineDash([3, 3]);
  c.strokeStyle = palette.muted;
  c.lineWidth = 1;
  c.stroke();
  c.setLineDash([]);
}

// What all tracks show at one moment, for the card beside the pointer.
function momentCard(tracks, t, precision) {
  const head = make("p");
  head.append(make("b", "", timeAt(t, precision)));
  return [head, ...tracks.map(({ name, words, values, limit, from, bin }) => {
    const at = Math.floor((t - from) / bin), of = limit.length && limit[at] !== undefined ? " of " + words(limit[at]) : "";
    return tipRow(name, values[at] === undefined ? "–" : words(values[at]) + of);
  })];
}

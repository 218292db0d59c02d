// The bars of the timeline, pixel by pixel: a canvas takes 100,000 rectangles a frame ten times slower.
function timelineBars(data) {
  const { a, start, stop } = data, notable = 100 * data.paleAbove;
  const canvas = make("canvas"), context = canvas.getContext("2d");
  let image = null, pixels = null, shades = {};

  // a colour as the image holds it, some of it mixed with another
  function pixel(name, other = name, share = 0, alpha = 1) {
    const channels = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
    const [one, two] = [channels(colour(name)), channels(colour(other))];
    return new Uint32Array(Uint8Array.of(...one.map((v, c) => Math.round(v + (two[c] - v) * share)), Math.round(255 * alpha)).buffer)[0];
  }
  function readColours() {
    const sets = data.datasets.map((_, i) => "dataset" + (i + 1)), steps = [0, 1, 2, 3, 4, 5, 6, 7, 8];
    shades = {
      sets: sets.map((name) => pixel(name)),
      pale: sets.map((name) => pixel(name, "card", .62)),
      busy: sets.map((name) => steps.map((step) => pixel(name, name, 0, .3 + .7 * step / 8))),
      heat: steps.map((step) => pixel("palest", "strongest", .15 + .85 * step / 8)),
      around: pixel("opening", "card", .55), task: pixel("overhead", "card", .7), faint: pixel("grid", "card", .35),
      unknown: pixel("grid"), again: pixel("wait"), first: pixel("cpu"),
    };
  }
  const heat = (share) => shades.heat[Math.max(0, Math.min(8, Math.round(share * 8)))];
  const shadeOf = {
    dataset: (i) => shades.sets[a.ds[i]],
    waiting: (i) => (a.wait[i] < 0 ? shades.unknown : heat(a.wait[i] / 100)),
    rate: (i) => (data.rates[i] < 0 ? shades.unknown : heat(data.rates[i] / data.fastest)),
    attempt: (i) => (a.turn[i] > 1 ? shades.again : shades.first),
  };

  function drawTasks(row, line, view, columns) {
    const tasks = data.tasks[row], factor = columns / (view.to - view.from);
    for (let k = 0; k < tasks.length; k += 4) {
      if (tasks[k] > view.to) break;
      if (tasks[k + 1] < view.from) continue;
      const left = Math.max(0, Math.floor((tasks[k] - view.from) * factor));
      const right = Math.min(columns, Math.max(left + 1, Math.round((tasks[k + 1] - view.from) * factor)));
      const colour = view.found ? shades.faint : tasks[k + 3] & 2 ? shades.around : shades.task;
      for (let x = left; x < right; x++) pixels[line + x] = colour;
    }
  }
  function drawChunks(row, line, view, columns, scale) {
    const list = data.byRow[row], factor = columns / (view.to - view.from), shade = shadeOf[view.mode];
    for (let k = firstFrom(data, list, view.from - data.longest[row]); k < list.length; k++) {
      const i = list[k];
      if (start[i] > view.to) break;
      if (stop[i] < view.from || a.dur[i] < 0 || view.hidden.has(a.ds[i])) continue;
      const left = Math.max(0, Math.floor((start[i] - view.from) * factor)), end = (stop[i] - view.from) * factor;
      // a pixel of air between bars that have room for it
      const right = Math.min(columns, Math.max(left + 1, Math.round(end - (end - left > 3 * scale ? scale : 0))));
      let x = left;
      const isShown = !view.found || view.found.has(i);
      if (isShown && view.mode === "dataset" && a.wait[i] > notable && right - left > 2 * scale) {
        const pale = Math.min(right, Math.round((start[i] + (stop[i] - start[i]) * a.wait[i] / 100 - view.from) * factor));
        for (const colour = shades.pale[a.ds[i]]; x < pale; x++) pixels[line + x] = colour;
      }
      for (const colour = isShown ? shade(i) : shades.faint; x < right; x++) pixels[line + x] = colour;
    }
  }
  function drawRuns(row, line, view, columns) {
    const runs = data.runs[row], factor = columns / (view.to - view.from);
    for (let k = 0; k < runs.length; k += 4) {
      const from = data.from + runs[k] * data.bin, slot = runs[k + 2], state = Math.abs(runs[k + 3]) - 1;
      if (from > view.to) break;
      if (from + runs[k + 1] * data.bin < view.from || state < 16 || view.hidden.has(slot)) continue;
      const left = Math.max(0, Math.floor((from - view.from) * factor));
      const right = Math.min(columns, Math.max(left + 1, Math.round((from + runs[k + 1] * data.bin - view.from) * factor)));
      const colour = view.mode === "waiting" ? heat((state & 15) / 8) : shades.busy[slot][state >> 4];
      for (let x = left; x < right; x++) pixels[line + x] = colour;
    }
  }

  // Draws all rows into a canvas that is `width` wide.
  function draw(c, view, width) {
    const scale = devicePixelRatio || 1, columns = Math.round(width * scale), zero = data.tops[data.order[0]];
    const lines = Math.round((data.rowsBottom - zero) * scale);
    if (columns < 1 || lines < 1) return;
    if (!image || image.width !== columns || image.height !== lines) {
      canvas.width = columns;
      canvas.height = lines;
      image = context.createImageData(columns, lines);
      pixels = new Uint32Array(image.data.buffer);
    }
    pixels.fill(0);
    data.tops.forEach((top, row) => {
      const first = Math.round((top - zero) * scale), end = Math.round((top - zero + data.height - 1) * scale);
      drawTasks(row, first * columns, view, columns);
      if (data.exact) drawChunks(row, first * columns, view, columns, scale);
      else drawRuns(row, first * columns, view, columns);
      for (let y = first + 1; y < end; y++) pixels.copyWithin(y * columns, first * columns, (first + 1) * columns);
    });
    context.putImageData(image, 0, 0);
    c.drawImage(canvas, LEFT, zero, columns / scale, lines / scale);
  }
  return { draw, readColours };
}

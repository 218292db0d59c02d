// The timeline's picture: a row a thread, a bar a chunk; above and below them what all did together, on the same axis.
function timelineDrawing(canvas, data, view) {
  const bars = timelineBars(data), { a, start, stop, tops, height, bottom, rowsBottom } = data, MOST_MARKS = 3000;
  let palette = {}, cross = null, width = 0;
  const readColours = () => {
    palette = Object.fromEntries(["secondary", "muted", "grid", "track", "card", "cpu", "data", "limit", "needle"].map((name) => [name, colour(name)]));
    bars.readColours();
    cross = null;
  };
  const widthOf = () => canvas.clientWidth - LEFT - RIGHT;
  const xOf = (t) => LEFT + (t - view.from) / (view.to - view.from) * width;

  function drawAxis(c) {
    const step = roundTimeStep(view.to - view.from, Math.max(2, width / 110));
    c.textAlign = "center";
    for (let t = Math.ceil(view.from / step) * step; t <= view.to + step * 1e-6; t += step) {
      const x = xOf(t);
      c.fillStyle = palette.muted;
      c.fillRect(Math.round(x), bottom + 2, 1, 3);
      c.fillText(timeAt(t, step), Math.min(x, LEFT + width - 12), bottom + 18);
    }
  }

  function drawLabels(c) {
    c.textAlign = "right";
    let last = -20;
    const { order, rows } = data;
    for (let i = 0; i < order.length;) {
      let end = i;
      while (end < order.length && rows[order[end]][0] === rows[order[i]][0]) end++;
      const top = tops[order[i]], low = tops[order[end - 1]] + height;
      drawLife(c, rows[order[i]], top - 1, low - top + 1);
      const middle = (top + low) / 2;
      if (middle - last >= 13) {
        c.fillStyle = palette.secondary;
        c.fillText(rowLabel(rows[order[i]][4]), LEFT - 8, middle + 4);
        last = middle;
      }
      i = end;
    }
  }

  // The ground of a worker's rows, while it was there; its end is marked where it was lost.
  function drawLife(c, [worker, , , lanes], top, high) {
    const [from, to, whyLost] = lanes === 1 || data.row === "" ? data.lives[worker] : [null, null, false];
    const left = Math.max(LEFT, xOf(from ?? view.from)), right = Math.min(LEFT + width, xOf(to ?? view.to));
    c.fillStyle = palette.track;
    if (right > left) c.fillRect(left, top, right - left, high);
    if (whyLost === false || right < LEFT || xOf(to ?? view.to) > LEFT + width) return;
    c.fillStyle = palette.limit;
    c.fillRect(Math.round(right) - 1, top - 1, 2, high + 2);
    const text = whyLost ? "lost: " + whyLost : "lost", wide = c.measureText(text).width;
    if (LEFT + width - right < wide + 8) return;
    c.textAlign = "left";
    c.fillText(text, right + 4, top + high / 2 + 4);
    c.textAlign = "right";
  }

  // a cross in a circle, drawn once
  function drawnCross(r) {
    const scale = devicePixelRatio || 1, side = 2 * r + 4, made = make("canvas"), middle = side / 2, d = r * .42;
    made.width = made.height = Math.ceil(side * scale);
    const c = made.getContext("2d");
    c.scale(scale, scale);
    c.fillStyle = palette.card;
    c.strokeStyle = palette.limit;
    c.lineWidth = 1.6;
    c.beginPath();
    c.arc(middle, middle, r, 0, 7);
    c.fill();
    c.stroke();
    c.beginPath();
    for (const turn of [-1, 1]) {
      c.moveTo(middle - d, middle - d * turn);
      c.lineTo(middle + d, middle + d * turn);
    }
    c.stroke();
    return { made, side };
  }
  function drawMarks(c) {
    cross ??= drawnCross(Math.min(6, Math.max(3, height / 2)));
    const seen = new Set();
    for (const i of data.marks) {
      const x = xOf(stop[i]), place = a.row[i] + "/" + Math.round(x);
      if (x < LEFT || x > LEFT + width || view.hidden.has(a.ds[i]) || seen.has(place)) continue;
      if (seen.add(place).size > MOST_MARKS) break;
      const middle = tops[a.row[i]] + height / 2 - .5;
      c.drawImage(cross.made, x - cross.side / 2, middle - cross.side / 2, cross.side, cross.side);
    }
  }

  function drawBoxes(c) {
    for (const box of data.boxes) {
      const left = Math.max(LEFT, xOf(box.from ?? data.from)), right = Math.min(LEFT + width, xOf(box.to ?? data.to));
      const inside = data.rows.map((row, i) => (box.worker === null || row[0] === box.worker ? i : -1)).filter((i) => i >= 0);
      if (right <= left || !inside.length) continue;
      const top = Math.min(...inside.map((row) => tops[row])) - 3, low = Math.max(...inside.map((row) => tops[row])) + height + 2;
      c.strokeStyle = palette.needle;
      c.lineWidth = 1.2;
      c.setLineDash([4, 3]);
      c.strokeRect(left + .5, top + .5, right - left - 1, low - top);
      c.setLineDash([]);
      const text = box.n + "  " + box.text, wide = c.measureText(text).width + 12, x = Math.min(left, LEFT + width - wide);
      c.fillStyle = palette.needle;
      c.fillRect(x, top - 15, wide, 15);
      c.fillStyle = palette.card;
      c.textAlign = "left";
      c.fillText(text, x + 6, top - 4);
    }
  }

  function draw() {
    if (!canvas.clientWidth) return;
    width = widthOf();
    const c = prepare(canvas, bottom + AXIS), { chosen, drag } = view;
    c.font = "11.5px system-ui, sans-serif";
    c.textAlign = "left";
    for (const track of data.tracks) drawTrack(c, track, view, palette, width);
    drawLabels(c);
    bars.draw(c, view, width);
    drawMarks(c);
    drawBoxes(c);
    drawAxis(c);
    if (chosen >= 0) {
      c.strokeStyle = palette.needle;
      c.lineWidth = 2;
      c.strokeRect(xOf(start[chosen]) - 1, tops[a.row[chosen]] - 1, Math.max(3, xOf(stop[chosen]) - xOf(start[chosen])) + 1, height + 1);
    }
    if (drag && drag.moved) {
      c.globalAlpha = .15;
      c.fillStyle = palette.needle;
      c.fillRect(Math.min(drag.x, drag.now), TOP, Math.abs(drag.now - drag.x), bottom - TOP);
      c.globalAlpha = 1;
    }
  }
  return { draw, readColours, xOf, widthOf };
}

// Set by a page that has a timeline.
let zoomAsAddressed = () => {};
// The timeline under the hand: pointer, wheel, keys, and what of it is in the address.
function setUpTimeline() {
  const canvas = $("#timeline-canvas"), given = readData("timeline-data");
  if (!canvas || !given) return;
  const data = timelineRows(given), { a, start, stop, byRow, longest, tops, height } = data;
  const view = { from: data.from, to: data.to, mode: "dataset", hidden: new Set(), chosen: -1, drag: null, found: null };
  const picture = timelineDrawing(canvas, data, view), { draw, xOf, widthOf } = picture;
  const tOf = (x) => view.from + (x - LEFT) / widthOf() * (view.to - view.from);
  let chosenRow = data.order[0] ?? 0, asked = false;
  const redraw = () => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => { asked = false; draw(); });
  };

  const range = $("#timeline-range");
  let due = 0;
  const showRange = () => {  // sums over all attempts: when the view has come to rest
    clearTimeout(due);
    due = setTimeout(() => drawRange(range, data, view, () => look(data.from, data.to)), 120);
  };

  function look(l, r) {
    const all = data.to - data.from, least = Math.max(1e-6, all * 1e-6), span = Math.min(all, Math.max(least, r - l));
    view.from = Math.max(data.from, Math.min(l, data.to - span));
    view.to = view.from + span;
    showRange();
    keep("zoom", span >= all * .999999 ? "" : view.from.toPrecision(9) + "_" + view.to.toPrecision(9));
    redraw();
  }
  const zoom = (factor, around = (view.from + view.to) / 2) => look(around - (around - view.from) * factor, around + (view.to - around) * factor);
  const move = (by) => look(view.from + by, view.to + by);

  function attemptAt(x, y) {
    const row = tops.findIndex((top) => y >= top - 1 && y < top + height);
    if (row < 0) return -1;
    const t = tOf(x), slack = 3 / widthOf() * (view.to - view.from), list = byRow[row];
    let best = -1;
    for (let k = firstFrom(data, list, t - longest[row] - slack); k < list.length && start[list[k]] <= t + slack; k++) {
      const i = list[k];
      if (!view.hidden.has(a.ds[i]) && stop[i] + slack >= t && (best < 0 || start[i] <= t)) best = i;
    }
    return best;
  }
  function describe(i, x, y) {
    if (i < 0) return hideTip();
    const box = canvas.getBoundingClientRect(), end = Math.min(xOf(stop[i]), LEFT + widthOf());
    showTip(attemptCard(data, i, (view.to - view.from) / 100), x ?? box.left + end, y ?? box.top + tops[a.row[i]]);
  }

  // of a chunk, else of a task, else of the tracks
  function describeAt(x, y, { clientX, clientY }) {
    const i = attemptAt(x, y), precision = (view.to - view.from) / 100;
    if (i >= 0) return describe(i, clientX, clientY);
    if (x < LEFT || x > LEFT + widthOf()) return hideTip();
    const row = tops.findIndex((top) => y >= top - 1 && y < top + height), task = row < 0 ? -1 : taskAt(data.tasks[row], tOf(x));
    if (task >= 0) return showTip(taskCard(data, row, task, precision), clientX, clientY);
    if (data.tracks.some(({ top, height: high }) => y >= top && y <= top + high)) return showTip(momentCard(data.tracks, tOf(x), precision), clientX, clientY);
    hideTip();
  }

  canvas.addEventListener("pointermove", (event) => {
    const box = canvas.getBoundingClientRect(), x = event.clientX - box.left, { drag } = view;
    if (!drag) return describeAt(x, event.clientY - box.top, event);
    drag.now = Math.max(LEFT, Math.min(LEFT + widthOf(), x));
    drag.moved = drag.moved || Math.abs(drag.now - drag.x) > 4;
    hideTip();
    redraw();
  });
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    const x = event.clientX - canvas.getBoundingClientRect().left;
    view.drag = { x: Math.max(LEFT, x), now: x, moved: false };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointerup", (event) => {
    const done = view.drag, box = canvas.getBoundingClientRect();
    view.drag = null;
    if (done && done.moved) return look(Math.min(tOf(done.x), tOf(done.now)), Math.max(tOf(done.x), tOf(done.now)));
    view.chosen = attemptAt(event.clientX - box.left, event.clientY - box.top);
    redraw();
  });
  canvas.addEventListener("pointerleave", hideTip);
  canvas.addEventListener("dblclick", () => look(data.from, data.to));
  canvas.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.shiftKey) return;
    event.preventDefault();
    if (event.ctrlKey) zoom(event.deltaY > 0 ? 1.25 : .8, tOf(event.clientX - canvas.getBoundingClientRect().left));
    else move((event.deltaY || event.deltaX) / widthOf() * (view.to - view.from));
  }, { passive: false });

  function step(by) {
    const list = byRow[chosenRow].filter((i) => !view.hidden.has(a.ds[i]));
    if (!list.length) return;
    const at = list.indexOf(view.chosen), next = at < 0 ? firstFrom(data, list, view.from) : at + by;
    const i = view.chosen = list[Math.max(0, Math.min(list.length - 1, next))], half = (view.to - view.from) / 2;
    if (start[i] < view.from || stop[i] > view.to) look(start[i] - half, start[i] + half);
    redraw();
    describe(i);
  }
  function chooseRow(row) {
    chosenRow = data.order[Math.max(0, Math.min(byRow.length - 1, row))];
    view.chosen = -1;
    step(0);
  }
  function onKey(event) {
    const pan = (view.to - view.from) * .15;
    const actions = {
      "+": () => zoom(.6), "=": () => zoom(.6), "-": () => zoom(1 / .6), 0: () => look(data.from, data.to),
      ArrowLeft: () => (event.shiftKey ? step(-1) : move(-pan)),
      ArrowRight: () => (event.shiftKey ? step(1) : move(pan)),
      ArrowUp: () => chooseRow(data.order.indexOf(chosenRow) - 1),
      ArrowDown: () => chooseRow(data.order.indexOf(chosenRow) + 1),
      Enter: () => (view.chosen < 0 ? step(0) : describe(view.chosen)),
    };
    if (!actions[event.key]) return;
    actions[event.key]();
    event.preventDefault();
  }
  canvas.addEventListener("keydown", onKey);
  canvas.addEventListener("blur", () => { view.chosen = -1; hideTip(); redraw(); });
  timelineKeys.push(onKey);

  const modes = $$("#timeline-colours button"), legend = $("#timeline-legend"), sets = $$("button", legend);
  legend.dataset.mode = view.mode;
  $("#timeline-fastest").textContent = "≥ " + humanRate(data.fastest);
  const setMode = (button) => {
    view.mode = button.dataset.mode;
    legend.dataset.mode = view.mode;
    press(modes, button);
    keep("colour", view.mode === "dataset" ? "" : view.mode);
    redraw();
  };
  modes.forEach((button) => button.addEventListener("click", () => setMode(button)));
  const hide = (button) => {
    const slot = Number(button.dataset.slot), shown = view.hidden.has(slot);
    if (shown) view.hidden.delete(slot); else view.hidden.add(slot);
    button.setAttribute("aria-pressed", shown);
    keep("hide", [...view.hidden].join(","));
    showRange();
    redraw();
  };
  sets.forEach((button) => button.addEventListener("click", () => hide(button)));
  setUpTimelineFind(data, view, redraw, (i) => {
    const half = Math.max((view.to - view.from) / 2, (stop[i] - start[i]) * 2);
    if (start[i] < view.from || stop[i] > view.to) look(start[i] - half, start[i] + half);
    view.chosen = i;
    redraw();
    describe(i);
  });
  zoomAsAddressed = () => {
    const zoomed = (state.values.get("zoom") || "").split("_").map(Number);
    if (zoomed.length === 2 && zoomed[1] > zoomed[0]) look(zoomed[0], zoomed[1]);
  };
  zoomAsAddressed();
  const known = modes.find((button) => button.dataset.mode === state.values.get("colour"));
  if (known) setMode(known);
  for (const slot of (state.values.get("hide") || "").split(",").filter(Boolean)) if (sets[slot]) hide(sets[slot]);
  whenThemeChanges.push(() => { picture.readColours(); draw(); });  // at once: a print does not wait
  picture.readColours();
  onResize(canvas, draw);
  draw();
}

// Sections inside chunks: a box a path, as wide as what it took, its parts under it.
function setUpIcicle() {
  const canvas = $("#icicle"), data = readData("icicle-data");
  if (!canvas || !data) return;
  const ROW = 33, root = { name: "chunk", path: "", values: [0, data.busy, data.cpu, data.chunks], children: [], depth: 0 };
  const nodes = new Map();
  for (const row of [...data.rows].sort((l, r) => l[0].split("/").length - r[0].split("/").length)) {
    const cut = row[0].lastIndexOf("/"), parent = (cut < 0 ? root : nodes.get(row[0].slice(0, cut))) || root;
    const node = { name: row[0].slice(cut + 1), path: row[0], values: row, children: [], depth: parent.depth + 1, parent };
    parent.children.push(node);
    nodes.set(row[0], node);
  }
  const WORDS_ON = { cpu: "on-cpu", wait: "on-wait", unknown: "on-wait", idle: "ink" };
  const told = (value, words) => (value === null || value === undefined ? "not measured" : words(value));
  let unit = 1, top = root, chosen = null, boxes = [];
  const valueOf = (node) => Math.max(0, node.values[unit] ?? 0);
  // the root holds at least what its parts do: calls of sections are not calls of chunks
  const sizeOf = (node) => Math.max(valueOf(node), node.children.reduce((sum, child) => sum + sizeOf(child), 0));
  const kindOf = (node) => {
    if (node === root) return "idle";
    const total = node.values[1], cpu = node.values[2];
    return cpu === null || !total ? "unknown" : cpu >= total / 2 ? "cpu" : "wait";
  };
  const text = (value) => (unit === 3 ? humanCount(value) + " calls" : humanDuration(value));
  function place(node, x, width, list) {
    list.push({ node, x, width, y: (node.depth - top.depth) * ROW });
    const size = sizeOf(node);
    let at = x;
    for (const child of [...node.children].sort((l, r) => sizeOf(r) - sizeOf(l))) {
      const wide = size > 0 ? width * sizeOf(child) / size : 0;
      if (wide > .4) place(child, at, wide, list);
      at += wide;
    }
    return list;
  }
  function draw() {
    if (!canvas.clientWidth) return;
    boxes = place(top, 0, canvas.clientWidth, []);
    const c = prepare(canvas, (Math.max(...boxes.map((box) => box.y)) || 0) + ROW);
    c.font = "600 12px system-ui, sans-serif";
    const whole = sizeOf(root) || 1;
    for (const { node, x, width, y } of boxes) {
      const kind = kindOf(node);
      c.fillStyle = colour(kind);
      c.fillRect(x, y, Math.max(.6, width - 1.5), ROW - 3);
      const label = node === root ? "chunk " + text(valueOf(root)) + (unit === 3 ? "" : " · " + humanCount(data.chunks) + " attempts")
        : node.name + " " + humanPercent(sizeOf(node) / whole);
      c.fillStyle = colour(WORDS_ON[kind]);
      let shown = label;
      if (c.measureText(shown).width > width - 14) shown = node.name;
      while (shown.length > 1 && c.measureText(shown + "…").width > width - 14) shown = shown.slice(0, -1);
      if (width > 26) c.fillText(shown === label || shown === node.name ? shown : shown + "…", x + 7, y + 20);
      if (node === chosen) {
        c.strokeStyle = colour("needle");
        c.lineWidth = 2;
        c.strokeRect(x + 1, y + 1, Math.max(2, width - 3.5), ROW - 5);
      }
    }
  }
  function tell(box, x, y) {
    if (!box) return hideTip();
    const { node } = box, rows = [make("p")];
    rows[0].append(make("b", "", node.path || "all chunks"));
    rows.push(tipRow("time", told(node.values[1], humanDuration)), tipRow("CPU", told(node.values[2], humanDuration)));
    rows.push(tipRow(node === root ? "attempts" : "calls", told(node.values[3], humanCount)));
    if (node !== root && data.busy) rows.push(tipRow("of the chunks' time", humanPercent(node.values[1] / data.busy)));
    const place = canvas.getBoundingClientRect();
    showTip(rows, x ?? place.left + box.x, y ?? place.top + box.y + 10);
  }
  const at = (event) => {
    const place = canvas.getBoundingClientRect(), x = event.clientX - place.left, y = event.clientY - place.top;
    return boxes.find((box) => x >= box.x && x < box.x + box.width && y >= box.y && y < box.y + ROW);
  };
  // the rows of functions that ran in the section, or in a part of it
  const showFunctions = () => $$("#functions tbody tr").forEach((row) => {
    const path = row.cells[0].textContent;
    row.hidden = top !== root && path !== top.path && !path.startsWith(top.path + "/");
  });
  const zoomTo = (node) => {
    top = node === top && node.parent ? node.parent : node;
    showFunctions();
    keep("section", encodeURIComponent(top.path));
    hideTip();
    draw();
  };
  canvas.addEventListener("pointermove", (event) => tell(at(event), event.clientX, event.clientY));
  canvas.addEventListener("pointerleave", hideTip);
  canvas.addEventListener("click", (event) => { const box = at(event); if (box) zoomTo(box.node); });
  canvas.addEventListener("keydown", (event) => {
    const node = chosen || top, siblings = node.parent ? node.parent.children : [node];
    const beside = (step) => siblings[(siblings.indexOf(node) + step + siblings.length) % siblings.length];
    const next = { ArrowDown: node.children[0], ArrowUp: node.parent, ArrowRight: beside(1), ArrowLeft: beside(-1) }[event.key];
    if (event.key === "Enter") zoomTo(node);
    else if (event.key === "0") zoomTo(root);
    else if (next) chosen = next;
    else return;
    event.preventDefault();
    draw();
    tell(boxes.find((box) => box.node === chosen));
  });
  canvas.addEventListener("blur", () => { chosen = null; hideTip(); draw(); });
  const units = $$("#icicle-units button");
  units.forEach((button) => button.addEventListener("click", () => {
    unit = Number(button.dataset.unit);
    press(units, button);
    draw();
  }));
  try { top = nodes.get(decodeURIComponent(state.values.get("section") || "")) || root; } catch { top = root; }
  showFunctions();
  whenThemeChanges.push(draw);
  onResize(canvas, draw);
  draw();
}

// A tree as boxes: each as wide as what it took, its parts under it. Click or Enter zooms in, 0 zooms out.
//
// A node has name, children, parent and depth. `how`: row (its height), sizeOf(node), kindOf(node) (a colour), labels(node)
// (from the whole one to the shortest), describe(node) (rows of the card), zoomed(node), and deepest (levels below the top).
function setUpTree(canvas, root, how) {
  const WORDS_ON = { cpu: "on-cpu", wait: "on-wait", unknown: "on-wait", idle: "ink" };
  let top = root, chosen = null, boxes = [];
  const partsOf = (node) => [...node.children].sort((l, r) => how.sizeOf(r) - how.sizeOf(l));
  function place(node, x, width, list) {
    list.push({ node, x, width, y: (node.depth - top.depth) * how.row });
    if (node.depth - top.depth >= (how.deepest ?? Infinity)) return list;
    const size = how.sizeOf(node);
    let at = x;
    for (const child of partsOf(node)) {
      const wide = size > 0 ? width * how.sizeOf(child) / size : 0;
      if (wide > .4) place(child, at, wide, list);
      at += wide;
    }
    return list;
  }
  function draw() {
    if (!canvas.clientWidth) return;
    boxes = place(top, 0, canvas.clientWidth, []);
    const c = prepare(canvas, boxes.reduce((most, box) => Math.max(most, box.y), 0) + how.row);
    c.font = "600 12px system-ui, sans-serif";
    for (const { node, x, width, y } of boxes) {
      const kind = how.kindOf(node), labels = how.labels(node);
      c.fillStyle = colour(kind);
      c.fillRect(x, y, Math.max(.6, width - 1.5), how.row - 3);
      c.fillStyle = colour(WORDS_ON[kind]);
      const fits = (text) => c.measureText(text).width <= width - 14;
      let shown = labels.find(fits);
      if (shown === undefined) {
        shown = labels[labels.length - 1];
        while (shown.length > 1 && !fits(shown + "…")) shown = shown.slice(0, -1);
        shown += "…";
      }
      if (width > 26) c.fillText(shown, x + 7, y + how.row / 2 + 3);
      if (node === chosen) {
        c.strokeStyle = colour("needle");
        c.lineWidth = 2;
        c.strokeRect(x + 1, y + 1, Math.max(2, width - 3.5), how.row - 5);
      }
    }
  }
  function describe(box, x, y) {
    if (!box) return hideTip();
    const place = canvas.getBoundingClientRect();
    showTip(how.describe(box.node), x ?? place.left + box.x, y ?? place.top + box.y + 10);
  }
  const at = (event) => {
    const place = canvas.getBoundingClientRect(), x = event.clientX - place.left, y = event.clientY - place.top;
    return boxes.find((box) => x >= box.x && x < box.x + box.width && y >= box.y && y < box.y + how.row);
  };
  const zoomTo = (node) => {
    top = node;
    how.zoomed?.(top);
    hideTip();
    draw();
  };
  const zoomInOrOut = (node) => zoomTo(node === top && node.parent ? node.parent : node);
  canvas.addEventListener("pointermove", (event) => describe(at(event), event.clientX, event.clientY));
  canvas.addEventListener("pointerleave", hideTip);
  canvas.addEventListener("click", (event) => { const box = at(event); if (box) zoomInOrOut(box.node); });
  canvas.addEventListener("keydown", (event) => {
    const node = chosen || top, siblings = node.parent ? partsOf(node.parent) : [node];
    const beside = (step) => siblings[(siblings.indexOf(node) + step + siblings.length) % siblings.length];
    const next = { ArrowDown: partsOf(node)[0], ArrowUp: node.parent, ArrowRight: beside(1), ArrowLeft: beside(-1) }[event.key];
    if (event.key === "Enter") zoomInOrOut(node);
    else if (event.key === "0") zoomTo(root);
    else if (next) chosen = next;
    else return;
    event.preventDefault();
    draw();
    describe(boxes.find((box) => box.node === chosen));
  });
  canvas.addEventListener("blur", () => { chosen = null; hideTip(); draw(); });
  whenThemeChanges.push(draw);
  onResize(canvas, draw);
  return {
    draw,
    zoomTo,
    show(other) { top = root = other; chosen = null; },
  };
}

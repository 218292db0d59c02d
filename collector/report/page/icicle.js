// Sections inside chunks. A choice here goes to the pictures that show a section's inside.
const whenSectionIsChosen = [];
function setUpIcicle() {
  const canvas = $("#icicle"), data = readData("icicle-data");
  if (!canvas || !data) return;
  const root = { name: "chunk", path: "", values: [0, data.busy, data.cpu, data.chunks], children: [], depth: 0 };
  const nodes = new Map();
  for (const row of [...data.rows].sort((l, r) => l[0].split("/").length - r[0].split("/").length)) {
    const cut = row[0].lastIndexOf("/"), parent = (cut < 0 ? root : nodes.get(row[0].slice(0, cut))) || root;
    const node = { name: row[0].slice(cut + 1), path: row[0], values: row, children: [], depth: parent.depth + 1, parent };
    parent.children.push(node);
    nodes.set(row[0], node);
  }
  const known = (value, words) => (value === null || value === undefined ? "not measured" : words(value));
  let unit = 1;
  const valueOf = (node) => Math.max(0, node.values[unit] ?? 0);
  // the root holds at least what its parts do: calls of sections are not calls of chunks
  const sizeOf = (node) => Math.max(valueOf(node), node.children.reduce((sum, child) => sum + sizeOf(child), 0));
  const kindOf = (node) => (node === root ? "idle" : node.values[4]);
  const text = (value) => (unit === 3 ? humanCount(value) + " calls" : humanDuration(value));
  const labels = (node) => {
    if (node !== root) return [node.name + " " + humanPercent(sizeOf(node) / (sizeOf(root) || 1)), node.name];
    return ["chunk " + text(valueOf(root)) + (unit === 3 ? "" : " · " + humanCount(data.chunks) + " attempts"), node.name];
  };
  const describe = (node) => {
    const rows = [make("p")];
    rows[0].append(make("b", "", node.path || "all chunks"));
    rows.push(tipRow("time", known(node.values[1], humanDuration)), tipRow("CPU", known(node.values[2], humanDuration)));
    rows.push(tipRow(node === root ? "attempts" : "calls", known(node.values[3], humanCount)));
    if (node !== root && data.busy) rows.push(tipRow("of the chunks' time", humanPercent(node.values[1] / data.busy)));
    return rows;
  };
  const zoomed = (node) => {
    keep("section", encodeURIComponent(node.path));
    whenSectionIsChosen.forEach((choose) => choose(node.path));
  };
  const tree = setUpTree(canvas, root, { row: 33, sizeOf, kindOf, labels, describe, zoomed });
  const units = $$("#icicle-units button");
  units.forEach((button) => button.addEventListener("click", () => {
    unit = Number(button.dataset.unit);
    press(units, button);
    tree.draw();
  }));
  let first = root;
  try { first = nodes.get(decodeURIComponent(state.values.get("section") || "")) || root; } catch { first = root; }
  if (first === root) tree.draw();
  else tree.zoomTo(first);
}

// Functions inside sections, as sampled: a section's functions under it, and what each called under that.
function setUpFunctions() {
  const table = $("#functions table"), isIn = (section, path) => !path || section === path || section.startsWith(path + "/");
  if (table) whenSectionIsChosen.push((path) => table.showOnly((row) => isIn(row.cells[0].textContent, path)));
  const canvas = $("#flame"), data = readData("flame-data");
  if (!canvas || !data) return;
  let sections;
  const part = (parent, key, fields) => {
    parent.parts ??= new Map();
    let node = parent.parts.get(key);
    if (!node) {
      node = { children: [], samples: 0, depth: parent.depth + 1, parent, ...fields };
      parent.parts.set(key, node);
      parent.children.push(node);
    }
    return node;
  };
  function treeOf(places) {
    const root = { name: "all sections", isSection: true, children: [], samples: 0, depth: 0 };
    sections = new Map([["", root]]);
    for (const place of places) {
      let node = root, path = "";
      root.samples += place.samples;
      for (const name of place.section ? place.section.split("/") : []) {
        path += (path ? "/" : "") + name;
        node = part(node, "section " + name, { name, short: name, path, isSection: true });
        node.samples += place.samples;
        sections.set(path, node);
      }
      node.own = (node.own ?? 0) + place.samples;
      const open = [node];
      for (const [depth, number, samples, own] of place.tree) {
        const [name, short, source] = data.functions[number], above = open[depth];
        open[depth + 1] = part(above, number, { name, short, source, section: node });
        open[depth + 1].samples += samples;
        open[depth + 1].own = (open[depth + 1].own ?? 0) + own;
      }
    }
    squeeze(root);
    return root;
  }
  // Functions that were always on the stack together are one box: the outermost of every stack would fill the window.
  function squeeze(node) {
    for (const child of node.children) {
      child.depth = node.depth + 1;
      child.parent = node;
      while (!child.isSection && child.children.length === 1 && child.children[0].samples === child.samples) {
        const { name, short, source, own, children } = child.children[0];
        child.callers = [child.short, ...(child.callers ?? [])];
        Object.assign(child, { name, short, source, own, children });
      }
      squeeze(child);
    }
  }
  // of a function: of the samples of its section, without those of sections inside
  const whole = (node) => (node.isSection ? root.samples : node.section.own) || 1;
  const share = (node) => node.samples / whole(node);
  const describe = (node) => {
    const first = make("p"), out = [first], all = whole(node);
    first.append(make("b", "", node.name));
    if (node.source) out.push(make("p", "file", node.source));
    if (node.callers) out.push(make("p", "file", "called by " + node.callers.join(" ← ")));
    out.push(tipRow("samples", humanCount(node.samples)));
    if (node === root) return out;
    out.push(tipRow(node.isSection ? "of all samples" : "of its section’s samples", humanPercent(share(node))));
    if (!node.isSection && node.own < node.samples) out.push(tipRow("in itself", humanPercent(node.own / all)));
    return out;
  };
  let root = treeOf(data.places), chosen = "";
  const tree = setUpTree(canvas, root, {
    row: 24,
    deepest: 40,
    sizeOf: (node) => node.samples,
    kindOf: (node) => (node === root ? "idle" : node.isSection ? "unknown" : "cpu"),
    labels: (node) => {
      if (node === root) return [humanCount(node.samples) + " samples", node.name];
      const percent = " " + humanPercent(share(node)), last = node.short.split("::").pop();
      const texts = [node.short + percent, node.short, last + percent, last];
      if (!node.callers) return texts;
      return [node.callers.at(-1) + (node.callers.length > 1 ? " → … → " : " → ") + texts[0], ...texts];
    },
    describe,
  });
  const zoomToSection = () => tree.zoomTo(sections.get(chosen) || root);
  const datasets = [...new Set(data.places.map((place) => place.dataset))].sort();
  const choice = $("#flame-dataset");
  for (const name of datasets) {
    const option = make("option", "", name || "(none)");
    option.value = "=" + name;
    choice.append(option);
  }
  choice.parentElement.hidden = datasets.length < 2;
  choice.addEventListener("change", () => {
    root = treeOf(data.places.filter((place) => !choice.value || choice.value === "=" + place.dataset));
    tree.show(root);
    zoomToSection();
  });
  whenSectionIsChosen.push((path) => { chosen = path; zoomToSection(); });
  if (data.left_out) $("#flame-left-out").textContent = " The rarest " + exactCount(data.left_out) + " boxes are not drawn.";
  tree.draw();
}

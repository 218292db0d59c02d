// Functions inside sections, as sampled: a section's functions under it, and what each called under that.
function setUpFunctions() {
  const rows = $$("#functions tbody tr"), isIn = (section, path) => !path || section === path || section.startsWith(path + "/");
  whenSectionIsChosen.push((path) => rows.forEach((row) => { row.hidden = !isIn(row.cells[0].textContent, path); }));
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
        node = part(node, "section " + name, { name, path, isSection: true });
        node.samples += place.samples;
        sections.set(path, node);
      }
      node.own = (node.own ?? 0) + place.samples;
      const open = [node];
      for (const [depth, number, samples] of place.tree) {
        const [name, source] = data.functions[number], above = open[depth];
        open[depth + 1] = part(above, number, { name, source, section: node });
        open[depth + 1].samples += samples;
      }
    }
    return root;
  }
  // as people call it: without what it takes, and without the name of a namespace that has none
  const short = (name) => {
    const bare = name.replaceAll("(anonymous namespace)::", ""), cut = bare.indexOf("(", bare.startsWith("operator()") ? 10 : 1);
    return cut > 0 && !bare.endsWith("operator()") ? bare.slice(0, cut) : bare;
  };
  // of a function: of the samples of its section, without those of sections inside
  const whole = (node) => (node.isSection ? root.samples : node.section.own) || 1;
  const share = (node) => node.samples / whole(node);
  const tell = (node) => {
    const first = make("p"), out = [first], all = whole(node), of = share(node);
    first.append(make("b", "", node.name));
    if (node.source) out.push(make("p", "file", node.source));
    out.push(tipRow("samples", humanCount(node.samples)));
    if (node === root) return out;
    out.push(tipRow(node.isSection ? "of all samples" : "of its section’s samples",
      humanPercent(of) + " ± " + humanPercent(Math.sqrt(of * (1 - of) / all))));
    const called = node.children.reduce((sum, child) => sum + child.samples, 0);
    if (!node.isSection && called) out.push(tipRow("in itself", humanPercent((node.samples - called) / all)));
    return out;
  };
  let root = treeOf(data.places), chosen = "";
  const tree = setUpTree(canvas, root, {
    row: 24,
    deepest: 40,
    sizeOf: (node) => node.samples,
    kindOf: (node) => (node === root ? "idle" : node.isSection ? "unknown" : "cpu"),
    labels: (node) => (node === root ? [humanCount(node.samples) + " samples", node.name]
      : [short(node.name) + " " + humanPercent(share(node)), short(node.name)]),
    tell,
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
  tree.draw();
}

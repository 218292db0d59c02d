const SECTIONS_NAMED = 5;  // each in a shade of its own (style.css: .s0 to .s4); all others share .s5

// What the card beside the pointer says of an attempt; times with the digits that `precision` seconds ask for.
function attemptCard(data, i, precision) {
  const a = data.a, unit = data.unit, rows = [], head = make("p"), key = make("span", "key d" + a.ds[i]), title = make("b");
  const name = make("bdi", "", data.datasets[a.ds[i]] || "chunk");
  title.append(key, " ", name, a.entry[i] >= 0 ? " from entry " + exactCount(a.entry[i]) : "");
  head.append(title);
  rows.push(head);
  if (data.files[a.file[i]]) {
    const file = make("p", "file");
    file.append(make("bdi", "", data.files[a.file[i]].split("/").pop()));
    rows.push(file);
  }
  const took = a.dur[i] * unit, worker = data.rows[a.row[i]];
  rows.push(tipRow("on", worker[2] + (data.row ? " · " + data.row + " " + worker[1] : "")));
  rows.push(tipRow("start", timeAt(data.start[i], precision)));
  if (a.dur[i] < 0) rows.push(tipRow("duration", "did not end"));
  else {
    const times = data.median ? took / data.median : 0, isLong = times >= data.longFrom;
    rows.push(tipRow("duration", humanDuration(took) + (isLong ? " ▲ " + humanFactor(times) + "× median" : ""), isLong ? "warn" : ""));
  }
  if (a.expected[i] >= 0) rows.push(tipRow("expected for its size", humanDuration(a.expected[i] * unit)));
  if (a.events[i] >= 0) rows.push(tipRow("events", humanCount(a.events[i]) + (data.rates[i] > 0 ? " · " + humanRate(data.rates[i]) : "")));
  if (a.wait[i] >= 0) rows.push(tipRow("waiting", humanPercent(a.wait[i] / 100)));
  if (a.turn[i] > 1) rows.push(tipRow("attempt", String(a.turn[i])));
  if (a.state[i]) rows.push(tipRow(["ok", "failed", "lost", "running", "record lost"][a.state[i]], data.errors[a.error[i]] || "", "fail"));
  if (a.note.length && data.notes[a.note[i]]) rows.push(tipRow("notes", data.notes[a.note[i]]));
  const parts = (a.sections[i] || []).reduce((list, value, at, all) => (at % 2 ? list : [...list, [value, all[at + 1]]]), [])
    .sort((l, r) => r[1] - l[1]);
  if (parts.length && took > 0) {
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    let at = 0;
    parts.forEach(([, value], k) => {
      const rect = document.createElementNS(svg.namespaceURI, "rect");
      for (const [name, text] of [["x", at], ["width", value * unit / took * 100]]) rect.setAttribute(name, text + "%");
      rect.setAttribute("height", "8");
      rect.setAttribute("class", "s" + Math.min(k, SECTIONS_NAMED));
      at += value * unit / took * 100;
      svg.append(rect);
    });
    rows.push(svg);
    parts.slice(0, SECTIONS_NAMED).forEach(([section, value], k) => {
      const row = make("p"), label = make("span");
      label.append(make("span", "key s" + k), " ", make("bdi", "", data.sections[section]));
      row.append(label, make("b", "", humanDuration(value * unit)));
      rows.push(row);
    });
  }
  return rows;
}

// The task of a row that ran at `t`: its place in the row's list; -1: none did.
function taskAt(tasks, t) {
  for (let k = 0; k < tasks.length && tasks[k] <= t; k += 4) if (tasks[k + 1] >= t) return k;
  return -1;
}
function taskCard(data, row, k, precision) {
  const [from, to, prefix, look] = data.tasks[row].slice(k, k + 4), head = make("p"), title = make("b");
  title.append("task ", make("bdi", "", data.prefixes[prefix]));
  head.append(title);
  const rows = [head, tipRow("on", data.rows[row][2] + " · " + data.row + " " + data.rows[row][1]), tipRow("start", timeAt(from, precision)),
    tipRow("duration", humanDuration(to - from)), tipRow("here", look & 2 ? "around its chunk: opening, reading" : "it has no chunk")];
  if (look & 1) rows.push(tipRow("failed", "", "fail"));
  return rows;
}

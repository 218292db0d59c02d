// What ran in the part of the time that the timeline shows: below it, when that is not all of the run.
const RANGE_ROWS = 5;

// Sums over attempts that ended, each by the share of its duration inside; of tables the largest rows.
function rangeSums(data, from, to, hidden) {
  const { a, start, stop, unit } = data, all = { busy: 0, cpu: 0, events: 0, chunks: 0, failed: 0, known: 0 };
  const tables = { section: new Map(), worker: new Map(), dataset: new Map(), file: new Map() };
  const add = (table, key, seconds, events = 0) => {
    const [had, hadEvents] = tables[table].get(key) || [0, 0];
    tables[table].set(key, [had + seconds, hadEvents + events]);
  };
  for (let i = 0; i < start.length; i++) {
    if (start[i] >= to) break;
    if (stop[i] <= from || hidden.has(a.ds[i])) continue;
    if (a.state[i] === 1 || a.state[i] === 2) all.failed += stop[i] < to;
    if (a.dur[i] <= 0) continue;
    const seconds = Math.min(stop[i], to) - Math.max(start[i], from), share = seconds / (a.dur[i] * unit);
    all.chunks++;
    all.busy += seconds;
    if (a.wait[i] >= 0) { all.known += seconds; all.cpu += seconds * (1 - a.wait[i] / 100); }
    const events = a.events[i] > 0 && a.state[i] === 0 ? a.events[i] * share : 0;
    all.events += events;
    add("worker", data.rows[a.row[i]][4], seconds, events);
    add("dataset", data.datasets[a.ds[i]] || "(none)", seconds, events);
    add("file", data.files[a.file[i]] || "(none)", seconds, events);
    const parts = a.sections[i] || [];
    let named = 0;
    for (let k = 0; k < parts.length; k += 2) {
      add("section", data.sections[parts[k]], parts[k + 1] * unit * share);
      named += parts[k + 1] * unit * share;
    }
    if (a.sections.length && seconds > named) add("section", "(other)", seconds - named);
  }
  return { all, tables };
}

// Rows of name, seconds and share; of what has events their rate in one thread.
function rangeTable(title, sums, busy, nameOf = (name) => name) {
  const rows = [...sums].sort((l, r) => r[1][0] - l[1][0]), box = make("div", "range-table"), table = make("table"), head = table.createTHead().insertRow();
  const rated = rows.some(([, [, events]]) => events > 0), body = table.createTBody();
  [title, "time", "share", ...(rated ? ["ev/s"] : [])].forEach((text, at) => head.append(make("th", at ? "n" : "", text)));
  for (const [name, [seconds, events]] of rows.slice(0, RANGE_ROWS)) {
    const row = body.insertRow(), label = make("bdi", "", nameOf(name));
    label.title = name;
    row.insertCell().append(label);
    const cells = [humanDuration(seconds), humanPercent(seconds / busy), ...(rated ? [events > 0 ? humanCount(events / seconds) : "–"] : [])];
    for (const text of cells) row.append(make("td", "n", text));
  }
  box.append(table);
  if (rows.length > RANGE_ROWS) box.append(make("p", "sub", exactCount(rows.length - RANGE_ROWS) + " more"));
  return box;
}

// `showAll` zooms out again.
function drawRange(box, data, view, showAll) {
  const isAll = view.to - view.from >= (data.to - data.from) * .999;
  box.hidden = isAll || !data.exact;
  if (box.hidden) return;
  const { all, tables } = rangeSums(data, view.from, view.to, view.hidden), span = view.to - view.from, step = span < 10 ? span / 100 : 1;
  const head = make("p", "range-head"), back = make("button", "all-rows", "show all of the run");
  back.type = "button";
  back.addEventListener("click", showAll);
  const facts = [
    exactCount(all.chunks) + (all.chunks === 1 ? " attempt" : " attempts"), humanNumber(all.busy / span) + " threads busy in the mean",
    ...(all.events ? [humanCount(all.events) + " events, " + humanRate(all.events / span)] : []),
    ...(all.known ? ["waiting " + humanPercent(1 - all.cpu / all.known)] : []), ...(all.failed ? [exactCount(all.failed) + " failed or lost"] : []),
  ];
  head.append(make("b", "", timeAt(view.from, step) + " to " + timeAt(view.to, step)), " · " + facts.join(" · ") + " ", back);
  const cells = make("div", "range-tables");
  if (all.busy > 0) {
    if (tables.section.size) cells.append(rangeTable("Sections", tables.section, all.busy));
    cells.append(rangeTable("Workers", tables.worker, all.busy), rangeTable("Datasets", tables.dataset, all.busy));
    cells.append(rangeTable("Files", tables.file, all.busy, (name) => name.split("/").pop()));
  }
  box.replaceChildren(head, cells, make("p", "sub", "An attempt counts by the share of its time inside. Shares are of the time of attempts; ev/s are events per second of one thread."));
}

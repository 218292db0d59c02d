// What the timeline shows, row by row, and where each row stands. Lengths are in pixels of the page.
const LEFT = 62, RIGHT = 12, TOP = 16, BUSY = 58, GAP = 26, AXIS = 24;

function timelineRows(data) {
  const a = data.a, n = a.row.length, unit = data.unit;
  const start = new Float64Array(n), stop = new Float64Array(n), marks = [];
  const byRow = data.rows.map(() => []), longest = data.rows.map(() => 0);
  for (let i = 0, at = 0; i < n; i++) {
    at += a.start[i];
    start[i] = at * unit;
    stop[i] = start[i] + Math.max(0, a.dur[i]) * unit;
    byRow[a.row[i]].push(i);
    longest[a.row[i]] = Math.max(longest[a.row[i]], stop[i] - start[i]);
    if (a.state[i] === 1 || a.state[i] === 2) marks.push(i);
  }
  const rates = Array.from({ length: n }, (_, i) => (a.events[i] >= 0 && a.dur[i] > 0 ? a.events[i] / (a.dur[i] * unit) : -1));
  const fastest = [...rates].sort((l, r) => l - r)[Math.floor(n * .98)] || 1;
  // groups of one worker's threads stand together
  const many = data.rows.length, space = many <= 40 ? 5 : 2, height = many <= 8 ? 18 : many <= 40 ? 12 : many <= 100 ? 7 : 4;
  const tops = [];
  let y = TOP + BUSY + GAP;
  data.rows.forEach(([worker], i) => {
    if (i && data.rows[i - 1][0] !== worker) y += space;
    tops.push(y);
    y += height;
  });
  return { ...data, start, stop, byRow, longest, marks, rates, fastest, runs: runsByRow(data), height, tops, bottom: y, shortLabel: shortener(data.rows) };
}

// For each row its runs, four numbers each: first bin, bins, dataset, look.
function runsByRow(data) {
  const runs = data.rows.map(() => []);
  for (let i = 0, row = 0, bin = 0; i < data.runs.length; i += 5) {
    if (data.runs[i]) { row += data.runs[i]; bin = 0; }
    bin += data.runs[i + 1];
    runs[row].push(bin, data.runs[i + 2], data.runs[i + 3], data.runs[i + 4]);
    bin += data.runs[i + 2];
  }
  return runs;
}

// Of attempts by start, the first that starts at `t` or later.
function firstFrom(data, list, t) {
  let low = 0, high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (data.start[list[middle]] < t) low = middle + 1; else high = middle;
  }
  return low;
}

// Names of workers without what all of them begin with.
function shortener(rows) {
  const names = rows.map((row) => row[2]);
  let common = names[0] || "";
  for (const name of names) while (!name.startsWith(common)) common = common.slice(0, -1);
  common = common.slice(0, Math.max(...[":", "/", "-", "."].map((sign) => common.lastIndexOf(sign))) + 1);
  return (name) => {
    const own = (name !== common && name.slice(common.length)) || name;
    return own.length > 9 ? "…" + own.slice(-8) : own;
  };
}

// What the timeline shows, row by row, and where each row stands. Lengths are in pixels of the page.
const LEFT = 72, RIGHT = 12, TOP = 16, BUSY = 50, GAP = 22, AXIS = 24, TRACK = 28, TRACK_GAP = 23;

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
  // groups of one worker's threads are together
  const many = data.rows.length, space = many <= 40 ? 5 : 2, height = many <= 8 ? 18 : many <= 24 ? 12 : many <= 40 ? 10 : many <= 100 ? 7 : 4;
  const tops = [], order = orderOf(data.rows);
  let y = TOP + BUSY + GAP;
  order.forEach((row, place) => {
    if (place && data.rows[order[place - 1]][0] !== data.rows[row][0]) y += space;
    tops[row] = y;
    y += height;
  });
  const tracks = tracksOf(data, y);
  return {
    ...data, start, stop, byRow, longest, marks, rates, fastest, runs: runsByRow(data), tasks: tasksByRow(data), height, tops, order,
    tracks, rowsBottom: y, bottom: tracks.at(-1).top > y ? tracks.at(-1).top + TRACK : y,
  };
}

// For each row its tasks by start, four numbers each: start and stop in seconds, prefix, 2 x has a chunk + failed.
function tasksByRow(data) {
  const tasks = data.rows.map(() => []);
  for (let i = 0, row = 0, at = 0; i < data.tasks.length; i += 5) {
    if (data.tasks[i]) { row += data.tasks[i]; at = 0; }
    at += data.tasks[i + 1];
    tasks[row].push(at * data.unit, (at + data.tasks[i + 2]) * data.unit, data.tasks[i + 3], data.tasks[i + 4]);
  }
  return tasks;
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

// The first attempt, in order of start, that starts at `t` or later.
function firstFrom(data, list, t) {
  let low = 0, high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (data.start[list[middle]] < t) low = middle + 1; else high = middle;
  }
  return low;
}

// The rows from top to bottom: workers by name, as everywhere on the page, numbers in names as numbers.
function orderOf(rows) {
  const order = rows.map((_, row) => row), { compare } = new Intl.Collator("en", { numeric: true });
  return order.sort((l, r) => compare(rows[l][4], rows[r][4]) || rows[l][0] - rows[r][0] || rows[l][1] - rows[r][1]);
}
const rowLabel = (name) => (name.length > 10 ? "…" + name.slice(-9) : name);

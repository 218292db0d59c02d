// What comes: what has changed, once a second; and the page's own buttons.
const $ = (id) => document.getElementById(id);
const state = {id: 0, values: {}, tables: {}};
const TABLES = ['datasets', 'workers', 'series', 'seconds', 'events', 'stream', 'open'];
const SIGNS = {good: '✓', info: 'ℹ', warning: '▲', watch: '▲', bad: '✕'};
let paused = false;
let updatedAt = 0;

function draw(changed) {
  if (paused || !state.values.run) return;
  drawHead();
  drawSchedulers();
  drawProgress();
  drawTiles();
  drawPanels();
  drawRecent();
  if (changed.has('workers') || changed.has('workers_hidden')) drawWorkers();
  if (changed.has('events')) drawEvents();
  drawStream();
}

// ---- what comes ----

function take(delta) {
  if (delta.full) {
    state.values = {};
    state.tables = {};
  }
  const changed = new Set(delta.full ? [...TABLES, 'workers_hidden'] : Object.keys(delta));
  for (const [key, value] of Object.entries(delta)) {
    if (key === 'id' || key === 'full' || key === 'removed') continue;
    if (TABLES.includes(key)) {
      state.tables[key] = Object.assign(state.tables[key] || {}, value);
    } else {
      state.values[key] = value;
    }
  }
  for (const [table, keys] of Object.entries(delta.removed || {})) {
    changed.add(table);
    for (const key of keys) delete (state.tables[table] || {})[key];
  }
  state.id = delta.id;
  updatedAt = performance.now();
  if (!document.hidden) draw(changed);
}

let source = null;
let failures = 0;
let polling = false;
let isDenied = false;  // a new server, with another token

function listen() {
  source = new EventSource('events?since=' + state.id);
  source.onmessage = (message) => {
    failures = 0;
    take(JSON.parse(message.data));
  };
  source.onerror = () => {
    source.close();
    ++failures;
    if (failures >= 2) {
      poll();
    } else {
      setTimeout(listen, 1000);
    }
  };
}

// Where a proxy keeps the stream back.
async function poll() {
  if (polling) return;
  polling = true;
  for (let i = 0; ; ++i) {
    try {
      const answer = await fetch('api/live?since=' + state.id, {cache: 'no-store'});
      isDenied = answer.status === 401;
      if (answer.ok) take(await answer.json());
    } catch { /* the line in the head says how old this is */ }
    if (i % 15 === 14) break;  // maybe the stream works by now
    await new Promise((resolve) => setTimeout(resolve, 2000));
  }
  polling = false;
  failures = 1;
  listen();
}

setInterval(() => {
  const age = (performance.now() - updatedAt) / 1000;
  const label = $('updated');
  label.textContent = !updatedAt ? 'connecting' : paused ? 'paused' : `updated ${age < 10 ? age.toFixed(1) : age.toFixed(0)} s ago`;
  if (isDenied) label.textContent = 'crema serve was started again: open the address that it has printed';
  label.className = age > 15 ? 'stale' : age > 5 ? 'late' : 'dim';
  if (age > 10 && source && source.readyState === EventSource.OPEN && !polling) {
    source.close();
    ++failures;
    poll();
  }
}, 250);

const everything = () => draw(new Set([...TABLES, 'workers_hidden']));
$('pause').onclick = () => {
  paused = !paused;
  $('pause').textContent = paused ? 'Go on' : 'Pause';
  if (!paused) everything();
};
const dark = matchMedia('(prefers-color-scheme: dark)');
let theme = localStorage.getItem('crema-theme') || 'auto';
function applyTheme() {
  document.documentElement.dataset.theme = theme === 'auto' ? (dark.matches ? 'dark' : 'light') : theme;
  $('theme').textContent = 'Theme: ' + theme;
  everything();
}
$('theme').onclick = () => {
  theme = {auto: 'light', light: 'dark', dark: 'auto'}[theme];
  localStorage.setItem('crema-theme', theme);
  applyTheme();
};
dark.onchange = applyTheme;
addEventListener('resize', everything);
document.addEventListener('visibilitychange', () => { if (!document.hidden) everything(); });
applyTheme();
listen();

// The page itself: theme, list of sections, keys, tables, switches, and what of its state is in the address.
"use strict";

const $ = (selector, root = document) => root.querySelector(selector);
const $$ = (selector, root = document) => [...root.querySelectorAll(selector)];
const readData = (id) => {
  const element = document.getElementById(id);
  return element ? JSON.parse(element.textContent) : null;
};
const make = (name, className, text) => {
  const element = document.createElement(name);
  if (className) element.className = className;
  if (text !== undefined) element.textContent = text;
  return element;
};
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
const whenThemeChanges = [];

// --- state in the address: #section&zoom=1.5-20&hide=2,3
const KEEP_MS = 200;
const state = { place: "", values: new Map(), kept: -KEEP_MS, keeping: 0 };
function readAddress() {
  const [place, ...pairs] = location.hash.slice(1).split("&");
  state.place = place;
  state.values = new Map(pairs.map((pair) => pair.split("=")).filter((pair) => pair.length === 2));
}
function keep(key, value) {
  if (value) state.values.set(key, value);
  else state.values.delete(key);
  const since = performance.now() - state.kept;
  clearTimeout(state.keeping);
  // browsers take some ten changes of the address a second, and complain of more
  if (since > KEEP_MS) writeAddress();
  else state.keeping = setTimeout(writeAddress, KEEP_MS - since);
}
function writeAddress() {
  const pairs = [...state.values].map(([name, text]) => "&" + name + "=" + text).join("");
  state.kept = performance.now();
  history.replaceState(null, "", "#" + (state.place || (state.values.has("zoom") ? "timeline" : pairs ? "top" : "")) + pairs);
}
const HOLD_MS = 4000;
let held = null;
function showPlace() {
  const target = state.place && document.getElementById(state.place);
  if (!target) return;
  for (let at = target; at; at = at.parentElement) {
    if (at.tagName === "DETAILS") at.open = true;
    if (at.tagName === "TR" && at.hidden) at.closest(".scroll").parentElement.querySelector(".all-rows")?.click();
    if (at.classList.contains("panel") && at.hidden) $("#tab-" + CSS.escape(at.id.slice(6))).click();
  }
  target.scrollIntoView();
  holdPlace(target);
  markCurrent(links().find((link) => link.hash.slice(1) === state.place) || null);
}
// Charts above the target are drawn while one gets there, and move it: it is followed until the reader moves.
function holdPlace(target) {
  const letGo = new AbortController(), sizes = new ResizeObserver(() => target.scrollIntoView({ behavior: "instant" }));
  held?.abort();
  held = letGo;
  letGo.signal.addEventListener("abort", () => sizes.disconnect());
  for (const name of ["wheel", "touchmove", "pointerdown", "keydown"]) {
    addEventListener(name, () => letGo.abort(), { passive: true, signal: letGo.signal });
  }
  setTimeout(() => letGo.abort(), HOLD_MS);
  sizes.observe($("main"));
}

// --- a place on the axis of time, with the digits that steps of `step` seconds ask for
const timeAt = (seconds, step) => (step < 1 ? Number(seconds.toFixed(6)) + NO_BREAK + "s" : humanClock(seconds));

// --- the card beside the pointer
const tip = $("#tip");
function showTip(rows, x, y) {
  tip.replaceChildren(...rows);
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  tip.style.left = Math.max(4, Math.min(x + 14, innerWidth - box.width - 8)) + "px";
  tip.style.top = (y + 18 + box.height > innerHeight ? Math.max(4, y - box.height - 12) : y + 18) + "px";
}
const hideTip = () => { tip.hidden = true; };
function tipRow(label, value, className) {
  const row = make("p", className);
  row.append(make("span", "", label), make("b", "", value));
  return row;
}

// --- a canvas that is as sharp as the screen
function prepare(canvas, height) {
  const width = canvas.clientWidth, scale = devicePixelRatio || 1;
  canvas.style.height = height + "px";
  if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
  }
  const context = canvas.getContext("2d");
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}
function onResize(canvas, draw) {
  let width = 0;
  new ResizeObserver(() => {
    if (canvas.clientWidth === width) return;
    width = canvas.clientWidth;
    draw();
  }).observe(canvas);
}
const press = (buttons, chosen, attribute = "aria-pressed") => buttons.forEach((button) => button.setAttribute(attribute, button === chosen));

// --- theme
const themes = ["automatic", "light", "dark"];
const darkSystem = matchMedia("(prefers-color-scheme: dark)");
let theme = "automatic";
const isDark = () => (theme === "automatic" ? darkSystem.matches : theme === "dark");
function applyTheme() {
  document.documentElement.dataset.theme = isDark() ? "dark" : "light";
  $("#theme").textContent = "Theme: " + theme;
  whenThemeChanges.forEach((redraw) => redraw());
}
function setUpTheme() {
  const known = state.values.get("theme");
  if (themes.includes(known)) theme = known;
  $("#theme").addEventListener("click", () => {
    theme = themes[(themes.indexOf(theme) + 1) % themes.length];
    keep("theme", theme === "automatic" ? "" : theme);
    applyTheme();
  });
  darkSystem.addEventListener("change", applyTheme);
  let before = theme;
  addEventListener("beforeprint", () => {
    before = theme;
    theme = "light";
    applyTheme();
  });
  addEventListener("afterprint", () => { theme = before; applyTheme(); });
}

// --- tables
const MOST_ROWS = 8;
function setUpTable(table) {
  const body = table.tBodies[0], headers = $$("thead th", table);
  const keyOf = (row, column) => {
    const cell = row.cells[column];
    return cell.dataset.sort !== undefined ? Number(cell.dataset.sort) : cell.textContent.trim().toLowerCase();
  };
  headers.forEach((header, column) => {
    const button = make("button", "", header.textContent);
    button.type = "button";
    header.replaceChildren(button);
    button.addEventListener("click", () => {
      const down = header.getAttribute("aria-sort") !== "descending";
      headers.forEach((other) => other.removeAttribute("aria-sort"));
      header.setAttribute("aria-sort", down ? "descending" : "ascending");
      const rows = [...body.rows].map((row) => [keyOf(row, column), row]);
      rows.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0) * (down ? -1 : 1));
      body.append(...rows.map(([, row]) => row));
      fold();
    });
  });
  // a long table shows its first rows until it is asked for all
  const most = MOST_ROWS, all = make("button", "all-rows", "show all " + exactCount(body.rows.length) + " rows");
  let folded = body.rows.length > most + 2, isWanted = () => true;
  const fold = () => {
    let shown = 0;
    for (const row of body.rows) row.hidden = !isWanted(row) || (folded && ++shown > most);
  };
  table.showOnly = (wanted) => { isWanted = wanted; fold(); };
  if (!folded) return;
  all.type = "button";
  all.addEventListener("click", () => { folded = false; fold(); all.remove(); });
  table.parentElement.after(all);
  fold();
}

// --- panels behind a switch
function setUpTabs(list) {
  const tabs = $$("[role=tab]", list);
  const choose = (tab) => {
    press(tabs, tab, "aria-selected");
    tabs.forEach((other) => {
      other.tabIndex = other === tab ? 0 : -1;
      document.getElementById(other.getAttribute("aria-controls")).hidden = other !== tab;
    });
  };
  tabs.forEach((tab, at) => {
    tab.addEventListener("click", () => choose(tab));
    tab.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      const next = tabs[(at + step + tabs.length) % tabs.length];
      choose(next);
      next.focus();
      event.preventDefault();
      event.stopPropagation();
    });
  });
  choose(tabs[0]);
}

// --- list of sections, keys
const links = () => $$("nav li a");
function currentLink() {
  const all = links();
  const aimed = held && !held.signal.aborted && all.find((link) => link.hash.slice(1) === state.place);
  if (aimed) return aimed;
  let current = all[0];
  for (const link of all) {
    const target = document.getElementById(link.hash.slice(1));
    if (target && target.getBoundingClientRect().top < innerHeight * .3) current = link;
  }
  return current;
}
let chosenLink = null;  // a short block at the end cannot come to the top: what was asked for counts, until one scrolls
function markCurrent(chosen = chosenLink) {
  chosenLink = chosen;
  const current = chosen || currentLink();
  links().forEach((link) => (link === current ? link.setAttribute("aria-current", "true") : link.removeAttribute("aria-current")));
  const list = current.closest("ul");
  list.scrollLeft = current.offsetLeft - list.offsetLeft - (list.clientWidth - current.offsetWidth) / 2;  // where it is a row
}
function goTo(step) {
  const all = links(), at = all.indexOf(chosenLink || currentLink()) + step;
  if (at < 0 || at >= all.length) return;
  state.place = all[at].hash.slice(1);
  keep("", "");
  showPlace();
}
const timelineKeys = [];  // the timeline's, also while something else has the focus
function setUpKeys() {
  const help = $("#help");
  $("#help-button").addEventListener("click", () => help.showModal());
  $("#print").addEventListener("click", () => print());
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || help.open) return;
    if (/^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
    if (event.key === "j") goTo(1);
    else if (event.key === "k") goTo(-1);
    else if (event.key === "?") help.showModal();
    else if (event.key === "Escape") hideTip();
    else if ("+-=0".includes(event.key)) timelineKeys.forEach((handle) => handle(event));
  });
  let waiting = false;
  addEventListener("scroll", () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; markCurrent(); });
  }, { passive: true });
  for (const hand of ["wheel", "touchmove", "pointerdown"]) addEventListener(hand, () => { chosenLink = null; }, { passive: true });
  addEventListener("keydown", ({ key }) => { if (/^(Arrow|Page|Home|End| )/.test(key)) chosenLink = null; });
}

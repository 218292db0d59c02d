// The live page: draws what has changed, once a second. This part makes elements. Names in the data are never trusted:
// they only ever become text.
'use strict';

const element = (name, className, text) => {
  const made = document.createElement(name);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
};
const svg = (name, attributes, text) => {
  const made = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
};
const color = (name) => getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim();
const DATASET_COLOURS = 12;  // the last is that of all others
const rows = (table) => Object.entries(state.tables[table] || {}).sort((a, b) => a[0] - b[0]);
const byName = (a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);
// The slot of each dataset's colour, by its index. As in the report, slots go by name, so that a dataset has one colour
// on all pages; if there are too many datasets, those with most events have one each.
function datasetSlots() {
  const all = rows('datasets').map(([index, {name, events}]) => ({index, name, events: events ?? 0}));
  if (all.length > DATASET_COLOURS) all.sort((a, b) => b.events - a.events || byName(a, b)).splice(DATASET_COLOURS - 1);
  const slots = Object.fromEntries(all.sort(byName).map((row, slot) => [row.index, slot]));
  return (index) => slots[index] ?? DATASET_COLOURS - 1;
}
const dataset = (slot) => `var(--dataset${slot + 1})`;

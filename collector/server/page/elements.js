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
const dataset = (index) => `var(--dataset${Math.min(index + 1, DATASET_COLOURS)})`;
const rows = (table) => Object.entries(state.tables[table] || {}).sort((a, b) => a[0] - b[0]);

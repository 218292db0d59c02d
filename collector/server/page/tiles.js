// The key figures, each with a line over the last minute.
function spark(target, values, stroke) {
  target.replaceChildren();
  target.setAttribute('viewBox', '0 0 100 26');
  target.setAttribute('preserveAspectRatio', 'none');
  const known = values.filter((value) => value !== null);
  if (known.length < 2) return;
  const top = Math.max(...known);
  const bottom = Math.min(...known, top * 0.5);
  const points = values.map((value, i) => value === null ? null
    : `${(100 * i / (values.length - 1)).toFixed(1)},${(24 - 22 * (top > bottom ? (value - bottom) / (top - bottom) : 0)).toFixed(1)}`);
  target.append(svg('polyline', {points: points.filter(Boolean).join(' '), fill: 'none', stroke,
    'stroke-width': 1.6, 'vector-effect': 'non-scaling-stroke'}));
}

// `text` is a figure: its number is large, its unit small; `of` says more of it.
const tiles = {};
function tile(row, values, stroke) {
  if (!tiles[row.key]) {
    const card = element('div', 'card tile');
    const head = element('div', 'head');
    const made = {card, label: element('span'), pill: element('span'), value: element('span', 'value'), unit: element('span', 'unit'),
      line: svg('svg', {'aria-hidden': 'true'}), note: element('div', 'note')};
    head.append(made.label, made.pill);
    const figure = element('div');
    figure.append(made.value, NO_BREAK, made.unit);
    card.append(head, figure, made.line, made.note);
    $('tiles').append(card);
    tiles[row.key] = made;
  }
  const made = tiles[row.key];
  const [digits, ...unit] = row.text.split(/\s/u);
  made.label.textContent = row.label;
  made.pill.className = row.mark ? 'pill ' + row.mark : '';
  made.pill.textContent = row.mark ? SIGNS[row.mark] + ' ' + row.mark : '';
  made.value.textContent = digits;
  made.unit.textContent = unit.join(' ');
  made.note.textContent = row.note;
  spark(made.line, values, stroke);
}

// In the order of the columns of `seconds`.
const STROKES = ['var(--events)', 'var(--data)', 'var(--cpu)', 'var(--cpu)', 'var(--dataset2)', 'var(--bad-text)', 'var(--cpu)'];

function drawTiles() {
  const last = rows('seconds').slice(-60).map(([, row]) => row);
  const shown = state.values.tiles.rows.map((row) => row.key);
  for (const key of Object.keys(tiles).filter((key) => !shown.includes(key))) {
    tiles[key].card.remove();
    delete tiles[key];
  }
  state.values.tiles.rows.forEach((row, i) => tile(row, last.map((second) => second[i]), STROKES[i]));
}

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
function tile(name, label, text, of, mark, note, values, stroke) {
  const at = text.indexOf(NO_BREAK);
  const [value, unit] = at < 0 ? [text, of] : [text.slice(0, at), [text.slice(at + 1), of].filter(Boolean).join(' · ')];
  if (!tiles[name]) {
    const card = element('div', 'card tile');
    const head = element('div', 'head');
    const made = {label: element('span'), pill: element('span'), value: element('span', 'value'), unit: element('span', 'unit'),
      line: svg('svg', {'aria-hidden': 'true'}), note: element('div', 'note')};
    head.append(made.label, made.pill);
    const figure = element('div');
    figure.append(made.value, NO_BREAK, made.unit);
    card.append(head, figure, made.line, made.note);
    $('tiles').append(card);
    tiles[name] = made;
  }
  const made = tiles[name];
  made.label.textContent = label;
  made.pill.className = mark ? 'pill ' + mark.mark : '';
  made.pill.textContent = mark ? SIGNS[mark.mark] + ' ' + mark.mark : '';
  made.value.textContent = value;
  made.unit.textContent = unit;
  made.note.textContent = note;
  spark(made.line, values, stroke);
}

function drawTiles() {
  const figures = state.values.tiles;
  const last = rows('seconds').slice(-60).map(([, row]) => row);
  const column = (i) => last.map((row) => row[i]);
  const recent = `last ${state.values.recent.seconds} s`;
  const missing = 'not recorded';
  const told = (value, words) => (value === null ? '–' : words(value));
  const bits = (bytesPerSecond) => humanBitRate(bytesPerSecond * 8 / 1e9);
  tile('events', 'Event rate', told(figures.event_rate, humanRate), '', null,
    figures.event_rate === null ? 'no chunk said its events (SetEvents)' : `${recent} · run mean ${humanRate(figures.mean_event_rate)}`,
    column(0), 'var(--events)');
  tile('bytes', 'Data rate', told(figures.byte_rate, bits), '', null,
    figures.byte_rate === null ? 'no chunk said its bytes (AddBytesRead)' : `${recent} · run mean ${bits(figures.mean_byte_rate)}`,
    column(1), 'var(--data)');
  tile('busy', 'Cores busy', String(figures.busy), `of ${figures.cores}`, null,
    figures.busy_share === null ? missing : `${humanPercent(figures.busy_share)} of the ${recent}`, column(2), 'var(--cpu)');
  tile('cpu', 'CPU efficiency', told(figures.cpu_efficiency, humanPercent), '',
    figures.cpu_efficiency_mark, figures.cpu_efficiency === null ? missing : 'since start · ' + figures.cpu_efficiency_mark.hint,
    column(3), 'var(--cpu)');
  const worst = figures.memory;
  tile('memory', 'Peak memory', worst ? humanMemory(worst.bytes) : '–', worst && worst.share !== null ? humanPercent(worst.share) : '',
    worst ? worst.mark : null,
    !worst ? 'no worker was sampled' : worst.seconds_to_limit !== null ? `${worst.worker}: limit in about ${humanClock(worst.seconds_to_limit)}`
      : `${worst.worker}${worst.mark ? ` of ${humanMemory(worst.limit_bytes)} · ${worst.mark.hint}` : ', no limit known'}`,
    column(4), 'var(--dataset2)');
  const outcome = !figures.failed ? 'none failed' : figures.unrecovered === 0 ? 'all ok on retry'
    : `${figures.recovered} ok on retry, ${figures.unrecovered} without a result, ${figures.lost} lost`;
  tile('failed', 'Failures', String(figures.failed), figures.failed === 1 ? 'attempt' : 'attempts', figures.failed_mark, outcome,
    column(5), 'var(--bad-text)');
}

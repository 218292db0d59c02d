// Rates over the run, and where the time of the last 30 s went.
// A mean over some bins: chunks end in bursts.
function smoothed(values, width) {
  return values.map((_, i) => {
    const from = Math.max(0, i - width + 1);
    const part = values.slice(from, i + 1);
    return part.reduce((sum, value) => sum + value, 0) / part.length;
  });
}

function niceStep(top) {
  const size = 10 ** Math.floor(Math.log10(top / 3));
  return [1, 2, 5, 10].map((factor) => factor * size).find((step) => top / step <= 4.5);
}

function panel(id, values, binSeconds, mean, stroke, unit) {
  const target = $(id);
  target.replaceChildren();
  const width = target.clientWidth || 400;
  const height = 170;
  target.setAttribute('viewBox', `0 0 ${width} ${height}`);
  const left = 46, right = 8, topEdge = 8, bottom = 22;
  const top = Math.max(...values, mean || 0) * 1.08;
  if (values.length < 2 || !(top > 0)) {
    target.append(svg('text', {x: width / 2, y: height / 2, 'text-anchor': 'middle', fill: color('muted'), 'font-size': 12}, 'nothing yet'));
    target.setAttribute('aria-label', 'nothing yet');
    return;
  }
  const x = (i) => left + (width - left - right) * i / (values.length - 1);
  const y = (value) => height - bottom - (height - bottom - topEdge) * value / top;
  const step = niceStep(top);
  for (let tick = 0; tick <= top; tick += step) {
    target.append(svg('line', {x1: left, x2: width - right, y1: y(tick), y2: y(tick), stroke: color('grid')}),
      svg('text', {x: left - 6, y: y(tick) + 4, 'text-anchor': 'end', fill: color('muted'), 'font-size': 11}, humanNumber(tick)));
  }
  const end = values.length * binSeconds;
  const seconds = roundTimeStep(end, 5);
  for (let t = 0; t <= end; t += seconds) {
    const anchor = t === 0 ? 'start' : t > end * .95 ? 'end' : 'middle';
    target.append(svg('text', {x: left + (width - left - right) * t / end, y: height - 6, 'text-anchor': anchor, fill: color('muted'),
      'font-size': 11}, humanClock(t)));
  }
  const line = values.map((value, i) => `${x(i).toFixed(1)},${y(value).toFixed(1)}`).join(' ');
  target.append(svg('polygon', {points: `${x(0)},${y(0)} ${line} ${x(values.length - 1)},${y(0)}`, fill: stroke, 'fill-opacity': 0.15}),
    svg('polyline', {points: line, fill: 'none', stroke, 'stroke-width': 1.8}));
  if (mean) {
    target.append(svg('line', {x1: left, x2: width - right, y1: y(mean), y2: y(mean), stroke: color('muted'), 'stroke-dasharray': '4 3'}),
      svg('text', {x: (left + width) / 2, y: height - bottom - 8, 'text-anchor': 'middle', fill: color('ink'), 'font-size': 11,
        'font-weight': 600}, `mean ${humanCount(mean)} ${unit} (dashed)`));
  }
  target.setAttribute('aria-label', `${humanCount(values[values.length - 1])} ${unit} now, mean ${humanCount(mean)} ${unit}`);
}

function drawPanels() {
  const width = state.values.series_bin_seconds || 1;
  const bins = rows('series').map(([, bin]) => bin).slice(0, -1);  // the last one is not over
  const over = Math.max(1, Math.round(10 / width));
  const {mean_event_rate: meanEvents, mean_byte_rate: meanBytes} = state.values.tiles;
  const scale = (values, mean) => {
    const top = Math.max(...values, mean || 0);
    return top >= 1e6 ? [1e6, ' (M)'] : top >= 1e4 ? [1e3, ' (k)'] : [1, ''];
  };
  const events = smoothed(bins.map((bin) => bin[0] / width), over);
  const [eventScale, eventSuffix] = scale(events, meanEvents);
  $('events-title').textContent = 'Events finished per second' + eventSuffix;
  panel('events-panel', events.map((value) => value / eventScale), width, meanEvents / eventScale, 'var(--events)', '');
  const bytes = smoothed(bins.map((bin) => bin[1] * 8 / width), over);
  const most = Math.max(...bytes, meanBytes * 8 || 0);
  const [bitScale, bitUnit] = most >= 1e9 ? [1e9, 'Gbit/s'] : [1e6, 'Mbit/s'];
  $('bytes-title').textContent = `Data read (${bitUnit})`;
  panel('bytes-panel', bytes.map((value) => value / bitScale), width, meanBytes * 8 / bitScale, 'var(--data)', '');
}

const RECENT_COLOURS = {compute: 'cpu', waiting: 'wait', framework: 'overhead', open: 'still-open', idle: 'idle'};
function drawRecent() {
  const {recent, run} = state.values;
  $('recent-span').textContent = `last ${recent.seconds} s`;
  $('recent-cores').textContent = recent.shares.length ? `share of ${run.cores} ${run.cores === 1 ? 'core' : 'cores'}` : 'no core was at work';
  const target = $('recent');
  target.replaceChildren();
  for (const part of recent.shares) {
    const row = element('div', 'share');
    const track = element('div', 'track none');
    const fill = element('span');
    fill.style.width = 100 * part.share + '%';
    fill.style.background = `var(--${RECENT_COLOURS[part.key]})`;
    track.append(fill);
    row.append(element('span', '', part.label), track, element('b', '', humanPercent(part.share, 1)));
    target.append(row);
  }
}

// What each thread did in the last two minutes: bars come in at the right and leave at the left.
const STREAM = {left: 92, right: 10, axis: 20, most: 96};

// The threads that are drawn, by worker: workers that need help first, so that none of them is cut off.
function streamRows() {
  const lanes = {};
  const see = (worker, lane) => { lanes[worker] = Math.max(lanes[worker] ?? 0, lane + 1); };
  for (const [, row] of rows('stream')) see(row[0], row[1]);
  for (const [, row] of rows('open')) see(row[0], row[1]);
  const names = workerNames();
  const workers = rows('workers').filter(([key]) => lanes[key]).map(([key, worker]) => ({...worker, key, name: names[key], lanes: lanes[key], isBad: worker.state === 'lost' || worker.slow}));
  workers.sort((a, b) => b.isBad - a.isBad);
  const shown = [];
  let count = 0;
  for (const worker of workers) {
    if (count + worker.lanes > STREAM.most && count) break;
    shown.push(worker);
    count += worker.lanes;
  }
  shown.sort((a, b) => a.key - b.key);
  return {workers: shown, count, hidden: workers.length - shown.length};
}

function drawStream() {
  const canvas = $('stream'), {workers, count, hidden} = streamRows(), span = state.values.stream_seconds;
  canvas.parentElement.hidden = !count;
  if (!count) return;
  const height = count <= 16 ? 12 : count <= 48 ? 8 : 5, gap = 4;
  const c = prepareCanvas(canvas, workers.length * gap + count * height + STREAM.axis), width = canvas.clientWidth - STREAM.left - STREAM.right;
  const now = state.values.stream_now, xOf = (t) => STREAM.left + (t - now + span) / span * width;
  const colours = Array.from({length: DATASET_COLOURS}, (_, i) => color('dataset' + (i + 1))), slotOf = datasetSlots(), colourOf = (index) => colours[slotOf(index)];
  const names = {text: color('secondary'), lost: color('bad-text'), slow: color('watch-text'), track: color('track'), card: color('card'), limit: color('limit'), muted: color('muted')};
  const tops = {};
  let y = 0;
  c.font = '11.5px system-ui, sans-serif';
  for (const worker of workers) {
    tops[worker.key] = y;
    c.fillStyle = names.track;
    c.fillRect(STREAM.left, y, width, worker.lanes * height);
    c.textAlign = 'right';
    c.fillStyle = worker.state === 'lost' ? names.lost : worker.slow ? names.slow : names.text;
    const sign = worker.state === 'lost' ? '✕ ' : worker.slow ? '▲ ' : '';
    c.fillText(sign + (worker.name.length > 13 ? '…' + worker.name.slice(-12) : worker.name), STREAM.left - 6, y + worker.lanes * height / 2 + 4);
    y += worker.lanes * height + gap;
  }
  const bar = (from, to, top, colour) => {
    const left = Math.max(STREAM.left, xOf(from)), right = Math.min(STREAM.left + width, xOf(to));
    if (right < STREAM.left || left > STREAM.left + width) return;
    c.fillStyle = colour;
    c.fillRect(left, top, Math.max(1, right - left - .7), height - 1);
  };
  for (const [, [worker, lane, start, stop, set, failed, waiting]] of rows('stream')) {
    if (!(worker in tops)) continue;
    const top = tops[worker] + lane * height;
    bar(start, stop, top, failed ? names.limit : colourOf(set));
    c.globalAlpha = .62;
    if (!failed && waiting > 100 * state.values.stream_pale_above) bar(start, start + (stop - start) * waiting / 100, top, names.card);
    c.globalAlpha = 1;
  }
  for (const [, [worker, lane, start, set]] of rows('open')) {
    if (!(worker in tops)) continue;
    const lost = workers.find((one) => one.key === String(worker)).state === 'lost';
    c.globalAlpha = .45;
    bar(start, now, tops[worker] + lane * height, lost ? names.limit : colourOf(set));
    c.globalAlpha = 1;
  }
  c.textAlign = 'center';
  c.fillStyle = names.muted;
  for (let ago = 0; ago <= span; ago += 30) c.fillText(ago ? `${ago} s ago` : 'now', Math.min(xOf(now - ago), STREAM.left + width - 10), y + 12);
  $('stream-pale').textContent = humanPercent(state.values.stream_pale_above);
  $('stream-hidden').textContent = hidden ? `${hidden} more workers are not drawn` : '';
}

function prepareCanvas(canvas, height) {
  const scale = devicePixelRatio || 1, width = canvas.clientWidth;
  canvas.style.height = height + 'px';
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  const context = canvas.getContext('2d');
  context.setTransform(scale, 0, 0, scale, 0, 0);
  return context;
}

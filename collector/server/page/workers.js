// Who works, and what happened.
const WORDS_OF_ENDS = {ended: '✓ ended', unreported: '· ended without a report', lost: '✕ vanished'};
const MOST_ENDED = 8;  // more of them share one line

// Names of workers without what all of them share, as in the report (collector/format/worker_names.h): the scheme of an
// address, the domain, and the beginning up to a sign between words. `tcp://n1.cern.ch:4000` is `n1:4000`.
function withoutShared(names) {
  const bare = names.map((name) => name.replace(/^[a-z]+:\/\//, ''));
  const domains = new Set(bare.map((name) => {
    const host = name.split(/[:/]/)[0], dot = host.indexOf('.');
    return dot > 0 && dot + 1 < host.length && !/^[0-9.]+$/.test(host) ? host.slice(dot) : '';
  }));
  const domain = domains.size === 1 ? [...domains][0] : '';
  const short = domain ? bare.map((name) => name.replace(domain, '')) : bare;
  let shared = short.length < 2 ? '' : short[0];
  for (const name of short) {
    while (!name.startsWith(shared)) shared = shared.slice(0, -1);
  }
  shared = shared.slice(0, 1 + Math.max(...[...':/-.'].map((sign) => shared.lastIndexOf(sign))));
  return short.includes(shared) ? short : short.map((name) => name.slice(shared.length));
}

// By the number of the worker.
function workerNames() {
  const all = rows('workers'), short = withoutShared(all.map(([, worker]) => worker.name));
  return Object.fromEntries(all.map(([key], i) => [key, short[i]]));
}

function drawWorkers() {
  const target = $('workers');
  target.replaceChildren();
  const names = workerNames(), slotOf = datasetSlots();
  const all = rows('workers').map(([key, row]) => ({...row, short: names[key]})).sort((a, b) => a.concern - b.concern);
  const most = Math.max(1, ...all.map((worker) => worker.memory_limit_bytes || worker.memory_bytes));
  const ended = all.filter((worker) => worker.state === 'ended'), isOneLine = ended.length > MOST_ENDED;
  for (const worker of all) {
    if (isOneLine && worker.state === 'ended') continue;
    const row = element('div', 'worker ' + (worker.state === 'lost' ? 'gone lost' : worker.state === 'running' ? '' : 'gone'));
    const name = element('span', 'name', worker.short);
    name.title = worker.name;
    const lanes = element('span', 'lanes');
    const pale = Math.round(worker.waiting_share_now * worker.lanes.length);
    if (worker.state === 'running') {
      for (let i = 0; i < Math.min(worker.cores, 64); ++i) {
        const lane = element('span', 'lane');
        if (i < worker.lanes.length) {
          lane.style.background = dataset(slotOf(worker.lanes[i]));
          if (i >= worker.lanes.length - pale) lane.classList.add('pale');
        }
        lanes.append(lane);
      }
    }
    lanes.setAttribute('role', 'img');
    lanes.setAttribute('aria-label', `${worker.lanes.length} of ${worker.cores} cores busy`);
    const track = element('div', 'track' + (worker.state === 'running' ? '' : ' none'));
    if (worker.state === 'running') {
      const fill = element('div', 'fill ' + (worker.memory_mark === 'good' ? '' : worker.memory_mark));
      fill.style.width = 100 * worker.memory_bytes / (worker.memory_limit_bytes || most) + '%';
      track.append(fill);
    }
    const figures = element('span', 'figures');
    if (worker.state !== 'running') {
      figures.textContent = WORDS_OF_ENDS[worker.state] + ` · ${humanCount(worker.chunks)} chunks`;
    } else {
      const warns = worker.memory_mark !== 'good';
      figures.append(element('b', warns ? worker.memory_mark : '', (warns ? SIGNS[worker.memory_mark] + ' ' : '') + (worker.memory_bytes ? humanMemory(worker.memory_bytes) : '–')),
        ` · ${humanRate(worker.event_rate_now)}`);
      if (worker.slow) figures.append(' ', element('b', 'watch', SIGNS.watch + ' slow'));
    }
    row.append(name, lanes, track, figures);
    target.append(row);
  }
  if (isOneLine) {
    const row = element('div', 'worker gone'), chunks = ended.reduce((sum, worker) => sum + worker.chunks, 0);
    row.append(element('span', 'name', `${humanCount(ended.length)} workers`), element('span'), element('span'),
      element('span', 'figures', `${WORDS_OF_ENDS.ended} · ${humanCount(chunks)} chunks`));
    row.firstChild.title = ended.map((worker) => worker.name).join('\n');
    target.append(row);
  }
  const limits = [...new Set(all.map((worker) => worker.memory_limit_bytes).filter(Boolean))];
  $('limit').textContent = limits.length === 1 ? ' of ' + humanMemory(limits[0]) : limits.length ? ' of its limit' : '';
  $('workers-hidden').textContent = state.values.workers_hidden ? `${state.values.workers_hidden} more workers: /api/v1/workers` : '';
}

function drawEvents() {
  const target = $('events');
  target.replaceChildren();
  for (const [, event] of rows('events').reverse().sort((a, b) => b[1].seconds - a[1].seconds)) {
    const item = element('li');
    const kind = event.kind === 'warning' ? 'watch' : event.kind;
    const sign = element('span', 'sign ' + kind, SIGNS[event.kind]);
    sign.setAttribute('aria-label', event.kind);
    item.append(element('time', '', humanClock(event.seconds)), sign, element('span', '', event.text));
    target.append(item);
  }
}

// The head: which run, how it stands, how much of it is done.
function drawHead() {
  const {run, tiles, sources} = state.values;
  $('name').textContent = run.name || 'crema';
  document.body.classList.toggle('without-records', run.has_schedulers_only);
  $('dot').className = 'dot ' + (run.has_schedulers_only ? '' : run.state ?? '');
  const words = {running: 'running', finished: 'finished', killed: 'stopped without an end', '': 'ended without a report'};
  const kinds = {running: 'info', finished: 'good', killed: 'bad', '': 'watch'};
  const failed = run.state === 'finished' && run.exit_status;
  $('state').textContent = run.has_schedulers_only ? 'no records' : !run.has_records ? 'waiting for records'
    : (failed ? 'ended with status ' + run.exit_status : words[run.state ?? '']) + ' ' + humanClock(tiles.wall_seconds) + (run.trouble ? ', ' + run.trouble : '');
  $('state').className = 'pill ' + (failed || run.trouble ? 'bad' : run.has_records ? kinds[run.state ?? ''] : 'info');
  const facts = [];
  if (run.workers) facts.push(`${run.workers} ${run.workers === 1 ? 'worker' : 'workers'}, ${run.cores} ${run.cores === 1 ? 'core' : 'cores'}`);
  if (run.engine) facts.push(run.engine);
  if (run.has_records) facts.push('started ' + new Date(run.start_ns / 1e6).toISOString().slice(11, 19) + ' UTC');
  $('facts').textContent = facts.join(' · ');
  $('so-far').hidden = run.state !== 'running' || !run.has_records || run.has_schedulers_only;
  const problems = sources.filter((source) => !source.is_there || source.problem).map((source) => source.problem || source.name + ' has vanished');
  if (run.state === 'running' && run.has_records && tiles.is_quiet) {
    problems.push(`nothing was recorded for ${humanDuration(tiles.quiet_seconds)}: long chunks, or the job hangs`);
  }
  const banner = $('banner'), isOver = run.state !== 'running' && run.has_records;
  banner.hidden = !isOver && problems.length === 0;
  // a link that is being pressed stays
  if (isOver !== (banner.querySelector('a') !== null)) {
    banner.replaceChildren(element('span', 'problems'));
    if (isOver) {
      const link = element('a', '', 'Open the report');
      link.href = 'report';
      banner.prepend('The run is over. ', link, ` or write it: crema report ${sources.map((source) => source.name).join(' ')}`);
    }
  }
  (banner.querySelector('.problems') || banner.appendChild(element('span', 'problems'))).textContent =
    problems.map((problem, i) => (isOver || i ? ' · ' : '') + problem).join('');
}

function drawProgress() {
  const {progress} = state.values;
  const done = $('done');
  done.replaceChildren();
  if (progress.total_events) {
    done.append(element('b', '', `${humanCount(progress.events)} of ${humanCount(progress.total_events)} events`),
      ` · ${humanPercent(progress.share)} · ${humanCount(progress.chunks)} chunks`);
  } else {
    done.append(element('b', '', `${humanCount(progress.chunks)} chunks`),
      ` · ${humanCount(progress.events)} events · total not known (CREMA_TOTAL_EVENTS, --total-events)`);
  }
  const left = $('left');
  left.replaceChildren();
  if (progress.left !== null) {
    left.append('about ', element('b', '', humanClock(progress.left)), ' left');
    if (progress.left_low !== null) {
      const range = progress.left_high === null ? `at least ${humanClock(progress.left_low)}`
        : `between ${humanClock(progress.left_low)} and ${humanClock(progress.left_high)}`;
      left.append(element('span', 'dim', ` (${range})`));
    }
  }
  const slotOf = datasetSlots();
  const all = rows('datasets').map(([index, row]) => ({...row, events: row.events ?? 0, slot: slotOf(index)})).sort((a, b) => a.slot - b.slot);
  const whole = progress.total_events ? Math.max(progress.total_events, progress.events)
    : all.reduce((sum, row) => sum + row.events, 0);
  const bar = $('bar');
  bar.replaceChildren();
  const legend = $('datasets');
  legend.replaceChildren();
  let others = {events: 0, chunks: 0, count: 0};
  for (const row of all) {
    if (all.length > DATASET_COLOURS && row.slot === DATASET_COLOURS - 1) {
      others = {events: others.events + row.events, chunks: others.chunks + row.chunks, count: others.count + 1};
      continue;
    }
    const part = element('span');
    part.style.width = (whole ? 100 * row.events / whole : 0) + '%';
    part.style.background = dataset(row.slot);
    bar.append(part);
    const item = element('li');
    const key = element('span', 'key');
    key.style.background = dataset(row.slot);
    item.append(key, row.name + ' ', element('b', '', humanCount(row.events)));
    if (row.total_events) item.append(' / ' + humanCount(row.total_events));
    item.append(` events, ${humanCount(row.chunks)} chunks`);
    legend.append(item);
  }
  if (others.count) legend.append(element('li', '', `${others.count} more: ${humanCount(others.events)} events`));
  document.title = (progress.share !== null ? humanPercent(progress.share) + ' · ' : '') + (state.values.run.name || 'crema');
}

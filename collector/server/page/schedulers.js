// What managers of TaskVine and Work Queue report, by their log or a catalog.
const cell = (tag, text, className = '') => element(tag, className, text);

function smallTable(head, lines) {
  const table = element('table', 'small');
  const titles = element('tr');
  titles.append(...head.map((title, i) => cell('th', title, i ? 'figure' : '')));
  table.append(titles);
  for (const line of lines) {
    const row = element('tr');
    row.append(...line.map((text, i) => cell('td', text, i ? 'figure' : '')));
    table.append(row);
  }
  return table;
}

function schedulerCard(scheduler) {
  const card = element('section', 'card');
  card.setAttribute('aria-label', 'Scheduler ' + scheduler.address);
  card.append(element('h2', '', `What ${scheduler.address} reports`));
  const count = (name) => (scheduler[name] === null ? '–' : humanCount(scheduler[name]));
  const facts = element('p');
  facts.append(element('b', '', `${count('workers')} workers, ${count('cores')} cores · ${count('tasks')} tasks`),
    `: ${count('processing')} at workers, ${count('waiting')} wait, ${count('erred')} failed`
    + (scheduler.unrunnable ? `, ${count('unrunnable')} with no worker to run on` : ''));
  const missing = scheduler.not_measured;
  const finished = element('p');
  if (scheduler.finished !== null) {
    finished.append(element('b', '', `${humanCount(scheduler.finished)} tasks finished`), ` in ${humanDuration(scheduler.followed_seconds)}`);
  }
  if (scheduler.finished_rate_now !== null) {
    finished.append(', ', element('b', '', `${humanRate(scheduler.finished_rate_now)}`), ' now');
  } else {
    finished.append((scheduler.finished === null ? 'Finished tasks are' : '; at present they are') + ` not known: ${missing.finished_rate_now}`);
  }
  card.append(facts, finished);
  const tables = element('div', 'tables');
  const seconds = (value) => (value === null ? '–' : humanDuration(value));
  if (scheduler.prefixes.length) {
    tables.append(smallTable(['tasks', 'finished', 'their compute time', 'since the scheduler began'],
      scheduler.prefixes.map((row) => [row.prefix, row.finished === null ? '–' : humanCount(row.finished), seconds(row.compute_seconds),
        seconds(row.compute_seconds_in_all)])));
  }
  if (scheduler.finished_by_worker.length) {
    tables.append(smallTable(['worker', 'finished'], scheduler.finished_by_worker.map((row) => [row.worker, humanCount(row.finished)])));
  }
  card.append(tables);
  if (missing.compute_seconds_in_all) {
    card.append(element('p', 'dim', `Seconds since the scheduler began are not known: ${missing.compute_seconds_in_all}.`));
  }
  return card;
}

function drawSchedulers() {
  const {schedulers} = state.values;
  $('schedulers').hidden = schedulers.length === 0;
  $('schedulers').replaceChildren(...schedulers.map(schedulerCard));
}

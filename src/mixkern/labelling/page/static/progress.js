// How far the labels have come: the estimate, the classes, the components, the people.

import { marker, N_COLOURS } from './colour.js';
import { byId, cell, count, counted, el, nameCell, percent } from './dom.js';

const CLASSIFIER =
  'This page trains the SVM of MixtureSVC without its semi-supervised part, to follow each label at once. mixkern fit trains both, which is more accurate on most tables.';

const drawn = new WeakMap(); // element -> copy of what was drawn into it

/** Replace the content of an element only if it differs, so that focus, selection and opened details stay. */
function replace(box, ...children) {
  const next = el('div', {}, ...children);
  if (drawn.get(box)?.isEqualNode(next)) return;
  drawn.set(box, next.cloneNode(true));
  const isOpen = box.querySelector('details')?.open ?? false;
  box.replaceChildren(...next.childNodes);
  if (isOpen && box.querySelector('details')) box.querySelector('details').open = true;
}

/** Draw the estimate and the advice. */
export function drawEstimate({ estimate, advice }) {
  const value = Number.isFinite(estimate?.value)
    ? [
        el('b', {}, percent(estimate.value)),
        estimate.low === null
          ? null
          : el('span', { class: 'muted' }, `${percent(estimate.low)} to ${percent(estimate.high)}`),
      ]
    : [el('span', { class: 'muted' }, 'No estimate yet; it needs a few more labels.')];
  replace(byId('estimate-value'), ...value);
  const sentences = estimate?.sentences ?? [];
  replace(byId('estimate-text'), advice ? el('p', { id: 'advice' }, advice) : null);
  replace(
    byId('estimate-more'),
    sentences.length
      ? el(
          'details',
          {},
          el('summary', {}, 'What this means'),
          [...sentences, CLASSIFIER].map((sentence) => el('p', {}, sentence)),
        )
      : null,
  );
}

/** Return the bar of the i-th class: its name, a bar and its number of labels. */
function bar(i, name, share, number) {
  const fill = el('i', {});
  fill.style.width = `${100 * share}%`;
  return el(
    'li',
    { class: `c${i % N_COLOURS}` },
    el('span', { class: 'class-name' }, marker(i), nameCell(name)),
    el('span', { class: 'track' }, fill),
    el('b', {}, count(number)),
  );
}

/** Return the bars of the classes; `names` are those by their keys. */
function classBars(classes, names) {
  const most = Math.max(1, ...classes.map((one) => one.count));
  return el(
    'ul',
    { class: 'bars', id: 'class-counts' },
    classes.map((one) => bar(names.indexOf(one.name), one.name, one.count / most, one.count)),
  );
}

/** Draw the counts of classes, components and people. */
export function drawProgress(state, names) {
  const { counts, components, users, agreement } = state;
  const facts = [
    [counted(counts.labels, 'label'), `, ${count(counts.random)} drawn at random`],
    [count(counts.skipped), 'skipped'],
    [count(counts.unsure), 'cannot tell'],
  ];
  if (components.total)
    facts.push([`${count(components.without_label)} of ${count(components.total)}`, 'components without a label']);
  replace(
    byId('progress'),
    classBars(state.classes, names),
    el(
      'ul',
      { class: 'facts' },
      facts.map(([number, text]) => el('li', {}, el('b', {}, number), text.startsWith(',') ? text : ` ${text}`)),
    ),
    users.length > 1
      ? el(
          'ul',
          { class: 'facts', id: 'users' },
          users.map((user) => el('li', {}, cell(user.name), ': ', el('b', {}, counted(user.labels, 'label')))),
        )
      : null,
    agreement ? el('p', { id: 'agreement' }, agreement.sentence) : null,
  );
}

/** Draw what the server is computing. */
export function drawStage(state) {
  const text =
    state.stage === 'ready' ? (state.model < state.version ? 'Updating the predictions.' : '') : state.stage_text;
  byId('stage').dataset.stage = state.stage;
  byId('stage').classList.toggle('busy', text !== '');
  if (byId('stage').textContent !== text) byId('stage').textContent = text;
}

/** Draw whether everything is saved. */
export function drawSaved(queue) {
  const box = byId('save-state');
  const alert = byId('alert');
  const n = queue.unsaved;
  const kept = queue.isKept ? `${n === 1 ? 'It is' : 'They are'} kept in this browser.` : 'Keep this page open.';
  if (n === 0) box.textContent = 'all saved';
  else if (!queue.error) box.textContent = `saving ${count(n)} …`;
  else box.textContent = `${count(n)} not saved yet`;
  box.dataset.state = n === 0 ? 'saved' : queue.error ? 'waiting' : 'saving';
  const isOver = queue.error?.status === 401;
  const why = isOver
    ? 'The session is over: log in again or open the address that mixkern label printed.'
    : queue.error?.message;
  const are = `${counted(n, 'label')} ${n === 1 ? 'is' : 'are'} not saved yet, trying again.`;
  replace(
    alert,
    n && queue.error ? `${are} ${why} ${kept} ` : null,
    n && isOver ? el('a', { href: '/' }, 'Reload the page') : null,
    queue.refused.length ? refusedPart(queue) : null,
  );
  alert.hidden = !alert.childNodes.length;
}

/** Return a sentence about answers of rows that the table does not have, with the button that forgets them. */
function refusedPart(queue) {
  const rows = queue.refused.map(({ body }) => {
    const { row, action, label } = body.answers?.[0] ?? body;
    const answer = label ?? { skip: 'skipped', unsure: 'cannot tell' }[action];
    return row === undefined ? `${counted(body.keys.length, 'row')} (${answer})` : `the former row ${count(row + 1)} (${answer})`;
  });
  const n = rows.length;
  return [
    `${counted(n, 'answer')} ${n === 1 ? 'was' : 'were'} not saved: the table has no such row any more, or has it with other cells: ${rows.join(', ')}. `,
    `${n === 1 ? 'It stays' : 'They stay'} in this browser, and the page sends ${n === 1 ? 'it' : 'them'} again when it is opened. `,
    el('button', { type: 'button', id: 'discard', onclick: () => queue.discard() }, 'Discard'),
  ];
}

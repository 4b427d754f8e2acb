// Connect the parts of the page.

import { Again } from './again.js';
import { labelComponent, labelRows } from './bulk.js';
import { drawCard, drawNearest, drawNoCard } from './card.js';
import { Classes } from './classes.js';
import { Curve } from './curve.js';
import { byId, count, counted } from './dom.js';
import { History } from './history.js';
import { listen, openHelp } from './keys.js';
import { Labelling } from './labelling.js';
import { RowMap } from './map.js';
import { Outcome } from './outcome.js';
import { drawEstimate, drawProgress, drawSaved, drawStage } from './progress.js';
import { Queue } from './queue.js';
import { Rename } from './rename.js';
import { Kept, Switch } from './settings.js';
import { State } from './state.js';
import { TableView } from './table.js';
import { tabs } from './tabs.js';
import { unfoldAll } from './value.js';

const { journal, digest, target, user } = document.body.dataset;
const state = new State();
const labelling = new Labelling();
const queue = new Queue([journal, target, user].map(encodeURIComponent).join('/'), (change) => labelling.prepare(change));
labelling.queue = queue;
const outcome = new Outcome();
const curve = new Curve();
const showsGuess = new Switch('guess', false);
const history = new History(open, () => labelling.close());
const again = new Again(openFresh);
const map = new RowMap(openFresh);
const classes = new Classes(journal, (name) => answer('label', name), classesChanged);
const loadedAgain = new Kept('loaded-again');
const rename = new Rename(renamed);
const lines = new TableView(
  (answer) => labelling.send(answer),
  () => labelling.rows,
);
labelling.nameClass = (label) => ({ label, class: classes.numberOf(label), digest }); // another person may rename it
labelling.others = () => lines.cards.filter(({ row }) => !lines.answers.has(row));

/** Whether the table view is shown. */
function isTable() {
  return document.body.dataset.view === 'table';
}

/** Open the card of a row; errors are shown as sentences. */
async function open(row) {
  setTable(false);
  map.selection.clear();
  try {
    await labelling.open(row);
  } catch (error) {
    if (error.status === undefined) throw error;
    outcome.sentence(error.message, 'failed');
  }
}

/** Open the card of a row that was not reached through the history. */
function openFresh(row) {
  history.leave();
  return open(row);
}

/** Answer the current row, or the selected rows while a selection is open. */
function answer(action, label = null) {
  if (map.selection.isOpen) return answerSelection(action, label);
  if (label !== null) classes.flash(label);
  return isTable() ? lines.answer(action, label) : labelling.answer(action, label);
}

/** Label the selected rows; other answers are for single rows. */
async function answerSelection(action, label) {
  const { rows, text } = map.selection;
  if (action !== 'label') return outcome.sentence('Rows are selected on the map: choose a class for them, or press Esc.');
  if (!rows.length) return outcome.sentence(`${text} Press Esc to clear the selection.`);
  if (await labelRows(rows, label, labelling)) map.selection.clear();
  return null;
}

/** Show which rows the answers are for. */
function drawTarget() {
  const { isOpen, rows } = map.selection;
  const row = labelling.card ? `row ${count(labelling.card.number)}` : 'the next row';
  document.body.classList.toggle('has-selection', isOpen);
  byId('card-view').inert = isOpen;
  byId('target').hidden = !rows.length;
  byId('target').textContent = rows.length
    ? `Classes and their keys label the ${counted(rows.length, 'selected row')}, not ${row}.`
    : '';
  for (const id of ['skip', 'unsure']) byId(id).disabled = isOpen || (!labelling.card && !isTable());
}

/** Undo the last step of this user; the card of an undone row is shown. */
function undo() {
  map.selection.clear();
  labelling.undo();
}

/** Draw the current card. */
function drawCurrent() {
  const { card } = labelling;
  if (!labelling.opened) history.leave();
  map.setCurrent(card?.row ?? -1);
  classes.mark(card?.own_label ?? null);
  drawTarget();
  if (!card)
    return drawNoCard(
      labelling.message ||
        (queue.error ? 'The next row comes when the server can be reached again.' : 'Fetching the next row.'),
    );
  const onClose = labelling.opened && labelling.held.length ? () => labelling.close() : null;
  drawCard(card, { classes: classes.names, withGuess: showsGuess.isOn, onClose });
  return drawNearest(card, {
    classes: classes.names,
    onOpen: openFresh,
    onOffer: () => labelComponent(card, labelling),
  });
}

/** Bring the classes up to date, and the cards that show them; returns sentences about what has changed. */
function updateClasses(answer) {
  const before = classes.names;
  const changes = classes.update(answer);
  rename.update(answer.classes);
  map.selection.setClasses(classes.names);
  for (const part of [history, lines]) part.classes = classes.names;
  labelling.names = Math.max(labelling.names, answer.names);
  labelling.renew(labelling.cards).then(() => lines.renewed());
  if (before.join('\n') === classes.names.join('\n')) return changes;
  if (before.length) history.refresh();
  if (labelling.card) drawCurrent();
  return changes;
}

/** Draw the classes after this page has changed them. */
function classesChanged(answer) {
  updateClasses(answer);
  state.changed();
}

/** A class has another name. */
function renamed(answer, old, name) {
  classesChanged(answer);
  outcome.sentence(`Class ${old} is now ${name}, with all its labels.`);
}

/** Show the model's guess always, or only after the answer. */
function setGuess(isOn) {
  showsGuess.set(isOn);
  byId('guess-switch').setAttribute('aria-checked', String(showsGuess.isOn));
  if (labelling.card) drawCurrent();
}

/** Change between the card and the table view. */
function setTable(isOn) {
  if (isOn === isTable()) return;
  map.selection.clear();
  document.body.dataset.view = isOn ? 'table' : 'card';
  byId('table-view').hidden = !isOn;
  byId('card-view').hidden = isOn;
  byId('table-switch').setAttribute('aria-pressed', String(isOn));
  if (isOn && lines.cards.length === lines.answers.size) lines.load();
  else if (isOn) lines.go(lines.line);
  drawCurrent();
}

/** Take in what the server has saved. */
function sent({ detail: { change, answer: result } }) {
  labelling.sent(change, result);
  lines.saved(change);
  if (result.classes) classesChanged(result); // a renaming was undone
  if (change.path === '/api/undo') outcome.undone(result.undone);
  else if (change.path !== '/api/answers') outcome.together(change.body, result);
  else outcome.saved(change, isTable() ? null : labelling.card);
  if (result.undone && result.undone.action !== 'rename' && result.undone.row !== null) showUndone(result.undone.row);
  history.refresh();
  state.refresh();
}

/** Show a row whose answer was undone, in the table view if it is there. */
function showUndone(row) {
  if (isTable() && lines.undone(row)) labelling.close();
  else setTable(false);
}

/** Show what the server has not accepted. */
function rejected({ detail: { change, error } }) {
  labelling.release(change);
  labelling.fill();
  const row = change.body.answers?.[0].row;
  outcome.sentence(
    `${row === undefined ? 'The change' : `Row ${count(row + 1)}`} was not saved: ${error.message}`,
    'failed',
  );
}

/** Draw a new state. */
function update() {
  if (state.now.digest !== digest) return loadAgain();
  labelling.hasNearest = state.now.has_nearest;
  const changes = updateClasses(state.now);
  if (loadedAgain.read()) changes.unshift('The table has changed, so the page was loaded again. Your answers are saved.');
  loadedAgain.write(null);
  if (changes.length) outcome.sentence(changes.join(' ')); // by another person
  drawStage(state.now);
  drawEstimate(state.now);
  drawProgress(state.now, classes.names);
  curve.update(state.now.curve);
  again.update(state.now, classes.names);
  map.update(state.now, classes);
  if (queue.error) queue.send();
  return labelling.fill();
}

/** The server has started again with other rows, or in another order: load the page again as soon as all answers are sent. */
function loadAgain() {
  if (queue.changes.length) return queue.send();
  loadedAgain.write(true);
  return location.reload();
}

/** Show that the server cannot be reached, or that the session is over. */
function unreachable({ detail: error }) {
  byId('stage').classList.add('busy');
  byId('stage').textContent =
    error.status === 401
      ? 'The session is over. Open the address that mixkern label printed, or log in again.'
      : error.message;
}

/** Move between the lines of the table view, or scroll the card unless another part that scrolls has the focus. */
function vertical(step) {
  if (document.activeElement.closest('[role=tab], [role=tabpanel], summary')) return false;
  if (isTable()) return lines.go(lines.line + step);
  const box = byId('card').querySelector('.scroll');
  if (!box || box.scrollHeight <= box.clientHeight) return false;
  return box.scrollBy(0, 60 * step);
}

/** Return the keys of the page. */
function keys() {
  const digits = Array.from({ length: 9 }, (_, i) => String(i + 1));
  const choose = (key) => {
    const why = classes.missing(key - 1);
    if (why) return outcome.sentence(why, 'failed');
    return classes.names[key - 1] === undefined ? false : answer('label', classes.names[key - 1]);
  };
  const one = (key, text, run, more = {}) => ({ keys: [key.toLowerCase()], shown: [key], text, run, ...more });
  return [
    { keys: digits, shown: ['1', '–', '9'], text: 'Label the row, or the rows selected on the map', run: choose },
    one('N', 'New class', () => classes.openInput()),
    one('R', 'Rename a class', () => rename.open()),
    one('S', 'Skip the row', () => answer('skip')),
    one('U', 'Cannot tell', () => answer('unsure')),
    one('Z', 'Undo the last step; again for more', undo),
    {
      keys: ['ArrowLeft', 'ArrowRight'],
      shown: ['←', '→'],
      text: 'Earlier and later labels',
      run: (key) => (isTable() ? false : void (key === 'ArrowLeft' ? history.back() : history.forward())),
    },
    {
      keys: ['ArrowUp', 'ArrowDown'],
      shown: ['↑', '↓'],
      text: 'Scroll the card',
      run: (key) => vertical(key === 'ArrowUp' ? -1 : 1),
      repeats: true,
    },
    one('G', "Show the model's guess always", () => setGuess()),
    one('E', 'Show long texts in full', () => unfoldAll(byId('card'))),
    one('T', 'Table view', () => setTable(!isTable())),
    one('M', 'Go to the map', () => {
      setTable(false);
      byId('map-plot').focus();
    }),
    { shown: ['←', '↑', '↓', '→', '+', '−', '0'], text: 'In the map: move, zoom, show all' },
    { shown: ['Enter'], text: 'In the map: open the row at the cross' },
    { shown: ['A'], text: `In the map: select the visible rows` },
    { shown: ['↑', '↓', 'Enter'], text: 'In the table view: other rows, next rows' },
    one('?', 'This list', openHelp),
    {
      keys: ['Escape'],
      shown: ['Esc'],
      text: 'Clear the selection, or back to the suggestion',
      run: () => {
        if (map.selection.isOpen) return map.selection.clear();
        return labelling.opened ? labelling.close() : false;
      },
    },
  ];
}

/** Start the page. */
async function start() {
  listen(keys());
  tabs(document.querySelector('[role=tablist]'));
  byId('skip').addEventListener('click', () => answer('skip'));
  byId('unsure').addEventListener('click', () => answer('unsure'));
  byId('undo').addEventListener('click', undo);
  byId('back').addEventListener('click', () => history.back());
  byId('forward').addEventListener('click', () => history.forward());
  byId('guess-switch').addEventListener('click', () => setGuess());
  byId('table-switch').addEventListener('click', () => setTable(!isTable()));
  setGuess(showsGuess.isOn);
  labelling.addEventListener('card', drawCurrent);
  map.selection.addEventListener('change', drawTarget);
  map.selection.addEventListener('choose', ({ detail }) => answer('label', detail));
  labelling.addEventListener('answered', ({ detail }) => outcome.answered(detail));
  queue.addEventListener('change', () => drawSaved(queue));
  queue.addEventListener('sent', sent);
  queue.addEventListener('rejected', rejected);
  queue.addEventListener('failed', ({ detail }) => labelling.release(detail.change));
  state.addEventListener('state', update);
  state.addEventListener('unreachable', unreachable);
  await queue.restore(); // what an earlier visit left unsent goes first
  await state.poll();
  history.load();
}

start();

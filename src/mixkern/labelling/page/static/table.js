// The table view: twenty suggestions at once, labelled line by line.

import { get } from './api.js';
import { className } from './card.js';
import { byId, cell, count, el, say } from './dom.js';
import { Stopwatch } from './labelling.js';

const LINES = 20;

/** Return values with the columns that are not learned from last. */
function ordered(values) {
  const isOther = ({ kind }) => kind === 'other';
  return [...values.filter((value) => !isOther(value)), ...values.filter(isOther)];
}

/** The table view. `send(answer)` puts an answer into the queue, `held()` gives the rows that are held elsewhere. */
export class TableView {
  constructor(send, held) {
    this.send = send;
    this.held = held;
    this.cards = [];
    this.answers = new Map(); // row -> {action, label, isSaved, id}
    this.line = 0;
    this.watch = new Stopwatch();
    this.classes = [];
  }

  /** Fetch the next lines. */
  async load() {
    const box = byId('table-view');
    box.replaceChildren(el('p', { class: 'empty' }, 'Fetching rows.'));
    try {
      this.cards = []; // those without an answer come again
      const { cards } = await get(`/api/next?n=${LINES}&held=${this.held().join(',')}`);
      this.cards = cards.filter((card) => !this.held().includes(card.row));
    } catch (error) {
      box.replaceChildren(
        el('p', { class: 'empty' }, error.message),
        el('button', { type: 'button', onclick: () => this.load() }, 'Try again'),
      );
      return;
    }
    this.answers.clear();
    this.draw();
    this.go(0);
  }

  /** Draw the table. */
  draw() {
    const columns = this.cards.length ? ordered(this.cards[0].values) : [];
    const head = el(
      'tr',
      {},
      el('th', { scope: 'col' }, 'Row'),
      el('th', { scope: 'col' }, 'Answer'),
      columns.map(({ column, kind }) => el('th', { scope: 'col', dir: 'auto', class: kind }, column)),
    );
    const lines = this.cards.map((card, i) =>
      el(
        'tr',
        { 'data-row': card.row, tabindex: '-1', onclick: () => this.go(i), onkeydown: (event) => this.key(event) },
        el(
          'th',
          { scope: 'row', title: card.reason },
          count(card.number),
          card.source === 'random' ? el('span', { class: 'badge random', title: 'drawn at random' }, 'random') : null,
        ),
        el('td', { class: 'answer' }),
        ordered(card.values).map((value) => this.value(value)),
      ),
    );
    byId('table-view').replaceChildren(
      el(
        'header',
        {},
        el('h2', { id: 'table-title' }, 'Table view'),
        el(
          'p',
          { class: 'muted' },
          '↑ ↓ moves between rows; 1 to 9, S and U answer the marked row. Each answer is saved at once.',
        ),
        el(
          'button',
          { type: 'button', id: 'next-rows', onclick: () => this.load() },
          `Next ${LINES} rows `,
          el('kbd', {}, 'Enter'),
        ),
      ),
      this.cards.length
        ? el(
            'div',
            { class: 'scroll' },
            el(
              'table',
              { role: 'grid', 'aria-labelledby': 'table-title' },
              el('thead', {}, head),
              el('tbody', {}, lines),
            ),
          )
        : el('p', { class: 'empty' }, 'No row is left to suggest.'),
    );
    this.cards.forEach((card) => this.drawAnswer(card.row));
  }

  /** Return the cell of a value. */
  value(value) {
    if (value.is_gap) return el('td', {}, el('span', { class: 'gap' }, 'gap'));
    const box = cell(value.is_cut ? `${value.text} …` : value.text, 'td');
    box.className = [value.kind, value.unusual && 'is-unusual'].filter(Boolean).join(' ');
    box.title = value.unusual ? `${value.unusual} ${value.text}` : value.text;
    return box;
  }

  /** Mark a line as the current one. */
  go(line, isFocused = true) {
    const lines = byId('table-view').querySelectorAll('tbody tr');
    if (!lines.length) return;
    this.line = Math.max(0, Math.min(lines.length - 1, line));
    lines.forEach((one, i) => {
      one.setAttribute('aria-selected', String(i === this.line));
      one.tabIndex = i === this.line ? 0 : -1;
    });
    if (isFocused) lines[this.line].focus({ preventScroll: true });
    lines[this.line].scrollIntoView({ block: 'nearest' });
    this.watch.start();
  }

  /** Move between lines by keys. */
  key(event) {
    const steps = { ArrowUp: -1, ArrowDown: 1, PageUp: -5, PageDown: 5, Home: -LINES, End: LINES };
    if (event.key in steps) this.go(this.line + steps[event.key]);
    else if (event.key === 'Enter') this.load();
    else return;
    event.preventDefault();
  }

  /** Answer the current line and go to the next one. */
  answer(action, label = null) {
    const card = this.cards[this.line];
    if (!card) return;
    const change = this.send({ card, action, label, seconds: this.watch.seconds });
    this.answers.set(card.row, { action, label, isSaved: false, id: change.id });
    this.drawAnswer(card.row);
    if (this.line + 1 < this.cards.length) this.go(this.line + 1);
    else say('Last row of the table. Enter fetches the next rows.');
  }

  /** The server has saved a change. */
  saved(change) {
    for (const [row, answer] of this.answers) {
      if (answer.id !== change.id) continue;
      answer.isSaved = true;
      this.drawAnswer(row);
    }
  }

  /** The answer to a row was undone; returns whether the row is in the table. */
  undone(row) {
    const line = this.cards.findIndex((card) => card.row === row);
    if (line < 0) return false;
    this.answers.delete(row);
    this.drawAnswer(row);
    this.go(line);
    return true;
  }

  /** Show the present names of classes, after the cards were fetched again. */
  renewed() {
    for (const card of this.cards) {
      const answer = this.answers.get(card.row);
      if (answer?.isSaved && card.own_label) answer.label = card.own_label;
      this.drawAnswer(card.row);
    }
  }

  /** Draw the answer of a row. */
  drawAnswer(row) {
    const box = byId('table-view').querySelector(`tr[data-row="${row}"] .answer`);
    const answer = this.answers.get(row);
    if (!box) return;
    const text = { skip: 'skipped', unsure: 'cannot tell' };
    box.replaceChildren(
      answer ? (answer.action === 'label' ? className(answer.label, this.classes) : text[answer.action]) : '·',
    );
    box.dataset.state = !answer ? 'none' : answer.isSaved ? 'saved' : 'saving';
  }
}

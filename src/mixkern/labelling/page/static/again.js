// Labels to look at again: those that the other labels contradict, and those on which people disagree.

import { get } from './api.js';
import { className } from './card.js';
import { byId, cell, count, el } from './dom.js';

/** Return a list of buttons under a heading, or a sentence. */
function list(title, buttons, sentence) {
  return [
    el('h3', {}, title),
    buttons.length
      ? el(
          'ol',
          { class: 'rows' },
          buttons.map((one) => el('li', {}, one)),
        )
      : el('p', { class: 'muted' }, sentence),
  ];
}

/** The two lists. `onOpen(row)` opens a card. */
export class Again {
  constructor(onOpen) {
    this.onOpen = onOpen;
    this.drawn = '';
  }

  /** Fetch the lists when the model has changed. */
  async update(state, classes) {
    const n = state.n_doubts + state.n_disagreements;
    byId('again-count').textContent = n ? count(n) : '';
    const key = `${state.model}/${state.n_doubts}/${state.n_disagreements}/${classes.join('/')}`;
    if (key === this.drawn) return;
    this.drawn = key;
    this.classes = classes;
    try {
      this.drawDoubts(state.n_doubts ? (await get('/api/doubts')).doubts : []);
      this.drawDisagreements(state.n_disagreements ? (await get('/api/disagreements')).rows : [], state.users.length);
    } catch (error) {
      if (error.status === undefined) throw error;
      this.drawn = '';
    }
  }

  /** Return a button that opens a row. */
  button(row, ...children) {
    return el('button', { type: 'button', 'data-row': row, onclick: () => this.onOpen(row) }, ...children);
  }

  /** Draw the labels that the other labels contradict. */
  drawDoubts(doubts) {
    const buttons = doubts.map((doubt) =>
      this.button(
        doubt.row,
        el('span', { class: 'muted' }, `row ${count(doubt.number)}`),
        el(
          'span',
          {},
          'labelled ',
          className(doubt.label, this.classes),
          ', expected ',
          className(doubt.likely, this.classes),
        ),
        el('span', { class: 'wide muted' }, doubt.reason),
      ),
    );
    byId('doubts').replaceChildren(
      ...list('Labels that the others contradict', buttons, 'No label stands out as mistaken.'),
    );
  }

  /** Draw the rows on which people disagree. */
  drawDisagreements(rows, people) {
    const buttons = rows.map((one) =>
      this.button(
        one.row,
        el('span', { class: 'muted' }, `row ${count(one.number)}`),
        el(
          'span',
          { class: 'votes' },
          one.labels.map(({ user, label }) => el('span', {}, cell(user), ' ', className(label, this.classes))),
        ),
      ),
    );
    const box = byId('disagreements');
    box.replaceChildren(...(people > 1 ? list('People disagree', buttons, 'No row has different labels.') : []));
  }
}

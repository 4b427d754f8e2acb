// Earlier answers of this user, and the way back to them.

import { get } from './api.js';
import { className } from './card.js';
import { byId, cell, count, el, settled } from './dom.js';

const ACTIONS = { skip: 'skipped', unsure: 'cannot tell' };

/** The history. `onOpen(row)` opens a card, `onClose()` returns to the suggestion. */
export class History {
  constructor(onOpen, onClose) {
    this.onOpen = onOpen;
    this.onClose = onClose;
    this.events = [];
    this.hasMore = false;
    this.position = -1; // of the opened event; -1 is the suggestion
    this.classes = [];
    this.refresh = settled(() => this.load(), 250);
  }

  /** Fetch the newest answers. */
  async load() {
    try {
      const { events, more } = await get('/api/history');
      this.events = events;
      this.hasMore = more;
      this.draw();
    } catch (error) {
      if (error.status === undefined) throw error; // the next saved answer asks again
    }
  }

  /** Fetch older answers. */
  async loadMore() {
    const { events, more } = await get(`/api/history?before=${this.events.at(-1).id}`);
    this.events.push(...events);
    this.hasMore = more;
    this.draw();
  }

  /** Go one answer back in time. */
  async back() {
    if (this.position + 1 >= this.events.length && this.hasMore) await this.loadMore();
    if (this.position + 1 < this.events.length) this.go(this.position + 1);
  }

  /** Go one answer forward in time, at the end to the suggestion. */
  forward() {
    if (this.position < 0) return;
    if (this.position === 0) this.onClose();
    else this.go(this.position - 1);
  }

  /** Open the answer at a position. */
  go(position) {
    this.position = position;
    this.onOpen(this.events[position].row);
    this.mark();
  }

  /** Return to the suggestion. */
  leave() {
    this.position = -1;
    this.mark();
  }

  /** Mark the opened answer in the list. */
  mark() {
    const buttons = byId('history').querySelectorAll('button[data-row]');
    buttons.forEach((button, i) => {
      if (i === this.position) button.setAttribute('aria-current', 'true');
      else button.removeAttribute('aria-current');
    });
    byId('back').disabled = this.position + 1 >= this.events.length && !this.hasMore;
    byId('forward').disabled = this.position < 0;
  }

  /** Draw the list. */
  draw() {
    const rows = this.events.map((event, i) =>
      el(
        'li',
        {},
        el(
          'button',
          { type: 'button', 'data-row': event.row, onclick: () => this.go(i) },
          event.action === 'label'
            ? className(event.label, this.classes)
            : el('span', { class: 'muted' }, ACTIONS[event.action]),
          el('span', { class: 'muted' }, `row ${count(event.number)}`),
          cell(event.text, 'span'),
          el(
            'time',
            { datetime: event.at },
            new Date(event.at).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' }),
          ),
        ),
      ),
    );
    const more = this.hasMore
      ? el('button', { type: 'button', class: 'more', onclick: () => this.loadMore() }, 'Older')
      : '';
    byId('history').replaceChildren(
      rows.length ? el('ol', { class: 'rows' }, rows) : el('p', { class: 'muted' }, 'No answer yet.'),
      more,
    );
    this.mark();
  }
}

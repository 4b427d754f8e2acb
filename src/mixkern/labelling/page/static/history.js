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
    try {
      const { events, more } = await get(`/api/history?before=${this.events.at(-1).id}`);
      this.events.push(...events);
      this.hasMore = more;
      this.draw();
    } catch (error) {
      if (error.status === undefined) throw error; // the button and the key stay, to try again
      byId('history-note').textContent = `Older answers could not be fetched. ${error.message}`;
    }
  }

  /** Return the position of the next answer whose row is in the table, by steps of 1 or -1; it may be beyond either end. */
  next(step) {
    let at = this.position + step;
    while (this.events[at]?.row === null) at += step;
    return at;
  }

  /** Go one answer back in time. */
  async back() {
    if (this.next(1) >= this.events.length && this.hasMore) await this.loadMore();
    if (this.next(1) < this.events.length) this.go(this.next(1));
  }

  /** Go one answer forward in time, at the end to the suggestion. */
  forward() {
    if (this.position < 0) return;
    if (this.next(-1) < 0) this.onClose();
    else this.go(this.next(-1));
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
    const opened = String(this.events[this.position]?.id ?? '');
    buttons.forEach((button) => {
      if (button.dataset.event === opened) button.setAttribute('aria-current', 'true');
      else button.removeAttribute('aria-current');
    });
    byId('back').disabled = this.next(1) >= this.events.length && !this.hasMore;
    byId('forward').disabled = this.position < 0;
  }

  /** Return the attributes of a button that opens an answer. */
  opens({ id, row }, i) {
    return { type: 'button', 'data-row': row, 'data-event': id, onclick: () => this.go(i) };
  }

  /** Draw the list. */
  draw() {
    const rows = this.events.map((event, i) =>
      el(
        'li',
        {},
        el(
          event.row === null ? 'div' : 'button',
          event.row === null ? {} : this.opens(event, i),
          event.action === 'label'
            ? className(event.label, this.classes)
            : el('span', { class: 'muted' }, ACTIONS[event.action]),
          el('span', { class: 'muted' }, event.row === null ? 'not in this table' : `row ${count(event.number)}`),
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
      el('p', { class: 'muted', id: 'history-note', role: 'status' }),
      more,
    );
    this.mark();
  }
}

// The order of the cards: the current suggestion, one fetched ahead, and rows that the person opens in between.

import { get, randomId } from './api.js';
import { renameOn } from './card.js';

const HELD = 2; // the current suggestion and one ahead

/** Seconds since a start, without the time in which the page was hidden. */
export class Stopwatch {
  constructor() {
    this.start();
    document.addEventListener('visibilitychange', () => {
      if (document.hidden) this.hidden = performance.now();
      else if (this.hidden) this.since += performance.now() - this.hidden;
    });
  }

  /** Begin at zero. */
  start() {
    this.since = performance.now();
    this.hidden = 0;
  }

  /** The seconds so far, with one decimal. */
  get seconds() {
    return Math.round((performance.now() - this.since) / 100) / 10;
  }
}

/** Which card is shown. Events: "card" (another card), "answered", "undone", "message". */
export class Labelling extends EventTarget {
  constructor() {
    super();
    this.held = [];
    this.opened = null;
    this.asked = 0;
    this.meanwhile = new Set(); // rows answered since a suggestion was requested
    this.message = '';
    this.request = 0;
    this.shown = null;
    this.queue = null;
    this.others = () => []; // cards of the table view
    this.former = {}; // former names of classes, each with the present one
    this.watch = new Stopwatch();
  }

  /** The card that is shown, or null. */
  get card() {
    return this.opened ?? this.held[0] ?? null;
  }

  /** The cards that this page has. */
  get cards() {
    return [...this.held, ...(this.opened ? [this.opened] : []), ...this.others()];
  }

  /** Rows whose cards this page has, or whose answers the server may not have yet: it must not send them again. */
  get rows() {
    const unsent = this.queue.changes.flatMap((change) => change.body.answers ?? []);
    return [...[...this.cards, ...unsent].map(({ row }) => row), ...this.meanwhile];
  }

  /** Whether the next request should bring another suggestion. */
  get isShort() {
    return this.held.length < HELD && this.asked === 0; // one at a time: each request names the cards that are here
  }

  /** Note that a suggestion is requested: a row that is answered before it comes is not shown again. */
  ask() {
    this.asked += 1;
    this.meanwhile.clear();
  }

  /** Fetch suggestions until one is held ahead; errors wait for the next call. */
  async fill() {
    while (this.isShort) {
      this.ask();
      let answer = null;
      try {
        answer = await get(`/api/next?held=${this.rows.join(',')}`);
      } catch {
        // The state of the connection is shown by the queue and the poll, which call this method again.
      }
      this.asked -= 1;
      if (!answer) return;
      this.hold(answer.card, answer.message);
      if (!answer.card) return;
    }
  }

  /** Hold a suggestion that came from the server, unless this page has it already. */
  hold(card, message = '') {
    if (card) renameOn(card, this.former); // it may have been written before a class was renamed
    this.message = card ? '' : message;
    if (card && !this.rows.includes(card.row)) this.held.push(card);
    this.show();
  }

  /** Report the current card if it has changed, and start its time. */
  show() {
    const card = this.card;
    if (card === this.shown && card !== null) return;
    this.shown = card;
    this.watch.start();
    this.dispatchEvent(new Event('card'));
  }

  /** Answer the current card: the next one is shown at once, the answer is sent behind it. */
  answer(action, label = null) {
    const card = this.card;
    if (!card) return null;
    const change = this.send([{ card, action, label, seconds: this.watch.seconds }]);
    this.drop((other) => other.row === card.row);
    return change;
  }

  /** Put answers into the queue as one change. */
  send(answers) {
    const id = randomId(); // one for all of them: they are undone together
    const list = answers.map(({ card, action, label, seconds }) => {
      const answer = { id, row: card.row, action, seconds, source: card.source };
      return action === 'label' ? { ...answer, label } : answer;
    });
    for (const { row } of list) this.meanwhile.add(row);
    const change = this.queue.add('/api/answers', { answers: list });
    this.dispatchEvent(new CustomEvent('answered', { detail: { change, ...answers[0], rows: answers.length } }));
    return change;
  }

  /** Leave the opened card and those held suggestions for which `test` is true. */
  drop(test) {
    this.opened = null;
    this.held = this.held.filter((card) => !test(card));
    this.show();
  }

  /** Open the card of any row; the suggestions wait. */
  async open(row) {
    const request = ++this.request;
    const { card } = await get(`/api/rows/${row}`);
    if (request !== this.request) return;
    this.openCard(card);
  }

  /** Show a card that the server sent, for example of a row whose label was undone. */
  openCard(card) {
    renameOn(card, this.former);
    this.opened = card.row === this.held[0]?.row ? null : card;
    this.show();
  }

  /** Return to the suggestion. */
  close() {
    this.request += 1;
    this.opened = null;
    this.show();
  }

  /** Undo the last change of this user, after those that are not sent yet. */
  undo() {
    this.queue.add('/api/undo', { id: randomId() });
  }

  /** Return the body of a change; an answer also brings the next suggestion if one is needed. */
  prepare(change) {
    if (change.path !== '/api/answers') return change.body;
    change.next = this.isShort;
    if (change.next) this.ask();
    return { ...change.body, next: change.next, held: this.rows };
  }

  /** Take the suggestion that came with a saved answer. */
  sent(change, answer) {
    this.release(change);
    if (change.next) this.hold(answer.card, answer.message);
    if (change.path === '/api/undo' && answer.card) this.openCard(answer.card);
    if (!change.next || answer.card) this.fill();
  }

  /** No longer expect a suggestion from a change that was sent or has failed. */
  release(change) {
    if (change.next) this.asked -= 1;
  }
}

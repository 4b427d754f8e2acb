// The order of the cards: the current suggestion, one fetched ahead, and rows that the person opens in between.

import { get, randomId } from './api.js';

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

/** Which card is shown. Events: "card" (another card, or the same with other contents), "answered". */
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
    this.names = 0; // the last event that has changed names of classes; earlier cards have former names
    this.hasNearest = false; // whether the server knows the labelled rows nearest to a card
    this.nameClass = (label) => ({ label }); // names the class of an answer
    this.isRenewing = false;
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
    const unsent = this.queue.changes.flatMap(({ body }) => body.rows ?? body.answers?.map(({ row }) => row) ?? []);
    return [...this.cards.map(({ row }) => row), ...unsent, ...this.meanwhile];
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
    this.message = card ? '' : message;
    if (card && !this.rows.includes(card.row)) this.held.push(card);
    this.show();
    this.renew(this.held);
  }

  /** Whether a card was made before classes were renamed, merged or separated, or before there were predictions. */
  isOld({ names, nearest }) {
    return names < this.names || (nearest === null && this.hasNearest);
  }

  /** Fetch old cards again; errors wait for the next call. */
  async renew(cards) {
    if (this.isRenewing) return;
    this.isRenewing = true;
    try {
      for (const card of cards.filter((one) => this.isOld(one))) {
        const { source, reason } = card;
        const now = (await get(`/api/rows/${card.row}`)).card;
        const names = Math.max(now.names, this.names);
        if (now.key === card.key) Object.assign(card, now, { source, reason, names });
        if (card === this.card) this.dispatchEvent(new Event('card'));
      }
    } catch (error) {
      if (error.status === undefined) throw error;
    } finally {
      this.isRenewing = false;
    }
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
    const change = this.send({ card, action, label, seconds: this.watch.seconds });
    this.drop((other) => other.row === card.row);
    return change;
  }

  /** Put an answer into the queue. Its row is found by the key: the table may be sorted before the server starts again. */
  send({ card, action, label, seconds }) {
    const { row, key, source } = card;
    const named = action === 'label' ? this.nameClass(label) : {};
    const answer = { id: randomId(), row, key, action, seconds, source, ...named };
    this.meanwhile.add(row);
    const change = this.queue.add('/api/answers', { answers: [answer] });
    this.dispatchEvent(new CustomEvent('answered', { detail: { change, card, action, label } }));
    return change;
  }

  /** Put one label for many rows into the queue; the rows are no longer suggested. */
  sendTogether(rows, label) {
    const all = rows.map(({ row }) => row);
    for (const row of all) this.meanwhile.add(row);
    const keys = rows.map(({ key }) => key);
    this.queue.add('/api/selection', { id: randomId(), ...this.nameClass(label), keys, rows: all });
    this.drop((card) => all.includes(card.row));
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
    this.opened = card.row === this.held[0]?.row ? null : card;
    this.show();
    this.renew([card]);
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

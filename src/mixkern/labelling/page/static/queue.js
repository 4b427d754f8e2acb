// Changes on their way to the server: sent one after another, kept in the browser until the server has saved them.

import { post, randomId } from './api.js';
import { read, readAll, remove, write } from './settings.js';

const LONGEST_PAUSE = 10000; // milliseconds between two attempts

/** Return how many labels a change holds. */
function size(change) {
  return (change.body.answers ?? change.body.keys)?.length ?? 1;
}

/** A queue of changes with the events "change" (of its state), "sent", "failed" (for now) and "rejected". */
export class Queue extends EventTarget {
  /** `name` tells journals and users apart; `prepare(change)` returns the body to send. */
  constructor(name, prepare) {
    super();
    this.prefix = `mixkern-label/unsent/${name}/`;
    this.prepare = prepare;
    this.changes = [];
    this.refused = []; // of rows that the table does not have; they stay in the browser, and are sent by a later visit
    this.isSending = false;
    this.error = null;
    this.failures = 0;
    this.timer = 0;
    addEventListener('online', () => this.send());
    addEventListener('beforeunload', (event) => {
      if (this.changes.length) event.preventDefault();
    });
  }

  /** Number of labels that are not saved yet. */
  get unsaved() {
    return this.changes.reduce((sum, change) => sum + size(change), 0);
  }

  /** Take up what an earlier visit left unsent, and send it. */
  restore() {
    for (const [, text] of readAll(this.prefix)) {
      try {
        this.changes.push(JSON.parse(text));
      } catch {
        // A text that is not JSON was not written by this page.
      }
    }
    this.changes.sort((a, b) => a.made - b.made);
    return this.send();
  }

  /** Add a change and send it as soon as those before it are saved; returns the change. */
  add(path, body) {
    const change = { id: body.id ?? randomId(), path, body, made: Date.now() + this.changes.length / 1000 };
    this.changes.push(change);
    write(this.prefix + change.id, JSON.stringify(change));
    this.send();
    return change;
  }

  /** Send what waits, in order; try again later if the server cannot be reached. */
  async send() {
    if (this.isSending) return;
    clearTimeout(this.timer);
    this.isSending = true;
    while (this.changes.length) {
      this.tell('change');
      const change = this.changes[0];
      try {
        const answer = await post(change.path, this.prepare(change));
        this.finish(change);
        if (answer.gone?.length) this.keepGone(change, answer.gone);
        this.tell('sent', { change, answer });
      } catch (error) {
        if (error.status === undefined) {
          this.isSending = false;
          throw error;
        }
        if (error.isTemporary) {
          this.tell('failed', { change });
          this.wait(error);
          return;
        }
        if (error.isGone) this.refuse(change);
        this.finish(change, error.isGone);
        this.tell('rejected', { change, error });
      }
    }
    this.isSending = false;
    this.tell('change');
  }

  /** Take a change out that the server has saved or rejected. */
  finish(change, stays = false) {
    this.changes.shift();
    if (!stays) remove(this.prefix + change.id);
    this.error = null;
    this.failures = 0;
  }

  /** Show a change of rows that the table does not have; another tab may have sent the same one. */
  refuse(change) {
    if (!this.refused.some(({ id }) => id === change.id)) this.refused.push(change);
  }

  /** Keep the part of a change whose rows the table does not have. */
  keepGone({ path, body, made }, keys) {
    const id = `${body.id} gone`; // the same in every tab
    const change = { id, path, body: { ...body, id, keys, rows: [] }, made };
    this.refuse(change);
    write(this.prefix + id, JSON.stringify(change));
  }

  /** Forget the changes of rows that the table does not have. */
  discard() {
    for (const { id } of this.refused) remove(this.prefix + id);
    this.refused = [];
    this.tell('change');
  }

  /** Try again after a pause that grows with the number of failures. */
  wait(error) {
    this.isSending = false;
    this.error = error;
    this.failures += 1;
    this.timer = setTimeout(() => this.send(), Math.min(LONGEST_PAUSE, 500 * 2 ** this.failures));
    this.tell('change');
  }

  /** Whether the browser keeps the unsent changes when the page is closed. */
  get isKept() {
    return this.changes.every((change) => read(this.prefix + change.id) !== null);
  }

  /** Dispatch an event. */
  tell(type, detail = null) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }
}

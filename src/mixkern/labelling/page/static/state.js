// The state of the session, polled from the server.

import { get } from './api.js';
import { settled } from './dom.js';

const SOON = 1000; // milliseconds while something is being computed
const LATER = 5000;

/** The last answer of /api/state. Events: "state" after each answer, "unreachable" after a failure. */
export class State extends EventTarget {
  constructor() {
    super();
    this.now = null;
    this.timer = 0;
    this.isAsking = false;
    this.isLost = false; // whether the last request failed
    this.changes = 0; // of the classes, by this page
    this.refresh = settled(() => this.poll(), 60);
    document.addEventListener('visibilitychange', () => {
      clearTimeout(this.timer);
      if (!document.hidden) this.poll();
    });
  }

  /** Whether the server is computing. */
  get isComputing() {
    return this.now !== null && (this.now.model < this.now.version || this.now.stage !== 'ready');
  }

  /** Ask for the state after the classes were changed; an answer to an earlier request has their former names, and is not used. */
  changed() {
    this.changes += 1;
    this.refresh();
  }

  /** Ask for the state, and again after a while; hidden pages do not ask. */
  async poll() {
    if (this.isAsking) {
      this.isStale = true;
      return;
    }
    clearTimeout(this.timer);
    this.isAsking = true;
    this.isStale = false;
    const { changes } = this;
    try {
      const answer = await get('/api/state');
      this.isLost = false;
      if (changes !== this.changes) {
        this.isStale = true;
        return;
      }
      this.now = answer;
      this.dispatchEvent(new Event('state'));
    } catch (error) {
      if (error.status === undefined) throw error;
      this.isLost = true;
      this.dispatchEvent(new CustomEvent('unreachable', { detail: error }));
    } finally {
      this.isAsking = false;
      if (this.isStale) this.refresh();
      else if (!document.hidden) {
        this.timer = setTimeout(() => this.poll(), this.isComputing || this.isLost ? SOON : LATER);
      }
    }
  }
}

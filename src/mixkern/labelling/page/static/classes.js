// The buttons of the classes and the input for a new one.

import { post } from './api.js';
import { marker } from './colour.js';
import { byId, count, el, nameCell, say } from './dom.js';
import { Kept } from './settings.js';

/** Return the number of letters of the longer line of a name that is written in two lines. */
function twoLines(name) {
  const words = name.split(/(?<=[\s_./-])/);
  const lengths = words.map((_, i) =>
    Math.max(words.slice(0, i).join('').trim().length, words.slice(i).join('').trim().length),
  );
  return Math.min(...lengths);
}

/** Return the button of the i-th class with its key and marker. */
export function classButton(name, i, onclick, ...more) {
  const key = i < 9 ? el('kbd', {}, String(i + 1)) : el('kbd', { class: 'none' });
  const keys = i < 9 ? { 'aria-keyshortcuts': String(i + 1) } : {};
  const text = nameCell(name);
  text.style.minWidth = `min(${0.88 * twoLines(name)}ch, 10rem)`; // letters are narrower than the digit 0
  const title = name.length > 20 ? { title: name } : {};
  const attributes = { type: 'button', 'data-class': name, ...title, ...keys, onclick };
  return el('button', attributes, key, marker(i), text, ...more);
}

/**
 * The classes as buttons. `onChoose(name)` labels, `onClasses(answer)` receives the classes after an addition.
 * Each class keeps its key and its colour until the tab is closed: where one was merged into another, a place is empty.
 */
export class Classes {
  constructor(journal, onChoose, onClasses) {
    this.onChoose = onChoose;
    this.onClasses = onClasses;
    this.kept = new Kept(`classes/${journal}`);
    this.places = []; // {number, name, into}: of the class, and the name of the one it was merged into or ''
    this.isAsking = false; // whether the page itself has opened the input for the first class
    byId('new-class').addEventListener('click', () => this.openInput());
    byId('new-class-cancel').addEventListener('click', () => this.closeInput());
    byId('new-class-form').addEventListener('submit', (event) => {
      event.preventDefault();
      this.add();
    });
    byId('new-class-name').addEventListener('keydown', (event) => {
      if (event.key === 'Escape') this.closeInput();
    });
  }

  /** Names by their keys; null where a class was merged into another. */
  get names() {
    return this.places.map(({ name, into }) => (into ? null : name));
  }

  /** Bring the classes up to date; returns sentences about what has changed. */
  update({ classes, merged }) {
    const isFirst = !this.isKnown;
    if (isFirst) this.restore(classes, merged);
    const changes = this.place(classes, merged);
    this.isKnown = true;
    this.kept.write(this.places);
    this.draw(new Map(classes.map((one) => [one.number, one.count])));
    if (isFirst && !classes.length) this.ask();
    else if (this.isAsking && classes.length) this.askNoMore();
    return isFirst ? [] : changes;
  }

  /** Take up the places that this tab had before it was loaded again, unless its classes were others. */
  restore(classes, merged) {
    const names = new Map(classes.map(({ number, name }) => [number, name]));
    const before = this.kept.read() ?? [];
    const isSame = ({ number, name, into }) => (into ? number in merged : names.get(number) === name);
    if (before.every(isSame)) this.places = before;
  }

  /** Give each class its place; returns sentences about what has changed. */
  place(classes, merged) {
    const names = new Map(classes.map(({ number, name }) => [number, name]));
    const added = new Map(names);
    const changes = [];
    for (const place of this.places) {
      const now = names.get(place.number);
      const into = now === undefined ? (names.get(merged[place.number]) ?? 'another class') : '';
      if (into && into !== place.into) changes.push(`Class ${place.name} is now part of ${into}.`);
      else if (!into && place.into) changes.push(`Class ${now} is a class of its own again.`);
      else if (!into && now !== place.name) changes.push(`Class ${place.name} is now ${now}.`);
      Object.assign(place, { name: now ?? place.name, into });
      added.delete(place.number);
    }
    for (const [number, name] of added) {
      this.places.push({ number, name, into: '' });
      const key = this.places.length < 10 ? ` It has the key ${this.places.length}.` : '';
      changes.push(`Class ${name} was added.${key}`);
    }
    return changes;
  }

  /** Places by the numbers of classes, 255 where there is none, for at most 255 classes. */
  get byNumber() {
    const places = new Uint8Array(256).fill(255);
    this.places.forEach(({ number }, i) => {
      if (number < 255) places[number] = Math.min(i, 255);
    });
    return places;
  }

  /** Return the number of the class that has a name. */
  numberOf(name) {
    return this.places.find((place) => place.name === name && !place.into)?.number ?? null;
  }

  /** Return why a key has no class any more; empty where it has one or never had. */
  missing(i) {
    const { name, into } = this.places[i] ?? {};
    return into ? `Key ${i + 1} has no class now: ${name} is part of ${into}.` : '';
  }

  /** Draw the buttons with their counts; existing ones stay, so that they keep the focus. */
  draw(counts) {
    const box = byId('classes');
    const buttons = new Map(Array.from(box.children, (button) => [Number(button.dataset.number), button]));
    let at = 0;
    this.places.forEach(({ number, name, into }, i) => {
      let button = buttons.get(number);
      if (into) return void button?.remove();
      button ??= box.insertBefore(this.button(name, i), box.children[at] ?? null);
      if (button.dataset.class !== name) button = this.replace(button, name, i); // it was renamed
      button.querySelector('.count').textContent = count(counts.get(number));
      at += 1;
    });
  }

  /** Return the button of the i-th class. */
  button(name, i) {
    const button = classButton(name, i, () => this.onChoose(name), el('span', { class: 'count' }, '0'));
    button.dataset.number = this.places[i].number;
    return button;
  }

  /** Put a new button in place of one whose class has another name now; returns it. */
  replace(button, name, i) {
    const next = this.button(name, i);
    const hasFocus = button === document.activeElement;
    button.replaceWith(next);
    if (hasFocus) next.focus({ preventScroll: true });
    return next;
  }

  /** Mark the class that the row already has. */
  mark(label) {
    for (const button of byId('classes').children) {
      if (button.dataset.class === label) button.setAttribute('aria-pressed', 'true');
      else button.removeAttribute('aria-pressed');
    }
  }

  /** Let a button flash after its key. */
  flash(name) {
    const button = Array.from(byId('classes').children).find((other) => other.dataset.class === name);
    button?.classList.remove('flash');
    requestAnimationFrame(() => button?.classList.add('flash'));
  }

  /** Ask for the first class. */
  ask() {
    this.openInput('Add the first class, for example yes. Every class gets a key.');
    this.isAsking = true;
  }

  /** Another person has added classes: close the input, unless the person is typing a name. */
  askNoMore() {
    if (/^\d*$/.test(byId('new-class-name').value)) this.closeInput('answer'); // digits are keys that came too early
    else byId('new-class-note').textContent = 'Another person has added classes. Press Esc to label.';
  }

  /** Open the input for a new class. */
  openInput(note = '') {
    byId('new-class-form').hidden = false;
    byId('new-class').setAttribute('aria-expanded', 'true');
    byId('new-class-note').textContent = note;
    byId('new-class-name').value = '';
    byId('new-class-name').focus();
  }

  /** Close the input and move the focus, to the button that opened it unless said otherwise. */
  closeInput(next = 'new-class') {
    this.isAsking = false;
    byId('new-class-form').hidden = true;
    byId('new-class').setAttribute('aria-expanded', 'false');
    byId(next).focus({ preventScroll: true });
  }

  /** Send the new class to the server. */
  async add() {
    const name = byId('new-class-name').value.trim();
    if (!name) return;
    try {
      const answer = await post('/api/classes', { name });
      this.closeInput('answer');
      this.onClasses(answer);
      const i = this.names.indexOf(name);
      say(i >= 0 && i < 9 ? `Class ${name} has the key ${i + 1}.` : `Class ${name} is added.`);
    } catch (error) {
      byId('new-class-note').textContent = error.message;
    }
  }
}

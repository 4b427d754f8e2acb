// The buttons of the classes and the input for a new one.

import { post } from './api.js';
import { marker } from './colour.js';
import { byId, count, el, nameCell, say } from './dom.js';

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

/** The classes as buttons. `onChoose(name)` labels, `onClasses(answer)` receives the classes after an addition. */
export class Classes {
  constructor(onChoose, onClasses) {
    this.onChoose = onChoose;
    this.onClasses = onClasses;
    this.names = [];
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

  /** Bring the buttons up to date; existing ones stay, so that they keep the focus. */
  update(list) {
    const box = byId('classes');
    const isFirst = !this.isKnown && list.length === 0;
    this.isKnown = true;
    this.names = list.map(({ name }) => name);
    list.forEach(({ name, count: n }, i) => {
      let button = box.children[i] ?? box.appendChild(this.button(name, i));
      if (button.dataset.class !== name) button = this.replace(button, name, i); // it was renamed
      button.querySelector('.count').textContent = count(n);
    });
    while (box.children.length > list.length) box.lastChild.remove();
    if (isFirst) this.openInput('Add the first class, for example yes. Every class gets a key.');
  }

  /** Return the button of the i-th class. */
  button(name, i) {
    return classButton(name, i, () => this.onChoose(name), el('span', { class: 'count' }, '0'));
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

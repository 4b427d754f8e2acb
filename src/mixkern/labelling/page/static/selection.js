// Rows selected on the map by an outline, to get one label together. While it is open, answers are for the selection.

import { classButton } from './classes.js';
import { byId, count, counted, el } from './dom.js';

const MOST = 200; // rows that get one label together

/** Let the wheel scroll a line of buttons. */
function scrollAcross(event) {
  event.currentTarget.scrollLeft += event.deltaY + event.deltaX;
  event.preventDefault();
}

/** The selection on a map. Events: "change" after rows are selected or no longer selected, "choose" of a class. */
export class Selection extends EventTarget {
  constructor(map) {
    super();
    this.map = map;
    this.points = []; // those that can be labelled
    this.text = ''; // what is selected; empty where nothing is
    this.classes = [];
    this.outline = []; // in pixels, while it is drawn
    this.isOn = false; // whether dragging draws an outline instead of moving the map
    byId('map-lasso').addEventListener('click', () => this.set(!this.isOn));
  }

  /** Switch between drawing an outline and moving the map. */
  set(isOn) {
    this.isOn = isOn;
    byId('map-lasso').setAttribute('aria-pressed', String(isOn));
    this.map.box.classList.toggle('lasso', isOn);
  }

  /** Begin an outline. */
  start(x, y) {
    this.take([]);
    this.outline = [[x, y]];
  }

  /** Extend the outline. */
  move(x, y) {
    this.outline.push([x, y]);
    this.map.redraw();
  }

  /** Close the outline and select what lies inside. */
  end(isDone) {
    const outline = this.outline;
    this.outline = [];
    this.set(false);
    this.take(isDone && outline.length > 2 ? this.inside(outline) : []);
  }

  /** Return the points inside an outline of pixels. */
  inside(outline) {
    return this.map.grid?.inside(outline.map(([x, y]) => this.map.view.point(x, y))) ?? [];
  }

  /** Select all visible rows: what keyboards have in place of the lasso. */
  takeVisible() {
    const { width, height } = this.map.view;
    this.take(
      this.inside([
        [0, 0],
        [width, 0],
        [width, height],
        [0, height],
      ]),
    );
    const box = byId('map-selection');
    (box.querySelector('[data-class]') ?? box.querySelector('button'))?.focus();
  }

  /** Whether there is a selection, also one that is too large to be labelled. */
  get isOpen() {
    return this.text !== '';
  }

  /** The selected rows, each as {row, key}. */
  get rows() {
    return this.points.map((i) => ({ row: this.map.rows[i], key: this.map.keyOf(i) }));
  }

  /** Select nothing. */
  clear() {
    if (this.isOpen) this.take([]);
  }

  /** Select those of the points whose rows have no label yet. */
  take(points) {
    const free = points.filter((i) => this.map.given[i] === 255);
    const isTooMany = free.length > MOST;
    this.points = isTooMany ? [] : free;
    const labelled = points.length - free.length;
    const rest = labelled ? ` ${counted(labelled, 'labelled row')} left out.` : '';
    if (!points.length) this.text = '';
    else if (isTooMany) this.text = `${count(free.length)} rows are inside; at most ${MOST} can be labelled at once. Zoom in, or draw a smaller outline.`;
    else this.text = `${counted(free.length, 'row')} selected.${rest}`;
    this.draw();
    this.map.redraw();
    this.dispatchEvent(new Event('change'));
  }

  /** Bring the names of the classes up to date. */
  setClasses(names) {
    if (names.join('\n') === this.classes.join('\n')) return;
    this.classes = names;
    this.draw();
  }

  /** Draw what is selected, and what each key does with it. */
  draw() {
    const box = byId('map-selection');
    const hint = this.points.length && !this.classes.some((name) => name !== null) ? ' Add a class to label them.' : '';
    const choose = (name) => this.dispatchEvent(new CustomEvent('choose', { detail: name }));
    const buttons = this.classes.map((name, i) => (name === null ? '' : classButton(name, i, () => choose(name))));
    const clear = { type: 'button', id: 'clear-selection', onclick: () => this.clear() };
    const group = { class: 'choices', role: 'group', 'aria-label': 'Label the selection', onwheel: scrollAcross };
    if (box.contains(document.activeElement)) this.map.box.focus();
    box.hidden = !this.isOpen;
    if (!this.isOpen) return box.replaceChildren();
    return box.replaceChildren(
      el('p', { role: 'status' }, `${this.text}${hint}`),
      this.points.length ? el('div', group, buttons) : '',
      el('button', clear, el('kbd', {}, 'Esc'), 'Clear'),
    );
  }
}

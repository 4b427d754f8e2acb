// Rows selected on the map by an outline, to get one label together.

import { byId, count, counted, el } from './dom.js';

const MOST = 200; // rows that the server takes at once

/** The selection on a map. `onSelect(rows)` labels the selected rows. */
export class Selection {
  constructor(map, onSelect) {
    this.map = map;
    this.onSelect = onSelect;
    this.points = [];
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
    byId('map-selection').querySelector('button')?.focus();
  }

  /** Offer to label those of the points whose rows have no label yet. */
  take(points) {
    const box = byId('map-selection');
    const free = points.filter((i) => this.map.given[i] === 255);
    const isTooMany = free.length > MOST;
    this.points = isTooMany ? [] : free;
    const labelled = points.length - free.length;
    const rest = labelled ? ` ${counted(labelled, 'labelled row')} left out.` : '';
    const text = isTooMany
      ? `${count(free.length)} rows are inside; at most ${MOST} can be labelled at once.`
      : `${counted(free.length, 'row')} selected.${rest}`;
    const label = () =>
      el(
        'button',
        {
          type: 'button',
          class: 'strong',
          id: 'label-selection',
          onclick: () => this.onSelect(this.points.map((i) => this.map.rows[i])),
        },
        'Label them …',
      );
    const cancel = () =>
      el('button', { type: 'button', id: 'cancel-selection', onclick: () => this.take([]) }, 'Cancel');
    if (box.contains(document.activeElement)) this.map.box.focus();
    box.hidden = points.length === 0;
    box.replaceChildren(
      ...(points.length ? [el('span', { role: 'status' }, text), this.points.length ? label() : '', cancel()] : []),
    );
    this.map.redraw();
  }
}

// The map of all rows: its data, its keys, its drawing.

import { getBytes } from './api.js';
import { onScheme } from './colour.js';
import { byId, count, el, percent, say } from './dom.js';
import { listen } from './gesture.js';
import { Grid } from './grid.js';
import { Overlay } from './overlay.js';
import { Pace, pointsOn } from './points.js';
import { Selection } from './selection.js';
import { View } from './view.js';

const HELP = 'Colour: prediction, pale if unsure. Outline: labelled. Ring: this row.';

/** The map. `onOpen(row)` opens a card. */
export class RowMap {
  constructor(onOpen) {
    this.onOpen = onOpen;
    this.view = new View();
    this.pace = new Pace(() => this.redraw(true));
    this.box = byId('map-plot');
    const canvases = ['points', 'above'].map((name) => el('canvas', { class: name, 'aria-hidden': 'true' }));
    this.note = el('p', { class: 'map-note' }, 'The map appears when the structure of the rows has been learned.');
    this.box.append(...canvases, this.note);
    this.canvases = canvases;
    this.points = pointsOn(canvases[0]);
    this.overlay = new Overlay(canvases[1]);
    Object.assign(this, { rows: null, xy: null, predicted: null, given: null, labelled: [] });
    Object.assign(this, {
      currentRow: -1,
      current: -1,
      hovered: -1,
      hasCross: false,
      structure: 0,
      model: 0,
      events: 0,
      names: '',
      classes: [],
    });
    this.selection = new Selection(this);
    listen(this.box, this);
    new ResizeObserver(() => this.resize()).observe(this.box);
    onScheme(() => this.resize());
    byId('map-in').addEventListener('click', () => this.zoom(1.6));
    byId('map-out').addEventListener('click', () => this.zoom(1 / 1.6));
    byId('map-whole').addEventListener('click', () => this.whole());
    this.box.addEventListener('keydown', (event) => this.key(event));
    this.box.addEventListener('focus', () => this.setCross(this.box.matches(':focus-visible')));
    this.box.addEventListener('blur', () => this.setCross(false));
  }

  /** Fetch what has changed on the server; one request at a time. */
  async update(state, classes) {
    this.classes = classes.names;
    this.places = classes.byNumber;
    if (this.isFetching) return;
    this.isFetching = true;
    try {
      if (state.structure && state.structure !== this.structure) await this.fetchPlaces();
      if (this.xy && this.isOutdated(state)) await this.fetchPredictions(state);
    } catch (error) {
      if (error.status === undefined) throw error; // requests that fail are repeated after the next poll
    } finally {
      this.isFetching = false;
    }
  }

  /** Return whether predictions or labels have changed; labels wait for the model that is being trained on them. */
  isOutdated(state) {
    if (this.classes.join('\n') !== this.names || state.model !== this.model) return true;
    return state.events !== this.events && state.model >= state.version;
  }

  /** Fetch the rows of the map, their places and their keys; a point is a place among these rows. */
  async fetchPlaces() {
    const { bytes, version } = await getBytes('/api/map', 'X-Structure');
    this.selection.clear(); // its points are those of the former map
    const n = new DataView(bytes).getUint32(0, true);
    this.structure = version;
    this.rows = new Uint32Array(bytes, 4, n);
    this.xy = new Float32Array(bytes, 4 + 4 * n, 2 * n);
    this.keys = new DataView(bytes, 4 + 12 * n);
    this.grid = new Grid(this.xy);
    this.note.hidden = true;
    this.hovered = -1;
    this.current = this.pointOf(this.currentRow);
    if (this.predicted?.length !== n) this.setPredictions(new Uint8Array(3 * n).fill(255));
    else this.drawPredictions();
  }

  /** Fetch the predicted classes, their confidences and the labels. */
  async fetchPredictions({ events }) {
    const names = this.classes.join('\n'); // merged classes have the number of the class that they are a part of
    const { bytes, version } = await getBytes('/api/predictions', 'X-Model');
    Object.assign(this, { model: version, events, names });
    if (bytes.byteLength === 1.5 * this.xy.length) this.setPredictions(new Uint8Array(bytes));
  }

  /** Take predictions: three blocks of one byte per row, of which the first and the third are numbers of classes. */
  setPredictions(bytes) {
    const n = this.xy.length / 2;
    const placed = (numbers) => numbers.map((number) => this.places[number]);
    this.predicted = placed(bytes.subarray(0, n));
    this.confidence = bytes.subarray(n, 2 * n);
    this.given = placed(bytes.subarray(2 * n));
    this.drawPredictions();
  }

  /** Draw the predicted classes and the labels. */
  drawPredictions() {
    this.labelled = [];
    this.given.forEach((place, i) => {
      if (place !== 255) this.labelled.push(i);
    });
    this.points.set(this.xy, this.predicted, this.confidence);
    this.redraw(true);
  }

  /** Return the key of the row of a point: twelve bytes in hexadecimal, and the number among equal rows where it is not the first. */
  keyOf(i) {
    const bytes = Array.from({ length: 12 }, (_, at) => this.keys.getUint8(16 * i + at).toString(16).padStart(2, '0'));
    const number = this.keys.getUint32(16 * i + 12, true);
    return bytes.join('') + (number > 1 ? `#${number}` : '');
  }

  /** Return the point of a row, or -1 if the row is not on the map; the rows ascend. */
  pointOf(row) {
    let [low, high] = [0, this.rows?.length ?? 0];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.rows[middle] < row) low = middle + 1;
      else high = middle;
    }
    return this.rows?.[low] === row ? low : -1;
  }

  /** Highlight the current row. */
  setCurrent(row) {
    this.currentRow = row;
    this.current = this.pointOf(row);
    const i = this.current;
    if (i >= 0 && this.view.zoom > 1) this.view.reveal(this.xy[2 * i], this.xy[2 * i + 1]);
    this.redraw(true);
  }

  /** Fit the canvases to their box. */
  resize() {
    this.ratio = Math.min(devicePixelRatio || 1, 2);
    this.overlay.reset();
    this.view.width = Math.max(1, this.box.clientWidth);
    this.view.height = Math.max(1, this.box.clientHeight);
    for (const canvas of this.canvases) {
      canvas.width = Math.round(this.view.width * this.ratio);
      canvas.height = Math.round(this.view.height * this.ratio);
    }
    this.redraw(true);
  }

  /** Draw in the next frame; the points only if they have changed. */
  redraw(withPoints = false) {
    this.isDirty ||= withPoints;
    this.frame ??= requestAnimationFrame(() => {
      this.frame = null;
      if (this.isDirty) this.points.draw(this.view, this.ratio, this.pace.step);
      this.isDirty = false;
      this.overlay.draw(this, this.view, this.ratio);
    });
  }

  /** Move by pixels. */
  pan(dx, dy) {
    this.view.pan(dx, dy);
    this.pace.moved();
    this.redraw(true);
  }

  /** Zoom around a pixel, or the centre. */
  zoom(factor, x, y) {
    this.view.zoomAt(factor, x, y);
    this.pace.moved();
    this.redraw(true);
  }

  /** Show all rows. */
  whole() {
    this.view.reset();
    this.redraw(true);
  }

  /** Return the point nearest to a pixel within a distance, or -1. */
  pick(px, py, distance) {
    if (!this.grid) return -1;
    return this.grid.nearest(...this.view.point(px, py), distance / this.view.scaleX, distance / this.view.scale);
  }

  /** Open the row under a pixel. */
  click(px, py, distance) {
    const i = this.pick(px, py, distance);
    if (i >= 0) this.onOpen(this.rows[i]);
  }

  /** Describe the row under the pointer. */
  hover(px, py) {
    const i = px < 0 ? -1 : this.pick(px, py, 8);
    if (i === this.hovered) return;
    this.hovered = i;
    this.box.classList.toggle('over', i >= 0);
    byId('map-help').textContent = i < 0 ? HELP : this.describe(i);
    this.redraw();
  }

  /** Return a sentence about the row of a point. */
  describe(i) {
    const name = (code) => this.classes[code] ?? 'a new class';
    const label = this.given[i] === 255 ? '' : ` Labelled ${name(this.given[i])}.`;
    const guess =
      this.predicted[i] === 255 ? '' : ` Predicted ${name(this.predicted[i])} (${percent(this.confidence[i] / 255)}).`;
    return `Row ${count(this.rows[i] + 1)}.${label}${guess}`;
  }

  /** Show or hide the cross at the centre. */
  setCross(isOn) {
    this.hasCross = isOn;
    this.redraw();
  }

  /** Move, zoom, open and select by keys while the map has the focus. */
  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const step = 40;
    const runs = {
      ArrowLeft: () => this.pan(step, 0),
      ArrowRight: () => this.pan(-step, 0),
      ArrowUp: () => this.pan(0, step),
      ArrowDown: () => this.pan(0, -step),
      '+': () => this.zoom(1.3),
      '=': () => this.zoom(1.3),
      '-': () => this.zoom(1 / 1.3),
      0: () => this.whole(),
      Enter: () => this.click(this.view.width / 2, this.view.height / 2, 60),
      a: () => this.selection.takeVisible(),
      Escape: () => this.selection.take([]),
    };
    if (event.key === 'Escape' && byId('map-selection').hidden) return void this.box.blur(); // and close the card
    if (!runs[event.key]) return;
    event.preventDefault();
    this.setCross(true);
    runs[event.key]();
    if (event.key.startsWith('Arrow') || '+=-0'.includes(event.key)) this.sayCentre();
  }

  /** Read the row at the cross. */
  sayCentre() {
    const i = this.pick(this.view.width / 2, this.view.height / 2, 60);
    say(i < 0 ? 'No row near the centre.' : this.describe(i));
  }
}

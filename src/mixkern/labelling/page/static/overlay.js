// What lies above the points of the map: labelled rows, the selection, the current row, the lasso, the cross.

import { colour, isDark, shape } from './colour.js';

const MOST_LABELLED = 20000; // drawn at once
const RADIUS = 5.5;

/** Drawings above the points, on a canvas of their own. */
export class Overlay {
  constructor(canvas) {
    this.canvas = canvas;
    this.context = canvas.getContext('2d');
    this.sprites = new Map();
  }

  /** Forget the drawn markers, because the colours or the resolution have changed. */
  reset() {
    this.sprites.clear();
  }

  /** Return the marker of the i-th class with its outline, as a small canvas. */
  sprite(i, ratio) {
    if (this.sprites.has(i)) return this.sprites.get(i);
    const size = Math.ceil(2 * (RADIUS + 2) * ratio);
    const canvas = document.createElement('canvas');
    canvas.width = canvas.height = size;
    const context = canvas.getContext('2d');
    const path = new Path2D(shape(i));
    context.translate(size / 2, size / 2);
    context.scale(RADIUS * ratio * 0.85, RADIUS * ratio * 0.85);
    context.lineJoin = 'round';
    context.lineWidth = 0.85;
    context.strokeStyle = isDark() ? '#000' : '#fff';
    context.stroke(path);
    context.lineWidth = 0.42;
    context.strokeStyle = isDark() ? '#fff' : '#111';
    context.stroke(path);
    context.fillStyle = colour(i);
    context.fill(path);
    this.sprites.set(i, canvas);
    return canvas;
  }

  /** Draw everything; `map` is a RowMap. */
  draw(map, view, ratio) {
    const { context } = this;
    const ink = isDark() ? '#fff' : '#111';
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, view.width, view.height);
    if (map.xy) {
      this.labelled(map, view, ratio);
      context.lineWidth = 1.5;
      context.strokeStyle = ink;
      for (const i of map.selection.points) this.ring(view, map.xy, i, 4);
      if (map.hovered >= 0) this.ring(view, map.xy, map.hovered, 6);
      if (map.current >= 0) this.target(view, map.xy, map.current, ink);
    }
    if (map.selection.outline.length > 1) this.lasso(map.selection.outline, ink);
    if (map.hasCross) this.cross(view, ink);
  }

  /** Draw the labelled rows as markers. */
  labelled({ xy, given, labelled }, view, ratio) {
    const step = Math.max(1, Math.ceil(labelled.length / MOST_LABELLED));
    for (let at = 0; at < labelled.length; at += step) {
      const i = labelled[at];
      const [x, y] = view.pixel(xy[2 * i], xy[2 * i + 1]);
      if (x < -9 || y < -9 || x > view.width + 9 || y > view.height + 9) continue;
      const sprite = this.sprite(given[i], ratio);
      const half = sprite.width / ratio / 2;
      this.context.drawImage(sprite, x - half, y - half, 2 * half, 2 * half);
    }
  }

  /** Draw a circle around a row. */
  ring(view, xy, i, radius) {
    const [x, y] = view.pixel(xy[2 * i], xy[2 * i + 1]);
    this.context.beginPath();
    this.context.arc(x, y, radius, 0, 2 * Math.PI);
    this.context.stroke();
  }

  /** Draw the current row: a double ring with four ticks. */
  target(view, xy, i, ink) {
    const { context } = this;
    const [x, y] = view.pixel(xy[2 * i], xy[2 * i + 1]);
    for (const [width, style] of [
      [5, isDark() ? '#16181b' : '#fff'],
      [2, ink],
    ]) {
      context.lineWidth = width;
      context.strokeStyle = style;
      context.beginPath();
      context.arc(x, y, 9, 0, 2 * Math.PI);
      for (const [dx, dy] of [
        [1, 0],
        [-1, 0],
        [0, 1],
        [0, -1],
      ]) {
        context.moveTo(x + 9 * dx, y + 9 * dy);
        context.lineTo(x + 15 * dx, y + 15 * dy);
      }
      context.stroke();
    }
    context.fillStyle = ink;
    context.fillRect(x - 1.5, y - 1.5, 3, 3);
  }

  /** Draw the outline of the lasso. */
  lasso(outline, ink) {
    const { context } = this;
    context.beginPath();
    outline.forEach(([x, y]) => context.lineTo(x, y));
    context.closePath();
    context.fillStyle = isDark() ? 'rgb(255 255 255 / 12%)' : 'rgb(0 0 0 / 8%)';
    context.fill();
    context.setLineDash([5, 4]);
    context.lineWidth = 1.5;
    context.strokeStyle = ink;
    context.stroke();
    context.setLineDash([]);
  }

  /** Draw the cross at the centre that keyboards aim with. */
  cross(view, ink) {
    const { context } = this;
    const [x, y] = [view.width / 2, view.height / 2];
    context.lineWidth = 1;
    context.strokeStyle = ink;
    context.beginPath();
    context.moveTo(x - 10, y);
    context.lineTo(x + 10, y);
    context.moveTo(x, y - 10);
    context.lineTo(x, y + 10);
    context.stroke();
  }
}

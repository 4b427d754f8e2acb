// Which part of the map is visible: a centre in the coordinates of the rows and a scale in pixels.

const MOST_ZOOM = 400;

/** Conversion between the coordinates of the rows (-1..1, y upwards) and pixels (y downwards). */
export class View {
  constructor() {
    this.width = 1;
    this.height = 1;
    this.reset();
  }

  /** Show all rows. */
  reset() {
    this.x = 0;
    this.y = 0;
    this.zoom = 1;
  }

  /** Pixels for one unit of the coordinates. */
  get scale() {
    return this.zoom * 0.48 * Math.min(this.width, this.height);
  }

  /** Pixels for one unit along x: the map fills a wide box at no zoom. */
  get scaleX() {
    return this.scale * Math.min(2.3, Math.max(1, this.width / this.height));
  }

  /** Return the pixel of a point. */
  pixel(x, y) {
    return [(x - this.x) * this.scaleX + this.width / 2, (this.y - y) * this.scale + this.height / 2];
  }

  /** Return the point of a pixel. */
  point(px, py) {
    return [(px - this.width / 2) / this.scaleX + this.x, this.y - (py - this.height / 2) / this.scale];
  }

  /** Move by pixels. */
  pan(dx, dy) {
    this.x = Math.max(-1.2, Math.min(1.2, this.x - dx / this.scaleX));
    this.y = Math.max(-1.2, Math.min(1.2, this.y + dy / this.scale));
  }

  /** Zoom by a factor; the point under the pixel stays in place. */
  zoomAt(factor, px = this.width / 2, py = this.height / 2) {
    const [x, y] = this.point(px, py);
    this.zoom = Math.max(0.8, Math.min(MOST_ZOOM, this.zoom * factor));
    const [nx, ny] = this.point(px, py);
    this.x += x - nx;
    this.y += y - ny;
  }

  /** Move a point into view if it is outside. */
  reveal(x, y) {
    const [px, py] = this.pixel(x, y);
    const margin = 12;
    if (px > margin && py > margin && px < this.width - margin && py < this.height - margin) return;
    this.x = x;
    this.y = y;
  }
}

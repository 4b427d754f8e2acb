// A grid over the points of the map: finds the nearest point and the points inside an outline quickly.

const CELLS = 256; // per side

/** Return the column or line of the grid for a coordinate within -1..1. */
function cellOf(value) {
  return Math.max(0, Math.min(CELLS - 1, Math.floor(((value + 1) / 2) * CELLS)));
}

/** Points sorted by the cell of the grid that they lie in. */
export class Grid {
  /** `xy` holds x0, y0, x1, y1, ... */
  constructor(xy) {
    this.xy = xy;
    const n = xy.length / 2;
    const cells = new Uint16Array(n);
    this.starts = new Uint32Array(CELLS * CELLS + 1);
    for (let i = 0; i < n; i += 1) {
      cells[i] = cellOf(xy[2 * i + 1]) * CELLS + cellOf(xy[2 * i]);
      this.starts[cells[i] + 1] += 1;
    }
    for (let c = 0; c < CELLS * CELLS; c += 1) this.starts[c + 1] += this.starts[c];
    const next = this.starts.slice(0, -1);
    this.order = new Uint32Array(n);
    for (let i = 0; i < n; i += 1) this.order[next[cells[i]]++] = i;
  }

  /** Call `visit(i)` for every point in the cells that a box touches; stops when it returns true. */
  visit(x0, y0, x1, y1, visit) {
    for (let row = cellOf(y0); row <= cellOf(y1); row += 1) {
      const from = this.starts[row * CELLS + cellOf(x0)];
      const to = this.starts[row * CELLS + cellOf(x1) + 1];
      for (let at = from; at < to; at += 1) if (visit(this.order[at])) return;
    }
  }

  /** Return the point nearest to (x, y) within the radii rx and ry, or -1. */
  nearest(x, y, rx, ry) {
    let best = -1;
    let least = 1;
    this.visit(x - rx, y - ry, x + rx, y + ry, (i) => {
      const distance = ((this.xy[2 * i] - x) / rx) ** 2 + ((this.xy[2 * i + 1] - y) / ry) ** 2;
      if (distance >= least) return;
      best = i;
      least = distance;
    });
    return best;
  }

  /** Return the points inside a closed outline of [x, y] pairs. */
  inside(outline) {
    const xs = outline.map(([x]) => x);
    const ys = outline.map(([, y]) => y);
    const found = [];
    this.visit(Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys), (i) => {
      if (isInside(this.xy[2 * i], this.xy[2 * i + 1], outline)) found.push(i);
    });
    return found;
  }
}

/** Whether a point lies inside an outline: a ray from it crosses the outline an odd number of times. */
function isInside(x, y, outline) {
  let isIn = false;
  for (let i = 0, j = outline.length - 1; i < outline.length; j = i, i += 1) {
    const [xi, yi] = outline[i];
    const [xj, yj] = outline[j];
    if (yi > y !== yj > y && x < ((xj - xi) * (y - yi)) / (yj - yi) + xi) isIn = !isIn;
  }
  return isIn;
}

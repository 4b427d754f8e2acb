// The estimated accuracy with its interval, against the number of labels.

import uPlot from './vendor/uPlot.esm.js';
import { colour, isDark, onScheme } from './colour.js';
import { byId, percent } from './dom.js';

/** Return the curve as columns for uPlot, ascending in labels, the latest estimate for each number of labels. */
function columns(curve) {
  const latest = new Map(curve.map((point) => [point.labels, point]));
  const points = [...latest.values()].sort((a, b) => a.labels - b.labels);
  return ['labels', 'low', 'high', 'value'].map((name) => points.map((point) => point[name]));
}

/** The curve in the element #curve. */
export class Curve {
  constructor() {
    this.box = byId('curve');
    this.data = null;
    new ResizeObserver(() => this.fit()).observe(this.box);
    onScheme(() => this.build());
  }

  /** Draw the curve of a state if it has changed. */
  update(curve) {
    const data = columns(curve);
    const text = JSON.stringify(data);
    if (text === this.text) return;
    this.text = text;
    this.data = data;
    const last = curve.at(-1);
    this.box.setAttribute(
      'aria-label',
      last
        ? `Estimated accuracy against the number of labels: ${percent(last.value)} after ${last.labels} labels, interval ${percent(last.low)} to ${percent(last.high)}.`
        : 'No estimate yet',
    );
    if (this.plot && this.hasDots === this.data[0].length < 3) this.plot.setData(data);
    else this.build();
  }

  /** Return the size of the element. */
  size() {
    return { width: Math.max(80, this.box.clientWidth), height: Math.max(60, this.box.clientHeight) };
  }

  /** Fit the curve to its element. */
  fit() {
    this.plot?.setSize(this.size());
  }

  /** Make the plot anew, with the colours of the page. */
  build() {
    this.plot?.destroy();
    this.plot = null;
    if (!this.data || this.data[0].length === 0) return;
    this.hasDots = this.data[0].length < 3;
    const [muted, line] = isDark() ? ['#a3a9b0', '#2d3237'] : ['#5f6368', '#e6e8eb'];
    const main = colour(0);
    const points = { show: this.hasDots, size: 6, fill: main };
    const axis = {
      stroke: muted,
      font: '11px system-ui, sans-serif',
      grid: { stroke: line, width: 1 },
      ticks: { show: false },
    };
    const share = (_, values) => values.map((value) => `${Math.round(value * 100)} %`);
    this.plot = new uPlot(
      {
        ...this.size(),
        padding: [8, 8, 0, 0],
        legend: { show: false },
        cursor: { show: false },
        scales: {
          x: { time: false, range: (_, low, high) => [low, Math.max(high, low + 4)] },
          y: { range: (_, low) => [Math.max(0, Math.floor((low - 0.02) * 10) / 10), 1] },
        },
        axes: [
          {
            ...axis,
            size: 22,
            gap: 4,
            label: 'labels',
            labelSize: 14,
            labelGap: 0,
            labelFont: '11px system-ui, sans-serif',
            space: 40,
            incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000],
          },
          { ...axis, size: 42, gap: 4, space: 26, values: share },
        ],
        series: [
          {},
          { stroke: 'transparent', points: { show: false } },
          { stroke: 'transparent', points: { show: false } },
          { stroke: main, width: 2, points },
        ],
        bands: [{ series: [2, 1], fill: `${main}33` }],
      },
      this.data,
      this.box,
    );
    this.fit(); // the element had no size while it was empty
  }
}

// Where a value lies among all rows: a histogram for numbers, a bar of shares for categories.

import { cell, el, percent, svg } from './dom.js';

const WIDTH = 112;
const HEIGHT = 18;

/** Return the histogram of a column with the bin of the value marked; `at` is null for a gap. */
export function histogram({ counts, at, low, high, ends }) {
  const width = WIDTH / counts.length;
  const top = Math.max(1, ...counts);
  const marked = at === null ? -1 : Math.min(counts.length - 1, Math.floor(at * counts.length));
  const bars = counts.map((n, i) => {
    const height = n ? Math.max(1, (n / top) * HEIGHT) : 0;
    const place = { x: i * width, y: HEIGHT - height, width: Math.max(0.5, width - 1), height };
    return svg('rect', { ...place, class: i === marked ? 'marked' : null });
  });
  const x = (marked + 0.5) * width - 0.5;
  const pointer = at === null ? null : svg('path', { class: 'pointer', d: `M${x} ${HEIGHT + 1}l3.6 5.5h-7.2Z` });
  const label = at === null ? `Values from ${low} to ${high}.` : `At ${percent(at)} of the way from ${low} to ${high}.`;
  const picture = svg(
    'svg',
    { viewBox: `-4 -1 ${WIDTH + 8} ${HEIGHT + 9}`, class: 'histogram', role: 'img', 'aria-label': label },
    ...bars,
    svg('path', { class: 'axis', d: `M0 ${HEIGHT + 0.5}H${WIDTH}` }),
    pointer,
  );
  return el(
    'div',
    { class: 'place' },
    el('span', { class: 'end low', title: low, 'aria-hidden': 'true' }, cell(ends[0])),
    picture,
    el('span', { class: 'end', title: high, 'aria-hidden': 'true' }, cell(ends[1])),
  );
}

/** Return the share of rows with a category, beside the shares of the most frequent categories. */
export function shares({ text, share, common }) {
  const parts = [...(common ?? [])];
  if (share !== null && !parts.some((part) => part.text === text)) parts.push({ text, share });
  const bar = el('div', { class: 'shares', 'aria-hidden': 'true' });
  for (const part of parts) {
    const segment = el('i', {
      title: `${part.text}: ${percent(part.share)}`,
      class: part.text === text ? 'marked' : null,
    });
    segment.style.flexGrow = Math.max(part.share, 0.01);
    bar.append(segment);
  }
  const rest = 1 - parts.reduce((sum, part) => sum + part.share, 0);
  if (rest > 0.005) {
    const segment = el('i', { class: 'rest', title: `others and gaps: ${percent(rest)}` });
    segment.style.flexGrow = rest;
    bar.append(segment);
  }
  const note = share === null ? null : el('span', { class: 'end' }, `${percent(share)} of rows`);
  return el('div', { class: 'place of-shares' }, bar, note);
}

// Colours and markers of the classes: those of mixkern.plot.style, on light and on dark backgrounds.

import { svg } from './dom.js';

const LIGHT = [
  '#0072B2',
  '#E69F00',
  '#009E73',
  '#CC79A7',
  '#D55E00',
  '#56B4E9',
  '#F0E442',
  '#6A51A3',
  '#8C564B',
  '#6B8E23',
];
const DARK = [
  '#4FA3E3',
  '#F2B33D',
  '#2FBF91',
  '#E29BC6',
  '#F17F42',
  '#9AD8F8',
  '#F5EC72',
  '#B3A2E8',
  '#C99A8B',
  '#A5C84B',
];
const NONE = { light: '#9aa0a6', dark: '#7c838a' };

// Circle, triangle, square, diamond, triangle down, plus, cross; within -1..1.
const SHAPES = [
  'M0-.9A.9.9 0 0 1 0 .9A.9.9 0 0 1 0-.9Z',
  'M0-1L1 .8H-1Z',
  'M-.8-.8H.8V.8H-.8Z',
  'M0-1.05L1.05 0L0 1.05L-1.05 0Z',
  'M0 1L1-.8H-1Z',
  'M-.35-1H.35V-.35H1V.35H.35V1H-.35V.35H-1V-.35H-.35Z',
  'M0-.5L.5-1L1-.5L.5 0L1 .5L.5 1L0 .5L-.5 1L-1 .5L-.5 0L-1-.5L-.5-1Z',
];

export const N_COLOURS = LIGHT.length;
const scheme = matchMedia('(prefers-color-scheme: dark)');

/** Whether the page is dark. */
export function isDark() {
  return scheme.matches;
}

/** Run a function when the page turns dark or light. */
export function onScheme(run) {
  scheme.addEventListener('change', run);
}

/** Return the colours of the classes in order. */
export function colours() {
  return isDark() ? DARK : LIGHT;
}

/** Return the colour of the i-th class, or of rows without one. */
export function colour(i) {
  return i < 0 || i === 255 ? NONE[isDark() ? 'dark' : 'light'] : colours()[i % N_COLOURS];
}

/** Return the outline of the i-th class's marker as an SVG path. */
export function shape(i) {
  return SHAPES[(i + Math.floor(i / N_COLOURS)) % SHAPES.length];
}

/** Return the marker of the i-th class as an SVG element; the style sheet colours it. */
export function marker(i) {
  const path = svg('path', { d: i < 0 ? SHAPES[0] : shape(i) });
  return svg(
    'svg',
    { class: `marker c${i < 0 ? 'none' : i % N_COLOURS}`, viewBox: '-1.3 -1.3 2.6 2.6', 'aria-hidden': 'true' },
    path,
  );
}

// Elements, numbers and sentences. Every text of the table enters the page through `el`, as a text node.

const SVG = 'http://www.w3.org/2000/svg';
const NUMBER = new Intl.NumberFormat('en');

/** Set attributes (`onclick` and the like add listeners) and append children; empty children are left out. */
function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith('on')) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? '' : value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== ''));
  return node;
}

/** Return a new HTML element; strings among the children become text nodes. */
export function el(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** Return a new SVG element. */
export function svg(tag, attributes, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

/** Return the element with an id. */
export function byId(id) {
  return document.getElementById(id);
}

/** Return a text of the table in an element of its own direction. */
export function cell(text, tag = 'bdi') {
  return el(tag, { dir: 'auto' }, text);
}

/** Return the name of a class or column, which breaks at spaces and after underscores, dots and slashes only. */
export function nameCell(text, tag = 'bdi') {
  const parts = text.split(/(?<=[_./])(?=\p{L})/u).flatMap((part) => [el('wbr'), part]);
  return el(tag, { dir: 'auto' }, ...parts.slice(1));
}

/** Return the badge of a gap. */
export function gap() {
  return el('span', { class: 'gap' }, 'gap');
}

/** Return a whole number with separators: 4,712. */
export function count(number) {
  return NUMBER.format(number);
}

/** Return a number with a noun: "1 row", "12 rows". */
export function counted(number, noun) {
  return `${count(number)} ${noun}${number === 1 ? '' : 's'}`;
}

/** Return a share as "72 %"; shares near 0 and 1 are not rounded to them. */
export function percent(share) {
  const value = share * 100;
  if (value > 0 && value < 1) return '< 1\u00a0%';
  if (value < 100 && value > 99) return '> 99\u00a0%';
  return `${Math.round(value)}\u00a0%`;
}

/** Read a sentence to users of screen readers. */
export function say(text) {
  byId('live').textContent = text;
}

/** Return a function that runs at most once per pause, after calls have stopped for `pause` milliseconds. */
export function settled(run, pause) {
  let timer = 0;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(run, pause);
  };
}

// One column of a card: its name, the text of the table, and where the value lies among all rows.

import { get } from './api.js';
import { cell, el, gap, nameCell } from './dom.js';
import { histogram, shares } from './histogram.js';
import { Switch } from './settings.js';

const LONG = 180; // characters beyond which a text is folded
const LINES = 3;
const LINE = { 'has-long-name': 16, 'has-longish-name': 11 }; // letters in a line of a column's name, on a phone fewer
const NAME_LINES = 2;
const WIDE = 11; // characters beyond which a value does not fit beside its histogram

export const isUnfolded = new Switch('unfolded', false);

/** Return the place of a value among all rows, or nothing. */
function place(value) {
  if (value.histogram) return histogram(value.histogram);
  if (value.share !== null || value.common?.length) return shares(value);
  return null;
}

/** Whether a text is folded at first. */
function isLong(value) {
  return value.is_cut || value.text.length > LONG || value.text.split('\n').length > LINES;
}

/** Return the text of a long value with a button that shows all of it. */
function longText(value, row, index) {
  const text = cell(value.is_cut ? `${value.text} …` : value.text, 'div');
  text.className = 'long';
  let isCut = value.is_cut;
  const button = el('button', { type: 'button', class: 'fold', 'aria-expanded': 'false' }, 'show all');
  const unfold = async (isOpen) => {
    if (isOpen && isCut) {
      button.textContent = 'fetching …';
      try {
        text.textContent = (await get(`/api/cell?row=${row}&column=${index}`)).text;
        isCut = false;
      } catch (error) {
        button.textContent = `${error.message} Try again`;
        return;
      }
    }
    text.classList.toggle('open', isOpen);
    button.setAttribute('aria-expanded', String(isOpen));
    button.textContent = isOpen ? 'show less' : `show all ${value.length.toLocaleString('en')} characters`;
  };
  button.textContent = `show all ${value.length.toLocaleString('en')} characters`;
  button.addEventListener('click', () => unfold(button.getAttribute('aria-expanded') === 'false'));
  if (isUnfolded.isOn) unfold(true);
  return [text, button];
}

/** Return the text of a value: a gap, a short text or a long one. */
function content(value, row, index) {
  if (value.is_gap) return [gap(), value.text ? [' ', cell(value.text, 'span')] : null];
  if (isLong(value)) return longText(value, row, index);
  return [cell(value.text, 'span')];
}

/** Return whether a name needs more lines than there are, or a word of it is longer than a line. */
function isWiderThan(name, letters) {
  let lines = 1;
  let used = 0;
  for (const word of name.split(/(?<=[\s_./-])/)) {
    if (word.length > letters) return true;
    if (used + word.length > letters) [lines, used] = [lines + 1, 0];
    used += word.length;
  }
  return lines > NAME_LINES;
}

/** Return the mark of a column whose name goes above its value, as there is too little room beside it. */
function nameMark(name) {
  return Object.keys(LINE).find((mark) => isWiderThan(name, LINE[mark]));
}

/** Return one column of a card; `index` is its position among the card's values. */
export function valueRow(value, row, index) {
  const note = value.unusual ? el('dd', { class: 'unusual' }, value.unusual) : null;
  const isWide = value.text.length > WIDE && !isLong(value);
  const marks = [value.unusual && 'is-unusual', isLong(value) && 'is-long', isWide && 'is-wide'];
  const classes = ['value', value.kind, ...marks, nameMark(value.column)].filter(Boolean);
  const graph = place(value);
  return el(
    'div',
    { class: classes.join(' '), 'data-column': value.column },
    nameCell(value.column, 'dt'),
    el('dd', { class: 'text' }, content(value, row, index)),
    graph ? el('dd', { class: 'where' }, graph) : null,
    note,
  );
}

/** Show all long texts of a card in full, or fold them; later cards follow. */
export function unfoldAll(card) {
  isUnfolded.set();
  for (const button of card.querySelectorAll('.fold')) {
    if ((button.getAttribute('aria-expanded') === 'true') !== isUnfolded.isOn) button.click();
  }
}

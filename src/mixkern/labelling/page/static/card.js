// The card of one row, and the labelled rows nearest to it.

import { marker, N_COLOURS } from './colour.js';
import { byId, cell, count, counted, el, gap, nameCell, percent } from './dom.js';
import { valueRow } from './value.js';

const SOURCES = {
  suggested: null,
  random: [
    'drawn at random',
    'Rows drawn at random represent all rows, so the estimate rests on them. Suggested rows alone are harder than the average row.',
  ],
  chosen: ['opened by you', 'The suggestion waits and comes back after your answer.'],
  second: [
    'second label',
    'Two labels of one row show how far people agree.',
  ],
};

/** Return the marker and the name of a class. */
export function className(label, classes) {
  return el('span', { class: 'class-name' }, marker(classes.indexOf(label)), nameCell(label));
}

/** Return a sentence about this user's earlier answer to the row, or nothing. */
function earlier(card, classes) {
  if (card.own_label) return el('p', { class: 'own' }, 'Your label: ', className(card.own_label, classes));
  if (card.own_action === 'skip') return el('p', { class: 'own' }, 'You skipped this row.');
  if (card.own_action === 'unsure') return el('p', { class: 'own' }, 'Your answer: cannot tell.');
  return null;
}

/** Return the model's guess as bars. */
function guessBars(guess, classes) {
  const rows = [guess, ...guess.others].map(({ label, probability }) => {
    const bar = el('i', {});
    bar.style.width = `${100 * probability}%`;
    return el(
      'li',
      { class: `c${Math.max(0, classes.indexOf(label)) % N_COLOURS}` },
      className(label, classes),
      el('span', { class: 'track' }, bar),
      el('b', {}, percent(probability)),
    );
  });
  return el('div', { id: 'guess' }, el('h3', {}, "Model's guess"), el('ul', {}, rows));
}

/** Return the component of the row, with the offer to label its most typical rows. */
function componentPart({ number, rows, labels, offer, label }, classes, onOffer) {
  const names = Object.entries(labels ?? {})
    .flatMap(([name, n]) => [', ', cell(name), ` ${count(n)}`])
    .slice(1);
  const button = () =>
    el(
      'button',
      { type: 'button', id: 'offer', onclick: onOffer },
      `Label the ${count(offer)} most typical rows of component ${number} as `,
      className(label, classes),
    );
  return el(
    'div',
    { class: 'component' },
    el('h3', {}, `Component ${number}`),
    el('p', { class: 'muted' }, counted(rows, 'row'), names.length ? ['; labels: ', ...names] : labels && '; no label yet'),
    offer > 0 ? button() : null,
  );
}

/** Return the columns in the order of the card: unusual first, those not learned from apart. */
function columns(card) {
  const all = card.values.map((value, index) => ({ value, index }));
  const learned = all.filter(({ value }) => value.kind !== 'other');
  const order = [...learned.filter(({ value }) => value.unusual), ...learned.filter(({ value }) => !value.unusual)];
  const rows = (list) => list.map(({ value, index }) => valueRow(value, card.row, index));
  const others = all.filter(({ value }) => value.kind === 'other');
  return [
    el('dl', { class: 'values' }, rows(order)),
    others.length ? el('h3', { class: 'apart' }, 'Not learned from') : null,
    others.length ? el('dl', { class: 'values others' }, rows(others)) : null,
  ];
}

/** Draw the card into the page; `withGuess` shows the model's guess before the answer. */
export function drawCard(card, { classes, withGuess, onClose }) {
  const box = byId('card');
  const hasFocus = box.contains(document.activeElement);
  box.dataset.row = card.row;
  box.dataset.source = card.source;
  const [badge, explanation] = SOURCES[card.source] ?? [];
  const close =
    onClose && el('button', { type: 'button', id: 'close-card', onclick: onClose }, 'Back to the suggestion');
  box.replaceChildren(
    el(
      'header',
      {},
      el(
        'div',
        { class: 'title' },
        el('h2', { id: 'card-title' }, `Row ${count(card.number)}`),
        badge ? el('span', { class: `badge ${card.source}`, title: explanation }, badge) : null,
        close || null,
      ),
      el('p', { class: 'reason', id: 'reason' }, card.reason),
      explanation ? el('p', { class: 'muted explanation' }, explanation) : null,
      earlier(card, classes),
    ),
    el(
      'div',
      { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': `Columns of row ${count(card.number)}` },
      withGuess && card.guess ? guessBars(card.guess, classes) : null,
      columns(card),
    ),
  );
  if (hasFocus) focusCard();
}

/** Move the focus to the columns of the card, for example when what had the focus is gone. */
function focusCard() {
  byId('card').querySelector('.scroll')?.focus({ preventScroll: true });
}

/** Draw a sentence in place of the card. */
export function drawNoCard(sentence) {
  const box = byId('card');
  delete box.dataset.row;
  box.replaceChildren(el('p', { class: 'empty' }, sentence));
  byId('nearest').hidden = true;
}

/** Draw the labelled rows nearest to the card, and its component. */
export function drawNearest(card, { classes, onOpen, onOffer }) {
  const hasFocus = byId('nearest').contains(document.activeElement);
  const rows = (card.nearest ?? []).map((near) =>
    el(
      'li',
      {},
      el(
        'button',
        { type: 'button', 'data-row': near.row, title: `Row ${count(near.number)}`, onclick: () => onOpen(near.row) },
        el(
          'span',
          { class: 'head' },
          className(near.label, classes),
          el('span', { class: 'muted' }, `similarity ${near.similarity.toFixed(2)}`),
        ),
        el(
          'span',
          { class: 'pairs' },
          el('span', { class: 'muted' }, 'largest differences:'),
          near.values.map(({ column, text, is_gap: isGap }) =>
            el(
              'span',
              {},
              el('span', { class: 'muted' }, nameCell(column)),
              isGap ? [' ', gap()] : null,
              text ? [' ', cell(text)] : null,
            ),
          ),
        ),
      ),
    ),
  );
  byId('nearest').hidden = false;
  byId('nearest').replaceChildren(
    el('h2', { id: 'nearest-title' }, 'Nearest labelled rows'),
    rows.length ? el('ol', {}, rows) : el('p', { class: 'muted' }, card.nearest ? 'No row is labelled yet.' : 'They appear when the labels are learned.'),
    card.component ? componentPart(card.component, classes, onOffer) : '',
  );
  if (hasFocus) focusCard();
}

// One label for many rows, always after a confirmation.

import { randomId } from './api.js';
import { confirm } from './dialog.js';
import { cell, counted } from './dom.js';

/** Label the most typical rows of a card's component with the class that the server offers. */
export async function labelComponent(card, labelling) {
  const { number, offer, label } = card.component;
  const isConfirmed = await confirm({
    title: [`Label ${counted(offer, 'row')} as `, cell(label), '?'],
    body: [
      `These are the most typical rows of component ${number} without a label. Undo takes all of them back in one step.`,
    ],
    yes: [`Label ${counted(offer, 'row')}`],
  });
  if (!isConfirmed) return;
  labelling.queue.add('/api/component', { id: randomId(), row: card.row, key: card.key, ...labelling.nameClass(label) });
  labelling.drop((other) => other.component?.number === number);
}

/** Label rows selected on the map, as {row, key}, with a class; returns whether the person has confirmed it. */
export async function labelRows(rows, label, labelling) {
  const n = counted(rows.length, 'row');
  const one = rows.length === 1;
  const isConfirmed = await confirm({
    title: [`Label ${n} as `, cell(label), '?'],
    body: [
      one
        ? 'This is the row selected on the map. To look at it first, click it.'
        : 'These are the rows selected on the map. They get this label without being looked at one by one, so that the estimated accuracy does not count them. Undo takes all of them back in one step.',
    ],
    yes: [`Label ${n}`],
  });
  if (isConfirmed) labelling.sendTogether(rows, label);
  return isConfirmed;
}

// Questions that need a confirmation.

import { marker } from './colour.js';
import { byId, cell, el } from './dom.js';

/** Ask for a confirmation; resolves to true or false. */
export function confirm({ title, body = [], yes }) {
  const dialog = byId('confirm');
  byId('confirm-title').replaceChildren(...[title].flat());
  byId('confirm-body').replaceChildren(...body);
  byId('confirm-yes').replaceChildren(...[yes].flat());
  dialog.returnValue = 'no';
  byId('confirm-no').onclick = () => dialog.close('no');
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener('close', () => resolve(dialog.returnValue === 'yes'), { once: true });
  });
}

/** Ask which class a number of rows get; resolves to the name of the class or null. */
export async function chooseClass({ title, note, names, yes }) {
  let chosen = null;
  const choose = (name) => {
    chosen = name;
    byId('confirm-yes').replaceChildren(`${yes} `, cell(name));
    byId('confirm-yes').disabled = false;
  };
  const choices = names.map((name, i) =>
    el(
      'label',
      { class: 'choice' },
      el('input', { type: 'radio', name: 'class', value: name, onchange: () => choose(name) }),
      marker(i),
      cell(name),
    ),
  );
  byId('confirm-yes').disabled = true;
  const body = [el('fieldset', {}, el('legend', {}, 'Class'), choices), note ? el('p', { class: 'muted' }, note) : ''];
  const isConfirmed = await confirm({ title, body, yes: `${yes} …` });
  byId('confirm-yes').disabled = false;
  return isConfirmed ? chosen : null;
}

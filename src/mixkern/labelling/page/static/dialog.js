// Questions that need a confirmation.

import { byId } from './dom.js';

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

// Questions that need a confirmation.

import { byId } from './dom.js';

let settle = () => {}; // the latest question

/** Ask for a confirmation; resolves to true or false. */
export function confirm({ title, body = [], yes }) {
  settle(false); // the end of an earlier question may not have been reported yet
  const dialog = byId('confirm');
  byId('confirm-title').replaceChildren(...[title].flat());
  byId('confirm-body').replaceChildren(...body);
  byId('confirm-yes').replaceChildren(...[yes].flat());
  dialog.returnValue = 'no';
  byId('confirm-no').onclick = () => dialog.close('no');
  dialog.showModal();
  return new Promise((resolve) => {
    settle = resolve;
    dialog.onclose = () => {
      if (!dialog.open) resolve(dialog.returnValue === 'yes'); // else it is the end of an earlier one
    };
  });
}

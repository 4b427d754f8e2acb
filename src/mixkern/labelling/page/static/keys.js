// Keys of the page, and the overlay that lists them.

import { byId, el } from './dom.js';
import { Switch } from './settings.js';

const TYPING = 'input:not([type=checkbox]):not([type=radio]), textarea, select, [contenteditable]';
const isOn = new Switch('keys', true);

/** Whether a key press belongs to an input or an open dialog. */
function isBusy(event) {
  return (
    event.defaultPrevented ||
    event.isComposing ||
    event.target.closest?.(TYPING) ||
    document.querySelector('dialog[open]')
  );
}

/** Return the Latin letter or digit at the place of a key, for layouts that have others there. */
function atPlace(event) {
  if (/^Key[A-Z]$/.test(event.code) && !/^[a-z]$/i.test(event.key)) return event.code.slice(3).toLowerCase();
  if (/^Digit[1-9]$/.test(event.code) && !event.shiftKey) return event.code.slice(5);
  return null;
}

/**
 * Listen for keys. `entries` are {keys, shown, text, run, repeats}: `run(key)` is called for each of `keys`, in lower case.
 */
export function listen(entries) {
  const runs = new Map(entries.flatMap((entry) => (entry.keys ?? []).map((key) => [key, entry])));
  document.addEventListener('keydown', (event) => {
    const isUndo = (event.ctrlKey || event.metaKey) && !event.shiftKey && event.key.toLowerCase() === 'z';
    if (isBusy(event) || ((event.ctrlKey || event.metaKey || event.altKey) && !isUndo)) return;
    const typed = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const key = runs.has(typed) ? typed : atPlace(event);
    const entry = runs.get(key);
    if (!entry || (event.repeat && !entry.repeats) || (!isOn.isOn && key.length === 1 && !isUndo && key !== '?'))
      return;
    if (entry.run(key) !== false) event.preventDefault();
  });
  drawHelp(entries);
}

/** Fill the overlay with the keys. */
function drawHelp(entries) {
  const rows = entries.flatMap(({ shown, text }) => [
    el(
      'dt',
      {},
      shown.map((key) => el(key === '–' ? 'span' : 'kbd', {}, key)),
    ),
    el('dd', {}, text),
  ]);
  byId('help-keys').replaceChildren(...rows);
  byId('help-open').addEventListener('click', openHelp);
  const box = byId('keys-switch');
  box.checked = isOn.isOn;
  box.addEventListener('change', () => isOn.set(box.checked));
}

/** Open the overlay. */
export function openHelp() {
  byId('help').showModal();
}

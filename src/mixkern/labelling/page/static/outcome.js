// What became of an answer: the line above the classes and the sentences for screen readers.

import { byId, cell, count, counted, percent, say } from './dom.js';

/** Return an answer in words: "as no", "as skipped". */
function words({ action, label }) {
  if (action === 'label') return ['as ', cell(label)];
  return [action === 'skip' ? 'as skipped' : 'as “cannot tell”'];
}

/** Return what the model had expected of a card, as parts of a sentence. */
function expected(card) {
  if (!card.guess) return [];
  return [' The model expected ', cell(card.guess.label), ` (${percent(card.guess.probability)}).`];
}

/** Sentences about the answers on their way and about those saved. */
export class Outcome {
  constructor() {
    this.answers = new Map(); // id of the change -> the answer
    this.latest = null;
  }

  /** Draw parts of a sentence. */
  draw(state, ...parts) {
    byId('last').dataset.state = state;
    byId('last').replaceChildren(...parts.flat());
  }

  /** An answer was given and is on its way. */
  answered(answer) {
    this.answers.set(answer.change.id, answer);
    this.latest = answer.change.id;
    this.draw('saving', `Saving row ${count(answer.card.number)} `, words(answer), ' …');
  }

  /** The server has saved an answer; `next` is the card that is shown now. */
  saved(change, next) {
    const answer = this.answers.get(change.id);
    this.answers.delete(change.id);
    if (!answer) {
      this.sentence(`Saved ${counted(change.body.answers.length, 'answer')} of an earlier visit.`);
      return;
    }
    const hint = answer.action === 'label' ? expected(answer.card) : [];
    const parts = [`Saved row ${count(answer.card.number)} `, words(answer), '.', hint].flat();
    if (change.id === this.latest) this.draw('saved', parts);
    const text = parts.map((part) => part.textContent ?? part).join('');
    say(next ? `${text} Next: row ${count(next.number)}. ${next.reason}` : text);
  }

  /** The server has given one label to some rows; of a selection, those that have a label and those that are gone are left out. */
  together({ label, keys }, { labelled, gone = [] }) {
    const rest = keys ? keys.length - labelled - gone.length : 0;
    const notes = [
      labelled ? `Saved ${counted(labelled, 'row')} as ${label}.` : 'Nothing was saved.',
      rest ? `${counted(rest, 'other row')} ${rest === 1 ? 'has' : 'have'} a label already.` : '',
      gone.length ? `${counted(gone.length, 'row')} ${gone.length === 1 ? 'is' : 'are'} not in this table.` : '',
    ];
    this.sentence(notes.filter(Boolean).join(' '), gone.length ? 'failed' : 'saved');
  }

  /** The server has undone an answer, or there was none. */
  undone(undone) {
    if (!undone) return this.sentence('Nothing to undo.');
    if (undone.action === 'rename') return this.renamingUndone(undone);
    if (undone.row === null && undone.rows === 1) return this.sentence('Undone: the answer for a row that is not in this table.');
    const rows = undone.rows > 1 ? `${counted(undone.rows, 'row')} are` : `Row ${count(undone.number)} is`;
    this.draw('saved', `Undone: ${rows} no longer saved `, words(undone), '.');
    return say(byId('last').textContent);
  }

  /** A renaming was undone, or stays because the classes were changed since. */
  renamingUndone({ renames, label, is_kept: isKept }) {
    if (!isKept) return this.sentence(`Undone: the renaming of ${renames} to ${label}.`);
    const why = 'the class was renamed or merged since, or another class has this name now';
    return this.sentence(`The renaming of ${renames} to ${label} cannot be undone: ${why}.`, 'failed');
  }

  /** Draw and read a sentence. */
  sentence(text, state = 'saved') {
    this.draw(state, text);
    say(text);
  }
}

// The dialog in which a class gets another name.

import { post, randomId } from './api.js';
import { confirm } from './dialog.js';
import { byId, cell, counted, el } from './dom.js';

/** The dialog. `onRenamed(answer, old, name)` receives the classes afterwards. */
export class Rename {
  constructor(onRenamed) {
    this.onRenamed = onRenamed;
    this.list = []; // the classes
    this.offered = []; // those that the dialog was opened with
    this.dialog = byId('rename');
    byId('rename-open').addEventListener('click', () => this.open());
    byId('rename-cancel').addEventListener('click', () => this.dialog.close());
    byId('rename-class').addEventListener('change', () => this.choose());
    byId('rename-form').addEventListener('submit', (event) => {
      event.preventDefault();
      this.send();
    });
  }

  /** Bring the classes up to date; an open dialog keeps its own. */
  update(list) {
    this.list = list;
    byId('rename-open').disabled = list.length === 0;
  }

  /** Open the dialog, with the first class that can be renamed. */
  open() {
    if (!this.list.length) return;
    this.sent = null; // what an earlier dialog has sent may have been undone since
    this.offer();
    this.dialog.showModal();
    this.choose();
    if (this.offered.length > 1) byId('rename-class').focus();
    else byId('rename-name').select();
  }

  /** Offer the present classes, of which the first that can be renamed is chosen. */
  offer() {
    this.offered = this.list;
    const first = this.offered.find(({ in_table: isInTable }) => !isInTable) ?? this.offered[0];
    const options = this.offered.map(({ name, in_table: isInTable }) =>
      el('option', { value: name, selected: name === first.name }, isInTable ? `${name} (in the table)` : name),
    );
    byId('rename-class').replaceChildren(...options);
  }

  /** Offer the present name of the chosen class for editing. */
  choose() {
    byId('rename-name').value = byId('rename-class').value;
    byId('rename-note').textContent = '';
  }

  /** Send the new name; another class that has it is merged after a question. */
  async send() {
    const old = byId('rename-class').value;
    const label = byId('rename-name').value.trim();
    const merges = label !== old && this.list.some(({ name }) => name === label);
    if (!label || (merges && !(await this.isMerged(old, label)))) return;
    try {
      const answer = await post('/api/rename', { id: this.idOf(old, label), name: old, label, merges });
      this.sent = null;
      this.dialog.close();
      this.onRenamed(answer, old, label);
    } catch (error) {
      if (error.status === undefined) throw error;
      byId('rename-note').textContent = error.message;
      if (!this.list.some(({ name }) => name === old)) this.offer();
    }
  }

  /** Return the id of a request: the same for the same names, so that what is sent twice is recorded once. */
  idOf(...names) {
    if (names.join('\n') !== this.sent) [this.id, this.sent] = [randomId(), names.join('\n')];
    return this.id;
  }

  /** Ask whether two classes become one. */
  isMerged(old, label) {
    const n = [...this.list, ...this.offered].find(({ name }) => name === old).count;
    return confirm({
      title: ['Merge ', cell(old), ' into ', cell(label), '?'],
      body: [
        'There is a class ',
        cell(label),
        ` already. ${counted(n, 'label')} of `,
        cell(old),
        ` ${n === 1 ? 'becomes a label' : 'become labels'} of it. Undo makes them two classes again.`,
      ],
      yes: 'Merge them',
    });
  }
}

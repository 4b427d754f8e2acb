// Tabs with the keys of the WAI-ARIA pattern: arrows move, the panel follows.

/** Make the tabs of a list work. */
export function tabs(list) {
  const all = [...list.querySelectorAll('[role=tab]')];
  const panel = (tab) => document.getElementById(tab.getAttribute('aria-controls'));
  const choose = (chosen) => {
    for (const tab of all) {
      const isChosen = tab === chosen;
      tab.setAttribute('aria-selected', String(isChosen));
      tab.tabIndex = isChosen ? 0 : -1;
      panel(tab).hidden = !isChosen;
    }
  };
  for (const tab of all) tab.addEventListener('click', () => choose(tab));
  list.addEventListener('keydown', (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const next = all[(all.indexOf(document.activeElement) + step + all.length) % all.length];
    next.focus();
    choose(next);
  });
}

"""How the page looks: light and dark, on a phone and on a desk."""

from mixkern.report.mark import MARK_STYLE

STYLE = (
    """\
:root {
  --ground: #ffffff; --ink: #1b1b1b; --muted: #5f6368; --line: #d9dce0; --soft: #f4f5f7; --link: #0b57a4;
  --alarm: #9a4b00; --alarm-ground: #fff4e5;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #16181b; --ink: #e6e6e6; --muted: #a3a9b0; --line: #3a3f45; --soft: #212429; --link: #8ab8f0;
    --alarm: #ffc27d; --alarm-ground: #33291c;
  }
}
* { box-sizing: border-box; }
html { scroll-behavior: smooth; -webkit-text-size-adjust: 100%; }
@media (prefers-reduced-motion: reduce) { html { scroll-behavior: auto; } }
body { margin: 0; background: var(--ground); color: var(--ink); font: 1rem/1.55 system-ui, sans-serif; }
a { color: var(--link); }
main { max-width: 62rem; margin: 0 auto; padding: 0 1rem 4rem; }
nav { background: var(--soft); border-bottom: 1px solid var(--line); padding: .75rem 1rem; font-size: .92rem; }
nav ol { list-style: none; margin: 0 auto; padding: 0; max-width: 60rem; }
nav li { margin: .25rem 0; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 1.75rem 0 1rem; overflow-wrap: anywhere; }
h2 { font-size: 1.3rem; margin: 2.75rem 0 .75rem; padding-top: .75rem; border-top: 1px solid var(--line); }
h3 { font-size: 1.08rem; margin: 2rem 0 .5rem; }
p, ul { max-width: 44rem; overflow-wrap: anywhere; }
li { margin: .3rem 0; }
code { font: .9em ui-monospace, monospace; background: var(--soft); padding: .05em .25em; border-radius: 3px; }
pre { background: var(--soft); border: 1px solid var(--line); border-radius: 6px; padding: .75rem; overflow-x: auto; }
pre code { padding: 0; background: none; }
figure { margin: 1.25rem 0 2rem; }
figcaption { font-size: .9rem; color: var(--muted); max-width: 44rem; margin-bottom: .5rem; }
figcaption b { color: var(--ink); }
.picture img { display: block; max-width: 100%; height: auto; background: #fff; border-radius: 6px; padding: .4rem; }
.picture figcaption { margin: .5rem 0 0; }
.themed img { width: 100%; max-width: 46rem; background: none; padding: 0; }
.key { list-style: none; margin: .5rem 0 0; padding: 0; display: flex; flex-wrap: wrap; gap: .1rem 1.1rem; }
.key li { margin: 0; font-size: .9rem; max-width: 100%; overflow-wrap: anywhere; }
.scroll { overflow-x: auto; width: fit-content; max-width: 100%; border: 1px solid var(--line); border-radius: 6px; }
.scroll:focus-visible { outline: 2px solid var(--link); }
table { border-collapse: separate; border-spacing: 0; font-size: .85rem; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .6rem; text-align: right; white-space: nowrap; vertical-align: top; }
th { font-weight: 600; }
thead th { background: var(--soft); border-bottom: 1px solid var(--line); vertical-align: bottom; }
tbody tr + tr > * { border-top: 1px solid var(--line); }
tfoot > tr > * { border-top: 1px solid var(--line); background: var(--soft); }
.scroll tr > :first-child {
  position: sticky; left: 0; z-index: 1; text-align: left; font-weight: 400; background: var(--ground);
  border-right: 1px solid var(--line);
}
.scroll thead tr > :first-child, .scroll tfoot tr > :first-child { background: var(--soft); font-weight: 600; }
.published { display: block; color: var(--muted); font-size: .92em; }
#table-settings td { white-space: normal; text-align: left; min-width: 14rem; }
.texts th, .texts td { text-align: left; white-space: normal; max-width: 18rem; overflow-wrap: break-word; }
.texts td:last-child:not(.number) { min-width: 15rem; max-width: 36rem; }
.texts .number, .scroll.scroll .number { text-align: right; white-space: nowrap; }
#table-settings th { white-space: nowrap; }
.tiles {
  display: grid; grid-template-columns: repeat(auto-fit, minmax(8.5rem, 1fr)); gap: .75rem; margin: 1rem 0 1.5rem;
}
.tiles div {
  display: flex; flex-direction: column-reverse; justify-content: flex-end; padding: .8rem 1rem;
  background: var(--soft); border: 1px solid var(--line); border-radius: 8px;
}
.tiles dt { color: var(--muted); font-size: .85rem; line-height: 1.35; }
.tiles dd { margin: 0; font-size: 1.7rem; font-weight: 600; line-height: 1.25; font-variant-numeric: tabular-nums; }
.cards {
  display: grid; grid-template-columns: repeat(auto-fill, minmax(min(19rem, 100%), 1fr)); gap: 1rem;
  margin: 1.25rem 0;
}
.card { border: 1px solid var(--line); border-radius: 8px; padding: .9rem 1rem; min-width: 0; break-inside: avoid; }
.card.alarmed { border-color: var(--alarm); }
.card header { display: flex; flex-wrap: wrap; justify-content: space-between; align-items: baseline; gap: 0 .75rem; }
.card h3 { margin: 0; }
.card header p { margin: 0; color: var(--muted); font-size: .9rem; }
.card > p { margin: .7rem 0 .25rem; font-size: .85rem; color: var(--muted); }
.card > .warning {
  color: var(--alarm); background: var(--alarm-ground); border-radius: 4px; padding: .2rem .5rem; font-weight: 600;
}
.card table { width: 100%; margin-top: .9rem; font-size: .82rem; table-layout: fixed; }
.card th, .card td { text-align: left; white-space: normal; padding: .25rem .4rem .25rem 0; overflow-wrap: anywhere; }
.card thead th { background: none; color: var(--muted); font-weight: 400; }
.card tbody th { font-weight: 400; }
.card td:nth-child(2) { font-weight: 600; }
.card td:nth-child(3) { color: var(--muted); }
.card .key { margin-top: .3rem; }
.card .key li { font-size: .82rem; }
.bar { display: flex; height: .5rem; border-radius: 4px; overflow: hidden; background: var(--soft); gap: 1px; }
.bar i { display: block; height: 100%; }
.gauge { max-width: 44rem; margin: 1.25rem 0; }
.gauge .track { display: block; position: relative; height: 1.1rem; border-radius: .55rem; background: var(--soft);
  border: 1px solid var(--line); }
.gauge i { position: absolute; top: 0; bottom: 0; border-radius: .55rem; background: var(--c0); opacity: .45; }
.gauge b { position: absolute; top: -.2rem; bottom: -.2rem; width: .3rem; margin-left: -.15rem; border-radius: .15rem;
  background: var(--ink); }
.gauge ul { list-style: none; display: flex; justify-content: space-between; margin: .3rem 0 0; padding: 0;
  font-size: .8rem; color: var(--muted); }
.gauge li { margin: 0; }
@media (max-width: 40rem) {
  .scroll tr > :first-child { max-width: 8.5rem; white-space: normal; }
  .texts th, .texts td { max-width: 14rem; }
  th, td { padding: .28rem .45rem; }
  thead th { white-space: normal; min-width: 4rem; }
  .card thead th { min-width: 0; }
  .tiles { grid-template-columns: 1fr 1fr; gap: .6rem; }
  .tiles div:last-child:nth-child(odd) { grid-column: 1 / -1; }
}
@media (max-width: 79.99rem) { nav ol { display: flex; flex-wrap: wrap; gap: .1rem 1.1rem; } }
@media (min-width: 80rem) {
  body { display: grid; grid-template-columns: 15rem minmax(0, 1fr); }
  nav { position: sticky; top: 0; height: 100vh; overflow-y: auto; border: 0; border-right: 1px solid var(--line); }
  main { width: 100%; }
}
@media print {
  nav { display: none; }
  .scroll { overflow: visible; }
  figure, .tiles div { break-inside: avoid; }
  .bar, .gauge, .tiles div { -webkit-print-color-adjust: exact; print-color-adjust: exact; }
}
"""
    + MARK_STYLE
)

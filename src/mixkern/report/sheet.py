"""How the page looks: light and dark, on a phone and on a desk."""

STYLE = """\
:root {
  --ground: #ffffff; --ink: #1b1b1b; --muted: #5f6368; --line: #d9dce0; --soft: #f4f5f7; --link: #0b57a4;
}
@media (prefers-color-scheme: dark) {
  :root { --ground: #16181b; --ink: #e6e6e6; --muted: #a3a9b0; --line: #3a3f45; --soft: #212429; --link: #8ab8f0; }
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
h1 { font-size: 1.6rem; line-height: 1.25; margin: 1.75rem 0 1rem; }
h2 { font-size: 1.3rem; margin: 2.75rem 0 .75rem; padding-top: .75rem; border-top: 1px solid var(--line); }
h3 { font-size: 1.08rem; margin: 2rem 0 .5rem; }
p, ul { max-width: 44rem; }
li { margin: .3rem 0; }
code { font: .9em ui-monospace, monospace; background: var(--soft); padding: .05em .25em; border-radius: 3px; }
pre { background: var(--soft); border: 1px solid var(--line); border-radius: 6px; padding: .75rem; overflow-x: auto; }
pre code { padding: 0; background: none; }
figure { margin: 1.25rem 0 2rem; }
figcaption { font-size: .9rem; color: var(--muted); max-width: 44rem; margin-bottom: .5rem; }
figcaption b { color: var(--ink); }
.picture img { display: block; max-width: 100%; height: auto; background: #fff; border-radius: 6px; padding: .4rem; }
.picture figcaption { margin: .5rem 0 0; }
.scroll { overflow-x: auto; width: fit-content; max-width: 100%; border: 1px solid var(--line); border-radius: 6px; }
.scroll:focus-visible { outline: 2px solid var(--link); }
table { border-collapse: separate; border-spacing: 0; font-size: .85rem; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .6rem; text-align: right; white-space: nowrap; vertical-align: top; }
th { font-weight: 600; }
thead th { background: var(--soft); border-bottom: 1px solid var(--line); vertical-align: bottom; }
tbody tr + tr > * { border-top: 1px solid var(--line); }
tfoot > tr > * { border-top: 1px solid var(--line); background: var(--soft); }
tr > :first-child {
  position: sticky; left: 0; z-index: 1; text-align: left; font-weight: 400; background: var(--ground);
  border-right: 1px solid var(--line);
}
thead tr > :first-child, tfoot tr > :first-child { background: var(--soft); font-weight: 600; }
.published { display: block; color: var(--muted); font-size: .92em; }
#table-settings td { white-space: normal; text-align: left; min-width: 14rem; }
@media (max-width: 40rem) {
  tr > :first-child { max-width: 8.5rem; white-space: normal; }
  th, td { padding: .28rem .45rem; }
  thead th { white-space: normal; min-width: 4rem; }
}
@media (min-width: 80rem) {
  body { display: grid; grid-template-columns: 15rem minmax(0, 1fr); }
  nav { position: sticky; top: 0; height: 100vh; overflow-y: auto; border: 0; border-right: 1px solid var(--line); }
  main { width: 100%; }
}
@media print { nav { display: none; } .scroll { overflow: visible; } }
"""

"use strict";
// Sort and filter the tables of a page. Without this script they are plain tables.
(() => {
  const FEWEST_TO_FILTER = 6, FEWEST_COLUMNS = 3; // a list of names and values stays as it is
  const collator = new Intl.Collator(undefined, {numeric: true, sensitivity: "base"});

  const textOf = cell => (cell.querySelector("bdi") || cell).textContent.trim();
  const isGap = text => text === "" || text === "\u2013";

  // "1,234", "82 % (45 to 99 %)" and "< 1 %" are numbers; "none" is 0.
  const numberOf = text => {
    if (text === "none") return 0;
    const found = /^([<>]?)\s*([+\u2212-]?[\d,]*\.?\d+(?:e[+-]?\d+)?)/i.exec(text);
    if (!found) return NaN;
    const value = Number(found[2].replaceAll(",", "").replace("\u2212", "-"));
    return value + ({"<": -1e-9, ">": 1e-9}[found[1]] || 0);
  };

  const compare = (first, second, isNumber) => {
    if (!isNumber) return collator.compare(first, second);
    const [a, b] = [numberOf(first), numberOf(second)];
    if (Number.isNaN(a) || Number.isNaN(b)) return Number.isNaN(a) - Number.isNaN(b) || collator.compare(first, second);
    return a - b;
  };

  const make = (tag, properties, ...children) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  };

  const setUp = figure => {
    const table = figure.querySelector("table"), body = table.tBodies[0], rows = [...body.rows];
    const headings = [...table.tHead.rows[0].cells];
    if (rows.length < 2 || headings.length < FEWEST_COLUMNS) return;
    const names = headings.map(heading => textOf(heading).slice(0, 40)), title = table.closest("[aria-label]").getAttribute("aria-label");
    const tools = make("div", {className: "tools"});

    // Order: the column and the direction, or none for the order of the file.
    const choice = make("select", {});
    choice.setAttribute("aria-label", `Sort rows: ${title}`);
    choice.append(make("option", {value: "", textContent: "as written"}));
    names.forEach((name, j) => {
      choice.append(make("option", {value: `${j} 1`, textContent: `${name} \u2191`}));
      choice.append(make("option", {value: `${j} -1`, textContent: `${name} \u2193`}));
    });
    const sort = () => {
      const [column, direction] = choice.value ? choice.value.split(" ").map(Number) : [-1, 0];
      headings.forEach((heading, j) => {
        if (j === column) heading.setAttribute("aria-sort", direction > 0 ? "ascending" : "descending");
        else heading.removeAttribute("aria-sort");
      });
      const isNumber = column >= 0 && headings[column].classList.contains("number");
      const keyed = rows.map(row => [column < 0 ? "" : textOf(row.cells[column]), row]);
      if (column >= 0) {
        keyed.sort(([a], [b]) => isGap(a) - isGap(b) || direction * compare(a, b, isNumber));
      }
      body.append(...keyed.map(([, row]) => row));
    };
    choice.addEventListener("change", sort);
    headings.forEach((heading, j) => {
      const button = make("button", {type: "button", title: "Sort by this column"}, ...heading.childNodes);
      button.addEventListener("click", () => {
        const next = {[`${j} 1`]: `${j} -1`, [`${j} -1`]: ""}[choice.value];
        choice.value = next === undefined ? `${j} 1` : next;
        sort();
      });
      heading.append(button);
    });

    if (rows.length >= FEWEST_TO_FILTER) {
      const words = make("input", {type: "search", placeholder: "Filter rows", autocomplete: "off"});
      words.setAttribute("aria-label", `Filter rows: ${title}`);
      const count = make("span", {className: "count"});
      count.setAttribute("role", "status");
      words.addEventListener("input", () => {
        const wanted = words.value.toLowerCase().split(/\s+/).filter(Boolean);
        let shown = 0;
        for (const row of rows) {
          const text = row.textContent.toLowerCase();
          row.hidden = !wanted.every(word => text.includes(word));
          shown += !row.hidden;
        }
        count.textContent = wanted.length ? `${shown} of ${rows.length} rows` : "";
      });
      tools.append(words, count);
    }
    tools.append(make("label", {className: "sorter"}, "Sort by ", choice));
    table.closest(".scroll").before(tools);
  };

  document.querySelectorAll("figure.table").forEach(setUp);
})();

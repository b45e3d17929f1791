"use strict";
// The button in a heading sorts its table: ascending, then descending. Empty cells stay last; the full value is the title.
const words = new Intl.Collator("en", { numeric: true });

function valueOf(row, column, numbers) {
  const cell = row.cells[column];
  const text = cell.title || cell.textContent.trim();
  if (text === "" || text === "–") return null;
  return numbers ? Number(text.replaceAll(",", "").replace("−", "-").replace("inf", "Infinity")) : text;
}

function sort(heading) {
  const table = heading.closest("table"), body = table.tBodies[0], numbers = heading.classList.contains("n");
  const down = heading.getAttribute("aria-sort") === "ascending";
  const rows = Array.from(body.rows, (row) => [valueOf(row, heading.cellIndex, numbers), row]);
  rows.sort(([one], [other]) => {
    if (one === null || other === null) return (one === null) - (other === null);
    return (numbers ? one - other : words.compare(one, other)) * (down ? -1 : 1);
  });
  body.append(...rows.map(([, row]) => row));
  for (const each of heading.parentElement.cells) each.removeAttribute("aria-sort");
  heading.setAttribute("aria-sort", down ? "descending" : "ascending");
}

for (const table of document.querySelectorAll("table.sortable")) {
  for (const heading of table.tHead.rows[0].cells) {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...heading.childNodes);
    button.addEventListener("click", () => sort(heading));
    heading.append(button);
  }
}
// A box wider than the page says so, and fades at the edge that hides the rest.
function cue(box) {
  box.classList.toggle("wide", box.scrollWidth > box.clientWidth + 1);
  box.classList.toggle("more", box.scrollWidth - box.clientWidth - box.scrollLeft > 1);
}
for (const box of document.querySelectorAll(".scroll")) {
  box.addEventListener("scroll", () => cue(box), { passive: true });
  new ResizeObserver(() => cue(box)).observe(box);
}
// Collapsed parts are printed as well.
const folded = () => document.querySelectorAll("details:not([open])");
let opened = [];
addEventListener("beforeprint", () => { opened = Array.from(folded()); opened.forEach((each) => { each.open = true; }); });
addEventListener("afterprint", () => opened.forEach((each) => { each.open = false; }));

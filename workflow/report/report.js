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
// A link opens the folded parts that its target is in.
function reveal() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!target) return;
  for (let part = target.closest("details"); part; part = part.parentElement.closest("details")) part.open = true;
  target.scrollIntoView();
}
addEventListener("hashchange", reveal);
reveal();

// A term is explained where a section first uses it.
const terms = new Map(Array.from(document.querySelectorAll(".glossary dt"), (term) => [term.textContent.toLowerCase(), term]));
const any = Array.from(terms.keys()).sort((one, other) => other.length - one.length).join("|");
const pattern = new RegExp(`(?<![\\w-])(?:${any})(?![\\w-])`, "gi"), note = document.getElementById("note");

function show(text) {
  note.textContent = text;
  if (!note.matches(":popover-open")) note.showPopover();
}

function explain(section) {
  const unseen = new Set(terms.keys()), texts = document.createTreeWalker(section, NodeFilter.SHOW_TEXT);
  let text = texts.nextNode();
  while (text) {
    const skipped = text.parentElement.closest("a, summary, svg, h2, h3, thead, code, .glossary");
    const match = skipped ? null : Array.from(text.data.matchAll(pattern)).find(([term]) => unseen.has(term.toLowerCase()));
    if (!match) {
      text = texts.nextNode();
      continue;
    }
    const link = document.createElement("a"), word = text.splitText(match.index), term = terms.get(match[0].toLowerCase());
    text = texts.currentNode = word.splitText(match[0].length);
    unseen.delete(match[0].toLowerCase());
    Object.assign(link, { className: "term", href: `#${term.id}`, title: term.nextElementSibling.textContent });
    link.addEventListener("click", (event) => { event.preventDefault(); show(`${term.textContent}: ${link.title}`); });
    word.replaceWith(link);
    link.append(word);
  }
}
document.querySelectorAll("main > section").forEach(explain);

const copy = document.getElementById("copy");
copy.hidden = false;
copy.addEventListener("click", () => navigator.clipboard.writeText(document.getElementById("citation").textContent).then(() => show("Copied.")));

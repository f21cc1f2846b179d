"use strict";
// Makes the head cells that name a kind of value into buttons which sort their table. Empty values come last.
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells];
  const valueOf = (row, at) => {
    const cell = row.cells[at];
    return cell.dataset.value === undefined ? cell.textContent.trim() : cell.dataset.value;
  };
  const sort = (at) => {
    const head = heads[at];
    const numeric = head.dataset.sort === "number";
    const falling = head.hasAttribute("aria-sort") ? head.getAttribute("aria-sort") === "ascending" : numeric;
    const compare = (one, other) => {
      const [a, b] = [valueOf(one, at), valueOf(other, at)];
      if (a === "" || b === "") return (a === "") - (b === "");
      const order = numeric ? a - b : a.localeCompare(b, "en", { numeric: true });
      return falling ? -order : order;
    };
    const body = table.tBodies[0];
    body.append(...[...body.rows].sort(compare));
    for (const each of heads) each.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", falling ? "descending" : "ascending");
    document.getElementById("said").textContent =
      `Sorted by ${head.textContent.trim()}, ${falling ? "descending" : "ascending"}`;
  };
  heads.forEach((head, at) => {
    if (!head.dataset.sort) return;
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    button.addEventListener("click", () => sort(at));
    head.append(button);
  });
}

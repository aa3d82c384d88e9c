// Makes a table sortable by the buttons of its header: a column with data-sort "text" or "number". A number
// is the cell's data-value.
"use strict";
window.sortable = (table) => {
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[0].cells];

  function comparison(kind, column) {
    if (kind === "number") {
      const value = (row) => Number(row.cells[column].dataset.value);
      return (a, b) => value(a) - value(b);
    }
    return (a, b) => a.cells[column].textContent.localeCompare(b.cells[column].textContent);
  }

  heads.forEach((head, column) => {
    if (!head.dataset.sort) return;
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      const up = head.getAttribute("aria-sort") !== "ascending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      const compare = comparison(head.dataset.sort, column);
      body.append(...[...body.rows].sort((a, b) => (up ? compare(a, b) : compare(b, a))));
    });
  });
};

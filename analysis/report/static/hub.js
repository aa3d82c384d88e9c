// The hub's tables can be sorted, and its form hides the runs and studies that do not match.
"use strict";
(() => {
  for (const table of document.querySelectorAll("table[data-sortable]")) window.sortable(table);

  const form = document.getElementById("filters");
  const chosen = (name) => document.getElementById(`filter-${name}`).value;
  const rows = [...document.querySelectorAll("tr[data-run]")];

  function fits(row) {
    const tags = JSON.parse(row.dataset.tags);
    return (!chosen("study") || row.dataset.study === chosen("study"))
      && (!chosen("state") || row.dataset.state === chosen("state"))
      && (!chosen("tag") || tags.includes(chosen("tag")));
  }

  function apply() {
    for (const row of rows) row.hidden = !fits(row);
    for (const part of document.querySelectorAll("[data-of-study]")) {
      part.hidden = !rows.some((row) => !row.hidden && row.dataset.study === part.dataset.ofStudy);
    }
    document.getElementById("filter-count").value = `${rows.filter((row) => !row.hidden).length} of ${rows.length} runs`;
    document.documentElement.dataset.filters = `${Number(document.documentElement.dataset.filters ?? 0) + 1}`;
  }

  form.addEventListener("change", apply);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(apply));  // the selects change after this event
  form.hidden = rows.length === 0;
  if (["study", "state", "tag"].some(chosen)) apply();  // a reloaded page keeps its selects
  document.documentElement.dataset.ready = "true";
})();

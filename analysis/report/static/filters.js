// One row of selects for the whole page: what does not fit is hidden, in tables and in charts.
// A table's row or cell says what it is of in data-setting, data-density, data-medium, data-verdict
// (a trial's) and data-claim (a finding's); a chart's row in `of`: [setting, density, medium].
"use strict";
window.pageFilters = (charts) => {
  const KEYS = ["setting", "density", "medium"];
  const form = document.getElementById("filters");
  const selects = Object.fromEntries([...KEYS, "verdict"].map((key) => [key, document.getElementById(`filter-${key}`)]));
  const MARKED = "main [data-setting], main [data-density], main [data-medium], main [data-verdict], main [data-claim]";

  function wanted() {
    const [key, name] = selects.verdict.value.split(":");
    const found = Object.fromEntries(KEYS.map((one) => [one, selects[one].value]));
    return { ...found, ...(name ? { [key]: name } : {}) };
  }

  const fits = (has, want) =>
    Object.entries(want).every(([key, value]) => !value || has[key] === undefined || has[key] === value);

  // The chart keeps its axes' order of arms; a panel of which nothing is left is hidden.
  async function chart(id) {
    const want = wanted();
    const rows = charts.specs[id].datasets[charts.data];
    const kept = rows.filter(({ of }) => !of || KEYS.every((key, place) => !want[key] || of[place] === want[key]));
    const box = document.querySelector(`[data-chart="${CSS.escape(id)}"]`);
    box.closest(".panel").hidden = kept.length === 0;
    const view = window.reportViews[id];
    if (!view || !kept.length || !rows.some((row) => row.of)) return;
    if (view.data(charts.data).length !== kept.length || kept.length !== rows.length) {
      await view.data(charts.data, kept.map((row) => ({ ...row }))).runAsync();
    }
  }

  async function apply() {
    const want = wanted();
    for (const one of document.querySelectorAll(MARKED)) one.hidden = !fits(one.dataset, want);
    const rows = [...document.querySelectorAll("#trial-table tbody tr")];
    const shown = rows.filter((row) => !row.hidden).length;
    document.getElementById("filter-count").value = `${shown} of ${rows.length} trials`;
    document.documentElement.dataset.filtered = String(Object.values(want).some(Boolean));
    for (const id of Object.keys(charts.specs)) await chart(id);
    for (const figure of document.querySelectorAll("main figure")) {
      figure.hidden = [...figure.querySelectorAll(".panel")].every((panel) => panel.hidden);
    }
    document.documentElement.dataset.filters = `${Number(document.documentElement.dataset.filters ?? 0) + 1}`;
  }

  form.addEventListener("change", apply);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(apply));  // the selects change after this event
  form.hidden = false;
  return { apply, chart, active: () => Object.values(wanted()).some(Boolean) };
};
